"""What is said of a GPU and its driver, with a driver that only looks like one."""

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sass
import widthwise as ww
from widthwise._compiler import offer_nvrtc

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
        ("whole", "old", "the NVIDIA driver is too old: it knows CUDA 12.4, and "),
        ("whole", "init", "the NVIDIA driver does not start: an imaginary error"),
        ("whole", "none", "there is an NVIDIA driver, but no GPU that it sees"),
        ("whole", "ancient", "GPU 0 (Imaginary 1) is of compute capability 7.4, and 8.0 is needed"),
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


def test_a_gpu_that_is_too_old_leaves_the_others(drivers):
    program = f"""{PRODUCT}
print(ww.engines())
product('cuda:1')
product('auto')
for device in ('cuda', 'cuda:1', 'cuda:5'):
    try:
        print(a.to_device(device))
    except ValueError as error:
        print(error)
"""
    out = said(drivers["whole"], "mixed", program)
    why = "GPU 0 (Imaginary 1) is of compute capability 7.4, and 8.0 is needed"
    assert f"not cuda: {why}" in out and "'cuda:1'" in out
    assert "cuda:1 computed it" in out and "auto computed it" in out
    assert f"device = 'cuda' cannot be used here: {why}" in out
    assert "DeviceArray((3, 4), e5m10, cuda:1)" in out
    assert "device = 'cuda:5' cannot be used here: there are cuda:1" in out


@pytest.mark.parametrize("wrong", ["pools", "dry"])
def test_a_gpu_without_memory_pools_or_with_dry_ones_works(drivers, wrong):
    out = said(drivers["whole"], wrong, f"{PRODUCT}product('cuda')\nprint(a.to_device('cuda'))")
    assert out.startswith("cuda computed it") and "DeviceArray((3, 4), e5m10, cuda)" in out


def test_a_gpu_whose_memory_others_have_is_left_to_them(drivers):
    out = said(drivers["whole"], "full", f"{PRODUCT}product('cuda')\nproduct('auto')")
    assert "does not take unit mac(e5m10): GPU 0 (Imaginary 1), opening it: an imaginary" in out
    assert "auto computed it" in out


# Whose memory an array's is, and in which stream work waits, others say.
THERE = """
x = a.to_device("cuda")
def tried(what):
    try:
        what()
        print("done")
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_an_array_that_has_no_room_says_how_much_it_wants(drivers):
    program = f"{PRODUCT}{THERE.replace('x = a', 'x = lambda: a')}tried(x)"
    out = said(drivers["whole"], "memory", program)
    assert out.startswith("MemoryError GPU 0 (Imaginary 1), taking 24 bytes: an imaginary error")


def test_what_fails_late_names_what_was_launched(drivers):
    program = f"{PRODUCT}product('cuda')\nproduct('cuda')"
    first, again = said(drivers["whole"], "late", program).splitlines()
    assert first.startswith("RuntimeError GPU 0 (Imaginary 1), kernel pack_pairs of 1 x 1 x 1")
    assert "bytes from it: an imaginary error" in first
    assert "does not take unit mac(e5m10): an earlier failure: GPU 0" in again


def test_a_stream_that_is_none_is_the_callers_fault_and_the_gpu_goes_on(drivers):
    program = f"""{PRODUCT}{THERE}
with ww.device_stream(13):
    tried(lambda: x.to_device("cpu"))
tried(lambda: x.to_device("cpu"))
product("cuda")
"""
    wrong, right, product = said(drivers["whole"], "", program).splitlines()
    assert wrong.startswith("ValueError GPU 0 (Imaginary 1), copying 24 bytes from it: the stream ")
    assert right == "done" and product == "cuda computed it"


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
import os, sys
print(ww.engines()[-1], flush=True)
if os.fork() == 0:
    product('cuda')
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""
    out = said(drivers["whole"], "", program)
    assert "a GPU that was found before a fork cannot be used after it" in out


# --- Products given as text ----------------------------------------------------------------------

# Of `text` by one engine or another, as PRODUCT has it of a and b.
MULTIPLIED = """
a = ww.zeros((3, 4), "e5m10")
b = ww.zeros((4, 5), "e5m10")
def product(engine, text):
    try:
        ww.matmul(a, b, unit="mac(e5m10)", engine=engine, multiplier=ww.product(text))
        print(engine, "computed it")
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def nvrtc(monkeypatch):
    """There is one, and the driver is as new: other packages bring newer ones than ours."""
    offer_nvrtc()
    for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
        with contextlib.suppress(OSError):
            library, major, minor = ctypes.CDLL(name), ctypes.c_int(), ctypes.c_int()
            assert library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
            version = max(1000 * major.value + 10 * minor.value, 13000)
            monkeypatch.setenv("FAKE_DRIVER_CUDA", str(version))
            return major.value, minor.value
    return pytest.skip("NVRTC was not found: pip install 'nvidia-cuda-nvrtc==13.0.*'")


