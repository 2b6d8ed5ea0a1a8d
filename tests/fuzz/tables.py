"""Tables of values, alone, among each other and beside every other system, against the page.

What is drawn is a table: a few values or hundreds, near each other or hundreds of binades apart,
on one side of zero or on both, with a zero, two or none, with NaN or without; or one that is
shipped. Its operations, conversions and units are asked of number_systems_ref.py's `table_code`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import nan

import widthwise as ww
from arrays import SIZES, Work, differences, numbers, policy, run_by
from conversions import from_floats, from_integers, from_texts, settings, to_floats
from drawn import drawn_format
from elements import comparison, exact, integral, power, rounding
from systems import outputs
from systems_ref import Listed, result, table_of
from unit_texts import DrawUnits

SHIPPED = ["nf4", "af4", "fp4", "dynamic8", "apot4"]
COUNTS = [2, 3, 4, 5, 8, 15, 16, 17]
MOST = 300  # values of a table
SMALLEST, LARGEST = -900, 900  # exponents of values, which binary64 and its products have
FEW = 1000  # elements of arrays where a table's values lie that far apart, which takes long digits


class DrawTables(DrawUnits):
    has_long = False  # digits of a gap, or of a sum, in the thousands

    def system_text(self) -> str:
        return super().system_text() if self.one_in(3) else self.table_text()

    def system_mode(self) -> str:
        """Any but odd, which a table has not; often the usual one, whose ties have most rules."""
        if self.one_in(3):
            return "rne"
        while (mode := super().system_mode()) == "odd":
            pass
        return mode

    def table_text(self) -> str:
        if self.one_in(5):
            made = ww.Format(f"table({self.pick(SHIPPED)})")
        else:
            values = self.table_values()
            spelt = len(values) < 6 and self.one_in(2)
            made = ww.Format.table(values, name="" if spelt else name_of(values))
        return table_of(str(made), made.values).text

    def table_values(self) -> list[float]:
        """Two to a few hundred different numbers, in order or not."""
        count = self.pick([*COUNTS, self.between(2, 64), self.between(64, MOST)])
        value = self.pick([self.few_digits, self.far_apart, self.near_each_other])()
        signs = self.pick([(1,), (-1,), (1, -1), (1, -1)])
        drawn = (self.pick(signs) * next(value) for _ in range(count))
        values = list(dict.fromkeys(x for x in drawn if x))
        if self.one_in(3):  # opposites, between which 0 is a tie
            values = list(dict.fromkeys(s * x for x in values for s in (1, -1)))
        if self.one_in(2) or len(values) < 2:
            values += self.pick([[0.0], [0.0], [0.0, -0.0], [-0.0]])
        values += [nan] * self.one_in(3)
        if self.one_in(2):
            self.random.shuffle(values)
        return values

    def few_digits(self) -> Iterator[float]:
        """Multiples of one step, many of whose sums and products lie on borders."""
        step, most = 2.0 ** self.between(-8, 4), self.pick([4, 16, 64, 1000])
        while True:
            yield step * self.between(1, most)

    def far_apart(self) -> Iterator[float]:
        digits = self.pick([1, 2, 8, 24, 53])
        low, high = sorted(self.between(SMALLEST, LARGEST) for _ in "ab")
        self.has_long = True
        while True:
            significand = 1 << digits - 1 | self.random.getrandbits(digits)
            yield significand * 2.0 ** (self.between(low, high) - digits)

    def near_each_other(self) -> Iterator[float]:
        """About one number, that differ in their last digits."""
        digits = self.between(8, 52)
        about = self.random.getrandbits(digits) | 1 << digits
        scale = 2.0 ** (self.between(-40, 40) - digits)
        while True:
            yield (about ^ self.random.getrandbits(7)) * scale


def name_of(values: list[float]) -> str:
    """One name for one list of values, whenever it is drawn."""
    return "drawn" + hashlib.sha256(repr(values).encode()).hexdigest()[:16]


# --- Conversions where tables turn ----------------------------------------------------------------


def from_between(draw: DrawTables) -> Work:
    """Operands of any system about a table's values, its borders, and parts of gaps."""
    to = ww.Format(draw.table_text())
    f = draw.pick([ww.Format("binary64"), ww.Format("binary32"), drawn_format(draw)])
    told, how = settings(draw, to)
    places = [place_in(draw, policy(to)) for _ in range(40)]
    few = ww.array(places, f).bits
    x = ww.from_bits(few[draw.numpy.integers(0, len(places), draw.pick(SIZES))], f)
    call = run_by(ww.convert, format=to, **how)
    said = f"convert of {f} to {to}, {how}"
    return Work(said, [x], call, lambda i: result("convert", policy(to), told, numbers([x], i), i))


def place_in(draw: DrawTables, table: Listed) -> Fraction:
    """0, a value, the middle of two, or another part of their gap; a little to one side now and
    then, and past an end."""
    if draw.one_in(8):
        return Fraction(0)
    low, high = draw.pick(list(pairwise(x for x, _ in table.in_order)))
    eighths = draw.pick([0, 4, 4, draw.between(-1, 9)])
    off = (high - low) * Fraction(1, 1 << draw.pick([8, 30, 60])) * draw.pick([-1, 0, 0, 1])
    return low + (high - low) * Fraction(eighths, 8) + off


# --------------------------------------------------------------------------------------------------

WORKS = [*[from_between] * 6, *[rounding] * 6, exact, integral, power, *[comparison] * 2]
WORKS += [*[from_floats] * 3, to_floats, from_integers, from_texts]


def case(seed: str) -> Iterator[str]:
    draw = DrawTables(seed)
    draw.systems = 0.8
    if draw.one_in(3):
        return (yield from outputs(draw))
    work = draw.pick(WORKS)(draw)
    if draw.has_long:
        work.arrays = [x[:FEW] for x in work.arrays]
    return (yield from differences(draw, work))
