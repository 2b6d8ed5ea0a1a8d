"""Cards: what they draw is so, in HTML and in text, on light pages and dark ones."""

import re
import subprocess
import sys
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
import widthwise as ww
from widthwise._codes import readable
from widthwise._losses import Dyadic, losses
from widthwise._table import Table
from widthwise.display import card, pipeline, style
from widthwise.display.bits import Bits, fields_of
from widthwise.display.stages import Digits

FORMATS = [
    *ww.formats,
    *("e20m64", "e60m10", "ue5m3", "e5m10;bias=40", "e5m10;sub=no", "e3m2;bias=0", "e1m0;nan=none"),
    *("e5m10;daz;ftz;overflow=max", "binary8p1", "e62m4095", "ue8m0;nan=none"),
    *("int8", "uint1", "fixed1.1", "fixed4.-2", "fixed4.6", "fixed100.60;overflow=wrap"),
    *(
        "posit3es0",
        "posit64es4",
        "takum3",
        "takum16",
        "table(nf4)",
        "table(-5,-4)",
        "table(1,nan,0,-0)",
    ),
]
FORMS = [
    *("mac(e5m10)", "fma(e5m10)", "mac(e4m3fn, sum=e5m10)", "tree(e5m10, fan=4)", "kahan(e5m10)"),
    *("dot(e5m10, lanes=4, align=9:rtz, floor=-20)", "kulisch(e5m10)", "dot(e5m10, lanes=4)"),
    *("fixedacc(e4m3fn, width=24, frac=8)", "fixedacc(e4m3fn, width=14, frac=8)"),
    *("mac(e4m3fn, promote=4:e8m23, final=e5m10)", "mac(e5m10, sum=e5m10:sr8)"),
    *("mac(e5m10;ftz)", "mac(e5m10;overflow=max)", "dot(e4m3fn, lanes=4, align=0:rtz, floor=0)"),
    *("fixedacc(int8, width=24, frac=0, overflow=saturate)", "kulisch(int8, out=int32)"),
    *(
        "kulisch(int8)",
        "dot(e5m10, lanes=4, align=0:rtz)",
        "fixedacc(int8, width=32, frac=0, out=int32)",
        "mac(fixed4.-2)",
    ),
    *("kulisch(posit16es2, width=256)", "mac(takum8)", "kahan(table(nf4))"),
]
UNITS = [*ww.units, *FORMS]


def well_formed(shown):
    """Every tag closed, every text escaped; nothing from elsewhere, no background of its own."""
    html = shown._repr_html_()
    assert not re.search(r"https?:|<script|<style|url\(|background: ?#|class=", html)
    return ElementTree.fromstring(html)


def value(number):
    """Of what has a significand and an exponent."""
    return Fraction(number[-2]) * Fraction(2) ** number[-1]


# --- The look -------------------------------------------------------------------------------------


