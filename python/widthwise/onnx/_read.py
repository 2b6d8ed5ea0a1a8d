"""What an ONNX model holds: weights as our containers, and how its values are quantised."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto

from .._array import Array
from .._block_format import BlockFormat, is_container
from .._create import array, from_bits
from .._format import Format
from .._table import Table
from ..containers.affine import Affine, affine
from ..containers.blocks import Blocks
from ..containers.coded import Coded
from ..containers.quantise import blocks
from ..containers.scheme import is_affine, parsed
from ._body import DOMAIN
from ._graph import along_axis, attribute, constants_in, graphs, numbers_of
from ._nodes import AXIS, FORMAT, OF, PART, PREFIX, SCALE
from ._probe import f32

QDQ = ("", "ai.onnx", "com.microsoft")  # onnxruntime's own are the same, of more types
KINDS = TensorProto.DataType
INTEGERS = {
    KINDS.Name(getattr(TensorProto, name)): (bits, name[0] != "U")
    for name, bits in (
        ("INT2", 2), ("UINT2", 2), ("INT4", 4), ("UINT4", 4), ("INT8", 8), ("UINT8", 8),
        ("INT16", 16), ("UINT16", 16), ("INT32", 32),
    )
    if hasattr(TensorProto, name)
}  # fmt: skip
FLOATS = {
    "FLOAT": "binary32", "FLOAT16": "binary16", "BFLOAT16": "bfloat16", "DOUBLE": "binary64",
    "FLOAT8E4M3FN": "e4m3fn", "FLOAT8E4M3FNUZ": "e4m3fnuz", "FLOAT8E5M2": "e5m2",
    "FLOAT8E5M2FNUZ": "e5m2fnuz", "FLOAT8E8M0": "e8m0fnu", "FLOAT4E2M1": "e2m1fn",
    "FLOAT6E2M3": "e2m3fn", "FLOAT6E3M2": "e3m2fn",
}  # fmt: skip
# Where operators that hold codes have a weight, its scale and its zero point.
HELD = {"QLinearConv": ((3, 4, 5),), "QLinearMatMul": ((0, 1, 2), (3, 4, 5)), "QGemm": ((3, 4, 5),)}
RESULTS = {"QLinearConv": (6, 7), "QLinearMatMul": (6, 7)}
ENDINGS = ("_codes", "_floats", "_quantized")
COLUMNS = ("tensor", "node", "format", "rounding", "scale", "zero_point", "axis")


class Use(NamedTuple):
    """A constant that stands for numbers together with others."""

    node: NodeProto
    scale: str | None
    zero_point: str | None


def load(model: ModelProto | str | os.PathLike[str]) -> dict[str, Any]:
    """The constant tensors of an ONNX model, with the formats and scales that they have there.

    Args:
        model: a model, or the path of one.
    Returns:
        By name (an ending `_codes`, `_floats` or `_quantized` goes, where names still differ): of
        integers that the model dequantises (DequantizeLinear, QLinearConv, QLinearMatMul)
        `ww.Affine`; of narrow floats under blocks' scales `ww.Blocks`, under one scale or channels'
        codes and scale, under none an Array; of what a node `ai.widthwise::Quantize` rounds an
        Array of its format; of other floats an Array of their own format; of integers and truths
        NumPy arrays. Scales and zero points are none by themselves.
    Raises:
        ValueError: the file is no ONNX model; a scale that is zero, negative or NaN.

    >>> import numpy as np
    >>> from onnx import helper, numpy_helper, TensorProto
    >>> parts = {"w": np.int8([3, -4]), "s": np.float32(0.5)}
    >>> tensors = [numpy_helper.from_array(x, name) for name, x in parts.items()]
    >>> node = helper.make_node("DequantizeLinear", ["w", "s"], ["y"])
    >>> y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    >>> made = helper.make_model(helper.make_graph([node], "g", [], [y], tensors))
    >>> load(made)["w"].to_float64()
    array([ 1.5, -2. ])
    """
    read = model_of(model)
    constants: dict[str, TensorProto] = {}
    for graph in graphs(read.graph):
        constants |= constants_in(graph)
    uses, parts = uses_of(read, constants)
    found: dict[str, Any] = {}
    for name, tensor in constants.items():
        if (name in parts and name not in uses) or name.startswith(PREFIX):
            continue
        try:
            found[name] = tensor_as_used(tensor, uses.get(name), constants)
        except (ValueError, TypeError) as why:
            raise ValueError(f"{name}: {why}") from None
    return dict(zip(shorter(list(found)), found.values(), strict=True))


def model_of(model: Any) -> ModelProto:
    if isinstance(model, ModelProto):
        return model
    if not isinstance(model, str | os.PathLike):
        raise TypeError(f"model = {model!r}: an onnx.ModelProto or a path is wanted")
    try:
        return onnx.load(os.fspath(model))
    except OSError:
        raise
    except Exception as why:
        raise ValueError(f"model = {os.fspath(model)!r}: no ONNX model ({why})") from None


def shorter(names: list[str]) -> list[str]:
    """Without what exporters append to the names of codes, where that leaves no two alike."""
    short = [next((x for e in ENDINGS if (x := n.removesuffix(e)) != n), n) for n in names]
    often = Counter(names) + Counter(x for name, x in zip(names, short, strict=True) if x != name)
    return [x if often[x] == 1 else name for name, x in zip(names, short, strict=True)]


def nodes_of(model: ModelProto) -> Iterator[NodeProto]:
    for graph in graphs(model.graph):
        yield from graph.node


def uses_of(
    model: ModelProto, constants: Mapping[str, TensorProto]
) -> tuple[dict[str, Use], set[str]]:
    """Which constants are codes, or rounded as the graph begins; and which belong to those."""
    uses: dict[str, Use] = {}
    parts: set[str] = set()
    for node in nodes_of(model):
        for at in places(node):
            x, scale, zero = (node.input[i] if i < len(node.input) else "" for i in at)
            parts |= {scale, zero} | set(node.input[3:] if node.domain == DOMAIN else ())
            if x in constants:
                uses.setdefault(x, Use(node, scale or None, zero or None))
        parts |= {node.input[i] for i in RESULTS.get(node.op_type, ())}
    return uses, parts - {""}


def places(node: NodeProto) -> tuple[tuple[int, int, int], ...]:
    if node.domain == DOMAIN or (
        node.domain in QDQ and node.op_type in ("DequantizeLinear", "QuantizeLinear")
    ):
        return ((0, 1, 2),)
    return HELD.get(node.op_type, ()) if node.domain in QDQ else ()


def tensor_as_used(
    tensor: TensorProto, use: Use | None, constants: Mapping[str, TensorProto]
) -> Any:
    if use is None:
        return plain(tensor)
    if use.node.domain == DOMAIN:
        return ours(tensor, use, constants)
    if use.scale is None or use.scale not in constants:
        return plain(tensor)
    scale, zero = constants[use.scale], constants.get(use.zero_point or "")
    if use.node.op_type == "QuantizeLinear":
        return as_quantised(tensor, use.node, scale, zero)
    return as_codes(tensor, use.node, scale, zero)


def plain(tensor: TensorProto) -> Any:
    """Floats as what they are; integers, truths and texts as NumPy has them."""
    kind = KINDS.Name(tensor.data_type)
    x = numbers_of(tensor)
    if kind not in FLOATS:
        return x if kind not in INTEGERS else whole(x, kind)
    f = Format(FLOATS[kind])
    return from_bits(np.ascontiguousarray(x).view(f.dtype).reshape(x.shape), f)


def whole(x: np.ndarray, kind: str) -> np.ndarray:
    """Integers of NumPy's own types."""
    if kind not in INTEGERS:
        return x
    bits, signed = INTEGERS[kind]
    return x.astype(f"{'i' if signed else 'u'}{max(1, bits // 8)}")


