"""Operations element by element: against the host, against fractions, flags, errors."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
import widthwise as ww
from hypothesis import given
from hypothesis import strategies as st

NX, UF, OF, DZ, NV = 1, 2, 4, 8, 16
HOST = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
DTYPES = [np.float16, np.float32, np.float64]
X = ww.array([1.0, 2.0], "e5m10")


def codes_of(dtype, n, seed):
    """Random bits, and small numbers whose results are not all infinite or zero."""
    rng = np.random.default_rng(seed)
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    anything = rng.integers(0, np.iinfo(unsigned).max, n, unsigned, endpoint=True)
    near = (rng.standard_normal(n) * 2.0 ** rng.integers(-12, 12, n)).astype(dtype).view(unsigned)
    return np.concatenate([anything, near])


def same(ours, theirs):
    nan = np.isnan(theirs)
    np.testing.assert_array_equal(ww.isnan(ours), nan)
    np.testing.assert_array_equal(ours.bits[~nan], theirs.view(ours.bits.dtype)[~nan])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", HOST)
def test_operations_give_the_hosts_bits(op, dtype):
    f = f"binary{8 * np.dtype(dtype).itemsize}"
    x, y = (codes_of(dtype, 20_000, seed) for seed in (1, 2))
    with np.errstate(all="ignore"):
        theirs = HOST[op](x.view(dtype), y.view(dtype))
    same(getattr(ww, op)(x, y, format=f), theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_operations_give_the_hosts_bits(dtype):
    f = f"binary{8 * np.dtype(dtype).itemsize}"
    codes = codes_of(dtype, 20_000, 3)
    x, values = ww.from_bits(codes, f), codes.view(dtype)
    with np.errstate(all="ignore"):
        same(ww.sqrt(x), np.sqrt(values))
        same(ww.round_to_integral(x), np.rint(values))
        same(ww.round_to_integral(x, rounding="rdn"), np.floor(values))
        same(ww.round_to_integral(x, rounding="rtz"), np.trunc(values))
        same(ww.next_up(x), np.nextafter(values, dtype(np.inf)))
        same(ww.next_down(x), np.nextafter(values, dtype(-np.inf)))
    assert (ww.negate(x).bits == (-values).view(x.bits.dtype)).all()
    assert (ww.abs(x).bits == np.abs(values).view(x.bits.dtype)).all()
    assert (ww.copysign(x, ww.negate(x)).bits == ww.negate(x).bits).all()


def test_remainder_is_the_hosts():
    import math

    rng = np.random.default_rng(4)
    x = rng.standard_normal(3000) * 2.0 ** rng.integers(0, 60, 3000)
    y = rng.standard_normal(3000)
    ours = ww.remainder(ww.array(x, "binary64"), ww.array(y, "binary64")).to_float64()
    assert ours.tolist() == [math.remainder(a, b) for a, b in zip(x, y, strict=True)]


def decoded(code, f):
    return ww.from_bits(int(code), f).to_fractions()[()]


finite16 = st.integers(0, 0x7BFF).flatmap(lambda m: st.sampled_from([m, m | 0x8000]))


@given(finite16, finite16, finite16)
def test_fma_rounds_the_exact_value_once(a, b, c):
    x, y, z = (ww.from_bits(code, "e5m10") for code in (a, b, c))
    exact = decoded(a, "e5m10") * decoded(b, "e5m10") + decoded(c, "e5m10")
    ours = ww.fma(x, y, z)
    if exact != 0:
        assert ours.bits == ww.array(exact, "e5m10").bits


@given(st.integers(0, 2**85 - 1), st.integers(0, 2**85 - 1))
def test_sums_of_wide_formats_are_those_of_fractions(a, b):
    f = ww.Format("e10m74")  # two limbs; fractions of its numbers stay short
    x, y = ww.from_bits(a, f), ww.from_bits(b, f)
    if ww.isfinite(x) and ww.isfinite(y):
        exact = x.to_fractions()[()] + y.to_fractions()[()]
        if exact != 0:
            assert (ww.add(x, y).bits == ww.array(exact, f).bits).all()


def test_sqrt_of_two_has_113_correct_bits():
    root = ww.sqrt(ww.array(2, "e15m112")).to_scaled()[()]
    exact = isqrt(2 << 300)
    assert abs(root[0] * 2 ** (150 + root[1]) - exact) <= 2 ** (150 - 113)


@pytest.mark.parametrize(
    "rounding, wanted",
    [("rne", 1), ("rna", 1 + 2**-10), ("rnz", 1), ("rtz", 1), ("rup", 1 + 2**-10), ("rdn", 1)]
    + [
        ("raz", 1 + 2**-10),
        ("odd", 1 + 2**-10),
        ("rno", 1 + 2**-10),
        ("rnp", 1 + 2**-10),
        ("rnm", 1),
    ],
)
def test_every_mode_rounds_a_tie_its_way(rounding, wanted):
    x, y = ww.array(1.0, "e5m10"), ww.array(2.0**-11, "e5m10")
    assert ww.add(x, y, rounding=rounding).to_float64() == wanted


def test_mixed_formats_take_the_format_that_is_named():
    x, y = ww.array(1.0, "e5m10"), ww.array("1p-60", "e8m23")
    assert ww.add(x, y, format="e5m10", rounding="rup").to_float64() == 1 + 2**-10
    assert ww.multiply(x, y, format="binary64").to_float64() == 2.0**-60
    with pytest.raises(TypeError, match=r"x is e5m10 and y is e8m23; name the result's format"):
        ww.add(x, y)


def test_a_narrow_tail_decides_a_wide_result():
    a, b, c = (ww.array(v, "e5m10") for v in (3, 683, "1p-14"))
    assert ww.fma(a, b, c).to_float64() == 2050


def test_flags_are_those_of_754():
    f = "e5m10"
    one, zero, big, inf = (ww.array(v, f) for v in (1.0, 0.0, 65504.0, np.inf))
    assert ww.divide(one, zero, flags=True)[1] == DZ
    assert ww.divide(zero, zero, flags=True)[1] == NV
    assert ww.add(big, big, flags=True)[1] == OF | NX
    assert ww.subtract(inf, inf, flags=True)[1] == NV
    assert ww.divide(one, ww.array(3.0, f), flags=True)[1] == NX
    least = ww.from_bits(1, f)
    assert ww.multiply(least, least, flags=True)[1] == UF | NX
    assert ww.sqrt(ww.negate(one), flags=True)[1] == NV
    assert ww.logb(zero, flags=True)[1] == DZ


def test_tininess_decides_a_flag_and_no_bit():
    f = "e5m10"  # (2 - 2^-10) * 2^-15 * (1 + 2^-10) rounds up to the least normal number
    x, y = ww.from_bits(0x03FF, f), ww.array(1 + 2**-10, f)
    after, before = (ww.multiply(x, y, tininess=t, flags=True) for t in ("after", "before"))
    assert after[0].bits == before[0].bits
    assert before[1] == UF | NX
    assert after[1] in (NX, UF | NX)


def test_nan_payloads_go_along_on_demand():
    loud, one = ww.from_bits(0xFC05, "e5m10"), ww.array(1.0, "e5m10")
    z, flags = ww.add(loud, one, flags=True)
    assert (z.bits, flags) == (0x7E00, NV)
    assert ww.add(loud, one, nan="propagate").bits == 0xFE05


@pytest.mark.parametrize(
    "code, of, to, want",
    [
        (0xFF, "e4m3fn", "e4m3fn", 0xFF),
        (0xFFC00000, "binary32", "e4m3fn", 0xFF),
        (0x7FC00000, "binary32", "e4m3fn", 0x7F),
        (0xFFC00000, "binary32", "ue4m3fn", 0x7F),
        (0xFFC00000, "binary32", "e4m3fnuz", 0x80),
        (0xFF812345, "binary32", "e5m10", 0xFE09),
        (0xFE05, "e5m10", "e4m3", 0xFC),
        (0xFF, "e4m3", "e4m3fn", 0xFF),
        (0xFF, "e4m3fn", "binary32", 0xFFF00000),
        (0x3F, "ue3m3;nan=all_ones", "e5m10", 0x7F80),
        (0x3F, "e5m0;nan=ieee;inf=no", "binary32", 0xFFC00000),
        (0xFFC00000, "binary32", "e5m0;nan=ieee;inf=no", 0x3F),
    ],
)
def test_a_propagated_nan_keeps_what_the_result_has_room_for(code, of, to, want):
    x = ww.from_bits(np.full(300, code, np.uint64), of)  # lanes, tables and one by one
    for n in (1, 300):
        assert (ww.convert(x[:n], to, nan="propagate").bits == want).all()
        assert ww.add(x[:n], x[:n], format=to, nan="propagate").bits.tolist() == [want] * n
    assert ww.convert(x[0], to).bits == ww.convert(ww.array(np.nan, "binary64"), to).bits


def test_minima_differ_in_what_they_make_of_nan():
    one, quiet, loud = (ww.from_bits(code, "e5m10") for code in (0x3C00, 0x7E00, 0x7C01))
    assert ww.isnan(ww.minimum(one, quiet))
    assert ww.minimum_number(one, quiet).bits == ww.min_num(one, quiet).bits == 0x3C00
    assert ww.maximum_number(one, loud).bits == 0x3C00
    assert ww.isnan(ww.max_num(one, loud))
    plus, minus = ww.array([0.0, -0.0], "e5m10")
    assert ww.minimum(plus, minus).bits == 0x8000
    assert ww.maximum(minus, plus).bits == 0


def test_scaleb_takes_integers_of_any_size():
    x = ww.array([1.5, 1.5, 1.5], "e5m10")
    assert ww.scaleb(x, [3, -20, 10**15]).to_float64().tolist() == [12.0, 1.5 * 2**-20, np.inf]
    z, flags = ww.scaleb(x[0], np.array(-26), flags=True)
    assert flags == UF | NX and z.to_float64() == 0
    assert ww.scaleb(x, 1, format="binary64").format == ww.Format("binary64")
    with pytest.raises(TypeError, match="n holds float64; integers are wanted"):
        ww.scaleb(x, 1.0)
    with pytest.raises(ValueError, match=r"x has shape \(3,\) and n has shape \(2,\)"):
        ww.scaleb(x, [1, 2])


def test_logb_is_the_exponent():
    x = ww.array([1.0, 8.0, 0.1, 2.0**-24], "e5m10")
    assert ww.logb(x).to_float64().tolist() == [0, 3, -4, -24]


@pytest.mark.parametrize("dtype", [f"{u}int{n}" for n in (8, 16, 32, 64) for u in ("", "u")])
def test_integers_that_fit_are_the_hosts(dtype):
    rng = np.random.default_rng(6)
    x = np.trunc(rng.standard_normal(5000) * 2.0 ** rng.integers(0, 30, 5000))
    x = x[(x >= np.iinfo(dtype).min) & (x <= np.iinfo(dtype).max)]
    n = ww.to_integer(ww.array(x, "binary64"), dtype)
    assert n.dtype == dtype
    np.testing.assert_array_equal(n, x.astype(dtype))
    assert (ww.from_integer(n, "binary64").to_float64() == x).all()


def test_invalid_integers_are_riscvs():
    x = ww.array([np.nan, np.inf, -np.inf, 3e9, -1.0, 2.5], "binary64")
    n, flags = ww.to_integer(x, np.int32, flags=True)
    assert n.tolist() == [2**31 - 1, 2**31 - 1, -(2**31), 2**31 - 1, -1, 2]
    assert flags.tolist() == [NV, NV, NV, NV, 0, NX]
    n, flags = ww.to_integer(x, "uint64", rounding="rup", flags=True)
    assert n.tolist() == [2**64 - 1, 2**64 - 1, 0, 3 * 10**9, 0, 3]
    assert flags.tolist() == [NV, NV, NV, 0, NV, NX]
    n, flags = ww.to_integer(x, "int8", flags=True)
    assert n.tolist() == [127, 127, -128, 127, -1, 2] and n.dtype == np.int8
    assert flags.tolist() == [NV, NV, NV, NV, 0, NX]
    assert ww.to_integer(x, "uint16").tolist() == [65535, 65535, 0, 65535, 0, 2]
    with pytest.raises(ValueError, match="dtype = float32: it may be int8, uint8, int16, uint16"):
        ww.to_integer(x, "float32")
    with pytest.raises(ValueError, match="dtype = 'int7': it may be int8"):
        ww.to_integer(x, "int7")


def test_invalid_integers_are_those_of_the_machine_that_is_named():
    x = ww.array([np.nan, -np.nan, np.inf, -np.inf, 3e20, -3e20, -1.0], "binary64")
    for dtype in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        below = -1 if low else 0
        one = low if low else high
        riscv, arm, x86 = (
            ww.to_integer(x, dtype, invalid=how, flags=True) for how in ("riscv", "arm", "x86")
        )
        assert riscv[0].tolist() == [high, high, high, low, high, low, below]
        assert arm[0].tolist() == [0, 0, high, low, high, low, below]
        assert x86[0].tolist() == [one] * 6 + [-1 if low else one]
        for _, flags in (riscv, arm, x86):
            assert flags.tolist() == [NV] * 6 + [0 if low else NV]
    with pytest.raises(ValueError, match="invalid = 'mips': it may be riscv, x86 or arm"):
        ww.to_integer(x, invalid="mips")


def test_from_integer_rounds_once():
    assert ww.from_integer(2**24 + 1, "binary32").to_float64() == 2**24
    z, flags = ww.from_integer(np.array([2**24 + 1, -5]), "binary32", rounding="rup", flags=True)
    assert z.to_float64().tolist() == [2**24 + 2, -5]
    assert flags.tolist() == [NX, 0]
    with pytest.raises(TypeError, match="n holds float64; integers of up to 64 bits"):
        ww.from_integer([1.5], "binary32")


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: ww.add(X, X, seed=seed),
        lambda seed: ww.scaleb(X, 1, seed=seed),
        lambda seed: ww.to_integer(X, seed=seed),
        lambda seed: ww.from_integer([1], "e5m10", seed=seed),
        lambda seed: ww.array([1.0], "e5m10", seed=seed),
        lambda seed: ww.evaluate([("y", "sqrt", "x", {"seed": seed})], x=X),
        lambda seed: ww.trace_operation("sqrt", X[0], seed=seed),
        lambda seed: ww.dot(X, X, unit="mac(e5m10)", seed=seed),
    ],
)
def test_a_seed_is_an_integer_of_64_bits(call):
    for seed in (-1, 1 << 64):
        with pytest.raises(ValueError, match=rf"seed = {seed}: it may be 0 to 2\^64 - 1"):
            call(seed)
    for seed in (0.5, True, np.True_):
        words = rf"seed = {seed!r}: an integer is wanted, 0 to 2\^64 - 1"
        with pytest.raises(TypeError, match=words):
            call(seed)
    call(np.uint64((1 << 64) - 1))


def test_stochastic_rounding_depends_on_seed_and_place_alone():
    x = ww.array([1.0] * 4000, "e5m10")
    quarter = ww.array([2.0**-12] * 4000, "e5m10")
    first = ww.add(x, quarter, rounding="sr8", seed=7)
    assert (first.bits == ww.add(x, quarter, rounding="sr8", seed=7).bits).all()
    assert (first[:100].bits == ww.add(x[:100], quarter[:100], rounding="sr8", seed=7).bits).all()
    assert (first.bits != ww.add(x, quarter, rounding="sr8", seed=8).bits).any()
    up = int((first.to_float64() > 1).sum())
    assert 800 < up < 1200  # a quarter


# --- Operators and NumPy's functions -------------------------------------------------------------


def test_operators_round_nearest_even_in_their_format():
    x, y = ww.array([1.0, 3.0], "e5m10"), ww.array([3.0, 7.0], "e5m10")
    assert ((x + y).bits == ww.add(x, y).bits).all()
    assert ((x - y).bits == ww.subtract(x, y).bits).all()
    assert ((x * y).bits == ww.multiply(x, y).bits).all()
    assert ((x / y).bits == ww.divide(x, y).bits).all()
    assert ((-x).bits == ww.negate(x).bits).all() and ((+x).bits == x.bits).all()
    assert (abs(-x).bits == x.bits).all()
    assert (np.sqrt(x).bits == ww.sqrt(x).bits).all()
    assert (np.fmin(x, y).bits == ww.minimum_number(x, y).bits).all()
    assert (x < y).tolist() == [True, True] and (x == x).all() and not (x != x).any()
    assert (x >= y).tolist() == [False, False]
    assert np.isnan(ww.array([np.nan, 1], "e5m10")).tolist() == [True, False]
    assert np.isfinite(x).all() and not np.isinf(x).any()


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda x: x + 1j, r"add of an Array of e5m10 and complex: .* ww.array\(value, 'e5m10'\)"),
        (lambda x: np.float64(1) * x, r"multiply of .* e5m10 and float64: .*float\(value\)"),
        (
            lambda x: x + ww.array([1.0], "e8m7"),
            r"add of e5m10 and e8m7: operators take one format",
        ),
        (lambda x: np.exp(x), r"np.exp is not defined on Arrays: x.to_float64\(\)"),
        (lambda x: x % x, r"np.remainder is not defined on Arrays: np.fmod is C's, ww.remainder"),
        (
            lambda x: np.add.reduce(x),
            r"np.add.reduce is not .*: ww.sum\(x, unit=...\) sums in an order",
        ),
        (lambda x: np.add(x, x, out=np.empty(1)), r"add into float64: its result is Array of"),
        (lambda x: x**x, r"np.power is not defined on Arrays"),
    ],
)
def test_what_would_round_behind_ones_back_is_refused(use, message):
    with pytest.raises(TypeError, match=message):
        use(ww.array([1.0], "e5m10"))


# --- Operands ------------------------------------------------------------------------------------


def test_codes_are_operands_where_their_format_is_known():
    x = ww.array([1.0, 2.0], "e5m10")
    assert ww.add(x, np.uint16([0x3C00, 0x3C00])).to_float64().tolist() == [2, 3]
    assert ww.add(np.uint16(0x3C00), np.uint16(0x3C00), format="e5m10").bits == 0x4000
    with pytest.raises(
        TypeError, match=r"x is uint16, codes of a format that is not named; pass format="
    ):
        ww.add(np.uint16([1]), np.uint16([2]))
    with pytest.raises(TypeError, match=r"y holds uint8; codes of e5m10 are uint16"):
        ww.add(x, np.uint8([1, 2]))


@pytest.mark.parametrize("wrong", [1.0, [1.0], np.float32(1), np.int64([3]), "1"])
def test_values_are_refused_and_told_the_way(wrong):
    with pytest.raises(TypeError, match=r"Values are taken by ww.array\(y, 'e5m10'\)"):
        ww.add(ww.array([1.0], "e5m10"), wrong)


def test_shapes_broadcast_or_are_named():
    x, y = ww.zeros((3, 1), "e20m64"), ww.array([1.0, 2.0], "e20m64")
    assert ww.add(x, y).shape == (3, 2)
    assert ww.add(x, y)[2, 1].to_float64() == 2
    with pytest.raises(
        ValueError, match=r"x has shape \(2,\) and y has shape \(3,\); they do not broadcast"
    ):
        ww.add(ww.zeros(2, "e5m10"), ww.zeros(3, "e5m10"))
    assert ww.add(ww.zeros((0, 3), "e5m10"), ww.zeros(3, "e5m10")).shape == (0, 3)


@pytest.mark.parametrize(
    "how, message",
    [
        ({"rounding": "rnx"}, "rounding 'rnx'"),
        ({"tininess": "later"}, "tininess 'later'"),
        ({"nan": "first"}, "nan 'first', column 1: nan = 'first': it may be canonical, negative"),
    ],
)
def test_wrong_settings_are_named(how, message):
    x = ww.zeros(1, "e5m10")
    with pytest.raises(ValueError, match=message):
        ww.add(x, x, **how)


def test_wrong_calls_are_pythons_errors():
    x = ww.zeros(1, "e5m10")
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        ww.add(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'"):
        ww.add(x, x, mode="rne")
    with pytest.raises(TypeError, match="x is ndarray|x is uint16; an Array is wanted"):
        ww.convert(np.uint16([1]), "e5m10")


def test_exact_products_fit_a_wider_format():
    rng = np.random.default_rng(9)
    x = ww.from_bits(rng.integers(0, 0x7C00, 2000, np.uint16), "e5m10")
    y = ww.from_bits(rng.integers(0, 0x7C00, 2000, np.uint16), "e5m10")
    z, flags = ww.multiply(x, y, format="binary64", flags=True)
    assert not flags.any()
    assert all(
        Fraction(c) == a * b
        for a, b, c in zip(x.to_fractions(), y.to_fractions(), z.to_float64(), strict=True)
    )


def test_evaluate_is_its_steps_one_after_the_other():
    rng = np.random.default_rng(5)
    x, y = (ww.array(rng.standard_normal((300, 70)), "e5m10") for _ in range(2))
    y = y[:1]  # broadcasts
    steps = [
        ("t", "multiply", "x", "y", {"rounding": "rdn"}),
        ("u", "fma", "t", "x", "y", {"format": "binary32"}),
        ("t", "sqrt", "u", {"format": "e4m3fn", "rounding": "sr8", "seed": 3}),
        ("z", "convert", "t", {"format": "bfloat16"}),
    ]
    z, flags = ww.evaluate(steps, x=x, y=y, flags=True)
    t, f1 = ww.multiply(x, y, rounding="rdn", flags=True)
    u, f2 = ww.fma(t, x, y, format="binary32", flags=True)
    t, f3 = ww.sqrt(u, format="e4m3fn", rounding="sr8", seed=3, flags=True)
    want, f4 = ww.convert(t, "bfloat16", flags=True)
    np.testing.assert_array_equal(z.bits, want.bits)
    np.testing.assert_array_equal(flags, f1 | f2 | f3 | f4)
    assert z.format == want.format and z.shape == (300, 70)
    np.testing.assert_array_equal(ww.evaluate(steps, x=x, y=y).bits, want.bits)


@pytest.mark.parametrize(
    ("steps", "error", "text"),
    [
        ([], ValueError, "steps: there are none"),
        ("x*x", TypeError, "steps: one is .x.; \\(name of the result, operation, names"),
        ([("t", "add", "x", "q")], ValueError, "step 't' takes 'q'; there are x, y"),
        ([("t", "add", "x")], ValueError, "step 't': add takes 2 operands, not 1"),
        ([("t", "add", "x", "y")], TypeError, "step 't': x is e5m10 and y is e4m3fn; name the"),
        ([("t", "abs", "x", {"flags": 1})], TypeError, "step 't': flags is no setting; there are"),
    ],
)
def test_evaluate_says_what_is_wrong_with_a_step(steps, error, text):
    x, y = ww.array([1.0], "e5m10"), ww.array([1.0], "e4m3fn")
    with pytest.raises(error, match=text):
        ww.evaluate(steps, x=x, y=y)


def test_formats_without_nan_refuse_it_in_any_array():
    with pytest.raises(ValueError, match="element 1 is NaN and e2m1fn has no NaN"):
        ww.array(np.float32([1, np.nan]), "e2m1fn")
    assert ww.array(np.float32([1, -6]), "e2m1fn").tolist() == [1.0, -6.0]


@pytest.mark.parametrize("name", ["e5m10", "e4m3fn", "bfloat16", "e4m3fnuz", "e9m6"])
def test_values_come_back_as_they_went_in(name):
    bits = np.arange(1 << ww.Format(name).width, dtype=ww.Format(name).dtype)
    x = ww.from_bits(bits, name)
    numbers = x.to_float64()
    back = ww.array(numbers, name)
    np.testing.assert_array_equal(back.bits[~np.isnan(numbers)], bits[~np.isnan(numbers)])
    np.testing.assert_array_equal(ww.isnan(x), np.isnan(numbers))


@pytest.mark.parametrize("name", ["e4m3fn", "e5m10", "e20m64", "e15m112"])
def test_operands_of_any_strides_give_the_same_codes(name):
    rng = np.random.default_rng(11)
    x, y = (ww.array(rng.standard_normal((12, 12)), name) for _ in range(2))
    whole, flags = ww.multiply(x, y, flags=True)
    assert flags.shape == x.shape == whole.shape
    for part in (np.s_[::2], np.s_[:, ::-3], np.s_[5], np.s_[:, 5], np.s_[3, 4], np.s_[:0]):
        z, raised = ww.multiply(x[part], y[part], flags=True)
        np.testing.assert_array_equal(z.bits, whole[part].bits)
        np.testing.assert_array_equal(raised, flags[part])
    np.testing.assert_array_equal(ww.multiply(x.T, y.T).bits, whole.T.bits)
    np.testing.assert_array_equal(ww.negate(x.T).bits, ww.negate(x).T.bits)
    one = x[:1, :1]
    assert one.bits.flags.c_contiguous and ww.multiply(one, y[:1, :1]).shape == (1, 1)
