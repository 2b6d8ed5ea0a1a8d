"""Fixed point, posits, takums and tables beside floats, in the terms of elementwise_ref.py.

Numbers and roundings of the systems are number_systems_ref.py's, those of floats dpu_ref.py's, so a
code of any format has a value here, and an exact result a code of any other, with its flags. Units
of one product a step, and exact sums, are chains of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import elementwise_ref as floats
import number_systems_ref as page
from dpu_ref import FIN, INF, NAN, OUT, PRODUCT, ZERO, random_bits, stochastic
from dpu_ref import Format as FloatFormat
from elementwise_ref import CANCELLED, Exact, How, Operand, Policy, fraction

FINAL = 6  # the slot of a unit's last rounding
Place = tuple[int, int, int, int]  # seed, index, slot, step: what random bits hang on


@dataclass(frozen=True)
class System:
    """A format that is no float, with what elementwise_ref.py asks of a float's encoding."""

    text: str
    kind: str  # fixed, posit, takum, table
    width: int
    es: int = 0
    signed: bool = True

    @property
    def fmt(self) -> System:
        return self

    @property
    def nar(self) -> int:
        return 1 << self.width - 1

    @property
    def nan_code(self) -> int | None:
        return None if self.kind == "fixed" else self.nar

    nan = "negative_zero"  # one code, which says nothing more
    zero = True
    frac_bits = 0  # below the least exponent

    @property
    def emax(self) -> int:
        top = self.nar - 1 if self.signed else (1 << self.width) - 1
        return page.floor_log2(abs(self.value(max(top, 1))))  # one signed bit: 0 and -1

    @property
    def emin(self) -> int:
        return page.floor_log2(abs(self.value(1)))

    def value(self, code: int) -> Fraction | str:
        if self.kind == "posit":
            return page.posit_value(self.width, self.es, code)
        if self.kind == "takum":
            return page.takum_value(self.width, code)
        n = code - (1 << self.width) if self.signed and code & self.nar else code
        return n * Fraction(2) ** -page.parse_fixed(self.text)[1]

    def code(self, x: Fraction | str, mode: str, bits: int = 0, rand: int = 0) -> int:
        if self.kind == "posit":
            return page.posit(self.width, self.es, x, mode, bits, rand)
        if self.kind == "takum":
            return page.takum(self.width, x, mode, bits, rand)
        return page.fixed_code(self.text, x, mode, None, bits, rand) & (1 << self.width) - 1

    def flags(self, x: Fraction | str, mode: str, bits: int = 0, rand: int = 0) -> int:
        if self.kind == "posit":
            return page.posit_flags(self.width, self.es, x, mode, bits, rand)
        if self.kind == "takum":
            return self.takum_flags(x, mode, bits, rand)
        return page.fixed_flags(self.text, x, mode, None, bits, rand)

    def takum_flags(self, x: Fraction | str, mode: str, bits: int, rand: int) -> int:
        """The page: as posits'."""
        if isinstance(x, str) or x == 0:
            return page.NV if x in (page.INF, page.NINF) else 0
        if abs(x) > self.value(self.nar - 1):
            return page.OF | page.NX
        if abs(x) < self.value(1):
            return page.UF | page.NX
        return page.NX if self.value(self.code(x, mode, bits, rand)) != x else 0


@dataclass(frozen=True)
class Listed(System):
    """A table: code i is its value i. Of two zeros -0 is read and never written."""

    values: tuple[float, ...] = field(default=(), compare=False)

    @cached_property
    def numbers(self) -> list[Fraction | str]:
        """Of each code; -0 alone is the table's zero."""
        return [self.number(x) for x in self.values]

    def number(self, x: float) -> Fraction | str:
        if math.isnan(x):
            return page.NAN
        second = math.copysign(1, x) < 0 and any(str(y) == "0.0" for y in self.values)
        return page.NEG0 if x == 0 and second else Fraction(x)

    @cached_property
    def rows(self) -> list[tuple[int, Fraction | str]]:
        return [(code, x) for code, x in enumerate(self.numbers) if x != page.NEG0]

    @cached_property
    def in_order(self) -> list[tuple[Fraction, int]]:
        return sorted((x, code) for code, x in self.rows if x != page.NAN)

    @property
    def nan_code(self) -> int | None:
        return next((code for code, x in self.rows if x == page.NAN), None)

    @cached_property
    def emax(self) -> int:
        return page.floor_log2(max(abs(x) for x, _ in self.in_order))

    @cached_property
    def emin(self) -> int:
        return page.floor_log2(min(abs(x) for x, _ in self.in_order if x))

    def value(self, code: int) -> Fraction | str:
        return self.numbers[code] if code < len(self.numbers) else page.NAN

    def code(self, x: Fraction | str, mode: str, bits: int = 0, rand: int = 0) -> int:
        return page.table_code(self.rows, x, mode, bits, rand)

    def flags(self, x: Fraction | str, mode: str, bits: int = 0, rand: int = 0) -> int:
        if x == page.NAN:
            return page.NV if self.nan_code is None else 0
        past = isinstance(x, str) or not self.in_order[0][0] <= x <= self.in_order[-1][0]
        if past:
            return page.OF | page.NX
        return page.NX if self.value(self.code(x, mode, bits, rand)) != x else 0

    def place(self, code: int) -> int:
        """A number's, among the values in order, both zeros at one."""
        x = self.value(code)
        wanted = Fraction(0) if x == page.NEG0 else x
        return next(i for i, (y, _) in enumerate(self.in_order) if y == wanted)