def luminance(colour):
    """WCAG 2.2's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_every_colour_is_readable_on_light_and_dark_pages(page):
    for colour in [*style.FIELD_COLOURS.values(), style.LOST]:
        low, high = sorted([luminance(colour), luminance(page)])
        assert (high + 0.05) / (low + 0.05) >= 4


def test_texts_are_escaped():
    assert style.tag("b", "<i>&", title='"<') == '<b title="&quot;&lt;">&lt;i&gt;&amp;</b>'
    assert "<td" in Table(["<a>"], [["<b>"]])._repr_html_()
    assert not re.search("<[ab]>", Table(["<a>"], [["<b>"]])._repr_html_())


def test_nothing_of_it_is_imported_before_it_is_shown():
    program = (
        "import sys, widthwise as ww; before = 'widthwise.display' in sys.modules;"
        "ww.Format('e5m10')._repr_html_(); print(before, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"False", b"False"]


# --- Formats --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", FORMATS)
def test_a_formats_fields_are_drawn_to_scale(text):
    f = ww.Format(text)
    boxes = [float(box.get("width")) for box in well_formed(f).iter("rect")]
    bits = list(fields_of(f).values())
    assert sum(bits) == f.width and len(boxes) == len(bits)
    assert np.allclose(np.array(boxes) / sum(boxes), np.array(bits) / f.width, atol=2e-3)
    assert all(f"{name} {n}" in str(f.card()) for name, n in fields_of(f).items())


ABOVE_ZERO = [text for text in FORMATS if "min_normal" in ww.Format(text).codes]


@pytest.mark.parametrize("text", ABOVE_ZERO)
def test_the_numbers_drawn_are_neighbours_and_so_are_their_steps(text):
    f = ww.Format(text)
    near, middle = card.neighbours(f)
    at = ww.array(value(near[middle]), f)
    for above in near[middle + 1 :]:
        at = ww.next_up(at)
        assert at.to_fractions()[()] == value(above)
    for i, step in card.steps(near, middle).items():
        apart = value(near[i + 1]) - value(near[i])
        if not f.is_float and not step.startswith("2^"):
            assert float(step) == pytest.approx(float(apart), rel=5e-3)
        else:
            assert Fraction(2) ** int(step.removeprefix("2^")) == apart


def test_a_value_is_called_exact_only_if_it_is():
    f = ww.Format("binary256")
    assert readable(f.codes["one"], f) == "1"
    assert readable(f.codes["one"] + 1, f) != "1"  # 71 zeros before its next digit
    for text in ("e4m3fn", "e5m2fnuz", "e2m1fn"):
        f = ww.Format(text)
        every = ww.from_bits(np.arange(1 << f.width, dtype=np.uint8), f)
        numbers = every[ww.isfinite(every)]
        shown = [readable(int(code), f) for code in numbers.bits]
        assert [Fraction(x) for x in shown] == list(numbers.to_fractions())


# --- Arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["e5m10", "e4m3fn", "binary256", "e8m0fnu", "e60m10", "ue5m3"])
def test_an_arrays_bits_and_values_are_its_own(text):
    f = ww.Format(text)
    x = ww.array([[1.0, 0.25], [2.0, 4.0]], f)
    well_formed(x)
    rows = x.card().parts[1].rows
    for row, code in zip(rows, ww._codes.integers(x.bits, f), strict=True):
        if f.width <= 64:
            assert int(str(row[2]).replace(" ", ""), 2) == code
        assert int(row[3], 16) == code
    assert [Fraction(row[4]) for row in rows] == list(x.to_fractions().ravel())
    assert [row[0] for row in rows] == ["0, 0", "0, 1", "1, 0", "1, 1"]
    assert rows[1][5] == "0x1 × 2^-2"


def test_specials_have_no_significand_and_negative_zero_has_its_sign():
    rows = ww.array([np.inf, np.nan, -0.0], "e5m10").card().parts[1].rows
    assert [row[4:] for row in rows] == [("inf", ""), ("nan", ""), ("-0", "-0x0")]


@pytest.mark.parametrize("x", [ww.zeros((1000, 1000), "e5m10"), ww.zeros(0, "e5m10")])
def test_a_large_array_shows_its_ends_and_an_empty_one_none(x):
    well_formed(x)
    assert len(str(x.card()).splitlines()) < 20
    assert ("999, 999" in str(x.card())) == (x.size > 0)


def test_a_long_field_is_abbreviated():
    assert "…196…" in str(Bits(0, ww.Format("binary256")))


# --- Units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", UNITS)
def test_a_pipeline_shows_every_width_in_boxes_wide_enough(text):
    u = ww.Unit(text)
    drawing = well_formed(u)
    steps = pipeline.pipeline(u)
    assert max(len(step.does) for step in steps) * pipeline.DIGIT <= pipeline.BOX
    assert [step.stage for step in steps][:2] == ["unpack", "product"]
    assert sum(step.takes.startswith("c ") for step in steps) == 1
    texts = [node.text for node in drawing.iter("text")]
    for step in steps:
        assert {step.stage, step.does, step.wire} <= set(texts)
        assert step.wire in str(u.card())
    widths = u.widths()
    for name in ("group_sum", "block_sum", "c_sum"):
        if any(step.stage == name for step in steps) and "nodes" not in steps[2].does:
            assert any(step.wire.startswith(f"{widths[f'{name}.width']} bits") for step in steps)


LONG = ["kulisch(posit16)", "mac(e5m10;daz;ftz;overflow=satfinite)", "dot(e4m3b11fnuz, lanes=4)"]
LONG += ["dot(table(-1.5,-0.25,0,0.25,1.5,2.75), lanes=2, out=e8m23, align=2:rtz)"]


def extent(text):
    """Where a label of a drawing begins and ends."""
    x = float(text.get("x"))
    width = float(text.get("textLength", len(text.text) * pipeline.DIGIT))
    left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
    return left, left + width


@pytest.mark.parametrize("text", [*UNITS, *LONG])
def test_labels_of_a_pipeline_stand_apart_and_tell_every_format(text):
    u = ww.Unit(text)
    drawing = ElementTree.fromstring(pipeline.pipeline_svg(u, pipeline.pipeline(u)))
    labels = list(drawing.iter("text"))
    for one in labels:
        left, right = extent(one)
        assert left >= 0 and right <= pipeline.WIDTH
        for other in labels:
            if one is not other and abs(float(one.get("y")) - float(other.get("y"))) < 8:
                assert right <= extent(other)[0] or left >= extent(other)[1]
    c = next(x for x in labels if x.get("text-anchor") == "end")
    assert extent(c)[1] < pipeline.LEFT
    told = " ".join(node.text for node in labels)
    assert all(str(f) in told for f in (u.a, u.b, u.c))


def test_a_units_wires_bear_the_specifications_widths():
    """The table of derived widths: H100 E4M3, and NVFP4 with its groups."""
    wires = {step.stage: step.wire for step in pipeline.pipeline(ww.Unit("hopper.e4m3.f32"))}
    assert wires["product"] == "8 bits × 32" and wires["align"] == "15 bits × 33"
    assert wires["group_sum"] == "22 bits"
    wires = [step.wire for step in pipeline.pipeline(ww.Unit("blackwell.nvfp4"))]
    assert wires[1:4] == ["4 bits × 64", "8 bits × 16", "13 bits × 4"]
    assert wires[5:7] == ["46 bits × 5", "49 bits"]


@pytest.mark.parametrize(
    ("unit", "stage"),
    [
        ("hopper.e4m3.f32", "align"),
        ("cdna3.f16", "join"),
        ("blackwell.nvfp4", "align"),
        ("hopper.e4m3.promote128", "promote"),
        ("lowered.e4m3.f32", "c last"),
    ],
)
def test_c_comes_in_where_the_definition_adds_it(unit, stage):
    steps = pipeline.pipeline(ww.Unit(unit))
    assert [step.stage for step in steps if step.takes.startswith("c ")] == [stage]


# --- Traces ---------------------------------------------------------------------------------------


def operands(u, rng, spread):
    """Numbers of a few binades; without a spread any finite codes."""
    k = int(rng.integers(1, 12))
    if spread is None:
        return codes(u.a, rng, k), codes(u.b, rng, k), codes(u.c, rng, 1)[0]
    a = np.ldexp(rng.standard_normal(k), rng.integers(-6, spread, k))
    c = rng.standard_normal() * 2.0 ** int(rng.integers(-9, 5))
    return ww.array(a, u.a, nan="zero"), ww.array(rng.standard_normal(k), u.b), ww.array(c, u.c)


def codes(f, rng, k):
    drawn = ww.from_bits(rng.integers(0, 1 << f.width, 16 * k, np.uint64).astype(f.dtype), f)
    return drawn[ww.isfinite(drawn)][:k]


def unpacked_answer(trace, c):
    """The exact answer of what the unit multiplied, from the trace's own operands."""
    read = {
        (w.slot, w.lane): (-1) ** w.negative * w.significand * Fraction(2) ** w.exponent
        for w in trace
        if w.stage == "unpack" and w.slot in ("a", "b")
    }
    lanes = {lane for _, lane in read}
    return sum((read["a", i] * read["b", i] for i in lanes), c.to_fractions()[()])


