"""ww.study.accumulation, its bounds and its stream, against sums of fractions."""

from fractions import Fraction
from math import inf, isnan

import numpy as np
import pytest
import widthwise as ww
from widthwise import study

UNITS = [
    "mac(e4m3fn, sum=e5m10)",
    "mac(e5m10)",
    "fma(bfloat16)",
    "tree(e5m10, fan=4)",
    "pairwise(e5m10)",
    "dot(e5m10, lanes=4, align=12:rtz)",
    "mac(e5m10, promote=8:binary32)",
    "hopper.e4m3.f32",
    "hopper.f16.f32",
    "hopper.e4m3.promote128",
    "lowered.e4m3.f32",
    "ampere.tf32.f32",
    "cdna1.bf16",
    "cdna2.bf16_1k",
    "cdna3.f16",
    "cdna3.bf8",
    "tree8.f32",
    "kulisch.f32",
    "neumaier(bfloat16)",
    "kulisch(e5m10)",
    "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)",
    "mac(e5m10, sum=e5m10:sr8)",
]


def fractions_of(x, y):
    return [p * q for p, q in zip(x.to_fractions(), y.to_fractions(), strict=True)]


@pytest.mark.parametrize("unit", UNITS)
def test_every_figure_is_that_of_fractions(unit):
    rng = np.random.default_rng(0)
    u = ww.Unit(unit)
    a, b = (ww.array(rng.standard_normal((2, 40)), f) for f in (u.a, u.b))
    found = study.accumulation(a, b, u, lengths=[1, 7, 40])
    frame = found.to_dataframe().set_index(["dot", "length"])
    for i in range(2):
        for k in (1, 7, 40):
            terms = fractions_of(a[i, :k], b[i, :k])
            z = ww.dot(a[:, :k], b[:, :k], unit=u)[i]
            exact, error = sum(terms), z.to_fractions().item() - sum(terms)
            row = frame.loc[i, k]
            magnitude = sum(map(abs, terms))
            assert row.exact == pytest.approx(float(exact), rel=4e-16)
            assert row.error == pytest.approx(float(error), rel=4e-16)
            assert row.absolute == abs(row.error)
            assert row.relative == pytest.approx(float(abs(error / exact)), rel=6e-16)
            assert row.magnitude == pytest.approx(float(magnitude), rel=4e-16)
            assert row.condition == pytest.approx(float(magnitude / abs(exact)), rel=6e-16)
            below = row.bound - study.bound(u, k) * row.magnitude  # what underflow may cost
            least = max(2.0 ** (f.emin - f.fraction_bits) for f in (u.a, u.b, u.result_format))
            assert -1e-12 <= below <= 7 * k * least
            parts = row.operand_error + row.accumulation_error
            assert parts == pytest.approx(row.error, rel=1e-9, abs=1e-15)
            assert row.operand_error == 0 or "tf32" in unit  # which reads less of them
            assert row.absolute <= row.bound


def test_a_sum_is_products_with_one_and_c_its_start():
    terms = ww.array([1.0, 0.5, 0.25], "e5m2")
    found = study.accumulation(terms, None, "mac(e5m2)", c=4.0, lengths=[3])
    assert found.exact["mac(e5m2)"].tolist() == [[[5.75]]]
    assert found.error["mac(e5m2)"].tolist() == [[[0.25]]]  # 5, 5.5 to even 6, 6.25 to 6
    assert found.magnitude["mac(e5m2)"].tolist() == [[[5.75]]]


