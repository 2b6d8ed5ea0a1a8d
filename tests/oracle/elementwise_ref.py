"""Every operation on single codes, as an exact fraction that dpu_ref.py rounds, and its flags.

What standards leave open is read from docs/semantics.md. The flags are judged by the fraction: a
result that differs from it is inexact, one that a format with a longer exponent would have taken
past the largest number or below the least has overflowed or underflowed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

from dpu_ref import FIN, INF, NAN, ZERO, Format, Num, Round, decode, encode, quantise, settle

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16
CANCELLED = 2  # the sign of a zero that is the sum of opposites


@dataclass(frozen=True)
class Policy:
    """A format with what it does to subnormals and overflow (semantics, F4)."""

    fmt: Format
    daz: bool = False
    ftz: bool = False
    overflow: str = "ieee"


@dataclass(frozen=True)
class How:
    rm: str = "rne"
    tininess: str = "after"
    nan: str = "canonical"  # which NaN is delivered (semantics, N1)
    seed: int = 0


@dataclass(frozen=True)
class Operand:
    """A code with what it stands for: its class, sign and magnitude."""

    fmt: Format
    code: int
    cls: str
    s: int
    size: Fraction = Fraction(0)
    signalling: bool = False

    @property
    def value(self) -> Fraction:
        return -self.size if self.s else self.size


@dataclass(frozen=True)
class Exact:
    """A result before any rounding."""

    cls: str
    s: int = 0
    size: Fraction = Fraction(0)
    flags: int = 0


def operand(x: Policy, code: int) -> Operand:
    f, n = x.fmt, decode(x.fmt, code)
    if n.cls == FIN and x.daz and f.subnormals and n.m >> f.frac_bits == 0:
        return Operand(f, code, ZERO, n.s)
    quiet = code >> max(f.frac_bits - 1, 0) & 1
    signalling = n.cls == NAN and f.nan == "ieee" and f.frac_bits > 0 and not quiet
    return Operand(f, code, n.cls, code >> f.mag_bits, n.m * Fraction(2) ** n.q, signalling)


def fraction(value: Fraction, s_of_zero: int = 0) -> Exact:
    if value == 0:
        return Exact(ZERO, s_of_zero)
    return Exact(FIN, int(value < 0), abs(value))


# --- The operations -------------------------------------------------------------------------------


def add(x: Operand, y: Operand) -> Exact:
    if NAN in (x.cls, y.cls):
        return Exact(NAN)
    if x.cls == y.cls == INF and x.s != y.s:
        return Exact(NAN, flags=NV)
    if INF in (x.cls, y.cls):
        return Exact(INF, x.s if x.cls == INF else y.s)
    both_zero_alike = x.cls == y.cls == ZERO and x.s == y.s
    return fraction(x.value + y.value, x.s if both_zero_alike else CANCELLED)


def negated(x: Operand) -> Operand:
    return replace(x, s=1 - x.s)


def multiply(x: Operand, y: Operand) -> Exact:
    s, classes = x.s ^ y.s, {x.cls, y.cls}
    if NAN in classes:
        return Exact(NAN)
    if classes == {INF, ZERO}:
        return Exact(NAN, flags=NV)
    return Exact(INF, s) if INF in classes else fraction(x.value * y.value, s)


def fma(x: Operand, y: Operand, z: Operand) -> Exact:
    """0 times infinity is invalid even beside a NaN (semantics, N3)."""
    p = multiply(x, y)
    total = add(Operand(x.fmt, 0, p.cls, p.s, p.size), z)
    return replace(total, flags=total.flags | p.flags)


def divide(x: Operand, y: Operand) -> Exact:
    s = x.s ^ y.s
    if NAN in (x.cls, y.cls):
        return Exact(NAN)
    if x.cls == y.cls and x.cls != FIN:
        return Exact(NAN, flags=NV)
    if x.cls == INF or y.cls == ZERO:
        return Exact(INF, s, flags=0 if x.cls == INF else DZ)
    return Exact(ZERO, s) if y.cls == INF else fraction(x.value / y.value, s)


def remainder(x: Operand, y: Operand) -> Exact:
    if NAN in (x.cls, y.cls):
        return Exact(NAN)
    if x.cls == INF or y.cls == ZERO:
        return Exact(NAN, flags=NV)
    if y.cls == INF:
        return fraction(x.value, x.s)
    return fraction(x.value - y.value * round(x.value / y.value), x.s)


def sqrt(x: Operand) -> Exact:
    """A root that is no fraction stands cut far below its last digit, with a sticky one there."""
    if x.cls in (FIN, INF) and x.s:
        return Exact(NAN, flags=NV)
    if x.cls != FIN:
        return as_it_is(x)
    return Exact(FIN, 0, root(x.size))


ROOT_DIGITS = 400  # more than any format here has, and random bits


def root(x: Fraction) -> Fraction:
    places = ROOT_DIGITS + x.denominator.bit_length() // 2
    scaled = (x.numerator << 2 * places) // x.denominator
    whole = isqrt(scaled)
    if Fraction(whole, 1 << places) ** 2 == x:
        return Fraction(whole, 1 << places)
    return Fraction(2 * whole + 1, 2 << places)


def as_it_is(x: Operand) -> Exact:
    return Exact(x.cls, x.s, x.size)


def logb(x: Operand) -> Exact:
    if x.cls == ZERO:
        return Exact(INF, 1, flags=DZ)
    return fraction(Fraction(exponent(x.size))) if x.cls == FIN else replace(as_it_is(x), s=0)


def exponent(x: Fraction) -> int:
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def chosen(least: bool, nan_wins: bool, signalling_wins: bool) -> Callable[..., Exact]:
    """A minimum or maximum; -0 is less than +0 (semantics, E3)."""

    def choose(x: Operand, y: Operand) -> Exact:
        nans = [n for n in (x, y) if n.cls == NAN]
        wins = nan_wins or (signalling_wins and any(n.signalling for n in nans))
        if len(nans) == 2 or (nans and wins):
            return Exact(NAN)
        if nans:
            return as_it_is(y if x.cls == NAN else x)
        return as_it_is(x if (order(x) <= order(y)) == least else y)

    return choose


def order(x: Operand) -> tuple[int, Fraction, int]:
    """A key that sorts numbers, infinities at the ends, -0 before +0."""
    return ((-1) ** x.s if x.cls == INF else 0, x.value if x.cls == FIN else Fraction(0), -x.s)


EXACT: dict[str, Callable[..., Exact]] = {
    "add": add,
    "subtract": lambda x, y: add(x, y if y.cls == NAN else negated(y)),
    "multiply": multiply,
    "divide": divide,
    "remainder": remainder,
    "fma": fma,
    "sqrt": sqrt,
    "convert": as_it_is,
    "logb": logb,
    "minimum": chosen(True, True, True),
    "maximum": chosen(False, True, True),
    "minimum_number": chosen(True, False, False),
    "maximum_number": chosen(False, False, False),
    "min_num": chosen(True, False, True),
    "max_num": chosen(False, False, True),
    "min_x86": as_it_is,  # `chosen_by_x86` does it
    "max_x86": as_it_is,
}


# --- From an exact result to a code and flags -----------------------------------------------------


def result(op: str, to: Policy, how: How, operands: Sequence[Operand], place: int) -> tuple:
    """(code, flags) of an operation that rounds, for the element at `place` of an array."""
    if op in ("min_x86", "max_x86"):
        return chosen_by_x86(op == "min_x86", to, how, operands, place)
    gives_way = op == "fma" and how.nan == "x86" and operands[2].cls == NAN  # semantics, N3
    z = Exact(NAN) if gives_way else EXACT[op](*operands)
    signalling = NV if any(x.signalling for x in operands) else 0
    first_nan = next((x for x in operands if x.cls == NAN), None)
    given = first_nan if z.cls == NAN and not z.flags else None  # else one is made
    code, flags = delivered(replace(z, flags=z.flags | signalling), to, how, place)
    return with_nan(code, given, to.fmt, how), flags


def chosen_by_x86(least: bool, to: Policy, how: How, operands: Sequence[Operand], place: int):
    """MINSS or MAXSS: the second unless the first is beyond it; codes stay as they are (E3)."""
    x, y = operands
    unordered = NAN in (x.cls, y.cls)
    beyond = not unordered and (
        order(x)[:2] < order(y)[:2] if least else order(x)[:2] > order(y)[:2]
    )
    z, flags = (x if beyond else y), NV if unordered else 0
    if z.fmt == to.fmt and z.cls in (FIN, NAN):
        return z.code, flags
    code, raised = delivered(replace(as_it_is(z), flags=flags), to, how, place)
    return with_nan(code, z if z.cls == NAN else None, to.fmt, how), raised


def with_nan(code: int, given: Operand | None, f: Format, how: How) -> int:
    """A code; for the canonical NaN what is wanted: an operand's, or one that is made (N1)."""
    if code != f.nan_code:
        return code
    if given and how.nan in ("propagate", "x86"):
        return carried(given, f)
    signed = f.signed and f.nan != "negative_zero"
    return code | 1 << f.mag_bits if signed and how.nan in ("negative", "x86") else code


