"""What studies work on: values rounded to each unit's formats, and their exact sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._array import Array
from .._convolution import pair
from .._create import array
from .._dot import NAMES, Operands, adapted, summands
from .._format import Format
from .._settings import checked_seed, checked_threads, integer, several
from .._spelling import called
from .._unit import Unit

MOST_LENGTHS = 48


def rounded_operands(
    unit: Unit, a: Any, b: Any, c: Any, rounding: str, scale_a: Any, scale_b: Any
) -> tuple[Any, ...]:
    """Values and Arrays as Arrays of the unit's formats; b = None is a one for each of a."""
    x = study_operand("a", a, unit.a, unit._core.a_keeps, unit, rounding)
    if b is None:
        x, y = summands(unit, x, -1)
    else:
        y = study_operand("b", b, unit.b, unit._core.b_keeps, unit, rounding)
    z = None if c is None else study_operand("c", c, unit.c, unit._core.c_keeps, unit, rounding)
    given = {"scale_a": scale_a, "scale_b": scale_b}
    if f := unit.scale_format:
        given = {
            name: None if scale is None else study_operand(name, scale, f, None, unit, rounding)
            for name, scale in given.items()
        }
    return x, y, z, *given.values()


def study_operand(
    name: str, x: Any, format: Format, keeps: int | None, unit: Unit, rounding: str
) -> Array:
    if isinstance(x, Array):
        return adapted(name, x, format, keeps, unit)
    with called(name):  # by random bits of its own
        return array(x, format, rounding=rounding, seed=NAMES.index(name))


def part(unit: Unit, x: Operands, first: int, last: int) -> Operands:
    """Products first … last - 1 of each, without a copy, and the scales of their blocks."""
    block = unit.scale_block or 1
    a, b, c, *scales = x.arrays
    assert a is not None and b is not None and first % block == 0
    a, b = a[..., first:last], b[..., first:last]
    scales = [s if s is None else s[..., first // block : -(-last // block)] for s in scales]
    return Operands([a, b, c, *scales], x.shape, last - first)


def shared_block(units: Iterable[Unit]) -> int:
    """Where all units that scale blocks of terms begin a new one."""
    return math.lcm(*(unit.scale_block or 1 for unit in units))


def checked_lengths(lengths: Iterable[int] | None, k: int, block: int = 1) -> list[int]:
    """Ascending; all but k are multiples of the block."""
    if k == 0:
        raise ValueError(
            "a and b have no elements along their last axis; there is no error to grow"
        )
    if lengths is None:
        spread = np.geomspace(1, k, min(k, MOST_LENGTHS))
        return sorted({min(k, -(-round(x) // block) * block) for x in spread})
    chosen = sorted({integer("lengths", n) for n in several("lengths", lengths)})
    if not chosen or chosen[0] < 1 or chosen[-1] > k:
        raise ValueError(f"lengths = {chosen}: they may be 1 to {k}, the operands' length")
    if within := [n for n in chosen if n % block and n < k]:
        raise ValueError(
            f"lengths = {chosen}: {within[0]} ends within a block that shares a scale; they may "
            f"be multiples of {block}, and {k}"
        )
    return chosen


def running_sums(unit: Unit, x: Operands, seed: int = 0, threads: int | None = None) -> Array:
    """What the unit has after each product: (products, k)."""
    bits = np.empty(
        (x.count * x.k, *((unit.result_format.limbs,) if unit.result_format.limbs > 1 else ())),
        unit.result_format.dtype,
    )
    where = (checked_seed(seed), checked_threads(threads))
    core.running(unit._core, x.bound(), bits, None, *where)
    return Array._of(bits, unit.result_format).reshape(x.count, x.k)


# --- Matrix products and convolutions as dot products --------------------------------------------


def dots_of_matmul(a: Any, b: Any) -> tuple[Any, Any]:
    """Operands whose dot products are the elements of a @ b: (m, 1, k) and (n, k).

    Args:
        a, b: values or Arrays, (m, k) and (k, n).
    Returns:
        The rows of a and the columns of b, without a copy, to be broadcast against each other.
    Raises:
        ValueError: they are not of such shapes.

    >>> import widthwise as ww
    >>> a, b = ww.study.dots_of_matmul([[1.0, 2.0]], [[3.0], [4.0]])
    >>> ww.study.accumulation(a, b, "mac(e5m10)").exact["mac(e5m10)"][..., -1].tolist()
    [[11.0]]
    """
    x, y = (z if isinstance(z, Array) else np.asarray(z) for z in (a, b))
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise ValueError(f"a is {x.shape} and b is {y.shape}; they must be (m, k) and (k, n)")
    return x.reshape(x.shape[0], 1, x.shape[1]), y.T


def dots_of_conv2d(
    x: Any, w: Any, *, stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Operands whose dot products are `ww.conv2d`'s outputs, in its order of terms.

    Args:
        x, w: values, (images, channels, height, width) and (filters, channels, rows, columns).
        stride, padding: as in `ww.conv2d`.
    Returns:
        Windows (images, 1, height, width, k) of the output's size, and weights (filters, 1, 1, k).
    Raises:
        ValueError: x or w is of another shape, or no window of w fits into x.

    >>> import widthwise as ww
    >>> windows, weights = ww.study.dots_of_conv2d([[[[1.0, 2, 4]]]], [[[[1.0, -1]]]])
    >>> (windows @ weights[0, 0, 0]).tolist()
    [[[[-1.0, -2.0]]]]
    """
    images, filters = np.asarray(x), np.asarray(w)
    if images.ndim != 4 or filters.ndim != 4 or images.shape[1] != filters.shape[1]:
        raise ValueError(
            f"x is {images.shape} and w is {filters.shape}; they must be (images, channels, "
            "height, width) and (filters, channels, rows, columns)"
        )
    (up, left), (down, right) = pair("padding", padding), pair("stride", stride)
    padded = np.pad(images, ((0, 0), (0, 0), (up, up), (left, left)))
    if (np.array(filters.shape[2:]) > padded.shape[2:]).any():
        raise ValueError(
            f"w is {filters.shape} and x, padded, {padded.shape}: no window of w fits into it"
        )
    windows = np.lib.stride_tricks.sliding_window_view(padded, filters.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::down, ::right].transpose(0, 2, 3, 1, 4, 5)
    k = filters[0].size
    return windows.reshape(*windows.shape[:3], k)[:, np.newaxis], filters.reshape(-1, 1, 1, k)
