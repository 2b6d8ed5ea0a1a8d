"""What tests of widthwise.torch share: the module, or why it is not there."""

import numpy as np
import pytest

try:
    import torch
except ImportError:
    torch = wt = None
else:  # what fails in a module of ours is no torch that is missing
    import widthwise.torch as wt  # noqa: F401

    torch.set_num_threads(1)  # two that share a core with others wait for each other

# Case by case: a module that is skipped as it is collected tells the record no reason.
NEEDED = pytest.mark.skipif(torch is None, reason="torch is large: --long installs it")


def drawn(*shape, seed=0):
    if torch is None:  # cases are collected then, and none is run
        return np.zeros(shape)
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def same(tensor, wanted):
    """Bits of binary32."""
    np.testing.assert_array_equal(tensor.detach().numpy().view(np.uint32), wanted.view(np.uint32))
