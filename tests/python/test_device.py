"""Arrays on a GPU, with a driver and a GPU that are this CPU."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import widthwise as ww

CHECKS = ["device_checks.py", "device_block_checks.py", "device_affine_checks.py"]
ROOT = Path(__file__).parents[2]
DRIVER = ROOT / "build/tests/cuda/libcuda.so.1"


def test_arrays_on_a_gpu_that_is_this_cpu():
    if "nvcc" in ww.engines().unusable.get("cuda", ""):
        pytest.skip("nvcc was not found")
    if not DRIVER.exists():
        pytest.skip("ninja -C build tests/cuda/libcuda.so.1 has not been run")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHECKS],
        cwd=Path(__file__).parent,
        env=os.environ | {"LD_LIBRARY_PATH": str(DRIVER.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_a_gpu_it_is_said_why():
    if "cuda" in ww.engines():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="device = 'cuda' cannot be used here: "):
        ww.zeros((2, 3), "e5m10").to_device("cuda")
    elsewhere = SimpleNamespace(__cuda_array_interface__={"shape": (3,), "data": (4096, False)})
    with pytest.raises(ValueError, match="device = 'cuda' cannot be used here: "):
        ww.from_bits(elsewhere, "e5m10")
