"""Sums of integer products and their requantisation against the oracle in exact fractions."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import affine_ref as page  # noqa: E402

VARIANTS = ("exact", "gemmlowp", "ruy", "single", "q31", "rndnu", "fp32")
INT32 = np.iinfo(np.int32)


def requantize(acc, m, **how):
    return int(ww.requantize(acc, m, **how))


def test_the_pages_lines_hold():
    names = ("exact", "gemmlowp", "single", "q31", "rndnu", "fp32")
    of_half = [requantize(a, 0.5, variant=v) for a in (5, -5, -3) for v in names]
    assert of_half == [2, 3, 3, 3, 3, 2, -2, -2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -2]
    assert [requantize(-3, 0.25, variant=v) for v in VARIANTS] == [-1, -1, 0, -1, -1, -1, -1]
    names = ("exact", "gemmlowp", "single", "q31", "fp32")
    close = [requantize(4830, 0.016251842738900624, variant=v) for v in names]
    assert close == [78, 79, 78, 79, 78]
    names = ("exact", "gemmlowp", "single", "fp32")
    assert [requantize(-9209, 0.008415680080408284, variant=v) for v in names] == [
        -77,
        -78,
        -77,
        -78,
    ]
    a = np.uint8([[208, 236, 0, 238], [3, 214, 255, 29]])
    b = np.uint8([[152, 51, 244], [60, 26, 255], [0, 127, 246], [127, 254, 247]])
    y = ww.qlinear_matmul(a, 0.0066, 113, b, 0.00705, 114, 0.0107, 118, 0, 255)
    assert y.tolist() == [[168, 115, 255], [1, 66, 151]] and y.dtype == np.uint8
    ones = np.uint8([[255, 255]]), np.int8([[127], [127]])
    assert ww.integer_matmul(*ones, pairs="sat16").tolist() == [[32767]]
    assert ww.integer_matmul(*ones).tolist() == [[64770]]


# --- Requantisation -------------------------------------------------------------------------------

DIRECTED = [0, 1, -1, 2, 3, -3, 5, -5, 255, -(2**31), 2**31 - 1, 2**30, -(2**30), 2**24 + 1, -4830]
MULTIPLIERS = [
    0.5, 0.25, 0.125, 1 - 2.0**-24, 1 - 2.0**-40, 1.0, 1.5, 3.0, 2.0**-31, 2.0**-33, 2.0**-40,
    2.0**20, 1 / 3,
    0.016251842738900624, 0.008415680080408284, 1e-5, 2.0**-8 + 2.0**-30, 100.5, 2.0**29,
]  # fmt: skip


def taken(variant, m):
    """Those that the variant is made for."""
    return variant != "q31" or Fraction(1, 1 << 32) <= page.f32(m) < 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_sums_are_requantised_as_the_oracle_does(variant):
    rng = np.random.default_rng(VARIANTS.index(variant))
    cases = 0
    for i in range(120):
        m = (
            MULTIPLIERS[i]
            if i < len(MULTIPLIERS)
            else rng.random() * 2.0 ** -int(rng.integers(0, 20))
        )
        if not taken(variant, m):
            continue
        codes = np.array(rng.integers(-300, 300, 30) / m).clip(-(2**31), 2**31 - 1)
        ties = np.array((rng.integers(-150, 150, 30) + 0.5) / m).clip(-(2**31), 2**31 - 1)
        acc = np.concatenate([DIRECTED, codes, ties, np.floor(ties) + 1]).astype(np.int64)
        acc = acc.clip(-(2**31), 2**31 - 1)
        for z, qmin, qmax in ((0, -128, 127), (117, 0, 255), (-5, -(2**31), 2**31 - 1)):
            got = ww.requantize(acc, m, z, qmin, qmax, variant).tolist()
            want = [page.requantize(int(a), m, z, qmin, qmax, variant) for a in acc]
            assert got == want, (
                m,
                [c for c in zip(acc, got, want, strict=True) if c[1] != c[2]][:9],
            )
            cases += len(want)
    assert cases > 20_000


def test_exact_takes_multipliers_of_any_digits():
    acc = np.array([*DIRECTED, 7, 1000003], np.int64)
    third = Fraction(1, 3)
    many = Fraction(2**90 + 1, 2**95), Fraction(10**30 + 1, 3**60)
    tie = Fraction(2**70 + 1, 2**71)  # past a tie where acc is odd, by less than a double tells
    for m in (third, *many, tie, Fraction(1, 2**200), Fraction(2**100)):
        got = ww.requantize(acc, m, 3, -1000, 1000).tolist()
        assert got == [min(max(round(int(a) * m) + 3, -1000), 1000) for a in acc]


def test_a_multiplier_for_each_channel():
    acc = np.random.default_rng(1).integers(-5000, 5000, (2, 3, 4))
    m, z = [0.01, 0.02, 0.5], np.array([0, 5, -7])
    for variant in VARIANTS:
        got = ww.requantize(acc, m, z, variant=variant, axis=1)
        for c in range(3):
            assert (got[:, c] == ww.requantize(acc[:, c], m[c], int(z[c]), variant=variant)).all()
    assert (ww.requantize(acc[:, :, 0], m) == ww.requantize(acc[:, :, 0], m, axis=1)).all()
    assert ww.requantize(acc, 0.5, qmin=0, qmax=255).dtype == np.uint8
    assert ww.requantize(acc, 0.5, qmin=-300, qmax=255).dtype == np.int16


BAD = [
    ((1, 0.0), "M = 0.0: a multiplier of scales is above zero"),
    ((1, -1.0), "M = -1.0"),
    ((1, math.nan), "M = nan: a finite number above zero is wanted"),
    ((1, math.inf), "M = inf"),
    (([1, 2], [0.5, 0.0]), r"M\[1\] = 0.0"),
    (([1, 2], [0.5] * 3), "M has 3 numbers, and axis -1 of acc 2"),
    ((1 << 31, 1.0), "acc holds 2147483648; sums are integers of 32 bits"),
    ((1, 0.5, 0, 5, 3), "qmin = 5 and qmax = 3"),
    ((1, 0.5, 0, 0, 1, "tflite"), "variant = 'tflite': it may be 'exact', 'gemmlowp'"),
    ((1, 1.5, 0, 0, 1, "q31"), "M = 1.5: q31 takes multipliers of 2\\^-32 and more, below 1"),
    ((1, 2.0**30, 0, 0, 1, "single"), "single takes multipliers below 2\\^30"),
    ((1, 2.0**30, 0, 0, 1, "gemmlowp"), "M = 1.07374e\\+09: gemmlowp takes multipliers below"),
    ((1, 2.0**63, 0, 0, 1, "ruy"), "ruy takes multipliers below 2\\^30"),
    ((1, Fraction(1 << 1100), 0, 0, 1, "ruy"), "M = about 2\\^1100: ruy takes multipliers below"),
    ((1, Fraction(1 << 1100), 0, 0, 1, "rndnu"), "M = about 2\\^1100: rndnu takes it in binary32"),
    ((1, 1e39, 0, 0, 1, "fp32"), "fp32 takes it in binary32, where it is infinite"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, message", BAD)
def test_bad_requantisations_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ww.requantize(*arguments)
    with pytest.raises(TypeError, match="acc holds float64"):
        ww.requantize([0.5], 0.5)


# --- Products -------------------------------------------------------------------------------------

TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


def drawn(rng, dtype, shape):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, shape, endpoint=True)
    ends = rng.random(shape)
    return np.where(ends < 0.1, info.min, np.where(ends > 0.9, info.max, x)).astype(dtype)


@pytest.mark.parametrize("of_a", TYPES)
@pytest.mark.parametrize("of_b", TYPES)
def test_products_are_the_oracles(of_a, of_b):
    rng = np.random.default_rng(len(of_a) * 7 + len(of_b))
    for m, k, n in ((1, 1, 1), (3, 5, 4), (7, 18, 33)):
        a, b = drawn(rng, of_a, (m, k)), drawn(rng, of_b, (k, n))
        za, zb = int(drawn(rng, of_a, ())), int(drawn(rng, of_b, ()))
        bias = drawn(rng, "int32", n)
        lists = a.tolist(), b.tolist(), za, zb, bias.tolist()
        for overflow in ("wrap", "saturate"):
            for pairs in ("exact", "sat16"):
                got = ww.integer_matmul(a, b, za, zb, bias, overflow=overflow, pairs=pairs)
                assert got.dtype == np.int32
                assert got.tolist() == page.igemm(*lists, overflow, pairs)


def test_large_products_are_numpys():
    """Every tile's edge, strides, and sums that wrap."""
    rng = np.random.default_rng(8)
    for m, k, n in ((64, 100, 70), (13, 1, 32), (6, 4097, 31), (1, 33, 97)):
        for of_a, of_b in (
            ("int8", "int8"),
            ("uint8", "int8"),
            ("int8", "int16"),
            ("uint8", "uint8"),
        ):
            a, b = drawn(rng, of_a, (m, k)), drawn(rng, of_b, (k, n))
            za, zb = rng.integers(-5, 5, m), rng.integers(-5, 5, n)
            want = (a.astype(np.int64) - za[:, None]) @ (b.astype(np.int64) - zb)
            assert (ww.integer_matmul(a, b, za, zb) == want.astype(np.int32)).all()
            turned = ww.integer_matmul(np.asfortranarray(a), b.T.copy().T, za, zb)
            assert (turned == want.astype(np.int32)).all()