def carried(nan: Operand, to: Format) -> int:
    """A NaN in another format: its sign bit, and the leading digits of its fraction (N1)."""
    code = to.nan_code or 0
    if to.nan in ("none", "negative_zero") or to.nan_code is None:
        return code
    if to.signed and nan.s:
        code |= 1 << to.mag_bits
    if to.nan == "ieee":
        fraction = nan.code & (1 << nan.fmt.frac_bits) - 1
        code |= fraction << to.frac_bits >> nan.fmt.frac_bits
    return code


def delivered(z: Exact, to: Policy, how: How, place: int) -> tuple:
    f = to.fmt
    if z.cls == NAN:
        return f.nan_code or 0, z.flags | (NV if f.nan_code is None else 0)
    if z.cls == ZERO:
        return settled(f, z, how)
    if z.s and not f.signed:
        return below_zero(z, to, how, place) or (f.nan_code or 0, z.flags | NV)
    if z.cls == INF:
        code = encode(f, settle(f, Num(INF, z.s), to.overflow))
        stays = f.inf_mag is not None and to.overflow != "satfinite"
        return code, z.flags | (0 if stays else OF | NX)
    return finite(z, to, how, place)


def below_zero(z: Exact, to: Policy, how: How, place: int) -> tuple | None:
    """Where there is no sign, only what rounds to zero is delivered."""
    twin = replace(to, fmt=replace(to.fmt, signed=True))
    code, flags = delivered(z, twin, how, place)
    return (0, flags) if decode(twin.fmt, code).cls == ZERO else None


