"""Errors against the data as given, split, and without end where the result is no number."""

import re
from fractions import Fraction
from math import inf

import numpy as np
import pytest
import widthwise as ww
from widthwise import study

RELATIVE = {"measure": "relative"}


def exact_sum(a, b=None):
    ones = [1] * len(a) if b is None else b
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, ones, strict=True)), start=Fraction())


def whole(found, unit, part=None):
    return found.max("relative", part)[unit][-1]


# --- Accumulations -------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [study.accumulation, study.error_growth])
@pytest.mark.parametrize(
    "value, unit", [(70000.0, "mac(e5m10)"), (1000.0, "mac(e4m3fn)"), (-1e39, "fma(bfloat16)")]
)
def test_an_operand_that_overflows_is_an_infinite_error_of_the_operands(of, value, unit):
    found = of([value] * 100, None, [unit, "kulisch(binary64)"])
    for measure in ("ulps", "relative", "absolute"):
        assert (found.mean(measure)[unit] == inf).all()
        assert (found.max(measure, "operands")[unit] == inf).all()
        assert (found.max(measure, "accumulation")[unit] == 0).all()
    assert "inf" in repr(found) and whole(found, "kulisch(binary64)") < 1e-15


@pytest.mark.parametrize("of", [study.accumulation, study.error_growth])
def test_what_vanishes_on_being_rounded_is_the_whole_error(of):
    found = of([1e-9] * 1000, None, ["mac(e5m10)", "mac(bfloat16)"])
    assert whole(found, "mac(e5m10)") == whole(found, "mac(e5m10)", "operands") == 1
    assert whole(found, "mac(e5m10)", "accumulation") == 0
    today = of([1e-9] * 1000, None, "mac(e5m10)", against="operands")
    assert whole(today, "mac(e5m10)") == 0


@pytest.mark.parametrize(
    "unit", ["mac(e5m10)", "hopper.e4m3.f32", "tree(bfloat16, fan=4)", "ampere.tf32.f32"]
)
def test_an_error_is_what_the_operands_cost_and_what_the_accumulation_cost(unit):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 60))
    u = ww.Unit(unit)
    found = study.accumulation(a, b, unit, lengths=[60])
    x, y = ww.array(a, u.a), ww.array(b, u.b)
    exact, computed = exact_sum(a, b), ww.dot(x, y, unit=u).to_fractions()[()]
    keep = "e8m10" if "tf32" in unit else str(u.a)  # TF32 reads 10 of binary32's 23 bits
    x, y = (z.astype(keep, rounding="rtz").to_fractions() for z in (x, y))
    read = sum((p * q for p, q in zip(x, y, strict=True)), start=Fraction())
    assert found.error[unit].item() == pytest.approx(float(computed - exact), rel=1e-15)
    assert found.operand_error[unit].item() == pytest.approx(float(read - exact), rel=1e-15)
    wanted = float(computed - read)
    assert found.accumulation_error[unit].item() == pytest.approx(wanted, rel=1e-15)
    of_operands = found.measured("relative", "operands")[unit].item()
    assert of_operands == pytest.approx(float(abs((read - exact) / exact)), rel=1e-15)
    f, ulps = u.result_format, found.measured("ulps", "accumulation")[unit].item()
    exponent = int(np.floor(np.log2(abs(float(exact)))))
    assert ulps == pytest.approx(abs(wanted) / 2.0 ** (exponent - f.fraction_bits))


@pytest.mark.parametrize(
    "data",
    [
        [2**63 - 1, 1, -(2**63) + 5],
        [10**30, Fraction(1, 3), "0.1", Fraction(1, 2**900)],
        ["1e-310", 2.5, "1e290"],
        np.float32([0.1, 0.2]),
        np.array([[7, 3], [9, 1]], np.uint8),
    ],
)
def test_data_of_any_kind_are_taken_as_they_are(data):
    found = study.accumulation(data, None, "mac(e5m10)", c=Fraction(1, 8))
    rows = np.atleast_2d(np.array(data, dtype=object))
    wanted = [float(exact_sum(row) + Fraction(1, 8)) for row in rows]
    assert found.exact["mac(e5m10)"][0, :, -1].tolist() == pytest.approx(wanted, rel=1e-15)


def test_scales_are_data_as_well():
    u, x, scale = "blackwell.mxfp8", [1.0] * 64, [3.0, 6.0]  # e8m0fnu's are 4 and 8: ties go away
    found = study.accumulation(x, x, u, scale_a=scale, scale_b=[1, 1])
    assert found.exact[u].reshape(-1).tolist() == [32 * 3, 32 * 9]
    assert found.operand_error[u].reshape(-1).tolist() == [32, 96]
    assert found.error[u].reshape(-1).tolist() == [32, 96]


