"""What the studies' figures show: every unit, zeros and infinities in their places, names."""

import numpy as np
import pytest
import widthwise as ww
from widthwise import study

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

MANY = ["mac(bfloat16)", "kulisch(bfloat16)", "mac(e5m10)", "mac(e4m3fn)", "hopper.e4m3.f32"]
MANY += ["tree(bfloat16, fan=8)", "kahan(bfloat16)", "mac(binary32)", "kahan(binary32)"]
MANY += ["kulisch(binary64)", "ampere.tf32.f32", "mac(e5m2)", "fma(e5m10)", "neumaier(e5m10)"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def terms():
    return np.random.default_rng(0).random((4, 300))


def main_lines(ax):
    return [line for line in ax.get_lines() if line.get_label()[0] != "_" and len(line.get_xdata())]


def ends(ax, name):
    return [line for line in ax.get_lines() if line.get_label() == f"_{name}"]


def test_lengths_and_errors_are_logarithmic_and_terms_are_called_so(terms):
    ax = study.accumulation(terms, None, "mac(bfloat16)").plot(title="Sums")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_title(), ax.get_xlabel()) == ("Sums", "terms summed")
    assert ax.get_ylabel().endswith("against the data as given")
    growth = study.error_growth(terms, terms, "mac(bfloat16)", lengths=[3, 5], against="operands")
    ax = growth.plot(band=0.8)
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "products summed")
    assert ax.get_ylabel().endswith("against the unit's own operands")
    assert len(ax.collections) == 2 and "error after 5 products, against the unit's" in repr(growth)


def test_a_legend_stands_beside_the_lines(terms):
    ax = study.accumulation(terms, None, MANY).plot()
    ax.figure.canvas.draw()
    legend, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 > axes.x1 and legend.x1 <= ax.figure.bbox.x1
    assert legend.y0 >= 0 and len(ax.get_legend().get_texts()) == len(MANY)
    assert {line.get_linestyle() for line in ax.get_legend().get_lines()} == {"-"}


def test_every_one_of_many_units_has_a_look_of_its_own(terms):
    lines = main_lines(study.accumulation(terms, None, MANY).plot())
    looks = {(x.get_color(), x.get_marker(), x.get_markerfacecolor()) for x in lines}
    assert len(looks) == len(lines) == len(MANY)


def test_lines_that_lie_on_each_other_give_way(terms):
    units = ["kulisch(bfloat16)", "kulisch(e8m7, out=bfloat16)", "mac(binary32)"]
    ax = study.accumulation(terms, None, units, against="operands").plot()
    one, other, apart = main_lines(ax)
    (first, (on, off)), (second, same) = one._unscaled_dash_pattern, other._unscaled_dash_pattern
    assert (on, off) == tuple(same) and on == off and abs(second - first) == on
    assert apart.get_linestyle() == "-"
    assert len({*one.get_markevery()} - {*other.get_markevery()}) > 4


def places_of_marks(ax, figure_lines):
    """Where marks are seen, in pixels, line by line."""
    ax.figure.canvas.draw()
    seen = []
    for line in figure_lines:
        every = line.get_markevery()
        points = np.column_stack([line.get_xdata(), line.get_ydata()])
        points = points if every is None else points[every]
        seen.append({tuple(at) for at in line.get_transform().transform(points).round(1)})
    return seen


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("value", [0.0, 500.0, 0.1])
def test_equal_lines_of_few_points_hide_no_mark_of_each_other(value, count):
    """Errors of 0, without end and in between; of one point, fewer than lines, and more."""
    units = ["kulisch(e4m3fn)", "kulisch(e4m3fn, c=e5m2)", "dot(e4m3fn)", "dot(e4m3fn, c=e5m2)"]
    lengths = [2 * i + 2 for i in range(count)]
    ax = study.error_growth([value] * 12, None, units, lengths=lengths).plot()
    drawn = [line for line in ax.get_lines() if line.get_marker() not in ("None", "_")]
    drawn = [line for line in drawn if len(line.get_xdata())]
    marks = [seen for seen in places_of_marks(ax, drawn) if seen]
    assert sum(map(len, marks)) == len(set.union(*marks))
    looks = {
        (line.get_color(), line.get_marker())
        for line, seen in zip(drawn, places_of_marks(ax, drawn), strict=True)
        if any(np.isfinite(at).all() for at in seen)
    }
    assert len(looks) == len(units)


def test_lengths_are_counted_whole(terms):
    for found in (
        study.error_growth(terms, None, "mac(e5m2)", lengths=[3, 5]),
        study.error_growth(terms, None, "mac(e5m2)", lengths=[3]),
        study.sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)"),
        study.stagnation([256.0, 1.0, 1.0], None, "mac(bfloat16)"),
    ):
        ax = found.plot()
        ax.figure.canvas.draw()
        (low, high), ticks = ax.get_xlim(), ax.get_xticks()
        shown = [tick for tick in ticks if low <= tick <= high]
        assert shown and all(tick == round(tick) for tick in shown)


