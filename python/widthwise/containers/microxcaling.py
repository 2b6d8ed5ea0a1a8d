"""Blocks as the package microxcaling makes them, its faults included (docs/semantics.md, B6).

Its plain torch code on a CPU, every step in binary32: exponents are floor(log2 x) with a logarithm
that rounds, and numbers are rounded by floor(x + 0.5).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .._array import Array
from .._block_format import BlockFormat
from .._create import array, from_bits
from .._format_texts import said
from .layout import Layout

# Its keys round=even, nearest and floor, under our names.
ROUNDINGS = ("rne", "rna", "rtz")
OF_ZEROS = -126


def codes(x: np.ndarray, layout: Layout, rounding: str) -> tuple[Array, Array, int]:
    """Elements, scales, and how many of these are NaN."""
    f = layout.format
    x = x.astype(np.float32)
    found, special = exponents(x, layout)
    top = f._core.scale.bias
    shared = np.maximum(found - floor_log2_of_largest(f), -top)
    special |= shared > top
    zero = (found <= -127) & f._core.flush
    values = rounded(x, layout.spread(np.where(special, 0, shared)), f, rounding)
    values = np.where(layout.spread(special | zero), 0.0, values)
    scales = np.where(special, 2 * top + 1, np.where(zero, 0, shared + top))
    made = from_bits(scales.astype(np.uint8), f.scale)
    return array(values, f.element), made, int(special.sum())


def check(f: BlockFormat, rounding: str) -> None:
    if str(f).startswith("bfp") or ";scale=" in str(f) or not f._core.power_of_two:
        raise ValueError(
            f"format = {said(f)}: microxcaling has scales in powers of two, by floor alone"
        )
    if f.element.system not in ("float", "fixed") or isinstance(f.block, tuple):
        raise ValueError(
            f"format = {said(f)}: microxcaling has floats and integers, in blocks of n"
        )
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding = {rounding!r}: microxcaling has {', '.join(ROUNDINGS)}")


def floor_log2(x: np.ndarray) -> np.ndarray:
    """By a logarithm in binary32: just below a power of two it is one too large."""
    with np.errstate(divide="ignore"):
        return np.floor(np.log2(x.astype(np.float64)).astype(np.float32)).astype(np.float64)


def exponents(x: np.ndarray, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """floor(log2 amax) of each block, and which blocks hold NaN or infinity."""
    amax = layout.largest(np.abs(x))
    special = ~np.isfinite(amax)
    positive = (amax > 0) & ~special
    found = np.where(positive, floor_log2(np.where(positive, amax, 1)), OF_ZEROS)
    return found.astype(np.int64), special


def floor_log2_of_largest(f: BlockFormat) -> int:
    largest = Fraction(f.element.max_finite)
    e = largest.numerator.bit_length() - largest.denominator.bit_length()
    return e if Fraction(2) ** e <= largest else e - 1


def rounded(x: np.ndarray, shared: np.ndarray, f: BlockFormat, rounding: str) -> np.ndarray:
    """The elements' values, by its steps."""
    element = f.element
    with np.errstate(all="ignore"):
        v = np.ldexp(np.abs(x.astype(np.float64)), -shared)
        if element.system == "fixed":
            step = np.full(v.shape, 2 - element.width)
        else:
            of_v = np.where(v > 0, floor_log2(np.where(v > 0, v, 1)), 0)
            step = np.maximum(of_v, element.emin).astype(np.int64) - element.fraction_bits
        a = np.ldexp(v, -step).astype(np.float32)
        y = np.floor(a if rounding == "rtz" else a + np.float32(0.5)).astype(np.float64)
        if rounding == "rne":
            y -= (a - np.float32(0.5)) % 2 == 0
        largest = float(element.max_finite)
        return np.copysign(np.nan_to_num(np.minimum(np.ldexp(y, step), largest)), x)
