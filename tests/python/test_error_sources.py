"""Where errors are made, what is swallowed, what sums keep: against fractions and by hand."""

from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from widthwise import study

# Terms are cut 4 bits below the largest, and then C joins exactly.
LATE = (
    '{a.fmt = "e5m10", b.fmt = "e5m10", c.fmt = "e5m10", lanes = 2, c_level = "late", '
    'group_sum.align.reference = "max_exponent", group_sum.align.frac_bits = 4, '
    'group_sum.align.rm = "rtz", out.fmt = "e5m10"}'
)
UNITS = [
    "mac(e4m3fn, sum=e5m10)",
    "mac(e4m3fn)",
    "fma(bfloat16)",
    "tree(e5m10, fan=4)",
    "dot(e5m10, lanes=4, align=8:rtz)",
    "dot(e5m2, lanes=3, align=5:rdn)",
    "mac(e5m10, promote=8:binary32, final=bfloat16)",
    "mac(e5m10, final=e4m3fn)",
    "kulisch(e5m10)",
    "mac(e5m10, sum=e5m10:sr8)",
    "hopper.e4m3.f32",
    "hopper.e4m3.promote128",
    "ampere.tf32.f32",
    "blackwell.f16.f16",
    "cdna1.bf16",
    "cdna2.bf16",
    "cdna3.bf8",
    "fma(e11m52)",
    LATE,
]


SOURCES = ("operands", "product rounding", "alignment", "sum rounding", "overflow", "underflow")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("with_c", [False, True])
def test_the_sources_together_are_the_whole_error(unit, with_c):
    rng = np.random.default_rng(len(unit))
    u = ww.Unit(unit)
    x, y = rng.standard_normal((2, 70)) * np.exp2(rng.integers(-6, 3, (2, 70)))
    a, b = ww.array(x, u.a), ww.array(y, u.b)
    c = ww.array(3.3, u.c) if with_c else None
    z = ww.dot(a, b, unit=u, c=c)
    exact = (a.to_fractions() * b.to_fractions()).sum() + (c.to_fractions().item() if with_c else 0)
    found = study.sources(a, b, u, c=c)
    assert found.result == z.to_fractions().item()
    assert found.total() == found.result - exact
    assert sum(map(found.total, SOURCES)) == found.total()
    assert all(0 <= e.step < 70 for e in found.errors)


