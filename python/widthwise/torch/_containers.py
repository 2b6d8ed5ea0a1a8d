"""Numbers that share scales, from tensors and to tensors: blocks, affine integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .._host import OVERFLOW, at_most, block_format_of, is_affine
from ..containers.affine import Affine, affine
from ..containers.quantise import blocks
from ._memory import known


def contained(x: torch.Tensor, text: str, rounding: str, axis: int | None, seed: int) -> Any:
    """A tensor's numbers as Blocks, or as Affine."""
    numbers = exact_numbers(x)
    if is_affine(text):
        return affine(numbers, text, axis=axis, rounding=rounding, seed=seed)
    along = -1 if axis is None else axis
    return blocks(numbers, block_format_of(text), axis=along, rounding=rounding, seed=seed)


def exact_numbers(x: torch.Tensor) -> np.ndarray:
    """NumPy has no bfloat16, whose numbers binary32 has all."""
    known(x.dtype)
    return (x.float() if x.dtype == torch.bfloat16 else x).detach().contiguous().numpy()


def container_values(x: Any, dtype: torch.dtype) -> torch.Tensor:
    """The numbers, rounded once where binary32 or binary64 does not have them."""
    wide = dtype == torch.float64
    if isinstance(x, Affine):
        values = x.dequantise(np.float64 if wide else np.float32)
    else:
        values = x.to_float64() if wide else x.to_float32()
    full = torch.from_numpy(values)
    if dtype in (torch.float32, torch.float64):
        return full
    narrow = full.to(dtype)
    lost = (narrow.to(full.dtype) != full) & ~full.isnan()
    if lost.any():
        raise ValueError(
            f"{x.format} has {int(lost.sum())} numbers here that {dtype} does not hold; pass "
            "x.float(), or take codes: encode(x, …)"
        )
    return narrow


def unsaturated(x: torch.Tensor, text: str, axis: int | None) -> torch.Tensor:
    """Which numbers the format's codes reach, by the scales that it finds for them."""
    if is_affine(text):
        _, flags = affine(exact_numbers(x), text, axis=axis, flags=True)
        return torch.from_numpy(np.asarray((flags & OVERFLOW) == 0))
    found = contained(x, text, "rne", axis, 0)
    high = at_most(found, found.format.element.codes["max_finite"])
    values = torch.from_numpy(exact_numbers(x).astype(np.float64))
    return ~(values.abs() > torch.from_numpy(high).abs())
