"""Rounding to the numbers of a table, as the posit fork's functions do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from ..._machine import by_usual_arithmetic
from ...torch._memory import here, in_dtype, known
from ._rounding import saturated, scale_in, widened

Given: TypeAlias = torch.Tensor | Sequence[float]
SIXTEENTHS = [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 48, 64, 96, 128, 256]
ACTIVATIONS = [2.0**-k for k in range(12, 2, -1)] + [n / 16 for n in SIXTEENTHS]
WEIGHTS = [entry / 16 for entry in ACTIVATIONS]
FARTHEST = 1e5  # the fork finds no entry at this distance
FIRST_HINT = 1e-4  # of the geometric means: what is not above it is zero


@by_usual_arithmetic
def to_table(
    x: torch.Tensor, given: Given, scale: float, rounding: str, like: str | None
) -> torch.Tensor:
    """Each number's magnitude, scaled, to an entry."""
    table = entries_of("table_lookup", given, like).to(x.device)
    if like is not None:
        return signed(x, scale, lambda size: nearest(size, table, FARTHEST), like)
    return signed(x, scale, lambda size: chosen(size, table, rounding), like)


def chosen(size: torch.Tensor, table: torch.Tensor, rounding: str) -> torch.Tensor:
    size = size.clamp(max=table.max().item())  # past it nothing is nearer, at infinity either
    if rounding == "nearest":
        return nearest(size, table, torch.inf)
    return between(size, table, rounding)


def nearest(size: torch.Tensor, table: torch.Tensor, farthest: float) -> torch.Tensor:
    """The entry at the least distance, the first of those that share it."""
    best = torch.full_like(size, farthest)
    entry = torch.zeros_like(size)
    for value in table:
        distance = (value - size).abs()
        closer = distance < best
        best, entry = torch.where(closer, distance, best), torch.where(closer, value, entry)
    return entry


def between(size: torch.Tensor, table: torch.Tensor, rounding: str) -> torch.Tensor:
    """The entry below, or with the probability of the way gone, the one above."""
    steps = table.unique()
    above = torch.searchsorted(steps, size).clamp(max=len(steps) - 1)
    below = torch.searchsorted(steps, size, right=True).sub(1).clamp(min=0)
    low, high = steps[below], steps[above]
    if rounding == "floor":
        return low
    gone = torch.where(high > low, (size - low) / (high - low), 0)
    return torch.where(torch.rand_like(size) < gone, high, low)


@by_usual_arithmetic
def to_hints(
    x: torch.Tensor, given: Given, hints: Given, scale: float, like: str | None
) -> torch.Tensor:
    """The last entry whose hint lies below the magnitude; zero where there is none."""
    table, thresholds = (
        entries_of(name, values, like).to(x.device)
        for name, values in (("table_lookup", given), ("rounding_hint", hints))
    )
    if table.numel() != thresholds.numel():
        raise ValueError(
            f"rounding_hint has {thresholds.numel()} entries and table_lookup {table.numel()}; "
            "each entry has one hint"
        )

    def last(size: torch.Tensor) -> torch.Tensor:
        entry = torch.zeros_like(size)
        for value, hint in zip(table, thresholds, strict=True):
            entry = torch.where(size > hint, value, entry)
        return entry

    return signed(x, scale, last, like)


@by_usual_arithmetic
def means(given: Given, like: str | None) -> torch.Tensor:
    """The geometric means of neighbours; in the fork of their products in binary32."""
    entries = entries_of("table_lookup", given, like).double()
    products = entries[1:] * entries[:-1]
    if like is None and (products < 0).any():
        raise ValueError("table_lookup has neighbours of two signs, which have no geometric mean")
    if like is not None:
        products = products.float().double()
    roots = products.sqrt() if like is None else products.sqrt().float()
    return torch.cat([roots.new_tensor([FIRST_HINT]), roots])


def signed(x: torch.Tensor, scale: float, entry: Any, like: str | None) -> torch.Tensor:
    """What `entry` finds for the scaled magnitudes, with x's sign, scaled back.

    Zero is zero in every table. NaN stays and infinity takes the largest entry; in the fork both
    are as far from each entry as anything else that is far.
    """
    known(x.dtype)
    if like is not None and x.dtype != torch.float32:
        raise TypeError(f"like = {like!r} has results for torch.float32 alone; x holds {x.dtype}")
    wide = widened(x.detach().contiguous())
    by = torch.tensor(scale, dtype=wide.dtype) if like else scale_in(scale, wide.dtype)
    moved = here(np.multiply, wide, by)
    size = here(np.abs, moved)
    if like is None:
        size = in_dtype(size, torch.float64)
    found = in_dtype(entry(size), wide.dtype)
    negative, zero = here(np.less, moved, 0), here(np.equal, moved, 0)
    found = here(np.divide, torch.where(negative, -found, found).masked_fill(zero, 0.0), by)
    if like is None:
        found = torch.where(x.isnan(), wide, found)
    return found if found.dtype == x.dtype else saturated(found, x.dtype)


def entries_of(name: str, given: Given, like: str | None) -> torch.Tensor:
    """In binary64 and finite; in the fork in binary32, whatever they are."""
    try:
        entries = torch.as_tensor(given, dtype=torch.float64).detach().flatten()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} is {type(given).__name__}; a tensor of numbers is taken") from None
    if like is not None:
        return entries.float()
    wrong = entries[~entries.isfinite()]
    if not entries.numel() or wrong.numel():
        has = f"{wrong[0].item()} among its entries" if wrong.numel() else "0 entries"
        raise ValueError(f"{name} has {has}, which have to be at least one, and finite")
    return entries
