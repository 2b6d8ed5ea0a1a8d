"""Sweeps: metrics of a product by many units, against what fractions say."""

from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from widthwise._metrics import ALL_METRICS


def exact_product(a, b):
    return [
        [sum(Fraction(x) * Fraction(y) for x, y in zip(row, column, strict=True)) for column in b.T]
        for row in a
    ]


@pytest.fixture
def operands():
    rng = np.random.default_rng(1)
    return rng.normal(size=(5, 40)), rng.normal(size=(40, 7))


def test_metrics_are_those_of_the_computed_against_the_exact(operands):
    a, b = operands
    metrics = ["max_abs", "mean_abs", "max_rel", "mean_rel", "rel_norm", "exact", "not_finite"]
    units = ["mac(e5m10)", "mac(binary64)", "mac(e4m3fn, sum=e8m7)"]
    found = ww.sweep(units, a, b, metrics=metrics)
    assert found.columns == ["unit", "canonical", *metrics]
    assert found["unit"].tolist() == units
    assert found["canonical"].tolist() == [str(ww.Unit(unit)) for unit in units]
    want = np.array(exact_product(a, b), dtype=object)
    for i, unit in enumerate(units):
        u = ww.Unit(unit)
        z = ww.matmul(ww.array(a, u.a), ww.array(b, u.b), unit=u).to_float64()
        # The exact product is rounded once, to binary64, before the difference is taken.
        rounded = want.astype(np.float64)
        errors = np.abs(z - rounded)
        assert found["max_abs"][i] == errors.max()
        assert found["mean_abs"][i] == pytest.approx(errors.mean(), rel=1e-12)
        assert found["max_rel"][i] == pytest.approx((errors / np.abs(rounded)).max(), rel=1e-12)
        assert found["mean_rel"][i] == pytest.approx((errors / np.abs(rounded)).mean(), rel=1e-12)
        norm = np.linalg.norm(errors) / np.linalg.norm(rounded)
        assert found["rel_norm"][i] == pytest.approx(norm, rel=1e-9)
        assert found["exact"][i] == (errors == 0).mean()
        assert found["not_finite"][i] == 0


def test_the_exact_product_is_exact():
    a = [[2.0**900, 1.0, -(2.0**900)]]
    b = [[1.0], [3.0], [1.0]]
    found = ww.sweep(["kulisch(binary64)", "mac(binary64)"], a, b, metrics=["max_abs"])
    assert found["max_abs"].tolist() == [0, 3]


def test_results_that_are_no_numbers_are_counted_and_infinite_errors():
    found = ww.sweep(
        ["mac(e5m10)", "mac(e8m7)"],
        [[60000.0, 60000.0], [1.0, 2.0]],
        [[1.0], [1.0]],
        metrics=["not_finite", "max_abs", "exact"],
    )
    assert found["not_finite"].tolist() == [1, 0]
    assert found["max_abs"][0] == np.inf and found["exact"][0] == 0.5


def test_a_grid_has_a_column_for_every_parameter(operands):
    units = ww.grid("mac(e{e}m{m})", e=[5, 8], m=[3, 7, 10])
    found = ww.sweep(units, *operands)
    assert len(units) == len(found) == 6
    assert found["e"].tolist() == [5, 5, 5, 8, 8, 8] and found["m"].tolist() == [3, 7, 10] * 2
    assert found.meta["metrics"] == found.columns[4:] and found.meta["a"] == (5, 40)
    assert found.meta["version"] == ww.__version__
    best = found.best("rel_norm")
    assert best["m"].tolist() == [10]
    assert (np.diff(found["rel_norm"][:3]) < 0).all()
    assert found.best("exact", 2)["exact"][0] == found["exact"].max()


def test_no_engine_changes_a_sweep(operands):
    units = ["mac(e5m10)", "mac(e5m10, sum=e5m10:sr9)", "hopper.f16.f32"]
    fast, slow = (ww.sweep(units, *operands, engine=e, seed=3) for e in ("auto", "reference"))
    assert fast.rows == slow.rows