def ours(tensor: TensorProto, use: Use, constants: Mapping[str, TensorProto]) -> Any:
    """Of a node of our domain: blocks by their codes, or numbers that it rounds."""
    node, format = use.node, attribute(use.node, "format")
    x = numbers_of(tensor)
    if node.op_type == "Dequantize":
        f, scales = BlockFormat(format), numbers_of(constants[node.input[1]])
        whole_scale = numbers_of(constants[node.input[2]])
        axis = attribute(node, "axis")
        kept = array(scales.reshape(scales.shape[::2]), f.scale)
        given = float(whole_scale) if f._core.takes_tensor_scale else None
        shape = next(a.t for a in node.attribute if a.name == "shape")
        codes = x[tuple(slice(n) for n in numbers_of(shape).tolist())]
        return Blocks.of(from_bits(codes, f.element), kept, f, axis=axis, tensor_scale=given)
    if is_affine(format):
        return affine(x, format, rounding=attribute(node, "rounding"))
    if is_container(format):
        return blocks(x, format, rounding=attribute(node, "rounding"))
    return array(x, format, rounding=attribute(node, "rounding"), nan="zero")


def as_quantised(
    tensor: TensorProto, node: NodeProto, scale: TensorProto, zero: TensorProto | None
) -> Any:
    """Floats that the graph quantises as it begins."""
    kind = KINDS.Name(zero.data_type if zero is not None else TensorProto.UINT8)
    x, s = numbers_of(tensor), numbers_of(scale).astype(np.float32)
    if kind not in INTEGERS:
        return plain(tensor)
    bits, signed = INTEGERS[kind]
    points = None if zero is None else whole(numbers_of(zero), kind)
    how = grouping(node, s, x.ndim)
    return affine(x, bits, signed=signed, scheme="asymmetric", scale=s,
                  zero_point=0 if points is None else points, arithmetic="onnx", **how)  # fmt: skip


