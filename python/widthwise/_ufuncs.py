"""NumPy's functions of Arrays: those that round correctly in one format, and no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def table() -> dict[np.ufunc, Callable[..., Any]]:
    """Those that take an Array. Filled late, for these modules import Array."""
    from . import _compare, _dot, _elementwise

    return {
        np.add: _elementwise.add,
        np.subtract: _elementwise.subtract,
        np.multiply: _elementwise.multiply,
        np.divide: _elementwise.divide,
        np.sqrt: _elementwise.sqrt,
        np.square: lambda x: _elementwise.multiply(x, x),
        np.negative: _elementwise.negate,
        np.absolute: _elementwise.abs,
        np.fabs: _elementwise.abs,
        np.positive: lambda x: x,
        np.copysign: _elementwise.copysign,
        np.minimum: _elementwise.minimum,
        np.maximum: _elementwise.maximum,
        np.fmin: _elementwise.minimum_number,
        np.fmax: _elementwise.maximum_number,
        np.equal: _compare.equal,
        np.not_equal: _compare.not_equal,
        np.less: _compare.less,
        np.less_equal: _compare.less_equal,
        np.greater: _compare.greater,
        np.greater_equal: _compare.greater_equal,
        np.isnan: _compare.isnan,
        np.isinf: _compare.isinf,
        np.isfinite: _compare.isfinite,
        np.matmul: _dot.matmul_in_order,
        np.rint: _elementwise.round_to_integral,
        np.floor: partial(_elementwise.round_to_integral, rounding="rdn"),
        np.ceil: partial(_elementwise.round_to_integral, rounding="rup"),
        np.trunc: partial(_elementwise.round_to_integral, rounding="rtz"),
        np.signbit: _compare.signbit,
    }


_table: dict[np.ufunc, Callable[..., Any]] = {}
WAY_OUT = {
    "add.reduce": "ww.sum(x, unit=...) sums in an order that is written down",
    "remainder": "ww.remainder is IEEE 754's; Python's % is not rounded correctly by anyone",
    "ldexp": "take ww.scaleb",
    "nextafter": "take ww.next_up or ww.next_down",
    "power": "x * x rounds each product",
    "reciprocal": "ww.divide(one, x) takes ww.array(1, format)",
    "fmod": "ww.remainder is IEEE 754's",
}

COMPARISONS = {
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
}


def exact_number(x: Any) -> Any:
    """A number that binary64 holds, as an Array: comparing with it rounds nothing."""
    from ._create import array

    whole = isinstance(x, int | np.integer) and abs(int(x)) <= 1 << 53
    if whole or (isinstance(x, float | np.float32 | np.float16)):
        return array(float(x), "binary64")
    return x


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from ._array import kind_of
    from ._code_array import CodeArray

    if not _table:
        _table.update(table())
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if method != "__call__" or kwargs or ufunc not in _table:
        hint = WAY_OUT.get(name, "x.to_float64() leaves exact arithmetic to you")
        if "out" in kwargs and ufunc in _table:
            hint = "assign, as x = x + y in place of x += y, or z[...] = x + y"
        settings = f" with {', '.join(kwargs)}" if kwargs and method == "__call__" else ""
        raise TypeError(f"np.{name}{settings} is not defined on Arrays: {hint}")
    if ufunc in COMPARISONS:
        inputs = tuple(map(exact_number, inputs))
    formats = {x.format for x in inputs if isinstance(x, CodeArray)}
    stranger = next((x for x in inputs if not isinstance(x, CodeArray)), None)
    if stranger is not None:
        raise TypeError(
            f"{name} of an Array of {(f := formats.pop())} and {kind_of(stranger)}: operators take "
            f"Arrays of one format; make one with ww.array(value, '{f}')"
        )
    if len(formats) > 1 and ufunc not in COMPARISONS:
        names = " and ".join(str(x.format) for x in inputs)
        mixed = f"ww.{_table[ufunc].__name__}(x, y, format=...)"
        if ufunc is np.matmul:
            mixed = "ww.matmul(x, y, unit=...)"
        raise TypeError(
            f"{name} of {names}: operators take one format; convert with .astype(format), or take "
            f"{mixed}"
        )
    return _table[ufunc](*inputs)
