"""Values of a graph that become quantised ones, weights as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

from .._block_format import is_container
from .._format import Format
from .._format_texts import said
from .._host import fits_in
from ..containers.coded import saturating
from ..containers.scheme import is_affine, parsed
from . import _blocks
from ._graph import along_axis, constants_in, graphs, names_in, numbers_of, opset_of
from ._how import How
from ._nodes import Builder, check, told
from ._standard import type_of
from ._weights import tensor_of, under_scale, weight

# Types whose numbers binary32 has all.
NARROW: dict[int, str] = {TensorProto.FLOAT16: "float16", TensorProto.BFLOAT16: "bfloat16"}
Shape = list[int | None]


class Rewriter:
    """Makes the nodes of quantisers in one model, and puts their functions and tensors into it."""

    def __init__(self, model: ModelProto, qdq: bool) -> None:
        self.model = model
        self.b = Builder(names_in(model), opset_of(model), qdq)
        self.types, self.shapes = types_in(model)

    def known_as(self, new: str, name: str) -> None:
        """A value that stands in another one's place."""
        self.types[new] = self.types.get(name, TensorProto.FLOAT)
        if name in self.shapes:
            self.shapes[new] = self.shapes[name]

    def quantised(
        self, x: str, y: str, how: How, constants: Mapping[str, TensorProto]
    ) -> list[NodeProto]:
        """Nodes that make y of x."""
        held = self.types.get(x, TensorProto.FLOAT)
        if x in constants:
            held = constants[x].data_type
        if held in NARROW:
            return self.through_binary32(x, y, how, constants, held)
        if held != TensorProto.FLOAT:
            kind = TensorProto.DataType.Name(held)
            raise ValueError(
                f"'{x}' holds {kind}, and quantisers take binary32 (FLOAT), FLOAT16 and BFLOAT16; "
                "export the model in one of these"
            )
        if x in constants:
            return self.constant(x, y, how, np.array(numbers_of(constants[x]), order="C"))
        if how.scale is not None:
            return self.static(x, y, how)
        if is_container(how.format):
            return self.along(x, y, how)
        return self.b.quantise(x, y, how.format, how.rounding)

    def constant(self, x: str, y: str, how: How, numbers: np.ndarray) -> list[NodeProto]:
        """A weight's codes; its numbers, to be rounded in each run, under a scale of codes that the
        standard has not."""
        if how.scale is None or is_affine(how.format):
            return weight(self.b, numbers, x, y, how)
        nodes = under_scale(self.b, numbers, x, y, how, self.axis_under(x, how))
        if nodes is not None:
            return nodes
        there = self.b.tensor(f"{x}_floats", numpy_helper.from_array(numbers))
        self.known_as(there, x)
        return self.static(there, y, how)

    def along(self, x: str, y: str, how: How) -> list[NodeProto]:
        """Blocks of values lie along the last axis; another one is turned there and back."""
        if how.axis in (None, -1):
            return _blocks.dynamic(self.b, x, y, how)
        axis, axes = self.axis_of(x, how), len(self.shapes[x])
        if axis == axes - 1:
            return _blocks.dynamic(self.b, x, y, how)
        order = list(range(axes))
        order[axis], order[-1] = order[-1], order[axis]
        turned, rounded = self.b.names(y, "turned blocks")
        return [
            helper.make_node("Transpose", [x], [turned], perm=order),
            *_blocks.dynamic(self.b, turned, rounded, how),
            helper.make_node("Transpose", [rounded], [y], perm=order),
        ]

    def through_binary32(
        self, x: str, y: str, how: How, constants: Mapping[str, TensorProto], held: int
    ) -> list[NodeProto]:
        """In and out by casts; what the type has no room for is an error."""
        check_fits(how.format, held, x)
        wide, narrow = self.b.name(f"{x}_float"), self.b.name(f"{y}_float")
        there = {}
        cast = [helper.make_node("Cast", [x], [wide], to=int(TensorProto.FLOAT))]
        if x in constants:
            numbers = numbers_of(constants[x]).astype(np.float32)
            there, cast = {wide: numpy_helper.from_array(numbers)}, []
        self.known_as(wide, x)
        self.types[wide] = TensorProto.FLOAT
        inner = self.quantised(wide, narrow, how, there)
        return [*cast, *inner, helper.make_node("Cast", [narrow], [y], to=held)]

    def static(self, x: str, y: str, how: How) -> list[NodeProto]:
        """Under a scale that is given, one number or one a channel."""
        if is_affine(how.format):
            return self.static_affine(x, y, how)
        assert how.scale is not None
        axis = self.axis_under(x, how)
        scale = self.spread(x, f"{y}_scale", how.scale, axis)
        quotient, rounded = self.b.names(y, "quotient unscaled")
        f = saturating(check(how.format, how.rounding))
        nodes = self.b.quantise(quotient, rounded, f, how.rounding)
        told(nodes[-2 if len(nodes) > 1 else -1], None, x, scale=how.scale.tolist(), axis=axis)
        return [
            helper.make_node("Div", [x, scale], [quotient]),
            *nodes,
            helper.make_node("Mul", [rounded, scale], [y]),
        ]

    def static_affine(self, x: str, y: str, how: How) -> list[NodeProto]:
        """x / s to the nearest integer in binary64, which decides it; then QuantizeLinear has
        nothing left to round, and DequantizeLinear the one rounding of s (q - z)."""
        rule, groups = parsed(how.format)
        type = type_of(rule.bits, rule.signed, self.b.opset)
        if type is None or groups not in ("", "all", "channel") or how.rounding != "rne":
            raise ValueError(
                f"{said(how.format)} of '{x}' under a given scale, rounding = {how.rounding!r}: "
                f"graphs have 'rne', codes of up to 8 bits, since opset 21 of 16 (this is "
                f"{self.b.opset}), and one scale or channels'"
            )
        scale, zeros = how.scale, how.zero_point
        assert scale is not None and zeros is not None
        axis = self.axis_under(x, how)
        along: dict[str, Any] = {} if axis is None else {"axis": axis}
        s, z, one = self.affine_tensors(y, scale, zeros, type.of)
        wide, quotient, whole, below = self.b.names(y, "wide quotient whole not_above")
        in_range, steps, codes = self.b.names(y, "in_range steps codes")
        spread, low, high = (
            self.spread(x, f"{y}_numbers", numbers.astype(np.float64), axis)
            for numbers in (scale, rule.qmin - zeros, rule.qmax - zeros)
        )
        double, single = int(TensorProto.DOUBLE), int(TensorProto.FLOAT)
        quantise = helper.make_node("QuantizeLinear", [steps, one, z], [codes], **along)
        return [
            helper.make_node("Cast", [x], [wide], to=double),
            helper.make_node("Div", [wide, spread], [quotient]),
            helper.make_node("Round", [quotient], [whole]),
            helper.make_node("Max", [whole, low], [below]),
            helper.make_node("Min", [below, high], [in_range]),
            helper.make_node("Cast", [in_range], [steps], to=single),
            told(quantise, how.format, x),
            helper.make_node("DequantizeLinear", [codes, s, z], [y], **along),
        ]

    def affine_tensors(self, y: str, scale: Any, zeros: Any, type: int) -> tuple[str, ...]:
        parts = {
            "scale": numpy_helper.from_array(scale),
            "zero_point": tensor_of(zeros, type),
            "one": numpy_helper.from_array(np.ones_like(scale)),
        }
        return tuple(self.b.tensor(f"{y}_{name}", part) for name, part in parts.items())

    def spread(self, x: str, name: str, numbers: np.ndarray, axis: int | None) -> str:
        """A tensor of one number, or of one for each channel as it broadcasts to the values."""
        if axis is not None:
            numbers = along_axis(numbers, axis, len(self.shapes[x]))
        return self.b.tensor(name, numpy_helper.from_array(np.asarray(numbers)))

    def axis_under(self, x: str, how: How) -> int | None:
        """Of channels' scales; one scale has none, and yet an axis that x has not is wrong."""
        assert how.scale is not None
        if how.scale.ndim == 0 and (how.axis is None or x not in self.shapes):
            return None
        axis = self.axis_of(x, how)
        return axis if how.scale.ndim else None

    def axis_of(self, x: str, how: How) -> int:
        """Counted from the first, of as many channels as there are scales."""
        shape, axis = self.shapes.get(x), 0 if how.axis is None else how.axis
        if shape is None:
            raise ValueError(
                f"{said(how.format)} of '{x}' along axis {axis}: how many axes it has is unknown; "
                "run onnx.shape_inference, or take one scale"
            )
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"{said(how.format)} of '{x}': axis = {axis}, and it has {len(shape)} axes"
            )
        there = shape[axis]
        if how.scale is not None and how.scale.ndim and there not in (None, how.scale.size):
            raise ValueError(
                f"{said(how.format)} of '{x}': scale has {how.scale.size} numbers, and axis {axis} "
                f"has {there} channels"
            )
        return axis % len(shape)


