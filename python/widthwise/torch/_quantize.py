"""Values to values: rounded to a format, with a gradient that passes straight through."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from .._block_format import is_container
from .._host import check_format, env_of, format_text, idle_axis, text, whole_seed, why_idle
from ._containers import contained, container_values, unsaturated
from ._memory import rounded_values, values_inside
from ._op import Op, are_tensors, by_chance, drawn_seed, following, one_by_one

QUANTIZE = (
    "quantize(Tensor x, str format, str rounding, str? backward, str backward_rounding, "
    "bool clamp, int? axis, Tensor? seed) -> Tensor"
)


def compute(
    x: torch.Tensor,
    format: str,
    rounding: str,
    backward: str | None,
    backward_rounding: str,
    clamp: bool,
    axis: int | None,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    drawn = whole_seed(seed)
    if not is_container(format):
        return rounded_values(x, format, rounding, drawn)
    if not x.numel():
        return torch.empty_like(x, memory_format=torch.contiguous_format)
    return container_values(contained(x, format, rounding, axis, drawn), x.dtype)


def save(ctx: Any, inputs: Any, output: Any) -> None:
    x, *ctx.how, seed = inputs
    ctx.save_for_backward(x if ctx.how[4] else None, seed)  # without clamp nobody asks for x


def gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    format, _, backward, rounding, clamp, axis = ctx.how
    x, seed = ctx.saved_tensors
    g = where_it_passes(g, x, format, axis) if clamp else g
    if backward is not None:
        g = call(g, backward, rounding, None, rounding, False, axis, following(seed, 1))
    return g, None, None, None, None, None, None, None


def where_it_passes(g: torch.Tensor, x: torch.Tensor, format: str, axis: int | None) -> Any:
    """Nothing comes back where the format has no number so large."""
    if not x.numel():
        return g
    if is_container(format):
        return torch.where(torch.ops.widthwise.unsaturated(x, format, axis), g, 0)
    return passed(g, x, format)


def compute_inside(g: torch.Tensor, x: torch.Tensor, format: str) -> torch.Tensor:
    return values_inside(g, x, format)


def save_inside(ctx: Any, inputs: Any, output: Any) -> None:
    _, x, ctx.format = inputs
    ctx.save_for_backward(x)


def gradient_inside(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    return passed(g, ctx.saved_tensors[0], ctx.format), None, None


def tangent_inside(inputs: Any, tangents: Any) -> Any:
    return passed(tangents[0], inputs[1], inputs[2])


def batch_inside(call: Any, size: int, dims: Any, *args: Any) -> tuple[Any, int]:
    g, x, format = args
    g, x = (t if at is None else t.movedim(at, 0) for t, at in zip((g, x), dims, strict=False))
    g, x = torch.broadcast_tensors(g, x)
    return call(g.contiguous(), x.contiguous(), format), 0


passed = Op(
    "values_inside(Tensor g, Tensor x, str format) -> Tensor",
    kernel=compute_inside,
    shape=lambda g, x, format: torch.empty_like(g, memory_format=torch.contiguous_format),
    save=save_inside,
    gradient=gradient_inside,
    tangent=tangent_inside,
    batch=batch_inside,
)


def tangent(inputs: Any, tangents: Any) -> Any:
    x, format, _, _, _, clamp, axis, _ = inputs
    dx = tangents[0]
    return where_it_passes(dx, x, format, axis) if clamp else dx.view_as(dx)


def batch(call: Any, size: int, dims: Any, *args: Any) -> tuple[Any, int]:
    """Single numbers go together; numbers that share scales do so within their own example."""
    x, format, *how = args
    if is_container(format) or dims[-1] is not None:
        return one_by_one(call, size, dims, *args)
    return call(x, format, *how), dims[0]


def shape(x: torch.Tensor, *how: Any) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


call = Op(
    QUANTIZE,
    kernel=compute,
    shape=shape,
    save=save,
    gradient=gradient,
    tangent=tangent,
    batch=batch,
)


def no_gradient(ctx: Any, g: Any) -> tuple[Any, ...]:
    return None, None, None


within = Op(
    "unsaturated(Tensor x, str format, int? axis) -> Tensor",
    kernel=unsaturated,
    shape=lambda x, *how: torch.empty(x.shape, dtype=torch.bool, device=x.device),
    save=lambda ctx, inputs, output: None,
    gradient=no_gradient,
    tangent=lambda inputs, tangents: None,
    batch=one_by_one,
)


def quantize(
    x: torch.Tensor,
    format: Any,
    rounding: str = "rne",
    backward: Any = None,
    seed: Any = None,
    clamp: bool = True,
    *,
    backward_rounding: str | None = None,
    axis: int | None = None,
) -> torch.Tensor:
    """Values of x rounded to a format, in x's dtype; the gradient passes straight through.

    Args:
        x: a tensor on the CPU or a GPU, of float16, bfloat16, float32 or float64, of any shape.
        format: as `ww.Format` takes it ('e4m3fn', 'posit16es2', 'fixed8.4'), or of numbers that
            share scales: as `ww.blocks` ('mxfp8_e4m3') or `ww.affine` ('affine(int8,symmetric)').
        rounding: as in `ww.array`; 'sr8' is stochastic with 8 random bits.
        backward: a format that gradients are rounded to; None leaves them as they come.
        seed: of stochastic rounding, an integer or a tensor of one; None draws one from torch's
            generator. Compiled code takes a tensor without compiling again for each.
        clamp: the gradient is zero where x lies past the format's largest or least number (of
            blocks: of what the scale reaches; of affine integers: where the code was clamped).
        backward_rounding: of gradients, `rounding` where left out.
        axis: of blocks and channels, as in `ww.blocks` and `ww.affine`.
    Returns:
        A new tensor of x's shape and dtype, contiguous.
    Raises:
        ValueError: the dtype does not hold the format's numbers; NaN, and the format has none; an
            axis, and no numbers share scales.
        TypeError: x holds another dtype; a rounding that is no text.

    >>> import torch
    >>> quantize(torch.tensor([0.3, 1.7, 9.0]), "e2m1fn")
    tensor([0.5000, 1.5000, 6.0000])
    """
    are_tensors(x=x)
    back = rounding if backward_rounding is None else backward_rounding
    stochastic = by_chance(rounding, back)
    if wrong := fault(text(backward), back):
        raise ValueError(wrong)
    if axis is not None and (why := idle(format_text(format), text(backward))):
        raise ValueError(idle_axis(axis, why))
    drawn = drawn_seed(seed, stochastic)
    return call(x, format_text(format), rounding, text(backward), back, clamp, axis, drawn)


# Compiled code passes on no error of what it calls, but raises its own: of words that these return.


@torch.compiler.assume_constant_result
def fault(backward: str | None, rounding: str) -> str | None:
    """What is wrong with them is told here, and not as gradients come back."""
    try:
        check_backward(backward, rounding)
    except ValueError as why:
        return str(why)
    return None


@torch.compiler.assume_constant_result
def idle(format: str, backward: str | None) -> str | None:
    return why_idle(format, backward)


@lru_cache(maxsize=256)
def check_backward(format: str | None, rounding: str) -> None:
    env_of(rounding)
    if format is not None:
        check_format(format)
