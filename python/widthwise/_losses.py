"""What a trace's steps lost: the exact difference between a number before and after each.

Alignment and rounding lose digits, a register that is too narrow its upper ones, packing what
passes the format's range. All losses of a unit's trace and its result make the exact answer.
"""

from __future__ import annotations

from typing import NamedTuple

from ._trace import Trace, Wire, rounding_of_slot
from ._unit import Unit
from ._wires import Dyadic, aligned_sums, packed, total, wire_number


class Loss(NamedTuple):
    """What stood before a step, and before - after: None where that is no number we know."""

    before: Dyadic
    lost: Dyadic | None


def losses(trace: Trace) -> list[Loss | None]:
    """A loss a wire, or None where nothing was lost or no exact figure can be had."""
    reader = Reader(trace)
    return [reader.read(wire) for wire in trace]


def cuts_terms(u: Unit) -> bool:
    """Whether terms lose digits before they are added; those of a rounded tree never do."""
    fields = u.fields
    sums = [fields.get(name, {}) for name in ("group_sum", "block_sum", "c_sum")]
    return bool(aligned_sums(u)) and not any("node_round" in each for each in sums)


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
        self.cuts: dict[str, bool] = {}  # of the roundings' slots

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
        before = self.terms.pop(wire.lane, None)
        return loss(before, number) if self.cuts_terms else None

    def group_sum(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        """What was aligned is added here; with nothing aligned a number only passes."""
        summed = total(self.aligned)
        passes, self.aligned = not self.aligned, []
        if passes:
            self.exact = self.exact if self.gap_closed else number
        elif self.closes_gap(wire, summed, number):
            # Terms too far below to be aligned at all are still in `terms`.
            self.exact, self.gap_closed = total([summed, *self.terms.values()]), True
        else:
            self.exact = number
        self.terms[wire.lane] = number
        return None if passes or self.gap_closed else loss(summed, number)

    def closes_gap(self, wire: Wire, summed: Dyadic | None, number: Dyadic | None) -> bool:
        """A closed gap (docs/semantics.md, D5) is off by less than the last digit and loses
        nothing; a sum that is off by more did not fit its register."""
        if summed is None or number is None:
            return number is not None
        gone = loss(summed, number)
        return gone is not None and gone.lost is not None and gone.lost.top <= wire.exponent

    block_sum = join = group_sum

    def normalise(self, wire: Wire, number: Dyadic | None) -> Loss | None:
        self.standing = number
        if self.aligned:
            self.exact, self.aligned = total(self.aligned), []
        elif self.exact is None and not self.gap_closed:
            self.exact = number
        if not self.cuts_first(wire.slot):
            return None
        gone, self.exact = loss(self.exact, number), number
        return gone

    def cuts_first(self, slot: str) -> bool:
        """Whether a rounding cuts first what is normalised (docs/semantics.md, R2)."""
        u = self.trace.unit
        if slot not in self.cuts:
            self.cuts[slot] = u is not None and "post_norm_frac" in rounding_of_slot(u, slot)
        return self.cuts[slot]

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


def loss(before: Dyadic | None, after: Dyadic | None) -> Loss | None:
    if before is None or after is None:
        return None
    lost = before - after
    return Loss(before, lost) if lost and lost.m else None
