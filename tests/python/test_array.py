"""Arrays: made from values and codes, exact on the way in and out."""

import array
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import widthwise as ww
from calls import calls
from hypothesis import given
from hypothesis import strategies as st

FORMATS = ["e5m10", "bfloat16", "e4m3fn", "e5m2", "e9m6", "binary32", "binary64"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_binary64_rounds_as_numpy_casts(dtype):
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [
            rng.standard_normal(20_000) * 10.0 ** rng.integers(-9, 6, 20_000),
            [0.0, -0.0, np.inf, -np.inf],
        ]
    )
    f = ww.Format(f"binary{8 * np.dtype(dtype).itemsize}")
    with np.errstate(over="ignore"):
        theirs = x.astype(dtype)
    np.testing.assert_array_equal(ww.array(x, f).bits, theirs.view(f.dtype))


@pytest.mark.parametrize(
    "name",
    [
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
    ]
    + ["float8_e4m3b11fnuz", "float8_e3m4", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"],
)
def test_binary32_rounds_as_ml_dtypes_casts(name):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(20_000) * 2.0 ** rng.integers(-20, 20, 20_000)).astype(np.float32)
    theirs = x.astype(getattr(ml_dtypes, name))
    f = ww.Format(theirs.dtype.name)
    ours = ww.array(x, f)
    nan = np.isnan(theirs.astype(np.float32))
    np.testing.assert_array_equal(ours.bits[~nan], theirs.view(f.dtype)[~nan])
    np.testing.assert_array_equal(ww.isnan(ours), nan)
    np.testing.assert_array_equal(
        ww.array(theirs, f).bits[~nan], ours.bits[~nan]
    )  # their arrays, too


@given(st.fractions(), st.sampled_from(FORMATS))
def test_a_fraction_takes_the_nearest_of_its_neighbours(x, format):
    z = ww.array(x, format)
    if not ww.isfinite(z):
        return
    error = abs(z.to_fractions()[()] - x)
    for neighbour in (ww.next_up(z), ww.next_down(z)):
        if ww.isfinite(neighbour):
            assert error <= abs(neighbour.to_fractions()[()] - x)


@given(st.integers(-(2**200), 2**200), st.sampled_from(["rtz", "rdn", "rup"]))
def test_directed_rounding_of_an_integer_stays_on_its_side(x, rounding):
    value = ww.array(x, "e11m20", rounding=rounding).to_fractions()[()]
    assert {"rdn": value <= x, "rup": value >= x, "rtz": abs(value) <= abs(x)}[rounding]
    assert abs(value - x) <= abs(x) * Fraction(1, 2**20)


@pytest.mark.parametrize(
    "x, code",
    [
        (2**100, 0x7C00),
        (2049, 0x6800),
        (Fraction(1, 3), 0x3555),
        ("1/3", 0x3555),
        ("0x1.8p-7", 0x2200),
        ("3p-24", 0x0003),
        ("-1.5e-3", 0x9625),
        (Decimal("0.1"), 0x2E66),
        ("-inf", 0xFC00),
        ("nan", 0x7E00),
        ("-0", 0x8000),
        (-0.0, 0x8000),
        (True, 0x3C00),
        (np.float32(0.1), 0x2E66),
        (np.int8(-3), 0xC200),
        (np.uint64(2**64 - 1), 0x7C00),
    ],
)
def test_every_kind_of_number_is_taken_exactly(x, code):
    assert hex(ww.array(x, "e5m10").bits[()]) == hex(code)


@pytest.mark.parametrize(
    "mixed",
    [[2**53 + 1, 0.5], [-1, 2**63], [2**70, 1], [Fraction(2**60 + 1), 3]],
)
def test_a_list_is_never_taken_through_a_narrower_type(mixed):
    z = ww.array(mixed, "e15m112")
    assert list(z.to_fractions()) == [Fraction(x) for x in mixed]


def test_longdouble_keeps_all_of_its_digits():
    x = np.longdouble(1) + np.finfo(np.longdouble).eps
    for value in (x, np.array([x, -x])):
        z = ww.array(value, "e15m112")
        assert abs(z.to_fractions().reshape(-1)[-1]) == Fraction(*x.as_integer_ratio())
    assert ww.classify(ww.array(np.longdouble("-0.0"), "e5m10")) == "negative_zero"


def test_a_tie_of_binary64_is_not_rounded_twice():
    x = Fraction(1) + Fraction(1, 2**11) + Fraction(1, 2**80)  # a float would lose the last term
    assert ww.array(x, "e5m10").to_fractions()[()] == 1 + Fraction(1, 2**10)