AnyFormat = Policy | System
TABLES: dict[str, Listed] = {}  # by their texts


def table_of(text: str, values: Sequence[float]) -> Listed:
    """A table of that text from now on, which need not spell its values."""
    width = (len(values) - 1).bit_length()
    TABLES[text] = Listed(text, "table", width, signed=False, values=tuple(values))
    return TABLES[text]


def parse(text: str) -> System | None:
    """A text of ours, as the package prints it; None of a float's."""
    if text in TABLES:
        return TABLES[text]
    if found := re.fullmatch(r"posit(\d+)es(\d)", text):
        return System(text, "posit", int(found[1]), int(found[2]))
    if found := re.fullmatch(r"takum(\d+)", text):
        return System(text, "takum", int(found[1]))
    if re.fullmatch(r"u?(int\d+|fixed\d+\.-?\d+)(;overflow=\w+)?", text):
        width, _, signed, _ = page.parse_fixed(text)
        return System(text, "fixed", width, signed=signed)
    return None


# --- Codes and numbers ----------------------------------------------------------------------------


def operand(f: AnyFormat, code: int) -> Operand:
    if isinstance(f, Policy):
        return floats.operand(f, code)
    x = f.value(code)
    if x in (page.NAR, page.NAN):
        return Operand(f, code, NAN, int(x == page.NAR))
    if x == page.NEG0:
        return Operand(f, code, ZERO, 1)
    return Operand(f, code, FIN if x else ZERO, int(x < 0), abs(x))


def on_the_page(z: Exact) -> Fraction | str:
    if z.cls in (NAN, INF):
        return {(NAN, 0): page.NAN, (NAN, 1): page.NAN, (INF, 0): page.INF}.get(
            (z.cls, z.s), page.NINF
        )
    return -z.size if z.s else z.size


def drawn_bits(rm: str, at: Place) -> tuple[str, int, int]:
    """A mode in the page's terms: 2r + 1 of k + 1 bits are what `half` adds."""
    found = stochastic(rm)
    if not found:
        return rm, 0, 0
    k, variant = found
    r = random_bits(k, *at)
    if variant == "even":
        raise ValueError(f"{rm}: the page has no such variant")
    return ("sr", k + 1, 2 * r + 1) if variant == "half" else ("sr", k, r)


def delivered(z: Exact, to: AnyFormat, how: How, at: Place) -> tuple[int, int]:
    """A float's random bits are those of single operations, at whatever slot it is."""
    if isinstance(to, Policy):
        return floats.delivered(z, to, how, at[1])
    x, mode = on_the_page(z), drawn_bits(how.rm, at)
    return to.code(x, *mode), z.flags | to.flags(x, *mode)


def single(z: Exact, to: AnyFormat, how: How, place: int) -> tuple[int, int]:
    """What an operation delivers for the element at `place` of an array."""
    return delivered(z, to, how, (how.seed, place, OUT, 0))


# --- Operations -----------------------------------------------------------------------------------


def result(op: str, to: AnyFormat, how: How, operands: Sequence[Operand], place: int) -> tuple:
    """As elementwise_ref.result, of any formats."""
    if isinstance(to, Policy):
        return floats.result(op, to, how, operands, place)
    if op in ("min_x86", "max_x86"):
        return chosen_by_x86(op == "min_x86", to, how, operands, place)
    z = floats.EXACT[op](*operands)
    signalling = page.NV if any(x.signalling for x in operands) else 0
    return single(replace(z, flags=z.flags | signalling), to, how, place)


