"""What is flushed: whatever is tiny by the rule in force, one at a time, in arrays and in units."""

from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww

NX, UF = 1, 2
LEAST, BELOW_ONE = 0x00800000, 0x3F7FFFFF  # 2^-126 and 1 - 2^-24


def product(a, b, tininess, format="binary32;ftz"):
    x, y = ww.from_bits(a, format), ww.from_bits(b, format)
    z, flags = ww.multiply(x, y, tininess=tininess, flags=True)
    return int(z.bits), int(flags)


def test_x86_flushes_what_is_tiny_after_rounding():
    assert product(LEAST, BELOW_ONE, "after") == (0, UF | NX)
    # 2^-126 (1 - 2^-46) is 2^-126 to 24 digits, and that is not tiny.
    assert product(0x00800001, 0x3F7FFFFE, "after") == (LEAST, NX)
    assert ww.multiply(*ww.from_bits([LEAST, BELOW_ONE], "binary32;ftz")).bits == 0


def test_arm_flushes_what_is_tiny_before_rounding():
    assert product(LEAST, BELOW_ONE, "before") == (0, UF | NX)
    assert product(0x00800001, 0x3F7FFFFE, "before") == (0, UF | NX)


def test_what_is_delivered_below_the_least_normal_number():
    assert product(LEAST, BELOW_ONE, "delivered") == (LEAST, NX)
    assert product(LEAST | 1 << 31, 0x3F000000, "delivered") == (1 << 31, UF | NX)


@pytest.mark.parametrize("tininess", ["after", "before", "delivered"])
@pytest.mark.parametrize("rounding", ["rne", "rup", "rdn", "rna", "rtz", "odd"])
@pytest.mark.parametrize(
    "formats", ["e5m10;ftz", "e4m3;ftz;daz", "e8m7;ftz", "e8m23;ftz", "e4m3fnuz;ftz", "e11m52;ftz"]
)
def test_arrays_agree_with_mpfr(formats, rounding, tininess):
    for op in ("multiply", "fma", "divide"):
        verdict = ww.verify(op, format=formats, n=1500, rounding=rounding, tininess=tininess)
        assert verdict, str(verdict)


def border(format, rng, m, n):
    """Matrices whose products lie about the least normal number, many within its last digits."""
    f = ww.Format(format)
    whole = 1 << f.precision - 1
    near = [whole + int(i) for i in rng.integers(0, min(8, whole), m)]
    half = (f.emin - 1) // 2
    a = [Fraction(x, whole) * Fraction(2) ** half for x in near]
    b = [Fraction(2 * whole - int(i), 2 * whole) for i in rng.integers(-4, min(16, whole), n)]
    b = [x * Fraction(2) ** (f.emin - half) * int(rng.choice([-1, 1])) for x in b]
    c = [Fraction(2 * whole + int(i), 2 * whole) for i in rng.integers(-4, 5, m * n)]
    c = [x * Fraction(2) ** f.emin * int(rng.choice([-1, 0, 1])) for x in c]
    x, y, z = (ww.array(v, f) for v in (a, b, c))
    return x.reshape(m, 1), y.reshape(1, n), z.reshape(m, n)


UNITS = [
    "mac({f})",
    "fma({f})",
    "mac({f}, product={f}:rup, sum={f}:rup)",
    "fma({f}, sum={f}:rna)",
    "mac({f}, product={f}:rtz, sum={f}:rtz)",
    "fma({f}, sum={f}:sr4)",
    "tree({f}, fan=2)",
    "kahan({f})",
    "kulisch({f})",
    "dot({f}, lanes=3)",
]
WIDE = ["e6m40;ftz", "e15m112;ftz"]
FORMATS = ["e5m10;ftz", "binary32;ftz", "bfloat16;ftz;daz", "binary64;ftz", "e4m3;ftz", *WIDE]


@pytest.mark.parametrize("tininess", ["after", "before", "delivered"])
@pytest.mark.parametrize("f", FORMATS)
def test_units_flush_as_mpfr_does_in_every_engine(f, tininess):
    rng = np.random.default_rng(3)
    for text in UNITS:
        u = ww.Unit(f"{text.format(f=f)[:-1]}, tininess={tininess})")
        a, b, c = border(f, rng, 24, 32)
        x, y, z = a[np.repeat(np.arange(24), 32)], b[0][np.tile(np.arange(32), 24)], c.reshape(-1)
        verdict = ww.verify(u, x, y.reshape(-1, 1), c=z)
        assert verdict, f"{u}: {verdict}"
        want, raised = ww.matmul(a, b, c=c, unit=u, engine="reference", flags=True)
        assert np.array_equal(want.reshape(-1).bits, ww.dot(x, y.reshape(-1, 1), c=z, unit=u).bits)
        took = set()
        for engine in ww.engines():
            for flags in (False, True):
                try:
                    got = ww.matmul(a, b, c=c, unit=u, engine=engine, flags=flags)
                except ValueError:
                    continue
                took.add((engine, flags))
                codes, told = got if flags else (got, raised)
                assert np.array_equal(codes.bits, want.bits), f"{u} by {engine}"
                assert np.array_equal(told, raised), f"{u}: flags by {engine}"
        others = {flags for engine, flags in took if engine != "reference"}
        assert others == {False, True}, f"{u}: {took}"


def test_the_rule_is_part_of_a_unit_and_prints():
    u = ww.Unit("mac(binary32;ftz, tininess=before)")
    assert str(u) == "mac(e8m23;ftz, tininess=before)"
    assert ww.Unit(str(u)) == u
    assert u.fields["out"]["tininess"] == u.fields["product"]["round"]["tininess"] == "before"
    x, y = (ww.from_bits([code], "binary32;ftz") for code in (0x00800001, 0x3F7FFFFE))
    assert ww.dot(x, y, unit=u).bits == 0
    assert ww.dot(x, y, unit="mac(binary32;ftz)").bits == 0x00800000
