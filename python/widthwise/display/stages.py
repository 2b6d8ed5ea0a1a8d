"""A trace as a table: a row a stage, the digits it dropped marked, and what they were worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .._codes import integers, readable
from .._table import Table
from .._trace import Trace, Wire, shown
from .._wires import Dyadic, wire_number
from .bits import power_of_two
from .losses import Loss, losses
from .style import LOST, Card, coloured, html, tag

COLUMNS = ["stage", "slot", "lane", "value", "digits", "exponent", "lost"]
MOST_ROWS = 120  # of more the first and the last half
MOST_DIGITS = 64
BIGGEST_FLOAT = 1000  # as a power of two


def trace_card(trace: Trace) -> Card:
    result = readable(integers(trace.result.bits, trace.result.format)[0], trace.result.format)
    table = Table(COLUMNS, abbreviated(list(rows(trace))))
    return Card(trace.title, table, f"result: {result} in {trace.result.format}")


def abbreviated(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    if len(rows) <= MOST_ROWS:
        return rows
    half = MOST_ROWS // 2
    between = ("…", f"{len(rows) - 2 * half} more", *[""] * (len(COLUMNS) - 2))
    return [*rows[:half], between, *rows[-half:]]


def rows(trace: Trace) -> Iterator[tuple[Any, ...]]:
    """A row a wire; zeros of neighbouring lanes share one."""
    told = zip(trace, losses(trace), strict=True)
    for alike, group in itertools.groupby(told, key=lambda one: idle_stage(*one)):
        members = list(group)
        if alike and len(members) > 2:
            yield zeros_row([wire for wire, _ in members])
        else:
            yield from (row(trace, wire, gone) for wire, gone in members)


def idle_stage(wire: Wire, gone: Loss | None) -> str:
    """The stage of a lane that carries an exact zero; nothing for the others."""
    idle = wire.kind == "zero" and gone is None and wire.slot in ("", "a", "b")
    return wire.stage if idle else ""


def zeros_row(wires: list[Wire]) -> tuple[Any, ...]:
    lanes = [wire.lane for wire in wires]
    return wires[0].stage, "", f"{min(lanes)} to {max(lanes)}", "0", "", "", ""


def row(trace: Trace, wire: Wire, gone: Loss | None) -> tuple[Any, ...]:
    stage, slot, lane, value, significand, exponent = shown(wire)
    if wire.stage == "pack":
        value = readable(wire.significand, trace.format_of(wire))
        return stage, slot, lane, value, significand, "", Worth(gone, "overflow")
    standing = digits(wire, gone)
    if standing is None:
        return stage, slot, lane, value, "", exponent, Worth(gone)
    return stage, slot, lane, value, standing, f"2^{standing.exponent}", Worth(gone)


def digits(wire: Wire, gone: Loss | None) -> Digits | None:
    """Of what came in where its last digits went, else of what stands there."""
    number = wire_number(wire)
    if number is None:
        return None
    if gone is None or wire.stage not in ("align", "round"):
        return Digits(number)
    # A late C is cut above the last digit of its wire.
    top = gone.lost.top if gone.lost else wire.exponent
    return Digits(gone.before, max(wire.exponent, top))


class Digits:
    """A number's binary digits, those below 2**last apart, for they are dropped.

    Attributes:
        exponent: the power of two that the last one of those that are kept stands for.
    """

    def __init__(self, number: Dyadic, last: int | None = None) -> None:
        magnitude = abs(number.m)
        spare = (magnitude & -magnitude).bit_length() - 1 if magnitude else 0
        furthest = magnitude.bit_length() + MOST_DIGITS  # a cut may lie 2^62 digits above
        low = spare if last is None else min(max(0, last - number.q), furthest)
        self.exponent = number.q + low
        tail = f"{magnitude & ((1 << low) - 1):0{low}b}" if low else ""
        self.kept = ends(f"{'-' if number.m < 0 else ''}{magnitude >> low:b}")
        self.dropped = ends(tail.rstrip("0"))

    def __str__(self) -> str:
        return self.kept + (f"|{self.dropped}" if self.dropped else "")

    def _repr_html_(self) -> str:
        if not self.dropped:
            return html(self.kept)
        marked = coloured(self.dropped, LOST, font_weight="bold")
        return tag("span", self.kept, coloured("|", LOST), marked)


def ends(digits: str) -> str:
    if len(digits) <= MOST_DIGITS:
        return digits
    half = MOST_DIGITS // 4
    return f"{digits[:half]}…{len(digits) - 2 * half}…{digits[-half:]}"


class Worth:
    """What a step lost; the word for it where there is no figure."""

    def __init__(self, gone: Loss | None, word: str = "inexact") -> None:
        self.text = word if gone else ""
        if gone and gone.lost:
            self.text = number_text(gone.lost) + (", all" if gone.lost == gone.before else "")

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return coloured(self.text, LOST, font_weight="bold") if self.text else ""


def number_text(x: Dyadic) -> str:
    """To six digits; as a power of two where no float reaches."""
    if -BIGGEST_FLOAT < x.top < BIGGEST_FLOAT:
        return f"{float(Fraction(x.m) * Fraction(2) ** x.q):.6g}"
    return ("-" if x.m < 0 else "") + power_of_two(abs(x.m), x.q)