# Scales multiply what was lost after it was; a compensated sum adds it again.
PLAIN = [u for u in UNITS if not ww.Unit(u).scale_format and not u.startswith("kahan")]


@pytest.mark.parametrize("text", PLAIN)
def test_what_a_trace_lost_and_its_result_make_the_exact_answer(text):
    u, rng = ww.Unit(text), np.random.default_rng(7)
    finite = 0
    for spread in (1, 4, 4, 9, None, None, None):
        a, b, c = operands(u, rng, spread)
        trace = ww.trace(u, a, b, c)
        if not ww.isfinite(trace.result):
            continue
        lost = sum((value(gone.lost) for gone in losses(trace) if gone), Fraction(0))
        assert trace.result.to_fractions()[()] + lost == unpacked_answer(trace, c)
        well_formed(trace)
        finite += 1
    assert finite


def lost_at(trace):
    told = zip(trace, losses(trace), strict=True)
    return {(w.stage, w.slot, w.lane): gone for w, gone in told if gone}


def test_a_closed_gap_is_no_loss_and_the_rounding_tells_the_tail():
    """256 - 2^-60: the sum's wire says 256 - 2^-16 (D5), the true tail is what rounding loses."""
    x = ww.array([16.0], "e8m7")
    trace = ww.trace("fma(e8m7)", x, x, ww.array(-(2.0**-60), "e8m7"))
    assert [value(gone.lost) for gone in lost_at(trace).values()] == [Fraction(-1, 1 << 60)]


