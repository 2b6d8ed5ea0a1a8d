"""Arrays in order: by value, -0 before +0, NaN last; a NaR first, as it compares (F8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _codes, _compare, _elementwise, _functions, _numbers
from ._array import Array
from ._format import Format


def sort_keys(x: Array) -> list[np.ndarray]:
    """Unsigned integers that are ordered as the numbers are, the one that decides last.

    A float's signed code is a magnitude and a sign: turned over where it is negative, and else put
    above all of those; its NaN, wherever that is, comes after all. Codes of other systems are
    integers in two's complement, of which NaR is the least.
    """
    f = x.format
    if f.system == "table":
        return [places(f)[x.bits], _compare.isnan(x)]
    bits = np.ascontiguousarray(x.bits)
    limbs = [bits] if f.limbs == 1 else [bits[..., i] for i in range(f.limbs)]
    if f.system != "float":
        if f.signed:
            limbs[-1] = limbs[-1] ^ _codes.sign_bit(f)
        return limbs
    if f.signed:
        negative, sign = _compare.signbit(x), _codes.sign_bit(f)
        limbs = [np.where(negative, ~limb, limb) for limb in limbs]
        limbs[-1] = np.where(negative, limbs[-1] & (sign - 1), limbs[-1] | sign)
    return [*limbs, _compare.isnan(x)]


def places(f: Format) -> np.ndarray:
    """Of a table's codes, in the order of their values; of those that stand for none, any."""
    values = np.array(f.values)
    order = np.zeros(1 << f.width, np.uint32)
    order[np.lexsort((~np.signbit(values), values))] = np.arange(len(values))
    return order


def argsort(x: Array, axis: int | None = -1, kind: Any = None, **how: Any) -> Any:
    """Where the elements of the sorted array stand in x. Always stable, whatever `kind` asks."""
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    return np.lexsort(sort_keys(x), axis=axis)


def sort(x: Array, axis: int | None = -1, kind: Any = None, **how: Any) -> Array:
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    return x._from_items(np.take_along_axis(x._items, argsort(x, axis), axis))


def greatest(x: Array, axis: int | None = None, **how: Any) -> Array:
    return extreme("max", _elementwise.maximum, x, axis, how)


def least(x: Array, axis: int | None = None, **how: Any) -> Array:
    return extreme("min", _elementwise.minimum, x, axis, how)


def extreme(name: str, choose: Any, x: Array, axis: int | None, how: dict[str, Any]) -> Array:
    """One of the elements along an axis, or of all; NaN if there is one (IEEE 754-2019, 9.6)."""
    if how:
        raise TypeError(f"np.{name} with {', '.join(how)} is not defined on Arrays: name axis")
    items = np.moveaxis(x.ravel()._items if axis is None else x._items, axis or 0, 0)
    if len(items) == 0:
        raise ValueError(f"x of shape {x.shape} has no element along axis {axis}: it has no {name}")
    rest = Array._of(_codes.bits(items, x.format), x.format)
    while len(rest) > 1:
        half = (len(rest) + 1) // 2
        rest = choose(rest[:half], rest[-half:])  # those in both are chosen from twice
    return rest[0]


def argmin(x: Array, axis: int | None = None, **how: Any) -> Any:
    """Where the first of the least stands: -0 before +0; the first NaN, if there is one."""
    return extreme_place("argmin", lambda y: argsort(y)[..., 0], x, axis, how)


def argmax(x: Array, axis: int | None = None, **how: Any) -> Any:
    """The same of the greatest: in the order from behind the first of its equals is the last."""

    def last(y: Array) -> Any:
        return y.shape[-1] - 1 - argsort(y[..., ::-1])[..., -1]

    return extreme_place("argmax", last, x, axis, how)


def extreme_place(name: str, place: Any, x: Array, axis: int | None, how: dict[str, Any]) -> Any:
    if how:
        raise TypeError(f"np.{name} with {', '.join(how)} is not defined on Arrays: name axis")
    rows = x.ravel() if axis is None else x._from_items(np.moveaxis(x._items, axis, -1))
    if rows.shape[-1] == 0:
        raise ValueError(f"x of shape {x.shape} has no element along axis {axis}: it has no {name}")
    nan = _compare.isnan(rows)
    return np.where(nan.any(axis=-1), nan.argmax(axis=-1), place(rows))[()]


def clip(x: Array, a_min: Any = None, a_max: Any = None, **how: Any) -> Array:
    """Each element, or the end of the range that it lies past; NaN stays (754-2019, 9.6)."""
    a_min, a_max = how.pop("min", a_min), how.pop("max", a_max)
    if how:
        raise TypeError(f"np.clip with {', '.join(how)} is not defined on Arrays: name the ends")
    ends = [_numbers.taken(y, x) if _numbers.is_weak(y) else y for y in (a_min, a_max)]
    _functions.common_format("clip", [y for y in (x, *ends) if y is not None])
    a_min, a_max = ends
    z = x if a_min is None else _elementwise.maximum(x, a_min)
    return z if a_max is None else _elementwise.minimum(z, a_max)
