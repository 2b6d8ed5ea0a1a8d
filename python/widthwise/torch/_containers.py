"""Numbers that share scales, from tensors and to tensors: blocks, affine integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import _host
from .._device import DeviceArray
from .._format_texts import said
from .._machine import by_usual_arithmetic
from ..containers.affine import Affine, affine
from ..containers.affine_steps import fill_raising, place_of
from ..containers.numbers import as_numbers
from ..containers.scheme import is_affine
from ._gpu import lies_there, numbers_there, tensor_there
from ._memory import known, values_of


def contained(x: torch.Tensor, text: str, rounding: str, axis: int | None, seed: int) -> Any:
    """A tensor's numbers as Blocks, or as Affine."""
    return _host.contained(exact_numbers(x), text, rounding, axis, seed)


def exact_numbers(x: torch.Tensor) -> Any:
    """NumPy has no bfloat16, whose numbers binary32 has all; on a GPU they stay as they are."""
    own = known(x.dtype)
    if lies_there(x):
        return numbers_there(x.detach().contiguous(), own.format)
    return (x.float() if x.dtype == torch.bfloat16 else x).detach().contiguous().numpy()


def wide_values(x: Any, wide: bool) -> torch.Tensor:
    """The numbers of a container in binary64, or binary32, where its codes lie."""
    numbers = _host.wide_values(x, wide)
    if x.device == "cpu":
        return torch.from_numpy(numbers)
    return values_of(numbers, torch.float64 if wide else torch.float32)


@by_usual_arithmetic
def container_values(x: Any, dtype: torch.dtype) -> torch.Tensor:
    """The numbers, rounded once where binary32 or binary64 does not have them."""
    full = wide_values(x, dtype == torch.float64)
    if dtype in (torch.float32, torch.float64):
        return full
    narrow = full.to(dtype)
    lost = (narrow.to(full.dtype) != full) & ~full.isnan()
    if lost.any():
        raise ValueError(
            f"{said(x.format)} has {int(lost.sum())} numbers here that {dtype} does not hold; pass "
            "x.float(), or take codes: encode(x, …)"
        )
    return narrow


def unsaturated(x: torch.Tensor, text: str, axis: int | None) -> torch.Tensor:
    """Which numbers the format's codes reach, by the scales that it finds for them."""
    numbers = exact_numbers(x)
    if not lies_there(x):
        return torch.from_numpy(np.asarray(_host.within(numbers, text, axis)))
    if not x.numel():
        return torch.ones_like(x, dtype=torch.bool)
    if is_affine(text):
        return unclamped(x, lambda **how: affine(numbers, text, axis=axis, **how))
    found = _host.contained(numbers, text, "rne", axis, 0)
    return ~(x.double().abs() > highest_there(found, x).abs())


def unclamped(x: torch.Tensor, made: Callable[..., Any]) -> torch.Tensor:
    """Which numbers of x affine codes reach, as `made` makes these."""
    if lies_there(x):
        flags = raised_there(made(), as_numbers(exact_numbers(x)))
    else:
        flags = torch.from_numpy(np.asarray(made(flags=True)[1]))
    return (flags & _host.OVERFLOW) == 0


def raised_there(found: Affine, numbers: DeviceArray) -> torch.Tensor:
    """The flags of numbers as they become codes once more."""
    flags = place_of(numbers).flags(numbers.shape, True)
    assert flags is not None
    fill_raising(found, numbers, "exact", _host.NEAREST, flags, 0)
    return tensor_there(flags.there())


def highest_there(found: Any, x: torch.Tensor) -> torch.Tensor:
    """What blocks would hold if all their elements were the largest."""
    element = found.format.element
    words = getattr(torch, f"uint{8 * element.dtype.itemsize}")
    codes = torch.full(x.shape, int(element.codes["max_finite"]), dtype=words, device=x.device)
    return wide_values(_host.with_elements(found, numbers_there(codes, element)), True)
