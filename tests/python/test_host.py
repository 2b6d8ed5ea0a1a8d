"""What all frameworks ask the host, without one of them: ranges, dtypes, values to values."""

import math

import numpy as np
import pytest
import widthwise as ww
from widthwise import _host
from widthwise._format_facts import highest, lowest

POLICIES = ["ieee", "inf", "max", "nan", "satfinite"]
FORMATS = [
    *(f"e4m3;overflow={policy}" for policy in POLICIES),
    *(f"e3m2;nan=none;overflow={policy}" for policy in ("max", "satfinite")),
    *(f"fixed6.2;overflow={way}" for way in ("saturate", "symmetric", "zero")),
    *(f"ufixed6.2;overflow={way}" for way in ("saturate", "zero")),
    "e4m3fn", "e4m3fn;overflow=nan", "e4m3fnuz", "e5m2;sub=no", "ue4m3", "e2m1fn", "int1", "int8",
    "posit8es2", "takum8", "table(nf4)", "table(-8,-1,0,1,7)", "table(-3,-1,-0.5)", "table(1,2,3)",
]  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_the_ends_are_the_least_and_the_largest_of_all_codes(format):
    f = ww.Format(format)
    values = ww.from_bits(np.arange(1 << f.width, dtype=f.dtype), f).to_float64()
    values = values[np.isfinite(values)]
    if format.endswith("symmetric"):  # the least code is never delivered
        values = values[values > values.min()]
    assert (lowest(f), highest(f)) == (values.min(), values.max())
    assert _host.straight_range(format) == (values.min(), values.max())


@pytest.mark.parametrize("way", ["wrap", "wrap_sm", "keep_sign"])
def test_what_wraps_has_ends_and_no_range(way):
    f = ww.Format(f"fixed6.2;overflow={way}")
    assert (lowest(f), highest(f)) == (-8.0, 7.75)
    assert _host.straight_range(str(f)) is None


def test_ends_past_binary64_are_its_own():
    most = np.finfo(np.float64).max
    for format in ("e30m2", "binary128", "fixed64.-1000"):
        f = ww.Format(format)
        assert (lowest(f), highest(f)) == (-most, most)
    long = ww.Format("int80")
    assert lowest(long) == -(2.0**79)
    assert highest(long) == math.nextafter(2.0**79, 0)  # for 2^79 itself lies past it


def test_ends_below_the_normal_numbers_of_binary64_are_cut():
    least = 2.0**-1074
    for format, steps in (("fixed8.1080", 1), ("fixed8.1079", 3), ("fixed8.1074", 127)):
        assert highest(ww.Format(format)) == steps * least
        assert _host.straight_range(format) == (-(steps + 1) * least, steps * least)
    assert highest(ww.Format("fixed8.1100")) == 0


@pytest.mark.parametrize("given", [2, np.int8(2), [2, 2], (2, np.int64(2)), np.array([2, 2])])
def test_steps_are_one_integer_or_several_in_order(given):
    assert _host.step_of_each("stride", given, 2) == (2, 2)
    assert _host.step_of_each("stride", iter([2, 3]), 2) == (2, 3)


@pytest.mark.parametrize(
    "given",
    [{2, 3}, frozenset({2, 3}), {2: 0, 3: 0}, {2: 0, 3: 0}.keys(), {0: 2, 1: 3}.values(), b"23",
     bytearray(b"23"), "23", True, np.True_, [True, 2], np.array([True, True]), np.array(True),
     np.array(1.5)],
)  # fmt: skip
def test_steps_without_an_order_and_truths_are_none(given):
    with pytest.raises(ValueError, match="stride = .*: an integer or a pair of 1 or more"):
        _host.step_of_each("stride", given, 2)


@pytest.mark.parametrize(
    "format, dtype, fits",
    [
        ("e5m10", "float16", True),
        ("fixed11.-6", "float16", False),  # -65536, though 65472 is the largest
        ("fixed11.-6;overflow=symmetric", "float16", False),  # a code of which is that, too
        ("fixed11.-5", "float16", True),
        ("e30m2", "float64", False),
        ("e30m2", "torch.float64", False),
        ("int8", "torch.bfloat16", True),
        ("int16", "bfloat16", False),
    ],
)
def test_a_dtype_holds_a_format_whose_every_number_it_has(format, dtype, fits):
    assert _host.fits_in(ww.Format(format), dtype) is fits


def directed(dtype):
    own = np.finfo(dtype)
    special = [0.0, -0.0, own.tiny, -own.tiny / 2, own.max, -own.max, 1.0625, 17, np.inf, -np.inf]
    drawn = np.random.default_rng(1).standard_normal(6000) * 30  # past what is done at once
    return np.concatenate([special, drawn]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rounding", ["rne", "rup", "rtz", "sr8"])
@pytest.mark.parametrize(
    "format", ["e4m3fn", "fixed8.4;overflow=zero", "posit8es1", "table(-8,-1,0,1,7)"]
)
def test_values_are_those_of_ww_array(format, rounding, dtype):
    x = directed(dtype)
    x = x[np.isfinite(x)] if "zero" in format else x  # ww.array refuses infinities of it
    want = ww.array(x, format, rounding=rounding, seed=5).to_float64()
    for given, of in ((x, want), (x[::-1], None), (x[:7].reshape(7, 1, 1), want[:7]), (x[:0], [])):
        got = _host.quantized(given, format, rounding, None, 5)
        assert got.dtype == x.dtype and got.shape == given.shape
        of = ww.array(given, format, rounding=rounding, seed=5).to_float64() if of is None else of
        flat, of = got.reshape(-1).astype(np.float64), np.asarray(of)
        np.testing.assert_array_equal(flat, of)
        np.testing.assert_array_equal(np.signbit(flat), np.signbit(of))


ENDLESS = "x has infinities .* does not saturate; take overflow=saturate, or put"


@pytest.mark.parametrize(
    "number, format, words",
    [
        (np.nan, "fixed8.4", "x has NaN among its numbers, and fixed8.4 has none; put a number"),
        (np.nan, "e2m1fn", "x has NaN"),
        *((sign * np.inf, f"fixed8.4;overflow={overflow}", ENDLESS)
          for overflow in ("zero", "wrap", "wrap_sm", "keep_sign") for sign in (1, -1)),
    ],
)  # fmt: skip
def test_what_a_format_has_not_is_refused(number, format, words):
    x = np.float32([1.0, number])
    with pytest.raises(ValueError, match=words):
        _host.quantized(x, format, "rne", None, 0)
    with pytest.raises(ValueError, match=words):
        _host.rounded(x, ww.Format(format))


@pytest.mark.parametrize("text, words", [
    ("mxfp8", "nearest names: 'mxfp8_e4m3', 'mxfp8_e5m2'"), ("NVFP8", "nearest name: 'nvfp4'"),
    (" Affine(int8", "no text of affine integers"), ("e4m3fx", "column 5"),
])  # fmt: skip
def test_a_misspelt_text_is_told_of_its_own_kind(text, words):
    with pytest.raises(ValueError, match=words):
        _host.check_format(text)
