"""Matrix products: every engine against the reference, the reference against the page.

One output of each product goes to dpu_ref.py, the page in integers of Python; all of them, with
flags and without, to every engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import widthwise as ww
from dpu_blocks import LONG, has_answer
from dpu_ref import Unit, from_toml, run_bits
from drawn import MANNERS, codes, encoding
from unit_texts import DrawUnits

PRODUCTS = 6  # of each unit
MOST_ON_THE_PAGE = 300  # elements along k
MOST_PRODUCTS = 12_000  # the reference makes some hundred thousand a second
OUTPUTS = [(1, 1), (1, 70), (2, 33), (3, 1), (3, 19), (5, 17), (17, 5), (33, 2), (40, 40), (67, 9)]
MULTIPLIERS = ["mitchell", "drum6", "truncated_array8", "truncated_operands4"]


@dataclass
class Product:
    """One matrix product with all that decides its bits."""

    unit: ww.Unit
    a: ww.Array
    b: ww.Array
    rest: dict  # c, scale_a, scale_b, multiplier: those that are given
    seed: int
    threads: int

    def by(self, engine: str, flags: bool):
        how = {"engine": engine, "seed": self.seed, "threads": self.threads, "flags": flags}
        return ww.matmul(self.a, self.b, unit=self.unit, **how, **self.rest)

    def __str__(self) -> str:
        (m, k), n = self.a.shape, self.b.shape[1]
        given = ", ".join([*self.rest, f"{self.threads} threads", f"seed {self.seed}"])
        return f"({m}, {k}) x ({k}, {n}) with {given}: {self.unit}"


def case(seed: str) -> Iterator[str]:
    draw = DrawUnits(seed)
    u, compared = ww.Unit(draw.unit_text()), 0
    page = described(u)
    for _ in range(PRODUCTS):
        x = product(draw, u)
        want, raised = x.by("reference", True)
        for flags in (False, True):
            for engine in engines(x, flags):
                got, theirs = x.by(engine, True) if flags else (x.by(engine, False), raised)
                compared += got.size
                yield from difference(x, f"{engine}, flags={flags}", got, want)
                if (theirs != raised).any():
                    at = tuple(np.argwhere(theirs != raised)[0])
                    yield f"{engine} raises {theirs[at]} at {place(at)}, want {raised[at]}: {x}"
        if page and "multiplier" not in x.rest and x.a.shape[1] <= MOST_ON_THE_PAGE:
            yield from against_the_page(draw, page, x, want)
            page = None  # once is enough, as it takes as long as all engines do
    return compared


def product(draw: DrawUnits, u: ww.Unit) -> Product:
    (m, n), k = sizes(draw, u)
    manner = draw.pick(MANNERS)
    targets = halves(draw, u)
    a, b = draw.array(u.a, (m, k), manner, targets[0]), draw.array(u.b, (k, n), manner, targets[1])
    if draw.one_in(5):
        cancel(draw, a, b)
    rest = {}
    if not (draw.one_in(4) and encoding(u.c).zero):
        end = sum(targets) + draw.pick([0, 0, draw.between(-80, 80)])
        rest["c"] = draw.array(u.c, (m, n), draw.pick([manner, manner, "edge", "named"]), end)
    if u.scale_format:
        blocks = -(-k // u.scale_block)
        for name, shape in (("scale_a", (m, blocks)), ("scale_b", (blocks, n))):
            how = draw.pick(["bits", "named", "numbers", "numbers", "few"])
            rest[name] = draw.array(u.scale_format, shape, how)
    if draw.one_in(12) and max(map(significand_bits, (u.a, u.b))) <= 64:
        rest["multiplier"] = draw.pick(MULTIPLIERS)
    return Product(u, a, b, rest, draw.random.getrandbits(64), draw.pick([1, 1, 2, 3]))


def significand_bits(f: ww.Format) -> int:
    """As a supplied multiplier sees it: fixed point without a sign has one more, always 0."""
    return f.precision + (f.system == "fixed" and not f.signed)


def sizes(draw: DrawUnits, u: ww.Unit) -> tuple[tuple[int, int], int]:
    """Of the outputs and along k: blocks whole or not, one product, very many."""
    block = u.lanes or draw.between(1, 40)
    near = [1, block - 1, block, block + 1, 2 * block + draw.between(-1, 1), draw.between(1, 60)]
    k = max(draw.pick([*near, draw.between(60, 300)]), 1)
    if draw.one_in(10):
        k = draw.between(600, LONG - 1)
    fitting = [outputs for outputs in OUTPUTS if outputs[0] * outputs[1] * k <= MOST_PRODUCTS]
    return draw.pick(fitting), k


def halves(draw: DrawUnits, u: ww.Unit) -> tuple[int, int]:
    """Exponents of a and b whose products lie about an end of the result's range, or as near to it
    as they go; or anywhere."""
    f, a, b = encoding(u.result_format), encoding(u.a), encoding(u.b)
    half = draw.between(a.emin, a.emax)
    end = draw.pick([f.emax, f.emin, f.emin - f.frac_bits, half + draw.between(b.emin, b.emax)])
    return half, min(max(end - half, b.emin), b.emax)


def cancel(draw: DrawUnits, a: ww.Array, b: ww.Array) -> None:
    """Every other product is the opposite of the one before it, or nearly all are."""
    pairs = a.shape[1] // 2
    opposite = ww.negate(a[:, 0 : 2 * pairs : 2]).bits
    a.bits[:, 1 : 2 * pairs : 2] = opposite
    b.bits[1 : 2 * pairs : 2] = b.bits[0 : 2 * pairs : 2]


def engines(x: Product, flags: bool) -> list[str]:
    (m, k), n = x.a.shape, x.b.shape[1]
    said = ww.explain(x.unit, m, n, k, flags=flags, multiplier=x.rest.get("multiplier"))
    return [line.split()[0] for line in said.splitlines() if " takes it, about" in line]


def difference(x: Product, who: str, got: ww.Array, want: ww.Array) -> Iterator[str]:
    ours, theirs = codes(got), codes(want)
    wrong = np.argwhere(ours != theirs)
    if len(wrong):
        at = tuple(wrong[0])
        yield f"{who}: {ours[at]:#x} at {place(at)}, want {theirs[at]:#x}; {len(wrong)} differ: {x}"


def place(at: tuple) -> str:
    return str([int(i) for i in at])


def against_the_page(draw: DrawUnits, u: Unit, x: Product, want: ww.Array) -> Iterator[str]:
    i, j = (draw.random.randrange(length) for length in want.shape)
    c = int(codes(x.rest["c"])[i, j]) if "c" in x.rest else 0
    scales = [None, None]
    if u.scale:
        scales = [listed(x.rest["scale_a"][i]), listed(x.rest["scale_b"][:, j])]
    index = i * want.shape[1] + j
    said = run_bits(u, listed(x.a[i]), listed(x.b[:, j]), c, *scales, x.seed, index)
    got = int(codes(want)[i, j])
    if got != said:
        yield f"the reference: {got:#x} at [{i}, {j}], dpu_ref.py says {said:#x}: {x}"


def described(unit: ww.Unit) -> Unit | None:
    """The unit as dpu_ref.py has it, if it has policies and settings for all of it."""
    try:
        u = from_toml(unit.to_toml().replace('overflow = "flag"', 'overflow = "wrap"'))
    except ValueError:
        return None
    return u if has_answer(u) else None


def listed(x: ww.Array) -> list[int]:
    return [int(code) for code in codes(x)]
