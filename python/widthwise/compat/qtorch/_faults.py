"""What qtorch 0.3.0 and qtorch-plus 0.2.0 compute on a CPU, their faults included, bit for bit.

Binary32 patterns as integers; the words of 32 bits that those packages let overflow are cut here.
Random bits come from torch's generator: for fixed point they are those that the packages draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...torch._memory import here
from .number import BlockFloatingPoint, FixedPoint, FloatingPoint, Number, Posit, Positbf

SIGN, MAGNITUDE, WORD = 1 << 31, (1 << 31) - 1, (1 << 32) - 1
FRACTION = (1 << 23) - 1
BIAS = 127


def as_they_do(x: torch.Tensor, number: Number, rounding: str, like: str) -> torch.Tensor:
    """x's numbers as the package named `like` rounds them."""
    taken = torch.bfloat16 if isinstance(number, Positbf) else torch.float32
    if x.dtype != taken:
        raise TypeError(
            f"like = {like!r} has results for {taken} alone, as the package; x holds {x.dtype}: "
            f"pass x.to({taken}), or leave like= out"
        )
    if rounding not in ("nearest", "stochastic"):
        raise ValueError(f"rounding = {rounding!r}: like = {like!r} has 'nearest', 'stochastic'")
    x = x.contiguous()
    if isinstance(number, FixedPoint):
        return clamped(fixed(x, number.fl, rounding), number)
    if isinstance(number, FloatingPoint):
        within(number, "exp", number.exp, 1, 8, like)
        within(number, "man", number.man, 0, 23, like)
        if not (number.subnormals and number.saturate):
            raise ValueError(
                f"{number}: like = {like!r} has floats as the package makes them; subnormals and "
                "saturate stay True there. Leave like= out"
            )
        way = fork_floating if like == "fork" else floating
        return way(x, number.exp, number.man, rounding)
    if isinstance(number, BlockFloatingPoint):
        within(number, "wl", number.wl, 1, 23, like)
        return block(x, number.wl, largest(x, number.dim, like), rounding)
    assert isinstance(number, Posit)
    from ._fork import bfloat16_posit, posit

    within(number, "nsize", number.nsize, 3, 16, like)
    within(number, "es", number.es, 0, 3, like)
    if isinstance(number, Positbf):
        return bfloat16_posit(x.float(), number).bfloat16()
    return posit(x, number)


def within(number: Number, name: str, value: int, least: int, most: int, like: str) -> None:
    if not least <= value <= most:
        raise ValueError(
            f"{number}: like = {like!r} reproduces {name} from {least} to {most}; past that the "
            "package's own shifts have no defined result. Leave like= out"
        )


def bits(x: torch.Tensor) -> torch.Tensor:
    """Patterns as integers that are never negative."""
    return x.view(torch.int32).to(torch.int64) & WORD


def floats(pattern: torch.Tensor) -> torch.Tensor:
    signed = torch.where(pattern >= SIGN, pattern - (WORD + 1), pattern)
    return signed.to(torch.int32).view(torch.float32)


def power(x: torch.Tensor, exponent: int) -> torch.Tensor:
    """x times a power of two, rounded once: exact in binary64, and past 2^600 either way nothing of
    binary32 but zeros and infinities is left."""
    by = torch.tensor(2.0 ** max(-600, min(600, exponent)), dtype=torch.float64)
    return here(np.multiply, x.double(), by).float()


# --- Fixed point ---------------------------------------------------------------------------------


def fixed(x: torch.Tensor, fl: int, rounding: str) -> torch.Tensor:
    """Steps of 2^-fl without a range: a sum in binary32, then the nearest integer."""
    draw: Any = torch.rand_like(x) if rounding == "stochastic" else 0.5
    moved = (power(x, fl) + draw).double() - 0.5
    return power(moved.round().float(), -fl)


