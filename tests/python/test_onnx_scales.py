"""widthwise.onnx: values under scales, found as a graph runs or given, one or one a channel."""

import numpy as np
import pytest
import widthwise as ww
from onnx_here import (
    NEEDED,
    check_bits,
    in_onnxruntime,
    model_of,
    onnx,
    quantiser,
    wanted,
    wo,
)  # fmt: skip

if onnx is not None:
    from onnx import helper, numpy_helper

pytestmark = NEEDED


def rows(columns=70):
    """Rows of many magnitudes, one of zeros, one of subnormal numbers, ties under scales."""
    rng = np.random.default_rng(1)
    x = np.float32(rng.normal(size=(6, columns)) * 2.0 ** rng.integers(-6, 6, (6, columns)))
    x[2], x[0, 3] = 0, -0.0
    x[3, :32] *= np.float32(1e-40)
    x[4] *= np.float32(1e20)
    x[5] = rng.integers(-254, 255, columns) / 2
    x[5, 0] = 127
    return x


BLOCKS = [
    "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp4", "mxint8", "bfp(8,32,e8)", "bfp(4,0,e5)",
    "block(e2m1fn,16,e5m0fnu)", "block(e4m3fn,1x128,binary32)", "block(int8,16,binary32)",
    "block(table(nf4),64,binary32)", "block(posit8,32,e8m0fnu)", "nvfp4",
    "block(e4m3fn,16,ue4m3fn)", "block(int4,0,ue4m3fn)", "block(e2m3fn,7,ue4m3fn)",
]  # fmt: skip


@pytest.mark.parametrize("text", BLOCKS)
def test_blocks_of_values_find_their_scales_as_the_graph_runs(text):
    x = rows()
    model = quantiser(text, shape=("rows", 70))
    check_bits(model, x, ww.blocks(x, text).to_float32())


def near(x):
    """Numbers of binary32 and their neighbours."""
    x = np.float32(x)
    return np.stack([np.nextafter(x, np.float32(end)) for end in (-np.inf, np.inf)] + [x])


@pytest.mark.parametrize("by", [1.0, 0.7])
def test_scales_and_elements_of_nvfp4_at_their_ties(by):
    """A block a tie of E4M3's, and in it the ties of its elements, all under one tensor scale."""
    ties = np.ldexp(np.arange(17, 32, 2) / 16, np.arange(-8, 9)[:, None]).reshape(-1)
    largest = near(6 * ties[ties < 448]).reshape(-1, 1)
    rounded = ww.array(largest.astype(np.float64) / 6, "e4m3fn").to_float64()
    elements = near(rounded * [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]).reshape(3, -1, 7)
    parts = [largest, *(np.minimum(elements[i][:, :5], largest) for i in range(3))]
    x = np.concatenate([*parts[:2], -parts[2], parts[3]], 1)
    assert x.shape[1] == 16
    x = np.concatenate([np.full((1, 16), 2688, np.float32), x]) * np.float32(by)
    want = ww.blocks(x, "nvfp4")
    assert by != 1 or float(want.tensor_scale) == 1
    check_bits(quantiser("nvfp4", shape=("rows", 16)), x, want.to_float32())


@pytest.mark.parametrize("x", [
    np.float32(2.0**-149) * np.arange(32), np.float32(2.0**-140) * np.arange(32),
    np.float32(3.4e38) * np.linspace(-1, 1, 32), np.ldexp(np.ones(32), -np.arange(32) * 8 + 100),
    np.zeros(32),
])  # fmt: skip
def test_nvfp4_at_the_ends_of_binary32(x):
    x = x.astype(np.float32)[None]
    check_bits(quantiser("nvfp4", shape=(1, 32)), x, ww.blocks(x, "nvfp4").to_float32())


def test_blocks_with_nan_or_infinity_are_nan():
    x = rows()
    x[1, 3], x[5, 60] = np.nan, np.inf
    want = ww.blocks(x, "mxfp8_e4m3").to_float32()
    assert np.isnan(want).sum() == 2 * 32  # columns 0 to 31 of a row, and 32 to 63 of another
    check_bits(quantiser("mxfp8_e4m3", shape=("rows", 70)), x, want)
    known = ww.blocks(np.where(np.isfinite(x), x, 0), "nvfp4").to_float32()
    known[1, :16] = known[5, 48:64] = np.nan  # of which ww.blocks makes an error
    check_bits(quantiser("nvfp4", shape=("rows", 70)), x, known)