def test_a_term_too_far_below_an_exact_sum_to_be_aligned_is_not_forgotten():
    a, b = ww.array([[2.0**-100, 2.0**30], [2.0**-50, 2.0**30]], "e8m7")
    trace = ww.trace("cdna1.bf16", a, b, ww.array(2.0**110, "binary32"))
    lost = [value(gone.lost) for gone in lost_at(trace).values()]
    assert lost == [Fraction(1, 1 << 150) + (1 << 60)]


def test_a_term_below_the_window_is_lost_whole():
    x = ww.array([1.5, -0.0625, 13], "e4m3fn")
    trace = ww.trace("hopper.e4m3.f32", x, x)
    assert list(lost_at(trace)) == [("align", "", 1)]
    assert "0|1" in str(trace.card()) and "0.00390625, all" in str(trace.card())


def test_what_a_rounding_cuts_first_is_lost_where_it_is_cut():
    """1.5 + 1.0625: cut up to 4, to no digit behind the point; then nothing is left to round."""
    unit = "{a.fmt = 'e4m3fn', b.fmt = 'e4m3fn', c.fmt = 'e5m10', lanes = 2, c_level = 'group', "
    unit += "out.fmt = 'e5m10', out.post_norm_frac = 0, out.post_norm_rm = 'rup'}"
    x = ww.array([1.5, 1.125], "e4m3fn")
    trace = ww.trace(unit, x, ww.array([1.0, 1.0], "e4m3fn"))
    assert {key: value(gone.lost) for key, gone in lost_at(trace).items()} == {
        ("normalise", "out", 0): Fraction(-11, 8)
    }
    assert "cut to 0 fraction bits, rup; to e5m10, rne" in str(trace.unit.card())


def test_overflow_is_named_and_a_register_that_wraps_loses_its_top():
    x = ww.array([60000.0], "e5m10")
    assert "overflow" in str(ww.trace("mac(e5m10)", x, x).card())
    y = ww.array([13.0], "e4m3fn")
    wrapped = lost_at(ww.trace("fixedacc(e4m3fn, width=14, frac=8)", y, y))
    assert value(wrapped["group_sum", "", 0].lost) == 192  # 169 does not fit ±32


