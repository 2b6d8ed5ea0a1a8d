"""Affine integers beside engines that quantise with them, bit for bit.

torch and onnxruntime compute in binary32; `arithmetic=` names their order of operations. Where an
engine differs from `exact`, a test here holds that it does.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
import widthwise as ww

CASES = 18_000
SPECIALS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 3.4028235e38, -3.4028235e38, 1e-45]


def package(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install {name}")


def drawn(scale: float, zero: int, seed: int, n: int = CASES // 6) -> np.ndarray:
    """A third of them ties and their neighbours, and specials."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(n) * 60 * scale).astype(np.float32)
    halves = rng.integers(-2 * zero - 20, 540, n // 3)
    ties = (halves * 0.5).astype(np.float32) * np.float32(scale)
    up, down = (np.nextafter(ties, np.float32(end)) for end in (np.inf, -np.inf))
    return np.concatenate([x, ties, up, down, np.float32(SPECIALS)])


SETTINGS = [(0.02, 128), (1 / 255, 0), (0.5, 7), (0.00214854861, 255), (1.7e-3, 100), (3.0, 1)]


def codes(x: np.ndarray, scale: Any, zero: Any, arithmetic: str, **how: Any) -> np.ndarray:
    return ww.affine(x, scale=scale, zero_point=zero, arithmetic=arithmetic, **how).codes


# --- torch ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale, zero", SETTINGS)
def test_fake_quantize_is_torchs(scale, zero):
    torch = package("torch")
    x = drawn(scale, zero, 1)
    scale = float(np.float32(scale))
    theirs = torch.fake_quantize_per_tensor_affine(torch.from_numpy(x), scale, zero, 0, 255)
    ours = ww.affine(x, scale=scale, zero_point=zero, arithmetic="torch")
    assert (theirs.numpy() == ours.dequantise()).all()
    exact = codes(x, scale, zero, "exact")
    assert (ours.codes != exact).any() or scale in (0.5, 3.0)


@pytest.mark.parametrize("scale, zero", SETTINGS)
def test_quantize_per_tensor_is_torchs(scale, zero):
    torch = package("torch")
    x = drawn(scale, zero, 2)
    scale = float(np.float32(scale))
    for dtype, signed, least in ((torch.quint8, False, 0), (torch.qint8, True, -128)):
        z = zero + least
        theirs = torch.quantize_per_tensor(torch.from_numpy(x), scale, z, dtype).int_repr().numpy()
        ours = codes(x, scale, z, "torch_legacy", signed=signed)
        assert (theirs == ours).all()
    wide = torch.quantize_per_tensor(torch.from_numpy(x[-8:-7]), scale, 0, torch.qint32)
    assert (
        codes(x[-8:-7], scale, 0, "torch_legacy", bits=32, signed=True).tolist()
        == wide.int_repr().tolist()
    )


def test_tensors_are_taken_as_they_are():
    torch = package("torch")
    x = drawn(0.02, 128, 8)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        tensor = torch.from_numpy(x).to(dtype)
        ours = ww.affine(tensor, scale=0.02, zero_point=128)
        assert (
            ours.codes == ww.affine(tensor.double().numpy(), scale=0.02, zero_point=128).codes
        ).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_torchs(dtype):
    torch = package("torch")
    dtype = getattr(torch, dtype)
    for scale, zero in SETTINGS:
        x = torch.from_numpy(drawn(scale, zero, 9)).to(dtype)
        theirs = torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, 255)
        ours = ww.affine(x, scale=scale, zero_point=zero, arithmetic="torch").dequantise()
        assert torch.equal(torch.from_numpy(ours).to(dtype), theirs)


def test_channels_are_torchs():
    torch = package("torch")
    scales = np.float32([0.02, 1 / 255, 0.5])
    zeros = np.int32([128, 3, 7])
    x = np.stack([drawn(float(s), int(z), 3, 999) for s, z in zip(scales, zeros, strict=True)])
    x = np.concatenate([x, np.float32([[1e19], [-1e18], [2.0**62]])], axis=1)
    given = [torch.from_numpy(a) for a in (x, scales, zeros)]
    theirs = torch.fake_quantize_per_channel_affine(*given, 0, 0, 255).numpy()
    ours = ww.affine(x, axis=0, scale=scales, zero_point=zeros, arithmetic="torch")
    assert (theirs == ours.dequantise()).all()


@pytest.mark.parametrize("how", [{}, {"axis": 0}, {"block": 32}], ids=str)
def test_symmetric_groups_are_torchaos(how):
    torch = package("torch")
    why = "pip install torchao"
    ao = pytest.importorskip("torchao.quantization.quant_primitives", reason=why)
    rng = np.random.default_rng(10)
    x = (rng.standard_normal((64, 128)) * 2.0 ** rng.integers(-9, 9, (64, 1))).astype(np.float32)
    group = (1, 32) if "block" in how else (1, 128) if how else x.shape
    types = {"scale_dtype": torch.float32, "zero_point_dtype": torch.int32, "eps": 1e-12}
    symmetric, int8 = ao.MappingType.SYMMETRIC, torch.int8
    s, z = ao.choose_qparams_affine(torch.from_numpy(x), symmetric, group, int8, **types)
    theirs = ao.quantize_affine(torch.from_numpy(x), group, s, z, int8).numpy()
    ours = ww.affine(x, scheme="symmetric_full", arithmetic="torch", **how)
    assert (ours.scale.ravel() == s.numpy().ravel()).all() and (ours.codes == theirs).all()