def test_progress_and_another_exact_product(operands):
    a, b = operands
    seen = []
    found = ww.sweep(
        ["mac(e5m10)", "mac(e8m7)"],
        a,
        b,
        exact=np.zeros((5, 7)),
        metrics=["max_abs", "max_rel", "rel_norm"],
        progress=lambda done, of: seen.append((done, of)),
    )
    assert seen == [(1, 2), (2, 2)]
    assert np.isnan(found["max_rel"]).all() and np.isinf(found["rel_norm"]).all()
    u = ww.Unit("mac(e8m7)")
    z = ww.matmul(ww.array(a, u.a), ww.array(b, u.b), unit=u).to_float64()
    assert found["max_abs"][1] == np.abs(z).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"units": []}, "units is empty; name one at least, as 'mac\\(e5m10\\)'"),
        (
            {"units": ["dot(e4m3fn, lanes=32, scale=e5m2:32:term)"]},
            "scales its blocks: .*scale = 'e5m2': it may be e2m0fnu",
        ),
        ({"metrics": ["rms"]}, "metrics: 'rms' is none of max_abs, mean_abs"),
        ({"engine": "fast"}, "engine = 'fast': there is no such engine here"),
        ({"a": np.zeros((2, 2, 2))}, r"a is \(2, 2, 2\); a sweep takes matrices"),
        ({"exact": np.zeros(3)}, r"exact is \(3,\), the product of a and b is \(1, 1\)"),
        ({"b": np.zeros((3, 1))}, r"a is \(1, 2\) and b is \(3, 1\)"),
    ],
)
def test_bad_input_is_named(change, message):
    request = {"units": ["mac(e5m10)"], "a": np.ones((1, 2)), "b": np.ones((2, 1))} | change
    with pytest.raises(ValueError, match=message):
        ww.sweep(request.pop("units"), request.pop("a"), request.pop("b"), **request)


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("mac(e{e}m3)", {"f": [1]}, "f is no parameter of 'mac\\(e{e}m3\\)': write {f}"),
        (
            "mac(e{e}m{m})",
            {"e": range(100_000), "m": range(100_000)},
            "a grid of 10,000,000,000 units; 1,000,000 are the most",
        ),
        ("mac(e{e}m{m})", {"e": [1]}, "has a parameter m without values: give m="),
    ],
)
def test_a_grid_names_what_does_not_fit(text, parameters, message):
    with pytest.raises(ValueError, match=message):
        ww.grid(text, **parameters)


def test_a_grids_single_value_is_told():
    with pytest.raises(TypeError, match=r"m = 3: several are wanted, as \[3\]"):
        ww.grid("mac(e5m{m})", m=3)


# --- No numbers, parts, and the request ----------------------------------------------------------

LARGE = np.array([[60000.0, 30000.0], [1.0, 1e-7]])


def test_no_unit_whose_results_are_no_numbers_is_the_best():
    x = np.random.default_rng(2).normal(size=(16, 16)) * 30
    units = ["mac(e2m12)", "mac(e5m10)", "mac(e3m11)"]
    for metric in ("max_abs", "mean_abs", "max_rel", "mean_rel", "rel_norm"):
        found = ww.sweep(units, x, x, metrics=[metric, "not_finite"])
        assert found.best(metric)["unit"].tolist() == ["mac(e5m10)"]
        assert found[metric][0] == np.inf and found["not_finite"][0] > 0
    with pytest.raises(ValueError, match="metric = 'e': it may be rel_norm, not_finite"):
        found.best("e")


@pytest.mark.parametrize("data", [60000.0, np.nan])
def test_of_units_without_a_finite_error_none_is_the_best(data):
    x = np.full((2, 3), data)
    found = ww.sweep(["mac(e2m12)", "mac(e4m3fn)"], x, x.T)
    with pytest.raises(ValueError, match="metric = 'rel_norm': it is (inf|nan) of the best unit, "):
        found.best("rel_norm")
    assert len(found.ordered("rel_norm")) == len(found.best("not_finite", 2)) == 2