def test_an_operations_rounding_is_marked_without_a_figure():
    """Its exact number may end in a jammed digit."""
    trace = ww.trace_operation("divide", *ww.array([1.0, 3.0], "e4m3fn"))
    assert [gone.lost for gone in lost_at(trace).values()] == [None]
    assert "inexact" in str(trace.card())
    well_formed(trace)


def test_numbers_too_far_apart_give_no_figure():
    trace = ww.trace("fma(e60m10)", *ww.array([[2.0], [1.0]], "e60m10"), far_below())
    assert [gone.lost for gone in lost_at(trace).values()] == [None]
    assert "inexact" in str(trace.card())
    well_formed(trace)


def far_below():
    return ww.from_bits(np.array([1, 0], np.uint64), "e60m10")


def test_a_term_2_to_the_60_digits_below_the_window_is_lost_and_drawn():
    x = ww.from_bits([1, 0x3FFFFFFFFFFFFFFBFA], "e60m10")
    trace = ww.trace("dot(e60m10, lanes=2, align=9:rtz)", x, ww.array([1.0, 1.0], "e60m10"))
    assert "2^-576460752303423496, all" in str(trace.card())
    well_formed(trace)
    well_formed(x)


def test_digits_split_where_a_step_cuts():
    assert str(Digits(Dyadic(-0b1011, -2), -1)) == "-101|1"
    assert str(Digits(Dyadic(0b1011, -2), 4)) == "0|001011"
    assert str(Digits(Dyadic(0b101100, -4))) == "1011"
    assert str(Digits(Dyadic(0, 0))) == "0"


@pytest.mark.parametrize("unit", ["mac(e4m3fn)", "mac(e5m10)", "hopper.e4m3.f32", "kahan(e5m2)"])
def test_a_long_trace_fits_a_screen_and_shows_what_lost_most(unit):
    u = ww.Unit(unit)
    a, b = (ww.array(x, u.a) for x in np.random.default_rng(3).uniform(1, 2, (2, 64)))
    trace = ww.trace(u, a, b)
    for text in (str(trace), repr(trace), str(trace.card())):
        assert len(text.splitlines()) <= 30 and " rows" in text
        assert max(map(len, text.splitlines())) <= 100
    most = max(trace.select(lost=True)["lost"], key=abs, default=0)
    assert f"{float(most):.6g}" in str(trace) or not most
    assert len(trace.table()) == len(trace) > 150
    well_formed(trace.card())


def test_a_short_trace_is_printed_whole():
    x = ww.array([1.5, 2.0], "e4m3fn")
    trace = ww.trace("mac(e4m3fn)", x, x)
    assert len(str(trace.table()).splitlines()) == len(str(trace).splitlines()) - 2
    assert "…" not in str(trace)


def test_digits_and_exponent_of_a_card_are_the_value():
    x = ww.array([1.5, 256.0], "e5m10")
    rows = [line.split() for line in str(ww.trace("mac(e5m10)", x, x).card()).splitlines()]
    told = [row[-3:] for row in rows if len(row) > 4 and row[0] in ("product", "round", "join")]
    assert len(told) > 5
    for value, digits, exponent in told:
        assert float(value) == int(digits, 2) * 2.0 ** int(exponent[2:])


def test_a_stage_is_written_out_or_marked_as_cut():
    trace = ww.trace_operation("add", *ww.array([1.0, 2.0**-30], "binary64"))
    (exact,) = [row for row in trace.table().rows if row[0] == "exact"]
    assert exact[3] == "1.00000000093132257461…"  # 1.000000000931322574615478515625
    trace = ww.trace_operation("fma", *ww.array([3.0, 683.0, -(2.0**-14)], "e5m10"))
    (exact,) = [row for row in trace.table().rows if row[0] == "exact"]
    assert exact[3] == "2048.99993896484375"


def test_a_one_digit_formats_values_are_not_rounded_to_one_decimal():
    values = ww.Format("e8m0fnu").facts()["values"]
    assert (values["min_normal"], values["max_finite"]) == ("5.87747e-39", "1.70141e+38")