@pytest.mark.parametrize("text", ["affine(int8,symmetric)", "affine(int4,symmetric,32)",
    "affine(int11,symmetric)", "affine(int8,symmetric,all)"])  # fmt: skip
def test_symmetric_codes_find_their_scales_as_the_graph_runs(text):
    for x in (rows(), rows()[5:], np.zeros((1, 70), np.float32)):
        check_bits(quantiser(text, shape=("rows", 70)), x, ww.affine(x, text).dequantise())


@pytest.mark.parametrize("text, scale, zero", [
    ("affine(uint8)", 0.02, 7), ("affine(int8)", 1 / 255, -3), ("affine(uint4)", 0.5, 8),
    ("affine(int16)", 1e-3, 100), ("affine(int5,symmetric)", 0.25, None),
    ("affine(int8,asymmetric,channel)", np.linspace(0.01, 0.5, 70), np.arange(70) - 30),
])  # fmt: skip
def test_given_scales_round_the_exact_quotient(text, scale, zero):
    how = {"scale": scale, "zero_point": zero}
    halves = np.arange(-280, 280).reshape(8, 70) * np.float32(0.5)
    x = (halves * np.float32(scale)).astype(np.float32)
    x = np.concatenate([x, np.nextafter(x, np.float32(9e9)), rows(), [[np.inf, -np.inf] * 35]])
    axis = {"axis": 1} if "channel" in text else {}
    want = ww.affine(x, text, **how, **axis).dequantise()
    model = quantiser({"format": text, **how, **axis}, shape=("rows", 70))
    assert "QuantizeLinear" in [node.op_type for node in model.graph.node]
    check_bits(model, x.astype(np.float32), want)


def test_a_bare_format_under_a_scale():
    x = rows()
    scale = np.float32(0.3)
    want = wanted(x / scale, ww.Format("e4m3fn;overflow=satfinite")) * scale
    check_bits(quantiser({"format": "e4m3fn", "scale": 0.3}, shape=("rows", 70)), x, want)


CHANNELS = [
    ("e4m3fn", None), ("e5m6", None), ("fixed8.4", None),
    ("affine(int8,asymmetric,channel)", [3, -7]), ("affine(uint8,asymmetric,channel)", None),
]  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1, -2, -1])
@pytest.mark.parametrize("text, zero", CHANNELS)
def test_scales_of_channels_lie_along_their_axis(text, zero, axis):
    """Of square values, of which any axis would do."""
    x, scale = rows()[:2, :2] * 7, np.float32([0.3, 0.011])
    how = {"format": text, "scale": scale, "axis": axis, "zero_point": zero}
    model = quantiser(how, shape=(2, 2))
    if text.startswith("affine"):
        want = ww.affine(x, text, scale=scale, zero_point=zero, axis=axis).dequantise()
    else:
        spread = scale[:, None] if axis % 2 == 0 else scale
        f = ww.Format(text if "fixed" in text else f"{text};overflow=satfinite")
        want = (wanted(x / spread, f).reshape(2, 2) * spread).astype(np.float32)
    check_bits(model, x, want)
    (row,) = wo.quantisers(model).records()
    assert row["axis"] == axis % 2 and np.float32(row["scale"]).tolist() == scale.tolist()


