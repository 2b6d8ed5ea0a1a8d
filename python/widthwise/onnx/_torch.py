"""PyTorch's models as ONNX: operations of widthwise.torch become nodes with their formats."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, save
from torch import nn

from .._block_format import BlockFormat, is_container
from .._format_texts import said
from .._unit import Unit
from ..torch._memory import held_format
from ._body import DOMAIN
from ._graph import attribute, constants_in, inner_graphs, numbers_of
from ._how import How, how_of
from ._insert import finished, warn_of_sums
from ._nodes import check as check_format
from ._probe import BINARY32
from ._rewrite import Rewriter

OPSET = 21  # the first with blocks, and with integers of 4 and 16 bits


def export_to_onnx(
    model: nn.Module,
    args: tuple[Any, ...],
    file: str | os.PathLike[str] | None = None,
    *,
    inline: bool = False,
    standard: bool = True,
    opset: int = OPSET,
    **how: Any,
) -> ModelProto:
    """Export a PyTorch model whose values have formats; onnxruntime gives their bits.

    Args:
        model: converted by `widthwise.torch.convert`, or with calls of its functions.
        args: example inputs, as `torch.onnx.export` takes them.
        file: where to write the model; None only returns it.
        inline: replace functions by the standard operators that they consist of.
        standard: QuantizeLinear and DequantizeLinear where the standard has the type.
        opset: of the standard's operators, 18 or more; int2 and uint2 are in it since 25.
        how: what else `torch.onnx.export` takes: dynamic_shapes, input_names, output_names, …
    Returns:
        The model. Quantisers are QuantizeLinear and DequantizeLinear where the standard has the
        type, else nodes `ai.widthwise::Quantize` whose function consists of standard operators.
        A layer under a unit rounds its operands and its result to the unit's formats; its sums are
        the runtime's, and a warning says so.
    Raises:
        ImportError: there is no onnxscript, with which torch exports.
        ValueError: stochastic rounding; formats that binary32 does not hold;
            float64; blocks whose scales a graph does not find; approximate multipliers.

    >>> import torch
    >>> import widthwise.torch as wt
    >>> net = wt.convert(torch.nn.Sequential(torch.nn.Linear(4, 2)), {"*": {"input": "e5m6"}})
    >>> made = export_to_onnx(net, (torch.ones(1, 4),))
    >>> [node.op_type for node in made.graph.node]
    ['Quantize', 'Gemm']
    """
    check_exporter()
    units: list[str] = []
    plain = traced(model, args, units, how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own, of what it will change
        program = torch.onnx.export(
            plain, args, dynamo=True, opset_version=opset, verbose=False, **how
        )
    made = program.model_proto
    rewriter = Rewriter(made, standard)
    rewrite(made.graph, rewriter, {})
    if units:
        warn_of_sums(units)
    result = finished(made, rewriter, inline)
    if file is not None:
        save(result, os.fspath(file))
    return result


def check_exporter() -> None:
    """torch asks for it late, in an error of many pages."""
    try:
        import onnxscript  # noqa: F401
    except ImportError as why:
        raise ImportError(
            f"torch exports with onnxscript, which cannot be imported ({why}); pip install "
            "onnxscript",
            name="onnxscript",
        ) from None


def traced(model: nn.Module, args: Any, units: list[str], how: dict[str, Any]) -> nn.Module:
    """The model as torch's operations and ours, of which ours then emit nodes."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        shapes = without_names(how.get("dynamic_shapes"))
        keywords = how.get("kwargs") or {}
        program = torch.export.export(model, args, keywords, dynamic_shapes=shapes, strict=False)
    finally:
        for module in training:
            module.training = True
    graph_module = program.module()
    for node in list(graph_module.graph.nodes):
        if node.op == "call_module" and node.target == "_guards_fn":
            graph_module.graph.erase_node(node)
        elif node.op == "call_function" and (names := arguments_of(node.target)):
            given = dict(zip(names, node.args, strict=False))
            check(given)
            units += [str(given["unit"])] if "unit" in given else []
            names = with_own_weight(node, names)
            node.target = emitter(node.target, names)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()
    return graph_module


def without_names(shapes: Any) -> Any:
    """Axes that torch.onnx knows by a text, as torch.export takes them."""
    if isinstance(shapes, str):
        return torch.export.Dim.DYNAMIC
    if isinstance(shapes, dict):
        return {key: without_names(one) for key, one in shapes.items()}
    if isinstance(shapes, tuple | list):
        return type(shapes)(without_names(one) for one in shapes)
    return shapes


def with_own_weight(node: Any, names: list[str]) -> list[str]:
    """A linear layer's weight as it is stored, which the product takes turned round."""
    at = names.index("b") if "b" in names else len(node.args)
    turned: Any = node.args[at] if at < len(node.args) else None
    if getattr(turned, "target", None) is not torch.ops.aten.t.default:
        return names
    node.update_arg(at, turned.args[0])
    return ["weight" if name == "b" else name for name in names]


