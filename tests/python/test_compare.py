"""Comparisons, classes, total order."""

import numpy as np
import pytest
import widthwise as ww

NV = 16


def every_pair(f):
    codes = np.arange(1 << f.width, dtype=f.dtype)
    return ww.from_bits(np.repeat(codes, len(codes)), f), ww.from_bits(
        np.tile(codes, len(codes)), f
    )


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e4m3fnuz", "binary8p3", "e2m1fn", "ue4m3fn"])
def test_all_pairs_compare_as_their_values(format):
    x, y = every_pair(ww.Format(format))
    a, b = x.to_float64(), y.to_float64()
    assert a.size >= 256
    for ours, theirs in (
        (ww.equal, np.equal),
        (ww.not_equal, np.not_equal),
        (ww.less, np.less),
        (ww.less_equal, np.less_equal),
        (ww.greater, np.greater),
        (ww.greater_equal, np.greater_equal),
    ):
        np.testing.assert_array_equal(ours(x, y), theirs(a, b))
    np.testing.assert_array_equal(ww.unordered(x, y), np.isnan(a) | np.isnan(b))


def test_quiet_comparisons_raise_on_signalling_nans_only():
    one, quiet, loud = (ww.from_bits(code, "e5m10") for code in (0x3C00, 0x7E00, 0x7D00))
    for how in (ww.equal, ww.not_equal, ww.less, ww.less_equal, ww.greater, ww.greater_equal):
        assert how(one, quiet, flags=True)[1] == 0
        assert how(one, loud, flags=True)[1] == NV
    for how in (ww.equal_signaling, ww.less_signaling, ww.less_equal_signaling):
        assert how(one, quiet, flags=True)[1] == NV
    for how in (ww.greater_signaling, ww.greater_equal_signaling):
        assert how(quiet, one, flags=True)[1] == NV


def test_values_of_two_formats_compare_exactly():
    assert ww.less(ww.array(1.0, "e5m10"), ww.array("1.0000000000000000001", "e15m112"))
    assert ww.equal(ww.array(0.5, "e2m1fn"), ww.array(0.5, "binary256"))


def test_the_total_order_sorts_every_code():
    f = ww.Format("e4m3")
    x, y = every_pair(f)
    before = ww.total_order(x, y).reshape(256, 256)
    rank = before.sum(axis=1)  # how many codes are not before this one
    assert sorted(rank) == list(range(1, 257))
    signed = np.where(np.arange(256) < 128, np.arange(256), 127 - np.arange(256))
    np.testing.assert_array_equal(np.argsort(-rank), np.argsort(signed))
    assert ww.total_order_magnitude(ww.array(-1.0, f), ww.array(2.0, f))
    with pytest.raises(ValueError, match="total order of e5m10 and e4m3: one format is wanted"):
        ww.total_order(ww.array(1.0, "e5m10"), ww.array(1.0, "e4m3"))


def test_classes_are_754s():
    codes = [0x7D00, 0x7E00, 0xFC00, 0xBC00, 0x8001, 0x8000, 0x0000, 0x0001, 0x3C00, 0x7C00]
    assert ww.classify(ww.from_bits(codes, "e5m10")).tolist() == [
        "signaling_nan",
        "quiet_nan",
        "negative_infinity",
        "negative_normal",
        "negative_subnormal",
        "negative_zero",
        "positive_zero",
        "positive_subnormal",
        "positive_normal",
        "positive_infinity",
    ]
    assert ww.classify(np.uint8([0x7F]), format="e4m3fn").tolist() == ["quiet_nan"]
    with pytest.raises(TypeError, match="x is list; an Array or unsigned integers .codes. are"):
        ww.classify([1.0])


def test_numbers_are_asked_for_their_class():
    x = ww.from_bits([0x7C01, 0x7E00, 0xFC00, 0x7BFF, 0x0000], "e5m10")
    for ask, truths in (
        (ww.isnan, [1, 1, 0, 0, 0]),
        (ww.isinf, [0, 0, 1, 0, 0]),
        (ww.isfinite, [0, 0, 0, 1, 1]),
    ):
        assert ask(x).tolist() == ask(x.bits, format="e5m10").tolist() == [bool(t) for t in truths]
        with pytest.raises(TypeError, match="x is float; .* are taken by ww.array.x, format"):
            ask(1.0)
        with pytest.raises(TypeError, match="x is uint16, codes of a format that is not named"):
            ask(x.bits)


def test_operators_compare_with_any_format_and_with_numbers():
    x = ww.array([-1.0, 0.1, 1.5, float("inf"), float("nan")], "e5m10")
    assert (x > 0).tolist() == [False, True, True, True, False]
    assert (x < 0.1).tolist() == [True, True, False, False, False]  # 0.1 is 819/8192 there
    assert (
        (x == 1.5).tolist() == (x == np.float32(1.5)).tolist() == [False, False, True, False, False]
    )
    assert (x < float("inf")).tolist() == [True, True, True, False, False]
    assert (x != float("nan")).all() and not (x >= float("nan")).any()
    assert (x[:3] > ww.array([-2.0, 0.1, 1.5], "e4m3fn")).tolist() == [True, False, False]
    for number in ("1", None, np.ones(5)):
        with pytest.raises(TypeError, match="e5m10|y is NoneType"):
            x > number  # noqa: B015
    with pytest.raises(TypeError, match="^y is int"):
        ww.greater(x, 0)
