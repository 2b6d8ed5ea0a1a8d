"""Accumulations whose terms come in pieces: of any length, in the memory of one piece."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import _codes, _engines
from .. import _widthwise as core
from .._array import Array
from .._create import zeros
from .._dot import Operands, Work, shape_of
from .._format_texts import said
from .._missing import asks_for
from .._settings import How, checked_seed, checked_threads
from .._unit import Several, Unit, named_units
from .accumulation import Accumulation, draws
from .bounds import before
from .given import Data, Truth, checked_against, study_data
from .operands import part
from .registers import continued, register_alone, why_not_in_pieces

MOST_AT_ONCE = 1024  # terms that lie beside each other as wide as a register that holds them all


@asks_for("ww.study.streamed(pieces, ['mac(e5m10)'])")
def streamed(
    pieces: Iterable[Any],
    units: Several,
    *,
    seed: int = 0,
    rounding: str = "rne",
    confidence: float = 0.99,
    engine: str = "auto",
    threads: int | None = None,
    against: str = "given",
) -> Accumulation:
    """`accumulation` of one sum or dot product whose terms come in pieces: one is in memory.

    Each piece goes on from what the unit's registers held, which is the whole sum bit for bit:
    chains of blocks, promoted, compensated or drawing, and registers that add exactly or at a fixed
    place, as `kulisch` and `fixedacc`. The lengths looked at are the pieces' ends.

    Args:
        pieces: values or Arrays (k,), which are summed, or pairs of them, or (a, b, scale_a,
            scale_b) where the unit scales its blocks. All but the last are of a multiple of the
            unit's lanes, of what it promotes at once and of a block that shares a scale.
        seed: of stochastic rounding. A register at a fixed place that draws for every term it
            aligns draws those of piece i by seed + i, which a sum in one piece would not.
        engine: as in `ww.dot`; what compensates or draws goes on in the reference alone.
        Others: as in `accumulation`.
    Returns:
        An Accumulation: figures of shape (1, 1, pieces) for each unit.
    Raises:
        ValueError: a unit that needs all terms at once, as those that align them to the largest do;
            a piece that ends within a block; no pieces.

    >>> import widthwise as ww
    >>> found = ww.study.streamed(([1.0] * 100 for _ in range(5)), "mac(bfloat16)")
    >>> found.lengths, found.max("absolute")["mac(bfloat16)"].tolist()
    ([100, 200, 300, 400, 500], [0.0, 0.0, 44.0, 144.0, 244.0])
    """
    chosen = named_units(units)
    checked_against(against)
    streams = {
        name: Stream(unit, sum_of(unit, seed, engine, threads), rounding, against)
        for name, unit in chosen.items()
    }
    lengths: list[int] = []
    terms = True
    for given in pieces:
        piece = piece_of(given)
        terms &= piece.b is None
        for stream in streams.values():
            stream.take(piece)
        lengths.append(stream.length)
    if not lengths:
        raise ValueError("pieces is empty; there is nothing to sum")
    figures = {name: np.stack(s.figures, axis=1)[None] for name, s in streams.items()}
    seeds = {name: [seed] for name in chosen}
    met = {
        name: before(s.unit, s.rounded, rounding, s.strayed)
        for name, s in streams.items()
        if against == "given"
    }
    return Accumulation(chosen, lengths, figures, seeds, confidence, against, terms, met)


class Piece(NamedTuple):
    """Some terms of a sum or dot product, with the scales of their blocks where there are any."""

    a: Any
    b: Any = None
    scale_a: Any = None
    scale_b: Any = None


def piece_of(given: Any) -> Piece:
    if not isinstance(given, tuple):
        if not shape_of(given):
            raise ValueError(
                f"pieces: one is {given!r}, a single number; of one array x pass [x], or "
                "np.array_split(x, n)"
            )
        return Piece(given)
    if len(given) not in (2, 4):
        raise ValueError(
            f"pieces: one is a tuple of {len(given)}; a pair (a, b) is wanted, or (a, b, scale_a, "
            "scale_b), and of a sum its terms alone"
        )
    return Piece(*given)


class Sum(Protocol):
    """What a unit holds of the pieces so far."""

    unit: Unit  # whose operands are added
    step: int  # products, of which every piece but the last has a multiple

    def add(self, x: Operands) -> None: ...

    def delivered(self) -> Array:
        """What the unit makes of it, if no piece follows."""


class Stream:
    """A unit's sum of the pieces so far, the exact one, and their difference after each piece."""

    def __init__(self, unit: Unit, sum: Sum, rounding: str, against: str) -> None:
        self.unit, self.sum, self.rounding, self.against = unit, sum, rounding, against
        self.length = 0
        self.truth: Truth | None = None
        self.rounded: frozenset[str] = frozenset()
        self.strayed = False
        self.figures: list[np.ndarray] = []

    def take(self, piece: Piece) -> None:
        x = self.data(piece)
        if self.truth is None:
            self.truth = Truth(x, self.against, apart=True)
        self.truth.add(x, 0, x.k)
        self.rounded |= x.rounded
        self.strayed |= x.strayed
        self.sum.add(x.operands)
        self.length += x.k
        self.figures.append(self.truth.figures(self.unit, self.sum.delivered().reshape(1)))

    def data(self, piece: Piece) -> Data:
        if self.length % self.sum.step:
            raise ValueError(
                f"pieces: one ended after {self.length} terms, within a block of unit "
                f"{said(self.unit.text)}; all but the last are of a multiple of {self.sum.step}"
            )
        a, b, *scales = piece
        x = study_data(self.sum.unit, a, b, None, self.rounding, *scales)
        if x.operands.shape != ():
            raise ValueError(
                f"pieces: one makes sums of shape {x.operands.shape}; they are of shape (k,)"
            )
        return x


