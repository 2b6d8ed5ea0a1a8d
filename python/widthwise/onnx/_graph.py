"""A model's graph and those inside its nodes: names, constants, opsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
    version_converter,
)

STANDARD = ("", "ai.onnx")
LEAST_OPSET = 16  # Where, Max, GreaterOrEqual as the bodies take them


def opset_of(model: ModelProto) -> int:
    return max((x.version for x in model.opset_import if x.domain in STANDARD), default=0)


def at_opset(model: ModelProto, wanted: int | None) -> ModelProto:
    """A copy of the model, in an opset that our functions can be in."""
    copy = ModelProto()
    copy.CopyFrom(model)
    if wanted is not None and wanted != opset_of(model):
        copy = version_converter.convert_version(copy, wanted)
    if opset_of(copy) < LEAST_OPSET:
        raise ValueError(
            f"the model has opset {opset_of(model)}; quantisers need {LEAST_OPSET}, and 21 for "
            "blocks and integers of 4 and 16 bits: pass opset=21"
        )
    least = helper.find_min_ir_version_for(copy.opset_import, ignore_unknown=True)
    copy.ir_version = max(copy.ir_version, least, 8)  # of functions in models
    return copy


def graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """The graph, and those that its nodes hold (If, Loop)."""
    yield graph
    for node in graph.node:
        for inner in inner_graphs(node):
            yield from graphs(inner)


def inner_graphs(node: NodeProto) -> Iterator[GraphProto]:
    for a in node.attribute:
        if a.type == AttributeProto.GRAPH:
            yield a.g
        elif a.type == AttributeProto.GRAPHS:
            yield from a.graphs


def names_in(model: ModelProto) -> set[str]:
    """Of everything that has one."""
    found: set[str] = set()
    for graph in graphs(model.graph):
        found |= {x.name for x in (*graph.input, *graph.output, *graph.initializer)}
        for node in graph.node:
            found |= {node.name, *node.input, *node.output}
    return found


def constants_in(graph: GraphProto) -> dict[str, TensorProto]:
    """Tensors that no run changes: initializers that are no inputs, and those of Constant nodes."""
    given = {x.name for x in graph.input}
    found = {x.name: x for x in graph.initializer if x.name not in given}
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in STANDARD:
            for a in node.attribute:
                if a.name == "value":
                    found[node.output[0]] = a.t
    return found


def attribute(node: NodeProto, name: str, otherwise: Any = None) -> Any:
    for a in node.attribute:
        if a.name == name:
            x = helper.get_attribute_value(a)
            return x.decode() if isinstance(x, bytes) else x
    return otherwise


def numbers_of(tensor: TensorProto) -> np.ndarray:
    return np.asarray(numpy_helper.to_array(tensor))


def without_unused(model: ModelProto) -> None:
    """Initializers and Constant nodes that nothing reads any more go."""
    read: set[str] = {x.name for x in model.graph.output}
    for graph in graphs(model.graph):
        read |= {name for node in graph.node for name in node.input}
        read |= {x.name for x in graph.output}
    for graph in graphs(model.graph):
        kept = [x for x in graph.initializer if x.name in read]
        del graph.initializer[:]
        graph.initializer.extend(kept)
        nodes = [x for x in graph.node if x.op_type != "Constant" or x.output[0] in read]
        del graph.node[:]
        graph.node.extend(nodes)


def along_axis(numbers: np.ndarray, axis: int, axes: int) -> np.ndarray:
    """One for each index of an axis, as they broadcast to so many axes."""
    return numbers.reshape([-1 if i == axis else 1 for i in range(axes)])
