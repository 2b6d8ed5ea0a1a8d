"""What is told of a format, where its numbers end, and what a table's values may be."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from ._codes import readable
from ._format import Format
from ._settings import brief
from ._table import Table

DIGITS, LAST_DIGIT = 53, -1074  # of binary64: of a normal number, and the lowest there is


def facts(f: Format) -> dict[str, Any]:
    """All of its properties, for tables: JSON's types, values as text."""
    fields: dict[str, Any] = {
        "format": str(f),
        "system": f.system,
        "width": f.width,
        "signed": f.signed,
        "exponent bits": f.exponent_bits,
        "fraction bits": f.fraction_bits,
        "precision": f.precision,
    }
    if f.system == "table":  # which has no such fields
        del fields["exponent bits"], fields["fraction bits"]
        fields |= {"signed": min(f.values) < 0, "listed": len(f.values)}
    if f.is_float:
        fields["bias"] = f.bias
    return fields | {
        "emin": f.emin,
        "emax": f.emax,
        "infinity": f.has_inf,
        "NaN": f.has_nan,
        "subnormals": f.has_subnormals,
        "codes": {name: f"0x{code:0{-(-f.width // 4)}x}" for name, code in f.codes.items()},
        "values": {name: readable(code, f) for name, code in f.codes.items()},
    }


def rows(f: Format) -> Table:
    """What, its value, its code."""
    told = facts(f)
    codes, values = told.pop("codes"), told.pop("values")
    fields = [(key, str(value), "") for key, value in told.items()]
    named = [(name, values[name], codes[name]) for name in codes]
    return Table(["", "value", "code"], fields + named)


# --- The ends of the numbers ----------------------------------------------------------------------


def highest(f: Format) -> float:
    """The largest number, as far as binary64 goes."""
    return cut(*f._scaled("max_finite"))


def lowest(f: Format) -> float:
    """The least number, as far as binary64 goes; of unsigned formats 0."""
    if f.system == "table":
        return min(x for x in f.values if x == x)
    if not f.signed:
        return 0.0
    if f.system == "fixed" and f._core.overflow != "symmetric":
        return -cut(1 << f.width - 1, f.least_digit)  # two's complement has one more below zero
    return -highest(f)


def cut(significand: int, exponent: int) -> float:
    """A number of binary64: what it has no digits for is left out, and no end is passed."""
    lost = max(0, significand.bit_length() - DIGITS, LAST_DIGIT - exponent)
    try:
        return math.ldexp(significand >> lost, exponent + lost)
    except OverflowError:
        return sys.float_info.max


# --- Tables ---------------------------------------------------------------------------------------


def exact_values(given: Any, name: Any) -> list[float]:
    """Of a table that is to be made."""
    if isinstance(given, str | bytes | dict | set | frozenset):
        raise TypeError(f"values are a {type(given).__name__}; a list, or an array, has an order")
    if not isinstance(name, str) or {",", "/", "."} & set(name):
        raise ValueError(f"name = {name!r}: letters, digits, _ and - are taken")
    values = given.tolist() if hasattr(given, "to_float64") else given  # of an Array
    shape = getattr(given, "shape", None)
    if shape is not None and len(shape) != 1:
        raise ValueError(f"values have shape {tuple(shape)}; a table takes a row: values.ravel()")
    if not isinstance(values, Iterable):
        raise TypeError(f"values = {values!r}: a table takes several, as [-1, 0, 1]")
    return [exact_value(i, x) for i, x in enumerate(values)]


def exactly(x: Any) -> Fraction:
    return Fraction(*x.as_integer_ratio()) if hasattr(x, "as_integer_ratio") else Fraction(x)


def exact_value(i: int, x: Any) -> float:
    """A value of a table in binary64, which has to hold it."""
    if isinstance(x, str | bytes) or not hasattr(x, "__float__"):
        raise TypeError(f"values[{i}] is {x!r}; a table has numbers")
    nearest = float(x)
    if math.isfinite(nearest) and exactly(x) != nearest:
        raise ValueError(
            f"values[{i}] is {x}, which binary64 has not; take the float {nearest!r}, its nearest"
        )
    return nearest


def of_numpy(x: Any) -> str:
    """The text of a NumPy dtype, or of a class that is taken as one, as np.float16 and float."""
    if not isinstance(x, type | np.dtype) or x is object:
        return ""
    try:
        dtype = np.dtype(x)
    except TypeError:
        return ""
    return dtype.name if dtype.kind in "fiu" and dtype.itemsize <= 8 else ""


def no_text(given: tuple[Any, ...]) -> str:
    """What was given in place of a format's text, and the text of two numbers of bits."""
    if len(given) == 1 and (named := of_numpy(given[0])):
        return f"format = {brief(given[0])}: a text is wanted, here {named!r}, or a ww.Format"
    bits = [x for x in given if isinstance(x, int)]
    text = "e{}m{}".format(*bits) if len(bits) == len(given) == 2 else "e5m10"
    shown = ", ".join(map(brief, given))
    return f"format = {shown}: a text as {text!r} is wanted, or a ww.Format"
