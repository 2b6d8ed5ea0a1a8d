"""What a sweep multiplies: values in each unit's formats, or as blocks where it scales them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array
from ._block_format import BlockFormat
from ._compare import isfinite
from ._create import array
from ._dot import matmul
from ._spelling import called
from ._unit import Unit, as_unit
from .containers.numbers import in_machine_floats

# Of exact double operands: binary64's own products fill 106 digits, which this register holds.
EXACT = "kulisch(binary64)"


def doubles(name: str, x: Any) -> np.ndarray:
    """Numbers as binary64 holds them; what it does not is no data that results are held against."""
    with called(name):
        return in_machine_floats(x).astype(np.float64, copy=False)


def block_formats(unit: Unit) -> tuple[BlockFormat, BlockFormat]:
    """Of a's rows and b's columns, where the unit scales its blocks."""
    x, y = (BlockFormat.of(f, unit.scale_block, unit.scale_format) for f in (unit.a, unit.b))
    return x, y


def exact_product(x: Array, y: Array, options: dict[str, Any]) -> np.ndarray:
    """Of arrays, rounded once to binary64: by a register of their formats where that is short."""
    if max(x.format.exponent_bits, y.format.exponent_bits) <= SHORT_EXPONENT:
        unit = as_unit(f"kulisch({x.format}, b={y.format}, out=binary64)")
        return np.asarray(matmul(x, y, unit=unit, **options).to_float64())
    return exact_of(x.to_float64("rne"), y.to_float64("rne"), options)


def exact_of(a: np.ndarray, b: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Of doubles, rounded once to binary64; NaN for a number that is past its range, which no
    infinity is the same as, or that vanishes below it, as no zero is."""
    exact = product_of(as_unit(EXACT), a, b, "rne", "auto", options)
    if np.isinf(exact).any():
        rows, columns = np.isfinite(a).all(axis=-1), np.isfinite(b).all(axis=0)
        of_numbers = np.logical_and.outer(rows, columns)
        exact = np.where(np.isinf(exact) & of_numbers, np.nan, exact)
    if not exact.all() and last_digit(a) + last_digit(b) < LAST_DIGIT:
        x, y = rounded_pair(as_unit(EXACT), a, b, "rne", options["seed"])
        _, raised = matmul(x, y, unit=EXACT, flags=True, **options)
        exact = np.where((exact == 0) & (raised & UNDERFLOW != 0), np.nan, exact)
    return exact


LAST_DIGIT, UNDERFLOW = -1074, 2


def last_digit(x: np.ndarray) -> int:
    """A power of two that all numbers of an array are multiples of, in a double's 53 digits."""
    there = x[np.isfinite(x) & (x != 0)]
    least = np.abs(there).min(initial=1.0)
    return max(LAST_DIGIT, int(np.frexp(least)[1]) - 53)


SHORT_EXPONENT = 8  # bits


def draws(rounding: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """How a and b are rounded, each by random bits of its own."""
    return {"rounding": rounding, "seed": seed}, {"rounding": rounding, "seed": (seed + 1) % 2**64}


def rounded_pair(
    unit: Unit, a: np.ndarray, b: np.ndarray, rounding: str, seed: int
) -> tuple[Array, Array]:
    """In the unit's formats."""
    of_a, of_b = draws(rounding, seed)
    return array(a, unit.a, **of_a), array(b, unit.b, **of_b)


def product_of(
    unit: Unit, a: np.ndarray, b: np.ndarray, rounding: str, engine: str, options: dict[str, Any]
) -> np.ndarray:
    x, y = rounded_pair(unit, a, b, rounding, options["seed"])
    return computed(unit, x, y, engine, options)


def computed(unit: Unit, x: Any, y: Any, engine: str, options: dict[str, Any]) -> np.ndarray:
    """In binary64; a number past its range is its largest, and no infinity."""
    z = matmul(x, y, unit=unit, engine=engine, **options)
    doubles = np.asarray(z.to_float64(rounding="rne"))
    if not np.isinf(doubles).any():
        return doubles
    past = np.isinf(doubles) & isfinite(z)
    return np.where(past, np.copysign(np.finfo(np.float64).max, doubles), doubles)
