"""Numbers to be quantised, as binary32 or binary64 holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._container import Container
from .._create import array, as_numpy, from_dtype, is_tensor

INEXACT = 1


def as_numbers(x: Any, *, single: bool = False) -> np.ndarray:
    """x as float32 or float64 in one piece, exactly; rounded to binary32 if `single`."""
    numbers = in_machine_floats(x)
    if numbers.ndim == 0:
        raise ValueError("x is one number; a scale is shared along an axis: np.array([x])")
    if numbers.size == 0:
        raise ValueError(f"x has shape {numbers.shape}, and an empty block has no scale")
    if single and numbers.dtype != np.float32:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float32)
    return np.ascontiguousarray(numbers)


def in_machine_floats(x: Any) -> np.ndarray:
    if isinstance(x, Container):
        return np.asarray(x)
    if is_tensor(x):
        from .._views import from_tensor

        x = from_tensor(x)
    x = as_numpy(x)
    if isinstance(x, np.ndarray) and x.dtype in (np.float32, np.float64):
        return x
    if isinstance(x, np.ndarray) and x.dtype == np.float16:
        return x.astype(np.float32)
    held = x if isinstance(x, Array) else from_dtype(x)
    if held is None:
        return exact_doubles(x)
    if str(held.format) == "e8m23":
        return held.bits.view(np.float32)
    return held.to_float64()


def exact_doubles(x: Any) -> np.ndarray:
    """Integers, Fractions, texts; one that binary64 does not hold is an error."""
    held, flags = array(x, "binary64", flags=True)
    if (flags & INEXACT).any():
        raise ValueError(
            "x holds numbers of more than binary64's 53 digits; round them first, as "
            "ww.array(x, 'binary64')"
        )
    return held.to_float64()