def test_nan_goes_only_where_a_format_has_one():
    with pytest.raises(
        ValueError, match=r"x: element 1 is NaN and e2m1fn has no NaN; pass nan='zero'"
    ):
        ww.array([1.0, float("nan")], "e2m1fn")
    with pytest.raises(ValueError, match=r"is NaN and e2m1fn has no NaN"):
        ww.array(["1", "nan"], "e2m1fn")
    assert ww.array([1.0, float("nan")], "e2m1fn", nan="zero").bits.tolist() == [2, 0]
    with pytest.raises(ValueError, match=r"nan = 'one': it may be None or 'zero'"):
        ww.array([1.0], "e2m1fn", nan="one")


def test_flags_tell_what_rounding_did():
    z, flags = ww.array([1.0, 0.1, 1e9, 1e-9], "e5m10", flags=True)
    assert flags.dtype == np.uint8
    assert flags.tolist() == [0, 1, 5, 3]


@pytest.mark.parametrize(
    "x, error, message",
    [
        ("1.2.3", ValueError, r"x '1.2.3', column 4: found '.'"),
        (["1", "1/0"], ValueError, r"x\[1\] '1/0', column 3: a division by zero; write inf or nan"),
        (["1", "abc"], ValueError, r"x\[1\] 'abc', column 1: found 'a'; wanted a number"),
        ("1e2000000", ValueError, r"decimal exponent = 2000000: it may be -1000000 to 1000000"),
        (1j, TypeError, r"x holds a complex, 1j; numbers, Fractions, Decimals and texts"),
        ([object], TypeError, r"x holds a type"),
    ],
)
def test_what_is_no_number_is_refused(x, error, message):
    with pytest.raises(error, match=message):
        ww.array(x, "e5m10")


# --- Codes ---------------------------------------------------------------------------------------


def test_bits_are_the_array_that_was_given():
    codes = np.array([0x3C00, 0x7BFF], np.uint16)
    x = ww.from_bits(codes, "e5m10")
    assert np.shares_memory(x.bits, codes)
    codes[0] = 0x4000
    assert x.to_float64().tolist() == [2.0, 65504.0]
    assert not np.shares_memory(ww.from_bits(codes, "e5m10", copy=True).bits, codes)


def test_integers_of_any_type_are_codes_where_they_fit():
    every = ww.from_bits(np.arange(256), "e4m3fn")
    assert every.bits.dtype == np.uint8 and every.bits.tolist() == list(range(256))
    assert ww.from_bits([[0x3C00], [0x4000]], "e5m10").shape == (2, 1)


def test_truths_are_ones_and_zeros():
    for truths in ([True, False], np.array([True, False]), (np.bool_(1), False)):
        assert str(ww.array(truths, "e4m3fn")) == "[1 0]"


@pytest.mark.parametrize(
    "hold", [pd.Series, pl.Series, array.array, memoryview], ids=lambda x: x.__name__
)
def test_what_other_libraries_hold_is_taken_as_numpys(hold):
    values = np.random.default_rng(3).normal(size=10_000)
    few, held = (
        hold("d", x.tobytes()) if hold is array.array else hold(x) for x in (values[:3], values)
    )
    x = ww.array(held, "e5m10")
    assert calls(lambda: ww.array(held, "e5m10")) == calls(lambda: ww.array(few, "e5m10"))
    np.testing.assert_array_equal(x.bits, values.astype(np.float16).view(np.uint16))


def test_what_a_mask_hides_is_no_value():
    values = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(TypeError, match=r"x hides elements behind its mask; .*x.filled\(0\)"):
        ww.array(values, "e5m10")
    assert str(ww.array(values[:1], "e5m10")) == "[1]"


def test_arrays_in_a_list_are_stacked():
    sums = [ww.array(v, "e5m10") for v in ([1.0, 2.0], [3.0, 4.0])]
    assert str(ww.array(sums, "e4m3fn")) == "[[1 2]\n [3 4]]"
    with pytest.raises(TypeError, match="e5m10 and e8m7: it moves Arrays of one format"):
        ww.array([sums[0], sums[0].astype("e8m7")], "e5m10")
    with pytest.raises(TypeError, match="bits is an Array of e5m10; its codes are its .bits"):
        ww.from_bits(sums[0], "e5m10")