def chosen_by_x86(least: bool, to: System, how: How, operands: Sequence[Operand], place: int):
    x, y = operands
    unordered, (p, q) = NAN in (x.cls, y.cls), (floats.order(v)[:2] for v in operands)
    z = x if not unordered and (p < q if least else p > q) else y
    flags = page.NV if unordered else 0
    if z.fmt == to and z.cls != ZERO:  # of two zeros one alone is delivered
        return z.code, flags
    return single(replace(floats.as_it_is(z), flags=flags), to, how, place)


def round_to_integral(to: AnyFormat, how: How, tells: bool, x: Operand, place: int) -> tuple:
    if isinstance(to, Policy):
        return floats.round_to_integral(to, how, tells, x, place)
    z = floats.as_it_is(x)
    if x.cls == FIN and x.size < 1 << 66:
        n = floats.whole(x.value, how, place)
        z = fraction(Fraction(n), x.s)
        z = replace(z, flags=page.NX if tells and n != x.value else 0)
    z = replace(z, flags=z.flags | (page.NV if x.signalling else 0))
    return single(z, to, how, place)


def scaled(to: AnyFormat, how: How, x: Operand, power: int, place: int) -> tuple:
    if isinstance(to, Policy):
        return floats.scaled(to, how, x, power, place)
    near = max(min(power, 1 << 14), -(1 << 14))
    z = replace(floats.as_it_is(x), size=x.size * Fraction(2) ** near)
    return single(replace(z, flags=page.NV if x.signalling else 0), to, how, place)


def has_nar(f: AnyFormat) -> bool:
    return isinstance(f, System) and f.kind in ("posit", "takum")


def compared(how: str, x: Operand, y: Operand) -> tuple[bool, int]:
    """NaR equals itself and lies below all numbers, where both operands may be NaR."""
    if not (has_nar(x.fmt) and has_nar(y.fmt)) or NAN not in (x.cls, y.cls):
        return floats.compared(how, x, y)
    least = Fraction(-(10**200))

    def placed(v: Operand) -> Operand:
        return replace(v, cls=FIN, s=1, size=-least) if v.cls == NAN else v

    return floats.compared(how.removesuffix("_signaling"), placed(x), placed(y))


def neighbour(x: Operand, up: bool) -> tuple[int, int]:
    """The code beside it: modulo 2^N, or of fixed point and tables not past their ends."""
    if not isinstance(x.fmt, System):
        return floats.neighbour(x, up)
    f, step = x.fmt, 1 if up else -1
    if isinstance(f, Listed):
        return listed_beside(f, x, step)
    if f.kind != "fixed":
        return (x.code + step) % (1 << f.width), 0
    low, high = (f.nar, f.nar - 1) if f.signed else (0, (1 << f.width) - 1)
    return x.code if x.code == (high if up else low) else (x.code + step) % (1 << f.width), 0


def listed_beside(f: Listed, x: Operand, step: int) -> tuple[int, int]:
    """The code of the value beside, or of the end; what is no number is delivered as such."""
    if x.cls == NAN:
        return f.code(page.NAN, "rne"), f.flags(page.NAN, "rne")
    last = len(f.in_order) - 1
    return f.in_order[min(max(f.place(x.code) + step, 0), last)][1], 0


def with_sign(x: Operand, s: int) -> tuple[int, int]:
    """The number of that sign, which fixed point may have to saturate or wrap."""
    if not isinstance(x.fmt, System):
        return floats.with_sign(x, s), 0
    if isinstance(x.fmt, Listed):
        return single(Exact(x.cls, s, x.size), x.fmt, How(), 0)
    if x.cls in (NAN, ZERO) or x.s == s:
        return x.code, 0
    return single(Exact(FIN, s, x.size), x.fmt, How(), 0)


def to_integer(width: int, signed: bool, how: How, x: Operand, place: int) -> tuple[int, int]:
    """Of a posit or a takum NaR, and what is out of range, give 10...0 (the page's table)."""
    n, flags = floats.to_integer(width, signed, how, x, place)
    if has_nar(x.fmt) and flags == page.NV:
        return -(1 << width - 1) if signed else 1 << width - 1, flags
    return n, flags


