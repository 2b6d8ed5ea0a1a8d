"""Python's numbers beside Arrays, operators in place, and what C's library has."""

import operator
import warnings
from decimal import Decimal
from fractions import Fraction
from math import fmod, isfinite, nan, trunc
from random import Random

import numpy as np
import pytest
import widthwise as ww
from widthwise import testing

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
NUMPY = {"e5m10": np.float16, "e8m23": np.float32, "e11m52": np.float64}


def all_codes(format):
    f = ww.Format(format)
    return ww.from_bits(np.arange(1 << f.width, dtype=f.dtype), f)


def codes(format, count=4000, seed=0):
    """Specials and random codes."""
    f = ww.Format(format)
    drawn = [Random(seed + i).getrandbits(f.width) for i in range(count)]
    return ww.from_bits([*testing.special_codes(f), *drawn], f)


def nearest(value, f):
    """The code of a Fraction to nearest even: every number of a small format is looked at."""
    x = all_codes(f)
    finite = ww.isfinite(x)
    by_value = {}
    for code, number in zip(x.bits[finite].tolist(), x[finite].to_fractions(), strict=True):
        by_value.setdefault(number, code)
    return min(by_value, key=lambda v: (abs(v - value), by_value[v] & 1))


@pytest.mark.parametrize("format", NUMPY)
@pytest.mark.parametrize("number", [1, -3, 0.1, 1e-7, -0.0, 65504, True, 0, float("inf"), nan])
@pytest.mark.parametrize("do", OPERATORS)
def test_a_python_number_is_weak_as_numpy_has_it(format, number, do):
    x = codes(format)
    theirs = x.bits.view(NUMPY[format])
    with np.errstate(all="ignore"):
        for ours, wanted in (
            (do(x, number), do(theirs, number)),
            (do(number, x), do(number, theirs)),
        ):
            assert ours.format == x.format and wanted.dtype == theirs.dtype
            np.testing.assert_array_equal(ours.bits.view(wanted.dtype), wanted)
            assert (np.signbit(ours) == np.signbit(wanted))[~np.isnan(wanted)].all()


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e3m2fn", "binary8p3", "e4m3fnuz", "e2m1fn"])
@pytest.mark.parametrize("number", [0.1, Fraction(1, 3), Decimal("-1.37"), 2, Fraction(17, 16)])
def test_a_number_is_rounded_once_and_then_the_operation(format, number):
    f, x = ww.Format(format), all_codes(format)
    y = ww.array(nearest(Fraction(number), f), f)
    for do in OPERATORS[:3]:
        np.testing.assert_array_equal((do(x, number)).bits, do(x, y).bits)
        np.testing.assert_array_equal((do(number, x)).bits, do(y, x).bits)
    np.testing.assert_array_equal(np.maximum(x, number).bits, ww.maximum(x, y).bits)
    np.testing.assert_array_equal(np.copysign(x, -1).bits, ww.copysign(x, -abs(y)).bits)


@pytest.mark.parametrize("format", ["e4m3fn", "e5m10"])
def test_a_square_is_a_product_with_itself(format):
    x = codes(format, 200)
    np.testing.assert_array_equal((x**2).bits, (x * x).bits)
    z = x.copy()
    z **= 2
    np.testing.assert_array_equal(z.bits, (x * x).bits)
    for power in (3, 2.0, x):
        with pytest.raises(TypeError, match=r"x \*\* 2 is x \* x, rounded once; of other powers"):
            x**power


def test_functions_that_choose_take_numbers_too():
    x = ww.array([-1.0, 0.25, 7.0, nan], "e5m10")
    assert repr(np.maximum(x, 0)) == "Array([0 0.25 7 nan], e5m10)"
    assert repr(np.clip(x, 0.1, 1)) == "Array([0.1 0.25 1 nan], e5m10)"
    assert repr(np.clip(x, None, 1)) == "Array([-1 0.25 1 nan], e5m10)"
    assert repr(np.where(x > 0, x, 0)) == "Array([0 0.25 7 0], e5m10)"
    assert repr(np.append(x, 0.1)) == "Array([-1 0.25 7 nan 0.1], e5m10)"
    assert repr(np.reciprocal(x)) == "Array([-1 4 0.1428 nan], e5m10)"