def test_arrays_are_taken_as_they_are_and_have_no_error_of_operands():
    x = ww.array([0.1] * 40, "e5m10")
    found, today = (
        study.accumulation(x, None, "mac(e5m10)", against=a) for a in ("given", "operands")
    )
    assert (found.error["mac(e5m10)"] == today.error["mac(e5m10)"]).all()
    assert (found.operand_error["mac(e5m10)"] == 0).all()
    with pytest.raises(ValueError, match="what rounding them cost is known where against"):
        today.mean("relative", "operands")
    with pytest.raises(ValueError, match="part = 'sums': it may be 'operands', 'accumulation'"):
        found.mean("relative", "sums")
    with pytest.raises(ValueError, match="against = 'exact': it may be 'given' or 'operands'"):
        study.accumulation(x, None, "mac(e5m10)", against="exact")


def test_a_stream_is_held_against_its_data_too():
    pieces = [[0.1] * 30, np.arange(10), [1e-9] * 8, ["1/3"] * 2]
    found = study.streamed(pieces, ["mac(bfloat16)", "kulisch(e5m10)"])
    at_once = study.accumulation(
        [x for piece in pieces for x in piece], None, found.units, lengths=found.lengths
    )
    for unit in found.units:
        assert found.exact[unit].tolist() == at_once.exact[unit].tolist()
        assert found.error[unit].tolist() == at_once.error[unit].tolist()
        assert found.operand_error[unit].tolist() == at_once.operand_error[unit].tolist()
    lost = study.streamed([[1.0] * 4, [70000.0] * 4], "mac(e5m10)")
    assert lost.max("relative")["mac(e5m10)"].tolist() == [0, inf]


@pytest.mark.parametrize(
    "unit, data",
    [
        ("mac(e5m10)", [1e-9] * 100),
        ("mac(e5m10)", [70000.0] * 4),
        ("mac(e5m10)", [3e4] * 4),
        ("mac(e4m3fn)", [0.001, 0.002, 0.5]),
        ("kulisch(e4m3fn)", [0.0101] * 9),
        ("mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)", [1e-5, 3e-5, 0.7]),
        ("mac(fixed16.8)", [10.0] * 10),
        ("mac(fixed16.8)", [1e4, 1.0]),
        ("mac(fixed16.8;overflow=wrap)", [10.0] * 10),
        ("mac(int8)", [3.0, -9.0, 11.0, 2.0]),
        ("mac(e5m2;overflow=max)", [200.0] * 4),
        ("mac(e4m3fn;overflow=satfinite)", [300.0, 1.0]),
        ("mac(e5m10, sum=e5m10:rtz)", [200.0] * 4),
        ("mac(posit8es2)", [4e3] * 4),
        ("mac(posit8es2)", [1e9, 1.0]),
        ("mac(takum8)", [1e60, 1e60]),
        ("mac(table(-127,-1,0,1,10,100,127))", [10.0, 10.0]),
        ("kulisch(e4m3fn, out=fixed8.4)", [4.0] * 4),
    ],
)
def test_bounds_hold_where_numbers_overflow_and_underflow(unit, data):
    found = study.accumulation(data, data, unit)
    bounds, _ = found.limits(unit)
    assert (found.absolute[unit] <= bounds).all()
    assert (bounds[~np.isfinite(found.error[unit])] == inf).all()
    frame = found.to_dataframe()
    assert (frame["absolute"] <= frame["bound"]).all()


@pytest.mark.parametrize("unit", ["mac(fixed16.8)", "mac(e4m3fn;overflow=max)"])
def test_bounds_are_finite_where_no_sum_can_leave_a_range_that_saturates(unit):
    found = study.accumulation([1.0, 2.0, -4.0], [2.0, 2.0, 1.0], unit)
    assert np.isfinite(found.limits(unit)[0]).all()


def test_a_bound_that_is_not_known_is_infinite_where_numbers_overflow():
    found = study.accumulation([3e4] * 4, None, "kahan(e5m10)", lengths=[1, 4])
    bounds, likely = found.limits("kahan(e5m10)")
    assert np.isnan(bounds[..., 0]).all() and (bounds[..., 1] == inf).all()
    assert (likely[..., 1] == inf).all()


