"""Values whose scales are found as the graph runs: blocks, and symmetric affine integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from .._block_format import BlockFormat
from .._create import from_bits
from .._format import Format
from .._format_facts import highest
from .._format_texts import said
from .._host import block_format_of
from ..containers.coded import saturating
from ..containers.scheme import is_affine, parsed
from . import _tensor_scale
from ._body import Body, into_blocks, out_of_blocks
from ._how import How
from ._nodes import Builder, check, told
from ._probe import values

POWERS, RATIOS, AFFINE = "BlockScale", "BlockRatio", "QuantizeAffine"
NEAREST = ("rne", "rno", "rna", "rnz", "rnp", "rnm")
SINCE = 18  # ReduceMax and Pad have their axes as inputs
MOST_BITS = 24  # of integers that binary32 has all
LARGEST_POWER = 127  # of two, in binary32


def dynamic(b: Builder, x: str, y: str, how: How) -> list[NodeProto]:
    """Nodes that find the scales of x, along its last axis, and make the values y.

    Raises:
        ValueError: a rule of scales that graphs do not have; the message has the way out.
    """
    check(Format("binary32"), how.rounding)
    if b.opset < SINCE:
        raise ValueError(
            f"{said(how.format)} of '{x}': opset {SINCE} is wanted, and this is {b.opset}"
        )
    if is_affine(how.format):
        return [of_affine(b, x, y, how.format, how.rounding)]
    return of_blocks(b, x, y, block_format_of(how.format), how.rounding)


def of_blocks(b: Builder, x: str, y: str, f: BlockFormat, rounding: str) -> list[NodeProto]:
    two = f._core.takes_tensor_scale
    if not isinstance(f.block, int) or has_options(f) or (two and not _tensor_scale.takes(f)):
        raise ValueError(
            f"{said(f)} of '{x}': of values that a run brings, graphs find scales by the rules "
            "floor (powers of two) and amax (E4M3, binary32), of blocks along an axis; quantise "
            "weights so, or take 'mxfp8_e4m3', 'nvfp4', 'bfp(8,32,e8)' or "
            "'block(e4m3fn,128,binary32)'"
        )
    if rounding not in NEAREST:
        raise ValueError(
            f"{said(f)} of '{x}': rounding = {rounding!r}, and a quotient of blocks may underflow, "
            f"after which only {', '.join(NEAREST)} are right"
        )
    try:
        check(f.element, rounding)
    except ValueError as why:
        raise ValueError(f"{said(f)} of '{x}': {why}") from None
    element = within_ends(f.element)
    how: dict[str, Any] = {"format": str(f), "rounding": rounding, "block": f.block}
    how["most"] = highest(f.element)
    if two:
        return _tensor_scale.nodes(b, x, y, f, element, how)
    scale, quotient, rounded = b.names(y, "scale quotient element")
    return [
        scale_node(b, x, scale, f, how),
        helper.make_node("Div", [x, scale], [quotient]),
        told(b.own(quotient, rounded, element, rounding), part=f),
        helper.make_node("Mul", [rounded, scale], [y]),
    ]


def has_options(f: BlockFormat) -> bool:
    """Behind what a block is; an element's own stand within."""
    text = str(f)
    return bool(text.rpartition(")")[2] if ")" in text else text.partition(";")[2])


def within_ends(f: Format) -> Format:
    """What elements are rounded by: past their ends they are these."""
    if f.system == "fixed":
        return Format(f"{str(f).split(';')[0]};overflow=symmetric")
    return saturating(f)


def scale_node(b: Builder, x: str, scale: str, f: BlockFormat, how: dict[str, Any]) -> NodeProto:
    if not f._core.power_of_two:
        b.function(RATIOS, lambda: ratios(b.opset))
        return b.call(RATIOS, x, scale, how)
    b.function(POWERS, lambda: powers(b.opset))
    ends = values(np_codes(f.scale, ("min_normal", "max_finite")))
    largest = f.element.max_finite  # dyadic, maybe of more digits than a float has
    top = largest.denominator.bit_length() - largest.numerator.bit_length()
    if top > LARGEST_POWER:
        raise ValueError(
            f"{said(f)} of '{x}': the largest number of {said(f.element)} lies below "
            f"2^-{LARGEST_POWER}, and graphs divide by it in binary32; take a format with "
            "larger numbers"
        )
    how["top"] = 2.0**top
    how["least"], how["most"] = (float(end) for end in ends)
    return b.call(POWERS, x, scale, how)