def total_order(x: Operand, y: Operand, of_magnitudes: bool) -> bool:
    """Of codes in two's complement, or without a sign, that of integers; of tables the values'."""
    if not isinstance(x.fmt, System):
        return floats.total_order(x, y, of_magnitudes)
    if isinstance(x.fmt, Listed):
        return listed_rank(x, of_magnitudes) <= listed_rank(y, of_magnitudes)

    def rank(z: Operand) -> int:
        n = z.code - (1 << z.fmt.width) if z.fmt.signed and z.code & z.fmt.nar else z.code
        return abs(n) if of_magnitudes else n

    return rank(x) <= rank(y)


def listed_rank(x: Operand, of_magnitude: bool) -> tuple:
    """What is no number lies above all: by its code, or as a magnitude at one place."""
    if of_magnitude:
        return x.cls == NAN, x.size
    return (x.cls == NAN, x.code) if x.cls == NAN else (False, x.value, -x.s)


def class_of(x: Operand) -> str:
    if not isinstance(x.fmt, System):
        return floats.class_of(x)
    if x.cls == NAN:
        return "quiet_nan"
    kind = {ZERO: "zero", FIN: "normal"}[x.cls]
    return f"{'negative' if x.s else 'positive'}_{kind}"


# --- Units ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slot:
    to: AnyFormat
    rm: str = "rne"


@dataclass(frozen=True)
class Unit:
    """mac: product and sum rounded each step; fma: the sum alone; kulisch: all at once by `sum`."""

    kind: str
    a: AnyFormat
    b: AnyFormat
    c: AnyFormat
    sum: Slot
    product: Slot | None = None
    final: Slot | None = None


def dot(u: Unit, a: Sequence[int], b: Sequence[int], c: int, seed: int, index: int) -> tuple:
    """(code, flags) of one output, the union of its roundings' flags (semantics, D9)."""
    pairs = [(operand(u.a, x), operand(u.b, y)) for x, y in zip(a, b, strict=True)]
    first = operand(u.c, c)
    run = exact_sum if u.kind == "kulisch" else running_sum
    code, flags = run(u, pairs, first, seed, index)
    if u.final:
        last = floats.as_it_is(operand(u.sum.to, code))
        code, raised = rounded(last, u.final, (seed, index, FINAL, 0))
        flags |= raised
    return code, flags


def rounded(z: Exact, slot: Slot, at: Place) -> tuple[int, int]:
    """The flags of a rounding alone: what an operation is invalid for, no rounding has seen."""
    return delivered(replace(z, flags=0), slot.to, How(slot.rm, seed=at[0]), at)


def running_sum(u: Unit, pairs: list, total: Operand, seed: int, index: int) -> tuple[int, int]:
    flags, code = 0, 0
    for step, (x, y) in enumerate(pairs):
        product = floats.multiply(x, y)
        if u.product:
            code, raised = rounded(product, u.product, (seed, index, PRODUCT, step))
            flags |= raised
            product = floats.as_it_is(operand(u.product.to, code))
        addend = Operand(total.fmt, 0, product.cls, product.s, product.size)
        code, raised = rounded(floats.add(addend, total), u.sum, (seed, index, OUT, step))
        flags |= raised
        total = operand(u.sum.to, code)
    return code, flags


def exact_sum(u: Unit, pairs: list, c: Operand, seed: int, index: int) -> tuple[int, int]:
    terms = [floats.multiply(x, y) for x, y in pairs] + [floats.as_it_is(c)]
    infinities = {t.s for t in terms if t.cls == INF}
    if any(t.cls == NAN for t in terms) or len(infinities) == 2:
        total = Exact(NAN)
    elif infinities:
        total = Exact(INF, infinities.pop())
    else:
        signs = {t.s for t in terms}
        exact = sum((-t.size if t.s else t.size for t in terms), Fraction(0))
        total = fraction(exact, signs.pop() if len(signs) == 1 else CANCELLED)
    return rounded(total, u.sum, (seed, index, OUT, 0))


def policy_of(text: str) -> AnyFormat:
    """Of any format's text, floats with their policies."""
    if found := parse(text):
        return found
    from dpu_ref import parse_format

    plain = re.sub(r";(daz|ftz|overflow=\w+)", "", text)
    said = text.split(";")
    overflow = next((x[9:] for x in said if x.startswith("overflow=")), "ieee")
    encoding: FloatFormat = parse_format(plain)
    return Policy(encoding, "daz" in said, "ftz" in said, overflow)