def test_channels_of_layers_are_found_where_no_axis_is_told():
    square, scale = np.float32(np.arange(-8, 8).reshape(4, 4) * 0.37), np.linspace(0.1, 0.9, 4)
    how = {"format": "affine(int8,symmetric,channel)", "scale": scale}
    eye = np.eye(4, dtype=np.float32)
    for operator, turned, axis in (("MatMul", {}, 1), ("Gemm", {}, 1), ("Gemm", {"transB": 1}, 0)):
        node = helper.make_node(operator, ["x", "w"], ["y"], name="fc", **turned)
        plain = model_of([node], ["n", 4], [numpy_helper.from_array(square, "w")])
        made = wo.quantize_model(plain, {"fc": {"weight": how}})
        want = ww.affine(square, how["format"], scale=scale, axis=axis)
        assert (wo.load(made)["w"].codes == want.codes).all()
        want = want.dequantise().T if turned else want.dequantise()
        check_bits(made, eye, want + np.float32(0))
        made = wo.quantize_model(plain, {"fc": {"input": how, "output": how}})
        inside = ww.affine(square, how["format"], scale=scale, axis=1).dequantise()
        z = np.float32(inside.astype(np.float64) @ (square.T if turned else square))
        want = ww.affine(z, how["format"], scale=scale, axis=1).dequantise()
        got = in_onnxruntime(made, square)
        assert np.abs(got - want).max() <= scale.max() and (got != z).any()
        assert [row["axis"] for row in wo.quantisers(made).records()] == [1, 1]


@pytest.mark.parametrize("how", [
    {"format": "affine(int8,symmetric,channel)", "scale": np.linspace(0.1, 0.9, 4)},
    {"format": "e4m3fn", "scale": np.linspace(0.1, 0.9, 4)},
])  # fmt: skip
@pytest.mark.parametrize("rows", [1, 4])
def test_channels_of_a_gemms_bias_are_its_outputs(how, rows):
    """Its columns, of a bias of one row and of one a row of the result."""
    square = np.float32(np.arange(-8, 8).reshape(4, 4) * 0.37)
    tensors = [numpy_helper.from_array(x, name) for x, name in (
        (np.zeros((4, 4), np.float32), "w"), (square[:rows], "c"))]  # fmt: skip
    node = helper.make_node("Gemm", ["x", "w", "c"], ["y"], transB=1)
    made = wo.quantize_model(model_of([node], [4, 4], tensors), {"Gemm": {"bias": how}})
    told = wo.quantize_model(
        model_of([node], [4, 4], tensors), {"Gemm": {"bias": {**how, "axis": 1}}}
    )
    assert made == told
    steps = np.float32(how["scale"])
    want = np.float32((square[:rows] / steps).astype(np.float32))
    if "affine" in how["format"]:
        want = ww.affine(square[:rows], how["format"], scale=steps, axis=1).dequantise()
    else:
        want = wanted(want, ww.Format("e4m3fn")).reshape(want.shape) * steps
    check_bits(made, square, np.broadcast_to(want, (4, 4)) + np.float32(0))


