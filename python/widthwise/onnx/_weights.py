"""Weights as codes beside their scales: DequantizeLinear where the standard has the type."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from .._block_format import BlockFormat, is_container
from .._create import array, from_bits
from .._format import Format
from .._format_texts import said
from .._host import fits_in
from .._machine import by_usual_arithmetic
from ..containers.affine import Affine, affine
from ..containers.blocks import Blocks
from ..containers.coded import saturating
from ..containers.quantise import blocks
from ..containers.scheme import is_affine
from ._body import DOMAIN, TEXTS, Body
from ._graph import along_axis
from ._how import How
from ._nodes import Builder, check, told
from ._probe import BINARY32, f32, values
from ._standard import codes_of, held, type_of

NAME = "Dequantize"
WIDEST_TABLE = 8  # bits of elements that are looked up
BLOCKS_SINCE = 21


def weight(b: Builder, w: np.ndarray, name: str, y: str, how: How) -> list[NodeProto]:
    """Nodes that make the values y of a weight's codes.

    Args:
        w: the numbers, in binary32.
        name: of the weight, after which its parts are named.
    Raises:
        ValueError: the format's numbers are past binary32, or it is stochastic.
    """
    if not is_container(how.format):
        return bare(b, w, name, y, check(how.format, how.rounding), how.rounding)
    check(Format("binary32"), how.rounding)
    if is_affine(how.format):
        x = affine(
            w, how.format, axis=how.axis, rounding=how.rounding, scale=how.scale,
            zero_point=how.zero_point,
        )  # fmt: skip
        return of_affine(b, x, name, y)
    along = -1 if how.axis is None else how.axis
    return of_blocks(b, blocks(w, how.format, axis=along, rounding=how.rounding), name, y)


def bare(b: Builder, w: np.ndarray, name: str, y: str, f: Format, rounding: str) -> list[NodeProto]:
    """Codes of single numbers, where the standard has their type; else the node rounds them."""
    kind = held(f, b.opset) if b.qdq else None
    if kind is None:
        there = b.tensor(f"{name}_floats", numpy_helper.from_array(w))
        return [b.own(there, y, f, rounding)]
    codes = array(w, f, rounding=rounding).bits
    stored = b.tensor(f"{name}_codes", tensor_of(signed(codes, f), kind.type))
    scale, zero = b.scalar(kind.scale), b.zero(kind.type)
    return [told(helper.make_node("DequantizeLinear", [stored, scale, zero], [y]), f)]


@by_usual_arithmetic
def under_scale(
    b: Builder, w: np.ndarray, name: str, y: str, how: How, axis: int | None
) -> list[NodeProto] | None:
    """Codes of single numbers under a scale that is given, one or one a channel of an axis; nothing
    where the standard has no type for them."""
    f = check(how.format, how.rounding)
    through = saturating(f)
    kind = held(through, b.opset) if b.qdq else None
    if kind is None or how.scale is None:
        return None
    scales = how.scale * f32(kind.scale)
    if (scales / f32(kind.scale) != how.scale).any():  # lost below or above binary32's numbers
        return None
    spread = how.scale if axis is None else along_axis(how.scale, axis, w.ndim)
    with np.errstate(over="ignore", under="ignore"):
        codes = array(w / spread, through, rounding=how.rounding).bits
    stored = b.tensor(f"{name}_codes", tensor_of(signed(codes, f), kind.type))
    scale = b.tensor(f"{name}_scale", numpy_helper.from_array(np.asarray(scales)))
    along: dict[str, Any] = {} if axis is None else {"axis": axis}
    node = helper.make_node("DequantizeLinear", [stored, scale], [y], **along)
    return [told(node, f, scale=how.scale.tolist(), axis=axis)]


def signed(codes: np.ndarray, f: Format) -> np.ndarray:
    """Codes in two's complement as the integers that they are."""
    if f.system != "fixed" or not f.signed:
        return codes
    wide = codes.astype(np.int64)
    return wide - ((wide >> f.width - 1) << f.width)


def tensor_of(codes: np.ndarray, type: int) -> TensorProto:
    return numpy_helper.from_array(np.array(codes_of(codes, type), order="C"))


# --- Affine integers ------------------------------------------------------------------------------


def of_affine(b: Builder, x: Affine, name: str, y: str) -> list[NodeProto]:
    type = type_of(x.bits, x.scheme.signed, b.opset)
    if type is None:
        raise ValueError(
            f"{name}: {said(x.format)} has codes of {x.bits} bits, and DequantizeLinear takes 16 "
            f"(8 before opset 21; this is {b.opset})"
        )
    how, scale, zero = grouped(b, x, name)
    stored = b.tensor(f"{name}_codes", tensor_of(x.codes, type.of))
    scales = b.tensor(f"{name}_scale", numpy_helper.from_array(np.asarray(scale)))
    zeros = b.tensor(f"{name}_zero_point", tensor_of(np.asarray(zero), type.of))
    node = helper.make_node("DequantizeLinear", [stored, scales, zeros], [y], **how)
    return [told(node, x.format)]