# --- What a unit holds ---------------------------------------------------------------------------


def sum_of(unit: Unit, seed: int, engine: str, threads: int | None) -> Sum:
    """
    Raises:
        ValueError: the unit needs all of its terms at once.
    """
    if why := why_not_in_pieces(unit):
        raise ValueError(f"unit {said(unit.text)} {why}; pass all terms at once to accumulation")
    if register_alone(unit) and not (unit.lanes and draws(unit)):
        return PassedOn(unit, seed, engine, threads)
    checked_threads(threads)
    return Held(unit, seed, engine)


class PassedOn:
    """One number, which is the C of the next piece: any engine adds that."""

    def __init__(self, unit: Unit, seed: int, engine: str, threads: int | None) -> None:
        self.unit, self.ends, self.step = continued(unit)
        self.how = How(engine, threads)
        self.seed, self.pieces = seed, 0
        # A register's piece may go in by parts, but for random bits, which go by the place in it.
        parts = not unit.lanes and not draws(self.unit)
        self.most = MOST_AT_ONCE * self.step if parts else sys.maxsize
        self.register: Array | None = None

    def add(self, x: Operands) -> None:
        # A block of no terms would still align and round what the register holds.
        for first in range(0, x.k if self.pieces else max(1, x.k), self.most):
            terms = part(self.unit, x, first, min(x.k, first + self.most))
            if self.register is not None:
                terms.arrays[2] = self.register.reshape(1)
            self.register = self.computed(self.unit, terms, self.seed + self.pieces)
        self.pieces += 1

    def delivered(self) -> Array:
        assert self.register is not None
        if self.ends is None:
            return self.register
        nothing = zeros((0,), self.ends.a)
        x = Operands.of_dots(self.ends, nothing, nothing, self.register, None, None)
        return self.computed(self.ends, x, self.seed)

    def computed(self, unit: Unit, x: Operands, seed: int) -> Array:
        return Work(unit, x.k, 1, self.how._replace(seed=seed)).run(x.bound(), ())


class Held:
    """More than one number, or draws that go by the place along k: the reference keeps it."""

    def __init__(self, unit: Unit, seed: int, engine: str) -> None:
        _engines.check(engine)
        if engine not in ("auto", "reference"):
            raise ValueError(
                f"engine = {engine!r}: a stream of unit {said(unit.text)} goes on in the "
                "reference alone; leave it 'auto'"
            )
        self.unit, self.seed = unit, checked_seed(seed)
        self.step = math.lcm(unit.lanes, unit.scale_block or 1)
        self.sum: core.RunningSum | None = None

    def add(self, x: Operands) -> None:
        self.last = x.bound()
        if self.sum is None:
            self.sum = core.RunningSum(self.unit._core, self.last, self.seed)
        self.sum.add(self.last)

    def delivered(self) -> Array:
        assert self.sum is not None
        code = _codes.empty((1,), self.unit.result_format)
        self.sum.deliver(self.last, code)
        return Array._of(code, self.unit.result_format).reshape(())
