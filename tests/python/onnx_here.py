"""What tests of widthwise.onnx share: the packages, values at borders, and who runs a graph."""

import os

import numpy as np
import pytest
import widthwise as ww

try:
    import onnx
    import onnxruntime
    import widthwise.onnx as wo
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    onnx = onnxruntime = wo = None

NEEDED = pytest.mark.skipif(
    onnx is None, reason="onnx and onnxruntime are not installed: pip install onnx onnxruntime"
)
LONG = "WIDTHWISE_LONG" in os.environ
SIX = ["e5m6", "e4m3", "e5m10", "e6m9", "posit8es1", "fixed12.5;overflow=zero"]
BINARY32 = ww.Format("binary32")
ENDS = np.float32([0, 2.0**-149, 2.0**-148, 2.0**-126, 3.4028235e38, np.inf])


def values(n, f=None, seed=0):
    """Random bits and scaled normals; of a format its numbers, their means, and all neighbours."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 32, n // 2, dtype=np.uint64).astype(np.uint32).view(np.float32)
    normals = rng.normal(size=n - n // 2) * 2.0 ** rng.integers(-30, 18, n - n // 2)
    directed = np.concatenate([borders(f), ENDS])
    nan = np.float32([np.nan])
    return np.concatenate([directed, -directed, nan, bits, normals.astype(np.float32)])


def borders(f, most=2000):
    """Magnitudes where results may change: of wide formats every so many."""
    if f is None:
        return np.float32([])
    codes = np.unique(np.linspace(0, (1 << f.width) - 1, most).astype(np.uint64)).astype(f.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        own = ww.from_bits(codes, f).astype(BINARY32).bits.view(np.float32)
        own = np.unique(np.abs(own[np.isfinite(own)]))
        above = np.nextafter(own, np.float32(np.inf))
        near = np.concatenate([own, (own[:-1].astype(np.float64) + own[1:]) / 2])
        near = np.float32(np.concatenate([near, near * (1 + 2.0**-f.precision)]))
        sides = [np.nextafter(near, np.float32(end)) for end in (0, np.inf)]
        return np.concatenate([near, above, *sides]).astype(np.float32)


def wanted(x, f, rounding="rne"):
    """Rounded once by the simulator, and read as binary32."""
    codes = ww.convert(ww.from_bits(x.view(np.uint32), BINARY32), f, rounding=rounding)
    return ww.convert(codes, BINARY32).bits.view(np.float32)


def differ(got, want):
    """How many are other bits; one NaN is as good as another."""
    got, want = np.ascontiguousarray(got).reshape(-1), np.ascontiguousarray(want).reshape(-1)
    assert got.dtype == want.dtype == np.float32 and got.size == want.size > 0
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    return np.flatnonzero(~same)


def check_bits(model, x, want, *runtimes):
    """The same bits in onnxruntime as it comes, in the reference, and without functions."""
    onnx.checker.check_model(model, full_check=True)
    for name in runtimes or ("onnxruntime", "reference", "inlined"):
        got = RUN[name](model, x)
        wrong = differ(got, want)
        told = [(np.ravel(x)[i], np.ravel(got)[i], np.ravel(want)[i]) for i in wrong[:5]]
        assert not wrong.size, f"{name}: {wrong.size} of {want.size} differ: {told}"


def in_onnxruntime(model, x):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {session.get_inputs()[0].name: x})
    return y


def in_reference(model, x):
    with np.errstate(all="ignore"):
        (y,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: x})
    return y


def inlined(model, x):
    flat = wo.inlined(model)
    assert not flat.functions and {node.domain for node in flat.graph.node} <= {"", "ai.onnx"}
    return in_onnxruntime(flat, x)


RUN = {"onnxruntime": in_onnxruntime, "reference": in_reference, "inlined": inlined}


def model_of(nodes, shape, tensors=(), out=None, opset=21):
    kind = TensorProto.FLOAT
    x = helper.make_tensor_value_info("x", kind, shape)
    y = helper.make_tensor_value_info("y", kind, shape if out is None else out)
    graph = helper.make_graph(nodes, "g", [x], [y], list(tensors))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = max(10, helper.find_min_ir_version_for(made.opset_import))
    return made


def quantiser(how, opset=21, shape=("n",), **options):
    """A graph that does nothing but quantise."""
    plain = model_of([helper.make_node("Identity", ["x"], ["y"])], list(shape), opset=opset)
    return wo.quantize_model(plain, {"Identity": {"input": how}}, **options)
