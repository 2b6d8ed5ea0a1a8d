"""Fixed point, posits and takums against the executable form of their specification."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import number_systems_ref as page  # noqa: E402

MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
RULES = ["saturate", "symmetric", "zero", "wrap", "wrap_sm", "keep_sign"]
POSITS = [(3, 0), (3, 4), (4, 1), (5, 2), (7, 3), (8, 0), (8, 1), (8, 2), (16, 2), (32, 2), (64, 2)]
TAKUMS = [3, 5, 8, 11, 12, 13, 16, 32, 64]
SPECIALS = [0.0, -0.0, math.inf, -math.inf]


def drawn(count: int, seed: int = 1) -> list[float]:
    """Numbers about 1, far from it and on grids, with the specials."""
    rng = random.Random(seed)
    near = [
        s * rng.uniform(0.5, 1) * 2.0 ** rng.randint(-12, 12) for s in (1, -1) for _ in range(count)
    ]
    far = [
        s * 2.0 ** rng.randint(-300, 300) * rng.choice([1, 1.5, 1.25])
        for s in (1, -1)
        for _ in range(count // 4)
    ]
    return SPECIALS + near + far + [k / 32 for k in range(-320, 320, 9)]


def converted(x: list[float], format: str, **how: Any) -> list[tuple[int, int]]:
    z, flags = ww.convert(ww.array(x, "binary64"), format, flags=True, **how)
    return list(zip(codes(z), flags.tolist(), strict=True))


def codes(z: ww.Array) -> list[int]:
    return [int(code) for code in np.atleast_1d(z.bits).tolist()]


def every_pair(format: str) -> tuple[ww.Array, ww.Array]:
    width = ww.Format(format).width
    all_codes = np.arange(1 << width, dtype=np.uint8)
    a, b = np.repeat(all_codes, 1 << width), np.tile(all_codes, 1 << width)
    return ww.from_bits(a, format), ww.from_bits(b, format)


def fixed_texts(width: int, fraction: int) -> Iterator[str]:
    for sign, rule in itertools.product(("", "u"), RULES):
        if sign and rule == "wrap_sm":
            continue
        yield f"{sign}fixed{width}.{fraction};overflow={rule}"


def in_bits(n: int, width: int) -> int:
    return n & ((1 << width) - 1)


# --- Conversions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "fraction"), [(8, 4), (4, -2), (4, 6), (1, 0), (16, 8), (24, 30)]
)
def test_fixed_point_rounds_and_overflows_as_the_page_says(width, fraction):
    x = drawn(15)
    for text, mode in itertools.product(fixed_texts(width, fraction), MODES):
        for value, got in zip(x, converted(x, text, rounding=mode), strict=True):
            want = in_bits(page.fixed_code(text, value, mode), width)
            assert got == (want, page.fixed_flags(text, value, mode)), (text, mode, value)


@pytest.mark.parametrize(("width", "es"), POSITS)
def test_posits_round_on_their_pattern(width, es):
    x = drawn(20)
    for mode in MODES:
        for value, got in zip(x, converted(x, f"posit{width}es{es}", rounding=mode), strict=True):
            want = page.posit(width, es, value, mode), page.posit_flags(width, es, value, mode)
            assert got == want, (mode, value)


@pytest.mark.parametrize("width", TAKUMS)
def test_takums_round_on_their_pattern(width):
    ends = [s * 2.0**e for e in (-256, -255, -254, 253, 254, 255) for s in (1, -1)]
    x = drawn(20) + ends
    for mode in MODES:
        for value, got in zip(x, converted(x, f"takum{width}", rounding=mode), strict=True):
            want = page.takum(width, value, mode), takum_flags(width, value, mode)
            assert got == want, (mode, value)


def takum_flags(width: int, x: float, mode: str) -> int:
    """As posits raise them: past an end, or rounded."""
    if math.isinf(x):
        return page.NV
    if x == 0:
        return 0
    ends = page.takum_value(width, 1), page.takum_value(width, (1 << width - 1) - 1)
    if abs(Fraction(x)) > ends[1]:
        return page.OF | page.NX
    if abs(Fraction(x)) < ends[0]:
        return page.UF | page.NX
    rounded = page.takum_value(width, page.takum(width, x, mode))
    return 0 if rounded == Fraction(x) else page.NX


@pytest.mark.parametrize("text", ["fixed8.4", "fixed8.4;overflow=wrap", "posit8es2", "posit16es1"])
def test_random_bits_are_added_to_the_dropped_ones_of_the_magnitude(text):
    x = drawn(20)
    f = ww.Format(text)
    for bits in range(8):
        got = converted(x, text, rounding="sr3", random=np.full(len(x), bits, np.uint64))
        for value, (code, _) in zip(x, got, strict=True):
            if f.system == "fixed":
                want = in_bits(page.fixed_code(text, value, "sr", bits=3, rand=bits), f.width)
            else:
                want = page.posit(f.width, f.exponent_bits, value, "sr", 3, bits)
            assert code == want, (value, bits)


@pytest.mark.parametrize("text", ["posit8es2", "posit16es2", "takum16", "fixed16.5", "ufixed8.-3"])
def test_every_code_stands_for_the_pages_number(text):
    f = ww.Format(text)
    x = ww.from_bits(np.arange(1 << f.width, dtype=f.dtype), f)
    for code, got in enumerate(x.to_float64().tolist()):
        want = value_of(f, code)
        assert math.isnan(got) if want == page.NAR else Fraction(got) == want, hex(code)


def value_of(f: ww.Format, code: int) -> Any:
    if f.system == "posit":
        return page.posit_value(f.width, f.exponent_bits, code)
    if f.system == "takum":
        return page.takum_value(f.width, code)
    n = code - (f.signed << f.width) if f.signed and code >> f.width - 1 else code
    return n * Fraction(2) ** -f.fraction_bits


# --- Operations -----------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": ww.add, "-": ww.subtract, "*": ww.multiply, "/": ww.divide,
}  # fmt: skip


@pytest.mark.parametrize(("width", "es"), [(3, 0), (5, 1), (6, 2)])
def test_all_pairs_of_small_posits(width, es):
    text = f"posit{width}es{es}"
    a, b = every_pair(text)
    for (name, operation), mode in itertools.product(OPERATIONS.items(), ["rne", "rup", "odd"]):
        z, flags = operation(a, b, rounding=mode, flags=True)
        for x, y, got, raised in zip(codes(a), codes(b), codes(z), flags.tolist(), strict=True):
            want = page.posit_op(width, es, name, x, y, mode)
            assert (got, raised) == (want, page.posit_op_flags(width, es, name, x, y, mode)), (x, y)


@pytest.mark.parametrize(("width", "fraction"), [(4, 2), (5, 0)])
def test_all_pairs_of_small_fixed_point(width, fraction):
    for text in fixed_texts(width, fraction):
        f = ww.Format(text)
        a, b = every_pair(text)
        for (name, operation), mode in itertools.product(OPERATIONS.items(), ["rne", "rdn", "rna"]):
            z, flags = operation(a, b, rounding=mode, flags=True)
            for x, y, *got in zip(codes(a), codes(b), codes(z), flags.tolist(), strict=True):
                exact = exact_result(name, value_of(f, x), value_of(f, y))
                if exact is None:
                    continue
                want = in_bits(page.fixed_code(text, exact, mode), width)
                assert got == [want, page.fixed_flags(text, exact, mode)], (text, name, x, y)


def exact_result(name: str, x: Fraction, y: Fraction) -> Fraction | None:
    if name == "/":
        return x / y if y else None
    return {"+": x + y, "-": x - y, "*": x * y}[name]


def test_a_wrapped_product_keeps_its_low_digits_at_any_width():
    for width in (24, 32, 48, 64):
        text = f"fixed{width}.{width // 2};overflow=wrap"
        rng = random.Random(width)
        a, b = ([rng.getrandbits(width) for _ in range(200)] for _ in range(2))
        f = ww.Format(text)
        x, y = (ww.from_bits(np.array(v, np.uint64).astype(f.dtype), f) for v in (a, b))
        z = ww.multiply(x, y, rounding="rdn")
        for p, q, got in zip(a, b, codes(z), strict=True):
            exact = value_of(f, p) * value_of(f, q)
            assert got == in_bits(page.fixed_code(text, exact, "rdn"), width)


def test_numbers_of_any_length_wrap():
    for number in (10**50 + 3, -(10**400) - 1, Fraction(10**60 + 1, 16), Fraction(-(10**70), 3)):
        for rule in ("wrap", "wrap_sm", "keep_sign"):
            text = f"fixed12.4;overflow={rule}"
            want = in_bits(page.fixed_code(text, Fraction(number), "rdn"), 12)
            assert codes(ww.array(number, text, rounding="rdn")) == [want], (number, rule)


@pytest.mark.parametrize(("width", "es"), [(6, 0), (8, 2)])
def test_unary_operations_of_posits(width, es):
    f = ww.Format.posit(width, es)
    x = ww.from_bits(np.arange(1 << width, dtype=np.uint8), f)
    nar = 1 << width - 1
    assert codes(ww.sqrt(x)) == [page.posit_sqrt(width, es, code) for code in range(1 << width)]
    assert codes(-x) == [in_bits(-code, width) for code in range(1 << width)]
    assert codes(abs(x)) == [
        code if code <= nar else in_bits(-code, width) for code in range(1 << width)
    ]
    assert codes(ww.next_up(x)) == [in_bits(code + 1, width) for code in range(1 << width)]
    assert codes(ww.next_down(x)) == [in_bits(code - 1, width) for code in range(1 << width)]


def test_posits_order_as_integers_and_nar_equals_itself():
    a, b = every_pair("posit6es1")
    for x, y, less, equal in zip(
        codes(a), codes(b), (a < b).tolist(), (a == b).tolist(), strict=True
    ):
        assert less == (page.posit_order(6, x) < page.posit_order(6, y))
        assert equal == (x == y)


def test_fused_multiply_add_of_posits():
    rng = random.Random(7)
    triples = [[rng.getrandbits(8) for _ in range(400)] for _ in range(3)]
    a, b, c = (ww.from_bits(np.array(x, np.uint8), "posit8es2") for x in triples)
    want = [page.posit_fma(8, 2, *operands) for operands in zip(*triples, strict=True)]
    assert codes(ww.fma(a, b, c)) == want


def test_fixed_point_has_no_mirror_of_its_least_number():
    least = ww.from_bits(0x80, "fixed8.4")
    assert codes(-least) == [0x7F]
    z, flags = ww.abs(least, flags=True)
    assert codes(z) == [0x7F] and int(flags) == page.OF | page.NX
    assert codes(-ww.from_bits(0x80, "fixed8.4;overflow=wrap")) == [0x80]
    assert codes(ww.next_up(ww.from_bits(0x7F, "int8"))) == [0x7F]


# --- Lines of the specification, with this package behind their names ----------------------------


def rounded_to(text: str, x: Any, rounding: str, bits: int, rand: int) -> int:
    how: dict[str, Any] = {"rounding": rounding}
    if rounding == "sr":
        how = {"rounding": f"sr{bits}", "random": np.array(rand, np.uint64)}
    nan = None if ww.Format(text).has_nan else "zero"
    return codes(ww.array(x, text, nan=nan, **how))[0]


def fixed_code(text, x, rounding="rne", overflow=None, bits=0, rand=0):
    f = ww.Format(f"{text};overflow={overflow}" if overflow else text)
    code = rounded_to(str(f), x, rounding, bits, rand)
    return code - (f.signed << f.width) if f.signed and code >> f.width - 1 else code


def fixed(text, *how):
    return fixed_code(text, *how) * Fraction(2) ** -ww.Format(text).fraction_bits


def fixed_flags(text, x):
    return int(ww.array(x, text, nan="zero", flags=True)[1])


def posit(n, es, x, rounding="rne", bits=0, rand=0):
    return rounded_to(f"posit{n}es{es}", x, rounding, bits, rand)


def posit_flags(n, es, x):
    return int(ww.array(x, f"posit{n}es{es}", flags=True)[1])


def posits(n, es, *given):
    f = ww.Format.posit(n, es)
    return [ww.from_bits(np.array(code, f.dtype), f) for code in given]


def posit_op_flags(n, es, op, a, b):
    return int(OPERATIONS[op](*posits(n, es, a, b), flags=True)[1])


def takum(n, x, rounding="rne"):
    return rounded_to(f"takum{n}", x, rounding, 0, 0)


def posit_dot(n, es, a, b, c=0, width=None):
    x, y = (np.stack(posits(n, es, *v)) for v in (a, b))
    unit = f"kulisch(posit{n}es{es}{f', width={width}' if width else ''})"
    return codes(ww.dot(x, y, c=posits(n, es, c)[0], unit=unit))[0]


BEHIND: dict[str, Any] = {
    "Q": Fraction,
    "math": math,
    "fixed_code": fixed_code,
    "fixed": fixed,
    "fixed_flags": fixed_flags,
    "posit": posit,
    "posit_flags": posit_flags,
    "posit_op_flags": posit_op_flags,
    "posit_fma": lambda n, es, *x: codes(ww.fma(*posits(n, es, *x)))[0],
    "posit_sqrt": lambda n, es, x: codes(ww.sqrt(*posits(n, es, x)))[0],
    "posit_dot": posit_dot,
    "takum": takum,
} | {name: getattr(page, name) for name in ("NX", "UF", "OF", "DZ", "NV")}

LINES = r"""
[fixed_code(f, v) for f, v in (("fixed8.4;overflow=wrap", 8), ("int8", 300), ("uint8", -3), ("int4;overflow=symmetric", -9))] == [-128, 127, 0, -7]
[fixed_flags("fixed8.4", v) for v in (0.5, 0.03, 9, math.inf, math.nan)] == [0, NX, OF|NX, OF|NX, NV] and fixed_flags("fixed8.4;overflow=wrap", math.inf) == NV
[posit_flags(8, 2, v) for v in (1, "1/3", 1e30, 1e-30, 0.0, math.inf, math.nan)] == [0, NX, OF|NX, UF|NX, 0, NV, 0]
[posit_op_flags(8, 2, "/", a, b) for a, b in ((0x40, 0), (0, 0), (0x80, 0), (0x40, 0x4C))] == [DZ|NV, NV, 0, NX]
[fixed_code("fixed4.0", v, m) for v in (2.5, -2.5) for m in ("rne","rna","rnz","rnp","rnm","rno")] == [2,3,2,3,2,3,-2,-3,-2,-2,-3,-3]
[fixed_code("fixed4.0", -2.25, m) for m in ("rdn","rup","rtz","raz","odd")] == [-3,-2,-2,-3,-3]
fixed("fixed8.4", 7.96875) == 7.9375 and fixed("fixed8.4", 7.96875, "rne", "wrap") == -8
[fixed_code("fixed3.0", v, "rdn", "wrap_sm") for v in range(3, 10)] == [3, 3, 2, 1, 0, -1, -2]
[fixed_code("fixed4.0", 9, "rne", o) for o in ("saturate","symmetric","zero","wrap","wrap_sm")] == [7, 7, 0, -7, 6]
fixed("fixed4.-2", 10) == 8 and fixed("fixed4.-2", 14) == 16 and fixed("fixed4.6", 0.1015625) == Q(6, 64)
[fixed_code("fixed8.0", -1.625, "sr", "wrap", 2, r) for r in range(4)] == [-1, -1, -2, -2]
fixed_code("fixed8.0", float("inf")) == 127 and fixed_code("fixed8.0", float("nan")) == 0
[hex(posit(8, 2, v)) for v in (1, -1, "1/3", 3.14159265, 100, 1e30, 1e-30, 0.0)] == ['0x40','0xc0','0x33','0x4d','0x6a','0x7f','0x1','0x0']
[posit(8, 2, v) for v in (524287, 524288, 2**22, 2**22 + 1)] == [0x7D, 0x7E, 0x7E, 0x7F]
posit(16, 2, float("inf")) == posit(16, 2, float("nan")) == 0x8000 and posit(16, 2, -0.0) == 0
[hex(posit(8, 2, v, m)) for v in ("1/3", "-1/3") for m in ("rdn","rup","rtz","raz","odd","rno")] == ['0x32','0x33','0x32','0x33','0x33','0x33','0xcd','0xce','0xce','0xcd','0xcd','0xcd']
[posit(8, 2, v, m) for v in (1e30, 1e-30) for m in ("rtz","rdn","raz")] == [0x7F] * 3 + [1] * 3 and [posit(8, 2, 1 + Q(3, 32), "sr", 2, r) for r in range(4)] == [0x40, 0x41, 0x41, 0x41]
[posit(8, 2, s + s * Q(1, 16), m) for s in (1, -1) for m in ("rne","rno","rna","rnz","rnp","rnm")] == [0x40, 0x41, 0x41, 0x40, 0x41, 0x40, 0xC0, 0xBF, 0xBF, 0xC0, 0xC0, 0xBF]
posit_fma(8, 2, 0x7F, 0x7F, 0x81) == 0x7F and posit_sqrt(8, 2, 0x48) == 0x43 and posit_sqrt(8, 2, 0xC0) == 0x80
posit_dot(16, 2, [0x4000], [0x4000], c=0x4000, width=256) == 0x4800
[hex(takum(16, v)) for v in (1, -1, 2, .5, "1/3", 3.14159265, 1e100)] == ['0x4000','0xc000','0x4800','0x3800','0x3555','0x4a48','0x7fff'] and takum(16, "1/3", "rup") == 0x3556
"""  # noqa: E501


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_lines_of_the_specification(line):
    assert eval(line, dict(BEHIND)) is True


def test_a_traced_operation_keeps_the_low_digits_of_what_wraps():
    f = ww.Format("fixed48.24;overflow=wrap")
    x, y = (ww.from_bits(np.array(code, np.uint64), f) for code in (0x123456789ABD, 0xFEDCBA987653))
    want = codes(ww.multiply(x, y, rounding="rdn"))[0]
    exact = value_of(f, codes(x)[0]) * value_of(f, codes(y)[0])
    assert want == in_bits(page.fixed_code(str(f), exact, "rdn"), 48)
    assert codes(ww.trace_operation("multiply", x, y, rounding="rdn").result)[0] == want


# --- Units ----------------------------------------------------------------------------------------


def test_a_quire_is_an_exact_sum_of_posits():
    rng = random.Random(3)
    for draw in range(40):
        a, b = ([rng.getrandbits(16) for _ in range(9)] for _ in range(2))
        if draw % 8 == 0:
            a[draw % 9] = 0x8000  # NaR
        x, y = (ww.from_bits(np.array(v, np.uint16), "posit16es2") for v in (a, b))
        z = ww.matmul(x.reshape(1, 9), y.reshape(9, 1), unit="kulisch(posit16es2)")
        assert codes(z.reshape(1)) == [page.posit_dot(16, 2, a, b, width=256)]


def test_a_running_sum_of_fixed_point_rounds_every_step():
    rng = random.Random(4)
    f = ww.Format("fixed16.8")
    a, b = ([rng.getrandbits(16) for _ in range(50)] for _ in range(2))
    x, y = (ww.from_bits(np.array(v, np.uint16), f) for v in (a, b))
    for kind in ("mac", "fma"):
        total = Fraction(0)
        for p, q in zip(a, b, strict=True):
            product = value_of(f, p) * value_of(f, q)
            product = page.fixed("fixed16.8", product) if kind == "mac" else product
            total = page.fixed("fixed16.8", total + product)
        z = ww.matmul(x.reshape(1, 50), y.reshape(50, 1), unit=f"{kind}(fixed16.8)")
        assert Fraction(float(z.to_float64()[0, 0])) == total


@pytest.mark.parametrize("k", [1, 510, 511, 1022, 1023, 1024, 4100])
def test_sums_of_integers_are_exact_at_the_ends_of_floats(k):
    rng = np.random.default_rng(k)
    a, b = rng.integers(-128, 128, (3, k)), rng.integers(-128, 128, (k, 3))
    a[0], b[:, 0] = -128, -128
    x, y = (ww.array(m.astype(float), "int8") for m in (a, b))
    c = ww.array(np.full((3, 3), 127.0), "int8")
    for unit in ("fixedacc(int8, width=32, frac=0, out=int32)", "kulisch(int8, out=int32)"):
        z = ww.matmul(x, y, unit=unit, c=c)
        assert np.array_equal(z.to_float64(), (a @ b + 127).astype(float)), unit
    high = ww.matmul(x, y, unit="kulisch(int8, out=int16)", c=c)
    assert np.array_equal(high.to_float64(), np.clip(a @ b + 127, -(2**15), 2**15 - 1))


# --- Texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("fixed8.0", "int8"),
        ("ufixed8.0", "uint8"),
        ("int8;overflow=saturate", "int8"),
        ("POSIT16", "posit16es2"),
        ("fixed4.-2", "fixed4.-2"),
        ("fixed8.4;overflow=wrap", "fixed8.4;overflow=wrap"),
        ("takum16", "takum16"),
    ],
)
def test_texts_are_printed_one_way(text, printed):
    assert str(ww.Format(text)) == printed == str(ww.Format(printed))


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("ap_fixed<8,4>", "fixed8.4;overflow=wrap"),
        ("ap_ufixed<8, 3>", "ufixed8.5;overflow=wrap"),
        ("ap_int<12>", "int12;overflow=wrap"),
        ("ap_fixed<8,4,AP_RND,AP_SAT>", "here it is fixed8.4 with the rounding rnp"),
        ("ap_fixed<9, -3, AP_RND_ZERO, AP_SAT_SYM, 0>", "fixed9.12;overflow=symmetric with .* rnz"),
        ("ap_fixed<8,4,AP_RND,AP_WRAP,3>", "write a name"),  # three bits of it saturate
        ("ac_fixed<8,4,false>", "here it is ufixed8.4;overflow=wrap with the rounding rdn"),
        ("ac_fixed<8,4,true,AC_RND_CONV,AC_SAT_ZERO>", "fixed8.4;overflow=zero with .* rne"),
        ("ac_int<8,false>", "here it is uint8;overflow=wrap"),
        ("sc_ufixed<8,4,SC_RND_INF,SC_SAT>", "here it is ufixed8.4 with the rounding rna"),
        ("fixed8.4;overflow=AP_SAT_SYM", "here it is symmetric"),
        ("int8;overflow=numeric_std", "here it is keep_sign"),
        ("fixd8.4", r"fixed8\.4 4 of 8 bits behind the point, and posit16es2, takum16"),
        ("Q7.8", "fixed16.8"),
        ("UQ8.8", "ufixed16.8"),
        ("Q15", "fixed16.15"),
        ("Q-1.9", "fixed9.9"),
        ("fixed8", "fixed8.4"),
        ("posit16es5", "0 to 4"),
        ("posit2", "3 to 64"),
        ("fixed0.1", "1 to 4096"),
        ("takum16;daz", "takes no option"),
        ("ufixed8.4;overflow=wrap_sm", "overflow=wrap"),
        ("fixed8.4;overflow=max", "saturate"),
        ("e5m10;overflow=wrap", "ieee"),
        ("lns8.4", "posit16es2"),
    ],
)
def test_a_wrong_text_names_the_way_out(text, way_out):
    with pytest.raises(ValueError, match="^format .*" + way_out):
        ww.Format(text)


def test_widths_that_are_no_numbers_of_bits_are_named():
    for made, wrong in (
        (lambda: ww.Format(sign=2, exponent=6, mantissa=9), r"sign = 2: 1 bit, or 0"),
        (lambda: ww.Format(exponent=6.0, mantissa=9), r"exponent = 6\.0: an integer"),
        (lambda: ww.Format("e6m9", sign=0), "a text, or exponent="),
        (lambda: ww.Format.fixed(8.0, 4), r"width = 8\.0: an integer"),
        (lambda: ww.Format.posit(8, "1"), "es = '1': an integer"),
        (lambda: ww.Format.takum(None), "width = None: an integer"),
    ):
        with pytest.raises((TypeError, ValueError), match=wrong):
            made()


def test_a_table_is_made_of_the_numbers_of_an_array():
    levels = ww.array([-2, 0.5, 1e5], "posit8")
    assert ww.Format.table(levels).values == (-2, 0.5, 65536)


def test_what_fixed_point_has_no_number_for_is_refused_or_named_zero():
    with pytest.raises(ValueError, match=r"element 1 is NaN and int8 has no NaN"):
        ww.array([1, math.nan], "int8")
    with pytest.raises(ValueError, match=r"element 1 is infinite.*overflow=saturate"):
        ww.array([1, math.inf], "int8;overflow=wrap")
    with pytest.raises(ValueError, match="infinite"):
        ww.array(["inf"], "int8;overflow=zero")
    assert codes(ww.array([math.inf, -math.inf], "int8")) == [0x7F, 0x80]
    z, flags = ww.array([math.inf, 1], "int8;overflow=wrap", nan="zero", flags=True)
    assert codes(z) == [0, 1] and flags.tolist() == [page.NV, 0]


def test_what_knows_floats_alone_says_so():
    with pytest.raises(ValueError, match="is no float"):
        ww.matmul(
            ww.array([[1.0]], "int8"), ww.array([[1.0]], "int8"), unit="mac(int8)", engine="blocks"
        )


def test_what_wraps_says_how_many_digits_it_needs_and_the_way_out():
    x = ww.array([0.25], "fixed4096.4096")
    way_out = "result fixed4096.4096;overflow=wrap: .* 8198 .*; take overflow=saturate"
    with pytest.raises(ValueError, match=way_out):
        ww.divide(x, x, format="fixed4096.4096;overflow=wrap")
    assert ww.divide(x, x, flags=True)[1].tolist() == [5]
