"""One quantiser as nodes: the standard's where it has the type, else ours with its function."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import FunctionProto, NodeProto, TensorProto, helper, numpy_helper

from .._format import Format
from .._format_texts import said
from .._host import fits_in
from . import _arithmetic, _search, _wrapping
from ._body import DOMAIN
from ._probe import f32
from ._standard import Standard, standard

VERSION = 1  # of the domain
PREFIX = "widthwise_"  # of numbers that belong to no tensor of the model
WAYS = ", ".join(repr(name) for name in _arithmetic.GOES_UP)


def key_of(name: str) -> str:
    """Under which a node's metadata tell it."""
    return f"{DOMAIN}.{name}"


FORMAT, OF, SCALE, AXIS, PART = map(key_of, ("format", "of", "scale", "axis", "part"))


def told(node: NodeProto, format: Any = None, of: str | None = None, **more: Any) -> NodeProto:
    """A node that says which format it stands for, and of which values; or that it is a part of
    others (`part`), or under which `scale` and along which `axis`."""
    for key, told in {"format": format, "of": of, **more}.items():
        if told is not None:
            node.metadata_props.add(key=key_of(key), value=str(told))
    return node


class Builder:
    """What is added to a model: nodes, the functions and the tensors that they need.

    Args:
        taken: names that the model has.
        opset: of the standard's operators there.
        qdq: whether the standard's QuantizeLinear and DequantizeLinear may be taken.
    """

    def __init__(self, taken: set[str], opset: int, qdq: bool = True) -> None:
        self.taken, self.opset, self.qdq = taken, opset, qdq
        self.tensors: dict[str, TensorProto] = {}
        self.functions: dict[str, FunctionProto] = {}

    def name(self, wanted: str) -> str:
        found, n = wanted, 1
        while found in self.taken:
            found, n = f"{wanted}_{n}", n + 1
        self.taken.add(found)
        return found

    def names(self, y: str, parts: str) -> list[str]:
        """Of values on the way to y."""
        return [self.name(f"{y}_{part}") for part in parts.split()]

    def tensor(self, wanted: str, value: TensorProto) -> str:
        """A tensor by name; of equal ones there is one."""
        value.name = ""
        key = value.SerializeToString()
        for name, there in self.tensors.items():
            one = TensorProto()
            one.CopyFrom(there)
            one.name = ""
            if one.SerializeToString() == key:
                return name
        value.name = self.name(wanted)
        self.tensors[value.name] = value
        return value.name

    def scalar(self, x: float) -> str:
        return self.tensor(f"{PREFIX}{x:g}", numpy_helper.from_array(f32(x)))

    def zero(self, type: int) -> str:
        kind = TensorProto.DataType.Name(type).lower()
        return self.tensor(f"{PREFIX}zero_{kind}", helper.make_tensor("", type, [], [0]))

    def quantise(self, x: str, y: str, format: Any, rounding: str) -> list[NodeProto]:
        """Nodes that make the values y of the values x."""
        f = check(format, rounding)
        way = standard(f, rounding, self.opset) if self.qdq else None
        if way is None:
            return [self.own(x, y, f, rounding)]
        return self.pair(x, y, f, way)

    def pair(self, x: str, y: str, f: Format, way: Standard) -> list[NodeProto]:
        scale, zero = self.scalar(way.scale), self.zero(way.type)
        nodes, given = self.before(x, y, way)
        saturate: dict[str, Any] = {} if way.saturate is None else {"saturate": int(way.saturate)}
        codes = self.name(f"{y}_codes")
        node = helper.make_node("QuantizeLinear", [given, scale, zero], [codes], **saturate)
        nodes.append(told(node, f, x))
        nodes.append(helper.make_node("DequantizeLinear", [codes, scale, zero], [y]))
        return nodes

    def before(self, x: str, y: str, way: Standard) -> tuple[list[NodeProto], str]:
        """What runtimes and the reference want before they agree.

        Max and Min: onnxruntime 1.32 takes a Relu before QuantizeLinear away, which is wrong of
        floats, and a Clip there stops it with an error where codes have 4 bits.
        """
        if way.clip is not None:
            low, high = (self.scalar(end) for end in way.clip)
            above, clipped = self.names(y, "above clipped")
            ends = [("Max", [x, low], above), ("Min", [above, high], clipped)]
            return [helper.make_node(op, given, [out]) for op, given, out in ends], clipped
        if way.guard is None:
            return [], x
        size, over, factor, guarded = self.names(y, "size over factor guarded")
        infinite, one, border = self.scalar(np.inf), self.scalar(1.0), self.scalar(way.guard)
        return [
            helper.make_node("Abs", [x], [size]),
            helper.make_node("GreaterOrEqual", [size, border], [over]),
            helper.make_node("Where", [over, infinite, one], [factor]),
            helper.make_node("Mul", [x, factor], [guarded]),
        ], guarded

    def own(self, x: str, y: str, f: Format, rounding: str) -> NodeProto:
        texts = {"format": str(f), "rounding": rounding}
        if _arithmetic.takes(f):
            self.function(_arithmetic.NAME, lambda: _arithmetic.body(self.opset))
            how: dict[str, Any] = _arithmetic.numbers(f, rounding)._asdict()
            return self.call(_arithmetic.NAME, x, y, texts | how)
        if _wrapping.takes(f):
            overflow = _wrapping.way(f)
            name = _wrapping.NAMES[overflow]
            self.function(name, lambda: _wrapping.body(overflow, self.opset))
            return self.call(name, x, y, {**texts, **_wrapping.numbers(f, rounding)})
        found = _search.steps(f, rounding)
        levels = _search.depth(found)
        name = _search.name(levels)
        self.function(name, lambda: _search.body(levels, self.opset))
        borders, results = (numpy_helper.from_array(part) for part in _search.padded(found))
        how = {"minus_zero": found.minus_zero, "nan": found.nan}
        return self.call(name, x, y, {**texts, **how, "borders": borders, "results": results})

    def function(self, name: str, make: Any) -> None:
        if name not in self.functions:
            self.functions[name] = make()

    def call(self, name: str, x: str, y: str, how: dict[str, Any]) -> NodeProto:
        return helper.make_node(name, [x], [y], name=self.name(f"{name}_{y}"), domain=DOMAIN, **how)

    def finish(self, model: Any) -> None:
        """Put functions and tensors into the model."""
        model.graph.initializer.extend(self.tensors.values())
        there = {(f.domain, f.name) for f in model.functions}
        new = [f for name, f in self.functions.items() if (DOMAIN, name) not in there]
        model.functions.extend(new)
        domains = {x.domain for x in model.opset_import}
        if model.functions and DOMAIN not in domains:
            model.opset_import.append(helper.make_opsetid(DOMAIN, VERSION))


def check(format: Any, rounding: str) -> Format:
    """A format that a graph can round to, exactly."""
    f = format if isinstance(format, Format) else Format(str(format))
    if rounding not in _arithmetic.GOES_UP:
        why = "a graph has no random bits" if rounding.startswith("sr") else "there is no such mode"
        raise ValueError(f"rounding = {rounding!r}: {why}; take one of {WAYS}")
    if not fits_in(f, "float32"):
        raise ValueError(
            f"{said(f)} has numbers that binary32, in which ONNX graphs compute, does not hold; "
            "take a narrower format, or keep its codes: ww.array"
        )
    if not any(way.takes(f) for way in (_arithmetic, _search, _wrapping)):
        raise ValueError(
            f"{said(f)} has {f.width} bits: of {f.system}s, and of floats without a zero, graphs "
            f"search tables, up to {_search.WIDEST} bits; take a narrower format"
        )
    return f
