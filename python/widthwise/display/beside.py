"""Wires of hardware beside a trace's as a table, the digits that differ marked."""

from __future__ import annotations

from itertools import zip_longest

from .._beside import Beside, Pair
from .._table import Table
from .style import LOST, Card, coloured, html, tag

MOST_DIGITS = 80


def beside_card(beside: Beside) -> Card:
    return Card(beside.title, beside_table(beside.near()), beside.verdict())


def beside_table(pairs: list[Pair]) -> Table:
    columns = ["stage", "lane", "wire", "simulator", "hardware", "last digit", ""]
    return Table(columns, [row(pair) for pair in pairs])


def row(pair: Pair) -> tuple[object, ...]:
    last = "" if pair.exponent is None else f"2^{pair.exponent}"
    lane = "c" if pair.lane < 0 else str(pair.lane)
    marks = Digits(pair.simulator, pair.hardware), Digits(pair.hardware, pair.simulator)
    return (pair.stage, lane, pair.wire, *marks, last, "<--" if pair.differs else "")


class Digits:
    """Digits, of which those that another has otherwise are marked."""

    def __init__(self, digits: str, other: str) -> None:
        self.digits, self.other = digits, other

    def __str__(self) -> str:
        if len(self.digits) <= MOST_DIGITS:
            return self.digits
        half = MOST_DIGITS // 2
        at = next((i for i, (x, y) in enumerate(self.both()) if x != y), 0)
        begin = max(0, min(at - half, len(self.digits) - MOST_DIGITS))
        part = self.digits[begin : begin + MOST_DIGITS]
        return f"{'…' if begin else ''}{part}{'…' if begin + len(part) < len(self.digits) else ''}"

    def both(self) -> list[tuple[str, str]]:
        return list(zip_longest(self.digits, self.other[: len(self.digits)], fillvalue=""))

    def _repr_html_(self) -> str:
        if len(self.digits) > MOST_DIGITS or len(self.digits) != len(self.other):
            plain = html(str(self))
            return plain if self.digits == self.other else coloured(plain, LOST)
        marked = (x if x == y else coloured(x, LOST, font_weight="bold") for x, y in self.both())
        return tag("span", *marked)
