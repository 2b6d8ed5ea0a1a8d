"""Studies: errors against exact sums."""

import math
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from widthwise.study import error_growth, product_errors


def by_hand(a, b, computed, f):
    """|computed - exact| in units of f's last place at the exact sum, and relative."""
    exact = sum(
        (x * y for x, y in zip(a.to_fractions(), b.to_fractions(), strict=True)), Fraction()
    )
    error = abs(computed.to_fractions()[()] - exact)
    exponent = f.emin
    while Fraction(2) ** (exponent + 1) <= abs(exact):
        exponent += 1
    return float(error / Fraction(2) ** (exponent - f.fraction_bits)), float(error / abs(exact))


DIGITS_HANG_ON_THE_NUMBER = ["posit8es2", "posit6es4", "takum8", "takum5"]
DIGITS_HANG_ON_THE_NUMBER += ["table(nf4)", "table(-5,-4,1,1.25)"]


@pytest.mark.parametrize("text", DIGITS_HANG_ON_THE_NUMBER)
def test_beside_posits_takums_and_tables_an_ulp_is_the_distance_of_two_numbers(text):
    codes = ww.from_bits(np.arange(1 << ww.Format(text).width, dtype=np.uint8), text)
    numbers = sorted(codes[~ww.isnan(codes)].to_fractions())
    rng = np.random.default_rng(3)
    given = [float(x) for x in numbers if abs(x) < 2**60] + [0.0, 1e5, -1e5, 1e-9]
    given += list(rng.normal(size=50) * 2.0 ** rng.integers(-30, 30, 50))
    a, one = ww.array(given, "binary32").reshape(-1, 1), ww.array([[1.0]], "binary32")
    unit = f"kulisch(binary32, out={text}:rdn)"
    z = ww.matmul(a, one, unit=unit)
    ulps, _ = product_errors(unit, a, one, z)
    for x, y, got in zip(
        a.to_fractions().ravel(), z.to_fractions().ravel(), ulps[:, 0], strict=True
    ):
        # Of a number the distance is that to the next one away from zero, in tables upwards.
        side = abs(x) if "table" not in text else x
        at = sum(number <= side for number in numbers)
        above = min(max(at, 1), len(numbers) - 1)
        assert got == pytest.approx(float(abs(y - x) / (numbers[above] - numbers[above - 1])))


def test_growth_is_the_error_of_every_prefix():
    rng = np.random.default_rng(0)
    u = ww.Unit("mac(e4m3fn, sum=e5m10)")
    a, b = ww.array(rng.standard_normal(20), u.a), ww.array(rng.standard_normal(20), u.b)
    growth = error_growth(a, b, [u], lengths=range(1, 21))
    assert growth.lengths == list(range(1, 21))
    ulps, relative = growth.ulps[str(u)][0], growth.relative[str(u)][0]
    for n in range(1, 21):
        z = ww.dot(a[:n], b[:n], unit=u)
        assert (ulps[n - 1], relative[n - 1]) == pytest.approx(
            by_hand(a[:n], b[:n], z, u.result_format)
        )
    assert ulps.max() > 1


def test_a_correctly_rounded_unit_errs_by_half_an_ulp_at_most():
    rng = np.random.default_rng(1)
    growth = error_growth(
        rng.standard_normal((6, 100)),
        rng.standard_normal(100),
        "kulisch(e5m10)",
        against="operands",
    )
    (worst,) = growth.max().values()
    assert 0 < worst.max() <= 0.5
    assert growth.lengths[0] == 1 and growth.lengths[-1] == 100


def test_values_are_rounded_to_each_units_formats_and_c_is_the_start():
    growth = error_growth([1.0] * 20, [1.0] * 20, ["mac(e5m2)", "mac(e5m10)"], c=8.0, lengths=[20])
    assert growth.max()["mac(e5m2)"] == 5  # 8 stays 8; 28's last place is 4
    assert growth.max()["mac(e5m10)"] == 0


def test_a_result_that_is_no_number_has_an_infinite_error():
    growth = error_growth([400.0, 400.0], [1.0, 1.0], "mac(e4m3fn)")
    assert growth.ulps["mac(e4m3fn)"].tolist() == [[0.5, np.inf]]  # 400 is rounded to 384