def as_codes(
    tensor: TensorProto, node: NodeProto, scale: TensorProto, zero: TensorProto | None
) -> Any:
    format = metadata(node).get(FORMAT)
    if format is not None:
        return as_told(numbers_of(tensor), format, node, scale, zero)
    kind = KINDS.Name(tensor.data_type)
    x = numbers_of(tensor)
    if kind in INTEGERS:
        s = numbers_of(scale).astype(np.float32)
        points = None if zero is None else whole(numbers_of(zero), kind)
        return integers(whole(x, kind), s, points, node, INTEGERS[kind])
    if kind not in FLOATS:
        return plain(tensor)
    codes = plain(tensor)
    return floats(codes, node, scale)


def metadata(node: NodeProto) -> dict[str, str]:
    return {x.key: x.value for x in node.metadata_props}


def as_told(
    codes: np.ndarray, format: str, node: NodeProto, scale: TensorProto, zero: TensorProto | None
) -> Any:
    """Of a node that this module wrote, and that names what it stands for."""
    if not is_container(format):
        bare, kept = bits_of(codes, Format(format)), metadata(node).get(SCALE)
        if kept is None:
            return bare
        return under(bare, f32(json.loads(kept)), attribute(node, "axis", 0))
    if not is_affine(format):
        f = BlockFormat(format)
        step = 2.0**f.element.least_digit if f.element.system == "fixed" else 1.0
        scales = array(numbers_of(scale).astype(np.float64) / step, f.scale)
        return Blocks.of(bits_of(codes, f.element), scales, f, axis=attribute(node, "axis"))
    rule, _ = parsed(format)
    s, points = numbers_of(scale), None if zero is None else numbers_of(zero).astype(np.int64)
    axis = None if s.ndim == 0 else attribute(node, "axis")
    block = attribute(node, "block_size") if s.ndim == codes.ndim and s.ndim else None
    return Affine(codes.astype(rule.dtype), s, points, bits=rule.bits, signed=rule.signed,
                  scheme=rule.name, axis=axis, block=block)  # fmt: skip


def bits_of(codes: np.ndarray, f: Format) -> Array:
    """Codes of the standard's type as those of the format."""
    if f.system == "fixed":
        words = codes.astype(np.int64) & (1 << f.width) - 1
        return from_bits(words.astype(f.dtype), f)
    return from_bits(codes.view(f.dtype), f)


def integers(
    codes: np.ndarray, scale: np.ndarray, zero: Any, node: NodeProto, kind: tuple[int, bool]
) -> Affine:
    bits, signed = kind
    least = -(1 << bits - 1)
    symmetric = signed and (zero is None or not zero.any())
    full = symmetric and codes.size > 0 and int(codes.min()) == least
    scheme = "symmetric_full" if full else "symmetric" if symmetric else "asymmetric"
    how = grouping(node, scale, codes.ndim)
    shape = scale.shape if how else ()
    points = None if zero is None else np.reshape(zero, shape)
    return Affine(codes, scale.reshape(shape), 0 if points is None else points, bits=bits,
                  signed=signed, scheme=scheme, **how)  # fmt: skip


def grouping(node: NodeProto, scale: np.ndarray, axes: int) -> dict[str, Any]:
    """axis and block as `ww.affine` has them."""
    if scale.size == 1 and scale.ndim <= 1:
        return {}
    block = attribute(node, "block_size", 0)
    axis = attribute(node, "axis", 1 if "Linear" in node.op_type[-6:] else None)
    if node.op_type == "QLinearConv":
        axis = 0
    elif node.op_type in ("QLinearMatMul", "QGemm"):
        axis = axes - 1
    return {"axis": axis} | ({"block": block} if block else {})


def floats(codes: Array, node: NodeProto, scale: TensorProto) -> Any:
    """Narrow floats under one scale, channels', or blocks'."""
    scales = plain(scale)
    block = attribute(node, "block_size", 0)
    axis = attribute(node, "axis", 1)
    if block:
        word = "e8m0fnu" if str(scales.format) == "e8m0fnu" else "binary32"
        kept = scales if word == "e8m0fnu" else array(scales.to_float64(), "binary32")
        f = BlockFormat(f"block({codes.format},{block},{word})")
        return Blocks.of(codes, kept, f, axis=axis)
    s = np.asarray(scales.to_float64(), np.float32)
    return codes if s.size == 1 and float(s.reshape(())) == 1 else under(codes, s, axis)


