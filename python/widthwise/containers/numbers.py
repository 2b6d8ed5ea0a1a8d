"""Numbers to be quantised, as binary32 or binary64 holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._container import Container
from .._create import array, as_numpy, from_dtype, is_tensor, on_gpu
from .._device import DeviceArray, Found
from .._format import Format
from .._format_texts import said

INEXACT = 1
HELD = {"e8m23": (24, 127, -149), "e11m52": (53, 1023, -1074)}  # digits, emax, the last digit


def as_numbers(x: Any, *, single: bool = False) -> Any:
    """x as float32 or float64 in one piece, exactly; rounded to binary32 if `single`. Of an array
    on a GPU a DeviceArray of binary32 or binary64."""
    x = x.numbers() if isinstance(x, Container) else x
    if is_tensor(x):
        from .._views import from_tensor

        x = from_tensor(x)
    if (there := on_gpu(x)) is not None:
        return checked(numbers_there(there, single))
    numbers = checked(in_machine_floats(x))
    if single and numbers.dtype != np.float32:
        with np.errstate(over="ignore"):
            numbers = numbers.astype(np.float32)
    return np.ascontiguousarray(numbers)


def without_gradient(x: Any) -> Any:
    """A tensor's numbers as NumPy's, whatever hangs on them and wherever they lie: scales that are
    learned, say. All else as it is."""
    if not is_tensor(x):
        return x
    from .._views import from_tensor

    found = from_tensor(x.detach().cpu())
    return found.to_float64() if isinstance(found, Array) else found


def checked(numbers: Any) -> Any:
    if numbers.ndim == 0:
        raise ValueError("x is one number; a scale is shared along an axis: np.array([x])")
    if numbers.size == 0:
        raise ValueError(f"x has shape {numbers.shape}, and an empty block has no scale")
    return numbers


def numbers_there(x: DeviceArray | Found, single: bool) -> DeviceArray:
    """Where they lie, in the shorter format that holds all numbers of theirs."""
    x = x.as_values("x") if isinstance(x, Found) else x
    to = next((name for name in HELD if single or holds(name, x.format)), None)
    if to is None:
        raise ValueError(
            f"x holds {said(x.format)} on {x.device}, and binary64 has not all its numbers; "
            "x.astype('binary64') rounds them there, x.to_device('cpu') brings them here"
        )
    return (x if str(x.format) == to else x.astype(to)).contiguous()


def holds(name: str, f: Format) -> bool:
    digits, emax, least = HELD[name]
    if f.system == "table":
        return name == "e11m52"
    return f.precision <= digits and f.emax <= emax and f.least_digit >= least


def for_core(x: Any) -> np.ndarray:
    """Numbers in machine floats as the core takes them: NumPy's, or a GPU's addresses."""
    if isinstance(x, Array):
        return x.bits.view(f"f{x.bits.itemsize}")
    return x._for_core if isinstance(x, DeviceArray) else x


def number_at(x: Any, i: int) -> float:
    one = x.reshape(-1)[i]
    return float(one.to_float64() if isinstance(one, DeviceArray) else one)


def refuse_there(what: str, x: Any) -> None:
    if isinstance(x, DeviceArray):
        raise ValueError(
            f"{what} is for numbers of this machine, and x lies on {x.device}; "
            "x.to_device('cpu') brings it here"
        )


def in_machine_floats(x: Any) -> np.ndarray:
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
