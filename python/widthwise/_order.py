"""Arrays in order: by value, -0 before +0, NaN last."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _codes, _compare, _elementwise
from ._array import Array


def sort_keys(x: Array) -> list[np.ndarray]:
    """Unsigned integers that are ordered as the numbers are, the one that decides last.

    A signed code is a magnitude and a sign: turned over where it is negative, and else put above
    all of those. NaN, wherever a format has it, comes after all.
    """
    f = x.format
    bits = np.ascontiguousarray(x.bits)
    limbs = [bits] if f.limbs == 1 else [bits[..., i] for i in range(f.limbs)]
    if f.signed:
        negative, sign = _compare.signbit(x), _codes.sign_bit(f)
        limbs = [np.where(negative, ~limb, limb) for limb in limbs]
        limbs[-1] = np.where(negative, limbs[-1] & (sign - 1), limbs[-1] | sign)
    return [*limbs, _compare.isnan(x)]


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