@pytest.mark.parametrize(
    "unit",
    [
        "blackwell.mxfp8",
        "blackwell.mxfp4",
        "blackwell.nvfp4",
        "mac(e4m3fn, sum=e8m10, scale=e8m0fnu:32:term)",
        "kulisch(e4m3fn, out=e8m7, scale=e8m0fnu:32:term)",
    ],
)
def test_scaled_sources_together_are_the_whole_error(unit):
    rng = np.random.default_rng(5)
    u = ww.Unit(unit)
    a, b = (ww.array(rng.standard_normal(150), f) for f in (u.a, u.b))
    blocks = -(-150 // u.scale_block)
    # Every other block lies far below the rest, and much of it is cut off.
    scale = ww.array(np.where(np.arange(blocks) % 2, 2.0**-9, 256.0), u.scale_format)
    z = ww.dot(a, b, unit=u, scale_a=scale, scale_b=scale)
    of_terms = np.repeat(scale.to_fractions() ** 2, u.scale_block)[:150]
    exact = (a.to_fractions() * b.to_fractions() * of_terms).sum()
    found = study.sources(a, b, u, scale_a=scale, scale_b=scale)
    assert found.result == z.to_fractions().item()
    assert found.total() == found.result - exact
    assert found.errors


def told(found):
    return [(e.step, e.source, e.error) for e in found.errors]


def test_each_source_by_hand():
    # e4m3fn has 3 fraction bits: 1.125 * 1.125 = 1.265625 -> 1.25; 8 + 1.25 -> 9
    found = study.sources([8.0, 1.125], [1.0, 1.125], "mac(e4m3fn)")
    assert told(found) == [
        (1, "product rounding", Fraction(-1, 64)),
        (1, "sum rounding", Fraction(-1, 4)),
    ]
    # below 2^-6 it is subnormal, in steps of 2^-9: 1.5 * 2^-9 -> 2 * 2^-9
    found = study.sources([2.0**-5], [1.5 * 2.0**-4], "mac(e4m3fn)")
    assert told(found) == [(0, "underflow", Fraction(1, 2**10))]
    # 448 is its largest; e5m2's sums saturate where they are told to
    saturating = "mac(e5m2, sum=e4m3fn;overflow=max)"
    found = study.sources([256.0, 256.0], None, saturating)
    assert told(found) == [(1, "overflow", Fraction(-64))] and found.result == 448
    # cut at 2^-4 of the largest exponent: 1 + 2^-5 loses the second
    found = study.sources([1.0, 2.0**-5], None, "dot(e5m10, lanes=2, align=4:rtz)")
    assert told(found) == [(0, "alignment", Fraction(-1, 32))]
    found = study.sources([1.0, 2.0**-5, 1.0, 0.5], None, LATE, c=8.0)
    assert told(found) == [(0, "alignment", Fraction(-1, 32))] and found.result == Fraction(21, 2)
    # TF32 reads 10 fraction bits of binary32
    found = study.sources([1 + 2.0**-11], [1.0], "ampere.tf32.f32")
    assert told(found) == [(0, "operands", Fraction(-1, 2**11))]
    assert found.total("operands") == Fraction(-1, 2**11) and found.total("alignment") == 0


def test_errors_past_binary64_are_infinite_as_floats_and_printed_in_digits():
    x = ww.array(["1e400", "1.37e398"], "e20m10")
    found = study.sources(x, None, "mac(e20m10)")
    assert found.total() != 0 and "computed - exact = 3.576e+395" in repr(found)
    errors = study.accumulation(x, None, "mac(e20m10)").max("absolute")
    assert np.isinf(errors["mac(e20m10)"]).any()


def test_formats_of_any_range_are_told_of():
    found = study.sources(["1p20", "1p-70", "0x1.ffcp0"], ["1p3", 1, 1], "mac(e30m10)")
    assert [e.source for e in found.errors] == ["sum rounding"] * 2
    edge = study.sources(["1p15", "0x1.ff8p14", "0x1.8p4"], [1, 1, 1], "mac(e5m10;overflow=max)")
    assert told(edge) == [(2, "overflow", Fraction(-24))]  # 65504 is the largest


def test_the_account_ends_where_numbers_end():
    found = study.sources([400.0, 1.0, 400.0, 1.0], None, "mac(e4m3fn)")
    assert (found.overflow_at, found.result) == (2, None)
    assert "no number from step 2 on" in repr(found)
    assert study.sources([0.0, -0.0], None, "mac(e4m3fn)").errors == []


def test_sources_print_plot_and_become_frames():
    found = study.sources([8.0, 1.125] * 3, [1.0, 1.125] * 3, "mac(e4m3fn)")
    for shown in (repr(found), found._repr_html_()):
        assert shown.count("mac(e4m3fn): computed - exact = 0.2031") == 1
        assert "sum of magnitudes" in shown
    assert "<table>" in found._repr_html_()
    for library in ("pandas", "polars"):
        frame = found.to_dataframe(library)
        assert list(frame.columns) == ["step", "source", "error"]
        assert sum(frame["error"]) == found.total()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert found.plot(ax) is ax
    assert [line.get_label() for line in ax.get_lines()] == ["product rounding", "sum rounding"]
    for line, source in zip(ax.get_lines(), ("product rounding", "sum rounding"), strict=True):
        assert line.get_ydata()[-1] == found.total(source)
        assert line.get_xdata()[-1] == 6  # to the end, wherever the source's last error lies
    plt.close("all")


# --- Terms that change nothing -------------------------------------------------------------------


def test_swallowed_terms_are_those_that_left_the_sum_as_it_was():
    # bfloat16 has 8 bits: at 256 its step is 2, and 256 + 1 is a tie, which goes to even 256
    found = study.stagnation([256.0, 1.0, 0.0, 2.0, 1.0, 1.0], None, "mac(bfloat16)")
    assert found.swallowed.tolist() == [1, 5]  # 258 + 1 goes to even 260, and 260 + 1 back to it
    assert (found.first, found.still_from) == (1, 5)
    found = study.stagnation([1.0, 1.0], None, "mac(bfloat16)", c=-1.0)
    assert found.swallowed.size == 0
    assert study.stagnation([1.0], None, "mac(bfloat16)", c=512.0).swallowed.tolist() == [0]
    # a product that underflows is one, too
    assert study.stagnation([2.0**-9], [2.0**-9], "mac(e4m3fn)").swallowed.tolist() == [0]


@pytest.mark.parametrize("unit", ["mac(bfloat16)", "mac(e4m3fn)", "fma(e5m2)", "mac.f32"])
def test_stagnation_is_what_sums_of_prefixes_show(unit):
    rng = np.random.default_rng(5)
    u = ww.Unit(unit)
    a, b = (ww.array(np.abs(rng.standard_normal(80)), f) for f in (u.a, u.b))
    c = ww.array(1.5, u.c)
    sums = [c.to_fractions().item()]
    sums += [ww.dot(a[:n], b[:n], unit=u, c=c).to_fractions().item() for n in range(1, 81)]
    terms = a.to_fractions() * b.to_fractions()
    wanted = [i for i in range(80) if sums[i + 1] == sums[i] and terms[i]]
    found = study.stagnation(a, b, u, c=c)
    assert found.swallowed.tolist() == wanted
    assert found.first == (wanted[0] if wanted else None)
    moves = [i for i in range(80) if sums[i + 1] != sums[i]]
    later = [i for i in wanted if i > moves[-1]]
    assert found.still_from == (later[0] if later else None)
    assert found.share == len(wanted) / 80


def test_a_wider_register_holds_what_its_result_does_not_show():
    """256 + 1 is 256 in bfloat16, and no term is lost where the register has more digits."""
    terms = [256.0] + [1.0] * 9
    for unit in ("kulisch(bfloat16)", "dot(bfloat16)", "kahan(bfloat16)", "neumaier(bfloat16)"):
        assert study.stagnation(terms, None, unit).swallowed.size == 0
    # what is converted after the last term shows nothing of what came before
    unit = "mac(bfloat16, sum=binary32, final=bfloat16)"
    assert study.stagnation(terms, None, unit).swallowed.size == 0
    # promotion empties the inner sum, which starts anew at 0 every 4 products
    found = study.stagnation(terms, None, "mac(bfloat16, promote=4:binary32)")
    assert found.swallowed.tolist() == [1, 2, 3]
    found = study.stagnation([1.0] * 4 + [4.0], None, "mac(bfloat16, promote=4:binary32)")
    assert found.swallowed.size == 0  # 4 stood there before it was promoted, and stands there again
    found = study.stagnation(terms, None, "kahan(bfloat16, promote=4:binary32)", c=512.0)
    assert found.swallowed.size == 0
    # bfloat16's 8 digits compensate no more than 16 of them: 2^-20 is below both registers
    found = study.stagnation([256.0, 2.0**-20, 1.0], None, "kahan(bfloat16)")
    assert found.swallowed.tolist() == []  # the error starts at 0, and takes what fits it
    found = study.stagnation([256.0, 1.0, 2.0**-20], None, "kahan(bfloat16)")
    assert found.swallowed.tolist() == [2]
    found = study.stagnation([256.0, 1.0, 2.0**-20], None, "neumaier(bfloat16)", c=0.0)
    assert found.swallowed.tolist() == [2]


def test_a_register_at_a_fixed_place_swallows_what_lies_below_it():
    unit = "fixedacc(e5m10, frac=4, width=12, align=rtz, overflow=saturate)"
    terms = [1.0, 2.0**-5, -(2.0**-5), 2.0**-4, 100.0, 100.0, 0.5, -0.5]
    # 127.9375 is the largest: the second 100 moves it there, 0.5 stays there, -0.5 comes back
    found = study.stagnation(terms, None, unit)
    assert found.swallowed.tolist() == [1, 2, 6]
    ends = [127.9375, 2.0**-4, *[-100.0] * 3, -(2.0**-4)]  # -128 is the least
    assert study.stagnation(ends, None, unit).swallowed.tolist() == [1, 5]
    floor = "fixedacc(e5m10, frac=4, width=12)"  # rounds down: -2^-5 is -2^-4, and it wraps
    assert study.stagnation(terms, None, floor).swallowed.tolist() == [1]
    assert study.stagnation([256.0, 1.0], None, floor).swallowed.tolist() == [0]  # 2^12 units of it
    assert study.stagnation([0.0, 1.0], None, floor).swallowed.size == 0


def test_a_block_is_swallowed_as_a_whole():
    # 4 lanes: 0.25 + 0.25 + 0.25 + 0.25 = 1, half of 256's step of 2; 1, -1 have no sum
    quarters, cancel = [0.25] * 4, [1.0, -1.0, 0.0, 0.0]
    terms = [256.0, 0, 0, 0, *quarters, *cancel, 1.0, 1.0, 0.0, 0.0, 0.25, 0.25]
    for unit in ("tree(bfloat16, fan=4)", "dot(bfloat16, lanes=4)"):
        found = study.stagnation(terms, None, unit)
        assert found.swallowed.tolist() == [4, 5, 6, 7, 16, 17]
        assert found.still_from == 16
    found = study.stagnation([np.nan, 0, 0, 0, 1.0, 1.0], None, "dot(bfloat16, lanes=4)")
    assert found.swallowed.tolist() == [4, 5]


@pytest.mark.parametrize(
    "unit",
    ["hopper.e4m3.f32", "cdna3.bf8", "tree(e5m10, fan=4)", "dot(e4m3fn, lanes=3, align=4:rtz)"],
)
def test_swallowed_blocks_are_what_sums_of_prefixes_show(unit):
    rng = np.random.default_rng(13)
    u = ww.Unit(unit)
    k = 9 * u.lanes + u.lanes // 2
    small = np.exp2(-rng.integers(0, 26, k) * (np.arange(k) > u.lanes))
    a, b = ww.array(rng.standard_normal(k) * small, u.a), ww.array(rng.standard_normal(k), u.b)
    terms, wanted, before = a.to_fractions() * b.to_fractions(), [], 0
    for first in range(0, k, u.lanes):
        last = min(k, first + u.lanes)
        after = ww.dot(a[:last], b[:last], unit=u).to_fractions().item()
        if after == before and terms[first:last].sum():
            wanted += [i for i in range(first, last) if terms[i]]
        before = after
    assert study.stagnation(a, b, u).swallowed.tolist() == wanted


@pytest.mark.parametrize(
    "unit",
    [
        "blackwell.mxfp8",
        "blackwell.nvfp4",
        "mac(e4m3fn, sum=e8m10, scale=e8m0fnu:32:term)",
        "mac(e4m3fn, sum=e8m10, scale=e8m0fnu:32:term, promote=400:e8m23)",
        "kulisch(e4m3fn, out=e8m555, scale=e8m0fnu:32:term)",
    ],
)
def test_swallowed_terms_of_scaled_blocks_are_what_sums_of_prefixes_show(unit):
    rng = np.random.default_rng(17)
    u = ww.Unit(unit)
    k, lanes = 250, u.lanes or 1
    a, b = (ww.array(rng.standard_normal(k), f) for f in (u.a, u.b))
    # Beside the first block the others are small, four of them in a row.
    sizes = np.array([8, -9, -4, 2, *[-9] * 4, *[-4, 2, -9, -4] * 2])[: -(-k // u.scale_block)]
    scale = ww.array(np.exp2(sizes), u.scale_format)

    def sum_of(last):
        blocks = scale[: -(-last // u.scale_block)]
        z = ww.dot(a[:last], b[:last], unit=u, scale_a=blocks, scale_b=blocks)
        return z.to_fractions().item()

    scales = np.repeat(scale.to_fractions() ** 2, u.scale_block)[:k]
    terms, wanted, before = a.to_fractions() * b.to_fractions() * scales, [], 0
    for first in range(0, k, lanes):
        last = min(k, first + lanes)
        after = sum_of(last)
        if after == before and terms[first:last].sum():
            wanted += [i for i in range(first, last) if terms[i]]
        before = after
    found = study.stagnation(a, b, u, scale_a=scale, scale_b=scale)
    assert found.swallowed.tolist() == wanted
    assert bool(wanted) == ("kulisch" not in unit)


@pytest.mark.parametrize("scale, swallowed", [(2.0, []), (1.75, [*range(64, 96)])])
def test_a_block_whose_scaled_terms_cancel_has_no_sum_to_swallow(scale, swallowed):
    """16 - 8 * scale: 0, or 2 beside 2^26, whose last place is 8. A scale of 0 leaves no terms."""
    a = [6.0] * 64 + [1.0] * 16 + [-0.5] * 16 + [1.0] * 16
    scales = [448.0] * 4 + [1.0, scale, 0.0], [448.0] * 4 + [1.0] * 3
    found = study.stagnation(a, None, "blackwell.nvfp4", scale_a=scales[0], scale_b=scales[1])
    assert found.swallowed.tolist() == swallowed


@pytest.mark.parametrize("kind", ["kahan", "neumaier"])
def test_compensated_registers_are_those_of_the_rounded_steps(kind):
    """Every rounded addition of docs/semantics.md, D10, by ww.add."""
    rng = np.random.default_rng(11)
    terms = ww.array(rng.standard_normal(60) * np.exp2(rng.integers(-18, 4, 60)), "e4m3fn")
    total = carried = ww.zeros((), "e4m3fn")
    wanted = []
    for i, p in enumerate(terms):
        before = (float(total), float(carried))
        if kind == "kahan":
            y = p - carried
            after = total + y
            total, carried = after, (after - total) - y
        else:
            after = total + p
            large, small = (total, p) if abs(float(total)) >= abs(float(p)) else (p, total)
            total, carried = after, carried + ((large - after) + small)
        if before == (float(total), float(carried)) and float(p):
            wanted.append(i)
    found = study.stagnation(terms, None, f"{kind}(e4m3fn)")
    assert found.swallowed.tolist() == wanted and 0 < len(wanted) < 50


def test_stagnation_prints_and_plots():
    assert "every term of 3 moved the sum" in repr(study.stagnation([1.0] * 3, None, "mac(e5m10)"))
    blocks = study.stagnation([1.0, 1e-3, 1.0], None, "dot(e4m3fn, lanes=2, align=2:rtz)")
    assert "every block of 2 terms moved the sum" in repr(blocks)
    found = study.stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
    assert "9 of 10 terms were swallowed, the first of them term 1; it stands still" in repr(found)
    assert "it moves to the end" in repr(study.stagnation([256.0, 1, 2], None, "mac(bfloat16)"))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = found.plot()
    assert ax.get_lines()[0].get_ydata()[-1] == 9


# --- Orders, modes, invariants, widths -----------------------------------------------------------


def test_orders_sum_alike_where_nothing_is_rounded_and_apart_where_it_is():
    units = study.orders("e5m10", block=4)
    found = study.accumulation([float(i) for i in range(40)], None, units.values())
    assert {unit: x.max() for unit, x in found.absolute.items()} == dict.fromkeys(found.units, 0)
    # 2048's step is 2. In order each 1 is a tie and lost; a tree or block sums the 1s first.
    terms = [2048.0] + [1.0] * 15
    found = study.accumulation(terms, None, units.values(), lengths=[16])
    sums = {name: 2063 + float(found.error[str(unit)].item()) for name, unit in units.items()}
    assert sums == {
        "sequential": 2048.0,
        "pairwise": 2062.0,  # (2048 + 1) + 2 = 2050, + 4 = 2054, + 8 = 2062
        "blocked": 2060.0,  # 2048 with three 1s, and three times 4
        "tree": 2062.0,  # 2050, and three times 4
        "kahan": 2064.0,
        "neumaier": 2064.0,
        "exact": 2064.0,
    }


def test_roundings_are_one_unit_in_every_mode():
    units = study.roundings("bfloat16")
    found = study.accumulation([0.1] * 100, None, units.values(), lengths=[100])
    errors = {mode: found.error[str(unit)].item() for mode, unit in units.items()}
    assert errors["rtz"] == errors["rdn"] < 0 < errors["rup"] == errors["raz"]
    assert abs(errors["rne"]) < -errors["rtz"]


def test_a_unit_that_cuts_below_its_largest_term_is_not_monotonic():
    # Products 1 and ten of 2^-5, cut at 2^-4 of the largest: nothing but 1 is left. The largest is
    # 1 - 2^-11, an exponent lower, and 2^-5 is kept: 10 of them are more than what 1 gained.
    below = 1 - 2.0**-11
    terms = [below] + [2.0**-5] * 3
    unit = "dot(e5m10, lanes=4, align=4:rtz)"
    (breach,) = study.monotonicity(terms, None, unit).rows
    assert breach[:3] == (0, "0.9995", "1") and float(breach[4]) > float(breach[5])
    for kept in ("mac(e5m10)", "kulisch(e5m10)", "fma(bfloat16)"):
        assert len(study.monotonicity(terms, [1.0, -1.0, 1.0, -1.0], kept)) == 0


def test_a_start_that_grows_is_looked_at_too():
    # C's 2^-6 lies below the cut of 2^-4 at 1 - 2^-11, and below that of 2^-5 at 1
    unit = "dot(e5m10, lanes=4, align=4:rtz)"
    terms = [2.0**-5] * 3
    (breach,) = study.monotonicity(terms, None, unit, c=1 - 2.0**-11).rows
    assert breach == (-1, "0.9995", "1", "", breach[4], "1") and float(breach[4]) > 1
    assert study.monotonicity(terms, None, "mac(e5m10)", c=65504.0).rows == []


def test_what_exact_sums_keep_a_kulisch_sum_keeps():
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((2, 30))
    found = study.invariance(a, b, "kulisch(e5m10)", c=0.5)
    assert found["property"].tolist() == ["order", "zeros", "exchange", "negation", "doubling"]
    assert found["broken"].tolist() == [0] * 5 and found["tries"].tolist() == [100, 1, 1, 1, 1]
    found = study.invariance(a, b, "mac(e5m10, sum=e5m10:rdn)")
    broken = dict(zip(found["property"], found["broken"], strict=True))
    assert broken["order"] > 0 and broken["negation"] == 1
    assert broken["zeros"] == broken["exchange"] == broken["doubling"] == 0


def test_scales_turn_what_a_raised_term_does_to_the_sum():
    # As above, each block of four by its own scale: the sum falls as a term of the second rises.
    terms = [0.0] * 4 + [1 - 2.0**-11] + [2.0**-5] * 3
    scales = {"scale_a": [1.0, -1.0], "scale_b": [1.0, 2.0]}
    cutting = "dot(e5m10, lanes=4, align=4:rtz, scale=binary32:4:term)"
    (breach,) = study.monotonicity(terms, None, cutting, **scales).rows
    assert breach[:3] == (4, "0.9995", "1") and float(breach[4]) < float(breach[5])
    for kept in ("mac(e5m10, scale=binary32:4:term)", "kulisch(e5m10, scale=binary32:4:term)"):
        assert study.monotonicity(terms, None, kept, **scales).rows == []


def test_scaled_blocks_change_places_with_their_scales():
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((2, 70))
    scales = {"scale_a": [8.0, 0.25, 64.0], "scale_b": [1.0, 2.0, 0.5]}
    exact = "kulisch(e5m10, out=binary32, scale=e8m0fnu:32:term)"
    found = study.invariance(a, b, exact, **scales)
    assert found["property"].tolist() == ["order", "zeros", "exchange", "negation", "doubling"]
    assert found["broken"].tolist() == [0] * 5
    assert set(found["sum"][:3]) == {
        str(ww.dot(*operands(a, b, exact), unit=exact, **scaled(scales)))
    }
    stepwise = study.invariance(a, b, "mac(e5m10, scale=e8m0fnu:32:term)", **scales)
    assert stepwise["broken"].tolist()[0] > 0 and stepwise["broken"].tolist()[1:] == [0] * 4


def operands(a, b, unit):
    return ww.array(a, ww.Unit(unit).a), ww.array(b, ww.Unit(unit).b)


def scaled(scales):
    return {name: ww.array(scale, "e8m0fnu") for name, scale in scales.items()}


def test_the_smallest_width_is_found_from_above():
    terms = [1.0] * 1000
    least, tried = study.smallest_width("mac(e8m{width})", range(5, 15), terms, tolerance=0)
    assert least == 9  # 1000 has ten bits, and sums below it less
    assert tried["width"].tolist() == [14, 13, 12, 11, 10, 9, 8]
    assert tried["error"].tolist() == [0] * 6 + [1 - 512 / 1000]
    none, tried = study.smallest_width("mac(e8m{width})", [3, 4], terms, tolerance=1e-3)
    assert none is None and len(tried) == 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: study.sources([1.0], None, "kahan(e5m10)"), "has chain.compensation; errors are"),
        (
            lambda: study.sources([1.0, 2.0], [1.0, np.nan], "mac(e5m10)"),
            r"b: element \[1\] is NaN, which is no fraction",
        ),
        (lambda: study.sources([[1.0]], None, "mac(e5m10)"), "one is studied: pass one row of"),
        (lambda: study.sources([1.0], None, "mac(e5m10)").total("luck"), "source = 'luck': it may"),
        (lambda: study.stagnation([], None, "mac(e5m10)"), "nothing is summed"),
        (lambda: study.invariance([1.0], None, "mac(e5m10)", tries=0), "tries = 0: at least one"),
        (
            lambda: study.stagnation([1.0], None, "pairwise(e5m10)"),
            "takes all of k at once, in several sums; accumulation tells the errors of its sums",
        ),
        (
            lambda: study.stagnation([1.0], None, "dot(e5m10, align=12:rtz)"),
            "takes all of k at once, and aligns them to the largest; accumulation tells",
        ),
        (
            lambda: study.stagnation([1.0], None, "lowered.e4m3.f32"),
            "permutes its lanes: no register takes its terms in order; accumulation tells",
        ),
        (
            lambda: study.stagnation([1.0, np.inf], None, "kulisch(e5m10)"),
            r"a\[1\] \* b\[1\] is inf; a register adds numbers alone",
        ),
        (
            lambda: study.monotonicity([1.0], None, "blackwell.mxfp8"),
            "give both scale_a and scale_b",
        ),
        (
            lambda: study.monotonicity([1.0], None, "mac(e5m10, sum=e5m10:sr8)"),
            "rounds stochastically; what it keeps is hidden",
        ),
        (
            lambda: study.smallest_width("mac(e8m7)", [1], [1.0], tolerance=1),
            r"write {width} where it stands",
        ),
        (
            lambda: study.smallest_width("mac(e8m{width})", [], [1.0], tolerance=1),
            "widths is empty",
        ),
    ],
)
def test_what_makes_no_finding_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
