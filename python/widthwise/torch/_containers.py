"""Numbers that share scales, from tensors and to tensors: blocks, affine integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .. import _host
from .._machine import by_usual_arithmetic
from ._gpu import refuse_there
from ._memory import known


def contained(x: torch.Tensor, text: str, rounding: str, axis: int | None, seed: int) -> Any:
    """A tensor's numbers as Blocks, or as Affine."""
    return _host.contained(exact_numbers(x), text, rounding, axis, seed)


def exact_numbers(x: torch.Tensor) -> np.ndarray:
    """NumPy has no bfloat16, whose numbers binary32 has all."""
    known(x.dtype)
    refuse_there(x, "numbers that share scales,")
    return (x.float() if x.dtype == torch.bfloat16 else x).detach().contiguous().numpy()


@by_usual_arithmetic
def container_values(x: Any, dtype: torch.dtype) -> torch.Tensor:
    """The numbers, rounded once where binary32 or binary64 does not have them."""
    full = torch.from_numpy(_host.wide_values(x, dtype == torch.float64))
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
    return torch.from_numpy(np.asarray(_host.within(exact_numbers(x), text, axis)))
