"""Formats: fields, exact values, text, and other packages' value tables."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww

gfloat = pytest.importorskip("gfloat", reason="gfloat is not installed")
from gfloat.formats import (  # noqa: E402
    format_info_bfloat16,
    format_info_binary16,
    format_info_ocp_e2m1,
    format_info_ocp_e2m3,
    format_info_ocp_e3m2,
    format_info_ocp_e4m3,
    format_info_ocp_e5m2,
    format_info_ocp_e8m0,
    format_info_p3109,
)
from gfloat.types import Domain, Signedness  # noqa: E402


@pytest.mark.parametrize(
    "text, width, precision, emin, emax, bias",
    [
        ("e5m10", 16, 11, -14, 15, 15),
        ("binary64", 64, 53, -1022, 1023, 1023),
        ("bfloat16", 16, 8, -126, 127, 127),
        ("e4m3fn", 8, 4, -6, 8, 7),
        ("e4m3fnuz", 8, 4, -7, 7, 8),
        ("e8m0fnu", 8, 1, -127, 127, 127),
        ("ue5m3", 8, 4, -14, 15, 15),
        ("e5m10;bias=20", 16, 11, -19, 10, 20),
        ("e15m112", 128, 113, -16382, 16383, 16383),
        ("e20m64", 85, 65, -524286, 524287, 524287),
    ],
)
def test_fields_are_those_of_the_format(text, width, precision, emin, emax, bias):
    f = ww.Format(text)
    assert (f.width, f.precision, f.emin, f.emax, f.bias) == (width, precision, emin, emax, bias)
    assert f.exponent_bits + f.fraction_bits + f.signed == width
    assert f.epsilon == Fraction(1, 2 ** (precision - 1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_named_values_are_numpys(dtype):
    info = np.finfo(dtype)
    f = ww.Format(f"binary{info.bits}")
    assert f.max_finite == int(info.max)
    assert f.min_normal == Fraction(float(info.tiny))
    assert f.min_subnormal == Fraction(float(info.smallest_subnormal))
    assert f.epsilon == Fraction(float(info.eps))


def test_exact_values_of_wide_formats_are_integers_and_fractions():
    f = ww.Format("e15m112")
    assert f.max_finite == (2**113 - 1) * 2 ** (16383 - 112)
    assert f.min_subnormal == Fraction(1, 2 ** (16382 + 112))
    assert isinstance(f.max_finite, int)


@pytest.mark.parametrize("name", ["max_finite", "min_normal", "min_subnormal"])
def test_a_value_too_long_to_write_out_names_the_scaled_one(name):
    f = ww.Format("e30m10")
    with pytest.raises(OverflowError, match=rf"\.{name}_scaled, \(integer, exponent\)"):
        getattr(f, name)
    significand, exponent = getattr(f, f"{name}_scaled")
    assert significand % 2 == 1
    assert abs(exponent) > 2**28


def small_texts():
    for width, point in itertools.product(range(1, 5), (-3, 0, 1, 2, 5)):
        for overflow in ("saturate", "symmetric", "wrap", "zero"):
            yield from (f"{u}fixed{width}.{point};overflow={overflow}" for u in ("", "u"))
    for exponent, fraction in itertools.product(range(4), range(3)):
        for more in ("", ";inf=no;nan=none", ";sub=no", ";inf=no"):
            yield f"e{exponent}m{fraction}{more}"


def is_format(text):
    try:
        return bool(ww.Format(text))
    except ValueError:
        return False


@pytest.mark.parametrize("text", list(filter(is_format, small_texts())))
def test_facts_of_the_smallest_formats_are_those_of_their_codes(text):
    f = ww.Format(text)
    numbers = ww.from_bits(np.arange(2**f.width, dtype=f.dtype), f).to_float64()
    finite = [Fraction(x) for x in numbers[np.isfinite(numbers)]]
    assert f.max_finite == max(finite) and f.epsilon == Fraction(2) ** -f.fraction_bits
    if f.system == "fixed":
        assert Fraction(2) ** f.emin == min(abs(x) for x in finite if x)
    assert f.facts()["values"]["max_finite"] and str(f.card()) and f._repr_html_()


@pytest.mark.parametrize("text", ["int1", "fixed1.3", "int1;overflow=symmetric", "table(-2,-1)"])
def test_a_format_without_numbers_above_zero_says_so(text):
    with pytest.raises(ValueError, match="has no min_normal; it has"):
        _ = ww.Format(text).min_normal


def test_max_finite_scaled_is_max_finite():
    significand, exponent = ww.Format("e62m10").max_finite_scaled
    assert (significand, exponent) == (2047, 2**61 - 1 - 10)
    f = ww.Format("e5m10")
    significand, exponent = f.max_finite_scaled
    assert significand * 2**exponent == f.max_finite == 65504


def test_equality_is_that_of_the_text_that_is_printed():
    assert ww.Format("half") == ww.Format("e5m10") == ww.Format("E5M10")
    assert hash(ww.Format("half")) == hash(ww.Format("e5m10"))
    assert ww.Format("e4m3fn") != ww.Format("e4m3fn;overflow=max")
    assert ww.Format("e5m10;daz").daz and not ww.Format("e5m10").daz
    assert ww.Format("e5m10") != "e5m10"


@pytest.mark.parametrize("text", ["e5m10", "e4m3fn;overflow=max", "ue5m3", "binary8p3uf", "e62m64"])
def test_text_and_pickle_give_the_same_format_back(text):
    f = ww.Format(text)
    assert ww.Format(str(f)) == f == pickle.loads(pickle.dumps(f)) == ww.Format(f)


def test_a_format_does_not_change():
    with pytest.raises(AttributeError, match="a format does not change"):
        ww.Format("e5m10").bias = 3


@pytest.mark.parametrize(
    "text, message",
    [
        ("e5mx", r"format 'e5mx', column 4: found 'x'"),
        ("e63m10", r"exponent bits = 63: it may be 1 to 62"),
        ("e5m5000", r"fraction bits = 5000: it may be 0 to 4095"),
        ("e5m0", r"without fraction bits the NaN must be named"),
        ("bfloat17", r"nearest name: 'bfloat16'"),
    ],
)
def test_a_malformed_text_is_refused_with_the_place_and_the_way_out(text, message):
    with pytest.raises(ValueError, match=message):
        ww.Format(text)


def test_a_format_is_a_text():
    with pytest.raises(TypeError, match=r"format = 16: a text as 'e5m10' is wanted"):
        ww.Format(16)


def test_the_registry_lists_reads_and_refuses():
    assert len(ww.formats) >= 19
    assert ww.formats["binary16"] == ww.Format("e5m10")
    assert "bfloat16" in ww.formats and "binary16" in repr(ww.formats)
    with pytest.raises(KeyError, match=r"ww.Format\('e5m11'\) reads every form"):
        ww.formats["e5m11"]
    with pytest.raises(KeyError, match="no format is named 'binry16'; .* nearest name: 'binary16'"):
        ww.formats["binry16"]
    assert "binry16" not in ww.formats and 3 not in ww.formats


def test_a_card_shows_fields_and_named_codes():
    html = ww.Format("e4m3fn")._repr_html_()
    assert "exponent 4" in html and "0x7e" in html and "448" in html
    assert "<table>" in ww.formats._repr_html_()


OTHERS = {
    "binary16": format_info_binary16,
    "bfloat16": format_info_bfloat16,
    "e5m2": format_info_ocp_e5m2,
    "e4m3fn": format_info_ocp_e4m3,
    "e3m2fn": format_info_ocp_e3m2,
    "e2m3fn": format_info_ocp_e2m3,
    "e2m1fn": format_info_ocp_e2m1,
    "e8m0fnu": format_info_ocp_e8m0,
}
SUFFIXES = {
    "se": (Signedness.Signed, Domain.Extended),
    "sf": (Signedness.Signed, Domain.Finite),
    "ue": (Signedness.Unsigned, Domain.Extended),
    "uf": (Signedness.Unsigned, Domain.Finite),
}
P3109 = [
    (width, precision, suffix)
    for width in (4, 8)
    for suffix in SUFFIXES
    for precision in range(1, width + (suffix[0] == "u"))
    if not (width == precision and suffix[0] == "u")
]


def check_values(f, info):
    codes = np.arange(1 << f.width, dtype=f.dtype)
    ours = ww.from_bits(codes, f).to_float64()
    theirs = np.array([gfloat.decode_float(info, int(code)).fval for code in codes])
    assert len(codes) == 1 << f.width
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs) & ~np.isnan(theirs))


@pytest.mark.parametrize("name", OTHERS)
def test_every_code_has_the_value_that_gfloat_gives_it(name):
    check_values(ww.Format(name), OTHERS[name])


@pytest.mark.parametrize("width, precision, suffix", P3109)
def test_every_code_of_p3109_has_the_value_that_gfloat_gives_it(width, precision, suffix):
    signedness, domain = SUFFIXES[suffix]
    try:
        f = ww.Format(f"binary{width}p{precision}{suffix}")
    except ValueError as why:
        pytest.skip(f"not a format here: {why}")
    check_values(f, format_info_p3109(width, precision, signedness, domain))
