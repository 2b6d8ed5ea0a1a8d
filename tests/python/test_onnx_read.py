"""widthwise.onnx reads models of other makers: codes, scales, and how values are quantised."""

from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from onnx_here import NEEDED, in_onnxruntime, model_of, onnx, onnxruntime, quantiser, wo

if onnx is not None:
    from onnx import TensorProto, helper, numpy_helper

pytestmark = NEEDED
CODES = np.random.default_rng(4).integers(-128, 128, (4, 6)).astype(np.int8)
CODES[1, 2] = -128
ROWS = np.float32([0.5, 0.3, 0.011, 7])


def tensors(**parts):
    return [numpy_helper.from_array(np.asarray(x), name) for name, x in parts.items()]


def dequantised(parts, opset=21, **how):
    """A graph of one DequantizeLinear, and what onnxruntime makes of it."""
    inputs = [name for name in ("w", "s", "z") if name in parts]
    nodes = [
        helper.make_node("DequantizeLinear", inputs, ["d"], **how),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    shape = list(np.shape(parts["w"]))
    made = model_of(nodes, shape, tensors(**parts), opset=opset)
    return made, in_onnxruntime(made, np.zeros(shape, np.float32))


@pytest.mark.parametrize("parts, how, format", [
    ({"w": CODES, "s": np.float32(0.3)}, {}, "affine(int8,symmetric_full)"),
    ({"w": np.abs(CODES // 2), "s": np.float32(0.3)}, {}, "affine(int8,symmetric)"),
    ({"w": CODES, "s": np.float32(0.3), "z": np.int8(-5)}, {}, "affine(int8)"),
    ({"w": CODES.view(np.uint8), "s": np.float32(0.3), "z": np.uint8(130)}, {}, "affine(uint8)"),
    ({"w": CODES, "s": ROWS, "z": np.int8([1, 0, -7, 127])}, {"axis": 0},
     "affine(int8,asymmetric,channel)"),
    ({"w": CODES.T.copy(), "s": ROWS}, {}, "affine(int8,symmetric_full,channel)"),
    ({"w": CODES, "s": np.float32(np.ones((4, 2)) * ROWS[:, None])}, {"axis": 1, "block_size": 3},
     "affine(int8,symmetric_full,3)"),
    ({"w": CODES.astype(np.int16) * 100, "s": np.float32(1e-3)}, {}, "affine(int16,symmetric)"),
    ({"w": CODES.astype(np.int32) * 9999, "s": np.float32(1e-6)}, {}, "affine(int32,symmetric)"),
])  # fmt: skip
def test_dequantised_integers_are_affine(parts, how, format):
    made, values = dequantised(parts, **how)
    (x,) = wo.load(made).values()
    assert x.format == format and (x.codes == parts["w"]).all()
    assert (x.dequantise() + np.float32(0) == values).all()


def test_codes_of_four_and_two_bits():
    for name, opset in (("int4", 21), ("uint4", 21), ("int2", 25), ("uint2", 25)):
        kind, ends = getattr(TensorProto, name.upper()), ww.affine([0], f"affine({name})", scale=1)
        codes = np.random.default_rng(1).integers(ends.qmin, ends.qmax + 1, (3, 5))
        packed = helper.make_tensor("w", kind, codes.shape, codes.reshape(-1).tolist())
        node = helper.make_node("DequantizeLinear", ["w", "s"], ["d"])
        nodes = [node, helper.make_node("Add", ["x", "d"], ["y"])]
        given = [packed, *tensors(s=np.float32(0.3))]
        made = model_of(nodes, [3, 5], given, opset=opset)
        x = wo.load(made)["w"]
        assert (x.codes == codes).all() and x.bits == int(name[-1])
        got = in_onnxruntime(made, np.zeros((3, 5), np.float32))
        assert (x.dequantise() + np.float32(0) == got).all()


def test_narrow_floats_are_arrays_blocks_or_codes_with_a_scale():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    codes = np.float32(CODES / 16).astype(ml_dtypes.float8_e4m3fn)
    want = codes.astype(np.float32)
    made, got = dequantised({"w": codes, "s": np.float32(1)})
    x = wo.load(made)["w"]
    assert isinstance(x, ww.Array) and str(x.format) == "e4m3fn" and (x.to_float64() == got).all()
    made, got = dequantised({"w": codes, "s": np.float32(0.3)})
    x = wo.load(made)["w"]
    assert (x.to_float32() == got).all() and (x.codes.to_float64() == want).all()
    made, got = dequantised({"w": codes, "s": ROWS}, axis=0)
    assert (wo.load(made)["w"].to_float32() == got).all()
    blocks = {"w": codes, "s": np.float32(np.ones((4, 2)) * ROWS[:, None])}
    made, got = dequantised(blocks, axis=1, block_size=3)
    x = wo.load(made)["w"]
    assert isinstance(x, ww.Blocks) and str(x.format) == "block(e4m3fn,3,binary32)"
    assert (x.to_float32() == got).all()


def test_other_tensors_are_what_they_are():
    parts = tensors(a=np.float32([1.5, -0.0]), b=np.float16([0.1]), c=np.int64([3]),
                    d=np.array([True, False]))  # fmt: skip
    made = model_of([helper.make_node("Identity", ["x"], ["y"])], ["n"], parts)
    found = wo.load(made)
    assert str(found["a"].format) == "e8m23" and found["a"].bits.tolist() == [0x3FC00000, 1 << 31]
    assert str(found["b"].format) == "e5m10" and found["c"].tolist() == [3]
    assert found["d"].dtype == bool


def test_layers_that_compute_with_codes():
    """QLinearMatMul and QLinearConv: the second operand's codes, scale and zero point."""
    parts = tensors(xs=np.float32(0.1), xz=np.uint8(3), w=CODES, ws=np.float32(0.3), wz=np.int8(0),
                    ys=np.float32(0.7), yz=np.uint8(9))  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        helper.make_node("QLinearMatMul", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "ys", "yz"], ["y"]),
    ]
    made = model_of(nodes, ["n", 4], parts, ["n", 6])
    found = wo.load(made)
    assert list(found) == ["w"] and (found["w"].codes == CODES).all()
    rows = wo.quantisers(made).records()
    assert [(r["tensor"], r["format"], r["zero_point"]) for r in rows] == [
        ("x", "affine(uint8)", 3), ("p", "affine(uint8)", 9),
    ]  # fmt: skip
    x = np.float32([[1, 2, 3, 4.04]])
    q = ww.affine(x, scale=rows[0]["scale"], zero_point=3, arithmetic="onnx")
    w, out = found["w"], rows[1]
    operands = (q.codes, q.scale, q.zero_point, w.codes, w.scale, w.zero_point)
    y = ww.qlinear_matmul(*operands, np.float32(out["scale"]), np.uint8(out["zero_point"]))
    values = ww.Affine(y, out["scale"], out["zero_point"]).dequantise()
    assert (values == in_onnxruntime(made, x)).all()


def test_quantisers_tell_of_our_nodes_and_of_the_standards():
    for how, row in [
        ("e5m6", ("x", "e5m6", "rne", None, None)),
        ({"format": "posit8", "rounding": "rtz"}, ("x", "posit8es2", "rtz", None, None)),
        ("fixed8.4", ("x", "fixed8.4", "rne", None, None)),
        ({"format": "affine(uint8)", "scale": 0.5, "zero_point": 3},
         ("x", "affine(uint8)", "rne", 0.5, 3)),
        ("mxfp8_e4m3", ("x", "block(e4m3fn,32,e8m0fnu)", "rne", None, None)),
        ({"format": "e4m3", "scale": 0.5}, ("x", "e4m3;overflow=satfinite", "rne", 0.5, None)),
        ({"format": "e4m3fn", "scale": 0.5}, ("x", "e4m3fn;overflow=satfinite", "rne", 0.5, None)),
    ]:  # fmt: skip
        records = wo.quantisers(quantiser(how, shape=("n", 64))).records()
        assert len(records) == 1
        keys = ("tensor", "format", "rounding", "scale", "zero_point")
        assert tuple(records[0][key] for key in keys) == row


def test_ww_load_takes_a_file_and_bad_files_are_named(tmp_path):
    made, _ = dequantised({"w": CODES, "s": np.float32(0.3)})
    onnx.save(made, tmp_path / "a.onnx")
    assert (ww.load(tmp_path / "a.onnx")["w"].codes == CODES).all()
    (tmp_path / "b.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="b.onnx': no ONNX model"):
        ww.load(tmp_path / "b.onnx")
    with pytest.raises(FileNotFoundError):
        ww.load(tmp_path / "c.onnx")
    with pytest.raises(TypeError, match="an onnx.ModelProto or a path is wanted"):
        wo.load(3)
    zero, _ = dequantised({"w": CODES, "s": np.float32(0)})
    with pytest.raises(ValueError, match=r"w: scale = 0.0: a scale is finite and above"):
        wo.load(zero)


def test_one_weight_in_two_formats_is_read_twice():
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="one"),
        helper.make_node("MatMul", ["a", "w"], ["y"], name="two"),
    ]
    plain = model_of(nodes, ["n", 4], tensors(w=np.eye(4, dtype=np.float32)))
    made = wo.quantize_model(plain, {"one": {"weight": "e2m1fn"}, "two": {"weight": "e5m2"}})
    found = {name: str(x.format) for name, x in wo.load(made).items()}
    assert sorted(found.values()) == ["e2m1fn", "e5m2"] and len(found) == 2


def test_models_are_quantised_and_inlined_from_their_files(tmp_path):
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")
    plain = model_of([node], ["n", 4], tensors(w=np.eye(4, dtype=np.float32)))
    onnx.save(plain, tmp_path / "a.onnx")
    made = wo.quantize_model(tmp_path / "a.onnx", {"fc": {"input": "e5m6"}})
    assert made == wo.quantize_model(plain, {"fc": {"input": "e5m6"}})
    onnx.save(made, tmp_path / "b.onnx")
    assert wo.inlined(str(tmp_path / "b.onnx")) == wo.inlined(made)
    for call in (wo.inlined, lambda x: wo.quantize_model(x, {"fc": "e5m6"})):
        with pytest.raises(TypeError, match="model = 3: an onnx.ModelProto or a path is wanted"):
            call(3)


SILERO = "silero_vad_openvino_16k.onnx"


def test_silero_vad_is_read_quantised_and_run():
    """A detector of speech, 309,632 weights in nodes of Constant: what people have."""
    folder = Path(__file__).resolve().parents[2] / ".venv/checkpoints/silero-vad"
    file = next(folder.rglob(SILERO), None)
    if file is None:
        pytest.skip("PyPI's silero-vad is not there; ./dev test fetches it")
    read, plain = ww.load(file), onnx.load(file)
    constants = [a.t for n in plain.graph.node if n.op_type == "Constant" for a in n.attribute]
    floats = [numpy_helper.to_array(t) for t in constants if t.data_type == TensorProto.FLOAT]
    kept = [x for x in read.values() if isinstance(x, ww.Array)]
    assert sum(x.size for x in kept) == sum(x.size for x in floats) > 300_000
    assert all((x.bits == y.view(np.uint32)).all() for x, y in zip(kept, floats, strict=True))
    speech = np.sin(np.arange(576) * 0.3).astype(np.float32)[None] * np.float32(0.2)
    given = {"input": speech, "state": np.zeros((2, 1, 128), np.float32)}
    for text in ("affine(int8,symmetric,channel)", "e5m6", "mxfp8_e4m3"):
        made = wo.quantize_model(plain, {"Conv": {"weight": text}}, opset=21)
        again = wo.load(made)
        weights = [name for name in again if name.endswith("weight")]
        assert len(weights) == 5
        for name in weights:
            want, got = quantised(read[name], text), again[name]
            assert str(got.format) == str(want.format)
            assert (np.asarray(got.to_float64()) == np.asarray(want.to_float64())).all(), name
        before, after = (run(model, given) for model in (plain, made))
        assert 0 < abs(before - after) < 0.02


def quantised(x, text):
    if text.startswith("affine"):
        return ww.affine(x, text)
    return ww.blocks(x, text) if text.startswith("mx") else x.astype(text)


def run(model, given):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    given = {x.name: given[x.name] for x in session.get_inputs()}
    return float(session.run(None, given)[0].reshape(()))