def settled(f: Format, z: Exact, how: How) -> tuple:
    """A zero, whose sign hangs on how it came about; formats without one deliver something else."""
    minus = z.s == 1 or (z.s == CANCELLED and how.rm == "rdn")
    return encode(f, Num(ZERO, int(minus))), z.flags | (0 if f.zero else NV)


def rounded(f: Format, overflow: str, z: Exact, how: How, place: int) -> Num:
    x = -z.size if z.s else z.size
    return decode(f, quantise(Round(f, how.rm, overflow=overflow), x, how.seed, place))


def size_of(n: Num) -> Fraction:
    return n.m * Fraction(2) ** n.q


def finite(z: Exact, to: Policy, how: How, place: int) -> tuple:
    f = to.fmt
    code = quantise(
        Round(f, how.rm, overflow=to.overflow), -z.size if z.s else z.size, how.seed, place
    )
    n, flags = decode(f, code), z.flags
    if past_the_end(z, f, how, place):
        return code, flags | OF | NX
    if n.cls not in (FIN, ZERO):
        raise AssertionError(f"{z} in {f} became {n}, and that is no overflow")
    inexact = size_of(n) != z.size
    is_tiny = tiny(z, n, f, how, place)
    if inexact:
        flags |= NX | (UF if is_tiny else 0)
    if to.ftz and not f.all_normal and n.cls == FIN and is_tiny:
        return encode(f, Num(ZERO, z.s)), flags | NX | UF
    return code, flags


def longer(f: Format, below: int) -> Format:
    """As precise, with far more exponents: above, and below if wanted."""
    bits = f.exp_bits + 2
    return Format(bits, f.frac_bits, f.bias + below, subnormals=f.subnormals, zero=f.zero)


def past_the_end(z: Exact, f: Format, how: How, place: int) -> bool:
    """Whether the rounded number lies past the largest, were there numbers past it."""
    if z.size >= 2 * size_of(f.finite(f.max_mag)):
        return True
    return size_of(rounded(longer(f, 0), "ieee", z, how, place)) > size_of(f.finite(f.max_mag))


def tiny(z: Exact, n: Num, f: Format, how: How, place: int) -> bool:
    """Below the least normal number: before or after rounding, or as n is delivered (R3)."""
    least = f.finite(f.min_mag) if f.all_normal else f.finite(1 << f.frac_bits)
    if how.tininess == "delivered":
        return z.size < size_of(least) and size_of(n) < size_of(least)
    if z.size >= size_of(least) or how.tininess == "before":
        return z.size < size_of(least)
    if z.size * 2 < size_of(least):
        return True
    return size_of(rounded(longer(f, 1 << f.exp_bits), "ieee", z, how, place)) < size_of(least)


# --- Operations that round to integers, or not at all ---------------------------------------------


def whole(x: Fraction, how: How, place: int) -> int:
    """The integer that a fraction below 2^70 rounds to, by a format whose last digit is 1."""
    if x.denominator == 1:
        return x.numerator
    grid = Format(8, 80, bias=1 - 80)  # emin is 80: its subnormals end at 2^0
    n = decode(grid, quantise(Round(grid, how.rm), x, how.seed, place))
    return int(size_of(n)) * (-1) ** n.s


