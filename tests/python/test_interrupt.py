"""Long work obeys an interrupt, and a file is written whole or not at all."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import widthwise as ww

LONG_WORK = {
    "matmul": "ww.matmul(a, a.T, unit='mac(bfloat16)', engine='reference')",
    "one thread": "ww.matmul(a, a.T, unit='mac(bfloat16)', engine='reference', threads=1)",
    "dot": "ww.dot(a[:, None], a[None], unit='mac(bfloat16)', engine='reference')",
    "cumsum": "ww.cumsum(a, unit='dot(bfloat16, lanes=0, align=25)')",
    "conv2d": "ww.conv2d(a.reshape(1, 1000, 600), ww.zeros((64, 1, 9, 9), 'bfloat16'), "
    "unit='mac(bfloat16)', engine='reference')",
    "elementwise": "ww.add(big, big)",
    "own multiplier": "ww.matmul(a, a.T, unit='mac(bfloat16)', multiplier=lambda x, y: x * y)",
    "affine": "ww.affine(np.ones(30_000_000), scale=0.3, zero_point=0, rounding='raz')",
    "integer product": "ww.integer_matmul(*np.ones((2, 3000, 3000), np.int8), overflow='saturate')",
    "calibrate": "ww.calibrate(np.arange(30_000_000.0), 'mse')",
    "stream": "ww.study.streamed([np.zeros(10_000_000)], 'kahan(bfloat16)')",
    "study": "ww.study.error_growth(a, a, [f'mac(bfloat16, sum=e8m{m})' for m in range(3, 24)])",
}


@pytest.mark.parametrize("work", LONG_WORK)
def test_an_interrupt_stops_it_at_once(work):
    program = f"""
        import signal
        import time
        import numpy as np
        import widthwise as ww
        a = ww.zeros((1000, 600), "bfloat16")
        big = ww.zeros(8_000_000, "e15m112") if {work == "elementwise"} else None
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has none
        print("ready", flush=True)
        try:
            {LONG_WORK[work]}
        except KeyboardInterrupt:
            print("interrupted", time.time(), flush=True)
        else:
            print("it was not long", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    word, _, at = process.communicate(timeout=60)[0].partition(" ")
    assert word == "interrupted"
    assert float(at) - sent < 1.0  # 0.1 s on a machine that has nothing else to do


def test_other_threads_run_meanwhile():
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    a = ww.zeros((100, 50), "bfloat16")
    began, before = time.perf_counter(), counted[0]
    while time.perf_counter() - began < 0.3:
        ww.matmul(a, a.T, unit="mac(bfloat16)", threads=1)
    during = counted[0] - before
    stop.set()
    thread.join()
    assert during > 20


def quantize(folder):
    """The command, where files may grow to 64 KiB: the next byte fails as on a full disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    arguments = ["quantize", folder / "in.npy", folder / "out.npy", "--format", "binary64"]
    return subprocess.run(
        [sys.executable, "-B", "-m", "widthwise", *map(str, arguments)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )


def test_when_the_disk_is_full_the_old_file_stays(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros(50_000, np.float16))
    np.save(tmp_path / "out.npy", np.arange(3))
    before = (tmp_path / "out.npy").read_bytes()
    done = quantize(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("widthwise: OUT = ") and "too large" in done.stderr.lower()
    assert (tmp_path / "out.npy").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["in.npy", "out.npy"]


def test_a_file_is_replaced_whole(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros(5))
    (tmp_path / "out.npy").write_text("old")
    assert quantize(tmp_path).returncode == 0
    assert np.load(tmp_path / "out.npy").dtype.names == ("e11m52",)
    assert sorted(os.listdir(tmp_path)) == ["in.npy", "out.npy"]
