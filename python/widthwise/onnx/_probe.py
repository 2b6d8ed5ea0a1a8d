"""What a format makes of binary32's numbers, asked of the simulator; graphs are built from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._create import from_bits
from .._elementwise import convert
from .._format import Format

BINARY32 = Format("binary32")
LARGEST = np.float32(3.4028235e38)
LEAST = np.float32(2.0**-149)


def f32(x: Any) -> np.ndarray:
    return np.asarray(x, np.float32)


def rounded(x: np.ndarray, f: Format, rounding: str) -> np.ndarray:
    """Binary32 to the format and back, which is what a node has to deliver."""
    words = np.ascontiguousarray(x, np.float32).view(np.uint32)
    codes = convert(from_bits(words, BINARY32), f, rounding=rounding)
    return values(from_bits(codes.bits, f))


def values(codes: object) -> np.ndarray:
    return np.asarray(convert(codes, BINARY32).bits).view(np.float32)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Bit for bit, but that one NaN is as good as another."""
    return (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))


def first_change(
    low: np.ndarray, high: np.ndarray, f: Format, rounding: str, sign: int = 1
) -> np.ndarray:
    """Between numbers whose results differ, and change once: the least number of the second result.

    Args:
        low, high: binary32 of one shape, each of low below its own of high.
        sign: -1 asks for the results of numbers of the other sign.
    """

    def results(x: np.ndarray) -> np.ndarray:
        return rounded(x * f32(sign), f, rounding)

    left, right = ordered(low), ordered(high)
    before = results(low)
    while (left + 1 < right).any():
        middle = (left + right) // 2
        as_before = same(results(of_order(middle)), before)
        left, right = np.where(as_before, middle, left), np.where(as_before, right, middle)
    return of_order(right)


def ordered(x: np.ndarray) -> np.ndarray:
    """Binary32 as integers in the order of the numbers, +0 next to the least negative one."""
    words = np.ascontiguousarray(x, np.float32).view(np.int32).astype(np.int64)
    return np.where(words < 0, -(words & 0x7FFFFFFF), words)


def of_order(i: np.ndarray) -> np.ndarray:
    words = np.where(i < 0, (-i) | 0x80000000, i)
    return words.astype(np.uint32).view(np.float32)