def arguments_of(target: Any) -> list[str]:
    """The names of an operation's arguments, if it is one of our library."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.name.startswith("widthwise::"):
        return []
    return [argument.name for argument in schema.arguments]


def name_of(target: Any) -> str:
    return str(target._schema.name).partition("::")[2]


def check(given: dict[str, Any]) -> None:
    """What no graph holds is refused here, for torch wraps errors in its own."""
    for x in given.values():
        if dtype_of(x) == torch.float64:
            raise ValueError(
                f"the model rounds a tensor of {torch.float64}, and graphs round binary32; export "
                "model.float()"
            )
    if "format" in given:
        check_rounding(given["format"], given["rounding"])
    for format in held_formats(given):
        check_dtype(format, dtype_of(given.get("x", given.get("a"))))
    if given.get("multiplier") is not None:
        raise ValueError(
            f"multiplier = {given['multiplier']!r}: graphs multiply exactly; leave it out to "
            "export the formats alone"
        )


def dtype_of(x: Any) -> Any:
    """Of what a traced operation takes; None of what is no tensor."""
    return getattr(getattr(x, "meta", {}).get("val"), "dtype", None)


def held_formats(given: dict[str, Any]) -> list[str]:
    """Whose numbers the result's dtype has to hold, as the operation itself asks when it runs."""
    if "unit" in given:
        return [str(Unit(given["unit"]).result_format)]
    return [given["format"]] if "format" in given else []


def check_dtype(format: str, dtype: Any) -> None:
    if dtype in (None, torch.float32):
        return
    if is_container(format):
        raise ValueError(
            f"{said(format)} of a tensor of {dtype}: its numbers are a scale's times an element's, "
            "for which that dtype may have no room; export model.float()"
        )
    held_format(format, dtype)


def check_rounding(format: str, rounding: str) -> None:
    check_format("binary32" if is_container(format) else format, rounding)


def emitter(target: Any, names: list[str]) -> Callable[..., Any]:
    """What stands for an operation, with its arguments by name."""
    emit = EMITTED.get(name_of(target))
    if emit is None:
        raise ValueError(
            f"the model calls widthwise.torch's {name_of(target)}, which no ONNX graph can hold; "
            "export what comes before and after it, or take quantize, linear, matmul, conv2d"
        )
    return lambda *args: emit(dict(zip(names, args, strict=False)))


# --- What is emitted ------------------------------------------------------------------------------


def node(x: torch.Tensor, format: str, rounding: str, axis: Any = None, more: Any = ()) -> Any:
    """A quantiser of binary32; narrower dtypes go there and back."""
    wide = x.float()
    how = {"format": format, "rounding": rounding} | ({} if axis is None else {"axis": axis})
    given = (wide, *more)
    y = torch.onnx.ops.symbolic(
        f"{DOMAIN}::Quantize", given, how, dtype=torch.float32, shape=wide.shape, version=1
    )
    return y.to(x.dtype)


def of_quantize(given: dict[str, Any]) -> torch.Tensor:
    axis = given["axis"] if is_container(given["format"]) else None  # single numbers have none
    return node(given["x"], given["format"], given["rounding"], axis)


def of_scaled(given: dict[str, Any]) -> torch.Tensor:
    scales = given["scale"].float(), given["zero_point"]
    return node(given["x"], given["format"], given["rounding"], None, scales)


def of_product(given: dict[str, Any]) -> torch.Tensor:
    u, dtype = Unit(given["unit"]), given["a"].dtype
    a = operand(given["a"], u, u.a, -1)
    c = None if given["c"] is None else single(given["c"], u.c)
    if "weight" in given:
        return result(F.linear(a, operand(given["weight"], u, u.b, -1), c), u, dtype)
    z = torch.matmul(a, operand(given["b"], u, u.b, -2))
    return result(z if c is None else z + c, u, dtype)


def of_convolution(given: dict[str, Any]) -> torch.Tensor:
    u = Unit(given["unit"])
    x, w = single(given["x"], u.a), single(given["w"], u.b)
    c = None if given["c"] is None else single(given["c"], u.c)
    steps = [given[name] for name in ("stride", "padding", "dilation")]
    return result(F.conv2d(x, w, c, *steps, given["groups"]), u, given["x"].dtype)


def operand(x: torch.Tensor, u: Unit, f: Any, axis: int) -> torch.Tensor:
    if u.scale_format is None:
        return single(x, f)
    return node(x.float(), str(BlockFormat.of(f, u.scale_block, u.scale_format)), "rne", axis)


def single(x: torch.Tensor, f: Any) -> torch.Tensor:
    wide = x.float()  # which holds what a narrow dtype's numbers are rounded to
    return wide if f == BINARY32 else node(wide, str(f), "rne")


def result(z: torch.Tensor, u: Unit, dtype: torch.dtype) -> torch.Tensor:
    return single(z, u.result_format).to(dtype)


EMITTED: dict[str, Callable[[dict[str, Any]], torch.Tensor]] = {
    "quantize": of_quantize,
    "scaled": of_scaled,
    "product": of_product,
    "convolution": of_convolution,
}


# --- The graph that came of it --------------------------------------------------------------------


def rewrite(graph: GraphProto, rewriter: Rewriter, outer: dict[str, TensorProto]) -> None:
    """Each emitted node becomes what makes its values."""
    constants = {**outer, **constants_in(graph)}
    nodes: list[NodeProto] = []
    for one in graph.node:
        for inner in inner_graphs(one):
            rewrite(inner, rewriter, constants)
        if one.domain != DOMAIN:
            nodes.append(one)
            continue
        how = told_by(one, constants)
        nodes += rewriter.quantised(one.input[0], one.output[0], how, constants)
    del graph.node[:]
    graph.node.extend(nodes)


def told_by(one: NodeProto, constants: dict[str, TensorProto]) -> How:
    how = {name: attribute(one, name) for name in ("format", "rounding", "axis")}
    if len(one.input) == 1:
        return how_of(**how)
    missing = [name for name in one.input[1:] if name not in constants]
    if missing:
        raise ValueError(f"the scale '{missing[0]}' is computed in the graph, not a constant")
    scale, zero = (numbers_of(constants[name]) for name in one.input[1:])
    return how_of(**how, scale=scale, zero_point=zero)
