"""Ranges found from data, against the oracle in exact fractions."""

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

METHODS = ("minmax", "percentile", "mse", "entropy", "cross_entropy")


def threshold(x, method, bits=8):
    lo, hi = ww.calibrate(x, method, bits, exact=True)
    assert lo == -hi
    return hi


def drawn(kind, n, dtype=np.float32):
    rng = np.random.default_rng(len(kind) + n)
    if kind == "normal":
        x = rng.standard_normal(n)
    elif kind == "outliers":
        x = rng.standard_normal(n)
        x[:: n // 3 + 1] *= 20
    elif kind == "relu":
        x = np.maximum(rng.standard_normal(n), 0)
    elif kind == "whole":
        x = rng.integers(-16, 17, n).astype(float)
    else:
        x = rng.standard_normal(n) * 2.0**-131  # subnormal
    return x.astype(dtype)


KINDS = ("normal", "outliers", "relu", "whole", "tiny")


def test_the_pages_lines_hold():
    assert ww.calibrate([*range(1, 12)], "percentile", percentile=95, exact=True)[1] == Fraction(
        21, 2
    )
    assert threshold([1, -1, 0.25] * 50 + [3], "mse", 4) == Fraction(117, 50)
    # Histograms of eight bins and four levels, by way of data: 2,048 bins are 256 each of them, so
    # the search itself is called.
    from widthwise.containers.calibration import entropy_threshold

    for counts, at in (
        ([40, 30, 20, 10, 0, 0, 0, 1], 4.5),
        ([8, 8, 8, 8, 9, 1, 0, 1], 5.5),
        ([4] * 8, 8),
    ):
        assert entropy_threshold(np.array(counts), Fraction(1), 3)[0] == at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [50, 75.5, 99, 99.99, 100])
def test_percentiles_interpolate_exactly(kind, dtype, p):
    for n in (1, 2, 7, 200):
        x = drawn(kind, n, dtype)
        listed = x.tolist()
        lo, hi = ww.calibrate(x, "percentile", percentile=p, exact=True)
        assert hi == page.percentile(listed, p) and lo == page.percentile(listed, 100 - Fraction(p))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [2, 4, 8, 12])
def test_the_least_squared_error_is_the_oracles(kind, bits):
    x = drawn(kind, 60)
    assert threshold(x, "mse", bits) == page.mse_threshold(x.tolist(), bits)
    wide = drawn(kind, 40, np.float64)
    assert threshold(wide, "mse", bits) == page.mse_threshold(wide.tolist(), bits)


def test_equal_errors_take_the_larger_threshold():
    """Steps of one scale in binary32, and data whose errors agree to twenty digits."""
    tiny = np.float32([2.0**-140, -(2.0**-141)])  # few scales: many thresholds are alike
    assert threshold(tiny, "mse", 3) == page.mse_threshold(tiny.tolist(), 3)
    x = np.array([1.0, 0.5, -0.5, 2.0**-40, 1.0 + 2.0**-50])
    assert threshold(x, "mse", 2) == page.mse_threshold(x.tolist(), 2)
    two = np.float32([3.0] * 5)
    assert threshold(two, "mse", 4) == page.mse_threshold(two.tolist(), 4) == 3


