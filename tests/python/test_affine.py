"""Affine integers: codes, scales and zero points against the oracle in exact fractions."""

from __future__ import annotations

import math
import pickle
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import affine_ref as page  # noqa: E402

ARITHMETICS = ("exact", "onnx", "torch", "torch_legacy")
MODES = ("rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd")
NX, OF, NV = 1, 4, 16


def f32(x):
    return float(np.float32(x))


def codes(x, scale, zero, bits=8, **how):
    return ww.affine(x, bits, scale=scale, zero_point=zero, **how).codes


def expected(x, scale, zero, scheme, **how):
    s = Fraction(float(scale))
    return [page.quantize(float(v), s, zero, scheme.qmin, scheme.qmax, **how) for v in x]


def qparams(lo, hi, qmin, qmax, scheme="asymmetric", scale_format="binary32"):
    """By way of the range of data, as somebody who quantises meets them."""
    bits = (qmax - qmin + (scheme == "symmetric")).bit_length()
    x = ww.affine(
        [0.0], bits, scheme=scheme, signed=qmin < 0, range=(lo, hi), scale_format=scale_format
    )
    assert (x.qmin, x.qmax) == (qmin, qmax)
    return Fraction(float(x.scale)), int(x.zero_point)


# --- The specification's own lines ----------------------------------------------------------------


def one(v, s, z, qmin, qmax, arithmetic="exact"):
    wide = float(s) != f32(float(s))
    how = {"scale_format": "binary64"} if wide else {"arithmetic": arithmetic}
    bits = (qmax - qmin).bit_length()
    return int(codes([float(v)], float(s), z, bits, signed=qmin < 0, **how)[0])


def test_the_pages_lines_hold():
    s = Fraction(f32(0.00214854861))
    assert [one(0.273939937, s, 0, 0, 255, a) for a in ARITHMETICS] == [127, 127, 128, 128]
    assert [one(math.nan, 1, 7, 0, 255, a) for a in ARITHMETICS] == [7, 0, 0, 255]
    notebook = [one(v, 0.7481960784313725, 67, 0, 255) for v in (140.92, -49.87, 0, 55.88)]
    assert notebook == [255, 0, 67, 142]
    assert qparams(0, 0, -128, 127) == (1, 0) and qparams(5, 10, 0, 255)[1] == 0
    assert [one(v, 1, 7, 0, 255) for v in (math.inf, -math.inf)] == [255, 0]
    of_ties = [one(v, 1, 3, 0, 15, a) for v in (0.5, 1.5) for a in ("exact", "torch_legacy")]
    assert of_ties == [3, 4, 5, 4]
    assert qparams(-1, 1, -127, 127, "symmetric")[0] == Fraction(f32(1 / 127))
    assert qparams(-1, 1, -128, 127, "symmetric_full")[0] == Fraction(f32(2 / 255))


# --- Codes ----------------------------------------------------------------------------------------

SCALES = [1.0, 0.1, 2.0**-7, 3.7e-3, 2.0**-149, 2.0**100, 1.1754942e-38, 1e30]
SPECIALS = [0.0, -0.0, math.nan, math.inf, -math.inf, 3.4028235e38, -3.4028235e38, 2.0**-149]


def at_borders(scheme, scale, zero):
    """Both sides of each border between two codes, the border, and each code's own number."""
    halves = np.arange(2 * (scheme.qmin - zero) - 5, 2 * (scheme.qmax - zero) + 6)
    with np.errstate(over="ignore"):
        borders = (halves * 0.5 * float(np.float32(scale))).astype(np.float32)
        near = [
            borders,
            np.nextafter(borders, np.float32(-np.inf)),
            np.nextafter(borders, np.float32(np.inf)),
        ]
    return np.concatenate([*near, np.float32(SPECIALS)])


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("scheme", ["asymmetric", "symmetric", "symmetric_full"])
@pytest.mark.parametrize("scale", SCALES)
def test_codes_of_few_bits_change_where_the_oracle_says(bits, scheme, scale):
    rule = ww.affine([1.0], bits, scheme=scheme).scheme
    zeros = {rule.zero} if scheme != "asymmetric" else {rule.qmin, 1, rule.qmax}
    scale = f32(scale)
    for zero in zeros:
        x = at_borders(rule, scale, zero)
        how = {"scheme": scheme}
        got = codes(x, scale, zero, bits, **how).tolist()
        want = expected(x, scale, zero, rule)
        assert got == want, [case for case in zip(x, got, want, strict=True) if case[1] != case[2]][
            :20
        ]
        wide = codes(x.astype(np.float64), scale, zero, bits, **how).tolist()
        assert wide == want


