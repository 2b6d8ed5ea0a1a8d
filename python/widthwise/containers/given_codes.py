"""Codes that are there already: this library's, NumPy's, and of other libraries' types."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Rational
from typing import Any

import numpy as np

from .. import _codes
from .._array import Array
from .._block_format import BlockFormat
from .._code_array import CodeArray
from .._create import as_numpy, code_array, from_dtype, is_tensor
from .._device import found_on_gpu
from .._format import Format
from .._format_texts import said
from .._machine import by_usual_arithmetic
from .._views import from_tensor
from .numbers import without_gradient

# E4M3 with its sign holds the codes of NVFP4's scales, none of which has one.
ALIKE = {("e4m3fn", str(Format("ue4m3fn")))}


def codes(name: str, x: Any, f: Format) -> Any:
    """An Array of the format, codes of it, or another library's array of the same encoding; of an
    array on a GPU a DeviceArray."""
    x = from_tensor(x) if is_tensor(x) else x
    if isinstance(x, CodeArray) and x.format != f and (str(x.format), str(f)) not in ALIKE:
        raise TypeError(f"{name} is {said(x.format)}; {said(f)} is wanted, whose codes are x.bits")
    if isinstance(x, CodeArray) and x.format == f:
        return x
    if (there := found_on_gpu(x)) is not None:
        return there.as_codes(name, f)
    if isinstance(x, Array):
        return code_array(name, x.bits, f)
    a = np.asarray(x)
    if a.dtype.kind == "u":
        return code_array(name, a, f)
    if f.system == "fixed" and a.dtype.kind == "i" and a.itemsize == f.dtype.itemsize:
        return masked(a, f)
    return codes(name, array_of(name, a), f)


def masked(a: np.ndarray, f: Format) -> Any:
    """Signed integers as codes in two's complement."""
    return code_array("elements", a.view(f.dtype) & f.dtype.type((1 << f.width) - 1), f)


def array_of(name: str, a: Any) -> Any:
    found = from_dtype(a)
    if found is None:
        raise TypeError(f"{name} holds {a.dtype}; codes are unsigned integers")
    return found


@by_usual_arithmetic
def given(tensor_scale: Any, f: BlockFormat) -> np.float32:
    if not f._core.takes_tensor_scale:
        raise ValueError(
            f"tensor_scale = {tensor_scale!r}: {said(f)} has none; nvfp4 and other scales in "
            "ue4m3fn do"
        )
    asked = np.asarray(as_numpy(without_gradient(tensor_scale)))
    one = asked.item() if asked.size == 1 and asked.dtype.kind not in "bcSU" else None
    if asked.dtype.kind == "O" and not isinstance(one, Decimal | Rational):
        one = None
    s = np.float32(math.nan if one is None else one)
    if not (0 < s < math.inf) or float(s) != one:
        raise ValueError(
            f"tensor_scale = {tensor_scale!r}: a finite, positive number of binary32 is wanted, as "
            "np.float32(0.1) is"
        )
    return s


@by_usual_arithmetic
def check_scales(s: Any) -> None:
    """Scales in binary32 are finite and above zero."""
    if str(s.format) != "e8m23":
        return
    numbers = np.ascontiguousarray(s.to_device("cpu").bits).view(np.float32)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if wrong.size:
        where = _codes.element(int(wrong[0]), numbers.shape)
        raise ValueError(
            f"scales: {where} is {numbers.reshape(-1)[wrong[0]]}; a scale is finite and above zero"
        )