def test_shipped_multipliers_and_texts_go_to_a_gpu_and_functions_do_not(drivers, nvrtc):
    program = f"""{MULTIPLIED}
product('cuda', 'mp = uint128(ma) * mb;')
for multiplier in ('mitchell', 'drum6', lambda x, y: x * y):
    try:
        ww.matmul(a, b, unit='mac(e5m10)', engine='cuda', multiplier=multiplier)
        print('computed')
    except ValueError as error:
        print(error)
"""
    text, mitchell, drum, own = said(drivers["whole"], "", program).splitlines()
    assert text == "cuda computed it" and mitchell == drum == "computed"
    assert "does not take unit mac(e5m10): its multiplier is a function of this process" in own
    assert "those given as text (ww.product); engine = 'auto' finds one that does" in own


def test_kernels_that_were_not_compiled_are_said_to_be_missing(drivers, tmp_path, monkeypatch):
    package = Path(ww.__file__).parent
    shutil.copytree(package, tmp_path / "widthwise", ignore=shutil.ignore_patterns("*kernels.so"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    out = said(drivers["whole"], "", "print(ww.__file__, repr(ww.engines()))")
    assert out.startswith(str(tmp_path))
    assert "not cuda: the kernels for a GPU were not compiled, './dev build' does so" in out


@pytest.mark.in_turn(4)
@pytest.mark.parametrize("gpu", ["80", "120"])
def test_kernel_and_text_link_into_a_program(drivers, nvrtc, tmp_path, monkeypatch, gpu):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc was not found")
    said_by_nvcc = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout
    release = re.search(r"release (\d+)\.(\d+)", said_by_nvcc)
    assert release is not None, said_by_nvcc
    if tuple(map(int, release.groups())) < nvrtc:
        pytest.skip("CUDA's NVRTC is newer than nvcc here, which does not read what it writes")
    monkeypatch.setenv("FAKE_DRIVER_KEEPS", str(tmp_path))
    text = "mp = uint128(ma) * mb - (bit_length(ma) > 3);"
    out = said(drivers["whole"], "", f"{MULTIPLIED}product('cuda', {text!r})")
    assert out == "cuda computed it\n"
    ptx = (tmp_path / "product").read_bytes()
    assert ptx.endswith(b"\0") and b".visible .func widthwise_product" in ptx
    (tmp_path / "product.ptx").write_bytes(ptx.rstrip(b"\0"))
    assert (tmp_path / "kernels").stat().st_size > 100_000
    # What the package has may be PTX alone, which only a driver links.
    for_it = f"-gencode=arch=compute_80,code=sm_{gpu}"
    command = [for_it if part == sass.OF_PTX else part for part in sass.nvcc_command()]
    command += ["-rdc=true", "-fatbin", "-o", tmp_path / "kernels.fatbin"]
    subprocess.run([*command, sass.ROOT / "cuda/kernels/unit_text.cu"], check=True)

    def tool(*arguments):
        command = [nvcc, f"-arch=sm_{gpu}", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert not tool("-rdc=true", "-cubin", "product.ptx", "-o", "product.cubin").returncode
    whole = tool("-dlink", "-cubin", "kernels.fatbin", "product.cubin", "-o", "linked")
    assert whole.returncode == 0, whole.stderr
    alone = tool("-dlink", "-cubin", "kernels.fatbin", "-o", "alone")
    assert "Undefined reference to 'widthwise_product'" in alone.stderr


def test_a_text_that_only_the_gpus_compiler_refuses_goes_to_the_cpu(drivers, nvrtc):
    text = "mp = ma;\n#ifdef __CUDACC__\nmp = nobody;\n#endif"
    program = f"{MULTIPLIED}product('cuda', {text!r})\nproduct('auto', {text!r})"
    *refused, auto = said(drivers["whole"], "", program).splitlines()
    words = "\n".join(refused)
    assert "does not take unit mac(e5m10): NVRTC does not compile the product" in words
    assert 'product(3): error: identifier "nobody" is undefined' in words
    assert auto == "auto computed it"


def test_without_nvrtc_the_way_out_is_named_and_the_cpu_goes_on(drivers):
    program = f"{MULTIPLIED}import widthwise._compiler as of\nof.offer_nvrtc = lambda: None\n"
    program += "product('cuda', 'mp = ma;')\nproduct('auto', 'mp = ma;')"
    refused, auto = said(drivers["whole"], "", program).splitlines()
    if refused == "cuda computed it":
        pytest.skip("this machine's own NVRTC is on its library path, where CUDA's toolkit put it")
    assert "NVRTC, which compiles a text for a GPU, is not there: libnvrtc.so" in refused
    assert "pip install 'nvidia-cuda-nvrtc==13.0.*' brings one" in refused
    assert auto == "auto computed it"


def test_what_the_drivers_linker_has_to_say_is_told(drivers, nvrtc):
    out = said(drivers["whole"], "link", f"{MULTIPLIED}product('cuda', 'mp = ma;')")
    assert "GPU 0 (Imaginary 1), loading the kernels of unit_text: imaginary words: an imag" in out