def test_a_shape_is_whole_numbers():
    assert ww.zeros(np.int64(3), "e5m10").shape == (3,) and ww.zeros([], "e5m10").shape == ()
    with pytest.raises(ValueError, match=r"shape = -1: it may be 0 to 2\^63 - 1"):
        ww.zeros((2, -1), "e5m10")
    with pytest.raises(TypeError, match="shape = 2.5: an integer is wanted"):
        ww.zeros(2.5, "e5m10")


@pytest.mark.parametrize(
    "lists", [[[1, 2], [3]], [[1.0], 2.0], [[1.5, 2], []], [[1.0], [1.0, 2.0]]]
)
def test_rows_of_unequal_lengths_are_told(lists):
    with pytest.raises(ValueError, match="^x holds lists of unequal lengths; an array's rows are"):
        ww.array(lists, "e5m10")


def test_codes_out_of_other_integers_are_checked_and_fast():
    many = np.arange(1 << 12) % 256
    np.testing.assert_array_equal(ww.from_bits(many, "e4m3fn").bits, many)
    of_few = calls(lambda: ww.from_bits(many[:2], "e4m3fn"))
    assert calls(lambda: ww.from_bits(many, "e4m3fn")) == of_few
    with pytest.raises(ValueError, match=r"bits\[1\] = -0x1 is no code of e4m3fn"):
        ww.from_bits(np.array([3, -1]), "e4m3fn")
    with pytest.raises(ValueError, match=r"bits\[2\] = 0x100 is no code of e4m3fn"):
        ww.from_bits(np.array([3, 255, 256]), "e4m3fn")
    signed = ww.array([-1.0, 1.0], "e5m10").bits.view(np.int16)
    with pytest.raises(ValueError, match=r"bits holds int16 below 0; .*pass bits.view\('uint16'\)"):
        ww.from_bits(signed, "e5m10")
    assert str(ww.from_bits(signed[1:], "e5m10")) == "[1]"


@pytest.mark.parametrize(
    "format, dtype", [("e2m1fn", "u1"), ("e5m10", "u2"), ("tf32", "u4"), ("e11m52", "u8")]
)
def test_codes_take_the_least_integer_that_holds_them(format, dtype):
    assert ww.zeros(3, format).bits.dtype == dtype


def test_wide_codes_are_limbs_on_a_hidden_axis():
    x = ww.array([[1.0, 2.0, 3.0], [4.0, 5.0, "1/3"]], "e20m64")
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and len(x) == 2
    assert x.bits.shape == (2, 3, 2) and x.bits.dtype == np.uint64
    assert (x.T.bits == x.bits.transpose(1, 0, 2)).all()
    again = ww.from_bits(x.bits, "e20m64")
    assert again.to_fractions()[0].tolist() == [1, 2, 3]
    assert ww.from_bits([0x7FFFF << 64], "e20m64").to_fractions()[0] == 1


@pytest.mark.parametrize(
    "bits, format, error, message",
    [
        (
            np.uint8([0x10]),
            "e2m1fn",
            ValueError,
            r"element 0 is 0x10; codes of e2m1fn take 4 bits, 0 to 0xf",
        ),
        (np.int64([-1]), "e5m10", ValueError, r"bits\[0\] = -0x1 is no code of e5m10"),
        (np.uint16([256]), "e4m3fn", ValueError, r"bits\[0\] = 0x100 is no code of e4m3fn"),
        (np.float64([1]), "e5m10", TypeError, r"bits holds float64.*ww.array\(bits, 'e5m10'\)"),
        ([1.0], "e5m10", TypeError, r"bits holds 1.0; codes of e5m10 are integers of 16 bits"),
        ([0x10000], "e5m10", ValueError, r"bits\[0\] = 0x10000 is no code of e5m10"),
        (
            np.zeros((2, 3), "u8"),
            "e20m64",
            ValueError,
            r"codes of e20m64 have 2 limbs on a last axis",
        ),
        (np.full((1, 2), 2**63, "u8"), "e20m64", ValueError, r"codes of e20m64 take 85 bits"),
    ],
)
def test_codes_that_do_not_fit_are_refused(bits, format, error, message):
    with pytest.raises(error, match=message):
        ww.from_bits(bits, format)


# --- Values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "format", ["e5m10", "bfloat16", "e4m3fn", "e3m4", "binary8p3", "e5m10;bias=20"]
)
def test_every_code_survives_float64_and_fractions(format):
    f = ww.Format(format)
    x = ww.from_bits(np.arange(1 << f.width, dtype=f.dtype), f)
    x = x[ww.isfinite(x)]
    assert x.size > 200
    np.testing.assert_array_equal(ww.array(x.to_float64(), f).bits, x.bits)
    fractions = x.to_fractions()
    assert [Fraction(v) for v in x.to_float64()] == fractions.tolist()