@pytest.mark.parametrize("unit", ["mac(e15m10)", "fma(e20m7)", "mac(e20m10, sum=e20m4)"])
@pytest.mark.parametrize("exponent", ["300", "-300", "900", "-900"])
def test_parts_of_an_error_past_a_doubles_range_are_as_they_are(unit, exponent):
    """Products of some 10^+-600 and beyond, which a double takes for infinite, or for 0."""
    u, numbers = (
        ww.Unit(unit),
        [Fraction(x) * Fraction(10) ** int(exponent) for x in ("1.1", "2.3", "3.7")],
    )
    a, found = ww.array(numbers, u.a), study.accumulation(numbers, numbers, unit)
    exact = sum(x * x for x in numbers)
    read = sum(x * x for x in a.to_fractions())
    z = ww.dot(a, a, unit=u).to_fractions()[()]
    wanted = {None: z - exact, "operands": read - exact, "accumulation": z - read}
    place = Fraction(2) ** (floor_log2(exact) - u.result_format.fraction_bits)
    for part, error in wanted.items():
        for measure, by in (("relative", exact), ("ulps", place)):
            got = found.measured(measure, part)[unit][0, 0, -1]
            assert got == pytest.approx(float(abs(error / by)), rel=1e-12) and got > 0


def floor_log2(x):
    """Of a Fraction above 0."""
    at = x.numerator.bit_length() - x.denominator.bit_length()
    return at if Fraction(2) ** at <= x else at - 1


# --- Widths --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, widths, data, tolerance, wanted",
    [
        ("mac(e{width}m10)", range(2, 9), [1000.0] * 10, 1e-3, 5),
        ("kulisch(e8m{width}, out=binary64)", range(2, 20), [0.1] * 10, 1e-9, None),
        ("kulisch(e8m{width}, out=binary64)", range(2, 53), [0.1] * 10, 1e-9, 27),
        ("kulisch(e{width}m10)", range(3, 9), [1e-6] * 10, 1e-2, 6),
        ("mac(e{width}m3, sum=binary32)", range(3, 9), [-300.0] * 3, 0.1, 5),
    ],
)
def test_the_least_width_is_one_whose_result_is_near_the_datas(
    text, widths, data, tolerance, wanted
):
    least, rows = study.smallest_width(text, widths, data, tolerance=tolerance)
    assert least == wanted
    exact = float(exact_sum(data))
    for width, unit in zip(rows["width"], rows["unit"], strict=True):
        u = ww.Unit(unit)
        z = float(ww.sum(ww.array(data, u.a), unit=u))
        near = np.isfinite(z) and abs(z - exact) <= tolerance * abs(exact)
        assert near == (least is not None and width >= least)


def test_against_the_operands_their_rounding_is_left_out():
    text, data = "kulisch(e8m{width}, out=binary64)", [0.1] * 10
    least, rows = study.smallest_width(text, range(2, 20), data, tolerance=1e-9, against="operands")
    assert least == 2 and "of_operands" not in rows.columns
    for tolerance in (-1, inf, float("nan")):
        with pytest.raises(ValueError, match="a number is wanted, 0 or more and finite"):
            study.smallest_width(text, [3], data, tolerance=tolerance)
    for tolerance in ("1%", None, True, [1e-3]):
        with pytest.raises(TypeError, match="tolerance = .*: a number is wanted, as 1e-3"):
            study.smallest_width(text, [3], data, tolerance=tolerance)


# --- Where, and what is kept ----------------------------------------------------------------------


def test_terms_that_vanish_on_being_rounded_are_swallowed():
    found = study.stagnation([1.0, 1e-9, 0.5, 1e-9], None, "mac(e5m10)")
    assert found.swallowed.tolist() == found.vanished.tolist() == [1, 3]
    assert "rounding the operands made 2 of them zero" in repr(found)
    assert study.stagnation([1.0, 1e-9], None, "kulisch(e5m10)").vanished.tolist() == [1]
    both = study.stagnation([2048.0, 0.5, 1e-9], None, "mac(e5m10)")
    assert both.swallowed.tolist() == [1, 2] and both.vanished.tolist() == [2]
    today = study.stagnation([1.0, 1e-9], None, "mac(e5m10)", against="operands")
    assert today.first is None


@pytest.mark.parametrize(
    "unit", ["mac(e5m10)", "kulisch(e5m10)", "kahan(e5m10)", "dot(e5m10, lanes=2, align=12:rtz)"]
)
def test_a_register_that_is_no_number_is_told_of(unit):
    found = study.stagnation([1.0, 1.0, 70000.0, 1.0, 1.0, 1.0], None, unit)
    assert found.no_number_from == 2 and "no number from term 2 on" in repr(found)
    still = {4, 5} if "lanes" in unit or "kahan" in unit else {3, 4, 5}  # which makes a NaN of it
    assert still <= {*found.swallowed.tolist()}
    assert study.stagnation([1.0] * 4, None, unit).no_number_from is None