def under(codes: Array, scale: np.ndarray, axis: int) -> Coded:
    """Under one scale, or one for each index of an axis."""
    if scale.size == 1:
        return Coded(codes, scale.reshape(()))
    return Coded(codes, along_axis(scale, axis % codes.ndim, codes.ndim))


# --- How values are quantised ---------------------------------------------------------------------


def quantisers(model: ModelProto | str | os.PathLike[str]) -> Table:
    """How the values that flow through an ONNX model are quantised.

    Args:
        model: a model, or the path of one.
    Returns:
        A table, a row a quantiser: of a tensor, by a node, to a format as text ('affine(uint8)',
        'e4m3fn', 'e5m6'), with rounding, scale, zero point and axis. `ww.affine(x, format, scale=,
        zero_point=, arithmetic="onnx")` has QuantizeLinear's bits, `ww.array(x, format)` ours.
    Raises:
        ValueError: the file is no ONNX model.

    >>> from onnx import helper
    >>> net = helper.make_model(helper.make_graph([], "nothing", [], []))
    >>> len(quantisers(net).rows)
    0
    """
    read = model_of(model)
    constants: dict[str, TensorProto] = {}
    for graph in graphs(read.graph):
        constants |= constants_in(graph)
    back = {n.input[0]: n for n in nodes_of(read) if n.op_type == "DequantizeLinear"}
    rows = [row for node in nodes_of(read) for row in rows_of(node, constants, back)]
    return Table(COLUMNS, rows)


def rows_of(
    node: NodeProto, constants: Mapping[str, TensorProto], back: Mapping[str, NodeProto]
) -> Iterator[tuple[Any, ...]]:
    name = node.name or node.op_type
    props = metadata(node)
    if PART in props:
        return
    if node.domain == DOMAIN and node.op_type != "Dequantize" and node.input[0] not in constants:
        x, scale = props.get(OF, node.input[0]), json.loads(props.get(SCALE, "null"))
        how = (attribute(node, key) for key in ("format", "rounding"))
        yield x, name, *how, scale, None, json.loads(props.get(AXIS, "null"))
    if node.domain not in QDQ:
        return
    if node.op_type == "DynamicQuantizeLinear":
        yield node.input[0], name, "affine(uint8)", "rne", None, None, None
    if node.op_type == "QuantizeLinear" and node.input[0] not in constants:
        of = back.get(node.output[0], node)  # ours divides by the scale before
        x = metadata(node).get(OF, node.input[0])
        yield quantiser(node, name, x, of.input[1:3], constants)
    if node.op_type in RESULTS:
        parts = [node.input[i] for i in RESULTS[node.op_type]]
        yield quantiser(node, name, node.output[0], parts, constants)


def quantiser(
    node: NodeProto, name: str, x: str, parts: Any, constants: Mapping[str, TensorProto]
) -> tuple[Any, ...]:
    scale, zero = (constants.get(part) for part in (*parts, "")[:2])
    of = zero.data_type if zero is not None else attribute(node, "output_dtype", 0)
    kind = KINDS.Name(of or TensorProto.UINT8)
    s = None if scale is None else numbers_of(scale).astype(np.float32)
    shared = s is None or s.size == 1
    axis = None if shared else attribute(node, "axis", 1)
    points = None if zero is None else whole(numbers_of(zero), kind)
    props = metadata(node)
    if (format := props.get(FORMAT)) is not None:
        if not is_affine(format):
            kept, along = (json.loads(props.get(key, "null")) for key in (SCALE, AXIS))
            return x, name, format, "rne", kept, None, along
        return x, name, format, "rne", scalar(s), scalar(points), axis
    if kind not in INTEGERS:
        saturates = attribute(node, "saturate", 1)
        format = FLOATS.get(kind, kind.lower()) + (";overflow=satfinite" if saturates else "")
        return x, name, format, "rne", scalar(s), None, axis
    bits, signed = INTEGERS[kind]
    group = "" if shared else ",asymmetric,channel"
    if not shared and attribute(node, "block_size", 0):
        group = f",asymmetric,{attribute(node, 'block_size')}"
    format = f"affine({'' if signed else 'u'}int{bits}{group})"
    return x, name, format, "rne", scalar(s), scalar(points), axis


def scalar(x: Any) -> Any:
    return None if x is None else x.reshape(()).item() if x.size == 1 else x.tolist()
