"""Cumulative sums: what a unit delivers of the first element, of the first two, and so on."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _codes, _types
from . import _widthwise as core
from ._array import Array
from ._dot import Operands, computed, summands, with_axis_moved
from ._missing import asks_for
from ._random import random_words
from ._settings import How, checked_seed, checked_threads
from ._unit import Unit, as_unit
from ._workplace import delivered


@_types.running_sums
@asks_for("ww.cumsum(x, unit='mac(e5m10)')")
def cumsum(
    x: Any,
    *,
    unit: str | Unit,
    axis: int = -1,
    c: Any = None,
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
) -> Any:
    """Cumulative sums along an axis: element i is what `ww.sum` of the elements to i gives.

    One pass of the reference, which computes the block that an element ends anew for each of its
    lanes; exact sums (Kulisch) and fixed-point registers go on from element to element. Other units
    that take all of K at once, or permute its lanes, start anew for every element.

    Args:
        x: an Array of the unit's a format, or codes; a DeviceArray is summed where it lies.
        c: of the shape of x without the axis; None is +0.
        random: the random bits themselves in place of a seed, as in `ww.sum`, of the roundings
            of all these sums, each once (`unit.random_ports(k, running=True)`): sums that share a
            step share its word. They are then computed one after the other.
        Others: as in `ww.dot`.
    Returns:
        An Array of unit.result_format, of x's shape; with `flags` a pair.
    Raises:
        ValueError: the unit's b has no 1, an axis that x has not, a c of another shape.
        TypeError: x or c is not what the unit takes.

    >>> import widthwise as ww
    >>> ww.cumsum(ww.array([256.0, 1, 1, 2], "bfloat16"), unit="mac(bfloat16)")
    Array([256 256 256 258], e8m7)
    """
    u = as_unit(unit)
    terms, ones = summands(u, x, axis)
    x = Operands.of_dots(u, terms, ones, c, None, None)
    if random is None:
        z = running(u, x, terms.shape, threads, seed, flags)
    else:
        z = running_by(u, terms, ones, c, random, How(threads=threads, seed=seed))
        z = z if flags else z[0]
    if not flags:
        return with_axis_moved(z, -1, axis)
    return with_axis_moved(z[0], -1, axis), np.moveaxis(z[1], -1, axis)


def running(
    u: Unit, x: Operands, shape: tuple[int, ...], threads: int | None, seed: int, flags: bool
) -> Any:
    where, here = x.workplace(), (checked_threads(threads),)
    z, raised = where.empty(shape, u.result_format), where.flags(shape, flags)
    results = (z._for_core, raised and raised.for_core)
    where.run("running", u._core, x.bound(), *results, checked_seed(seed), here=here)
    return delivered(z, raised)


def running_by(
    u: Unit, terms: Any, ones: Any, c: Any, random: Any, how: How
) -> tuple[Array, np.ndarray]:
    """By the user's random bits: each length by itself, out of the words of the whole one."""
    k, x = terms.shape[-1], Operands.of_dots(u, terms, ones, c, None, None)
    given = random_words(u, k, random, how.seed, x.shape, x.workplace().gpu, running=True)
    steps = {name: at for name, (_, at) in u._random_steps(k, True).items()}
    words = dict(zip(steps, given, strict=True))
    z = Array._of(_codes.empty(terms.shape, u.result_format), u.result_format)
    raised = np.empty(terms.shape, np.uint8)
    for length in range(1, k + 1):
        fewer = {
            slot.name: words[slot.name][..., [steps[slot.name].index(step) for step in slot.steps]]
            for slot in core.random_slots(u._core, length)
        }
        first = Operands.of_dots(u, terms[..., :length], ones[:length], c, None, None)
        part, flags = computed(u, first, how._replace(flags=True, random=fewer or None))
        z._items[..., length - 1], raised[..., length - 1] = part._items, flags
    return z, raised