@pytest.mark.parametrize("how", [
    {"format": "affine(int8,asymmetric,channel)", "scale": [0.1, 0.2, 0.3, 0.4]},
    {"format": "fixed8.4", "scale": [0.1, 0.2, 0.3, 0.4]},
    {"format": "mxint8"}, {"format": "affine(int4,symmetric,2)"},
])  # fmt: skip
def test_values_that_a_gemm_turns_have_channels_and_blocks_where_it_sums(how):
    x = np.float32(np.random.default_rng(3).normal(size=(4, 4)))
    eye = [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")]
    made, told = (
        wo.quantize_model(
            model_of([helper.make_node("Gemm", ["x", "w"], ["y"], transA=turned)], [4, 4], eye),
            {"Gemm": {"input": {**how, **axis}}},
        )
        for turned, axis in ((1, {}), (0, {"axis": 0}))
    )
    assert (in_onnxruntime(told, x) == in_onnxruntime(made, x).T).all()


def test_scales_that_differ_in_one_of_many_numbers_are_two():
    scales = np.full((2, 3000), 0.5)
    scales[1, 1500] = 0.25
    nodes = [helper.make_node("Identity", ["x"], [name], name=name) for name in ("a", "b")]
    nodes += [helper.make_node("Sub", ["a", "b"], ["y"])]
    nodes[0].op_type, nodes[1].op_type = "Abs", "Neg"
    rules = {
        operator: {"input": {"format": "fixed8.4", "scale": scale, "axis": 1}}
        for operator, scale in zip(("Abs", "Neg"), scales, strict=True)
    }
    made = wo.quantize_model(model_of(nodes, [1, 3000]), rules)
    x = np.full((1, 3000), np.float32(21 / 64))
    each = [wanted((x / s).astype(np.float32), ww.Format("fixed8.4")).reshape(1, -1) * s
            for s in np.float32(scales)]  # fmt: skip
    want = abs(each[0]) + each[1]
    assert len(set(want[0].tolist())) == 2
    check_bits(made, x, want)


@pytest.mark.parametrize("how, kind, message", [
    ({"format": "e4m3fn", "scale": 0}, ValueError, "input: scale = 0.0: .* above zero; leave"),
    ({"format": "e4m3fn", "scale": -1}, ValueError, "scale = -1.0: a scale is finite and above"),
    ({"format": "e4m3fn", "scale": [1, np.nan]}, ValueError, r"scale\[1\] = nan"),
    ({"format": "e4m3fn", "scale": 1e-60}, ValueError, "scale = 1e-60, which is 0.0 in float32"),
    ({"format": "e4m3fn", "scale": [[1, 2], [3, 4]]}, ValueError, "shape .2, 2.; one number"),
    ({"format": "e4m3fn", "scale": 1, "zero_point": 3}, ValueError, "zero_point = 3, and e4m3fn"),
    ({"format": "e4m3fn", "zero_point": 3}, ValueError, "zero_point without scale .* pass scale="),
    ({"format": "mxfp4", "scale": 1}, ValueError, "scale is given, and .* finds its scales itself"),
    ({"format": "affine(int8)", "scale": [1, 2]}, ValueError, r"for all channels; write 'affine\("),
    ({"format": "affine(int8)", "scale": 0}, ValueError, "scale = 0.0: a scale is finite"),
    ({"format": "affine(int8)", "scale": 1, "zero_point": 128}, ValueError, "are -128 to 127"),
    ({"format": "affine(int8)", "scale": 1, "zero_point": 0.5}, TypeError, "holds float64; zero"),
    ({"format": "affine(int8,symmetric)", "scale": 1, "zero_point": 1}, ValueError, "is 0; scheme"),
    ({"format": "affine(int8,asymmetric,channel)", "scale": [1, 2, 3], "axis": 1}, ValueError,
     "'x': scale has 3 numbers, and axis 1 has 70 channels"),
    ({"format": "e4m3fn", "scale": [1, 2, 3], "axis": 2}, ValueError, "axis = 2, and it has 2 a"),
    ({"format": "mxfp8_e4m3", "axis": 5}, ValueError, "'x': axis = 5, and it has 2 axes"),
    ({"format": "e4m3fn", "scale": 1, "axis": "1"}, TypeError, "axis = '1': an integer is wanted"),
    ({"format": "e4m3fx"}, ValueError, "input: format 'e4m3fx', column"),
    ({"format": "e4m3fn", "scale": 1, "axis": 2}, ValueError, "'x': axis = 2, and it has 2 axes"),
    ({"format": "affine(int8)", "scale": 1, "axis": 0}, ValueError,
     r"axis = 0, and affine\(int8\) has one scale; .* 'affine\(int8,asymmetric,channel\)'"),
    ({"format": "affine(int8,symmetric)", "axis": 1}, ValueError, "axis = 1, and .* has one scale"),
    ({"format": "e4m3fn", "axis": 0}, ValueError, "axis = 0, and e4m3fn has no scales; leave axis"),
])  # fmt: skip
def test_what_is_wrong_with_given_numbers_is_told(how, kind, message):
    with pytest.raises(kind, match=message):
        quantiser(how, shape=("rows", 70))


# --- Elements that binary32 does not hold, weights ------------------------------------------------


def weighed(x, how, opset=21):
    """A model that adds nothing to a weight."""
    nodes = [helper.make_node("Add", ["w", "x"], ["y"])]
    plain = model_of(nodes, [1, 1], [numpy_helper.from_array(x, "w")], x.shape, opset)
    return wo.quantize_model(plain, {"Add": {"input": how}})


def extremes():
    """Rows of one magnitude each, from the least to the largest of binary32."""
    powers = np.ldexp(np.float32(1), np.arange(-148, 128, 12))[:, None]
    x = np.random.default_rng(4).uniform(-1, 1, (len(powers), 32)).astype(np.float32) * powers
    ends = np.float32([[3.4028235e38], [-(2.0**-149)], [0.0]]) * np.ones(32, np.float32)
    return np.concatenate([x, ends])


PAST = [
    "block(takum8,16,e8m0fnu)", "block(e9m3,16,e8m0fnu)", "block(posit16es4,16,e5m0fnu)",
    "block(fixed4.-126,16,binary32)", "block(table(-1e60,0,1e60),16,e8m0fnu)",
    "block(fixed8.140,16,e8m0fnu)", "block(e4m3;bias=-110,16,ue4m3fn)",
    "block(table(-0.1,0,0.1),16,e8m0fnu)", "block(posit24,16,e8m0fnu)",
]  # fmt: skip


@pytest.mark.parametrize("text", PAST)
def test_elements_past_binary32_are_refused_of_values_and_right_of_weights(text):
    """Quotients and scales were infinite there, and results NaN."""
    with pytest.raises(ValueError, match="of 'x': .*take"):
        quantiser(text, shape=("rows", 32))
    x = extremes()
    model = weighed(x, text)
    want = ww.blocks(x, text).to_float32() + np.float32(0)
    check_bits(model, np.zeros((1, 1), np.float32), want, "onnxruntime")
    assert (np.float32(wo.load(model)["w"].to_float64()) == want).all()


@pytest.mark.parametrize("text", [
    "block(fixed8.4,16,binary32)", "block(fixed8.120,16,e8m0fnu)", "block(table(nf4),16,ue4m3fn)",
    "block(fixed8.60,16,ue4m3fn)", "block(e4m3fn,16,binary32)", "mxint8",
])  # fmt: skip
def test_weights_in_blocks_are_rounded_once_at_the_ends_of_binary32(text):
    x = extremes()
    x = x if "fixed8.60" not in text else x[abs(x).max(1) < 1]
    model = weighed(x, text)
    want = ww.blocks(x, text).to_float32() + np.float32(0)
    check_bits(model, np.zeros((1, 1), np.float32), want, "onnxruntime")


UNDER = [("e4m3fn", 21), ("e5m2", 21), ("int8", 21), ("fixed8.4", 21), ("int4", 21)]


@pytest.mark.parametrize("text, opset", [*UNDER, ("e5m6", 21), ("posit8", 21), ("int4", 20)])
@pytest.mark.parametrize("scale, axis", [(0.3, None), ([0.3, 0.011, 2.0, 1e-3, 5, 70], 0)])
def test_a_weight_under_a_given_scale_is_kept_as_codes(text, opset, scale, axis):
    x = rows()
    model = weighed(x, {"format": text, "scale": scale, "axis": axis}, opset)
    operators = [node.op_type for node in model.graph.node]
    assert (operators == ["DequantizeLinear", "Add"]) == ((text, opset) in UNDER)
    f = ww.Format(text)
    through = ww.Format(f"{text};overflow=satfinite") if f.is_float else f
    steps = np.reshape(np.float32(scale), (-1, 1) if axis == 0 else ())
    want = wanted(np.float32(x / steps), through).reshape(x.shape) * steps
    check_bits(model, np.zeros((1, 1), np.float32), want + np.float32(0), "onnxruntime", "inlined")
    if (text, opset) in UNDER:
        kept = wo.load(model)["w"]
        assert str(kept.format) == str(f) and (kept.scale == steps).all()
        assert (kept.to_float64() == kept.codes.to_float64() * steps.astype(np.float64)).all()
        assert (kept.to_float32() == want).all()


@pytest.mark.parametrize("text", ["e4m3fn", "e5m6"])
def test_a_weight_in_half_precision_under_a_given_scale(text):
    x = np.float16(np.random.default_rng(5).normal(size=(3, 4)))
    nodes = [helper.make_node("Identity", ["w"], ["y"])]
    plain = model_of(nodes, [1], [numpy_helper.from_array(x, "w")], x.shape)
    plain.graph.output[0].type.tensor_type.elem_type = 10  # FLOAT16
    made = wo.quantize_model(plain, {"Identity": {"input": {"format": text, "scale": 0.25}}})
    want = wanted(np.float32(x) * 4, ww.Format(text)).reshape(x.shape) / 4
    assert (in_onnxruntime(made, np.zeros(1, np.float32)) == want.astype(np.float16)).all()
