"""Fixed point, posits and takums on drawn cases, all pairs and all codes, against the page.

What is drawn is that of tests/fuzz/systems.py: 5,000 elements and outputs in each run, 200,000 with
--long. Each run has all pairs to 4 bits, in turn one of three formats of 8 bits in two modes, and
of two formats of 16 bits each fifth code and the ends, to nearest even; --long has all pairs to 8
bits in every mode, and all codes of sixteen formats of 16 bits: of those two in every mode, of the
others in two.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from turns import LONG, in_turn

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "fuzz"), str(TESTS / "oracle")]
import elementwise_ref  # noqa: E402
import systems  # noqa: E402
import systems_ref  # noqa: E402
from elementwise_ref import EXACT, How  # noqa: E402
from fuzz.__main__ import run  # noqa: E402

MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
RULES = ["saturate", "symmetric", "zero", "wrap", "wrap_sm", "keep_sign"]
DRAWS = 200_000 if LONG else 5_000


def test_drawn_cases_are_the_pages():
    draws = number = 0
    while draws < DRAWS:
        compared, faults = run(systems.case, f"systems 50 {number}")
        assert not faults
        draws, number = draws + compared, number + 1


# --- All pairs ------------------------------------------------------------------------------------


def fixed_formats(width: int) -> Iterator[str]:
    """Every overflow rule; a sum's digits hang on no point, a product's do."""
    for sign, rule in itertools.product(("", "u"), RULES):
        if not (sign and rule == "wrap_sm"):
            for fraction in (0, width // 2, width + 1):
                yield f"{sign}fixed{width}.{fraction};overflow={rule}"


def formats_of(width: int) -> list[str]:
    posits = [f"posit{width}es{es}" for es in range(5)] + [f"takum{width}"]
    return [*fixed_formats(width), *(posits if width >= 3 else [])]


# What runs have of 8 bits, in turn.
EIGHT = ["posit8es2", "fixed8.4;overflow=saturate", "ufixed8.4;overflow=wrap"]
WIDTHS = range(1, 9) if LONG else range(1, 5)
PAIRED = [(text, MODES) for width in WIDTHS for text in formats_of(width)]
PAIRED += [] if LONG else [(text, ["rne", "odd"]) for text in in_turn(EIGHT, 3)]
OPERATIONS = ["add", "subtract", "multiply", "divide"]


def encoding(text: str) -> systems_ref.System:
    found = systems_ref.parse(text.replace(";overflow=saturate", ""))
    assert found, text
    return found


@cache
def numbers(of_codes: str) -> list[systems_ref.Operand]:
    f = encoding(of_codes)
    return [systems_ref.operand(f, code) for code in range(1 << f.width)]


@cache
def exact_results(of_codes: str, op: str) -> tuple[list[systems_ref.Exact], np.ndarray]:
    """The different exact results of all pairs, and which of them each pair has."""
    found: dict[tuple, int] = {}
    different, which = [], []
    for x, y in itertools.product(numbers(of_codes), repeat=2):
        z = EXACT[op](x, y)
        sign = z.s if z.size or z.cls == "inf" else 0  # no system here has a sign of zero
        key = (z.cls, sign, z.size.numerator, z.size.denominator, z.flags)
        if key not in found:
            found[key] = len(found)
            different.append(z)
        which.append(found[key])
    return different, np.array(which)


def codes_of(text: str) -> str:
    """A format of the same codes and numbers, whatever becomes of overflow."""
    return text.split(";")[0]


@pytest.mark.parametrize(("text", "modes"), PAIRED, ids=lambda x: x if isinstance(x, str) else "")
def test_all_pairs_are_the_pages(text, modes):
    f, to = ww.Format(text), encoding(text)
    codes = np.arange(1 << f.width, dtype=f.dtype)
    a, b = (ww.from_bits(x, f) for x in (np.repeat(codes, len(codes)), np.tile(codes, len(codes))))
    for op, mode in itertools.product(OPERATIONS, modes):
        different, which = exact_results(codes_of(text), op)
        want = np.array([systems_ref.single(z, to, How(mode), 0) for z in different])[which]
        got, flags = getattr(ww, op)(a, b, rounding=mode, flags=True)
        wrong = np.flatnonzero((want[:, 0] != got.bits) | (want[:, 1] != flags))
        assert not len(wrong), (op, mode, a.bits[wrong[0]], b.bits[wrong[0]], want[wrong[0]])


# --- All codes of 16 bits -------------------------------------------------------------------------

SIXTEEN = ["posit16es2", "fixed16.8"]
if LONG:
    SIXTEEN += [f"posit16es{es}" for es in (0, 1, 3, 4)] + ["takum16", "int16", "fixed16.20"]
    SIXTEEN += [f"fixed16.5;overflow={rule}" for rule in RULES[1:]] + ["ufixed16.8", "fixed16.-3"]
TARGETS = ["binary16", "posit8es2", "fixed8.4"]
FIRST = SIXTEEN[:2], TARGETS[:]
if LONG:
    TARGETS += ["bfloat16", "e4m3fn", "e8m0fnu", "binary32", "posit16es1", "posit32es2", "takum16"]
    TARGETS += ["takum8", "int8", "uint8", "fixed16.12;overflow=wrap", "fixed12.3;overflow=wrap_sm"]


CONVERSIONS = [(text, to) for text in SIXTEEN for to in (TARGETS if text in FIRST[0] else FIRST[1])]


def modes_of(text: str, to: str = FIRST[1][0]) -> list[str]:
    """With --long all of the first formats and targets, of others one besides nearest even."""
    if not LONG:
        return ["rne"]
    if text in FIRST[0] and to in FIRST[1]:
        return MODES
    return ["rne", MODES[1 + (SIXTEEN.index(text) + TARGETS.index(to)) % 10]]


def every_code(text: str) -> ww.Array:
    return ww.from_bits(np.arange(65536, dtype=np.uint16), text)


ENDS = {0, 0x4000, 0x7FFF, 0x8000, 0xC000, 0xFFFF}  # zero, one, the largest and NaR or the least
NEAR_ENDS = {(end + step) % 65536 for end in ENDS for step in (-1, 0, 1)}
TAKEN = sorted({*in_turn(range(65536), 5), *NEAR_ENDS})


def taken_codes(text: str) -> tuple[ww.Array, list[systems_ref.Operand]]:
    """All codes of a format with --long, or some and the ends, and what they are."""
    return every_code(text)[TAKEN], [numbers(text)[code] for code in TAKEN]


def compared(ours: tuple[ww.Array, np.ndarray], want: list[tuple[int, int]]) -> None:
    z, flags = ours
    due = np.array(want, dtype=np.uint64)
    wrong = np.flatnonzero((due[:, 0] != z.bits) | (due[:, 1] != flags))
    assert not len(wrong), [
        (int(i), hex(int(z.bits[i])), int(flags[i]), want[i]) for i in wrong[:3]
    ]


@pytest.mark.parametrize("text", SIXTEEN)
def test_all_codes_in_unary_operations_are_the_pages(text, monkeypatch):
    monkeypatch.setattr(elementwise_ref, "ROOT_DIGITS", 80)  # enough for results of 16 bits
    x, given = taken_codes(text)
    to = encoding(text)
    for mode in modes_of(text):
        how = How(mode)
        due = [systems_ref.result("sqrt", to, how, [v], 0) for v in given]
        compared(ww.sqrt(x, rounding=mode, flags=True), due)
        due = [systems_ref.round_to_integral(to, how, True, v, 0) for v in given]
        compared(ww.round_to_integral(x, rounding=mode, exact=True, flags=True), due)
    compared(ww.next_up(x, flags=True), [systems_ref.neighbour(v, True) for v in given])
    compared(ww.next_down(x, flags=True), [systems_ref.neighbour(v, False) for v in given])
    compared(ww.abs(x, flags=True), [systems_ref.with_sign(v, 0) for v in given])
    compared(ww.negate(x, flags=True), [systems_ref.with_sign(v, 1 - v.s) for v in given])


@pytest.mark.parametrize(("text", "to"), CONVERSIONS)
def test_all_codes_in_conversions_are_the_pages(text, to):
    x, given = taken_codes(text)
    target = systems_ref.policy_of(to)
    for mode in modes_of(text, to):
        due = [systems_ref.result("convert", target, How(mode), [v], 0) for v in given]
        compared(ww.convert(x, to, rounding=mode, flags=True), due)


@pytest.mark.parametrize("text", SIXTEEN)
def test_all_codes_are_their_numbers(text):
    x = every_code(text)
    nar = ww.isnan(x)
    assert nar.tolist() == [v.cls == "nan" for v in numbers(text)]
    given = [v.value for v in numbers(text) if v.cls != "nan"]
    assert x[~nar].astype(object).tolist() == given


def test_there_are_pairs_of_every_system():
    assert {encoding(text).kind for text, _ in PAIRED} == {"fixed", "posit", "takum"}