def test_exact_values_that_are_no_numbers_are_told():
    x = np.random.default_rng(3).normal(size=(4, 8))
    x[0, 0], x[2, 1] = np.inf, np.nan
    found = ww.sweep(["mac(e8m7)", "mac(posit16)"], np.abs(x), np.ones((8, 5)), metrics=["exact"])
    assert found.meta["no_number"] == 10
    assert "; exact values that are no numbers of binary64: 10" in str(found).splitlines()[0]
    whole = ww.sweep(["mac(e8m7)"], x[1], np.ones(8))
    assert whole.meta["no_number"] == 0 and "no numbers" not in str(whole)


@pytest.mark.parametrize("metric", ["max_abs", "mean_abs", "max_rel", "mean_rel", "rel_norm"])
@pytest.mark.parametrize("exact", [[[0.0]], [[2.0]]])
def test_an_output_that_is_no_number_is_an_infinite_error_of_every_metric(metric, exact):
    rows = ([[65504.0, 65504.0]], [[1.0], [1.0]])
    found = ww.sweep("mac(e5m10)", *rows, exact=exact, metrics=[metric])
    assert found[metric].tolist() == [np.inf]
    nan = ww.sweep("mac(e4m3fn)", *rows, exact=exact, metrics=[metric, "exact"])
    assert nan[metric].tolist() == [np.inf] and nan["exact"].tolist() == [0]


@pytest.mark.parametrize("data", [[np.inf, 1.0], [-np.inf, 3.0], [np.nan, 1.0], [np.inf, -np.inf]])
@pytest.mark.parametrize("unit", ["mac(e5m10)", "mac(e4m3fn)", "mac(e5m10;overflow=max)"])
def test_what_is_no_number_is_one_error_in_sweeps_and_studies(data, unit):
    found = ww.sweep(unit, [data, [1.0, 2.0]], [[1.0], [1.0]], metrics=["max_abs", "max_rel"])
    study = ww.study.accumulation([data, [1.0, 2.0]], None, unit, lengths=[2])
    for metric, errors in (("max_abs", study.absolute), ("max_rel", study.relative)):
        assert found[metric].tolist() == [errors[unit].max()]
    cost = ww.sweep(unit, [data], [[1.0], [1.0]], metrics=["of_operands"])["of_operands"]
    of_study = study.operand_error[unit][..., 0, -1]  # NaN where the operands are no numbers
    assert cost.tolist() == np.nan_to_num(of_study, nan=np.inf).tolist()


def test_an_infinity_that_is_exact_is_right_and_hides_no_other_error():
    how = {"metrics": [*ALL_METRICS]}
    x = [[np.inf, 1.0], [0.1, 1.0], [1.0, 1.0]]
    of_all, rest = (ww.sweep("mac(e5m2)", rows, [[1.0], [1.0]], **how) for rows in (x, x[1:]))
    same = ["max_abs", "max_rel", "rel_norm", "of_operands", "of_accumulation"]
    assert [of_all[name] for name in same] == [rest[name] for name in same]
    assert 0 < of_all["rel_norm"][0] < 1 and of_all["not_finite"][0] == 1
    assert of_all["exact"][0] == 2 / 3 and of_all["mean_abs"][0] == rest["mean_abs"][0] * 2 / 3


@pytest.mark.parametrize(
    "data", [[Fraction(1, 3)], [2**60 + 1], ["1/3"], np.longdouble([1]) / 3, np.uint64([2**63 + 1])]
)
def test_data_that_binary64_does_not_hold_are_not_rounded_in_silence(data):
    for name, given in (("a", (data, [1.0])), ("b", ([1.0], data))):
        with pytest.raises(ValueError, match=f"^{name} holds numbers of more than binary64's"):
            ww.sweep("mac(binary64)", *given)
    with pytest.raises(ValueError, match="^exact holds numbers of more than binary64's 53 digits"):
        ww.sweep("mac(binary64)", [1.0], [1.0], exact=data[0])
    assert ww.study.accumulation(data, None, "mac(binary64)").error["mac(binary64)"] != 0


