"""== of numbers with a scale: element by element, by the exact numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .._array import Array
from .._machine import by_usual_arithmetic

DIGITS = 1 << 53  # binary64 has all integers to here


class Compared:
    """What has numbers behind codes and scales, and a shape."""

    __slots__ = ()

    def to_float64(self) -> np.ndarray:
        raise NotImplementedError

    @by_usual_arithmetic
    def __eq__(self, other: object) -> Any:
        """Where the numbers are equal, whatever formats and scales they have: an array of truths.
        NaN equals nothing.

        Raises:
            TypeError: what is beside them has no numbers.    ValueError: the shapes do not
                broadcast.
        """
        ours, theirs = exact(self), numbers_beside(self, other)
        try:
            shape = np.broadcast_shapes(ours.shape, theirs.shape)
        except ValueError:
            raise ValueError(
                f"equal of shapes {ours.shape} and {theirs.shape}, which do not broadcast"
            ) from None
        if not in_binary64(theirs):
            ours, theirs = ours.astype(object), theirs.astype(object)  # Python compares exactly
        return np.asarray(ours == np.broadcast_to(theirs, shape), bool)

    def __ne__(self, other: object) -> Any:
        return ~np.asarray(self == other)

    __hash__ = None  # type: ignore[assignment]


def no_operator(name: str) -> Any:
    def refuse(self: Any, *other: Any) -> Any:
        left_to_numpy = not hasattr(self, "__array_ufunc__")  # which computes with the numbers
        if left_to_numpy and other and isinstance(other[0], np.ndarray | np.generic):
            return NotImplemented
        raise TypeError(
            f"{name} of {type(self).__name__}: that is codes and scales, not one array; "
            f"x.to_float64() has the numbers{self._also}"
        )

    return refuse


class WithoutOperators:
    """Codes and scales that whole functions compute with: operators say which."""

    __slots__ = ()
    _also = ""  # what else computes with them
    __add__ = __radd__ = no_operator("+")
    __sub__ = __rsub__ = __neg__ = no_operator("-")
    __mul__ = __rmul__ = no_operator("*")
    __truediv__ = __rtruediv__ = no_operator("/")
    __matmul__ = __rmatmul__ = no_operator("@")
    __abs__ = no_operator("abs")
    __lt__, __le__, __gt__, __ge__ = map(no_operator, ("<", "<=", ">", ">="))


class NotOneArray:
    """Codes and scales of which NumPy is to make no array by itself: neither of both is meant."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's operators leave theirs to ours
    codes: Any

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"an Affine is codes and scales, not one array; x.to_float64() has its numbers, "
            f"x.codes its {getattr(self.codes, 'dtype', 'codes')}"
        )


def exact(x: Any) -> np.ndarray:
    """As binary64, or as Fractions where that has too few digits and they are to be had."""
    try:
        return np.asarray(x.to_float64())
    except ValueError:
        if not hasattr(x, "to_fractions"):
            raise
        return np.asarray(x.to_fractions(), object)


def in_binary64(x: np.ndarray) -> bool:
    """Whether NumPy compares x with binary64 as its numbers are: integers are rounded for that."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 8 or not x.size:
        return x.dtype.kind != "O"
    return bool(int(x.min()) >= -DIGITS and int(x.max()) <= DIGITS)


def numbers_beside(x: Compared, other: object) -> np.ndarray:
    if isinstance(other, Compared | Array):
        return exact(other)
    kind = type(x).__name__
    if isinstance(other, Decimal | Fraction) or type(other) is int:
        return np.asarray(other, object)
    if isinstance(other, bool | int | float | np.ndarray | np.generic):
        a = np.asarray(other)
        if a.dtype.kind in "biuf":
            return a
    raise TypeError(
        f"equal of {kind} and {type(other).__name__}: their numbers are compared with numbers, "
        "NumPy's arrays, Arrays and what has scales; whether something is one at all is asked by "
        "isinstance or `is`"
    )
