"""A tensor's numbers rounded correctly to one of QPyTorch's, by this library's formats."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from ..._format import Format
from ..._host import env_of
from ..._machine import by_usual_arithmetic
from ...torch import quantize
from ...torch._memory import (
    DTYPES,
    codes_in,
    fits_in,
    here,
    known,
    rounded_codes,
    tensor_of,
    values_of,
)
from .number import WHOLE, BlockFloatingPoint, FixedPoint, FloatingPoint, Number, Posit, Positbf

ROUNDINGS = {"nearest": "rne", "stochastic": "sr32", "floor": "rdn"}
HALF_UP = "rnp"  # the nearest of blocks: ties go up, as QPyTorch documents by its code alone


def mode_of(rounding: str, number: Number | None = None) -> str:
    """QPyTorch's name of a rounding as this library's text."""
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding = {rounding!r}: it may be {', '.join(map(repr, ROUNDINGS))}")
    if rounding == "nearest" and isinstance(number, BlockFloatingPoint):
        return HALF_UP
    return ROUNDINGS[rounding]


@by_usual_arithmetic
def rounded(x: torch.Tensor, number: Number, rounding: str, seed: Any) -> torch.Tensor:
    """A new tensor of x's dtype; what the number has no code for, NaN first, stays as it is."""
    known(x.dtype)
    if number.identity:
        return x.clone(memory_format=torch.contiguous_format)
    whole = isinstance(number, BlockFloatingPoint)
    aside = ~x.isfinite() if whole else x.isnan()
    if aside.any():
        return torch.where(aside, x, rounded(x.masked_fill(aside, 0), number, rounding, seed))
    return WAYS[number.kind](x, number, mode_of(rounding, number), seed)


def fixed(x: torch.Tensor, number: FixedPoint, mode: str, seed: Any) -> torch.Tensor:
    if number.clamp:
        return by_format(x, number.format, mode, seed)
    # From here on the dtype has no digits behind the last one that is kept.
    digits = DTYPES[x.dtype].format._core.digits
    reach = digits - number.fl
    size, end = here(np.abs, widened(x)), math.inf if reach > 1023 else 2.0 ** max(-1074, reach)
    small = here(np.less, size, end) | here(np.equal, size, 0)  # which loses its sign
    near = by_format(torch.where(small, x, 0), f"fixed{digits + 2}.{number.fl}", mode, seed)
    return torch.where(small, near, x)


def block(x: torch.Tensor, number: BlockFloatingPoint, mode: str, seed: Any) -> torch.Tensor:
    """Blocks as rows."""
    if number.dim == WHOLE:
        row = x.reshape(1, -1)  # of one number, too
        return quantize(row, number.format, mode, seed=seed, clamp=False).view(x.shape)
    first = x.transpose(0, number.dim)
    rows = first.reshape(first.shape[0], -1)
    near = quantize(rows, number.format, mode, seed=seed, clamp=False)
    return near.view(first.shape).transpose(0, number.dim).contiguous()


def posit(x: torch.Tensor, number: Posit, mode: str, seed: Any) -> torch.Tensor:
    """Scaled, rounded and scaled back: three roundings, each in the dtype that says so."""
    if number.scale == 1.0:
        return by_format(x, number.format, mode, seed)
    wide = widened(x)
    scale = scale_in(number.scale, wide.dtype)
    scaled = here(np.multiply, wide, scale)
    if isinstance(number, Positbf) and x.dtype == torch.bfloat16:
        scaled = scaled.to(x.dtype).float()
    back = here(np.divide, by_format(scaled, number.format, mode, seed), scale)
    return back if back.dtype == x.dtype else saturated(back, x.dtype)


def widened(x: torch.Tensor) -> torch.Tensor:
    """In a dtype of torch's that NumPy has, too, and computes in."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def scale_in(scale: float, dtype: torch.dtype) -> torch.Tensor:
    """A scale as x is multiplied by it."""
    by = torch.tensor(float(scale), dtype=torch.float64).to(dtype)
    if not by.isfinite() or by == 0:
        raise ValueError(
            f"scale = {scale}, in {dtype} {by.item()}: numbers are multiplied and divided by it"
        )
    return by


def floating(x: torch.Tensor, number: FloatingPoint, mode: str, seed: Any) -> torch.Tensor:
    return by_format(x, number.format, mode, seed)


WAYS: dict[str, Any] = {
    "FixedPoint": fixed,
    "FloatingPoint": floating,
    "BlockFloatingPoint": block,
    "Posit": posit,
    "Positbf": posit,
}


def by_format(x: torch.Tensor, text: str, mode: str, seed: Any) -> torch.Tensor:
    """Rounded once. Past what x's dtype holds stands the format's largest number that it does."""
    if held(text, x.dtype):
        return quantize(x, text, mode, seed=seed, clamp=False)
    drawn = 0 if seed is None else int(seed)
    codes = rounded_codes(x, Format(text), env_of(mode), drawn)
    y = values_of(codes.astype(DTYPES[x.dtype].format, rounding="rtz"), x.dtype)
    most = largest(text, x.dtype)
    if most == torch.finfo(x.dtype).max:
        return y
    return clipped(y, most)  # infinite as the format has it


@lru_cache(maxsize=256)
def held(text: str, dtype: torch.dtype) -> bool:
    return fits_in(Format(text), dtype)


@lru_cache(maxsize=256)
def largest(text: str, dtype: torch.dtype) -> float:
    """The largest number of a dtype that a format has, too; the dtype's own where it is no end."""
    most, f = torch.tensor(torch.finfo(dtype).max, dtype=dtype), Format(text)
    if f.max_finite <= DTYPES[dtype].format.max_finite:
        return most.item()
    codes = rounded_codes(most, f, env_of("rtz"))
    return values_of(codes.astype(DTYPES[dtype].format, rounding="rtz"), dtype).item()


def saturated(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """In a narrower dtype, whose largest number stands for what is larger, but for infinity."""
    return clipped(x, torch.finfo(dtype).max).to(dtype)


def clipped(x: torch.Tensor, most: float) -> torch.Tensor:
    """What is finite and past `most` becomes it."""
    past = x.isfinite() & (x.abs() > most)
    return torch.where(past, torch.copysign(torch.tensor(most, dtype=x.dtype), x), x)


@lru_cache(maxsize=256)
def ends(text: str, dtype: torch.dtype) -> tuple[float, float]:
    """The least and the largest number of a format that a dtype holds."""
    infinities = torch.tensor([-math.inf, math.inf], dtype=dtype)
    low, high = by_format(infinities, text, "rne", None).tolist()
    return low, high


def codes_of(x: torch.Tensor, text: str) -> torch.Tensor:
    """The codes of x's numbers, to nearest even, in integers that torch computes with."""
    return tensor_of(rounded_codes(x, Format(text))).to(torch.int32)


def numbers_of(codes: torch.Tensor, text: str, dtype: torch.dtype) -> torch.Tensor:
    f = Format(text)
    return values_of(codes_in(codes.to(getattr(torch, f.dtype.name)), f), dtype)