@pytest.mark.parametrize("unit", ["mac(e5m10)", "hopper.e4m3.f32", "ampere.tf32.f32"])
def test_sources_add_up_to_the_error_of_the_data(unit):
    a, b = np.random.default_rng(3).normal(size=(2, 40))
    found = study.sources(a, b, unit, c=0.1)
    u = ww.Unit(unit)
    z = ww.dot(ww.array(a, u.a), ww.array(b, u.b), unit=u, c=ww.array(0.1, u.c))
    assert found.total() == z.to_fractions()[()] - exact_sum(a, b) - Fraction(0.1)
    assert found.total("operands") != 0 and "against the data as given" in repr(found)


@pytest.mark.parametrize("exponent", [300, -300])
def test_sources_past_a_doubles_range_are_printed_in_digits(exponent):
    numbers = [Fraction(x) * Fraction(10) ** exponent for x in ("1.1", "2.3")]
    found = study.sources(numbers, numbers, "mac(e15m10)")
    said = re.search(r"computed - exact = (\S+),", str(found))[1]
    total, shown = found.total(), Fraction(said)
    assert shown and abs(shown - total) <= abs(total) / 1000
    (row,) = (line for line in str(found).splitlines() if line.startswith("operands"))
    operands = sum(found.of("operands"))
    assert abs(Fraction(row.split()[-2]) - operands) <= abs(operands) / 1000
    assert study.sources([1.0], [1.0], "mac(e15m10)").table().rows[0][2] == 0.0


def test_sources_of_a_sum_that_is_no_number_are_infinite():
    for terms, source in (([1.0, 70000.0], "operands"), ([40000.0] * 2, "overflow")):
        found = study.sources(terms, None, "mac(e5m10)")
        assert found.result is None and found.overflow_at == 1
        assert found.total() == found.total(source) == inf
        assert found.to_dataframe()["error"].tolist()[-1] == inf
    assert study.sources([-40000.0] * 2, None, "mac(e5m10)").total() == -inf
    assert study.sources([400.0] * 2, None, "mac(e4m3fn)").total() == inf


def test_what_a_unit_keeps_is_not_told_of_sums_that_are_no_numbers():
    with pytest.raises(ValueError, match="sums these to inf, which no term moves"):
        study.monotonicity([70000.0, 1.0], None, "mac(e5m10)")
    broken = study.monotonicity([256.0, 192.0], None, "mac(e4m3fn)")
    assert broken["after"].tolist() == ["nan"] * len(broken) and len(broken) > 0
    found = study.invariance([70000.0, 1.0], None, "mac(e5m10)", tries=4)
    assert found["not_finite"].tolist() == found["tries"].tolist()
    assert study.invariance([1.0, inf], None, "mac(e5m10)", tries=4)["not_finite"].sum() == 0


# --- Texts ---------------------------------------------------------------------------------------


def test_results_bear_the_text_that_was_asked_for():
    found = study.accumulation([1.0], None, ["mac(bfloat16)", "ampere.f16.f32", "mac(e8m7)"])
    assert found.units == ["mac(bfloat16)", "ampere.f16.f32", "mac(e8m7)"]
    assert found.error["mac(bfloat16)"].tolist() == [[[0]]]
    assert found.canonical["ampere.f16.f32"] == str(ww.Unit("ampere.f16.f32"))
    table = found.table()
    assert table.columns[:2] == ["unit", "canonical"]
    assert [row[:2] for row in table.rows][0] == ("mac(bfloat16)", "mac(e8m7)")
    alone = study.error_growth([1.0], None, "mac(bfloat16)")
    assert alone.error["mac(e8m7)"] is alone.error["mac(bfloat16)"]
    assert alone.max()["mac( e8m7 )"].tolist() == [0]
    for wrong in ("mac(e5m10)", "nothing"):
        with pytest.raises(KeyError, match=r"the units are mac\(bfloat16\)"):
            alone.error[wrong]
    assert study.stagnation([1.0], None, "mac(bfloat16)").unit == "mac(bfloat16)"
    assert study.sources([1.0], None, "mac(bfloat16)").canonical == "mac(e8m7)"


def test_a_unit_keeps_its_text_and_is_equal_by_what_it_is():
    import copy
    import pickle

    one, other = ww.Unit("mac(bfloat16)"), ww.Unit("mac(e8m7)")
    assert one == other and hash(one) == hash(other) and str(one) == str(other)
    assert (one.text, other.text) == ("mac(bfloat16)", "mac(e8m7)")
    for again in (ww.Unit(one), pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert again.text == "mac(bfloat16)" and again == one
    assert ww.units["ampere.f16.f32"].text == "ampere.f16.f32"
    x = ww.array([1.0], "bfloat16")
    assert ww.trace(one, x, x).title == "mac(bfloat16) = mac(e8m7), k = 1"
    assert str(one.card()).startswith("mac(bfloat16) = mac(e8m7)\n")
    assert ww.sweep(one, [1.0], [1.0])["unit"].tolist() == ["mac(bfloat16)"]
