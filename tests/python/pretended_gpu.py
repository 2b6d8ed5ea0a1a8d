"""Tests of arrays on a GPU, run with a driver and a GPU that are this CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import widthwise as ww

DRIVER = Path(__file__).parents[2] / "build/tests/cuda/libcuda.so.1"


def check_there(*files):
    if "nvcc" in ww.engines().unusable.get("cuda", ""):
        pytest.skip("nvcc was not found")
    if not DRIVER.exists():
        pytest.skip("ninja -C build tests/cuda/libcuda.so.1 has not been run")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=Path(__file__).parent,
        env=os.environ | {"LD_LIBRARY_PATH": str(DRIVER.parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