@pytest.mark.parametrize(
    "unit, k, wanted",
    [
        # s / (1 - s) with s = 1 product and 100 sums of 2^-11; of products, 10 blocks, …
        ("mac(e5m10)", 100, Fraction(101, 2**11)),
        ("fma(e5m10)", 100, Fraction(100, 2**11)),
        ("mac(e5m10, product=e5m10:rtz, sum=e5m10:sr8)", 10, Fraction(11, 2**10)),
        ("tree(e5m10, fan=8)", 32, Fraction(1 + 4 * 3 + 4, 2**11)),
        ("pairwise(e5m10)", 33, Fraction(1 + 6 + 1, 2**11)),
        ("dot(e5m10, lanes=4, align=12:rtz)", 40, 10 * Fraction(5, 2**12) + Fraction(10, 2**11)),
        ("kulisch(e5m10)", 1000, Fraction(1, 2**11)),
        ("kulisch(e5m10, out=bfloat16)", 1000, Fraction(1, 2**8)),
        ("mac(e5m10, promote=8:binary32)", 32, Fraction(9, 2**11) + Fraction(4, 2**24)),
        ("mac(e5m10, final=bfloat16)", 3, Fraction(4, 2**11) + Fraction(1, 2**8)),
        ("dot(e5m10, lanes=2, align=3:rtz, out=binary32)", 2, Fraction(3, 8) + Fraction(1, 2**24)),
        ("hopper.e4m3.f32", 64, 2 * Fraction(33, 2**13) + Fraction(2, 2**13)),
        # four sums of 16 and C, cut 35 bits below the scales: a product of elements may be 1/4
        ("blackwell.nvfp4", 64, 5 * Fraction(2, 2**34) + Fraction(1, 2**23)),
    ],
)
def test_a_bound_is_highams_gamma_of_the_roundings_a_term_meets(unit, k, wanted):
    assert study.bound(unit, k) == pytest.approx(float(wanted / (1 - wanted)), rel=1e-12)


def test_bounds_that_are_none():
    assert study.bound("mac(bfloat16)", 255) == inf
    assert study.bound("fixedacc(e5m10, frac=0)", 4) == inf
    assert study.bound("dot(e5m10, lanes=4, align=0:rtz)", 4) == inf
    for f in ("posit16es2", "takum16", "table(nf4)"):  # whose digits hang on the number
        of_sums = f"mac(e5m10, sum={f}:rdn)", f"kulisch({f})", f"neumaier(e5m10, product={f})"
        assert [study.bound(unit, 10) for unit in of_sums] == [inf] * 3
        assert study.likely_bound(of_sums[0], 10) == inf
        read = study.bound(f"mac({f}, product=e5m10, sum=e5m10)", 10)
        assert read == study.bound("mac(e5m10)", 10)
    assert isnan(study.bound("kahan(e5m10)", 10))
    u = float(Fraction(1, 2**11))
    gamma = 10 * u / (1 - 10 * u)
    assert study.bound("neumaier(e5m10, product=binary32)", 10) == pytest.approx(
        u + gamma**2, rel=0.02
    )


WIDE = ["mac(e15m10)", "mac(e15m10, sum=e15m4)", "pairwise(e15m10)", "kulisch(e15m10)"]


@pytest.mark.parametrize("e", [400, 320, 308, -290])
def test_bounds_past_binary64_are_those_of_the_same_terms_within_it(e):
    x = ww.array([f"1.3e{e}", f"1.1e{e - 1}", f"-1.7e{e - 2}"], "e15m10")
    scale = ww.from_bits([x.bits[0] & ~np.uint32(1023)], x.format)  # a power of two
    here, there = (study.accumulation(y, None, WIDE, lengths=[1, 2, 3]) for y in (x / scale, x))
    for unit in WIDE:
        limits = zip(here._relative_limits(unit), there._relative_limits(unit), strict=True)
        for near, far in limits:
            assert far == pytest.approx(near, rel=1e-12)
        assert there.relative[unit].tolist() == here.relative[unit].tolist()
        assert (there.relative[unit] <= there._relative_limits(unit)[0]).all()
    assert "nan" not in str(there)


@pytest.mark.parametrize(
    "unit",
    [
        "mac(e20m10, sum=e20m10;overflow=max)",  # all of which may have kept their largest number
        "mac(e20m10, sum=e20m10:rtz)",
        "mac(e20m10, sum=binary64:rtz)",
        "mac(e62m10, sum=e62m10;overflow=max)",
    ],
)
def test_no_bound_holds_past_binary64_where_an_end_is_silent(unit):
    f = ww.Unit(unit).a
    large, small = (ww.array([f"1e{e}", f"1.3e{e}"], f) for e in (400, 10))
    for x, known in ((large, False), (small, True)):
        found = study.accumulation(x, None, unit, lengths=[2])
        (limit,), _ = (x.ravel() for x in found._relative_limits(unit))
        assert np.isfinite(limit) == known and found.relative[unit].item() <= limit


def test_no_bound_is_known_below_binary64_and_none_is_zero():
    x = ww.array(["1e-400", "1.3e-401"], "e20m10")
    found = study.accumulation(x, None, "mac(e20m10)", lengths=[2])
    assert [limit.item() for limit in found._relative_limits("mac(e20m10)")] == [inf, inf]
    assert found.limits("mac(e20m10)")[0].item() > 0
    for fraction in (1000, 1070, 2000):
        unit = f"mac(e5m{fraction})"
        assert 0 < study.likely_bound(unit, 100) < study.bound(unit, 100)