@pytest.mark.parametrize(
    "format, number, message",
    [
        ("e5m10", 65520, "overflow: 65520 is past what e5m10 holds, and is taken as inf"),
        ("e5m10", -1e9, "overflow: -1000000000.0 is past what e5m10 holds, and is taken as -inf"),
        ("e5m10", 10**400, "overflow: 1000.*… is past what e5m10 holds, and is taken as inf"),
        ("e4m3fn", 1000, "overflow: 1000 is past what e4m3fn holds, and is taken as nan"),
        ("e4m3fn", float("inf"), "overflow: inf is past what e4m3fn holds, and is taken as nan"),
        ("e2m1fn", Fraction(100), r"overflow: Fraction\(100, 1\) is past .*, and is taken as 6"),
        ("ue5m3", -1, "invalid value: -1 is past what ue5m3 holds, and is taken as"),
    ],
)
def test_what_does_not_fit_is_told_as_numpy_tells_it(format, number, message):
    x = ww.array([1.0, 2.0], format)
    for use in (lambda: x * number, lambda: number + x, lambda: x.__setitem__(0, number)):
        with pytest.warns(RuntimeWarning, match=message) as told:
            use()
        assert told[0].filename == __file__
    kind = message.split()[0].removesuffix(":")[:4]
    raised = pytest.raises(FloatingPointError, match=message)
    with np.errstate(**{"over" if kind == "over" else "invalid": "raise"}), raised:
        x * number
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        x * number


def test_what_fits_warns_of_nothing():
    x = ww.array([1.0], "e5m10")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in (65519, 1e-30, float("inf"), nan, -65504, Decimal("NaN")):
            x * number
        x * 60000 * 60000  # the result's overflow is a flag's matter
    with pytest.raises(ValueError, match="e2m1fn has no NaN"):
        ww.array([1.0], "e2m1fn") * nan


@pytest.mark.parametrize("number", [np.float64(1), np.float32(1), np.int8(1), np.ones(2), [1.0]])
def test_numpys_numbers_have_formats_of_their_own(number):
    x = ww.array([1.0, 2.0], "e5m10")
    with pytest.raises(TypeError, match="operators take Arrays of one format and Python's numbers"):
        x + number


# --- In place --------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e20m64", "e15m112"])
def test_operators_in_place_write_into_the_array(format):
    x, y = ww.array([1.5, -2.0, 0.1], format), ww.array([3.0, 0.5, 7.0], format)
    wanted = [x + y, x - y, x * y, x / y, 2 * x]
    for do, number, z in zip(
        (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imul),
        (y, y, y, y, 2),
        wanted,
        strict=True,
    ):
        into = x.copy()
        seen = into[::1]
        assert do(into, number) is into
        np.testing.assert_array_equal(into.bits, z.bits)
        np.testing.assert_array_equal(seen.bits, z.bits)
    x[0] += y[0]
    np.testing.assert_array_equal(x[0].bits, wanted[0][0].bits)
    x[1:] *= 2
    np.testing.assert_array_equal(x[1:].bits, wanted[4][1:].bits)


def test_a_loop_sums_in_place_as_the_unit_does():
    rng = np.random.default_rng(1)
    a, b = (ww.array(rng.standard_normal(50), "bfloat16") for _ in range(2))
    s = kept = ww.array(0.0, "bfloat16")
    for x, y in zip(a, b, strict=True):
        s += x * y
    assert s is kept and s.bits == ww.dot(a, b, unit="mac(bfloat16)").bits


def test_products_in_place_are_spread_over_no_array():
    """NumPy refuses it likewise: a matrix product is no element of what it is to overwrite."""
    for x, y in (([1.0, 2.0], [1.0, 2.0]), ([[1.0, 2.0]] * 2, [1.0, 2.0])):
        x, y = ww.array(x, "e5m10"), ww.array(y, "e5m10")
        with pytest.raises(ValueError, match="matmul into an array of shape .*: its result has sh"):
            x @= y
    square = ww.array([[1.0, 2.0], [3.0, 4.0]], "e5m10")
    same, before = square, square.copy()
    square @= before
    assert same is square and (square.bits == (before @ before).bits).all()


def test_out_takes_what_fits():
    x = ww.array([[1.0, 2.0]], "e5m10")
    z, truths = ww.zeros((3, 2), "e5m10"), np.zeros((1, 2), bool)
    assert np.add(x, 1, out=z) is z and z.to_float64().tolist() == [[2, 3]] * 3
    assert np.less(x, 1.5, out=truths) is truths and truths.tolist() == [[True, False]]
    with pytest.raises(ValueError, match=r"into an array of shape \(2,\): its result has shape"):
        z[0] += z
    with pytest.raises(TypeError, match="add into Array of e4m3fn: its result is Array of e5m10"):
        np.add(x, x, out=ww.zeros((1, 2), "e4m3fn"))