def test_leading_axes_broadcast():
    rng = np.random.default_rng(9)
    a, b = drawn(rng, "int8", (4, 1, 3, 5)), drawn(rng, "uint8", (2, 5, 6))
    got = ww.integer_matmul(a, b, 1, 2, zero_bias := np.arange(6, dtype=np.int32))
    want = (a.astype(np.int64) - 1) @ (b.astype(np.int64) - 2) + zero_bias
    assert got.shape == (4, 2, 3, 6) and (got == want).all()
    assert (
        ww.integer_matmul(a, b[0], 1, 2) == (a.astype(np.int64) - 1) @ (b[0].astype(np.int64) - 2)
    ).all()
    assert ww.integer_matmul(np.int8([[]]), np.zeros((0, 2), np.int8), 1, 1, [3, 4]).tolist() == [
        [3, 4]
    ]
    assert ww.integer_matmul([[1, 200]], [[-3], [70000]]).tolist() == [[13999997]]


BAD_PRODUCTS = [
    ({"a": np.ones((2, 3), np.int8)}, "a has shape \\(2, 3\\) and b \\(2, 2\\)"),
    ({"a": np.ones(2, np.int8)}, "a has shape \\(2,\\); matrices are wanted"),
    (
        {"zero_a": [1, 2, 3]},
        "zero_a has shape \\(3,\\); one is wanted, or one a row of a, \\(2,\\)",
    ),
    ({"zero_b": 1 << 33}, "zero_b = 8589934592: the zero point of codes of 8 bits is one"),
    ({"bias": [1]}, "bias has shape \\(1,\\); one for each column is wanted, \\(2,\\)"),
    ({"bias": [1, 1 << 31]}, "bias holds 2147483648"),
    ({"overflow": "clip"}, "overflow = 'clip': it may be 'wrap' or 'saturate'"),
    ({"pairs": "vnni"}, "pairs = 'vnni': it may be 'exact' or 'sat16'"),
]