@pytest.mark.parametrize(
    "unit, terms",
    [
        ("kahan(e5m10, sum=e5m10;overflow=max)", [60000.0] * 4),  # of which no bound is known
        ("neumaier(e5m10, sum=e5m10:rtz)", [60000.0] * 4),
        ("kahan(fixed16.8)", [100.0] * 4),
        ("mac(posit16es2)", [1.0, inf]),  # whose operand's error is no number
    ],
)
def test_what_may_have_overflowed_has_no_limit_where_no_bound_is_known_either(unit, terms):
    found = study.accumulation(terms, None, unit, lengths=[len(terms)])
    assert [limit.item() for limit in found.limits(unit)] == [inf, inf]
    coarse = study.accumulation([1.0], None, "kulisch(e5m10, out=fixed8.-2000)", lengths=[1])
    assert coarse.limits("kulisch(e5m10, out=fixed8.-2000)")[0].item() == inf


def test_the_likely_bound_grows_with_the_root_of_k():
    ratios = [study.likely_bound("mac(binary32)", k) / k**0.5 for k in (10**3, 10**5, 10**7)]
    assert max(ratios) < 1.4 * min(ratios)
    assert study.likely_bound("mac(e5m10)", 400) < study.bound("mac(e5m10)", 400) / 3
    few, many = (study.likely_bound(f"fma(e5m10, sum=e5m10:sr{r})", 400) for r in (2, 16))
    assert few > 2 * many  # what lies below 2 random bits is cut off
    truncating = "mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)"
    assert study.likely_bound(truncating, 400) == study.bound(truncating, 400)
    with pytest.raises(ValueError, match="confidence = 1: it may be above 0 and below 1"):
        study.likely_bound("mac(e5m10)", 4, confidence=1)


def test_errors_of_stochastic_rounding_keep_the_likely_bound():
    rng = np.random.default_rng(1)
    found = study.accumulation(
        rng.standard_normal((20, 300)), None, "fma(e5m10, sum=e5m10:sr16)", seeds=range(20)
    )
    (unit,) = found.units
    ratio = found.absolute[unit] / found.magnitude[unit]
    assert found.ulps[unit].shape == (20, 20, len(found.lengths))
    broken = (ratio > found.likely_bounds[unit]).mean()
    assert broken < 0.01
    assert (ratio <= found.bounds[unit]).all()


def test_seeds_are_of_units_that_draw():
    units = ["mac(e5m10)", "mac(e5m10, sum=e5m10:sr8)"]
    found = study.accumulation([0.1] * 50, None, units, seeds=[3, 4], lengths=[50])
    assert found.seeds == {units[0]: [3], units[1]: [3, 4]}
    for j, seed in enumerate([3, 4]):
        z = ww.sum(ww.array([0.1] * 50, "e5m10"), unit=units[1], seed=seed)
        exact = 50 * ww.array(0.1, "e5m10").to_fractions().item()
        assert found.accumulation_error[units[1]][j, 0, 0] == float(z.to_fractions().item() - exact)


def test_no_engine_changes_an_accumulation_and_progress_is_told():
    units, seen = ["mac(e5m10)", "hopper.f16.f32", "mac(e5m10, sum=e5m10:sr4)"], []
    terms = np.random.default_rng(7).standard_normal((5, 90))
    fast, slow = (
        study.accumulation(
            terms, None, units, seeds=[1, 2], engine=engine, progress=lambda *x: seen.append(x)
        )
        for engine in ("auto", "reference")
    )
    assert all((fast.error[unit] == slow.error[unit]).all() for unit in fast.units)
    assert seen == [(1, 3), (2, 3), (3, 3)] * 2


def test_a_band_holds_its_share_of_the_seeds():
    units = ["mac(bfloat16, sum=bfloat16:sr8)", "mac(bfloat16)"]
    found = study.accumulation(
        [0.1] * 1000, None, units, seeds=range(100), lengths=[1000], against="operands"
    )
    low, high = found.band(0.9, "absolute")[found.units[0]]
    inside = (found.absolute[found.units[0]] >= low) & (found.absolute[found.units[0]] <= high)
    assert 0.9 <= inside.mean() <= 0.93
    # Nearest stands still at 32 of 100; stochastic sums are right in the mean.
    assert found.absolute[found.units[1]].item() > 68
    assert abs(found.error[found.units[0]].mean()) < 3


