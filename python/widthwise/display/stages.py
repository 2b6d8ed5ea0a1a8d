"""A trace as a table: a row a stage, the digits it dropped marked, and what they were worth."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .._codes import integers, readable
from .._losses import Loss
from .._table import Table
from .._trace import Trace, Wire, shown
from .._wires import Dyadic, total, wire_number
from .bits import power_of_two
from .style import LOST, Card, coloured, html, tag

COLUMNS = ["stage", "slot", "lane", "value", "digits", "exponent", "lost"]
MOST_ROWS = 40  # that a screen holds; of a longer trace what lost something and its end
MOST_LOSSES = 8  # shown of a long trace, the largest ones
LAST_ROWS = 4  # shown of any: a rounding's
Told = tuple[tuple[Any, ...], list[Wire], Loss | None]  # a row, its wires, what they lost
MOST_DIGITS = 64
BIGGEST_FLOAT = 1000  # as a power of two


def trace_card(trace: Trace) -> Card:
    return Card(trace.title, Table(COLUMNS, list(rows(trace))), result_line(trace))


def trace_text(trace: Trace) -> str:
    """What a screen holds."""
    table = str(Table(COLUMNS, list(rows(trace))))
    folded = "…" in table and len(trace) > MOST_ROWS
    hint = "all rows: .table(); losses: .lost, .select(lost=True)"
    return "\n".join([trace.title, table, *[hint] * folded, result_line(trace)])


def result_line(trace: Trace) -> str:
    result = readable(integers(trace.result.bits, trace.result.format)[0], trace.result.format)
    return f"result: {result} in {trace.result.format}"


def rows(trace: Trace) -> list[tuple[Any, ...]]:
    """A row a wire where a screen holds them; else those that lost most, the rest folded."""
    every = list(told(trace))
    if len(every) <= MOST_ROWS:
        return [line for line, _, _ in every]
    shown_ones = worth_showing(every)
    lines = []
    for keep, group in itertools.groupby(range(len(every)), key=lambda i: i in shown_ones):
        members = [every[i] for i in group]
        whole = keep or len(members) == 1
        lines += [line for line, _, _ in members] if whole else [folded(members)]
    return lines


def worth_showing(every: list[Told]) -> set[int]:
    """The rows that lost most, and the last ones."""
    losing = [i for i, (_, _, gone) in enumerate(every) if gone]
    largest = sorted(losing, key=lambda i: size(every[i][2]), reverse=True)[:MOST_LOSSES]
    return {*largest, *range(len(every) - LAST_ROWS, len(every))}


def size(gone: Loss | None) -> tuple[int, Fraction]:
    """Orders losses; those without a figure are the largest."""
    if gone is None or gone.lost is None:
        return sys.maxsize, Fraction(1)
    m, top = abs(gone.lost.m), gone.lost.top
    return top, Fraction(m, 1 << m.bit_length())


def folded(members: list[Told]) -> tuple[Any, ...]:
    """One row for many: how many, of which lanes, and what they lost together."""
    wires = [wire for _, group, _ in members for wire in group]
    lanes = sorted({wire.lane for wire in wires if wire.lane >= 0})
    across = f"{lanes[0]} to {lanes[-1]}" if len(lanes) > 1 else "".join(map(str, lanes))
    gone = [each for _, _, each in members if each]
    together = total([each.lost for each in gone])
    worth = f"{len(gone)} loss{'es' * (len(gone) > 1)}" + (
        f", {number_text(together)}" if together else ""
    )
    return "…", "", across, f"{len(wires)} rows", "", "", worth if gone else ""


def told(trace: Trace) -> Iterator[Told]:
    """A row a wire; zeros of neighbouring lanes share one."""
    pairs = zip(trace, trace._losses, strict=True)
    for alike, group in itertools.groupby(pairs, key=lambda one: idle_stage(*one)):
        members = list(group)
        if alike and len(members) > 2:
            wires = [wire for wire, _ in members]
            yield zeros_row(wires), wires, None
        else:
            yield from ((row(trace, wire, gone), [wire], gone) for wire, gone in members)


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
    """Of what came in where its last digits went, else of what stands there: a table's value, or
    the end of a range, is no cut of what came in."""
    number = wire_number(wire)
    if number is None:
        return None
    if gone is None or wire.stage not in ("align", "round"):
        return Digits(number)
    if wire.stage == "round" and (apart := gone.before - number) and apart.top > wire.exponent:
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
