"""What C's library and NumPy have beside IEEE 754's operations: neighbours, parts, fmod."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _compare, _elementwise, _types
from . import _widthwise as core
from ._array import Array
from ._format import Format, optional_format
from ._format_texts import said
from ._numbers import INEXACT, format_around
from ._operands import common_shape, operands, result_format, spread

EXPONENTS = Format("e8m63")  # holds every exponent that there is


def here(named: dict[str, Any], format: str | Format | None = None) -> list[Array]:
    """Operands that lie on this machine."""
    arrays = operands(named, optional_format(format))
    for name, x in zip(named, arrays, strict=True):
        if not isinstance(x, Array):
            raise TypeError(f"{name} lies on {x.device}; bring it here with .to_device('cpu')")
    return arrays


@_types.binary
def fmod(
    x: Any,
    y: Any,
    *,
    format: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    flags: bool = False,
    seed: int = 0,
    random: Any = None,
) -> Any:
    """x - y * n, n being x / y toward zero (C's fmod); exact where the result has x's format.

    `ww.remainder` is IEEE 754's, whose n is the nearest integer.

    Args:
        x, y: Arrays, or codes of `format`; NumPy's broadcasting.
        format: the result's, needed where the operands' differ.
        rounding, tininess, nan, flags, seed, random: as in `ww.add`.
    Returns:
        An Array of the common shape, with x's sign; NaN (NV) of an infinite x or y = 0. With
        `flags` a pair.
    Raises:
        TypeError: an operand is floats, or formats differ and none is named.
        ValueError: shapes that do not broadcast.

    >>> import widthwise as ww
    >>> ww.fmod(ww.array([5.5, -5.5], "e5m10"), ww.array(3.0, "e5m10"))
    Array([2.5 -2.5], e5m10)
    """
    core.Env(rounding, tininess, nan)  # refuses what there is not
    a, b = here({"x": x, "y": y}, format)
    to = result_format({"x": a, "y": b}, optional_format(format))
    exact = format_around([a.format, b.format])
    (wide, of_a), (divisor, of_b) = (_elementwise.convert(z, exact, flags=True) for z in (a, b))
    divisor = _elementwise.abs(divisor)
    rest, raised = _elementwise.remainder(_elementwise.abs(wide), divisor, flags=True)
    rest = chosen(_compare.signbit(rest), _elementwise.add(rest, divisor), rest)
    rest = chosen(_compare.signbit(wide), _elementwise.negate(rest), rest)
    how = {"rounding": rounding, "tininess": tininess, "seed": seed, "random": random}
    z, at_end = _elementwise.convert(rest, to, flags=True, nan=nan, **how)
    if nan != "canonical":  # as the operation itself takes it from its operands
        kept = _elementwise.remainder(a, b, format=to, nan=nan)
        z = chosen(_compare.isnan(rest), kept, z)
    return (z, raised | of_a | of_b | at_end) if flags else z


@_types.exact_binary
def nextafter(x: Any, y: Any, *, format: str | Format | None = None, flags: bool = False) -> Any:
    """The number next to x on the way to y (C's nextafter), in x's format; y itself where both are
    equal, NaN where one is.

    Args:
        x, y: Arrays of any formats, or codes of `format`; NumPy's broadcasting.
        flags: deliver (result, uint8 flags): NV of a signalling NaN, as `ww.next_up`, and of any
            where x's format has no NaN, which gives what `ww.convert` makes of it.
    Returns:
        An Array of x's format and the common shape.
    Raises:
        TypeError: an operand is floats, or codes without a format.
        ValueError: shapes that do not broadcast.

    >>> import widthwise as ww
    >>> ww.nextafter(ww.array([1.0, 0.0], "e4m3fn"), ww.array([2.0, -1.0], "e4m3fn"))
    Array([1.1 -0.002], e4m3fn)
    """
    a, b = here({"x": x, "y": y}, format)
    shape = common_shape({"x": a, "y": b})
    (below, loud), above = _compare.less(a, b, flags=True), _compare.greater(a, b)
    # Of its value, or NaN, which x's format may lack.
    same, lost = _elementwise.convert(spread_to(b, shape), a.format, flags=True)
    unordered = _compare.unordered(a, b)
    nan_of_x = np.broadcast_to(_compare.isnan(a), shape)
    z = chosen(unordered & nan_of_x, _elementwise.convert(spread_to(a, shape), a.format), same)
    z = chosen(below, spread_to(_elementwise.next_up(a), shape), z)
    z = chosen(above, spread_to(_elementwise.next_down(a), shape), z)
    return (z, loud | np.where(below | above, 0, lost)) if flags else z


@_types.exact_unary
def spacing(x: Any, *, format: str | Format | None = None, flags: bool = False) -> Any:
    """The distance from x to the next number away from zero, with x's sign, as np.spacing; in x's
    format, to nearest even.

    Args:
        x: an Array, or codes of `format`.
        flags: deliver (result, uint8 flags).
    Returns:
        An Array of x's shape: +min_subnormal of either zero; NaN of infinities and NaN; of the
        largest number infinity where the format has one, else the distance to the number before.
    Raises:
        TypeError: x is floats, or codes without a format.    ValueError: the format is a table.

    >>> import widthwise as ww
    >>> ww.spacing(ww.array([1.0, -4.0, 0.0], "e4m3fn"))
    Array([0.125 -0.5 0.002], e4m3fn)
    """
    (a,) = here({"x": x}, format)
    if a.format.system == "table":
        raise ValueError(
            f"{said(a.format)} has no spacing: its values lie as they like; take ww.next_up"
        )
    size = _elementwise.abs(a)
    up, raised = _elementwise.next_up(size, flags=True)
    # Behind the largest number there is itself, or a NaR.
    last = (_compare.equal(up, size) | _compare.isnan(up)) & _compare.isfinite(size)
    low = chosen(last, _elementwise.next_down(size), size)
    z, at_end = _elementwise.subtract(chosen(last, size, up), low, flags=True)
    turned = _compare.signbit(a) & ~_compare.iszero(a)
    z = chosen(turned, _elementwise.negate(z), z)
    return (z, raised | at_end) if flags else z


@_types.scaling
def ldexp(x: Any, n: Any, **how: Any) -> Any:
    """x * 2**n with one rounding: C's and NumPy's name of `ww.scaleb`.

    Args:
        x: an Array, or codes with `format`.
        n: integers of any dtype; NumPy's broadcasting.
        how: settings as in `ww.scaleb`.
    Returns:
        An Array of the common shape; with flags=True a pair.
    Raises:
        TypeError: n holds no integers.    ValueError: shapes that do not broadcast.

    >>> import widthwise as ww
    >>> ww.ldexp(ww.array([1.5, -3.0], "e5m10"), [3, -1])
    Array([12 -1.5], e5m10)
    """
    return _elementwise.scaleb(x, n, **how)


def frexp(x: Any, *, format: str | Format | None = None) -> tuple[Array, np.ndarray]:
    """(m, n) of which x = m * 2**n, and m lies in [0.5, 1) or is x itself: C's frexp.

    Args:
        x: an Array, or codes of `format`.
    Returns:
        An Array of x's format and int32 exponents, both of x's shape; int64 where the format's
        exponents are longer. Of zeros, infinities and NaN n is 0.
    Raises:
        TypeError: x is floats, or codes without a format.
        ValueError: the format has no numbers from 0.5 to 1, or fixed point too few of them.

    >>> import widthwise as ww
    >>> ww.frexp(ww.array([12.0, -0.75, 0.0], "e5m10"))
    (Array([0.75 -0.75 0], e5m10), array([4, 0, 0], dtype=int32))
    """
    (a,) = here({"x": x}, format)
    f = a.format
    if not f.emin <= -1 <= f.emax:
        raise ValueError(f"{said(f)} has no numbers from 0.5 to 1; ww.logb(x) tells the exponent")
    plain = _compare.isfinite(a) & ~_compare.iszero(a)
    at = _elementwise.logb(a, format=EXPONENTS)
    exponents = np.where(plain, _elementwise.to_integer(at) + 1, 0)
    dtype = np.int32 if max(abs(f.emin), abs(f.emax)) + f.precision < 1 << 31 else np.int64
    m, raised = _elementwise.scaleb(a, -exponents, flags=True)
    if (raised & INEXACT).any():
        i = tuple(int(j) for j in np.argwhere(raised & INEXACT)[0])
        raise ValueError(
            f"element {list(i)} is {a[i]}, whose digits {said(f)} has not between 0.5 and 1; "
            "ww.logb(x) tells the exponent, and a format of more fraction bits has them"
        )
    return m, exponents.astype(dtype)


def chosen(where: np.ndarray, x: Array, y: Array) -> Array:
    """x's elements where it is true, y's elsewhere; both of one format."""
    shape = np.broadcast_shapes(where.shape, x.shape, y.shape)
    items = np.where(where, x._items, y._items)
    return x._from_items(np.broadcast_to(items, shape))


def spread_to(x: Array, shape: tuple[int, ...]) -> Array:
    return Array._of(spread(x, shape), x.format)