def test_to_float64_is_exact_or_names_what_to_pass():
    x = ww.array(["1/3", 1], "e15m112")
    with pytest.raises(
        ValueError, match=r"element 0 of this e15m112 array, 0.3333.* is no float64"
    ):
        x.to_float64()
    with pytest.raises(
        ValueError, match=r"\.to_float64\(rounding='rne'\), or take \.to_fractions\(\)"
    ):
        x.to_float64()
    assert x.to_float64("rne").tolist() == [1 / 3, 1.0]
    assert x.to_float64(rounding="rup")[0] == np.nextafter(1 / 3, 1)


def test_values_past_every_fraction_are_scaled_integers():
    x = ww.array(["3p1000000000", "-5p-1000000000"], "e40m20")
    assert x.to_scaled().tolist() == [(3, 10**9), (-5, -(10**9))]
    with pytest.raises(OverflowError, match=r"take \.to_scaled\(\)"):
        x.to_fractions()


def test_an_infinity_is_no_fraction():
    with pytest.raises(ValueError, match=r"element \[1\] is infinite, which is no fraction"):
        ww.array([1.0, np.inf], "e5m10").to_fractions()


def test_numpy_sees_exact_values_or_nothing():
    x = ww.array([[0.5, 1.5]], "e4m3fn")
    assert np.asarray(x).tolist() == [[0.5, 1.5]]
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match=r"as int8: it does not have all these values of e4m3fn"):
        np.asarray(x, dtype=np.int8)
    with pytest.raises(TypeError, match="as float32: it does not have all"):
        np.asarray(ww.array([1.0000000001], "binary64"), dtype=np.float32)
    assert np.isnan(np.asarray(ww.array([np.nan], "e5m10"), dtype=np.float32)).all()
    with pytest.raises(TypeError, match=r"as a NumPy array: element 0 .* name a rounding"):
        np.asarray(ww.array(["1/3"], "e15m112"))
    with pytest.raises(ValueError, match="values are made, not viewed; take .bits"):
        np.array(x, copy=False)


def test_astype_rounds_once_in_any_mode():
    x = ww.array([464.0, 464.5, 1e6], "binary32")
    assert x.astype("e4m3fn").to_float64()[0] == 448
    assert np.isnan(x.astype("e4m3fn").to_float64()[1:]).all()
    assert x.astype("e4m3fn", rounding="rtz").to_float64().tolist() == [448.0] * 3
    assert x.astype("e4m3fn;overflow=max").to_float64().tolist() == [448.0] * 3


# --- Protocols -----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["e5m10", "e20m64"])
def test_arrays_index_reshape_iterate_and_pickle(format):
    x = ww.array(np.arange(12.0).reshape(3, 4), format)
    assert x[1, 2].to_float64() == 6
    assert float(x[1, 2]) == 6
    assert x[1:, ::2].to_float64().tolist() == [[4, 6], [8, 10]]
    assert x[..., 1].to_float64().tolist() == [1, 5, 9]
    assert [row.to_float64()[0] for row in x] == [0, 4, 8]
    assert x.reshape(4, 3).shape == (4, 3) and x.ravel().shape == (12,)
    again = pickle.loads(pickle.dumps(x))
    assert again.format == x.format and (again.bits == x.bits).all()
    copy = x.copy()
    copy[0, 0] = ww.array(7.0, format)
    assert copy[0, 0].to_float64() == 7 and x[0, 0].to_float64() == 0


def test_an_element_of_another_format_is_refused():
    x = ww.zeros(2, "e5m10")
    with pytest.raises(TypeError, match=r"an element of e5m10 is wanted, not e4m3fn; take value"):
        x[0] = ww.array(1.0, "e4m3fn")


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e20m64", "e15m112"])
def test_assignment_rounds_values_as_array_does(format):
    values = [0.1, "1/3", Fraction(2**70 + 1), np.float32(-0.0), 7]
    x = ww.zeros((2, len(values)), format)
    with np.errstate(over="ignore"):  # of 2^70
        x[0] = values
    x[1, ::2] = 1e-3
    assert (x[0].bits == ww.array(values, format).bits).all()
    assert (x[1, ::2].bits == ww.array([1e-3] * 3, format).bits).all()
    assert not x[1, 1::2].bits.any()
    x[x == ww.array(7, format)] = np.nan
    assert ww.isnan(x[0, 4])
    with pytest.raises(ValueError, match="is NaN and e2m1fn has no NaN"):
        ww.zeros(2, "e2m1fn")[0] = np.nan


