"""Traces: every stage, by name, and the same result."""

import sys

import numpy as np
import pytest
import widthwise as ww


def test_a_trace_ends_in_the_result_and_shows_every_product():
    rng = np.random.default_rng(0)
    for unit in ("mac(e5m10)", "hopper.e4m3.f32", "fma(e9m6)"):
        u = ww.Unit(unit)
        a, b = ww.array(rng.standard_normal(5), u.a), ww.array(rng.standard_normal(5), u.b)
        trace = ww.trace(u, a, b)
        assert trace.result.bits == ww.dot(a, b, unit=u).bits
        last = trace[-1]
        assert (last.stage, last.significand) == ("pack", int(trace.result.bits))
        products = [w for w in trace if w.stage == "product" and w.kind == "finite"]
        lanes = {w.lane for w in products}
        assert set(range(5)) <= lanes
        exact = a.to_float64() * b.to_float64()
        for w in products:
            if w.lane < 5:
                assert (-1) ** w.negative * w.significand * 2.0**w.exponent == exact[w.lane]


def test_the_stages_bear_the_designs_names():
    x = ww.array([1.5, 2.5], "e4m3fn")
    stages = {w.stage for w in ww.trace("mac(e4m3fn)", x, x)}
    assert {
        "unpack",
        "product",
        "align",
        "group_sum",
        "join",
        "normalise",
        "round",
        "pack",
    } <= stages


def test_a_trace_is_a_table_in_text_html_and_frames():
    x = ww.array([1.0, 2.0], "e4m3fn")
    trace = ww.trace("mac(e4m3fn)", x, x, ww.array(1.0, "e4m3fn"))
    text = repr(trace)
    assert text.startswith("mac(e4m3fn), k = 2\nstage") and text.endswith("result: 6 in e4m3fn")
    assert "<table>" in trace._repr_html_()
    frame = trace.to_dataframe()
    assert len(frame) == len(trace) and list(frame.columns)[:3] == ["stage", "slot", "lane"]


@pytest.mark.parametrize("unit", ["mac(e5m10)", "fma(e4m3fn)", "dot(e4m3, lanes=8, align=6:rtz)"])
def test_losses_are_data_and_with_the_result_make_the_exact_sum(unit):
    u = ww.Unit(unit)
    rng = np.random.default_rng(1)
    a, b = (ww.array(x, u.a) for x in rng.uniform(0.5, 2, (2, 16)))
    trace = ww.trace(u, a, b)
    exact = sum(x * y for x, y in zip(a.to_fractions(), b.to_fractions(), strict=True))
    (result,) = trace.result.reshape(1).to_fractions()
    assert len(trace.lost) == len(trace)
    assert result + sum(trace.lost) == exact and any(trace.lost)
    lossy = trace.select(lost=True)
    assert sum(lossy["lost"]) == exact - result
    assert set(lossy["stage"]) <= {"align", "round", "group_sum"}
    quiet = trace.select(lost=False)
    assert len(lossy) + len(quiet) == len(trace)
    assert len(trace.select("unpack", slot="b")) == 16
    assert len(trace.select("product", lane=3)) == 1
    frame = trace.to_dataframe()
    assert frame["lost"].tolist() == [float(x) for x in trace.lost]
    column = [row["lost"] for row in trace.table().records()]
    assert [text != "" for text in column] == [x != 0 for x in trace.lost]
    with pytest.raises(ValueError, match=r"stage = 'sum': the trace has unpack, "):
        trace.select("sum")
    with pytest.raises(ValueError, match=r"lane = 99: the trace has 0, 1, "):
        trace.select(lane=99)


def test_a_loss_without_a_figure_is_none():
    x = ww.array([240.0, 240.0], "e4m3")
    trace = ww.trace("mac(e4m3)", x, x)
    assert None in trace.lost and trace.to_dataframe()["lost"].isna().any()
    assert "?" in str(trace.table())


def test_a_trace_is_of_one_dot_product():
    x = ww.zeros((2, 3), "e5m10")
    with pytest.raises(
        ValueError, match=r"a and b make 2 dot products, of shape \(2,\); one is traced"
    ):
        ww.trace("mac(e5m10)", x, x)