def test_a_sum_without_an_error_says_so():
    found = study.sources([1.0] * 4, None, "mac(e4m3fn)")
    ax = found.plot()
    assert [text.get_text() for text in ax.texts] == ["no error"]
    assert ax.get_xlim() == (0, 4) == (0, found.length)


def test_bounds_without_end_stand_at_the_upper_end(terms):
    """Of 4 digits and 300 terms there is none: k u is past 1."""
    found = study.accumulation(terms, None, "neumaier(e4m3fn)", lengths=[3, 100, 300])
    ax = found.plot(bounds=True)
    bound, above = [x for x in ax.get_lines() if x.get_label().startswith("_bound of the largest")]
    assert np.isfinite(bound.get_ydata()).tolist() == [True, False, False]
    assert bound.get_markevery() == [0] and bound.get_marker() == "_"  # alone, and yet seen
    assert above.get_ydata().tolist()[1:] == [1, 1] and np.isnan(above.get_ydata()[0])
    assert "infinite" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("band", [0, 1, 90, -0.5, float("nan")])
def test_a_band_that_is_no_share_is_named(terms, band):
    found = study.error_growth(terms, None, "mac(e5m2)")
    with pytest.raises(ValueError, match=f"band = {band}: it may be above 0 and below 1, as 0.9"):
        found.plot(band=band)
    with pytest.raises(ValueError, match="confidence = .*: it may be above 0 and below 1"):
        found.band(band)
    for wrong in (True, "0.9", [0.9]):
        with pytest.raises(TypeError, match=r"band = .*: a share is wanted, as 0\.9"):
            found.plot(band=wrong)


def test_zeros_and_infinities_stand_at_the_ends():
    units = ["mac(e5m2)", "mac(e4m3fn)", "kulisch(binary64)"]
    ax = study.accumulation([64.0] * 9, None, units, lengths=range(1, 10)).plot()
    assert [text.get_text() for text in ax.texts] == ["zero", "infinite"]
    assert [{*line.get_ydata()} for line in ends(ax, "zero")] == [{0}] * 3
    (above,) = ends(ax, "infinite")
    assert {*above.get_ydata()} == {1} and {*above.get_xdata()} == {8, 9}  # past 448
    assert above.get_marker() == main_lines(ax)[1].get_marker()
    bounded = study.accumulation([0.0, 1.0, 0.0], None, "kulisch(e5m10)", lengths=[1, 2, 3])
    assert len(bounded.plot().texts) == 1  # nothing but zeros


def test_a_point_between_gaps_is_marked():
    lines = {"x": np.array([0.0] * 10 + [2.0] + [0.0] * 10)}
    from widthwise.study import plots

    ax = plots.axes(None)
    plots.draw_lines(ax, [*range(1, 22)], lines)
    assert 10 in main_lines(ax)[0].get_markevery()


def test_bounds_are_named_and_parts_are_drawn(terms):
    found = study.accumulation(terms, None, ["mac(bfloat16)", "mac(e5m10)"])
    names = [text.get_text() for text in found.plot(bounds=True).get_legend().get_texts()]
    assert names[:2] == ["mac(bfloat16)", "mac(e5m10)"] and "bound of the largest (Higham)" in names
    assert "of it by rounding the operands" in names
    part = [x for x in found.plot().get_lines() if x.get_label() == "_operands of mac(e5m10)"]
    wanted = found.mean("relative", "operands")["mac(e5m10)"]
    assert part[0].get_ydata().tolist() == wanted.tolist()
    whole = found.plot(split=False).get_legend().get_texts()
    assert [text.get_text() for text in whole] == ["mac(bfloat16)", "mac(e5m10)"]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_colours_are_read_on_white_and_on_black(style):
    from widthwise.study.plots import COLOURS

    def luminance(colour):
        x = np.array(matplotlib.colors.to_rgb(colour))
        return np.where(x <= 0.03928, x / 12.92, ((x + 0.055) / 1.055) ** 2.4) @ [
            0.2126,
            0.7152,
            0.0722,
        ]

    with plt.style.context(style):
        page = luminance(plt.rcParams["axes.facecolor"])
    for colour in COLOURS:
        low, high = sorted([luminance(colour), page])
        assert (high + 0.05) / (low + 0.05) > 4


def test_sources_and_stagnation_say_where_numbers_end():
    for found in (
        study.sources([20000.0] * 9, None, "mac(e5m10)"),
        study.stagnation([20000.0] * 9, None, "mac(e5m10)"),
    ):
        ax = found.plot(title="ends")
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert "no number from here on" in names
        assert (ax.get_title(), ax.get_xlabel()) == ("ends", "terms summed")
    ax = study.stagnation([1.0, 1e-9], None, "mac(e5m10)").plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["mac(e5m10)", "of them zero by rounding the operands"]
    x = ww.array([1.0, 2.0], "e5m10")
    assert study.sources(x, x, "mac(e5m10)").plot().get_xlabel() == "products summed"