def test_data_of_any_kind_that_binary64_holds_are_swept():
    kinds = [[Fraction(3, 4), 2], ["0.75", "2"], np.float16([0.75, 2]), ww.array([0.75, 2], "e4m3")]
    for data in kinds:
        found = ww.sweep("mac(e5m10)", data, [4, 2**52])
        assert found["exact"].tolist() == [0] and found["max_abs"].tolist() == [np.inf]
    for wrong, message in (([None], "^a holds a NoneType"), ([1j], "^a holds a complex")):
        with pytest.raises(TypeError, match=message):
            ww.sweep("mac(e5m10)", wrong, [1.0])


def test_a_parameter_without_values_is_named():
    with pytest.raises(ValueError, match=r"m is empty; give it a value at least, as m=\[…\]"):
        ww.grid("mac(e{e}m{m})", e=iter([4, 5]), m=[])
    assert len(ww.grid("mac(e{e}m3)", e=iter([4, 5]))) == 2


def test_not_finite_is_an_integer():
    found = ww.sweep(["mac(e5m10)", "mac(bfloat16)"], LARGE, LARGE)
    assert found["not_finite"].dtype.kind == "i" and found["not_finite"].tolist() == [2, 0]
    assert found.records()[0]["not_finite"] == 2 and " 2\n" in str(found)


@pytest.mark.parametrize("unit", ["mac(e5m10)", "mac(e4m3fn, sum=e8m7)", "ampere.tf32.f32"])
def test_an_error_has_two_parts(operands, unit):
    a, b = operands
    found = ww.sweep(unit, a, b, metrics=["rel_norm", "of_operands", "of_accumulation"])
    u = ww.Unit(unit)
    x, y = ww.array(a, u.a), ww.array(b, u.b)
    z = ww.matmul(x, y, unit=u).to_float64()
    if "tf32" in unit:
        x, y = (w.astype("e8m10", rounding="rtz") for w in (x, y))
    read = np.array(exact_product(x.to_float64(), y.to_float64()), float)
    exact = np.array(exact_product(a, b), float)
    whole = np.linalg.norm(exact)
    assert found["of_operands"][0] == pytest.approx(np.linalg.norm(read - exact) / whole, rel=1e-9)
    assert found["of_accumulation"][0] == pytest.approx(np.linalg.norm(z - read) / whole, rel=1e-9)
    today = ww.sweep(unit, a, b, metrics=["rel_norm"], against="operands")
    share = np.linalg.norm(z - read) / np.linalg.norm(read)
    assert today["rel_norm"][0] == pytest.approx(share, rel=1e-9)
    assert today.meta["against"] == "operands"


def test_operands_that_overflow_cost_all_of_it():
    found = ww.sweep(["mac(e4m3fn)", "mac(e2m3;overflow=max)"], LARGE, LARGE)
    assert found["of_operands"][0] == found["rel_norm"][0] == np.inf
    assert found["of_accumulation"][0] == 0
    assert np.isfinite(found["of_operands"][1]) and found["not_finite"][1] == 0