# --- One number ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e20m64", "ue5m3", "e8m0fnu"])
def test_one_number_is_true_an_integer_and_a_float(format):
    for x in codes(format, 300):
        kind = str(ww.classify(x))
        assert bool(x) == ("zero" not in kind)
        if kind.endswith("infinity"):
            with pytest.raises(OverflowError, match="an infinity is no integer"):
                int(x)
        elif "nan" in kind:
            with pytest.raises(ValueError, match="NaN is no integer"):
                int(x)
        elif abs(x.to_scaled()[()][1]) < 2000:
            value = x.to_fractions()[()]
            assert int(x) == trunc(x) == int(value) and round(x) == round(value)
            if abs(value) < 2**1000 and Fraction(float(value)) == value:
                assert float(x) == float(value)


def test_tiny_and_huge_numbers_are_integers_at_once():
    tiny, huge = ww.array(["-3p-500000000", "3p500000000"], "e30m10")
    assert int(tiny) == 0 and tiny and huge
    with pytest.raises(OverflowError, match="too long to write out"):
        int(huge)


def test_several_numbers_are_no_one():
    x = ww.array([1.0, 2.0], "e5m10")
    for use in (int, float):
        with pytest.raises(TypeError, match=r"an array of shape \(2,\) is not one number"):
            use(x)
    with pytest.raises(TypeError, match=r"an array of shape \(2,\) has no truth"):
        bool(x)
    assert bool(x[:1]) and int(x[1:]) == 2


@pytest.mark.parametrize("format", ["e5m10", "e8m23", "e11m52", "e4m3fn"])
@pytest.mark.parametrize("places", [-2, -1, 1, 2, 5])
def test_round_is_to_the_decimal_and_then_once_to_the_format(format, places):
    x = codes(format, 400)
    x = x[ww.isfinite(x)]
    got = np.round(x, places)
    one = round(x[3], places)
    assert one.format == x.format and one.bits == got.bits[3]
    for value, z in zip(x, got, strict=True):
        wanted = ww.array(round(value.to_fractions()[()], places), x.format)
        np.testing.assert_array_equal(abs(z).bits, abs(wanted).bits)
        assert np.signbit(z) == np.signbit(value)


def test_round_leaves_specials_alone():
    x = ww.array([float("inf"), -0.0, nan, -0.001, 65504], "e5m10")
    assert repr(np.round(x, 2)) == "Array([inf -0 nan -0 65504], e5m10)"
    assert repr(round(ww.array(2.675, "binary64"), 2)) == "Array(2.67, e11m52)"
    assert repr(round(ww.array([2.5, 3.5], "e5m10"))) == "Array([2 4], e5m10)"
    with pytest.raises(TypeError):
        round(x, 1.5)


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e20m64", "e5m7;bias=-400", "ue5m3"])
def test_comparisons_with_a_number_are_of_its_exact_value(format):
    x = codes(format, 60)
    x = x[ww.isfinite(x)]
    x = x[[abs(exponent) < 5000 for _, exponent in x.to_scaled()]]
    values = x.to_fractions()
    third = Fraction(1, 3)
    for number in (0.1, third, Decimal("0.1"), 2**53 + 1, -(10**40), 10**400, np.float32(0.1)):
        exact = Fraction(number) if not isinstance(number, np.generic) else Fraction(float(number))
        assert (x < number).tolist() == [v < exact for v in values]
        assert (x <= number).tolist() == [v <= exact for v in values]
        assert (x == number).tolist() == [v == exact for v in values]
        assert (number > x).tolist() == [v < exact for v in values]
    for value in values[:20]:
        assert (x == value).tolist() == [v == value for v in values]
        assert (x >= value + Fraction(1, 10**30)).tolist() == [v > value for v in values]


def test_comparisons_at_the_limits_of_formats():
    x = ww.array([1, 3], "e20m4095")
    assert (x < 2).tolist() == [True, False] and (x == 3).tolist() == [False, True]
    with pytest.raises(ValueError, match=r"Fraction\(1, 3\) is no number of e20m4095"):
        x < Fraction(1, 3)  # noqa: B015
    assert np.fmod(x, 2).to_float64().tolist() == [1, 1]
    wide = ww.array(["1", "3p2000000000000000000"], "e62m3")
    assert (wide > 0.1).all() and (wide < 10**400).tolist() == [True, False]
    single = ww.from_bits(np.uint8([0, 127, 254]), "e8m0fnu")
    assert (single > Fraction(3, 4)).tolist() == [False, True, True]


# --- What C's library has ------------------------------------------------------------------------

DIRECTED = [0.0, -0.0, 1.0, -1.0, 3.0, 65504.0, 6e-8, -6e-8, 6.1e-5, np.inf, -np.inf, nan]