def test_a_border_alone_in_its_vector_is_decided_exactly():
    """Where the product with the reciprocal lies on the wrong side of a tie, and is none itself."""
    rule, misled = ww.affine([1.0]).scheme, 0
    for scale in np.random.default_rng(12).random(25).astype(np.float32):
        x = at_borders(rule, scale, 0)
        alone = np.zeros((x.size, 16), np.float32)
        alone[:, 0] = x
        want = expected(x, scale, 0, rule)
        assert codes(alone, scale, 0)[:, 0].tolist() == want
        with np.errstate(all="ignore"):
            near = x * (1 / scale)
            wrong = np.rint(near).clip(0, 255) != want
            misled += int((wrong & (np.abs(near - np.rint(near)) != 0.5)).sum())
    assert misled > 50


@pytest.mark.parametrize("arithmetic", ARITHMETICS[1:])
@pytest.mark.parametrize("scale", [s for s in SCALES if s > 2.0**-120])
def test_engines_have_their_own_borders(arithmetic, scale):
    rule = ww.affine([1.0]).scheme
    for zero in (0, 3, 128, 255):
        x = at_borders(rule, f32(scale), zero)
        got = codes(x, scale, zero, arithmetic=arithmetic).tolist()
        want = expected(x, f32(scale), zero, rule, arithmetic=arithmetic)
        assert got == want, [case for case in zip(x, got, want, strict=True) if case[1] != case[2]][
            :20
        ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arithmetic", ["exact", "torch"])
def test_every_mode_rounds_as_the_oracle(mode, arithmetic):
    rule = ww.affine([1.0], 4).scheme
    for scale, zero in ((0.25, 7), (0.1, 3)):
        x = at_borders(rule, scale, zero)
        got = codes(x, scale, zero, 4, rounding=mode, arithmetic=arithmetic).tolist()
        want = expected(x, f32(scale), zero, rule, rounding=mode, arithmetic=arithmetic)
        assert got == want
    for bits in (16, 32):
        rule = ww.affine([1.0], bits, signed=True).scheme
        x = np.random.default_rng(bits).standard_normal(300) * 2.0 ** (bits - 2)
        x[:100] = np.rint(x[:100]) / 2
        got = codes(x, 0.5, 1, bits, rounding=mode, signed=True).tolist()
        assert got == expected(x, 0.5, 1, rule, rounding=mode)


@pytest.mark.parametrize("bits", [7, 8, 9, 12, 16, 17, 24, 31, 32])
@pytest.mark.parametrize("signed", [True, False])
def test_wide_codes_of_any_floats(bits, signed):
    """Doubles beside the ties of scales in binary32 and binary64, where a quotient in doubles
    rounds to the tie."""
    rng = np.random.default_rng(bits)
    rule = ww.affine([1.0], bits, signed=signed).scheme
    for scale_format in ("binary32", "binary64"):
        scale = rng.random() * 2.0 ** rng.integers(-30, 30)
        scale = scale if scale_format == "binary64" else f32(scale)
        zero = int(rng.integers(rule.qmin, rule.qmax, endpoint=True))
        steps = rng.integers(rule.qmin - zero - 2, rule.qmax - zero + 2, 400)
        ties = (steps + 0.5) * scale
        x = np.concatenate(
            [ties, np.nextafter(ties, -np.inf), np.nextafter(ties, np.inf), SPECIALS]
        )
        how = {"scale_format": scale_format, "signed": signed}
        assert codes(x, scale, zero, bits, **how).tolist() == expected(x, scale, zero, rule)
        narrow = x.astype(np.float32)
        assert codes(narrow, scale, zero, bits, **how).tolist() == expected(
            narrow, scale, zero, rule
        )


@pytest.mark.parametrize("mode", ["rne", "rdn", "rup", "rtz"])
def test_quotients_of_floats_nearer_to_a_border_than_a_double_tells(mode):
    """(t b -+ 1) / b for t the inverse of b modulo 2^31, so that the numerator has few digits."""
    rule, misled = ww.affine([1.0], 32).scheme, 0
    for b in range((1 << 24) - 1, (1 << 24) - 400, -2):
        for sign in (1, -1):
            t = sign * pow(b, -1, 1 << 31) % (1 << 31)
            for halves in (1, 2):  # of t itself, and of t / 2
                x = float((t * b - sign) // halves)
                assert x == np.float32(x)
                got = codes(np.float32([x]), float(b), 0, 32, rounding=mode).tolist()
                assert got == expected([x], float(b), 0, rule, rounding=mode)
                misled += round(x / b) != got[0] or x / b == t
    assert misled > 50


def test_random_bits_are_added_to_the_dropped_ones():
    x = np.random.default_rng(1).standard_normal(200) * 3
    rule = ww.affine([1.0], 4, True).scheme
    random = np.random.default_rng(2).integers(0, 256, 200)
    got = ww.affine(x, 4, True, scale=0.5, rounding="sr8", random=random).codes.tolist()
    want = [
        page.quantize(float(v), Fraction(1, 2), 0, rule.qmin, rule.qmax, "rne")
        if float(v) * 2 == round(float(v) * 2)
        else min(max(page.rint(Fraction(float(v)) * 2, "sr", 8, int(r)), rule.qmin), rule.qmax)
        for v, r in zip(x, random, strict=True)
    ]
    assert got == want
    drawn = [
        ww.affine(x, 4, True, scale=0.5, rounding="sr8", seed=s).codes.tolist() for s in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_flags_tell_what_was_lost():
    x = [0.5, 0.3, 200, -math.inf, math.nan, 0.0]
    quantised, flags = ww.affine(x, scale=0.5, zero_point=10, flags=True)
    assert quantised.codes.tolist() == [11, 11, 255, 0, 10, 10]
    assert flags.tolist() == [0, NX, OF | NX, OF | NX, NV, 0]
    assert (quantised.clamped, quantised.nan) == (2, 1)


def test_what_was_clamped_is_counted_on_every_way():
    x = np.random.default_rng(3).standard_normal(5000).astype(np.float32)
    x[::50] = np.nan
    x[1::50] = np.inf
    for way in ({}, {"rounding": "rna"}, {"arithmetic": "onnx"}, {"bits": 12}, {"flags": True}):
        got = ww.affine(x, scale=0.01, zero_point=5, **way)
        got = got[0] if "flags" in way else got
        how = {"rounding": "rne", "arithmetic": "exact"} | {
            key: way[key] for key in ("rounding", "arithmetic") if key in way
        }
        scale, far = Fraction(f32(0.01)), 10**9
        wide = [page.quantize(float(v), scale, 5, -far, far, **how) for v in x if v == v]
        assert got.clamped == sum(not 0 <= q <= got.qmax for q in wide) and got.nan == 100


# --- Scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["asymmetric", "symmetric", "symmetric_full"])
@pytest.mark.parametrize("bits", [2, 4, 8, 11, 16, 32])
def test_scales_and_zero_points_are_the_oracles(scheme, bits):
    rng = np.random.default_rng(bits)
    powers = 2.0 ** rng.integers(-140, 100, (2, 600))
    powers[1, :300] = powers[0, :300]
    lo, hi = (rng.standard_normal((2, 600)) * powers).astype(np.float32)
    lo[:6], hi[:6] = [0, -1, 3, -3, 0, -1e-45], [0, 0, 4, -2, 1e-45, 0]
    lo, hi = np.minimum(lo, hi), np.maximum(lo, hi)
    x = np.stack([lo, hi], axis=1)
    for values in (x, x.astype(np.float64) * 1.1):
        for scale_format in ("binary32", "binary64"):
            q = ww.affine(values, bits, scheme=scheme, axis=0, scale_format=scale_format)
            got = [(Fraction(float(s)), int(z)) for s, z in zip(q.scale, q.zero_point, strict=True)]
            want = [
                page.qparams(float(a), float(b), q.qmin, q.qmax, scheme, scale_format)
                for a, b in values
            ]
            assert got == want


@pytest.mark.parametrize("qmax", [255, 2**32 - 1])
def test_a_scale_in_binary32_is_rounded_once(qmax):
    """Ranges that are qmax times a tie of two floats, and such a little longer or shorter: with
    codes of 32 bits these have more digits than a double."""
    ties = 0
    for k in range(200):
        whole = qmax * ((1 << 24) + 2 * k + 1)  # 25 digits, the last a one
        hi, rest = whole >> 9 << 9, whole & 511
        for nudge in (0, 2.0**-24, -(2.0**-24), 1 / rest, -1 / rest):
            lo = -float(np.float32(rest * (1 + nudge)))
            ties += Fraction(hi) - Fraction(lo) == whole
            assert qparams(lo, hi, 0, qmax) == page.qparams(lo, hi, 0, qmax)
    assert ties >= 200


# --- Numbers again --------------------------------------------------------------------------------


def test_numbers_come_back_exactly():
    x = np.random.default_rng(4).standard_normal((20, 30)).astype(np.float32)
    for how in ({}, {"symmetric": True, "axis": 1}, {"block": 7}, {"block": "3x8"}, {"bits": 16}):
        q = ww.affine(x, **how)
        exact = q.to_fractions()
        assert exact.shape == x.shape and isinstance(exact[0, 0], Fraction)
        assert (np.array(exact, float) == q.to_float64()).all()
        assert all(
            Fraction(v) == f
            for v, f in zip(q.to_float64().ravel().tolist(), exact.ravel(), strict=True)
        )
        once = [page.f32(f) for f in exact.ravel()]
        assert q.dequantise().ravel().tolist() == once
    wide = ww.affine([1.0, math.pi], 32, scale=1 / 3, zero_point=5, scale_format="binary64")
    with pytest.raises(
        ValueError, match="numbers have more digits than a binary64; x.to_fractions"
    ):
        wide.to_float64()
    assert wide.dequantise().tolist() == [page.f32(f) for f in wide.to_fractions()]
    assert wide.dequantise(np.float64).tolist() == [float(f) for f in wide.to_fractions()]


# --- Channels, blocks, tiles ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [{"axis": 0}, {"axis": 1}, {"axis": -1}, {"block": 4}, {"block": 5, "axis": 1}, {"block": 0},
     {"block": 1}, {"block": "2x3"}, {"block": "all"}, {"block": 100, "axis": 0},
     {"block": 2**64 - 1}, {"block": f"{2**64}x{2**64}"}],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_each_group_is_quantised_by_itself(how, dtype):
    x = np.random.default_rng(5).standard_normal((5, 7, 70)).astype(dtype)
    whole = ww.affine(x, **how)
    groups = whole.grouping
    for part, s, z in zip(
        groups.groups(x), whole.scale.ravel(), whole.zero_point.ravel(), strict=True
    ):
        alone = ww.affine(part)
        assert alone.scale == s and alone.zero_point == z
    alone = [ww.affine(part).codes for part in groups.groups(x)]
    together = [part.tolist() for part in groups.groups(whole.codes)]
    assert together == [part.tolist() for part in alone]
    again = ww.affine(x, scale=whole.scale, zero_point=whole.zero_point, **how)
    assert (again.codes == whole.codes).all()


def test_parts_keep_their_scales():
    x = np.random.default_rng(6).standard_normal((4, 6, 8)).astype(np.float32)
    for how in (
        {},
        {"axis": 1},
        {"block": 4},
        {"block": "2x4"},
        {"block": 2, "axis": 1},
        {"block": 0},
    ):
        q = ww.affine(x, **how)
        v = q.to_float64()
        assert (q[1].to_float64() == v[1]).all() and (q[1:3].to_float64() == v[1:3]).all()
        assert (q[..., 4:].to_float64() == v[..., 4:]).all() if how != {"block": 0} else True
        assert (q[:, 2:4].to_float64() == v[:, 2:4]).all()
        if "block" not in how:
            assert (q[:, 3].to_float64() == v[:, 3]).all()
        assert (
            (q.transpose(1, 0, 2).to_float64() == v.transpose(1, 0, 2)).all()
            if how.get("block") != "2x4"
            else True
        )
        assert (q.transpose(0, 2, 1).to_float64() == v.transpose(0, 2, 1)).all()
        copy = pickle.loads(pickle.dumps(q))
        assert (copy.to_float64() == v).all() and copy.format == q.format and repr(copy) == repr(q)
    with pytest.raises(
        ValueError,
        match=r"index 1:3 on axis 2 cuts a block of 4; take whole blocks, as 0:4",
    ):
        ww.affine(x, block=4)[..., 1:3]
    with pytest.raises(
        TypeError, match="integers and slices are taken where there are several scales"
    ):
        ww.affine(x, axis=0)[[0, 1]]


# --- Text, cards ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, canonical",
    [("affine(uint8)", None), ("affine(int8,symmetric,channel)", None),
     ("affine(int4,symmetric,32)", None),
     (" AFFINE( INT4 , symmetric_full )", "affine(int4,symmetric_full)"),
     ("affine(uint4,16)", "affine(uint4,asymmetric,16)"), ("affine(int8,symmetric,1x4)", None),
     ("affine(int8)", None), ("affine(uint8,all)", "affine(uint8)")],
)  # fmt: skip
def test_texts_are_read_and_printed(text, canonical):
    x = np.ones((4, 32), np.float32)
    q = ww.affine(x, text)
    assert q.format == (canonical or text)
    again = ww.affine(x, q.format)
    assert again.format == q.format and (again.scale == q.scale).all()


@pytest.mark.parametrize(
    "text, message",
    [("affine(float8)", "is no integer as int8 or uint4"),
     ("affine(uint8,symmetric)", "symmetric_full"),
     ("affine(int8,sym)", "'sym' is neither a scheme"), ("uint8", "is no text of affine integers"),
     ("affine(int33)", "codes have 1 to 32 bits")],
)  # fmt: skip
def test_what_is_no_text_is_said(text, message):
    with pytest.raises(ValueError, match=message):
        ww.affine([1.0], text)


def test_where_a_format_of_single_numbers_is_wanted_the_way_is_told():
    for call in (ww.Format, lambda text: ww.array([1.0], text)):
        with pytest.raises(
            ValueError, match=r"ww.affine\(x, 'affine\(int8,symmetric\)'\) makes them"
        ):
            call("affine(int8,symmetric)")


def test_a_card_tells_what_was_clamped():
    q = ww.affine([1.0, 2.0, 300.0], 8, True, range=(-2, 2))
    assert "1 of 3 clamped" in str(q.card()) and "affine(int8,symmetric)" in str(q.card())
    page_of = q._repr_html_()
    assert page_of.startswith("<div") and "<svg" in page_of and "1 of 3 clamped" in page_of
    many = ww.affine(np.arange(64.0), 4, block=4).card()
    assert "16 scales in float32, shape (16,)" in str(many) and "… 11 more" in str(many)
    assert "none clamped" in str(many)
    assert repr(q).startswith("Affine([") and "scale=" in repr(q)


def test_other_arrays_are_taken_exactly():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.float32([0.5, -1.25, 3.0])
    want = ww.affine(x).codes.tolist()
    others = [np.float16, ml_dtypes.bfloat16, ">f4", np.float64]
    arrays = [ww.array(x, format) for format in ("e5m10", "binary32")]
    for other in (*arrays, x.tolist(), *map(x.astype, others)):
        assert ww.affine(other).codes.tolist() == want
    assert ww.affine(np.int64([3, -4])).codes.tolist() == ww.affine([3.0, -4.0]).codes.tolist()
    one = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int8]
    for dtype in (*one, np.int64, ">f2"):
        assert ww.affine(np.array(2, dtype)).shape == (), dtype