def test_against_the_operands_there_is_one_part():
    columns = ww.sweep("mac(e5m10)", [1.0], [1.0], against="operands").columns
    assert columns == ["unit", "canonical", "max_abs", "rel_norm", "exact", "not_finite"]
    for options, message in [
        ({"metrics": ["of_operands"]}, "'of_operands' is a part of the error against = 'given'"),
        ({"exact": 1.0}, "exact is given; against = 'operands' takes the exact product"),
        ({"against": "x"}, "against = 'x': it may be 'given' or 'operands'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ww.sweep("mac(e5m10)", [1.0], [1.0], **{"against": "operands", **options})


def test_a_text_is_not_taken_letter_by_letter():
    with pytest.raises(TypeError, match=r"metrics = 'rel_norm': several .* \['rel_norm'\]"):
        ww.sweep("mac(e5m10)", [1.0], [1.0], metrics="rel_norm")
    with pytest.raises(TypeError, match=r"r = 'rtz': several are wanted, as \['rtz'\]"):
        ww.grid("mac(e5m10, sum=e5m10:{r})", r="rtz")


def test_progress_may_be_true(capsys):
    ww.sweep(["mac(e5m10)", "mac(e8m7)"], [1.0], [1.0], progress=True)
    assert capsys.readouterr().err == "\r1 of 2\r2 of 2\n"
    ww.study.accumulation([1.0], None, ["mac(e5m10)"], progress=True)
    assert capsys.readouterr().err == "\r1 of 1\n"
    ww.sweep("mac(e5m10)", [1.0], [1.0], progress=False)
    assert capsys.readouterr().err == ""
    for call in (ww.sweep, ww.study.accumulation):
        arguments = ("mac(e5m10)", [1.0], [1.0])[:: 1 if call is ww.sweep else -1]
        with pytest.raises(TypeError, match="progress = 'yes': True, or a function of"):
            call(*arguments, progress="yes")


def test_a_grid_of_units_is_told_where_they_go():
    with pytest.raises(TypeError, match=r"text = \['mac\(e5m10\)'\]: one text is wanted, as"):
        ww.grid(["mac(e5m10)"])
    for text in ("mac(e{}m10)", "mac(e{0}m10)", "mac(e{e"):
        with pytest.raises(ValueError, match="its braces hold no parameter's name"):
            ww.grid(text)


class Gpu:
    """A GPU's sweep, as its metrics are defined; in order, as the core tells them."""

    def __init__(self, request, exact):
        self.request, self.exact = request, exact

    def run(self, cores, seed):
        from widthwise._metrics import METRICS, Errors

        units = [ww.Unit._of(core) for core in cores]
        errors = [Errors(self.request.product(unit).doubles, self.exact) for unit in units]
        return [[float(metric(e)) for metric in METRICS.values()] for e in errors]


@pytest.mark.parametrize("against", ["given", "operands"])
@pytest.mark.parametrize("large", [0.0, 70000.0, np.inf])
def test_units_that_go_to_a_gpu_together_have_the_same_parts(monkeypatch, against, large):
    from widthwise._swept import Request

    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(6, 30)), rng.normal(size=(30, 5))
    if large:
        a[2, 3], b[4, 0] = large, 70000.0
    units = ["mac(e5m10)", "mac(bfloat16)", "fma(e5m10)", "mac(e5m10, sum=e8m7)", "ampere.tf32.f32"]
    here = ww.sweep(units, a, b, against=against)
    sent = []
    monkeypatch.setattr(Request, "gpu", lambda self, unit: 0)
    monkeypatch.setattr(
        Request, "sweep_on", lambda self, gpu, exact: sent.append(exact) or Gpu(self, exact)
    )
    there = ww.sweep(units, a, b, against=against)
    assert bool(sent) == (against == "operands" or np.isfinite(large))
    assert there.columns == here.columns and there["unit"].tolist() == units
    for name in here.columns[2:]:
        assert there[name].tolist() == pytest.approx(here[name].tolist(), rel=1e-12, nan_ok=True)
    assert there["not_finite"].dtype.kind == "i"


def test_a_table_and_a_card_say_what_errors_are_against():
    for options, wanted in [
        ({}, "the data as given"),
        ({"against": "operands"}, "the unit's own operands"),
        ({"exact": 1.0}, "the results that were given"),
    ]:
        found = ww.sweep("mac(e5m10)", [1.0, 2.0], [1.0, 2.0], **options)
        title = f"errors of (2,) x (2,), against {wanted}"
        assert str(found).splitlines()[0] == repr(found).splitlines()[0] == title
        assert (
            title.replace("'", "&#x27;") in found._repr_html_() and "<table>" in found._repr_html_()
        )
        assert str(found.best("exact")).splitlines()[0] == title


def test_operands_draw_random_bits_of_their_own_by_the_seed():
    unit, x = "kulisch(e4m3, out=binary64)", np.full((1, 4000), 1.03)
    how = {"metrics": ["max_abs"], "rounding": "sr8"}
    found = {seed: ww.sweep([unit], x, x.T, seed=seed, **how).rows for seed in (1, 2)}
    assert found[1] != found[2]
    drawn = [ww.array(x, "e4m3", rounding="sr8", seed=seed) for seed in (1, 2)]
    z = ww.matmul(drawn[0], drawn[1].T, unit=unit).to_float64().item()
    exact = ww.matmul(ww.array(x, "binary64"), ww.array(x.T, "binary64"), unit="kulisch(binary64)")
    assert found[1][0][-1] == pytest.approx(abs(z - exact.to_float64().item()), rel=1e-12)


def test_an_exact_sum_past_binary64_is_no_infinity():
    for a in ([1e308, 1e308], [[1e308, 1e308], [1.0, 2.0]]):
        found = ww.sweep(["mac(binary64)", "mac(e5m10)"], a, [1.0, 1.0])
        study = ww.study.accumulation(a, None, ["mac(binary64)", "mac(e5m10)"], lengths=[2])
        assert (
            found["max_abs"].tolist() == [x.max() for x in study.absolute.values()] == [np.inf] * 2
        )
        assert found.meta["no_number"] == 1 and found["exact"].max() == np.ndim(a) / 2 - 0.5
    infinite = ww.sweep("mac(binary64)", [[np.inf, 1e308]], [[1.0], [1e308]])
    assert infinite["exact"].tolist() == [1]


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_what_binary64_does_not_hold_is_no_zero_and_no_infinity(size):
    """Products of 10^600 and 10^-600, finite in 15 exponent bits; nothing tells their errors."""
    x = np.full((2, 3), size)
    found = ww.sweep(["mac(e15m52)", "kulisch(e5m10, out=e15m10)"], x, x.T)
    assert found["not_finite"][0] == 0 and found["exact"].tolist() == [0, 0]
    assert found["rel_norm"].tolist() == found["max_abs"].tolist() == [np.inf] * 2
    assert "exact values that are no numbers of binary64: 4" in str(found)
    with pytest.raises(ValueError, match="scale the data by a power of two, or ask ww.study.acc"):
        found.best("rel_norm")
    mixed = ww.sweep("mac(binary64)", [[size, 0.0], [1.0, 0.0]], [[size], [0.0]])
    assert mixed.meta["no_number"] == 1 and mixed["exact"].tolist() == [0.5]
    least = ww.sweep("mac(binary64)", [[5e-324, 0.0]], [[1.0], [size]])  # subnormal, and exact
    assert least.meta["no_number"] == 0 and least["exact"].tolist() == [1]


def test_results_past_binary64_lie_where_they_are_and_are_counted():
    a, up = [1.7e308, 1.7e306], "mac(e15m20, sum=e15m2:raz)"
    found = ww.sweep([up, "mac(e15m20)"], a, [1.0, 1.0])
    exact = sum(map(Fraction, a))
    far = 5 * Fraction(2) ** 1022 - exact  # which rounds its sum away from zero
    assert found["max_abs"].tolist()[0] == pytest.approx(float(far), rel=1e-15)
    assert found["rel_norm"].tolist()[0] == pytest.approx(float(far / exact), rel=1e-15)
    study = ww.study.accumulation(a, None, up, lengths=[2])
    assert found["max_abs"].tolist()[0] == pytest.approx(study.max("absolute")[up][-1], rel=1e-15)
    assert found["not_finite"].tolist() == found["exact"].tolist() == [0, 0]
    assert found.meta["past"] == 1 and found.meta["no_number"] == 0
    assert "results that are numbers past binary64's range: 1" in str(found)
    within = ww.sweep(up, np.array(a) / 16, [1.0, 1.0])
    assert within["rel_norm"].tolist() == pytest.approx(found["rel_norm"].tolist()[:1], rel=1e-12)
    assert within.meta["past"] == 0 and "past" not in str(within)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_distance_past_binary64_is_infinite_and_its_ratio_is_not(sign):
    how = {"exact": np.array([[1e308]]), "metrics": ["max_abs", "max_rel", "not_finite"]}
    found = ww.sweep("mac(e15m30)", [[sign * 1e155]], [[1e155]], **how)
    assert found["max_abs"].tolist() == [np.inf] and found["not_finite"].tolist() == [0]
    assert found["max_rel"].tolist() == pytest.approx([100 - sign], rel=1e-8)
    assert found.meta["past"] == 1
    with pytest.raises(
        ValueError, match="or results are no numbers of binary64: .* a power of two"
    ):
        found.best("max_abs")


def test_a_gpu_measures_no_results_past_binary64(monkeypatch):
    from widthwise._swept import Request

    engines = []
    monkeypatch.setattr(
        Request, "has_nan", property(lambda self: engines.append(self.engine) or True)
    )
    monkeypatch.setattr("widthwise._engines.core.engine_names", lambda: ["auto", "cuda"])
    for unit, asked in (("mac(e11m10)", True), ("mac(e12m10)", False)):
        request = Request([[1.0]], [[1.0]], (), np.ones(1), "rne", "cuda", {}, print)
        request.a = np.ones((1, 1))
        assert request.gpu(ww.Unit(unit)) is None and bool(engines) == asked
        engines.clear()


def test_parts_of_outputs_without_an_exact_number_are_a_studys():
    for x, error, of_operands in ((np.inf, 0, 0), (np.nan, np.inf, 0)):
        found = ww.sweep(["mac(e5m10)"], [x], [1.0])
        row = dict(zip(found.columns, found.rows[0], strict=True))
        assert (row["max_abs"], row["rel_norm"]) == (error, error)
        assert (row["of_operands"], row["of_accumulation"]) == (of_operands, 0)
    with pytest.raises(ValueError, match="takes matrices, or vectors"):
        ww.sweep(["mac(e5m10)"], ww.array(np.ones((2, 2, 2)), "e5m10"), [1.0, 1.0])


def test_units_with_block_scales_take_blocks_of_their_own():
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((6, 96)), rng.standard_normal((96, 4))
    found = ww.sweep(["blackwell.mxfp8", "mac(e4m3fn, sum=binary32)", "blackwell.nvfp4"], a, b)
    for unit, text in ((0, "mxfp8_e4m3"), (2, "nvfp4")):
        x, y = ww.blocks(a, text), ww.blocks(b, text, axis=0)
        z = ww.matmul(x, y, unit=found["unit"][unit]).to_float64()
        assert np.isclose(found["max_abs"][unit], np.abs(z - a @ b).max(), rtol=1e-12)
        own = x.to_float64() @ y.to_float64()
        share = np.linalg.norm(own - a @ b) / np.linalg.norm(a @ b)
        assert np.isclose(found["of_operands"][unit], share, rtol=1e-9)


def test_blocks_that_fit_are_taken_as_they_are():
    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((3, 64)), rng.standard_normal((64, 2))
    x, y = ww.blocks(a, "mxfp4;scale=rceil"), ww.blocks(b, "mxfp4;scale=rceil", axis=0)
    found = ww.sweep(["blackwell.mxfp4", "mac(binary64)"], x, y, metrics=["of_operands", "max_abs"])
    assert found["of_operands"].tolist() == [0, 0]
    exact = x.to_float64() @ y.to_float64()
    z = ww.matmul(x, y, unit="blackwell.mxfp4").to_float64()
    assert np.isclose(found["max_abs"][0], np.abs(z - exact).max(), atol=1e-15)


def test_studies_take_blocks():
    rng = np.random.default_rng(10)
    x, y = (ww.blocks(rng.standard_normal(64), "mxfp8_e4m3") for _ in range(2))
    unit = "blackwell.mxfp8"
    both = [
        ww.study.accumulation(x, y, unit),
        ww.study.accumulation(x.elements, y.elements, unit, scale_a=x.scales, scale_b=y.scales),
    ]
    assert str(both[0]) == str(both[1])
    z = ww.blocks(rng.standard_normal(64), "nvfp4")
    with pytest.raises(ValueError, match="a has a tensor scale.*tensor_scale=1"):
        ww.study.accumulation(z, z, "blackwell.nvfp4")