def test_a_traced_output_draws_the_random_bits_of_its_place():
    unit = "mac(e5m10, sum=e5m10:sr8)"
    rng = np.random.default_rng(1)
    a, b = (ww.array(rng.standard_normal((20, 30)), "e5m10") for _ in range(2))
    whole = ww.dot(a, b, unit=unit, seed=5)
    results = [ww.trace(unit, a[i], b[i], seed=5, index=i).result.bits for i in range(20)]
    assert results == whole.bits.tolist()


def test_one_operation_shows_its_stages():
    a, b, c = (ww.array(v, "e5m10") for v in (3, 683, "1p-14"))
    trace = ww.trace_operation("fma", a, b, c)
    assert [w.stage for w in trace] == ["unpack"] * 3 + [
        "exact",
        "normalise",
        "denormalise",
        "round",
        "pack",
    ]
    exact = trace[3]
    assert exact.significand * 2.0**exact.exponent == 2049 + 2**-14
    assert trace.result.to_float64() == 2050
    with pytest.raises(TypeError, match="fma takes 3 operands, 2 were given"):
        ww.trace_operation("fma", a, b)
    with pytest.raises(ValueError, match=r"x has shape \(2,\); one number is traced, as x\[0\]"):
        ww.trace_operation("negate", ww.zeros(2, "e5m10"))


@pytest.mark.parametrize(
    "op", ["add", "divide", "sqrt", "remainder", "minimum", "negate", "next_up", "logb"]
)
@pytest.mark.parametrize("format", ["e4m3fn", "binary64", "e20m64", "e15m1000"])
def test_every_operation_traces_to_its_result(op, format):
    operands = [ww.array(v, format) for v in ("1.75", "-0.4375")]
    operands = operands if op in ("add", "divide", "remainder", "minimum") else operands[:1]
    trace = ww.trace_operation(op, *operands)
    function = getattr(ww, op)
    assert (trace.result.bits == function(*operands).bits).all()
    assert trace[-1].stage == "pack"
    limbs = np.atleast_1d(trace.result.bits)
    code = sum(int(limb) << 64 * i for i, limb in enumerate(limbs))
    assert trace[-1].significand == code


def test_pandas_is_not_imported_by_widthwise():
    import subprocess

    heavy = ("pandas", "matplotlib", "sklearn", "scipy")
    code = f"import widthwise, sys; print([m for m in sys.modules if m in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "op, operands, exact",
    [
        ("sqrt", [-1], "nan"),
        ("sqrt", ["inf"], "inf"),
        ("sqrt", ["-0.0"], "-0"),
        ("divide", [1, 0], "inf"),
        ("divide", [-1, 0], "-inf"),
        ("divide", [0, 0], "nan"),
        ("divide", [1, "inf"], "0"),
        ("add", ["inf", 1], "inf"),
        ("add", ["inf", "-inf"], "nan"),
        ("subtract", ["-inf", 1], "-inf"),
        ("add", ["-0.0", "-0.0"], "-0"),
        ("multiply", ["inf", 0], "nan"),
        ("multiply", ["-inf", 2], "-inf"),
        ("multiply", ["-0.0", 2], "-0"),
        ("fma", ["inf", 1, 1], "inf"),
        ("fma", ["inf", 0, 1], "nan"),
        ("fma", [1, 1, "-inf"], "-inf"),
        ("fma", [1, 1, "nan"], "nan"),
        ("remainder", [1, 0], "nan"),
        ("remainder", [1, "inf"], "1"),
        ("convert", ["nan"], "nan"),
        ("convert", ["-inf"], "-inf"),
        ("round_to_integral", ["inf"], "inf"),
        ("minimum", ["nan", 1], "nan"),
        ("maximum_number", ["nan", 1], "1"),
        ("minimum", ["-inf", 1], "-inf"),
        ("logb", [0], "-inf"),
        ("logb", ["-inf"], "inf"),
    ],
)
@pytest.mark.parametrize("format", ["e5m10", "e9m14", "binary64", "e15m112"])
def test_the_exact_stage_shows_infinities_and_nan(op, operands, exact, format):
    x = [ww.array(str(v), format) for v in operands]
    trace = ww.trace_operation(op, *x, format=format)
    (wire,) = [wire for wire in trace if wire.stage == "exact"]
    kinds = {"nan": "nan", "inf": "infinite", "0": "zero"}
    assert (wire.value, wire.kind) == (exact, kinds.get(exact.strip("-"), "finite"))
    assert trace[-1].stage == "pack"
    assert (trace.result.bits == getattr(ww, op)(*x, format=format).bits).all()
