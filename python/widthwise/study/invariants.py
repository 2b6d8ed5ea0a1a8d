"""What exact sums keep, and a unit may not: order of terms, sign, scale, monotonicity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._array import Array
from .._compare import greater, isfinite, less
from .._create import zeros
from .._dot import dot
from .._elementwise import negate, next_up, scaleb
from .._table import Findings
from .._unit import Unit, as_unit
from .accumulation import draws
from .operands import OneDot, one_dot, unscaled
from .stagnation import same


def monotonicity(
    a: Any, b: Any, unit: str | Unit, *, c: Any = None, rounding: str = "rne"
) -> Findings:
    """Where a term that grows makes the unit's sum smaller, or one that shrinks makes it larger.

    Each element of a in turn becomes the next number above, and so does c. The exact sum moves in
    the direction of b's sign. A unit's sum may stay; if it goes back the unit is not monotonic, as
    those are not that cut off what lies far below the largest term.

    Args:
        a, b: values or Arrays, (k,); b = None sums a. Others: as in `accumulation`.
    Returns:
        A row for each breach: index (-1: c), a (or c), raised, b, before and after, the sums, as
        text.
    Raises:
        ValueError: a unit that rounds stochastically, whose draws hide it.

    >>> len(monotonicity([1.0, 0.3, -2.0], [1.0, 1.0, 1.0], "mac(e5m10)"))
    0
    """
    u, x = reproducible(unit, a, b, c, rounding)
    k, before, zero = x.operands.k, computed(u, x), zeros((), x.b.format)
    raised = next_up(x.a)
    rows = Array._of(np.repeat(x.a.bits[np.newaxis], k, axis=0), x.a.format)
    rows[np.arange(k), np.arange(k)] = raised
    after = dot(rows, x.b, unit=u, c=x.c)
    back = (greater(x.b, zero) & less(after, before)) | (less(x.b, zero) & greater(after, before))
    breaches = [
        (int(i), *(str(y[i]) for y in (x.a, raised, x.b)), str(before), str(after[i]))
        for i in np.flatnonzero(back & isfinite(raised))
    ]
    start = zeros((), u.c) if x.c is None else x.c
    higher = next_up(start)
    ended = dot(x.a, x.b, unit=u, c=higher)
    if isfinite(higher) and less(ended, before):
        breaches.append((-1, str(start), str(higher), "", str(before), str(ended)))
    return Findings(["index", "a", "raised", "b", "before", "after"], breaches)


def invariance(
    a: Any,
    b: Any,
    unit: str | Unit,
    *,
    c: Any = None,
    tries: int = 100,
    seed: int = 0,
    rounding: str = "rne",
) -> Findings:
    """What leaves the exact sum as it is, or negates or doubles it, and does not the unit's.

    Args:
        a, b: values or Arrays, (k,); b = None sums a. Others: as in `accumulation`.
        tries: permutations of the terms, drawn by `seed`.
    Returns:
        Rows (property, tries, broken, sum, example): how many tries gave another sum than the
        property demands, that sum, and one that was given instead, as text. The properties:
        order of the terms; zeros, as many as terms, after them; operands exchanged, where both have
        one format; all negated; all doubled, where none leaves its format's normal numbers.
    Raises:
        ValueError: a unit that rounds stochastically, or no tries.

    >>> found = invariance([1.0, 1e4, -1e4], None, "mac(e5m10)")
    >>> found["property"][found["broken"] > 0].tolist()
    ['order']
    """
    if tries < 1:
        raise ValueError(f"tries = {tries}: at least one order is wanted")
    u, x = reproducible(unit, a, b, c, rounding)
    wanted = computed(u, x)
    rows = []
    for name, found, demanded in [
        ("order", permuted(u, x, tries, seed), wanted),
        *transformed(u, x, wanted),
    ]:
        broken = ~np.atleast_1d(same(found, demanded))
        example = str(found[int(np.argmax(broken))]) if broken.any() else ""
        rows.append((name, broken.size, int(broken.sum()), str(demanded), example))
    return Findings(["property", "tries", "broken", "sum", "example"], rows)


def reproducible(unit: str | Unit, a: Any, b: Any, c: Any, rounding: str) -> tuple[Unit, OneDot]:
    u = as_unit(unit)
    if draws(u):
        raise ValueError(f"unit {u} rounds stochastically; what it keeps is hidden by its draws")
    return u, one_dot(unscaled(u), a, b, c, rounding)


def computed(u: Unit, x: OneDot) -> Array:
    return dot(x.a, x.b, unit=u, c=x.c)


def permuted(u: Unit, x: OneDot, tries: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    orders = np.stack([rng.permutation(x.operands.k) for _ in range(tries)])
    return dot(x.a[orders], x.b[orders], unit=u, c=x.c)


def transformed(u: Unit, x: OneDot, wanted: Array) -> Iterator[tuple[str, Array, Array]]:
    """(property, what the unit computes, what it should)."""
    p, q, c = x.a, x.b, x.c
    yield "zeros", one(dot(extended(p), extended(q), unit=u, c=c)), wanted
    if p.format == q.format and u.a == u.b:
        yield "exchange", one(dot(q, p, unit=u, c=c)), wanted
    if p.format.signed and u.c.signed:
        opposite = dot(negate(p), q, unit=u, c=None if c is None else negate(c))
        yield "negation", one(opposite), negate(wanted)
    doubled = [scaleb(y, 1, flags=True) for y in (p, wanted, *([] if c is None else [c]))]
    if not any(flags.any() for _, flags in doubled):
        (twice, _), (demanded, _), *start = doubled
        yield "doubling", one(dot(twice, q, unit=u, c=start[0][0] if start else None)), demanded


def one(x: Array) -> Array:
    return x.reshape(1)


def extended(x: Array) -> Array:
    """With as many zeros after it."""
    longer = zeros((2 * x.shape[0],), x.format)
    longer[: x.shape[0]] = x
    return longer