def check_fits(format: str, held: int, x: str) -> None:
    if is_container(format):
        raise ValueError(
            f"'{x}' is narrower than binary32, and {said(format)} has scales; export FLOAT"
        )
    if not fits_in(Format(format), NARROW[held]):
        kind = TensorProto.DataType.Name(held)
        raise ValueError(
            f"'{x}' holds {kind}, which does not hold {said(format)}; export the model in FLOAT"
        )


def types_in(model: ModelProto) -> tuple[dict[str, int], dict[str, Shape]]:
    """The element types that inference finds, and as much of the shapes."""
    try:
        inferred = shape_inference.infer_shapes(model)
    except Exception:  # of models that it cannot read, whose floats are taken for binary32
        inferred = model
    types: dict[str, int] = {}
    shapes: dict[str, Shape] = {}
    for graph in graphs(inferred.graph):
        shapes |= {name: list(t.dims) for name, t in constants_in(graph).items()}
        for x in (*graph.input, *graph.output, *graph.value_info):
            told = x.type.tensor_type
            if told.elem_type:
                types[x.name] = told.elem_type
            if told.HasField("shape"):
                sizes = told.shape.dim
                shapes[x.name] = [n.dim_value if n.HasField("dim_value") else None for n in sizes]
    return types, shapes
