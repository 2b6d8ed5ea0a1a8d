"""What keeps a runtime from rounding values that nobody asked it to round.

onnxruntime (1.32, its extended optimisations) makes one operator, MatMulNBits, of a weight's
DequantizeLinear and its product, and that one rounds the other operand to 8 bits. A node between
them that changes no number keeps both as they are.
"""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from ._graph import constants_in, inner_graphs
from ._nodes import Builder
from ._probe import LARGEST
from ._standard import INTEGERS as standard_integers

PRODUCTS = ("MatMul", "Gemm")
INTEGERS = {x.of for x in standard_integers.values()}


Tensors = dict[str, TensorProto]


def guard_products(graph: GraphProto, b: Builder, outer: Tensors | None = None) -> None:
    """In a graph and those inside it."""
    known = (outer or {}) | constants_in(graph) | b.tensors
    made = {name: node for node in graph.node for name in node.output}
    guarded: dict[str, str] = {}
    nodes: list[NodeProto] = []
    for node in graph.node:
        for inner in inner_graphs(node):
            guard_products(inner, b, known)
        if node.op_type in PRODUCTS and not is_quantised(made.get(node.input[0])):
            weight = node.input[1]
            if is_weight(through_transposes(made, weight), known):
                if weight not in guarded:
                    guarded[weight] = b.name(f"{weight}_as_it_is")
                    least = b.scalar(-float(np.float32(LARGEST)))
                    nodes.append(helper.make_node("Max", [weight, least], [guarded[weight]]))
                node.input[1] = guarded[weight]
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


def through_transposes(made: dict[str, NodeProto], name: str) -> NodeProto | None:
    node = made.get(name)
    while node is not None and node.op_type == "Transpose":
        node = made.get(node.input[0])
    return node


def is_weight(node: NodeProto | None, constants: Tensors) -> bool:
    """Of integers."""
    if node is None or node.op_type != "DequantizeLinear" or node.input[0] not in constants:
        return False
    return constants[node.input[0]].data_type in INTEGERS


def is_quantised(node: NodeProto | None) -> bool:
    """Of which a runtime may take the codes: that is what was asked for."""
    return node is not None and node.op_type == "DequantizeLinear"
