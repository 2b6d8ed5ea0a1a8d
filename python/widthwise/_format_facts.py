"""What is told of a format, and what a table's values may be."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import Any

from ._codes import readable
from ._format import Format
from ._table import Table


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


def exact_value(i: int, x: Any) -> float:
    """A value of a table in binary64, which has to hold it."""
    try:
        nearest = float(x)
    except (TypeError, ValueError):
        raise TypeError(f"values[{i}] is {x!r}; a table has numbers") from None
    if math.isfinite(nearest) and Fraction(x if isinstance(x, Rational) else nearest) != nearest:
        raise ValueError(
            f"values[{i}] is {x}, which binary64 has not; take {nearest!r}, the nearest that it has"
        )
    return nearest
