"""What tests of several frameworks share: drawn numbers, and results that are ww's bit for bit."""

import numpy as np
import widthwise as ww


def drawn(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def whole(*shape, seed):
    """Small integers, whose sums of products are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def same(got, want):
    """Bits of numbers, signs of zeros included; NaN is NaN."""
    got = np.asarray(got).astype(np.float64)
    coded = isinstance(want, ww.Array | ww.Blocks)
    want = np.asarray(want.to_float64() if coded else want, np.float64)
    assert got.shape == want.shape
    got, want = np.where(np.isnan(got), np.nan, got), np.where(np.isnan(want), np.nan, want)
    np.testing.assert_array_equal(got.view(np.uint64), want.view(np.uint64))
