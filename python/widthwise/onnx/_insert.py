"""Quantisers in a model that is there: by rules on operators and names of nodes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, checker

from .._block_format import is_container
from .._format_texts import said
from .._host import block_format_of
from .._layer_rules import Rule, key_text, listed, rules_of
from .._unit import Unit
from ..containers.scheme import is_affine, parsed
from ._body import DOMAIN
from ._graph import (
    STANDARD,
    at_opset,
    attribute,
    constants_in,
    graphs,
    inner_graphs,
    without_unused,
)
from ._guards import guard_products
from ._how import How, how_of
from ._read import model_of
from ._rewrite import Rewriter

LAYERS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
INPUTS = {"input": 0, "weight": 1, "bias": 2}
SETTINGS = (*INPUTS, "output", "rounding", "unit")
RUNTIME_SUMS = (
    "products are summed by the runtime, in binary32 and in an order of its own, not by {units}: "
    "operands and results are that unit's formats bit for bit, sums are not. widthwise.torch, or "
    "ww.matmul, computes them"
)


class Scheme(NamedTuple):
    """What a node's operands and its result are rounded to."""

    input: How | None = None
    weight: How | None = None
    bias: How | None = None
    output: How | None = None
    unit: str | None = None


def quantize_model(
    model: ModelProto | str | os.PathLike[str],
    rules: Any,
    *,
    rounding: str = "rne",
    opset: int | None = None,
    standard: bool = True,
    inline: bool = False,
) -> ModelProto:
    """Put quantisers around the layers of an ONNX model, and its weights into codes.

    Args:
        model: an onnx.ModelProto, which stays as it is, or the path of one.
        rules: which nodes, and how: {"Conv": "e4m3fn;overflow=satfinite", "*/fc?": {"weight":
            "affine(int8,symmetric,channel)"}}. A key is an operator or a glob on nodes' names; the
            first that fits decides. '*' is all of Conv, ConvTranspose, Gemm and MatMul. A value is
            a format of both operands, None (stays), or a dict of input, weight, bias, output (each
            a format, or a dict of format, scale, zero_point, axis), unit and rounding. A scale is
            one number, or one a channel of the axis.
        rounding: of all that have no own: a deterministic one, as in `ww.array`.
        opset: to convert the model to first; None leaves its own. Blocks and integers of 4 and 16
            bits are in the standard since 21.
        standard: QuantizeLinear and DequantizeLinear where the standard has the type; False takes
            the function `ai.widthwise::Quantize` everywhere but for weights in blocks.
        inline: replace functions by the standard operators that they consist of.
    Returns:
        A new model. Weights (initializers) are codes with DequantizeLinear where the standard has
        their type. A unit rounds operands and results to its formats; what it does between them is
        not in the graph, and a warning says so.
    Raises:
        ValueError: a rule fits no node; a format that binary32 does not hold; a scale or a zero
            point that the format or the axis does not take; stochastic rounding; an opset below 16.

    >>> import onnx
    >>> from onnx import helper, TensorProto
    >>> x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 2]) for n in "xy")
    >>> w = helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [0.3, -1.7, 2.0, 9.0])
    >>> product = helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")
    >>> graph = helper.make_graph([product], "net", [x], [y], [w])
    >>> net = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    >>> net = quantize_model(net, {"fc": {"input": "e5m6", "weight": "e5m2"}})
    >>> [node.op_type for node in net.graph.node]
    ['Quantize', 'DequantizeLinear', 'MatMul']
    """
    read = read_rules(rules, rounding)
    copy = at_opset(model_of(model), opset)
    candidates = [node for graph in graphs(copy.graph) for node in graph.node]
    check_rules(read, candidates)
    rewriter = Rewriter(copy, standard)
    units = rewrite(copy.graph, read, rewriter, {})
    if units:
        warn_of_sums(units)
    return finished(copy, rewriter, inline)


def warn_of_sums(units: Iterable[str]) -> None:
    told = RUNTIME_SUMS.format(units=", ".join(sorted(set(units))))
    warnings.warn(f"the exported graph: {told}", UserWarning, stacklevel=3)


def finished(model: ModelProto, rewriter: Rewriter, inline: bool) -> ModelProto:
    guard_products(model.graph, rewriter.b)
    rewriter.b.finish(model)
    without_unused(model)
    checker.check_model(model)
    return inlined(model) if inline else model


def inlined(model: ModelProto | str | os.PathLike[str]) -> ModelProto:
    """The same model without functions: standard operators alone.

    Args:
        model: of `export_to_onnx` or `quantize_model`, or the path of one.
    Returns:
        A new model, for runtimes that have no functions.
    Raises:
        onnx.checker.ValidationError: the model is none.

    >>> from onnx import helper
    >>> graph = helper.make_graph([], "nothing", [], [])
    >>> len(inlined(helper.make_model(graph)).functions)
    0
    """
    from onnx import inliner

    flat = inliner.inline_local_functions(model_of(model))
    kept = [x for x in flat.opset_import if x.domain != DOMAIN]
    del flat.opset_import[:]
    flat.opset_import.extend(kept)
    checker.check_model(flat)
    return flat


# --- The graph ------------------------------------------------------------------------------------


def rewrite(
    graph: GraphProto, rules: list[Rule], rewriter: Rewriter, outer: Mapping[str, TensorProto]
) -> list[str]:
    """Quantisers in a graph and those inside it; the units that were met."""
    constants = {**outer, **constants_in(graph)}
    units: list[str] = []
    nodes: list[NodeProto] = []
    made: dict[tuple[Any, ...], str] = {}
    for node in graph.node:
        for inner in inner_graphs(node):
            units += rewrite(inner, rules, rewriter, constants)
        scheme = scheme_of(node, rules)
        if scheme is None:
            nodes.append(node)
            continue
        units += [] if scheme.unit is None else [scheme.unit]
        nodes += around(node, scheme, rewriter, constants, made)
    del graph.node[:]
    graph.node.extend(nodes)
    return units


