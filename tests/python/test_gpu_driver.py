"""What is said of a GPU and its driver, with a driver that only looks like one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import widthwise as ww

SOURCE = Path(__file__).parents[1] / "cuda" / "fake_driver.cpp"


def compiled(folder, *options):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), *options]
    subprocess.run([*command, str(SOURCE)], check=True)
    return folder


@pytest.fixture(scope="module")
def drivers(tmp_path_factory):
    if "nvcc" in ww.engines().unusable.get("cuda", ""):
        pytest.skip("nvcc was not found")
    return {
        "whole": compiled(tmp_path_factory.mktemp("whole")),
        "part": compiled(tmp_path_factory.mktemp("part"), "-DWITHOUT_LAUNCH"),
    }


def said(folder, wrong, program):
    environment = os.environ | {"LD_LIBRARY_PATH": str(folder), "FAKE_DRIVER": wrong}
    done = subprocess.run(
        [sys.executable, "-c", f"import widthwise as ww\n{program}"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("driver", "wrong", "why"),
    [
        ("whole", "old", "the NVIDIA driver is too old: it knows CUDA 12.4, and 13.0 is needed"),
        ("whole", "init", "the NVIDIA driver does not start: an imaginary error"),
        ("whole", "none", "there is an NVIDIA driver, but no GPU that it sees"),
        ("part", "", "the NVIDIA driver is too old: it has no cuLaunchKernel"),
    ],
)
def test_why_there_is_no_gpu_is_said_in_words(drivers, driver, wrong, why):
    out = said(drivers[driver], wrong, "print(repr(ww.engines()))")
    assert f"not cuda: {why}" in out


PRODUCT = """
a = ww.zeros((3, 4), "e5m10")
b = ww.zeros((4, 5), "e5m10")
def product(engine):
    try:
        ww.matmul(a, b, unit="mac(e5m10)", engine=engine)
        print(engine, "computed it")
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_every_gpu_is_an_engine(drivers):
    out = said(drivers["whole"], "", f"{PRODUCT}print(ww.engines())\nproduct('cuda:2')")
    assert "'cuda', 'cuda:1'" in out
    assert "ValueError engine = 'cuda:2': there is no such engine here" in out


def test_a_failure_on_the_gpu_names_the_kernel_and_the_cpu_goes_on(drivers):
    program = f"{PRODUCT}product('cuda')\nproduct('auto')\nproduct('cuda')\nproduct('cuda:1')"
    first, auto, again, other = said(drivers["whole"], "launch", program).splitlines()
    assert first.startswith("RuntimeError GPU 0 (Imaginary 1), kernel pack_pairs of 1 x 1 x 1")
    assert "an imaginary error (CUDA_ERROR_IMAGINARY); engine = 'auto' computes the same" in first
    assert auto == "auto computed it"
    assert "does not take unit mac(e5m10): an earlier failure: GPU 0" in again
    assert other.startswith("RuntimeError GPU 1 (Imaginary 1), kernel pack_pairs")


def test_a_gpu_without_memory_is_named(drivers):
    out = said(drivers["whole"], "memory", f"{PRODUCT}product('cuda')\nproduct('auto')")
    assert "GPU 0 (Imaginary 1): its memory does not hold the operands of one output" in out
    assert "auto computed it" in out


def test_a_child_process_does_without_the_gpu_its_parent_found(drivers):
    program = f"""{PRODUCT}
import os
print(ww.engines()[-1], flush=True)
if os.fork() == 0:
    product('cuda')
    os._exit(0)
os.wait()
"""
    out = said(drivers["whole"], "", program)
    assert "a GPU that was found before a fork cannot be used after it" in out