# --- Bad input ------------------------------------------------------------------------------------

BAD = [
    ({"scale": 0.0}, "scale = 0.0: a scale is finite and above zero; leave scale out"),
    ({"scale": -1.0}, "scale = -1.0: a scale is finite"),
    ({"scale": math.inf}, "scale = inf: a scale is finite"),
    ({"scale": math.nan}, "scale = nan: a scale is finite"),
    ({"scale": 1e-50}, "scale = 1e-50, which is 0.0 in float32"),
    ({"scale": [1.0, 0.0], "axis": 0}, r"scale\[1\] = 0.0"),
    ({"scale": [1.0, 1.0]}, r"scale has shape \(2,\); one number is wanted"),
    ({"scale": [1.0] * 3, "axis": 0}, r"one for each channel or block, shape \(2,\)"),
    ({"scale": 1.0, "zero_point": 256}, r"zero_point = 256: codes of affine\(uint8\) are 0 to"),
    ({"scale": 1.0, "zero_point": -1}, "zero_point = -1"),
    ({"zero_point": 3}, "zero_point without scale and zero_point are given; pass scale= too"),
    ({"scale": 1.0, "range": (0, 1)}, "scale and range are given; leave one out"),
    ({"range": (2, 1)}, r"range = \(2.0, 1.0\): lo is above hi"),
    ({"range": (0, math.inf)}, r"range = \(0.0, inf\): both are finite"),
    ({"range": (math.nan, 1)}, r"range = \(nan, 1.0\): both are finite"),
    ({"range": ([0, 0], [math.nan, 1]), "axis": 0}, r"range\[0\] = \(0.0, nan\): both are"),
    ({"range": 3}, r"range = 3: \(lo, hi\) is wanted"),
    ({"bits": 0}, "bits = 0: codes have 1 to 32 bits"),
    ({"bits": 33}, "bits = 33"),
    ({"bits": 1, "symmetric": True}, "bits = 1: a symmetric code has at least 2 bits"),
    ({"symmetric": True, "signed": False}, "scheme='symmetric_full' has unsigned codes"),
    ({"axis": 2}, "axis = 2: x has 2 axes, -2 to 1"),
    ({"block": -1}, "block = -1: a number of elements"),
    ({"block": "2x"}, "block = '2x'"),
    ({"block": "0x2"}, "at least one row and one column"),
    ({"block": "1x2", "axis": 0}, "leave axis out"),
    ({"block": "all", "axis": 0}, "leave one out"),
    ({"calibrate": "max"}, "calibrate = 'max': it may be 'minmax', 'percentile'"),
    ({"percentile": 99}, "calibrate = 'minmax' and percentile are given"),
    ({"arithmetic": "tf"}, "arithmetic = 'tf': it may be 'exact'"),
    ({"arithmetic": "onnx", "scale_format": "binary64"}, "computes in binary32"),
    ({"scale_format": "e8m0"}, "scale_format = 'e8m0': it may be 'binary32' or 'binary64'"),
    ({"scheme": "affine"}, "scheme = 'affine': it may be 'asymmetric'"),
    ({"rounding": "sr63"}, "affine integers take up to 62 random bits"),
    ({"bits": "affine(uint8)", "axis": 0}, r"write 'affine\(uint8,asymmetric,channel\)'"),
    ({"bits": "affine(uint8)", "signed": True}, "leave one out"),
]  # fmt: skip