def around(
    node: NodeProto,
    scheme: Scheme,
    rewriter: Rewriter,
    constants: Mapping[str, TensorProto],
    made: dict[tuple[Any, ...], str],
) -> list[NodeProto]:
    """The node between the quantisers of its operands and of its result."""
    before: list[NodeProto] = []
    for part, at in INPUTS.items():
        how = getattr(scheme, part)
        if how is None or at >= len(node.input) or not node.input[at]:
            continue
        x = node.input[at]
        how = along_axis(node, part, how)
        key = x, *how.key()
        if key not in made:
            made[key] = rewriter.b.name(f"{x}_quantised")
            before += rewriter.quantised(x, made[key], how, constants)
        node.input[at] = made[key]
    if scheme.output is None:
        return [*before, node]
    y = node.output[0]
    raw = rewriter.b.name(f"{y}_exact")
    rewriter.known_as(raw, y)
    node.output[0] = raw
    how = along_axis(node, "output", scheme.output)
    return [*before, node, *rewriter.quantised(raw, y, how, {})]


def along_axis(node: NodeProto, part: str, how: How) -> How:
    """With the axis of its scales, where none was told."""
    if how.axis is not None:
        return how
    if how.has_channels:
        return how._replace(axis=axis_of_channels(node, part))
    return how._replace(axis=axis_of_sums(node, part)) if has_blocks(how) else how


def axis_of_channels(node: NodeProto, part: str) -> int:
    """Of a weight and a bias those of the output, of values their own."""
    convolution = node.op_type in ("Conv", "ConvTranspose")
    if part == "weight" and convolution:
        return int(node.op_type == "ConvTranspose")
    if part == "weight" and node.op_type == "Gemm":
        return int(not attribute(node, "transB", 0))
    if part == "input" and node.op_type == "Gemm":
        return axis_of_sums(node, part)
    return 1 if convolution and part != "bias" else -1


def axis_of_sums(node: NodeProto, part: str) -> int:
    """Along which a product sums; of what is not summed the last."""
    if node.op_type == "Gemm" and part == "weight":
        return int(attribute(node, "transB", 0))
    if node.op_type == "Gemm" and part == "input":
        return int(not attribute(node, "transA", 0))
    return -2 if node.op_type == "MatMul" and part == "weight" else -1


def has_blocks(how: How) -> bool:
    """Along an axis, which tiles and a whole array have not."""
    if is_affine(how.format):
        return parsed(how.format)[1].isdecimal()
    return is_container(how.format) and isinstance(block_format_of(how.format).block, int)


# --- Rules ----------------------------------------------------------------------------------------


def read_rules(rules: Any, rounding: str) -> list[Rule]:
    read = rules_of(rules, SETTINGS, lambda how: read_scheme(how, rounding))
    for key, _ in read:
        if not isinstance(key, str):
            raise TypeError(f"{key_text(key)} is no operator and no glob on names")
    return read


def read_scheme(how: Any, rounding: str) -> Scheme:
    if not isinstance(how, Mapping):
        how = {"input": how, "weight": how}
    unknown = how.keys() - set(SETTINGS)
    if unknown:
        raise TypeError(f"{', '.join(sorted(map(str, unknown)))}: there are {', '.join(SETTINGS)}")
    mode = how.get("rounding", rounding)
    parts: dict[str, How] = {}
    unit = how.get("unit")
    if unit is not None:
        parts = {part: how_of(text, mode) for part, text in of_unit(unit).items()}
    for part in (*INPUTS, "output"):
        if how.get(part) is not None:
            parts[part] = read_how(part, how[part], mode)
    return Scheme(**parts, unit=None if unit is None else str(unit))


def read_how(part: str, told: Any, rounding: str) -> How:
    given = told if isinstance(told, Mapping) else {"format": told}
    if given.keys() - set(How._fields) or "format" not in given:
        there = ", ".join(How._fields)
        raise TypeError(f"{dict(given)!r}: format is wanted, and there are {there}")
    try:
        return how_of(**{"rounding": rounding, **given})
    except (TypeError, ValueError) as why:
        raise type(why)(f"{part}: {why}") from None


def of_unit(unit: Any) -> dict[str, str]:
    """The formats of a unit's operands and of its result; binary32 is the graph's own."""
    u = unit if isinstance(unit, Unit) else Unit(str(unit))
    if u.scale_format is not None:
        raise ValueError(
            f"unit {said(u)} scales blocks; name its operands' formats: {{'input': 'mxfp8_e4m3', "
            "'weight': 'mxfp8_e4m3'}"
        )
    found = {"input": u.a, "weight": u.b, "bias": u.c, "output": u.result_format}
    return {part: str(f) for part, f in found.items() if str(f) != "e8m23"}


def scheme_of(node: NodeProto, rules: list[Rule]) -> Scheme | None:
    return next((scheme for key, scheme in rules if covers(key, node)), None)


def covers(key: str, node: NodeProto) -> bool:
    if node.domain not in STANDARD:
        return False
    if key == node.op_type:
        return True
    return node.op_type in LAYERS and fnmatchcase(node.name, key)


def check_rules(rules: list[Rule], nodes: list[NodeProto]) -> None:
    layers = [(node.name or node.op_type, node) for node in nodes if node.op_type in LAYERS]
    for key, _ in rules:
        if not any(covers(key, node) for node in nodes):
            there = listed(layers, f"there is no {', '.join(LAYERS)}")
            raise ValueError(f"{key_text(key)} fits no node; {there}")