def grouped(b: Builder, x: Affine, name: str) -> tuple[dict[str, Any], Any, Any]:
    """Attributes, scales and zero points; a tile's scales once for each of its rows."""
    groups = x.grouping
    if groups.kind == "tensor":
        return {}, x.scale, x.zero_point
    if groups.kind == "channel":
        return {"axis": groups.axis}, x.scale, x.zero_point
    if b.opset < BLOCKS_SINCE:
        raise ValueError(
            f"{name}: {said(x.format)} has blocks, which DequantizeLinear has since opset "
            f"{BLOCKS_SINCE}, and this is {b.opset}; pass opset={BLOCKS_SINCE}"
        )
    scale, zero = x.scale, x.zero_point
    if groups.kind == "tile":
        rows = x.shape[-2]
        scale, zero = (np.repeat(s, groups.rows, axis=-2)[..., :rows, :] for s in (scale, zero))
    return {"axis": groups.axis, "block_size": groups.length(x.shape)}, scale, zero


# --- Blocks ---------------------------------------------------------------------------------------


def of_blocks(b: Builder, x: Blocks, name: str, y: str) -> list[NodeProto]:
    """By the standard, by a table of the elements, or, where these are long, as binary32."""
    f = x.format.element
    kind = held(f, b.opset) if b.qdq and b.opset >= BLOCKS_SINCE else None
    if kind is not None and isinstance(x.block, int) and takes_steps(x, kind.scale):
        return linear(b, x, name, y, kind.type, kind.scale)
    if f.width <= WIDEST_TABLE and products_are_exact(x.format):
        return looked_up(b, x, name, y)
    floats = b.tensor(f"{name}_floats", numpy_helper.from_array(x.to_float32()))
    return [helper.make_node("Identity", [floats], [y])]


@by_usual_arithmetic
def takes_steps(x: Blocks, step: float) -> bool:
    """Whether one scale a block, times an integer's step, is a number of binary32."""
    scales = values(x.scales)
    with np.errstate(over="ignore", under="ignore"):
        return x.tensor_scale is None and bool((scales * f32(step) / f32(step) == scales).all())


def products_are_exact(f: BlockFormat) -> bool:
    """Whether binary32 holds the elements, and what a tensor's scale multiplies: those times
    scales."""
    e, scale = f.element, f.scale
    if not f._core.takes_tensor_scale:
        return fits_in(e, "float32")
    return (
        e._core.digits + scale._core.digits <= BINARY32._core.digits
        and e.least_digit + scale.least_digit >= BINARY32.least_digit
        and e.emax + scale.emax < BINARY32.emax
    )


def linear(b: Builder, x: Blocks, name: str, y: str, type: int, step: float) -> list[NodeProto]:
    scales = values(x.scales) * f32(step)
    codes = signed(np.asarray(x.elements.bits), x.format.element)
    stored = b.tensor(f"{name}_codes", tensor_of(codes, type))
    scale = b.tensor(f"{name}_scale", numpy_helper.from_array(scales))
    axis = x._layout.axis
    assert axis is not None
    how: dict[str, Any] = {"axis": axis, "block_size": x._layout.extents[axis]}
    node = helper.make_node("DequantizeLinear", [stored, scale], [y], **how)
    return [told(node, x.format)]


def looked_up(b: Builder, x: Blocks, name: str, y: str) -> list[NodeProto]:
    """Each axis with blocks as two: which block, and where in it; short blocks are filled up."""
    f, extents, groups = x.format.element, x._layout.extents, x._layout.scales_shape
    padded = [n * e for n, e in zip(groups, extents, strict=True)]
    parted = [n for pair in zip(groups, extents, strict=True) for n in pair]
    spread = [n for group in groups for n in (group, 1)]
    codes = np.zeros(padded, x.elements.bits.dtype)
    codes[tuple(slice(n) for n in x.shape)] = x.elements.bits
    whole = f32(1 if x.tensor_scale is None else x.tensor_scale)
    parts = [
        b.tensor(f"{name}_codes", numpy_helper.from_array(codes)),
        b.tensor(f"{name}_scale", numpy_helper.from_array(values(x.scales).reshape(spread))),
        b.tensor(f"{name}_tensor_scale", numpy_helper.from_array(whole)),
    ]
    b.function(NAME, lambda: body(b.opset))
    how: dict[str, Any] = {"format": str(x.format), "axis": x.axis}
    table = values(from_bits(np.arange(1 << f.width, dtype=f.dtype), f))
    how["values"] = numpy_helper.from_array(table)
    for of, sizes in (("parted", parted), ("padded", padded), ("shape", x.shape)):
        how[of] = numpy_helper.from_array(np.asarray(sizes, np.int64))
    return [helper.make_node(NAME, parts, [y], name=b.name(f"{NAME}_{y}"), domain=DOMAIN, **how)]


def body(opset: int) -> Any:
    """Elements from a table, times their block's scale, times the tensor's: one rounding."""
    tensors = ("values", "parted", "padded", "shape")
    b = Body(NAME, (), opset, tensors)
    b.do("Cast", "codes", "at", to=int(TensorProto.INT64))
    b.do("Gather", "values at", "elements")
    b.do("Reshape", "elements parted", "blocks")
    b.do("Mul", "blocks scales", "scaled")
    b.do("Mul", "scaled tensor_scale", "numbers")
    b.do("Reshape", "numbers padded", "full")
    b.do("Sub", "shape shape", "first")
    b.do("Slice", "full first shape", "y")
    function = b.function()
    function.input[:] = ["codes", "scales", "tensor_scale"]
    function.attribute[:] = [TEXTS[0], *tensors, "axis"]
    return function