def np_codes(f: Format, named: tuple[str, ...]) -> Any:
    return from_bits(np.array([f.codes[name] for name in named], f.dtype), f)


# --- Scales of blocks -----------------------------------------------------------------------------


def powers(opset: int) -> Any:
    """OCP MX's rule: 2^(floor(log2 amax) - emax), within the scales' range."""
    b = Body(POWERS, ("top", "least", "most"), opset, integers=("block",))
    into_blocks(b)
    b.leading_digit("amax", "digit")
    b.do("Mul", "digit top", "ideal")
    b.do("Max", "ideal least", "at_least")
    b.do("Min", "at_least most", "scale")
    out_of_blocks(b)
    return b.function()


def ratios(opset: int) -> Any:
    """Largest magnitude / largest element in binary32; 1 where that is zero."""
    b = Body(RATIOS, ("most",), opset, integers=("block",))
    into_blocks(b)
    b.do("Div", "amax most", "ratio")
    b.do("Greater", "ratio zero", "is_some")
    b.do("Where", "is_some ratio one", "scale")
    out_of_blocks(b)
    return b.function()


# --- Affine integers ------------------------------------------------------------------------------


def of_affine(b: Builder, x: str, y: str, text: str, rounding: str) -> NodeProto:
    rule, groups = parsed(text)
    blocked = groups.isdecimal()
    if rule.name != "symmetric" or rule.bits > MOST_BITS or not (blocked or groups in ("", "all")):
        raise ValueError(
            f"{text} of '{x}': of values that a run brings, graphs find scales of symmetric codes, "
            "one or one a block along the last axis, as 'affine(int8,symmetric)'; name a scale and "
            f"a zero point for others: {{'input': {{'format': '{text}', 'scale': 0.02, "
            "'zero_point': 128}}"
        )
    if rounding != "rne":
        raise ValueError(f"{text} of '{x}': rounding = {rounding!r}; graphs round these by 'rne'")
    name = f"{AFFINE}Blocks" if blocked else AFFINE
    b.function(name, lambda: affine_body(name, blocked, b.opset))
    how: dict[str, Any] = {"format": text, "rounding": rounding, "most": float(rule.qmax)}
    return b.call(name, x, y, how | ({"block": int(groups)} if blocked else {}))


def affine_body(name: str, blocked: bool, opset: int) -> Any:
    """s = f32(amax / most), then s rne(x / s): quotients and products of binary32 are so far from
    ties, and so short, that binary64 decides them."""
    b = Body(name, ("most",), opset, integers=("block",) if blocked else ())
    if blocked:
        into_blocks(b)
    else:
        b.constants(zero=0, one=1)
        b.do("Abs", "x", "sizes")
        b.do("ReduceMax", "sizes", "amax", keepdims=0)
    b.do("Div", "amax most", "ratio")
    b.do("Greater", "ratio zero", "is_some")
    b.do("Where", "is_some ratio one", "scale")
    if blocked:
        out_of_blocks(b)
        b.nodes[-1].output[0] = "scales"
    for of, wide in ((("scales" if blocked else "scale"), "s"), ("x", "v"), ("most", "high")):
        b.do("Cast", of, wide, to=int(TensorProto.DOUBLE))
    b.do("Neg", "high", "low")
    b.do("Div", "v s", "quotient")
    b.do("Round", "quotient", "whole")
    b.do("Clip", "whole low high", "codes")
    b.constant("no_code", np.float64(0))
    b.do("Equal", "codes no_code", "is_zero")
    b.do("Where", "is_zero no_code codes", "unsigned_zero")
    b.do("Mul", "unsigned_zero s", "exact")
    b.do("Cast", "exact", "y", to=int(TensorProto.FLOAT))
    return b.function()
