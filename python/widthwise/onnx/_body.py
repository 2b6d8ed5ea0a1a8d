"""Bodies of functions: standard operators, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, TensorProto, helper, numpy_helper

DOMAIN = "ai.widthwise"
TEXTS = ("format", "rounding")  # for whoever reads the graph; no body looks at them


class Body:
    """A function of x that delivers y; its attributes are numbers by name.

    >>> b = Body("Twice", ("factor",), 18)
    >>> b.do("Mul", "x factor", "y")
    >>> [node.op_type for node in b.function().node]
    ['Constant', 'Mul']
    """

    def __init__(
        self,
        name: str,
        floats: tuple[str, ...],
        opset: int,
        tensors: tuple[str, ...] = (),
        integers: tuple[str, ...] = (),
    ) -> None:
        self.name, self.opset = name, opset
        self.attributes = (*TEXTS, *floats, *tensors, *integers)
        self.nodes: list[Any] = []
        for names, of, kind in (
            (floats, "value_float", AttributeProto.FLOAT),
            (tensors, "value", AttributeProto.TENSOR),
            (integers, "value_int", AttributeProto.INT),
        ):
            for one in names:
                node = helper.make_node("Constant", [], [one])
                node.attribute.append(AttributeProto(name=of, ref_attr_name=one, type=kind))
                self.nodes.append(node)

    def constants(self, **numbers: Any) -> None:
        for name, x in numbers.items():
            self.constant(name, np.float32(x))

    def constant(self, name: str, x: Any) -> None:
        value = numpy_helper.from_array(np.asarray(x))
        self.nodes.append(helper.make_node("Constant", [], [name], value=value))

    def do(self, operator: str, inputs: str, output: str, **how: Any) -> None:
        self.nodes.append(helper.make_node(operator, inputs.split(), [output], **how))

    def leading_digit(self, x: str, y: str) -> None:
        """2^floor(log2 x) of a finite magnitude, and 0 of 0: Rump's difference of a product and its
        neighbour, far from overflow. A constant `one` is there."""
        self.constants(huge=2.0**60, narrow=2.0**-64, wide=2.0**64)
        self.constants(split=2.0**23 + 1, trim=1 - 2.0**-24)
        self.do("Greater", f"{x} huge", "is_huge")
        self.do("Where", "is_huge narrow one", "down")
        self.do("Where", "is_huge wide one", "again")
        self.do("Mul", f"{x} down", "near")
        self.do("Mul", "near split", "product")
        self.do("Mul", "product trim", "neighbour")
        self.do("Sub", "product neighbour", "difference")
        self.do("Abs", "difference", "leading")
        self.do("Mul", "leading again", y)

    def function(self) -> FunctionProto:
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_function(
            DOMAIN, self.name, ["x"], ["y"], self.nodes, opsets, list(self.attributes)
        )


# --- Blocks along the last axis ------------------------------------------------------------------


def into_blocks(b: Body) -> None:
    """x as blocks along its last axis, zeros after its end; `amax` and `faults` of each."""
    b.constants(zero=0, one=1)
    for name, i in (("none", 0), ("last_axis", -1)):
        b.constant(name, np.asarray([i], np.int64))
    b.do("Shape", "x", "lead", end=-1)
    b.do("Shape", "x", "length", start=-1)
    b.do("Equal", "block none", "is_whole")
    b.do("Where", "is_whole length block", "n")
    b.do("Mod", "length n", "past")
    b.do("Sub", "n past", "short")
    b.do("Mod", "short n", "more")
    b.do("Concat", "none more", "pads", axis=0)
    b.do("Concat", "lead last_axis n", "parted", axis=0)
    b.do("Abs", "x", "sizes")
    b.do("Sub", "sizes sizes", "finite_gives_zero")  # infinities and NaN give NaN
    b.do("IsNaN", "finite_gives_zero", "is_fault")
    b.do("Where", "is_fault zero sizes", "known")
    b.do("Cast", "is_fault", "fault", to=int(TensorProto.FLOAT))
    for name in ("known", "fault"):
        b.do("Pad", f"{name} pads zero last_axis", f"{name}_padded")
        b.do("Reshape", f"{name}_padded parted", f"{name}_blocks")
    b.do("ReduceMax", "known_blocks last_axis", "amax", keepdims=1)
    b.do("ReduceMax", "fault_blocks last_axis", "faults", keepdims=1)


def out_of_blocks(b: Body, kind: int = TensorProto.FLOAT) -> None:
    """One scale for each element; of blocks that have NaN or infinity it is NaN."""
    b.constants(nan=np.nan)
    b.do("Greater", "faults zero", "has_faults")
    b.do("Where", "has_faults nan one", "factor")
    b.do("Cast", "factor", "validity", to=int(kind))
    b.do("Mul", "scale validity", "valid")
    b.do("Shape", "known_blocks", "extents")
    b.do("Expand", "valid extents", "spread")
    b.do("Concat", "lead last_axis", "flat", axis=0)
    b.do("Reshape", "spread flat", "row")
    b.do("Slice", "row none length last_axis", "y")