@pytest.mark.parametrize("how, message", BAD_PRODUCTS)
def test_bad_products_are_named(how, message):
    square = np.ones((2, 2), np.int8)
    with pytest.raises(ValueError, match=message):
        ww.integer_matmul(**{"a": square, "b": square} | how)
    with pytest.raises(TypeError, match="b holds float64; integers of 8, 16 or 32 bits"):
        ww.integer_matmul(square, np.ones((2, 2)))


# --- ONNX's product -------------------------------------------------------------------------------


def test_qlinear_matmul_is_the_oracles():
    rng = np.random.default_rng(10)
    for of_a, of_b in (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")):
        for _ in range(20):
            a, b = drawn(rng, of_a, (4, 9)), drawn(rng, of_b, (9, 5))
            za, zb, zy = (drawn(rng, t, ()) for t in (of_a, of_b, of_a))
            sa, sb, sy = (float(s) for s in rng.random(3) * [0.02, 0.02, 1])
            got = ww.qlinear_matmul(a, sa, za, b, sb, zb, sy, zy)
            info = np.iinfo(of_a)
            want = page.qlinear_matmul(
                a.tolist(), sa, int(za), b.tolist(), sb, int(zb), sy, int(zy), info.min, info.max
            )
            assert got.tolist() == want and got.dtype == of_a
    with pytest.raises(ValueError, match="y_scale = 0.0: a scale is finite and above zero"):
        ww.qlinear_matmul(a, 1.0, 0, b, 1.0, 0, 0.0, 0)


def test_zero_points_are_codes():
    a, b = np.uint8([[255]]), np.uint8([[0]])
    for zero in (-129, 256, -(2**31), 2**32 - 1):
        with pytest.raises(ValueError, match=f"zero_a = {zero}: .* 8 bits is one, -128 to 255"):
            ww.integer_matmul(a, b, zero, overflow="saturate")
    for zero in (1000, 2**63 - 1, -(2**63), np.uint64(2**64 - 1)):
        with pytest.raises(ValueError, match="zero_point = .*: it is a code, -128 to 127"):
            ww.requantize(5, 0.5, zero_point=zero)
    with pytest.raises(TypeError, match="a holds int32; QLinearMatMul takes uint8 and int8"):
        ww.qlinear_matmul(np.int32([[1]]), 1.0, 0, b, 1.0, 0, 1.0, 0)


def test_codes_of_32_bits_by_exact_multipliers():
    m = Fraction(2 * 3**60 + 1, 3**60)
    assert ww.requantize(2**31 - 1, m, qmin=0, qmax=2**32 - 1) == 4294967294


def test_a_field_of_packed_records_is_taken():
    records = np.zeros((3, 4), np.dtype([("pad", "u1"), ("v", "<i4")]))
    records["v"] = np.arange(12).reshape(3, 4) - 5
    whole = np.ascontiguousarray(records["v"])
    assert np.array_equal(
        ww.integer_matmul(records["v"], whole.T), ww.integer_matmul(whole, whole.T)
    )
