"""Blocks under scales in E4M3 and a scale of the whole tensor (NVFP4), both found as a graph runs.

Quotients and products are binary64's: numbers of 24 digits over products of 28 lie further from
ties than its rounding reaches, so that each result is rounded once, as B4 of the semantics has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from .._block_format import BlockFormat
from .._format import Format
from ._body import Body, into_blocks, out_of_blocks
from ._nodes import Builder, told

SCALES, QUOTIENTS = "BlockTwoScales", "BlockQuotient"
MOST_DIGITS, LEAST_DIGIT = 16, -100  # of elements, whose ties quotients to odd keep apart
FLOAT, DOUBLE = int(TensorProto.FLOAT), int(TensorProto.DOUBLE)
LARGEST_SCALE, LEAST_SCALE = 448.0, 2.0**-9  # of E4M3
SCALE_DIGITS, LARGEST_EXPONENT = 9, 127  # before the point of the largest scale; of binary32


def takes(f: BlockFormat) -> bool:
    e = f.element
    few = e._core.digits <= MOST_DIGITS and e.least_digit >= LEAST_DIGIT
    near = e.emax <= LARGEST_EXPONENT - SCALE_DIGITS  # the largest scale's product is binary32's
    return f._core.takes_tensor_scale and few and near and (e.is_float or e.system == "fixed")


def nodes(
    b: Builder, x: str, y: str, f: BlockFormat, element: Format, how: dict[str, Any]
) -> list[NodeProto]:
    """`how`: what the node of the scales says; `element`: what quotients are rounded to."""
    b.function(SCALES, lambda: scales(b.opset))
    b.function(QUOTIENTS, lambda: quotients(b.opset))
    scale, quotient, rounded, wide, product = b.names(y, "scale quotient element wide product")
    texts = {"format": str(f), "rounding": how["rounding"]}
    divided = b.call(QUOTIENTS, x, quotient, texts)
    divided.input.append(scale)
    return [
        b.call(SCALES, x, scale, how),
        told(divided, part=f),
        told(b.own(quotient, rounded, element, how["rounding"]), part=f),
        helper.make_node("Cast", [rounded], [wide], to=DOUBLE),
        helper.make_node("Mul", [wide, scale], [product]),
        helper.make_node("Cast", [product], [y], to=FLOAT),
    ]


def scales(opset: int) -> Any:
    """b S of each element, in binary64: S = f32(amax / (448 max)), b = amax_b / (max S) in E4M3."""
    b = Body(SCALES, ("most",), opset, integers=("block",))
    into_blocks(b)
    b.constants(widest=LARGEST_SCALE, least=LEAST_SCALE, eighth=1 / 8)
    b.do("ReduceMax", "known", "largest", keepdims=0)
    b.do("Mul", "most widest", "reach")
    b.do("Div", "largest reach", "ratio")
    b.do("Greater", "ratio zero", "is_some")
    b.do("Where", "is_some ratio one", "whole_scale")
    for of, to in (("amax", "a"), ("most", "m"), ("whole_scale", "s"), ("one", "unit")):
        b.do("Cast", of, to, to=DOUBLE)
    b.do("Mul", "m s", "by")
    b.do("Div", "a by", "wanted")
    b.do("Cast", "wanted", "about", to=FLOAT)
    b.leading_digit("about", "digit")
    b.do("Mul", "digit eighth", "last")
    b.do("Max", "last least", "grid")
    for of, to in (("grid", "g"), ("widest", "high"), ("least", "low")):
        b.do("Cast", of, to, to=DOUBLE)
    b.do("Div", "wanted g", "exact")
    b.do("Round", "exact", "whole")
    b.do("Mul", "whole g", "code")
    b.do("Clip", "code low high", "own")
    b.do("Mul", "own s", "divisor")
    b.do("Greater", "amax zero", "has_some")
    b.do("Where", "has_some divisor unit", "scale")
    out_of_blocks(b, DOUBLE)
    return b.function()


def quotients(opset: int) -> Any:
    """x / scale, cut to 20 digits and a last one that tells of the rest: no tie is lost or made."""
    b = Body(QUOTIENTS, (), opset)
    b.constants(zero=0, one=1, minus=-1)
    for name, x in (("fine", 2.0**-20), ("tiny", 2.0**-149), ("half", 0.5), ("nothing", 0.0)):
        b.constant(name, np.float64(x))
    b.do("Cast", "x", "v", to=DOUBLE)
    b.do("Div", "v scale", "exact")
    b.do("Abs", "exact", "size")
    b.do("Cast", "size", "about", to=FLOAT)
    b.leading_digit("about", "digit")
    b.do("Cast", "digit", "d", to=DOUBLE)
    b.do("Mul", "d fine", "last")
    b.do("Max", "last tiny", "step")
    b.do("Div", "size step", "steps")
    b.do("Floor", "steps", "whole")
    b.do("Less", "whole steps", "is_more")
    b.do("Where", "is_more half nothing", "more")
    b.do("Add", "whole more", "kept")
    b.do("Mul", "kept step", "odd")
    b.do("Cast", "odd", "magnitude", to=FLOAT)
    b.do("Less", "x zero", "below")
    b.do("Div", "one x", "inverse")
    b.do("Less", "inverse zero", "before_zero")
    b.do("Or", "below before_zero", "negative")
    b.do("Where", "negative minus one", "sign")
    b.do("Mul", "magnitude sign", "y")
    function = b.function()
    function.input.append("scale")
    return function