def fixed_ends(number: FixedPoint) -> tuple[float, float]:
    """The range as it is in binary32, each end rounded; infinite, or NaN, where fl is far off."""
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.ldexp(1.0, -number.fl)
        low = np.float32(-np.ldexp(1.0, number.wl - number.fl - 1))
        high = np.float32(-np.float64(low) - step)
        if number.symmetric:
            low = np.float32(np.float64(low) + step)
    return float(low), float(high)


def clamped(x: torch.Tensor, number: FixedPoint) -> torch.Tensor:
    if not number.clamp:
        return x
    low, high = fixed_ends(number)
    return torch.where(x > high, high, torch.where(x < low, low, x))


# --- Floats and blocks ---------------------------------------------------------------------------


def rounded_bits(pattern: torch.Tensor, kept: int, rounding: str) -> torch.Tensor:
    """Half a step, or random bits, added to a pattern whose low digits are then dropped."""
    low = (1 << 23 - kept) - 1
    if rounding == "stochastic":
        added: Any = torch.randint(0, MAGNITUDE, pattern.shape, device=pattern.device) & low
    else:
        # x86 takes the shift by -1, where nothing is dropped, for one by 31: the sign flips.
        added = 1 << (22 - kept) % 32
    return (pattern + added & WORD) & (WORD ^ low)


def most_fraction(kept: int) -> int:
    """The largest fraction of that many digits; -1 of them are none."""
    return FRACTION >> 23 - kept << 23 - kept


def floating(x: torch.Tensor, exp: int, man: int, rounding: str) -> torch.Tensor:
    """Normal numbers on their pattern; below them by a sum that pushes the digits out."""
    pattern = bits(x)
    least = 2 - (1 << exp - 1)
    top = (1 << exp - 1) + BIAS
    near = rounded_bits(pattern, man, rounding)
    past = (near & MAGNITUDE) >> 23 > top
    near = torch.where(past, pattern & SIGN | top << 23 | most_fraction(man), near)
    shift = floats(pattern & SIGN | BIAS + least << 23)
    pushed = floats(rounded_bits(bits(x + shift), man, rounding)) - shift
    return torch.where((pattern & MAGNITUDE) >> 23 < least + BIAS, pushed, floats(near))


def fork_floating(x: torch.Tensor, exp: int, man: int, rounding: str) -> torch.Tensor:
    """The top exponent reserved, no subnormals: the least number or +0 below it."""
    pattern = bits(x)
    least, top = 1 - (1 << exp - 1) + BIAS, (1 << exp - 1) - 1 + BIAS
    near = rounded_bits(pattern, man, rounding)
    size = near & MAGNITUDE
    past = pattern & SIGN | top << 23 | most_fraction(man)
    small = torch.where(size > (least - 1) << 23, pattern & SIGN | least << 23, 0)
    exponent = size >> 23
    kept = torch.where(exponent > top, past, torch.where(exponent < least, small, near))
    return floats(torch.where(near == 0, near, kept))


def largest(x: torch.Tensor, dim: int, like: str) -> torch.Tensor:
    """The largest magnitude of each number's block; the fork has |max x| along an axis."""
    if dim == -1:
        return x.abs().max().expand_as(x)
    rows = x.transpose(0, dim).flatten(1) if x.dim() > 1 else x.reshape(x.shape[0], 1)
    most = (rows.amax(1).abs() if like == "fork" else rows.abs().amax(1)).view(
        -1, *[1] * (x.dim() - 1)
    )
    return most.transpose(0, dim).expand_as(x)


def block(x: torch.Tensor, wl: int, most: torch.Tensor, rounding: str) -> torch.Tensor:
    """Six times the block's power of two is added, which pushes digits out, and taken off again."""
    exponent = bits(most.contiguous()) & ~FRACTION & MAGNITUDE
    base = floats(exponent) * 6
    near = bits(floats(rounded_bits(bits(x + base), wl, rounding)) - base)
    past = near & (MAGNITUDE ^ FRACTION) > exponent
    return floats(torch.where(past, near & SIGN | exponent | most_fraction(wl - 2), near))
