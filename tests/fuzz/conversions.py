"""Numbers from outside to codes, and back: floats of NumPy's, integers, fractions, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import ml_dtypes
import numpy as np
import widthwise as ww
from arrays import SIZES, Work, differences, numbers, policy, run_by
from drawn import MANNERS, Draw, drawn_format, encoding
from elementwise_ref import How, fraction
from systems_ref import System, operand, result, single

FLOATS = {
    "binary64": np.float64,
    "binary32": np.float32,
    "binary16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}
INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
MOST_TEXTS = 60
MOST_BITS = 1500  # Python writes no integers of more than 4,300 digits in tens


def case(seed: str) -> Iterator[str]:
    draw = Draw(seed)
    draw.usual, draw.exp_bits = draw.one_in(2), draw.pick([4, 5, 8, 8, 11])
    work = draw.pick([from_floats] * 4 + [to_floats] * 2 + [from_integers, from_texts])(draw)
    return (yield from differences(draw, work))


def settings(draw: Draw, to: ww.Format) -> tuple[How, dict]:
    rm = draw.mode_of(to)
    told = How(rm, draw.pick(["after", "before"]), seed=draw.random.getrandbits(64))
    return told, {"rounding": rm, "tininess": told.tininess, "seed": told.seed}


def rounded_into(to: ww.Format, how: dict) -> Callable:
    """ww.array; +0 stands for NaN where the format has none, which raises a flag all the same."""
    return run_by(ww.array, format=to, nan=None if to.has_nan else "zero", **how)


def near(draw: Draw, f: ww.Format, to: ww.Format) -> ww.Array:
    """Numbers of f, many of which lie about the ends of another format."""
    end = encoding(to)
    target = draw.pick([0, end.emax, end.emin, end.emin - end.frac_bits])
    x = draw.array(f, (draw.pick(SIZES),), draw.pick([*MANNERS, "edge"]), target)
    if draw.one_in(3):  # the very numbers of the other format, and halfway between them
        exact = draw.array(to, x.shape, draw.pick(MANNERS), target)
        x.bits[:] = ww.convert(exact, f).bits
    return x


def from_floats(draw: Draw) -> Work:
    name, to = draw.pick(list(FLOATS)), drawn_format(draw)
    told, how = settings(draw, to)
    f = ww.Format(name)
    codes = near(draw, f, to)
    values = codes.bits.view(FLOATS[name])

    def ask(i: int) -> tuple[int, int]:
        return result("convert", policy(to), told, numbers([codes], i), i)

    return Work(f"ww.array of {name} to {to}, {how}", [values], rounded_into(to, how), ask)


def to_floats(draw: Draw) -> Work:
    """float64s are compared by their bits; a NaN is one whatever its bits."""
    f = drawn_format(draw)
    told, _ = settings(draw, f)
    told = How(told.rm if told.rm[:2] != "sr" else "odd")
    x = near(draw, f, ww.Format("binary64"))
    to = policy(ww.Format("binary64"))

    def run(arrays: list, flags: bool) -> tuple[np.ndarray, np.ndarray]:
        values = arrays[0].to_float64(rounding=told.rm)
        values = np.where(np.isnan(values), np.nan, values)
        return values.view(np.uint64), np.zeros(len(values), np.uint8)

    def ask(i: int) -> tuple[int, int]:
        return result("convert", to, told, numbers([x], i), i)[0], 0

    return Work(f"to_float64 of {f}, rounding {told.rm}", [x], run, ask)


def from_integers(draw: Draw) -> Work:
    dtype, to = np.dtype(draw.pick(INTEGERS)), drawn_format(draw)
    told, how = settings(draw, to)
    size, ends = draw.pick(SIZES), np.iinfo(dtype)
    n = draw.numpy.integers(ends.min, ends.max, size, dtype, endpoint=True)
    n >>= draw.numpy.integers(0, ends.bits, size).astype(dtype)
    n[draw.numpy.random(size) < 0.1] = draw.pick([ends.min, ends.max, 0, 1])

    def ask(i: int) -> tuple[int, int]:
        return single(fraction(Fraction(int(n[i]))), policy(to), told, i)

    return Work(f"ww.array of {dtype} to {to}, {how}", [n], rounded_into(to, how), ask)


def from_texts(draw: Draw) -> Work:
    """Fractions, and numbers written in tens, sixteens and powers of two."""
    to = drawn_format(draw)
    told, how = settings(draw, to)
    x = [value(draw, to) for _ in range(draw.between(1, MOST_TEXTS))]
    texts = np.array([spelt(draw, v) for v in x], dtype=object)

    def ask(i: int) -> tuple[int, int]:
        return single(fraction(x[i]), policy(to), told, i)

    return Work(f"ww.array of texts to {to}, {how}", [texts], rounded_into(to, how), ask)


def value(draw: Draw, to: ww.Format) -> Fraction:
    """A number of the format, a little more or less, or somewhere between two."""
    e = encoding(to)
    exponent = draw.between(e.emin, e.emax)
    is_float = not isinstance(e, System)
    code = draw.finite_code(e, exponent, 1) if is_float else draw.system_code(e, exponent, 1)
    x = operand(policy(to), code)
    step = draw.pick([Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1, 10**30)])
    off = step * Fraction(2) ** (draw.between(e.emin, e.emax) - e.frac_bits)
    return x.value + draw.pick([off, -off])


def spelt(draw: Draw, x: Fraction) -> str | Fraction:
    """As a fraction; where the denominator is a power of two in twos, sixteens and tens, too."""
    n, places = x.numerator, x.denominator.bit_length() - 1
    spellings = [x, f"{n:#x}/{x.denominator:#x}"]
    if x.denominator == 1 << places:
        spellings += [f"{n:#x}p-{places}"]
    if x.denominator == 1 << places and max(places, n.bit_length()) < MOST_BITS:
        spellings += [f"{n}p-{places}", f"{n * 5**places}e-{places}"]
    return draw.pick(spellings)