def test_near_contenders_are_settled_by_integers(monkeypatch):
    """With doubt that covers all of them, integers alone choose, and choose the same."""
    from widthwise.containers import calibration

    x = drawn("normal", 50)
    want = threshold(x, "mse", 4)
    monkeypatch.setattr(calibration, "UNIT", 1.0)
    assert threshold(x, "mse", 4) == want == page.mse_threshold(x.tolist(), 4)
    wide = drawn("outliers", 30, np.float64)
    assert threshold(wide, "mse", 4) == page.mse_threshold(wide.tolist(), 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_hold_what_the_oracle_counts(kind, dtype):
    from widthwise.containers.calibration import histogram

    x = drawn(kind, 3000, dtype)
    top = np.abs(x).max()
    edges = (np.arange(1, 2049) * (float(top) / 2048)).astype(dtype)
    x = np.concatenate([x, edges, np.nextafter(edges, dtype(0)), -edges])
    x = x[np.abs(x) <= top]
    counts, width = histogram(x)
    want, w = page.histogram(x.tolist())
    assert counts.tolist() == want and width == w


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_the_least_divergence_is_the_oracles(bits):
    from widthwise.containers.calibration import entropy_threshold

    rng = np.random.default_rng(bits)
    levels = 1 << bits - 1
    for n in (levels, levels + 1, 2 * levels + 3, 4 * levels):
        for counts in (rng.integers(0, 50, n), rng.integers(0, 3, n), rng.geometric(0.02, n)[::-1],
                       np.full(n, 4), np.eye(1, n, n - 1, dtype=int)[0]):  # fmt: skip
            if counts.sum() == 0:
                continue
            got = entropy_threshold(np.array(counts, np.int64), Fraction(3, 7), bits)
            want = page.kl_threshold([int(c) for c in counts], Fraction(3, 7), levels)
            assert got == want


def test_entropy_of_data_is_the_oracles():
    x = drawn("outliers", 2000)
    counts, width = page.histogram(x.tolist())
    assert threshold(x, "entropy", 12) == page.kl_threshold(counts, width, 2048)[0]
    t = threshold(x, "entropy", 8)
    assert float(t) < np.abs(x).max() / 2  # outliers are left out


def test_the_least_cross_entropy_is_the_oracles():
    for kind in ("normal", "outliers", "whole"):
        for bits in (2, 4, 8):
            x = drawn(kind, 24).reshape(3, 8)
            assert threshold(x, "cross_entropy", bits) == page.ce_threshold(x.tolist(), bits)
    one = np.float32([[100.0, -3.0, 0.5]])
    assert threshold(one, "cross_entropy", 4) == page.ce_threshold(one.tolist(), 4)


def test_zeros_have_no_range():
    for method in METHODS:
        assert ww.calibrate(np.zeros((4, 3)), method) == (0, 0)
        assert float(ww.affine(np.zeros((4, 3)), calibrate=method).scale) == 1


def test_a_scale_covers_what_the_method_found():
    x = drawn("outliers", 300).reshape(30, 10)
    for method in METHODS:
        q = ww.affine(x, 8, True, calibrate=method)
        lo, hi = ww.calibrate(x, method, exact=True)
        want = page.qparams(lo, hi, -127, 127, "symmetric")
        assert (Fraction(float(q.scale)), int(q.zero_point)) == want
        c = ww.Calibrator(method)
        c.observe(x)
        assert ww.affine(x, 8, True, calibrate=c).scale == q.scale
    channels = ww.affine(x, calibrate="mse", axis=1)
    alone = [ww.affine(x[:, i].copy(), calibrate="mse").scale for i in range(10)]
    assert channels.scale.tolist() == [float(s) for s in alone]
    assert ww.affine(x, calibrate="percentile", percentile=90).clamped > 20


# --- Batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_batches_are_all_the_data(method):
    x = drawn("outliers", 600).reshape(60, 10)
    whole = ww.calibrate(x, method, exact=True)
    one, other = ww.Calibrator(method), ww.Calibrator(method)
    for batch in np.split(x[:30], 3):
        one.observe(batch)
    other.observe(x[30:].astype(np.float64))
    one.merge(pickle.loads(pickle.dumps(other)))
    assert one.range(exact=True) == whole and one.exact and one.count == 600
    assert one.threshold() == max(-float(whole[0]), float(whole[1]))
    assert "600 values, exact" in repr(one)


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "entropy"])
def test_past_its_capacity_it_says_so_and_stays_near(method):
    x = drawn("outliers", 30_000)
    whole = ww.calibrate(x, method)
    orders = []
    for parts in (x, x[::-1], np.roll(x, 777)):
        c, rest = ww.Calibrator(method, capacity=1000), ww.Calibrator(method, capacity=1000)
        for batch in np.split(parts[:24_000], 48):
            c.observe(batch)
        rest.observe(parts[24_000:])
        c.merge(rest)
        orders.append(c.range())
    assert orders[0] == orders[1] == orders[2]
    assert c.exact == (method == "minmax") and c.count == 30_000
    assert c.nbytes < 16 * 30_000 and (c.exact or "one part in 4,096" in repr(c))
    near = {"minmax": 0, "percentile": 2.0**-12, "mse": 0.02, "entropy": 0.02}[method]
    assert np.abs(np.subtract(orders[0], whole)).max() <= near * max(map(abs, whole))


def test_memory_stays_bounded():
    c = ww.Calibrator("mse", capacity=10_000)
    rng = np.random.default_rng(1)
    sizes = []
    for _ in range(40):
        c.observe(rng.standard_normal(20_000))
        sizes.append(c.nbytes)
    assert sizes[-1] < 1.5 * sizes[9] < 2_000_000


def test_rows_past_the_capacity_are_refused():
    c = ww.Calibrator("cross_entropy", capacity=20)
    c.observe(np.ones((2, 10)))
    with pytest.raises(
        ValueError, match="30 values are past capacity = 20, and cross_entropy needs"
    ):
        c.observe(np.ones((1, 10)))
    assert c.count == 20 and c.exact