def to_integer(width: int, signed: bool, how: How, x: Operand, place: int) -> tuple[int, int]:
    """RISC-V's answers where there is none (semantics, E6)."""
    least, most = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    if x.cls == NAN:
        return most, NV
    if x.cls == INF or x.size >= 1 << 66:
        return (least if x.s else most), NV
    n = whole(x.value, how, place)
    if not least <= n <= most:
        return (least if n < 0 else most), NV
    return n, 0 if n == x.value else NX


def round_to_integral(to: Policy, how: How, tells: bool, x: Operand, place: int) -> tuple[int, int]:
    """An integer first, then a number of the result's format (semantics, E5)."""
    z = as_it_is(x)
    if x.cls == FIN and x.size < 1 << 66:
        n = whole(x.value, how, place)
        z = fraction(Fraction(n), x.s)
        z = replace(z, flags=NX if tells and n != x.value else 0)
    if x.signalling:
        z = replace(z, flags=NV)
    code, flags = delivered(z, to, how, place)
    return with_nan(code, x if x.cls == NAN else None, to.fmt, how), flags


def scaled(to: Policy, how: How, x: Operand, power: int, place: int) -> tuple[int, int]:
    """scaleb; powers past every format are brought to where they still are."""
    near = max(min(power, 1 << 14), -(1 << 14))
    z = replace(as_it_is(x), size=x.size * Fraction(2) ** near, flags=NV if x.signalling else 0)
    code, flags = delivered(z, to, how, place)
    return with_nan(code, x if x.cls == NAN else None, to.fmt, how), flags


def compared(how: str, x: Operand, y: Operand) -> tuple[bool, int]:
    quiet = not how.endswith("_signaling")
    holds = {"equal": operator.eq, "less": operator.lt, "less_equal": operator.le}
    holds |= {"greater": operator.gt, "greater_equal": operator.ge, "not_equal": operator.ne}
    unordered = NAN in (x.cls, y.cls)
    flags = NV if unordered and (not quiet or x.signalling or y.signalling) else 0
    how = how.removesuffix("_signaling")
    if unordered or how == "unordered":
        return unordered and how in ("unordered", "not_equal"), flags
    return holds[how](order(x)[:2], order(y)[:2]), flags


def total_order(x: Operand, y: Operand, of_magnitudes: bool) -> bool:
    """Codes as integers with a sign; a NaN that is the code of -0 stands above all (E8)."""

    def rank(z: Operand) -> int:
        if z.cls == NAN and z.fmt.nan == "negative_zero":
            return 1 << z.fmt.mag_bits
        mag = z.code & z.fmt.ones
        return -1 - mag if z.code > mag and not of_magnitudes else mag

    return rank(x) <= rank(y)


def class_of(x: Operand) -> str:
    if x.cls == NAN:
        return "signaling_nan" if x.signalling else "quiet_nan"
    small = x.cls == FIN and not x.fmt.all_normal and x.code & x.fmt.ones < 1 << x.fmt.frac_bits
    kind = {ZERO: "zero", INF: "infinity", FIN: "subnormal" if small else "normal"}[x.cls]
    return ("negative_" if x.s else "positive_") + kind


def neighbour(x: Operand, up: bool) -> tuple[int, int]:
    """The code beside x, itself at the end (semantics, E9)."""
    f = x.fmt
    if x.cls == NAN:
        return (f.nan_code, NV if x.signalling else 0)
    top = f.max_mag if f.inf_mag is None else f.inf_mag
    mag = x.code & f.ones
    if bool(x.s) != up or x.cls == ZERO:  # away from zero
        if x.cls == ZERO and not f.signed and not up:
            return x.code, 0
        sign = 0 if up else f.signed << f.mag_bits
        return sign | min(mag + 1, top), 0
    if mag > f.min_mag:
        return x.s << f.mag_bits | mag - 1, 0
    if f.zero:
        return encode(f, Num(ZERO, x.s)), 0
    return ((1 - x.s) << f.mag_bits if f.signed else x.code), 0


def with_sign(x: Operand, s: int) -> int:
    """The code of x with another sign, NaN too; what has no such sign is NaN, else +0."""
    f = x.fmt
    if f.nan == "negative_zero" and x.cls in (ZERO, NAN):
        return x.code
    if f.signed:
        return x.code & f.ones | s << f.mag_bits
    return (f.nan_code or 0) if s and x.cls in (FIN, INF) else x.code
