"""The look-alike's operations as torch knows them, and whose results they give."""

from __future__ import annotations

from typing import Any

import torch

from ..._like import like_whom
from ...torch._op import Op, drawn_seed, following, one_by_one
from ._faults import as_they_do
from ._fork import squashed
from ._rounding import rounded
from .number import BlockFloatingPoint, Number, Posit, read, told

PACKAGES = ("qtorch", "fork")
FORK = PACKAGES[1:]  # which alone has posits
COMPILED = "none, as compiled code"


def whom(given: str | None, allowed: tuple[str, ...] = PACKAGES) -> str | None:
    """Whose results a call gives: its keyword's, else the context's; None is this library's own."""
    if given is None and torch.compiler.is_compiling():
        return COMPILED  # where no context can be asked: the kernel does
    return like_whom(given, allowed)


@torch.compiler.disable
def whom_outside(given: str | None) -> str | None:
    """The same outside of compiled code, whose graph breaks here: as it runs, the context is
    asked."""
    return whom(given)


def having(*numbers: Number | None) -> tuple[str, ...]:
    """The packages that have these numbers."""
    return FORK if any(isinstance(number, Posit) for number in numbers) else PACKAGES


def resolved(like: str | None, allowed: tuple[str, ...]) -> str | None:
    """The same in a kernel."""
    if like != COMPILED:
        return like
    if whom(None, allowed) is not None:
        raise RuntimeError(
            "compiled code does not see ww.like(…), in which it is called here; give like= to the "
            "quantizer instead"
        )
    return None


# --- Rounding to a number ------------------------------------------------------------------------


def kernel(
    x: torch.Tensor,
    forward: str | None,
    forward_rounding: str,
    backward: str | None,
    backward_rounding: str,
    like: str | None,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    if forward is None:
        return x.clone(memory_format=torch.contiguous_format)
    number = read(forward)
    if isinstance(number, BlockFloatingPoint) and not number.identity:
        check_blocks(x, number)
    whose = resolved(like, having(number))
    if whose is None:
        return rounded(x, number, forward_rounding, seed)
    return as_they_do(x, number, forward_rounding, whose)


def check_blocks(x: torch.Tensor, number: BlockFloatingPoint) -> None:
    if number.dim >= x.ndim:
        raise IndexError(f"{number}: x has shape {tuple(x.shape)}, and no axis {number.dim}")
    if not x.numel():
        raise ValueError(f"x is empty, and {number} takes its exponent from the largest number")


def save(ctx: Any, inputs: Any, output: Any) -> None:
    _, _, _, *ctx.how, seed = inputs
    ctx.save_for_backward(seed)


def gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """Straight through, and rounded: whose results, was chosen with the values."""
    backward, rounding, like = ctx.how
    (seed,) = ctx.saved_tensors
    if backward is not None:
        g = round_op(g, backward, rounding, None, rounding, like, following(seed, 1))
    return g, None, None, None, None, None, None


def batch(call: Any, size: int, dims: Any, *args: Any) -> tuple[Any, int]:
    x, forward, *how = args
    shared = forward is not None and isinstance(read(forward), BlockFloatingPoint)
    if shared or dims[-1] is not None:
        return one_by_one(call, size, dims, *args)
    return call(x, forward, *how), dims[0]


def shape(x: torch.Tensor, *how: Any) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


round_op = Op(
    "qtorch_round(Tensor x, str? forward, str forward_rounding, str? backward, "
    "str backward_rounding, str? like, Tensor? seed) -> Tensor",
    kernel=kernel,
    shape=shape,
    save=save,
    gradient=gradient,
    tangent=lambda inputs, tangents: tangents[0].view_as(tangents[0]),
    batch=batch,
)


def round_by(
    x: torch.Tensor,
    forward: Number | None,
    backward: Number | None,
    roundings: tuple[str, str],
    like: str | None,
) -> torch.Tensor:
    """x by one number and its gradient by another; the seed is torch's, as random bits are."""
    there, back = roundings
    used = {there if forward is not None else None, back if backward is not None else None}
    own = like is None or like == COMPILED
    seed = drawn_seed(None, own and "stochastic" in used)
    return round_op(x, told(forward), there, told(backward), back, like, seed)


# --- Sigmoid and tanh ----------------------------------------------------------------------------


def squash_kernel(x: torch.Tensor, name: str, nsize: int, like: str | None) -> torch.Tensor:
    return squashed(x, name, nsize, resolved(like, FORK))


def slope(name: str, y: torch.Tensor) -> torch.Tensor:
    """The derivative by the result, as a true sigmoid or tanh has it."""
    return y * (1 - y) if name == "sigmoid" else 1 - y * y


def squash_save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.name = inputs[1]
    ctx.save_for_backward(output)


def squash_gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    return g * slope(ctx.name, ctx.saved_tensors[0]), None, None, None


def squash_tangent(inputs: Any, tangents: Any) -> Any:
    return tangents[0] * slope(inputs[1], torch.ops.widthwise.qtorch_squash.default(*inputs))


squash_op = Op(
    "qtorch_squash(Tensor x, str name, int nsize, str? like) -> Tensor",
    kernel=squash_kernel,
    shape=shape,
    save=squash_save,
    gradient=squash_gradient,
    tangent=squash_tangent,
    batch=lambda call, size, dims, x, *how: (call(x, *how), dims[0]),
)
