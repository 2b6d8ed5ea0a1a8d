"""Values of a graph that become quantised ones, weights as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

from .._format import Format
from .._rules import has_own_scales
from ..containers.coded import saturating
from ..containers.scheme import parsed
from . import _blocks
from ._graph import graphs, names_in, numbers_of, opset_of
from ._nodes import Builder, check, told
from ._probe import f32
from ._standard import type_of
from ._weights import tensor_of, weight

NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)  # whose numbers binary32 has all


class How(NamedTuple):
    """What values are rounded to; a given scale makes affine codes of them."""

    format: str
    rounding: str = "rne"
    axis: int | None = None
    scale: Any = None
    zero_point: Any = None


class Rewriter:
    """Makes the nodes of quantisers in one model, and puts their functions and tensors into it."""

    def __init__(self, model: ModelProto, qdq: bool) -> None:
        self.model = model
        self.b = Builder(names_in(model), opset_of(model), qdq)
        self.types, self.ranks = types_in(model)

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
        if how.scale is not None:
            return self.static(x, y, how)
        if x in constants:
            numbers = np.array(numbers_of(constants[x]), order="C")
            return weight(self.b, numbers, x, y, how.format, how.rounding, how.axis)
        if has_own_scales(how.format):
            return self.along(x, y, how)
        return self.b.quantise(x, y, how.format, how.rounding)

    def along(self, x: str, y: str, how: How) -> list[NodeProto]:
        """Blocks of values lie along the last axis; another one is turned there and back."""
        axes = self.ranks.get(x)
        last = how.axis in (None, -1) or (axes is not None and how.axis == axes - 1)
        if last or axes is None:
            axis = None if last else how.axis
            return _blocks.dynamic(self.b, x, y, how.format, how.rounding, axis)
        assert how.axis is not None
        order = list(range(axes))
        order[how.axis], order[-1] = order[-1], order[how.axis]
        turned, rounded = self.b.name(f"{y}_turned"), self.b.name(f"{y}_blocks")
        return [
            helper.make_node("Transpose", [x], [turned], perm=order),
            *_blocks.dynamic(self.b, turned, rounded, how.format, how.rounding, None),
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
        self.types[wide] = TensorProto.FLOAT
        inner = self.quantised(wide, narrow, how, there)
        return [*cast, *inner, helper.make_node("Cast", [narrow], [y], to=held)]

    def static(self, x: str, y: str, how: How) -> list[NodeProto]:
        """Under a scale that is given, one number or one a channel."""
        if how.format.strip().lower().startswith("affine"):
            return self.static_affine(x, y, how)
        scale = self.b.tensor(f"{y}_scale", numpy_helper.from_array(f32(how.scale)))
        quotient, rounded = self.b.name(f"{y}_quotient"), self.b.name(f"{y}_unscaled")
        f = saturating(check(how.format, how.rounding))
        nodes = self.b.quantise(quotient, rounded, f, how.rounding)
        shown = repr(np.asarray(how.scale, np.float32).tolist())
        told(nodes[-2 if len(nodes) > 1 else -1], None, x, scale=shown)
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
                f"{how.format} of '{x}' under a given scale, rounding = {how.rounding!r}: graphs "
                f"have 'rne', codes of up to 8 bits, since opset 21 of 16 (this is {self.b.opset}),"
                " and one scale or channels'"
            )
        channels = groups == "channel"
        zero = rule.zero if how.zero_point is None else how.zero_point
        scale = np.asarray(how.scale, np.float32)
        zeros = np.broadcast_to(np.asarray(zero, np.int64), scale.shape)
        along: dict[str, Any] = {"axis": 0 if how.axis is None else how.axis} if channels else {}
        s, z, one = self.affine_tensors(y, scale, zeros, type.of)
        names = ("wide", "quotient", "whole", "in_range", "steps", "codes")
        wide, quotient, whole, in_range, steps, codes = (self.b.name(f"{y}_{n}") for n in names)
        spread = self.spread(x, y, scale.astype(np.float64), along)
        low, high = (
            self.spread(x, y, (end - zeros).astype(np.float64), along)
            for end in (rule.qmin, rule.qmax)
        )
        double, single = int(TensorProto.DOUBLE), int(TensorProto.FLOAT)
        quantise = helper.make_node("QuantizeLinear", [steps, one, z], [codes], **along)
        below = self.b.name(f"{y}_not_above")
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

    def spread(self, x: str, y: str, numbers: Any, along: dict[str, int]) -> str:
        """A number for each channel, as it broadcasts to the values."""
        if along:
            axes = self.ranks.get(x)
            if axes is None:
                raise ValueError(f"'{x}' has channels' scales, and how many axes it has is unknown")
            shape = [-1 if i == along["axis"] % axes else 1 for i in range(axes)]
            numbers = np.reshape(numbers, shape)
        return self.b.tensor(f"{y}_numbers", numpy_helper.from_array(np.asarray(numbers)))


def check_fits(format: str, held: int, x: str) -> None:
    if has_own_scales(format):
        raise ValueError(f"'{x}' is narrower than binary32, and {format} has scales; export FLOAT")
    f, room = Format(format), Format("binary16" if held == TensorProto.FLOAT16 else "bfloat16")
    fits = (
        f._core.digits <= room.precision
        and f.least_digit >= room.least_digit
        and f.max_finite <= room.max_finite
    )
    if not fits:
        kind = TensorProto.DataType.Name(held)
        raise ValueError(f"'{x}' holds {kind}, which does not hold {f}; export the model in FLOAT")


def types_in(model: ModelProto) -> tuple[dict[str, int], dict[str, int]]:
    """The element types that inference finds, and how many axes there are."""
    try:
        inferred = shape_inference.infer_shapes(model)
    except Exception:  # of models that it cannot read, whose floats are taken for binary32
        inferred = model
    types: dict[str, int] = {}
    ranks: dict[str, int] = {}
    for graph in graphs(inferred.graph):
        for x in (*graph.input, *graph.output, *graph.value_info):
            told = x.type.tensor_type
            if told.elem_type:
                types[x.name] = told.elem_type
            if told.HasField("shape"):
                ranks[x.name] = len(told.shape.dim)
    return types, ranks
