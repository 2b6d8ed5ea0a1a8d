"""What QuantizeLinear and DequantizeLinear have a type for, as onnxruntime runs them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto

from .._format import Format
from .._format_facts import highest, lowest
from ._probe import LARGEST, f32, first_change, rounded

SATURATING = ";overflow=satfinite"


class Type(NamedTuple):
    """A type of the standard, the first opset in which both operators take it, and its format."""

    of: int
    opset: int
    format: str


# float4e2m1, float6 and E8M0 are in the standard, and onnxruntime 1.32 does not run them.
FLOATS = [
    Type(TensorProto.FLOAT8E4M3FN, 19, "e4m3fn"),
    Type(TensorProto.FLOAT8E4M3FNUZ, 19, "e4m3fnuz"),
    Type(TensorProto.FLOAT8E5M2, 19, "e5m2"),
    Type(TensorProto.FLOAT8E5M2FNUZ, 19, "e5m2fnuz"),
]
INTEGERS = {
    name: Type(getattr(TensorProto, name.upper()), opset, name)
    for name, opset in (
        ("int8", 10), ("uint8", 10), ("int16", 21), ("uint16", 21), ("int4", 21), ("uint4", 21),
        ("int2", 25), ("uint2", 25),
    )
    if hasattr(TensorProto, name.upper())  # the package onnx has 2 bits since 1.20
}  # fmt: skip
OF_FORMAT = {str(Format(x.format)): x for x in FLOATS}
LEAST_SCALE = 126  # digits by which a scale may lie away from 1


class Standard(NamedTuple):
    """How a format is written by the standard: x clipped or guarded, quantised, dequantised."""

    type: int
    scale: float
    saturate: bool | None  # None of integers, which always do
    clip: tuple[float, float] | None  # the reference wraps past 32 bits, and see Builder.before
    guard: float | None  # from which magnitude on x becomes infinite, which onnxruntime leaves out


def standard(f: Format, rounding: str, opset: int) -> Standard | None:
    """None where the standard does not round so."""
    return held(f, opset) if rounding == "rne" else None


def held(f: Format, opset: int) -> Standard | None:
    """None where the standard has no type for it, or not in this opset."""
    found = of_integers(f) if f.system == "fixed" else of_floats(f)
    return found if found is None or opset >= first_opset(found.type) else None


def first_opset(type: int) -> int:
    return next(x.opset for x in (*FLOATS, *INTEGERS.values()) if x.of == type)


def of_integers(f: Format) -> Standard | None:
    type = INTEGERS.get(f"{'' if f.signed else 'u'}int{f.width}")
    if type is None or f.overflow != "saturate" or abs(f.least_digit) > LEAST_SCALE:
        return None
    return Standard(type.of, 2.0**f.least_digit, None, (lowest(f), highest(f)), None)


def of_floats(f: Format) -> Standard | None:
    text = str(f)
    saturates = text.endswith(SATURATING)
    type = OF_FORMAT.get(text.removesuffix(SATURATING))
    if type is None:
        return None
    most = highest(f)
    if saturates:
        return Standard(type.of, 1.0, True, (-most, most), None)
    return Standard(type.of, 1.0, False, None, past(f))


def past(f: Format) -> float:
    """The least number that overflows."""
    most = f32([highest(f)])
    border = first_change(most, f32([LARGEST]), f, "rne")
    assert not np.isfinite(rounded(border, f, "rne")).any()
    return float(border[0])


def type_of(bits: int, signed: bool, opset: int) -> Type | None:
    """The least of the standard's integers that holds codes of so many bits."""
    for width in (2, 4, 8, 16):
        found = INTEGERS.get(f"{'' if signed else 'u'}int{width}")
        if found is not None and width >= bits and opset >= found.opset:
            return found
    return None


def codes_of(values: Any, type: int) -> Any:
    """A format's codes as the standard's array of its type."""
    from onnx import helper

    dtype = helper.tensor_dtype_to_np_dtype(type)
    return values.view(dtype) if values.dtype.itemsize == dtype.itemsize else values.astype(dtype)
