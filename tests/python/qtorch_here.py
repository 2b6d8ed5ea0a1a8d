"""The packages that widthwise.compat.qtorch is compared with, and tensors to compare on."""

import functools
import importlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

try:
    import torch
    import widthwise.compat.qtorch as ours

    torch.set_num_threads(1)  # two of them wait for each other where others work
except ImportError:
    torch = ours = None

NEEDED = pytest.mark.skipif(torch is None, reason="torch is large: --long installs it")
BUILT = Path(__file__).resolve().parents[2] / "build" / "torch_extensions"


def package(name, part="quant"):
    """A module of qtorch or qtorch_plus, of which the second compiles for half a minute as well."""
    if name == "qtorch_plus" and "WIDTHWISE_LONG" not in os.environ:
        pytest.skip("--long was not given")
    pytest.importorskip("torch", reason="torch is large: --long installs it")
    compile_in_the_build_tree(name)
    pytest.importorskip(name, reason=f"{name} compiles itself and needs torch: --long installs it")
    return importlib.import_module(f"{name}.{part}" if part else name)


def compile_in_the_build_tree(name):
    """Once: both call what they compile quant_cpu, so that each has a folder, and the fork always
    the second name that torch gives; of one name, the first to be loaded would be both."""
    if name in ("qtorch", "qtorch_plus") and name not in sys.modules and find_spec(name):
        from torch.utils import _cpp_extension_versioner, cpp_extension

        os.environ["TORCH_EXTENSIONS_DIR"] = str(BUILT / name)
        entries = cpp_extension.JIT_EXTENSION_VERSIONER.entries
        entries.clear()
        if name == "qtorch_plus":
            entries["quant_cpu"] = _cpp_extension_versioner.Entry(0, None)


@functools.cache
def patterns(seed, least=-149, most=127, count=20_000):
    """Random patterns of 32 bits, as many numbers between two powers of two, and specials."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, count, dtype=np.uint32)
    near = rng.uniform(1, 2, count) * 2.0 ** rng.integers(least, most + 1, count)
    signs = rng.choice([-1.0, 1.0], count)
    numbers = np.concatenate([(near * signs).astype(np.float32), borders(least, most)])
    return torch.from_numpy(np.concatenate([words.view(np.float32), numbers]))


def borders(least, most):
    """Powers of two, halves and ties of short fractions, a last place to either side; specials."""
    ends = [range(least, most + 1)[at] for at in (slice(10), slice(-10, None))]
    scale = 2.0 ** np.unique([*ends[0], *ends[1], *range(max(least, -4), min(most, 4) + 1)])
    fractions = 1 + np.arange(64) / 64
    near = (scale[:, None] * fractions).astype(np.float32).ravel()
    near = np.concatenate([near, np.nextafter(near, np.float32(0)), near + np.spacing(near)])
    near = np.concatenate([near, -near])
    words = [0, 1 << 31, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F7FFFFF, 0x7FFFFFFF]
    words += [0x7F800001, 0xFFFFFFFF, 0x007FFFFF, 0x00800000, 0x80000001]
    return np.concatenate([near, np.array(words, np.uint32).view(np.float32)])


def differ(got, want):
    """How many elements have other bits, with the first of them."""
    assert got.dtype == want.dtype and got.shape == want.shape
    word = {2: torch.int16, 4: torch.int32, 8: torch.int64}[got.element_size()]
    return torch.nonzero(got.contiguous().view(word) != want.contiguous().view(word))


def assert_same(x, got, want, about=""):
    wrong = differ(got, want)
    at = tuple(wrong[0]) if len(wrong) else None
    assert not len(wrong), (about, len(wrong), x[at], got[at], want[at])