def test_the_codes_travel_by_dlpack():
    x = ww.array([1.0, 2.0], "e5m10")
    assert np.from_dlpack(x).tolist() == [0x3C00, 0x4000]


def test_several_numbers_have_no_truth_and_no_array_a_hash():
    x = ww.array([1.0, 2.0], "e5m10")
    with pytest.raises(TypeError, match=r"an array of shape \(2,\) has no truth"):
        bool(x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="a single number has no length"):
        len(x[0])
    with pytest.raises(TypeError, match="make arrays with ww.array"):
        ww.Array()


def test_printing_shows_the_shortest_text_that_is_read_back():
    x = ww.array([0.1, 1 / 3, 65504, np.inf, np.nan, -0.0], "e5m10")
    assert repr(x) == "Array([0.1 0.3333 65504 inf nan -0], e5m10)"
    assert repr(ww.array([90000, 2**30, -1e15, 448], "e8m7")) == (
        "Array([90112 1.074e+09 -1e+15 448], e8m7)"
    )
    assert str(ww.array([123456789, 2**31, 1e9, 1e15], "e8m23")) == (
        "[123456792 2.1474836e+09 1000000000 1e+15]"
    )
    assert str(ww.array([1e15 + 1, 2**53, 1e16], "e11m52")) == (
        "[1000000000000001 9007199254740992 1e+16]"
    )
    f = ww.Format("e5m10")
    every = ww.from_bits(np.arange(0, 1 << 16, 7, dtype=np.uint16), f)
    every = every[ww.isfinite(every)]
    texts = every._texts(every.bits)
    assert len(texts) > 9000
    assert (ww.array(texts, f).bits == every.bits).all()


def test_a_long_array_prints_its_ends():
    assert "..." in repr(ww.zeros(5000, "e5m10"))
    html = ww.zeros(100, "e5m10")._repr_html_()
    assert "88 more" in html and "color:" in html


def test_zeros_are_positive_and_refused_where_there_is_none():
    assert not ww.zeros((2, 2), "e15m112").bits.any()
    with pytest.raises(ValueError, match="e8m0fnu has no zero"):
        ww.zeros(2, "e8m0fnu")


def test_dir_of_an_array_lists_its_attributes():
    assert {"bits", "format", "shape"} <= set(dir(ww.array([1.0], "e5m10")))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ww.array([[1, 2], [float("nan"), 1]], "e2m1fn"),
            r"element \[1, 0\] is NaN and e2m1",
        ),
        (lambda: ww.array([1, float("nan")], "e2m1fn"), "element 1 is NaN and e2m1fn has no NaN"),
        (
            lambda: ww.array([["1", "2"], ["x", "1"]], "e5m10"),
            r"^x\[1, 0\] 'x', column 1: found 'x'",
        ),
        (lambda: ww.array(["1", "x"], "e5m10"), r"^x\[1\] 'x', column 1: found 'x'"),
        (lambda: ww.from_bits([[1, 2], [3, 300]], "e4m3fn"), r"^bits\[1, 1\] = 0x12c is no code"),
        (lambda: ww.from_bits(np.uint16([[1], [9999]]), "e4m5"), r"element \[1, 0\] is 0x270f"),
        (
            lambda: ww.array([[1, "1p2000"]], "e20m3").to_float64(),
            r"^element \[0, 1\] of this e20m3",
        ),
        (lambda: ww.array([[1, "1p99999999"]], "e40m3").to_fractions(), r"^element \[0, 1\] is an"),
    ],
)
def test_an_element_is_named_by_its_subscript(call, message):
    with pytest.raises((ValueError, OverflowError), match=message):
        call()


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_one_nan_or_infinity_is_met_wherever_it_lies(dtype, step):
    wraps = "fixed8.4;overflow=wrap"
    for size in (1, 17, 130, 40_000):
        for place in {0, size // 2, size - 1, 16_384 % size}:
            x = np.full(size * abs(step), 1.5, dtype)[::step]
            for stranger, to in ((-np.nan, "int8"), (np.nan, "table(nf4)"), (-np.inf, wraps)):
                x[place] = stranger
                with pytest.raises(ValueError, match=rf"element {place}\b"):
                    ww.array(x, to)
            assert ww.array(x, "fixed8.4").to_float64()[place] == -8
            x[place] = -np.finfo(dtype).max
            ww.array(x, wraps)  # which is no infinity
