"""Formats of up to 16 bits by a search: where results change, and what they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._create import from_bits
from .._format import Format
from .._host import WRAPPING
from ._body import Body
from ._probe import LARGEST, LEAST, f32, first_change, rounded, same, values

WIDEST = 16
NAME = "QuantizeTable"


class Steps(NamedTuple):
    """Results by intervals: the number of borders at or below x tells which."""

    borders: np.ndarray
    results: np.ndarray  # one more
    minus_zero: float  # what the result of 0 is multiplied by to become that of -0
    nan: float


def takes(f: Format) -> bool:
    return f.width <= WIDEST and f.overflow not in WRAPPING


def steps(f: Format, rounding: str) -> Steps:
    own = values(from_bits(np.arange(1 << f.width, dtype=f.dtype), f))
    ends = f32([-np.inf, -LARGEST, -LEAST, 0, LEAST, LARGEST, np.inf])
    points = np.unique(np.concatenate([own[~np.isnan(own)] + f32(0), ends]))
    found = rounded(points, f, rounding)
    changes = np.flatnonzero(~same(found[:-1], found[1:]))
    borders = first_change(points[changes], points[changes + 1], f, rounding)
    results = np.concatenate([found[:1], rounded(borders, f, rounding)])
    plus, minus, nan = rounded(f32([0.0, -0.0, np.nan]), f, rounding)
    turned = -1.0 if np.signbit(minus) and not np.signbit(plus) and minus == 0 else 1.0
    return Steps(borders, results, turned, float("nan") if np.isnan(nan) else 1.0)


def depth(of: Steps) -> int:
    return max(1, len(of.borders).bit_length())


def padded(of: Steps) -> tuple[np.ndarray, np.ndarray]:
    """As many as a search of whole steps has: nothing lies at or above NaN."""
    n = (1 << depth(of)) - 1
    borders = np.full(n, np.nan, np.float32)
    borders[: len(of.borders)] = of.borders
    results = np.full(n + 1, of.results[-1], np.float32)
    results[: len(of.results)] = of.results
    return borders, results


def name(levels: int) -> str:
    return f"{NAME}{levels}"


def body(levels: int, opset: int) -> Any:
    """The function of a search in so many steps."""
    b = Body(name(levels), ("minus_zero", "nan"), opset, ("borders", "results"))
    b.constants(zero=0, one=1)
    b.constant("none", np.int64(0))
    b.do("IsNaN", "x", "is_nan")
    b.do("Where", "is_nan zero x", "known")
    at = "none"
    for level in reversed(range(levels)):
        b.constant(f"half{level}", np.int64(1 << level))
        b.constant(f"before{level}", np.int64((1 << level) - 1))
        b.do("Add", f"{at} before{level}", f"middle{level}")
        b.do("Gather", f"borders middle{level}", f"border{level}")
        b.do("GreaterOrEqual", f"known border{level}", f"above{level}")
        b.do("Where", f"above{level} half{level} none", f"more{level}")
        b.do("Add", f"{at} more{level}", f"at{level}")
        at = f"at{level}"
    b.do("Gather", f"results {at}", "result")
    b.do("Div", "one x", "inverse")
    b.do("Less", "inverse zero", "below")
    b.do("Equal", "x zero", "is_zero")  # for the inverse of subnormal numbers overflows
    b.do("And", "below is_zero", "is_minus_zero")
    b.do("Where", "is_minus_zero minus_zero one", "sign")
    b.do("Mul", "result sign", "signed")
    b.do("Where", "is_nan nan one", "factor")
    b.do("Mul", "signed factor", "y")
    return b.function()