def pairs(format):
    x, y = codes(format, 3000, 1), codes(format, 3000, 2)
    special = ww.array([a for a in DIRECTED for _ in DIRECTED], x.format)
    other = ww.array([b for _ in DIRECTED for b in DIRECTED], x.format)
    return np.concatenate([x, special]), np.concatenate([y, other])


def same(ours, theirs):
    np.testing.assert_array_equal(ours.bits.view(theirs.dtype), theirs)
    assert (np.signbit(ours) == np.signbit(theirs))[~np.isnan(theirs)].all()


@pytest.mark.parametrize("f", ["e5m10", "posit16", "fixed8.4", "binary128", "takum16"])
def test_single_numbers_make_single_numbers(f):
    x, y = ww.array(1.0, f), ww.array(2.0, f)
    one = (ww.nextafter(x, y), ww.nextafter(x, x), ww.spacing(x), ww.fmod(y, x), ww.ldexp(x, 1))
    one += (np.nextafter(x, 2), ww.next_up(x), ww.add(x, y), ww.max_num(x, y), ww.copysign(x, y))
    one += (x.astype("e8m23"), ww.abs(x), x[()])
    assert [z.shape for z in one] == [()] * len(one)
    assert ww.nextafter(x, y, flags=True)[1].shape == ()
    assert ww.nextafter(x, ww.array([2.0, 0.0], f)).shape == (2,)


@pytest.mark.parametrize("format", NUMPY)
@pytest.mark.parametrize("function", [np.fmod, np.nextafter])
def test_functions_of_two_agree_with_numpy(format, function):
    x, y = pairs(format)
    if format == "e5m10" and function is np.nextafter:  # of two zeros C delivers y, NumPy x there
        plain = (x != 0) | (y != 0)
        x, y = x[plain], y[plain]
    with np.errstate(all="ignore"):
        theirs = function(x.bits.view(NUMPY[format]), y.bits.view(NUMPY[format]))
        same(function(x, y), theirs)
        same(getattr(ww, function.__name__)(x, y), theirs)


@pytest.mark.parametrize("format", ["e8m23", "e11m52"])  # np.spacing of float16 is wrong below 0
def test_spacing_agrees_with_numpy(format):
    x, _ = pairs(format)
    with np.errstate(all="ignore"):
        same(np.spacing(x), np.spacing(x.bits.view(NUMPY[format])))


@pytest.mark.parametrize("format", NUMPY)
def test_frexp_and_ldexp_agree_with_numpy(format):
    x, _ = pairs(format)
    with np.errstate(all="ignore"):
        m, n = np.frexp(x)
        theirs = np.frexp(x.bits.view(NUMPY[format]))
        same(m, theirs[0])
        assert n.dtype == np.int32 and (n == theirs[1]).all()
        by = np.random.default_rng(3).integers(-80, 80, len(x)).astype(np.int32)
        same(np.ldexp(x, by), np.ldexp(x.bits.view(NUMPY[format]), by))
    plain = np.ldexp(m, n)
    assert (plain.bits == x.bits)[~ww.isnan(x)].all()


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e3m2fn", "binary8p3", "e4m3fnuz", "ue5m3"])
def test_small_formats_agree_with_fractions(format):
    x = all_codes(format)
    values = {int(c): v for c, v in zip(x.bits, x.to_float64("rne"), strict=True)}
    finite = sorted({v for v in values.values() if isfinite(v)})
    a, b = np.broadcast_arrays(x[:, None], x[None, ::3])
    signalling = {v for v in values.values() if format in ("e5m2", "ue5m3") and v != v}
    rests, flags = ww.fmod(a, b, flags=True)
    after = ww.nextafter(a, b)
    for i in range(0, len(x), 5):
        for j in range(b.shape[1]):
            v, w = values[int(a.bits[i, j])], values[int(b.bits[i, j])]
            rest = rests[i, j].to_float64()
            if not (isfinite(v) and w == w and w != 0):
                assert np.isnan(rest) or not a.format.has_nan
                assert bool(flags[i, j] & 16) == (v == v and w == w) or {v, w} & signalling
            else:
                assert rest == fmod(v, w) and flags[i, j] == 0
            near = after[i, j].to_float64()
            if v != v or w != w:
                assert np.isnan(near)
            elif isfinite(v):
                beyond = [u for u in finite if (v < u if v < w else u < v)]
                wanted = v if v == w else (min if v < w else max)(beyond, default=None)
                assert near == (wanted if wanted is not None else w)  # an infinity behind the last
    gaps = np.spacing(x)
    for code, v in values.items():
        size = abs(v)
        above = [u for u in finite if u > size]
        if isfinite(v) and above:
            wanted = min(above) - size
            assert abs(gaps[code].to_float64()) == wanted
            assert np.signbit(gaps[code]) == (v < 0)
        elif isfinite(v) and not ww.Format(format).has_inf:
            assert abs(gaps[code].to_float64()) == size - max(u for u in finite if u < size)


