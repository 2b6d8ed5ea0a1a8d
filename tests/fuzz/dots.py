"""Batches of dot products: all at once, on whatever engine, against the reference's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import widthwise as ww
from drawn import MANNERS, codes, encoding
from products import halves, place
from unit_texts import DrawUnits

BATCHES = 3  # of each unit
MOST_ELEMENTS = 2_500  # of an operand: the reference takes its time
Dots = tuple[ww.Array, ww.Array, dict]


def case(seed: str) -> Iterator[str]:
    draw = DrawUnits(seed)
    u, compared = ww.Unit(draw.unit_text()), 0
    for _ in range(BATCHES):
        a, b, rest = batch(draw, u)
        threads = draw.pick([1, 2])
        want = codes(ww.dot(a, b, unit=u, engine="reference", **rest))
        got = codes(ww.dot(a, b, unit=u, threads=threads, **rest))
        compared += got.size
        wrong = np.argwhere(got != want)
        if len(wrong):
            at = tuple(wrong[0])
            given = f"{a.shape} . {b.shape}, {', '.join(rest)}, {threads} threads: {u}"
            yield f"{got[at]:#x} at {place(at)}, want {want[at]:#x}; {len(wrong)} differ: {given}"
    return compared


def batch(draw: DrawUnits, u: ww.Unit) -> Dots:
    """Operands that share nothing, or a row of them, in either's memory order."""
    k = draw.pick([1, draw.between(2, 40), draw.between(40, 150)])
    lead = (draw.pick([1, 1, 2]), draw.between(1, max(MOST_ELEMENTS // k // 2, 20)))
    ends = halves(draw, u)
    a, b = (
        laid(draw, draw.array(f, (*lead, k), draw.pick(MANNERS), end))
        for f, end in zip((u.a, u.b), ends, strict=True)
    )
    rest: dict = {"seed": draw.random.getrandbits(64)}
    if not (draw.one_in(4) and encoding(u.c).zero):
        rest["c"] = draw.array(u.c, lead, draw.pick([*MANNERS, "named"]), sum(ends))
    if u.scale_format:
        blocks = (*lead, -(-k // u.scale_block))
        for name in ("scale_a", "scale_b"):
            rest[name] = draw.array(u.scale_format, blocks, draw.pick(["named", "numbers", "few"]))
    return a, b[:, :1] if draw.one_in(6) else b, rest


def laid(draw: DrawUnits, x: ww.Array) -> ww.Array:
    """The same shape, its elements along k or its vectors apart or backwards."""
    if draw.one_in(3):
        return x[:, ::-1]
    if draw.one_in(3):
        return x.transpose(2, 0, 1).copy().transpose(1, 2, 0)
    return x
