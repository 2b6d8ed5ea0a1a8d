"""The posit fork's own functions: correct ones, and what the fork gives of them."""

from __future__ import annotations

import numpy as np
import torch

from ..._machine import by_usual_arithmetic
from ...torch._gpu import in_its_turn
from ...torch._memory import here, known
from ._rounding import by_format, codes_of, numbers_of, scale_in, widened
from .number import Posit

SIXTEEN = "posit16es0"
SHIFT, PAST = 0.06795, 0.7583  # of posit_tanh_enhanced: what is added, and beyond which result


# --- like="fork" ---------------------------------------------------------------------------------


def posit(x: torch.Tensor, number: Posit) -> torch.Tensor:
    """To nearest always; NaR comes back as -infinity, whatever it was."""
    scale = torch.tensor(number.scale, dtype=torch.float32, device=x.device)
    near = by_format(x * scale, number.format, "rne", None)
    return near.masked_fill(near.isnan(), -torch.inf) / scale


def bfloat16_posit(x: torch.Tensor, number: Posit) -> torch.Tensor:
    """On bfloat16, given and returned in binary32.

    What is at or past the largest posit, or at or below the least, becomes +0. Digits are cut to 16
    bits before they are rounded, and codes of fewer than 8 bits are read a bit out of place.
    """
    n, es = number.nsize, number.es
    scale = torch.tensor(number.scale, dtype=torch.float32, device=x.device)
    y = (x * scale).bfloat16().float()
    size = y.abs()
    reach = 2.0 ** ((1 << es) * (n - 2))
    inside = (size > 1 / reach) & (size < reach)
    code = cut_code(torch.where(inside, size, 1.0), n, es)
    read = misread(code, n, es)
    value = torch.where(inside & (code != 0), read.copysign(y), 0.0)
    return (value / scale).bfloat16().float()


def cut_code(size: torch.Tensor, n: int, es: int) -> torch.Tensor:
    """Codes without a sign, seven bits wide, of digits that were cut to 16."""
    fraction, exponent = torch.frexp(size)
    exponent = exponent.to(torch.int64) - 1
    digits = ((fraction * 2 - 1) * 128).to(torch.int64)
    k = exponent >> es
    ones = torch.where(k >= 0, (torch.ones_like(k) << k.clamp(min=0) + 1) - 1 << 1, 1)
    head = ones << es | exponent & (1 << es) - 1
    length = torch.where(k >= 0, k + 2, 1 - k) + es
    whole = (head << 7 | digits) << (9 - length).clamp(min=0)
    window = torch.where(length <= 9, whole, head << (16 - length))
    kept = window >> 17 - n
    half = window >> 16 - n & 1
    rest = (window & (1 << 16 - n) - 1) != 0
    return kept + (half & (kept & 1 | rest)) << 8 - n & 0x7F


def misread(code: torch.Tensor, n: int, es: int) -> torch.Tensor:
    """Seven bits as the fork reads them: right for n = 8."""
    up = code >= 64
    other = torch.where(up, ~code & 0x7F, code)
    run = 7 - torch.frexp(other.float())[1].to(torch.int64)
    k = torch.where(up, run - 1, -run)
    digits = code << 18 - n + run & 0xFFFF
    pattern = (127 + (k << es) << 7) + (digits >> 9 - es) & 0x7FFF
    return (pattern << 16).to(torch.int32).view(torch.float32)


# --- Sigmoid and tanh from a code ----------------------------------------------------------------


@by_usual_arithmetic
def squashed(x: torch.Tensor, name: str, nsize: int, like: str | None) -> torch.Tensor:
    """posit_sigmoid, posit_tanh or posit_tanh_enhanced of binary32 numbers, in x's dtype."""
    known(x.dtype)
    if like is not None and x.dtype != torch.float32:
        raise TypeError(f"like = {like!r} has results for torch.float32 alone; x holds {x.dtype}")
    wide = x.float().contiguous()
    if name == "sigmoid":
        return sigmoid(wide, nsize, like).to(x.dtype)
    y = sigmoid(here(np.multiply, wide, 2), nsize, like) * 2 - 1
    if name == "tanh_enhanced":
        beyond = torch.where(y.abs() > PAST, torch.sign(y).double() * SHIFT, 0.0)
        y = (y.double() + beyond).float().clamp(-1, 1)
    return y.to(x.dtype)


def sigmoid(x: torch.Tensor, nsize: int, like: str | None) -> torch.Tensor:
    """The code's first bit flipped, all shifted right by two: a posit16es0 near the sigmoid.

    Infinities act as the largest posits do, and NaN stays; in the fork all three are code 0.
    """
    missing = x.isnan()
    if like is None:
        x = x.nan_to_num(nan=0.0)
    codes = codes_of(x, f"posit{nsize}es0") << 16 - nsize
    y = numbers_of((codes ^ 0x8000) >> 2, SIXTEEN, torch.float32)
    return y if like is not None else y.masked_fill(missing, torch.nan)


@by_usual_arithmetic
def left_aligned(x: torch.Tensor, number: Posit, like: str | None) -> torch.Tensor:
    """The codes of posits of up to 16 bits, at the upper end of uint16."""
    known(x.dtype)
    if like is None and number.scale != 1.0:
        wide = widened(x)
        x = here(np.multiply, wide, scale_in(number.scale, wide.dtype))
    with in_its_turn(x):
        return (codes_of(x, number.format) << 16 - number.nsize).to(torch.uint16)
