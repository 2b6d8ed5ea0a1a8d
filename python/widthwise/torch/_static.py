"""Values to values under scales that are there already, as `calibrate` finds them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from .._format import Format
from .._host import env_of, format_text, straight_range, whole_seed
from .._machine import by_usual_arithmetic
from ..containers.affine import affine
from ..containers.coded import saturating
from ..containers.scheme import is_affine
from ._containers import container_values, exact_numbers, unclamped
from ._memory import held_format, here, rounded_codes, values_of
from ._op import Op, by_chance, drawn_seed, one_by_one

SCALED = (
    "scaled(Tensor x, Tensor scale, Tensor zero_point, str format, str rounding, bool clamp, "
    "Tensor? seed) -> Tensor"
)


@lru_cache(maxsize=256)
def through(format: str) -> str:
    """The same codes, of which none is past the largest number."""
    return str(saturating(Format(format)))


@by_usual_arithmetic
def compute(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    format: str,
    rounding: str,
    clamp: bool,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    drawn = whole_seed(seed)
    if not x.numel():  # of which there are no codes
        return torch.empty_like(x, memory_format=torch.contiguous_format)
    if is_affine(format):
        made = coded(x, scale, zero_point, format, rounding=rounding, seed=drawn)
        return container_values(made, in_wide(x).dtype).to(x.dtype)
    wide, by = in_wide(x), in_wide(scale)
    f = held_format(through(format), wide.dtype)
    codes = rounded_codes(here(np.divide, wide, by), f, env_of(rounding), drawn)
    return here(np.multiply, values_of(codes, wide.dtype), by).to(x.dtype)


def coded(x: Any, scale: Any, zero_point: Any, format: str, **how: Any) -> Any:
    numbers = exact_numbers(x)
    given = {"scale": scale.float().cpu().numpy(), "zero_point": zero_point.cpu().numpy()}
    return affine(numbers, format, **given, **how)


def in_wide(x: torch.Tensor) -> torch.Tensor:
    """Quotients and products are binary32's, or binary64's of binary64."""
    return x if x.dtype == torch.float64 else x.float()


def save(ctx: Any, inputs: Any, output: Any) -> None:
    x, scale, zero_point, ctx.format, _, ctx.clamp, _ = inputs
    ctx.save_for_backward(x if ctx.clamp else None, scale, zero_point)


def gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    x, scale, zero_point = ctx.saved_tensors
    to_x = where_it_reaches(g, x, scale, zero_point, ctx.format) if ctx.clamp else g
    return to_x, *(None,) * 6


def where_it_reaches(g: Any, x: Any, scale: Any, zero_point: Any, format: str) -> torch.Tensor:
    """Nothing comes back where no code lies so far out."""
    if is_affine(format):
        return torch.where(torch.ops.widthwise.reached(x, scale, zero_point, format), g, 0)
    wide = in_wide(x)
    ends = straight_range(through(format))
    if ends is None:
        return g.view_as(g)
    quotients = wide / in_wide(scale)
    return g.masked_fill((quotients < ends[0]) | (quotients > ends[1]), 0)


def tangent(inputs: Any, tangents: Any) -> Any:
    x, scale, zero_point, format, _, clamp, _ = inputs
    dx = tangents[0]
    return where_it_reaches(dx, x, scale, zero_point, format) if clamp else dx.view_as(dx)


call = Op(
    SCALED,
    kernel=compute,
    shape=lambda x, *how: torch.empty_like(x, memory_format=torch.contiguous_format),
    save=save,
    gradient=gradient,
    tangent=tangent,
    batch=one_by_one,
)


def compute_reached(
    x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, format: str
) -> torch.Tensor:
    if not x.numel():
        return torch.ones_like(x, dtype=torch.bool)
    return unclamped(x, lambda **how: coded(x, scale, zero_point, format, **how))


reached = Op(
    "reached(Tensor x, Tensor scale, Tensor zero_point, str format) -> Tensor",
    kernel=compute_reached,
    shape=lambda x, *how: torch.empty(x.shape, dtype=torch.bool, device=x.device),
    save=lambda ctx, inputs, output: None,
    gradient=lambda ctx, g: (None,) * 4,
    tangent=lambda inputs, tangents: None,
    batch=one_by_one,
)


def scaled(
    x: torch.Tensor,
    format: Any,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    rounding: str = "rne",
    clamp: bool = True,
    seed: Any = None,
) -> torch.Tensor:
    """Values of x under a scale of the whole tensor; the gradient passes straight through.

    Of a bare format x / scale, rounded to the format, which saturates, times scale; quotient and
    product are rounded to binary32, then to x's dtype. Of affine integers as
    `ww.affine(x, scale=, zero_point=)`.
    """
    drawn = drawn_seed(seed, by_chance(rounding))
    return call(x, scale, zero_point, format_text(format), rounding, clamp, drawn)