def test_thresholds_and_their_errors_are_listed():
    x = drawn("outliers", 500)
    for capacity in (1 << 20, 100):
        c = ww.Calibrator("mse", capacity=capacity)
        c.observe(x)
        listed = {row[0]: row[1:] for row in c.thresholds().rows}
        assert [*listed] == ["minmax", "percentile", "mse", "entropy"]
        assert min(row[2] for row in listed.values()) == listed["mse"][2]
        assert listed["minmax"][3] == "0 of 500"
    scale = ww.affine(x, 8, True, calibrate="mse")
    exact = np.square(x - scale.to_float64()).mean()
    first = ww.Calibrator("mse")
    first.observe(x)
    assert math.isclose({r[0]: r[3] for r in first.thresholds().rows}["mse"], exact, rel_tol=1e-12)


def test_a_plot_names_each_method_and_its_error():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    for capacity in (1 << 20, 100):
        c = ww.Calibrator("entropy", capacity=capacity)
        c.observe(drawn("outliers", 500))
        above, below = c.plot(title="weights")
        names = [text.get_text() for text in above.get_legend().get_texts()]
        assert [name.split(":")[0] for name in names] == ["minmax", "percentile", "mse", "entropy"]
        assert len(below.get_legend().get_texts()) == 4 and above.get_title() == "weights"
        assert "mean squared error" in below.get_ylabel()


def test_methods_of_one_threshold_hide_none_of_each_other_in_a_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    c = ww.Calibrator("mse", bits=4)
    c.observe(np.array([0.01] * 90 + [50.0] * 10))  # any threshold but the largest costs more
    above, below = c.plot()
    lines = [line for line in above.get_lines() if line.get_xdata()[0] == 50]
    assert len({line._unscaled_dash_pattern[0] for line in lines}) == len(lines) > 1
    assert {line.get_linestyle() for line in above.get_legend().get_lines()} == {"-"}
    below.figure.canvas.draw()
    marks = [x for x in below.get_lines() if x.get_marker() != "None"]
    seen = {tuple(x.get_transform().transform((x.get_xdata()[0], 1)).round(1)) for x in marks}
    assert len(seen) == len(marks) == 4 == len({x.get_marker() for x in marks})


BAD = [
    ({"method": "kl"}, "method = 'kl': it may be 'minmax', 'percentile'"),
    ({"method": "mse", "bits": 25}, "bits = 25: method 'mse' takes 2 to 24"),
    ({"method": "entropy", "bits": 13}, "bits = 13: method 'entropy' takes 2 to 12"),
    ({"percentile": 99}, "percentile = 99 and method = 'minmax'; leave it out"),
    ({"method": "percentile", "percentile": 101}, "percentile = 101: it may be 50 to 100"),
    ({"method": "percentile", "percentile": "99"}, "percentile = '99'"),
]


def test_bits_are_an_integer():
    for bits in ("8", 8.0, None, [8]):
        with pytest.raises(TypeError, match="bits = .*: an integer is wanted"):
            ww.calibrate([1.0, 2.0], "mse", bits)


@pytest.mark.parametrize("how, message", BAD)
def test_bad_methods_are_named(how, message):
    with pytest.raises(ValueError, match=message):
        ww.calibrate([1.0, 2.0], **how)
    with pytest.raises(ValueError, match=message):
        ww.Calibrator(**how)


def test_bad_data_are_named():
    for method in METHODS:
        with pytest.raises(ValueError, match=r"x\[1\] is nan, which no range from data has"):
            ww.calibrate([1.0, math.nan], method)
        with pytest.raises(ValueError, match=r"x has shape \(0,\): an empty array has no range"):
            ww.Calibrator(method).observe([])
        with pytest.raises(ValueError, match=r"nothing has been observed; call observe\(x\)"):
            ww.Calibrator(method).range()
    with pytest.raises(ValueError, match="capacity = 0: it may be 1 or more values"):
        ww.Calibrator(capacity=0)
    with pytest.raises(
        ValueError, match="method is 'minmax' here and 'mse' there; merge alike ones"
    ):
        ww.Calibrator().merge(ww.Calibrator("mse"))
    with pytest.raises(ValueError, match="method 'minmax' keeps no data to draw"):
        c = ww.Calibrator()
        c.observe([1.0])
        c.plot()
    with pytest.raises(ValueError, match="looks at rows of outputs, which one scale has"):
        ww.affine(np.ones((2, 2)), axis=0, calibrate="cross_entropy")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("text", ["affine(uint8)", "affine(int8,symmetric)"])
def test_percentiles_of_numbers_of_one_sign_become_scales(sign, text):
    """Their range goes on to zero; the exact percentile has a long denominator."""
    x = sign * np.random.default_rng(3).random(12_800, np.float32)
    lo, hi = ww.calibrate(x, "percentile", percentile=99.9, exact=True)
    rule = ww.affine(x, text, calibrate="percentile", percentile=99.9)
    wide = max(-lo, hi) if "symmetric" in text else max(hi, 0) - min(lo, 0)
    assert rule.scale == np.float32(float(wide / (127 if "symmetric" in text else 255)))