def test_quantize_per_channel_rounds_the_product_first():
    """f32(f32(x * f32(1/s)) + z): no fma as quantize_per_tensor's, which is `torch_legacy`."""
    torch = package("torch")
    scales, zeros = np.float32([0.02, 1 / 255, 0.5]), np.int32([128, 3, 7])
    x = np.stack([drawn(float(s), int(z), 3) for s, z in zip(scales, zeros, strict=True)])
    given = torch.from_numpy(x), torch.from_numpy(scales).double(), torch.from_numpy(zeros).long()
    theirs = torch.quantize_per_channel(*given, 0, torch.quint8).int_repr().numpy()
    ours = ww.affine(x, axis=0, scale=scales, zero_point=zeros, arithmetic="torch_legacy").codes
    with np.errstate(over="ignore", invalid="ignore"):
        twice = x * (1 / scales)[:, None] + zeros.astype(np.float32)[:, None]
        as_theirs = np.rint(np.nan_to_num(twice, nan=0.0)).clip(0, 255)
    assert (theirs == as_theirs).all()
    assert 0 < (theirs != ours).sum() < 0.02 * x.size


# --- onnxruntime ----------------------------------------------------------------------------------


def run(
    op: str, inputs: dict[str, np.ndarray], output: Any, opset: int = 19, **attributes: Any
) -> np.ndarray:
    """One operator in onnxruntime."""
    ort, onnx = package("onnxruntime"), package("onnx")
    helper = onnx.helper
    kind_of = helper.np_dtype_to_tensor_dtype
    kinds = {name: kind_of(x.dtype) for name, x in inputs.items()}
    node = helper.make_node(op, [*inputs], ["y"], **attributes)
    graph = helper.make_graph(
        [node], op,
        [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
        [helper.make_tensor_value_info("y", kind_of(np.dtype(output)), None)],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {name: np.asarray(x) for name, x in inputs.items()})
    return y


@pytest.mark.parametrize("scale, zero", SETTINGS)
def test_quantize_linear_is_onnxruntimes(scale, zero):
    scale = np.float32(scale)
    x = drawn(float(scale), zero, 4)
    for dtype, least in ((np.uint8, 0), (np.int8, -128)):
        z = np.array(zero + least, dtype)
        theirs = run("QuantizeLinear", {"x": x, "s": scale.reshape(()), "z": z}, dtype)
        ours = ww.affine(x, scale=scale, zero_point=int(z), arithmetic="onnx", signed=least < 0)
        wrong = np.flatnonzero(theirs != ours.codes)
        assert not len(wrong), [(x[i], theirs[i], ours.codes[i]) for i in wrong[:9]]
        back = run("DequantizeLinear", {"x": theirs, "s": scale.reshape(()), "z": z}, np.float32)
        assert (back == ours.dequantise()).all()


def test_half_precision_is_onnxruntimes_and_rounds_quotients_from_opset_23_on():
    x, scale, zero = np.float16(drawn(0.0613, 3, 8)), np.float16(0.0613), np.uint8(3)
    inputs = {"x": x, "s": scale.reshape(()), "z": zero}
    ours = ww.affine(x, scale=scale, zero_point=zero, arithmetic="onnx")
    assert (run("QuantizeLinear", inputs, np.uint8) == ours.codes).all()
    with np.errstate(all="ignore"):
        rounded = ww.affine(x / scale, scale=1, zero_point=zero, arithmetic="onnx")
    assert (run("QuantizeLinear", inputs, np.uint8, opset=23) == rounded.codes).all()
    assert (rounded.codes != ours.codes).any()


def test_channels_are_onnxruntimes():
    scales, zeros = np.float32([0.02, 1 / 255, 0.5]), np.uint8([128, 3, 7])
    x = np.stack([drawn(float(s), int(z), 5, 600) for s, z in zip(scales, zeros, strict=True)])
    theirs = run("QuantizeLinear", {"x": x, "s": scales, "z": zeros}, np.uint8, axis=0)
    ours = ww.affine(x, axis=0, scale=scales, zero_point=zeros, arithmetic="onnx")
    assert (theirs == ours.codes).all()


@functools.cache
def uint8_by_int8() -> str:
    """How onnxruntime sums these here: an x86 CPU without VNNI adds products in pairs that saturate
    in 16 bits. Its guide says so, and asks for weights of 7 bits there (reduce_range)."""
    most = {"a": np.uint8([[255, 255]]), "b": np.int8([[127], [127]])}
    (total,) = run("MatMulInteger", most, np.int32).ravel()
    return {64770: "exact", 32767: "sat16"}[int(total)]


def pairs(of_a: Any, of_b: Any) -> str:
    return uint8_by_int8() if (of_a, of_b) == (np.uint8, np.int8) else "exact"


def uniform(rng: Any, dtype: Any, shape: Any, bits: int = 8) -> np.ndarray:
    info = np.iinfo(dtype)
    by = 1 << 8 - bits
    return rng.integers(info.min // by, info.max // by, shape, dtype, endpoint=True)


SIGNS = [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)]


@pytest.mark.parametrize("of_a, of_b", SIGNS)
def test_sums_of_all_codes_are_onnxruntimes(of_a, of_b):
    rng = np.random.default_rng(8)
    how = pairs(of_a, of_b)
    for k in (1, 2, 37, 256, 1000):
        a, b = uniform(rng, of_a, (9, k)), uniform(rng, of_b, (k, 33))
        za, zb = (np.array(rng.integers(0, 100), t) for t in (of_a, of_b))
        theirs = run("MatMulInteger", {"a": a, "b": b, "za": za, "zb": zb}, np.int32)
        ours = ww.integer_matmul(a, b, za, zb, pairs=how)
        assert (theirs == ours).all()
    assert (ours != ww.integer_matmul(a, b, za, zb)).any() == (how == "sat16")


@pytest.mark.parametrize("per_column", [False, True])
def test_qlinear_matmul_is_onnxruntimes(per_column):
    rng = np.random.default_rng(6)
    for of_a, of_b in SIGNS:
        bits = 8 if pairs(of_a, of_b) == "exact" else 7
        for k in (1, 4, 37, 256):
            a, b = uniform(rng, of_a, (9, k)), uniform(rng, of_b, (k, 11), bits)
            sa, sy = (np.float32(s) for s in rng.random(2) * [0.02, 0.5] + 1e-3)
            sb = np.float32(rng.random(11) * 0.02 + 1e-4) if per_column else np.float32(0.0071)
            za, zy = (np.array(rng.integers(0, 100), of_a) for _ in range(2))
            zb = np.full(11, 5, of_b) if per_column else np.array(5, of_b)
            given = {"a": a, "sa": sa.reshape(()), "za": za, "b": b, "sb": np.asarray(sb), "zb": zb,
                     "sy": sy.reshape(()), "zy": zy}  # fmt: skip
            theirs = run("QLinearMatMul", given, of_a)
            ours = ww.qlinear_matmul(a, sa, za, b, sb, zb, sy, zy)
            assert (theirs == ours).all()


def convolved(x: Any, w: Any, bias: np.ndarray, scale: Any, zero: Any, **how: Any) -> np.ndarray:
    """QLinearConv of onnxruntime."""
    given = {"x": x.codes, "sx": x.scale, "zx": x.zero_point, "w": w.codes, "sw": w.scale,
             "zw": w.zero_point, "sy": scale.reshape(()), "zy": zero.reshape(()),
             "b": bias}  # fmt: skip
    return run("QLinearConv", {k: np.asarray(v) for k, v in given.items()}, np.uint8, **how)


def test_a_convolution_is_onnxruntimes():
    """QLinearConv: sums with a bias, then variant fp32."""
    rng = np.random.default_rng(7)
    x = ww.affine(rng.standard_normal((2, 4, 9, 8)).astype(np.float32))
    bits = 8 if uint8_by_int8() == "exact" else 7
    w = ww.affine(rng.standard_normal((6, 2, 3, 3)).astype(np.float32), bits, True, axis=0)
    bias = rng.integers(-2000, 2000, 6).astype(np.int32)
    sy, zy = np.float32(0.06), np.uint8(120)
    theirs = convolved(x, w, bias, sy, zy, strides=[2, 1], pads=[1, 2, 1, 2], group=2)
    ours = ww.affine_conv2d(
        x, w, bias, scale=sy, zero_point=int(zy), stride=(2, 1), padding=(1, 2), groups=2,
        variant="fp32",
    )  # fmt: skip
    assert theirs.shape == ours.shape and (theirs == ours.codes).all()


def test_a_convolution_of_all_codes_is_onnxruntimes():
    """Windows of one pixel have one order of sums, in which pairs saturate where the CPU's do."""
    rng, how = np.random.default_rng(9), uint8_by_int8()
    x = ww.affine(rng.random((2, 38, 5, 4)).astype(np.float32))
    w = ww.affine(rng.random((6, 38, 1, 1)).astype(np.float32) - 0.3, 8, True, axis=0)
    bias = np.zeros(6, np.int32)
    sy, zy = np.float32(0.05), np.uint8(30)
    theirs = convolved(x, w, bias, sy, zy)
    given = {"scale": sy, "zero_point": int(zy), "variant": "fp32"}
    ours = ww.affine_conv2d(x, w, bias, **given, pairs=how).codes
    assert (theirs == ours).all()
    exact = ww.affine_conv2d(x, w, bias, **given).codes
    assert (ours != exact).any() == (how == "sat16")