@pytest.mark.parametrize("format", ["posit8es2", "takum16", "e4m3fn", "fixed8.4", "e5m2", "int8"])
def test_a_number_that_the_format_lacks_is_a_direction_too(format):
    x = ww.array([1.0, -2.0, 0.0, 3.0], format)
    for towards, step in ((np.inf, ww.next_up), (-np.inf, ww.next_down)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (np.nextafter(x, towards).bits == step(x).bits).all()
            assert (np.nextafter(x, np.float32(towards)).bits == step(x).bits).all()
    near = np.nextafter(x[:1], 1 + 1e-12)
    assert (near.bits == ww.next_up(x[:1]).bits).all()
    assert np.nextafter(x, 3.0).bits[3] == x.bits[3]


def test_fmod_of_two_formats_rounds_once():
    x, y = ww.array([1e4, -77.7], "binary32"), ww.array([0.3, 5.0], "e4m3fn")
    (a, b), (c, d) = x.to_fractions(), y.to_fractions()
    exact = [a % c, -(-b % d)]
    z, flags = ww.fmod(x, y, format="e5m2", rounding="rup", flags=True)
    assert (z.bits == ww.array(exact, "e5m2", rounding="rup").bits).all()
    assert flags.tolist() == ww.array(exact, "e5m2", rounding="rup", flags=True)[1].tolist()
    with pytest.raises(TypeError, match="x is e8m23 and y is e4m3fn; name the result's format"):
        ww.fmod(x, y)


def test_what_has_no_parts_says_so():
    with pytest.raises(ValueError, match="has no numbers from 0.5 to 1"):
        ww.frexp(ww.array([1e200], "e4m3;bias=-400"))
    with pytest.raises(TypeError, match="x is float; an Array or unsigned integers"):
        ww.nextafter(1.0, ww.array(2.0, "e5m10"))
    signalling = ww.from_bits(0x7C01, "e5m10")
    assert ww.nextafter(signalling, ww.array(1.0, "e5m10"), flags=True)[1] == 16


def test_powers_of_any_integer_dtype_are_what_they_say():
    x = ww.array([1.0, -1.0, 0.0], "binary32")
    for n in (np.uint64(2**64 - 1), np.uint64(2**63), np.int64(2**63 - 1), np.uint8(200)):
        z, flags = ww.ldexp(x, n, flags=True)
        assert z.to_float64().tolist() == [np.inf, -np.inf, 0.0], n
        assert flags.tolist() == [5, 5, 0]


@pytest.mark.parametrize("format", ["e62m10", "e62m3000", "e40m20"])
def test_powers_reach_from_one_end_of_a_wide_format_to_the_other(format):
    f = ww.Format(format)
    zero, endless = ww.zeros((), f), ww.array(np.inf, f)
    least, most = ww.next_up(zero), ww.next_down(endless)
    for x, n, end in ((least, 2**63 - 1, most), (most, -(2**63), least)):
        z, flags = ww.scaleb(x, n, flags=True)
        assert (ww.isinf(z) and flags == 5) if end is most else (z == 0 and flags == 3)
    width = f.emax - f.emin + f.fraction_bits
    there = ww.scaleb(least, width, flags=True)
    assert there[1] == 0 and ww.scaleb(there[0], -width) == least
    assert ww.equal(ww.logb(there[0], format="e8m70"), ww.array(f.emax, "e8m70"))


def test_a_nan_that_a_format_lacks_is_told_of_on_the_way_to_it():
    one, nan = ww.array([1.0, 1.0], "e2m1fn"), ww.array([np.nan, 2.0], "e5m10")
    z, flags = ww.nextafter(one, nan, flags=True)
    wanted, raised = ww.convert(nan, "e2m1fn", flags=True)
    assert (z.bits[0], flags[0]) == (wanted.bits[0], raised[0]) and raised[0] == 16
    assert z[1].to_float64() == 1.5 and flags[1] == 0


def test_fmod_takes_every_format_and_no_setting_that_there_is_not():
    x, y = ww.array([8.0, 4.0], "e8m0fnu"), ww.array([3.0, 3.0], "e5m10")
    assert ww.fmod(x, y, format="e5m10").to_float64().tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="bogus"):
        ww.fmod(y, y, nan="bogus")
