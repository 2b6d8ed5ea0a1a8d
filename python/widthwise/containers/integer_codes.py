"""Integers as codes of formats, and back: int4, uint8, …"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._array import Array
from .._create import from_dtype
from .._device import DeviceArray
from .._format import Format
from .._format_texts import said
from .scheme import Scheme


def format_of(rule: Scheme) -> Format:
    return Format(f"{'int' if rule.signed else 'uint'}{rule.bits}")


def as_codes(integers: Any, rule: Scheme) -> Any:
    """In two's complement, as those on a GPU are."""
    if isinstance(integers, DeviceArray):
        return integers
    f = format_of(rule)
    bits = np.asarray(integers).astype(rule.dtype).view(f.dtype)
    return Array._of(bits & f.dtype.type((1 << f.width) - 1), f)


def as_integers(codes: Any, name: str = "codes") -> tuple[np.ndarray, int]:
    """NumPy's integers of what a user gives, and the bits of one."""
    if isinstance(codes, DeviceArray):
        raise TypeError(
            f"{name} lie on {codes.device}, and integers are taken here: {name}.to_device('cpu'). "
            "x.to_device('cuda') takes an Affine there"
        )
    if not isinstance(codes, Array):
        a = np.asarray(codes)
        narrow = from_dtype(a) if a.dtype.kind == "V" else None  # ml_dtypes' int4
        if narrow is None:
            return a, 8 * a.itemsize
        codes = narrow
    f = codes.format
    if not re.fullmatch(r"u?int\d+", str(f)) or f.width > 32:
        raise TypeError(
            f"{name} is an Array of {said(f)}; one of int4, uint8, … is taken, to 32 bits"
        )
    wide = codes.to_float64().astype(np.int64)
    return wide.astype(f"{'int' if f.signed else 'uint'}{8 * f.dtype.itemsize}"), f.width
