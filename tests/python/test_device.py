"""Arrays on a GPU, with a driver and a GPU that are this CPU."""

from types import SimpleNamespace

import pytest
import widthwise as ww
from pretended_gpu import check_there


def test_arrays_on_a_gpu_that_is_this_cpu():
    check_there("device_checks.py", "device_block_checks.py", "device_affine_checks.py")


def test_without_a_gpu_it_is_said_why():
    if "cuda" in ww.engines():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="device = 'cuda' cannot be used here: "):
        ww.zeros((2, 3), "e5m10").to_device("cuda")
    elsewhere = SimpleNamespace(__cuda_array_interface__={"shape": (3,), "data": (4096, False)})
    with pytest.raises(ValueError, match="device = 'cuda' cannot be used here: "):
        ww.from_bits(elsewhere, "e5m10")