def test_no_number_has_no_end_of_error():
    found = study.accumulation([400.0, 400.0], None, ["mac(e4m3fn)", "mac(e5m2)"], lengths=[2])
    assert found.absolute["mac(e4m3fn)"].item() == inf and isnan(found.error["mac(e4m3fn)"].item())
    assert found.absolute["mac(e5m2)"].item() == 32  # 384 + 384


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_tidy(library):
    found = study.accumulation([[0.1] * 9] * 2, None, ["mac(e5m10)", "kulisch(e5m10)"], lengths=[3])
    frame = found.to_dataframe(library)
    assert type(frame).__module__.split(".")[0] == library
    assert frame.shape == (4, 16)
    assert list(frame["unit"]) == [unit for unit in found.units for _ in range(2)]
    with pytest.raises(ValueError, match="library = 'dask': it may be 'pandas' or 'polars'"):
        found.to_dataframe("dask")


def test_it_prints_and_plots_with_bounds_and_bands():
    found = study.accumulation(
        np.ones((3, 20)) / 3, None, ["mac(e5m10)", "mac(e5m10, sum=e5m10:sr8)"], seeds=range(4)
    )
    assert "likely bound" in repr(found)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert found.plot(ax, bounds=True, band=0.9) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *found.units,
        "where 90% of seeds and sums lie",
        "of it by rounding the operands",
        "bound of the largest (Higham)",
        "likely bound of the largest\n(99%, Higham and Mary)",
    ]
    drawn = [line for line in ax.get_lines() if len(line.get_xdata())]
    assert len(drawn) == 2 + 2 + 2 * 2 and len(ax.collections) == 2 + 1
    with pytest.raises(ValueError, match="bounds = True: they are of the measures"):
        found.plot(ax, measure="ulps", bounds=True)
    plt.close("all")


# --- Products and convolutions -------------------------------------------------------------------


def test_matrix_products_and_convolutions_are_dot_products():
    rng = np.random.default_rng(2)
    u = ww.Unit("mac(e4m3fn, sum=e5m10)")
    a, b = ww.array(rng.standard_normal((3, 9)), u.a), ww.array(rng.standard_normal((9, 4)), u.b)
    z = ww.dot(*study.dots_of_matmul(a, b), unit=u)
    assert (z.bits == ww.matmul(a, b, unit=u).bits).all()
    x, w = rng.standard_normal((2, 3, 6, 7)), rng.standard_normal((4, 3, 2, 3))
    windows, weights = study.dots_of_conv2d(x, w, stride=(2, 1), padding=(0, 1))
    z = ww.dot(ww.array(windows, u.a), ww.array(weights, u.b), unit=u)
    wanted = ww.conv2d(ww.array(x, u.a), ww.array(w, u.b), unit=u, stride=(2, 1), padding=(0, 1))
    assert z.shape == wanted.shape and (z.bits == wanted.bits).all()


# --- Names, and what is refused ---------------------------------------------------------------


def test_a_dictionary_of_units_is_compared():
    units = study.orders("e5m10")
    found = study.accumulation([1.0] * 9, None, units)
    assert found.units == list(units)
    assert found.canonical == {name: str(unit) for name, unit in units.items()}
    assert study.error_growth([1.0] * 9, None, units).units == found.units
    swept = ww.sweep(units, [1.0], [1.0])
    assert swept["name"].tolist() == found.units
    assert swept["unit"].tolist() == list(found.texts.values())
    assert swept["canonical"].tolist() == list(found.canonical.values())
    once = (k for k in (3, 9))  # an iterator serves all units
    assert study.accumulation([1.0] * 9, None, units, lengths=once).lengths == [3, 9]


