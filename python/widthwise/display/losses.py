"""What a trace's steps lost: the exact difference between a number before and after each.

Alignment and rounding lose digits, a register that is too narrow its upper ones, packing what
passes the format's range. All losses of a unit's trace and its result make the exact answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .. import _widthwise as core
from .._codes import from_integers
from .._format import Format
from .._trace import Trace, Wire
from .._unit import Unit

WIDEST = 1 << 17  # bits between two numbers' digits; further apart no difference is written out


class Dyadic(NamedTuple):
    """m * 2**q."""

    m: int
    q: int

    def __sub__(self, other: Dyadic) -> Dyadic | None:  # type: ignore[override]
        return total([self, Dyadic(-other.m, other.q)])

    @property
    def top(self) -> int:
        """The power of two above it."""
        return self.q + self.m.bit_length()


def total(terms: Iterable[Dyadic | None]) -> Dyadic | None:
    """Their exact sum; nothing where one is no number or they lie too far apart."""
    terms = list(terms)
    if any(term is None for term in terms):
        return None
    present = [term for term in terms if term and term.m]
    least = min((term.q for term in present), default=0)
    if any(term.top - least > WIDEST for term in present):
        return None
    return Dyadic(sum(term.m << (term.q - least) for term in present), least)


class Loss(NamedTuple):
    """What stood before a step, and before - after: None where that is no number we know."""

    before: Dyadic
    lost: Dyadic | None


def wire_number(wire: Wire) -> Dyadic | None:
    """What stands on a wire, if it is a number; not at pack, where it is a code."""
    if wire.kind == "zero":
        return Dyadic(0, wire.exponent)
    if wire.kind != "finite" or wire.stage == "pack":
        return None
    return Dyadic(-wire.significand if wire.negative else wire.significand, wire.exponent)


def losses(trace: Trace) -> list[Loss | None]:
    """A loss a wire, or None where nothing was lost or no exact figure can be had."""
    reader = Reader(trace)
    return [reader.read(wire) for wire in trace]


def cuts_terms(u: Unit) -> bool:
    """Whether terms lose digits before they are added; those of a rounded tree never do."""
    sums = [u.fields.get(name, {}) for name in ("group_sum", "block_sum", "c_sum")]
    if any("node_round" in each for each in sums):
        return False
    return any(each.get("align", {}).get("reference", "exact") != "exact" for each in sums)


class Reader:
    """Goes along a trace's wires and remembers exactly what is to be aligned, added, rounded."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.cuts_terms = trace.unit is not None and cuts_terms(trace.unit)
        self.terms: dict[int, Dyadic | None] = {}  # of a lane, what is to be aligned; -1 is c
        self.aligned: list[Dyadic | None] = []  # since the last sum
        self.exact: Dyadic | None = None  # what is to be rounded; None where it is too long
        self.standing: Dyadic | None = None  # what its wire says
        self.gap_closed = False
        self.rounded: Dyadic | None = None

    def read(self, wire: Wire) -> Loss | None:
        step = getattr(self, wire.stage, None)
        return step(wire, wire_number(wire)) if step else None

    def unpack(self, wire: Wire, number: Dyadic | None) -> None:
        if wire.slot == "c":
            self.terms[wire.lane] = number

    def product(self, wire: Wire, number: Dyadic | None) -> None:
        self.terms[wire.lane] = self.exact = number

    scale = product

    def align(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        self.aligned.append(number)
        return loss(self.terms.get(wire.lane), number) if self.cuts_terms else None

    def group_sum(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        """What was aligned is added here; with nothing aligned a number only passes."""
        self.terms[wire.lane] = number
        if not self.aligned:
            self.exact = self.exact if self.gap_closed else number
            return None
        summed, self.aligned = total(self.aligned), []
        gone = loss(summed, number)
        # A closed gap (docs/semantics.md, D5) is off by less than the last digit and loses nothing;
        # a sum that is off by more did not fit its register.
        near = bool(gone and gone.lost and gone.lost.top <= wire.exponent)
        self.gap_closed = near or (summed is None and number is not None)
        self.exact = summed if self.gap_closed else number
        return None if self.gap_closed else gone

    block_sum = join = group_sum

    def normalise(self, wire: Wire, number: Dyadic | None) -> None:
        self.standing = number
        if self.aligned:
            self.exact, self.aligned = total(self.aligned), []
        elif self.exact is None and not self.gap_closed:
            self.exact = number

    def round(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        gone = loss(self.exact, number)
        # A single operation's exact number may end in a jammed digit (docs/semantics.md, E1).
        if self.exact is None or self.trace.unit is None:
            gone = loss(self.standing, number)
            gone = gone and Loss(gone.before, None)
        self.exact, self.rounded = None, number
        return gone

    def pack(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        result = packed(wire.significand, self.trace.format_of(wire))
        gone = loss(self.rounded, result)
        if self.rounded and not result:  # past the range
            gone = Loss(self.rounded, None)
        if wire.slot == "product.round":
            self.terms[wire.lane] = result
        elif wire.slot == "out":
            self.terms.clear()  # whatever is added to the rounded sum is added without loss
        self.aligned, self.exact, self.rounded, self.gap_closed = [], None, None, False
        return gone


def packed(code: int, f: Format) -> Dyadic | None:
    kind, negative, significand, exponent = core.values(f._core, from_integers([code], f))[0]
    if kind in ("infinite", "nan"):
        return None
    return Dyadic(-significand if negative else significand, exponent)


def loss(before: Dyadic | None, after: Dyadic | None) -> Loss | None:
    if before is None or after is None:
        return None
    lost = before - after
    return Loss(before, lost) if lost and lost.m else None
