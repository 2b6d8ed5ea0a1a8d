"""Texts of formats from numbers, and in errors."""

from __future__ import annotations

from typing import Any

from . import _widthwise as core
from ._settings import integer


def said(of: Any) -> str:
    """A format or a unit in an error: of a long table without a name its beginning and a mark.

    >>> said("mac(table(0,1,2,3,5,8,13,21,34), sum=e5m10)")
    'mac(table(0,1,2,3,… of 9 values, #3411f910), sum=e5m10)'
    """
    text = str(of)
    return core.said(text) if "table(" in text else text  # which may be no text to the core


def of_fields(
    text: Any, sign: int, exponent: int | None, mantissa: int | None, bias: int | None
) -> Any:
    """A float's, by its fields where no text is given."""
    if text is None and exponent is not None and mantissa is not None:
        return of_float(sign, exponent, mantissa, bias)
    if exponent is not None or mantissa is not None or bias is not None or sign != 1:
        raise TypeError("format: a text, or exponent= and mantissa=, with sign= and bias=")
    return text


def of_float(sign: int, exponent: int, mantissa: int, bias: int | None) -> str:
    if sign not in (0, 1):
        raise ValueError(f"sign = {sign!r}: 1 bit, or 0 where no number is below zero")
    text = f"{'' if sign else 'u'}e{integer('exponent', exponent)}m{integer('mantissa', mantissa)}"
    return text if bias is None else f"{text};bias={integer('bias', bias)}"


def of_fixed(width: int, fraction: int, signed: bool, overflow: str) -> str:
    bits = f"{integer('width', width)}.{integer('fraction', fraction)}"
    return f"{'' if signed else 'u'}fixed{bits};overflow={overflow}"