def test_growth_prints_plots_and_becomes_a_frame():
    rng = np.random.default_rng(2)
    units = ["mac(e5m10)", "mac(bfloat16)"]
    growth = error_growth(
        rng.standard_normal((3, 30)), rng.standard_normal(30), units, lengths=[5, 30]
    )
    assert "mean error (ulp)" in repr(
        growth
    ) and "error after 30 products, against the data as given" in repr(growth)
    assert "<table>" in growth._repr_html_()
    frame = growth.to_dataframe()
    assert len(frame) == 4 and set(frame.columns) >= {"unit", "length", "mean_ulps", "max_relative"}
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert growth.plot(ax, measure="ulps", statistic="max") is ax
    labels = [line.get_label() for line in ax.get_lines()]
    assert [name for name in labels if name in growth.units] == growth.units
    plt.close("all")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: error_growth([1.0], [1.0], []), "units is empty; name one at least"),
        (lambda: error_growth([], [], "mac(e5m10)"), "have no elements along their last axis"),
        (
            lambda: error_growth([1.0], [1.0], "mac(e5m10)", lengths=[2]),
            r"lengths = \[2\]: they may be 1 to 1",
        ),
        (lambda: error_growth([1.0, 2.0], [1.0] * 3, "mac(e5m10)"), "their last axes must match"),
        (
            lambda: error_growth([1.0], [1.0], "mac(e5m10)").mean("ulp"),
            "measure = 'ulp': it may be",
        ),
        (
            lambda: error_growth([1.0], [1.0], "mac(e5m10)").plot(statistic="sum"),
            "statistic = 'sum'",
        ),
    ],
)
def test_what_makes_no_study_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_products_errors_are_those_of_its_dot_products():
    rng = np.random.default_rng(3)
    u = ww.Unit("hopper.e4m3.f32")
    a, b = ww.array(rng.standard_normal((4, 50)), u.a), ww.array(rng.standard_normal((50, 3)), u.b)
    z = ww.matmul(a, b, unit=u)
    ulps, relative = product_errors(u, a, b, z)
    for i in range(4):
        for j in range(3):
            wanted = by_hand(a[i], b[:, j], z[i, j], u.result_format)
            assert (ulps[i, j], relative[i, j]) == pytest.approx(wanted)
    with pytest.raises(ValueError, match=r"they must be \(m, k\), \(k, n\) and \(m, n\)"):
        product_errors(u, a, b, z[:2])
    with pytest.raises(TypeError, match="a is e5m2; unit hopper.e4m3.f32 takes e4m3fn there"):
        product_errors(u, a.astype("e5m2"), b, z)
    with pytest.raises(TypeError, match="computed is e5m10; unit hopper.e4m3.f32 takes e8m23"):
        product_errors(u, a, b, z.astype("e5m10"))


def test_exact_sums_reach_past_every_float():
    a = ["1p200000", "-1p200000", "1p-200000"]
    growth = error_growth(a, [1.0] * 3, "fma(e20m10)", lengths=[3])
    assert growth.max()["fma(e20m10)"] == 0
    with pytest.raises(
        ValueError, match=r"exact sum: terms lie 2\^3000000 apart, and at most 2\^2097152"
    ):
        error_growth(["1p1500000", "1p-1500000"], [1.0] * 2, "fma(e40m10)")
    ends = ["1p2305843009213693951", "1p-2305843009213693950"]  # squared: all that 62 bits hold
    with pytest.raises(ValueError, match=r"terms lie 2\^922337203685477\d{4} apart, and at most"):
        error_growth(ends, ends, "fma(e62m10)")


@pytest.mark.parametrize(
    "unit",
    ["mac(e5m10)", "mac(e8m7)", "mac(e5m10, b=e9m40)", "mac(binary64)", "mac(e7m60, b=e4m3fn)"]
    + ["mac(e10m59)", "mac(e12m70)", "mac(binary128)", "mac(e9m200)", "blackwell.mxfp8"],
)
def test_exact_sums_lose_no_bit_of_terms_that_cancel(unit):
    u, rng, k = ww.Unit(unit), np.random.default_rng(4), 128

    def some(f):
        far = min(150, int(f.emax) // 2)
        values = rng.normal(size=k) * 2.0 ** rng.integers(-far, far, k)
        return ww.divide(ww.array(values, f), ww.array(3.0, f))  # which has every digit

    a, b = some(u.a), some(u.b)
    # Each product and its opposite far from it, and one product that is left over.
    there = rng.permutation(k)
    first = ww.from_bits(np.concatenate([a.bits, ww.negate(a).bits[there], a.bits[:1]]), u.a)
    second = ww.from_bits(np.concatenate([b.bits, b.bits[there], b.bits[:1]]), u.b)
    scales = {}
    if u.scale_format:
        ones = ww.array(np.ones(-(-(2 * k + 1) // u.scale_block)), u.scale_format)
        scales = {"scale_a": ones, "scale_b": ones}
    found = ww.study.accumulation(first, second, u, lengths=[2 * k, 2 * k + 1], **scales)
    (exact,) = found.exact.values()
    (condition,) = found.condition.values()
    products = a.to_fractions() * b.to_fractions()
    left, total = products[0], sum(abs(products))
    assert exact.reshape(-1).tolist() == pytest.approx([0, float(left)], rel=1e-15, abs=0)
    assert condition.reshape(-1)[1] == pytest.approx(float(2 * total / abs(left)) + 1, rel=1e-14)


PAST = {  # binary64's range, below it, and within
    400: (math.inf, math.inf, "3.576e+395  3.576e+395"),
    -400: (-0.0, 0.0, "-3.646e-404  3.646e-404"),
    0: (-(2.0**-15), 2.0**-15, "-3.052e-05          3.052e-05"),
}


@pytest.mark.parametrize("e", PAST)
def test_a_table_of_sources_holds_floats_and_prints_digits(e):
    x = ww.array([f"1e{e}", f"1.37e{e - 2}"], "e20m10")
    found = ww.study.sources(x, None, "mac(e20m10)")
    *sums, digits = PAST[e]
    assert found.table().rows[-1] == ("sum rounding", 1, *sums)
    assert all(type(x) is float for row in found.table().rows for x in row[2:])
    assert digits in str(found)