@pytest.mark.parametrize("how, message", BAD)
def test_bad_arguments_are_named(how, message):
    with pytest.raises(ValueError, match=message):
        ww.affine(np.float32([[1, 2], [3, 4]]), **how)


def test_bad_data_are_named():
    with pytest.raises(ValueError, match=r"x has shape \(0, 3\): an empty array has no range"):
        ww.affine(np.zeros((0, 3)))
    for bad, name in ((math.nan, "nan"), (math.inf, "inf")):
        with pytest.raises(ValueError, match=f"element is {name}, which no range from data has"):
            ww.affine([1.0, bad])
    with pytest.raises(
        ValueError, match="too wide for a scale in float32; pass scale_format='binary64'"
    ):
        ww.affine([1e300, 1.0])
    with pytest.raises(TypeError, match="x holds complex128"):
        ww.affine([1j])
    with pytest.raises(TypeError, match=r"x is an Affine already; pass x.to_float64\(\)"):
        ww.affine(ww.affine([1.0]))
    with pytest.raises(ValueError, match="integers past 2\\^53"):
        ww.affine([2**53 + 1])
    with pytest.raises(TypeError, match="codes holds float64; codes are integers"):
        ww.Affine([1.0], 1.0)
    with pytest.raises(ValueError, match=r"codes\[1\] = 8: codes of affine\(int4\) are -8 to 7"):
        ww.Affine(np.int8([1, 8]), 1.0, bits=4)
    with pytest.raises(TypeError, match="not one array; x.to_float64"):
        np.asarray(ww.affine([1.0]))
