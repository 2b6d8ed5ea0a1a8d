"""Codes that are there already: this library's, NumPy's, and of other libraries' types."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._create import code_array, from_dtype, is_tensor
from .._format import Format
from .._views import from_tensor

# E4M3 with its sign holds the codes of NVFP4's scales, none of which has one.
ALIKE = {("e4m3fn", str(Format("ue4m3fn")))}


def codes(name: str, x: Any, f: Format) -> Array:
    """An Array of the format, codes of it, or another library's array of the same encoding."""
    if isinstance(x, Array):
        if x.format != f and (str(x.format), str(f)) not in ALIKE:
            raise TypeError(f"{name} is {x.format}; {f} is wanted, whose codes are x.bits")
        return x if x.format == f else code_array(name, x.bits, f)
    if is_tensor(x):
        return codes(name, from_tensor(x), f)
    a = np.asarray(x)
    if a.dtype.kind == "u":
        return code_array(name, a, f)
    if f.system == "fixed" and a.dtype.kind == "i" and a.itemsize == f.dtype.itemsize:
        return masked(a, f)
    return codes(name, array_of(name, a), f)


def masked(a: np.ndarray, f: Format) -> Array:
    """Signed integers as codes in two's complement."""
    return code_array("elements", a.view(f.dtype) & f.dtype.type((1 << f.width) - 1), f)


def array_of(name: str, a: Any) -> Array:
    found = from_dtype(a)
    if found is None:
        raise TypeError(f"{name} holds {a.dtype}; codes are unsigned integers")
    return found
