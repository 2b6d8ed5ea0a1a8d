"""NumPy's functions of Arrays: those that round correctly in one format, and no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from . import _numbers
from ._code_array import CodeArray
from ._format_texts import said


def table() -> dict[np.ufunc, Callable[..., Any]]:
    """Those that take an Array. Filled late, for these modules import Array."""
    from . import _compare, _dot, _elementwise, _libm

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
        np.fmod: _libm.fmod,
        np.frexp: _libm.frexp,
        np.ldexp: _libm.ldexp,
        np.nextafter: _libm.nextafter,
        np.spacing: _libm.spacing,
        np.reciprocal: lambda x: _elementwise.divide(_numbers.taken(1, x), x),
    }


_table: dict[np.ufunc, Callable[..., Any]] = {}
WAY_OUT = {
    "add.reduce": "ww.sum(x, unit=...) sums in an order that is written down",
    "remainder": "np.fmod is C's, ww.remainder IEEE 754's; Python's % rounds twice",
    "power": "x ** 2 is x * x, rounded once; of other powers x * x * x rounds each product",
}

# Whose second operand tells a direction by its value, which the first one's format may lack.
TOWARDS = {np.nextafter}
COMPARISONS = {
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
}
SCALES = {np.ldexp}  # their second operand is integers, of no format


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not _table:
        _table.update(table())
    if ufunc is np.power and method == "__call__" and type(inputs[1]) is int and inputs[1] == 2:
        ufunc, inputs = np.square, inputs[:1]
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    settings = {key: value for key, value in kwargs.items() if key != "out"}
    places = kwargs.get("out", ())
    if method != "__call__" or settings or ufunc not in _table or len(places) > 1:
        hint = WAY_OUT.get(name, "x.to_float64() leaves exact arithmetic to you")
        with_settings = f" with {', '.join(kwargs)}" if kwargs and method == "__call__" else ""
        raise TypeError(f"np.{name}{with_settings} is not defined on Arrays: {hint}")
    z = _table[ufunc](*operands(name, ufunc, inputs))
    return stored(ufunc, z, places[0]) if places else z


def operands(name: str, ufunc: np.ufunc, inputs: tuple[Any, ...]) -> list[Any]:
    """Arrays of one format, Python's numbers taken in it; of comparisons of any formats, and
    numbers exact."""
    arrays = [x for x in inputs if isinstance(x, CodeArray)]
    if not arrays or ufunc in SCALES:  # an `out` alone may have led here
        return list(inputs)
    if ufunc in COMPARISONS:
        return [checked(name, comparable(x, arrays[0]), arrays) for x in inputs]
    if len({x.format for x in arrays}) > 1:
        names = " and ".join(said(x.format) for x in arrays)
        mixed = f"ww.{_table[ufunc].__name__}(x, y, format=...)"
        if ufunc is np.matmul:
            mixed = "ww.matmul(x, y, unit=...)"
        raise TypeError(
            f"{name} of {names}: operators take one format; convert with .astype(format), or take "
            f"{mixed}"
        )
    if ufunc in TOWARDS:
        inputs = (inputs[0], comparable(inputs[1], arrays[0]))
    same = [_numbers.taken(x, arrays[0]) if _numbers.is_weak(x) else x for x in inputs]
    return [checked(name, x, arrays) for x in same]


def comparable(x: Any, like: CodeArray) -> Any:
    """A number as an Array that compares as its value; all else as it is."""
    of_numpy = isinstance(x, np.generic | np.ndarray) and x.ndim == 0 and x.dtype.kind in "fiub"
    if not of_numpy and not _numbers.is_weak(x):
        return x
    return _numbers.beside(x, like.format).to_device(like.device)  # type: ignore[attr-defined]


def checked(name: str, x: Any, arrays: list[CodeArray]) -> Any:
    """x, if it is an Array."""
    from ._array import kind_of

    if isinstance(x, CodeArray):
        return x
    f = arrays[0].format
    number = ", and float(value) is one" if isinstance(x, np.generic) else ""
    raise TypeError(
        f"{name} of an Array of {said(f)} and {kind_of(x)}: operators take Arrays of one format "
        f"and Python's numbers{number}; make an Array with ww.array(value, '{said(f)}')"
    )


def stored(ufunc: np.ufunc, z: Any, place: Any) -> Any:
    """A result in the array that it is asked to overwrite, which is returned."""
    from ._array import Array

    name = ufunc.__name__
    if isinstance(z, CodeArray):
        if not isinstance(place, Array) or not isinstance(z, Array) or place.format != z.format:
            raise TypeError(
                f"{name} into {kind(place)}: its result is {kind(z)}, and only an Array of that "
                "format on this machine is overwritten; assign, as x = x + y in place of x += y"
            )
        z, into = z._items, place._items
    else:
        into = place
    repeats = ufunc.signature is None  # as NumPy's do, but for those that sum
    spread = np.broadcast_shapes(z.shape, into.shape) if repeats else z.shape
    if spread != into.shape:
        raise ValueError(
            f"{name} into an array of shape {into.shape}: its result has shape {z.shape}; "
            "assign, as x = x + y in place of x += y, or give it an array of that shape"
        )
    into[...] = z
    return place


def kind(x: Any) -> str:
    from ._array import kind_of

    return f"{type(x).__name__} of {kind_of(x)}" if isinstance(x, CodeArray) else kind_of(x)
