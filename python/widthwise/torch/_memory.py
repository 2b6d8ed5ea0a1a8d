"""Tensors as codes and back: the memory that torch and the core both read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from .. import _host
from .. import _widthwise as core
from .._array import Array
from .._create import reach as of_numbers
from .._device import DeviceArray
from .._format import Format
from ._gpu import codes_there, lies_there, numbers_there, tensor_there, values_there

# What is done about numbers that a format has not.
WAYS = {
    "NaN": "x.nan_to_num(nan=0.0) puts zero in its place",
    "infinities": "x.nan_to_num()",
}
SIGNED = {2: torch.int16, 4: torch.int32, 8: torch.int64}


class Dtype(NamedTuple):
    """What a dtype of torch is: its format, and the integers of its width, NumPy's and torch's."""

    own: _host.Floats
    words: torch.dtype  # signed: torch computes with no others
    floats: Any  # NumPy's of the same numbers, None where it has none

    @property
    def format(self) -> Format:
        return self.own.format

    @property
    def codes(self) -> Any:
        return self.own.codes


def dtype_of(name: str, own: _host.Floats) -> Dtype:
    floats = None if name == "bfloat16" else np.dtype(name)
    return Dtype(own, SIGNED[np.dtype(own.codes).itemsize], floats)


DTYPES = {getattr(torch, name): dtype_of(name, own) for name, own in _host.FLOATS.items()}


def held_format(text: str, dtype: torch.dtype) -> Format:
    """The format of single numbers, all of which the dtype holds."""
    return _host.held_format(text, str(dtype), wider)


def wider(dtype: str | None) -> str:
    return f"pass x.to(torch.{dtype}) or encode(x)" if dtype else "take encode(x)"


def fits_in(f: Format, dtype: torch.dtype) -> bool:
    return _host.fits_in(f, str(dtype))


def known(dtype: torch.dtype) -> Dtype:
    if dtype not in DTYPES:
        _host.known("x", str(dtype), ", x.float() makes one of them")
    return DTYPES[dtype]


def words_of(x: torch.Tensor, of: Dtype) -> np.ndarray:
    """A tensor's floats as NumPy's unsigned codes; a copy only where rows do not lie in order."""
    x = x.detach().contiguous()
    return (x.view(of.words) if of.floats is None else x).numpy().view(of.codes)


THERE = {"equal": "eq"}  # what torch calls otherwise than NumPy


def here(function: Any, *given: Any) -> torch.Tensor:
    """What NumPy computes of tensors, in this thread: torch's own threads have what was set as they
    began, and may flush subnormals. Of tensors on a GPU torch computes it there, and flushes none;
    a divisor has to lie there, too, for by a scalar of this machine it multiplies reciprocals.
    """
    for x in given:
        if isinstance(x, torch.Tensor) and lies_there(x):
            own = getattr(torch, THERE.get(function.__name__, function.__name__))
            return own(*(y.to(x.device) if isinstance(y, torch.Tensor) else y for y in given))
    arrays = (x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in given)
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.asarray(function(*arrays)))


def in_dtype(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """binary32 and binary64 as each other, by whom `here` has compute."""
    return x.to(dtype) if lies_there(x) else here(known(dtype).floats.type, x)


def reach(x: torch.Tensor) -> float:
    """NaN if one is among the numbers, else the largest magnitude, or what is as finite."""
    if x.dtype in (torch.float32, torch.float64) and not lies_there(x):
        return of_numbers(x.detach().numpy())
    return float(x.detach().abs().amax()) if x.numel() else 0.0


def rounded_codes(
    x: torch.Tensor, to: Format, env: core.Env = _host.NEAREST, seed: int = 0
) -> Array | DeviceArray:
    """Each number of a tensor rounded once, where it lies."""
    of = known(x.dtype)
    _host.refuse_what_it_has_not(x, to, reach, WAYS)
    if lies_there(x):
        return codes_there(x, of.format, to, env, seed)
    return _host.coded(words_of(x, of), of.format, to, env, seed)


def values_of(codes: Array | DeviceArray, dtype: torch.dtype) -> torch.Tensor:
    """Codes as a new tensor of a dtype that holds their format, where they lie."""
    of = known(dtype)
    if isinstance(codes, DeviceArray):
        return values_there(codes, of.format, dtype)
    words = _host.words_of(codes, of.own)
    if of.floats is None:
        return torch.from_numpy(words.view(np.int16)).view(dtype)
    return torch.from_numpy(words.view(of.floats))


def tensor_of(codes: Array | DeviceArray) -> torch.Tensor:
    """Codes as unsigned integers, in a new tensor where they lie."""
    if isinstance(codes, DeviceArray):
        return tensor_there(codes)
    return torch.from_numpy(np.array(codes.bits, order="C"))


def codes_in(words: torch.Tensor, f: Format) -> Array | DeviceArray:
    """A tensor's unsigned integers as the codes that they are, in its memory."""
    if lies_there(words):
        return numbers_there(words, f)
    return Array._of(words.numpy(), f)


def values_by(text: str, dtype: torch.dtype, rounding: str) -> core.RoundedValues:
    """The core's one pass, of a format whose numbers the dtype holds."""
    return _host.values_by(text, str(dtype), rounding, wider)


def rounded_values(x: torch.Tensor, text: str, rounding: str, seed: int) -> torch.Tensor:
    """Each number of a tensor rounded once, in a new tensor."""
    by = values_by(text, x.dtype, rounding)
    if lies_there(x):
        return values_of(rounded_codes(x, Format(text), _host.env_of(rounding), seed), x.dtype)
    x = x.contiguous()
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    lacking = by.round(x.data_ptr(), y.data_ptr(), x.numel(), seed)
    if lacking:
        _host.refuse(lacking, Format(text), WAYS)
    return y


def values_inside(g: torch.Tensor, x: torch.Tensor, text: str) -> torch.Tensor:
    """g where the format has a number as large as x, else 0."""
    ends = _host.straight_range(text)
    if ends is None:
        return g.clone(memory_format=torch.contiguous_format)
    if lies_there(x):
        held_format(text, x.dtype)
        return g.to(x.dtype).masked_fill((x < ends[0]) | (x > ends[1]), 0).contiguous()
    by = values_by(text, x.dtype, "rne")
    g = g if g.dtype is x.dtype else g.to(x.dtype)
    g, x = g.contiguous(), x.contiguous()
    y = torch.empty_like(g, memory_format=torch.contiguous_format)
    by.pass_inside(g.data_ptr(), x.data_ptr(), y.data_ptr(), g.numel())
    return y
