"""What exact sums keep, and a unit may not: order of terms, sign, scale, monotonicity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._array import Array
from .._compare import greater, isfinite, isnan, less
from .._create import zeros
from .._dot import dot
from .._elementwise import negate, next_up, scaleb
from .._format_texts import said
from .._table import Findings
from .._unit import Unit, as_unit
from .accumulation import draws
from .given import OneDot, one_dot
from .stagnation import same


def monotonicity(
    a: Any,
    b: Any,
    unit: str | Unit,
    *,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    rounding: str = "rne",
) -> Findings:
    """Where a term that grows makes the unit's sum smaller, or one that shrinks makes it larger.

    Each element of a in turn becomes the next number above, and so does c. The exact sum moves in
    the direction of b's sign, times that of its scales. A unit's sum may stay; if it goes back the
    unit is not monotonic, as those are not that cut off what lies far below the largest term. A sum
    that becomes NaN is a breach, too.

    Args:
        a, b: values or Arrays, (k,); b = None sums a.
        scale_a, scale_b: (blocks,), of a unit that scales them; they stay. Others: as in
            `accumulation`.
    Returns:
        A row for each breach: index (-1: c), a (or c), raised, b, before and after, the sums, as
        text.
    Raises:
        ValueError: a unit that rounds stochastically, whose draws hide it. A sum that is no number
            before a term is raised.

    >>> len(monotonicity([1.0, 0.3, -2.0], [1.0, 1.0, 1.0], "mac(e5m10)"))
    0
    """
    u, x = reproducible(unit, a, b, c, rounding, scale_a, scale_b)
    before, raised = computed(u, x), next_up(x.a)
    if not isfinite(before):
        raise ValueError(
            f"unit {said(u.text)} sums these to {before}, which no term moves: whether it is "
            "monotonic cannot be told; scale the data, or take a wider format"
        )
    breaches = [
        (int(i), *(str(y[i]) for y in (x.a, raised, x.b)), str(before), str(after))
        for i, after in gone_back(u, x, raised, before)
    ]
    start = zeros((), u.c) if x.c is None else x.c
    higher = next_up(start)
    ended = computed(u, x._replace(c=higher))
    if isfinite(higher) and (less(ended, before) or isnan(ended)):
        breaches.append((-1, str(start), str(higher), "", str(before), str(ended)))
    return Findings(["index", "a", "raised", "b", "before", "after"], breaches)


def gone_back(u: Unit, x: OneDot, raised: Array, before: Array) -> Iterator[tuple[int, Array]]:
    """The elements of a that made the sum go back as they were raised, and what it came to."""
    k = x.operands.k
    rows = Array._of(np.repeat(x.a.bits[np.newaxis], k, axis=0), x.a.format)
    rows[np.arange(k), np.arange(k)] = raised
    after = computed(u, x._replace(a=rows))
    up = np.ones(k)
    for factor in (x.b, *x.scales_of_terms(u)):
        if factor is not None:
            zero = zeros((), "binary64")
            up *= np.asarray(greater(factor, zero), int) - np.asarray(less(factor, zero), int)
    back = isnan(after) | ((up > 0) & less(after, before)) | ((up < 0) & greater(after, before))
    for i in np.flatnonzero(back & isfinite(raised)):
        yield int(i), after[i]


def invariance(
    a: Any,
    b: Any,
    unit: str | Unit,
    *,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    tries: int = 100,
    seed: int = 0,
    rounding: str = "rne",
) -> Findings:
    """What leaves the exact sum as it is, or negates or doubles it, and does not the unit's.

    Args:
        a, b: values or Arrays, (k,); b = None sums a. Others: as in `accumulation`.
        scale_a, scale_b: (blocks,), of a unit that scales them.
        tries: permutations of the terms, drawn by `seed`: of the blocks that share a scale, with
            their scales, and within each.
    Returns:
        Rows (property, tries, broken, not_finite, sum, example): how many tries gave another sum
        than the property demands, how many an infinity or NaN though the exact sum is a number,
        that sum, and one that was given instead, as text. The properties:
        order of the terms; zeros, as many as terms or more, after them; operands exchanged, with
        their scales, where both have one format; all negated; all doubled, where none leaves its
        format's normal numbers.
    Raises:
        ValueError: a unit that rounds stochastically, or no tries.

    >>> found = invariance([1.0, 1e4, -1e4], None, "mac(e5m10)")
    >>> found["property"][found["broken"] > 0].tolist()
    ['order']
    """
    if tries < 1:
        raise ValueError(f"tries = {tries}: at least one order is wanted")
    u, x = reproducible(unit, a, b, c, rounding, scale_a, scale_b)
    wanted = computed(u, x)
    rows = []
    for name, found, demanded in [
        ("order", permuted(u, x, tries, seed), wanted),
        *transformed(u, x, wanted),
    ]:
        broken = ~np.atleast_1d(same(found, demanded))
        example = str(found[int(np.argmax(broken))]) if broken.any() else ""
        lost = int(np.count_nonzero(~isfinite(found))) if all_finite(x) else 0
        rows.append((name, broken.size, int(broken.sum()), lost, str(demanded), example))
    columns = ["property", "tries", "broken", "not_finite", "sum", "example"]
    return Findings(columns, rows)


def all_finite(x: OneDot) -> bool:
    """Of the data as given."""
    return all(y is None or bool(isfinite(y).all()) for y in x.data.given.arrays)


def reproducible(
    unit: str | Unit, a: Any, b: Any, c: Any, rounding: str, scale_a: Any, scale_b: Any
) -> tuple[Unit, OneDot]:
    u = as_unit(unit)
    if draws(u):
        raise ValueError(
            f"unit {said(u.text)} rounds stochastically; what it keeps is hidden by its draws"
        )
    return u, one_dot(u, a, b, c, rounding, scale_a, scale_b)


def computed(u: Unit, x: OneDot) -> Array:
    return dot(x.a, x.b, unit=u, c=x.c, scale_a=x.scale_a, scale_b=x.scale_b)


def permuted(u: Unit, x: OneDot, tries: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    drawn = [order(rng, x.operands.k, u.scale_block) for _ in range(tries)]
    terms, blocks = (np.stack(places) for places in zip(*drawn, strict=True))
    return computed(u, with_blocks(x, blocks)._replace(a=x.a[terms], b=x.b[terms]))


def with_blocks(x: OneDot, blocks: np.ndarray) -> OneDot:
    """x with these of its scales."""

    def chosen(scale: Array | None) -> Array | None:
        return None if scale is None else scale[blocks]

    return x._replace(scale_a=chosen(x.scale_a), scale_b=chosen(x.scale_b))


def order(rng: np.random.Generator, k: int, block: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Of k terms, and of the blocks that share a scale: one that is not whole stays the last."""
    if block is None:
        return rng.permutation(k), np.arange(0)
    blocks = np.arange(-(-k // block))
    rng.shuffle(blocks[: k // block])
    terms = [
        rng.permutation(np.arange(i * block, min(k, (i + 1) * block))) for i in blocks.tolist()
    ]
    return np.concatenate([blocks[:0], *terms]), blocks


def transformed(u: Unit, x: OneDot, wanted: Array) -> Iterator[tuple[str, Array, Array]]:
    """(property, what the unit computes, what it should)."""
    if "zero" in x.a.format.codes and "zero" in x.b.format.codes:
        yield "zeros", one(computed(u, extended(u, x))), wanted
    if x.a.format == x.b.format and u.a == u.b:
        other = x._replace(a=x.b, b=x.a, scale_a=x.scale_b, scale_b=x.scale_a)
        yield "exchange", one(computed(u, other)), wanted
    if x.a.format.signed and u.c.signed:
        opposite = x._replace(a=negate(x.a), c=None if x.c is None else negate(x.c))
        yield "negation", one(computed(u, opposite)), negate(wanted)
    doubled = [scaleb(y, 1, flags=True) for y in (x.a, wanted, *([] if x.c is None else [x.c]))]
    if not any(flags.any() for _, flags in doubled):
        (twice, _), (demanded, _), *start = doubled
        more = x._replace(a=twice, c=start[0][0] if start else None)
        yield "doubling", one(computed(u, more)), demanded


def one(x: Array) -> Array:
    return x.reshape(1)


def extended(u: Unit, x: OneDot) -> OneDot:
    """With as many zeros after it, in a unit that scales blocks with whole blocks of them."""
    k, block = x.operands.k, u.scale_block or 1
    length = -(-k // block) * block + k

    def longer(y: Array) -> Array:
        z = zeros((length,), y.format)
        z[:k] = y
        return z

    blocks = np.arange(-(-length // block)) % -(-k // block)
    return with_blocks(x, blocks)._replace(a=longer(x.a), b=longer(x.b))