def test_what_a_dictionary_calls_its_units_labels_what_is_found():
    named = {"ours": "mac(e5m2)", "the same": ww.Unit("mac(e5m2)"), "wide": "mac(e5m10)"}
    found = study.accumulation([8.0] + [1.0] * 16, None, named, lengths=[1, 17])
    drawn = [line.get_label() for line in found.plot().get_lines()]
    assert [name for name in drawn if name[0] != "_"] == list(named)
    assert str(found.table()).splitlines()[2].split()[:2] == ["ours", "mac(e5m2)"]
    assert {name: e[0, 0, -1] for name, e in found.error.items()} == {
        "ours": -16,
        "the same": -16,
        "wide": 0,
    }
    pieces = [[8.0], [1.0] * 16]
    growth = study.error_growth(pieces[0] + pieces[1], None, named, lengths=[1, 17])
    for study_of, length in ((found, 2), (growth, 2), (study.streamed(pieces, named), 2)):
        frame = study_of.to_dataframe()
        assert list(frame.columns[:2]) == ["name", "unit"] and len(frame) == length * 3
        assert frame["name"].tolist() == [name for name in named for _ in range(2)]
        assert set(frame["unit"][frame["name"] != "wide"]) == {"mac(e5m2)"}
    assert study.accumulation([1.0], None, "mac(e5m10)").table().columns[0] == "unit"


def test_operands_that_are_no_numbers_have_no_end_of_error():
    for terms in ([1.0, float("nan")], [float("inf"), -float("inf")], [1.0, 1e6]):
        found = study.accumulation(terms, None, ["mac(e4m3fn)"], lengths=[2])
        assert found.absolute["mac(e4m3fn)"].item() == inf
        assert found.ulps["mac(e4m3fn)"].item() == found.relative["mac(e4m3fn)"].item() == inf
    a = ww.array([[float("nan")]], "e5m10")
    ulps, relative = study.product_errors("mac(e5m10)", a, a, ww.matmul(a, a, unit="mac(e5m10)"))
    assert ulps.tolist() == relative.tolist() == [[inf]]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: study.accumulation([1.0], None, []), "units is empty; name one at least"),
        (lambda: study.accumulation([1.0], None, "mac(e5m10)", seeds=[]), "seeds is empty"),
        (lambda: study.accumulation([], None, "mac(e5m10)"), "have no elements along"),
        (lambda: study.bound("mac(e5m10)", -3), "k = -3: a number of products is wanted"),
        (lambda: study.likely_bound("mac(e5m10)", 2.5), "k = 2.5: a number of products is"),
        (lambda: study.bound("mac(e5m10)", 10**400), "wanted, 0 to 2.63 - 1"),
        (
            lambda: study.smallest_width("mac(e8m{width})", [3], 1.0, tolerance=1),
            r"a has shape \(\); a sum needs an axis",
        ),
        (
            lambda: study.dots_of_conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 5, 3)), padding=0),
            r"w is \(1, 1, 5, 3\) and x, padded, \(1, 1, 3, 3\): no window of w fits",
        ),
        (
            lambda: study.accumulation([1.0], None, "blackwell.mxfp8"),
            "scales each 32 elements of a and b; give both scale_a and scale_b",
        ),
        (
            lambda: study.accumulation([1.0], None, "mac(e5m10)", scale_a=[1.0], scale_b=[1.0]),
            "scale_a is given; unit .* scales nothing, leave it out",
        ),
        (
            lambda: study.accumulation(
                [1.0] * 40, None, "blackwell.mxfp8", scale_a=[1, 1], scale_b=[1, 1], lengths=[8]
            ),
            "8 ends within a block that shares a scale; they may be multiples of 32, and 40",
        ),
        (lambda: study.dots_of_matmul([1.0], [[1.0]]), r"they must be \(m, k\) and \(k, n\)"),
        (
            lambda: study.dots_of_conv2d(np.ones((1, 2, 3, 3)), np.ones((1, 1, 2, 2))),
            "they must be .images, channels, height, width.",
        ),
    ],
)
def test_what_makes_no_accumulation_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_no_number_is_told_by_the_arguments_name():
    with pytest.raises(TypeError, match="^b holds a NoneType, None; numbers, Fractions"):
        study.accumulation([1.0], [None], "mac(e5m10)")
    with pytest.raises(ValueError, match="^c: element 0 is NaN and e2m1fn has no NaN"):
        study.accumulation([1.0], None, "mac(e2m1fn)", c=float("nan"))
    with pytest.raises(ValueError, match="^rounding 'up', column 1: no rounding 'up'"):
        study.accumulation([1.0], None, "mac(e5m10)", rounding="up")


@pytest.mark.parametrize("name", ["lengths", "seeds"])
def test_one_number_where_several_are_wanted_is_told(name):
    with pytest.raises(TypeError, match=rf"{name} = 1: several are wanted, as \[1\]"):
        study.accumulation([1.0], None, "mac(e5m10)", **{name: 1})
