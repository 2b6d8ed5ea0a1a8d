"""Tensors as codes and back: the memory that torch and the core both read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._format import Format
from .._host import NEAREST, WRAPPING, env_of, holds, straight_range


class Dtype(NamedTuple):
    """What a dtype of torch is: its format, and the integers of its width, torch's and NumPy's."""

    format: Format
    words: torch.dtype  # signed: torch computes with no others
    codes: Any
    floats: Any  # NumPy's of the same numbers, None where it has none


DTYPES = {
    torch.float16: Dtype(Format("binary16"), torch.int16, np.uint16, np.float16),
    torch.bfloat16: Dtype(Format("bfloat16"), torch.int16, np.uint16, None),
    torch.float32: Dtype(Format("binary32"), torch.int32, np.uint32, np.float32),
    torch.float64: Dtype(Format("binary64"), torch.int64, np.uint64, np.float64),
}


@lru_cache(maxsize=256)
def held_format(text: str, dtype: torch.dtype) -> Format:
    """The format of single numbers, all of which the dtype holds."""
    f = Format(text)
    known(dtype)
    if not fits_in(f, dtype):
        wider = [str(d) for d in (torch.float32, torch.float64) if fits_in(f, d)]
        way = f"pass x.to({wider[0]}) or" if wider else "take"
        raise ValueError(f"{f} has numbers that {dtype} does not hold; {way} encode(x)")
    return f


def fits_in(f: Format, dtype: torch.dtype) -> bool:
    return holds(DTYPES[dtype].format, f)


def known(dtype: torch.dtype) -> Dtype:
    if dtype not in DTYPES:
        listed = ", ".join(map(str, DTYPES))
        raise TypeError(f"x holds {dtype}; {listed} are taken, x.float() makes one of them")
    return DTYPES[dtype]


def words_of(x: torch.Tensor, of: Dtype) -> np.ndarray:
    """A tensor's floats as NumPy's unsigned codes; a copy only where rows do not lie in order."""
    x = x.detach().contiguous()
    return (x.view(of.words) if of.floats is None else x).numpy().view(of.codes)


def rounded_codes(x: torch.Tensor, to: Format, env: core.Env = NEAREST, seed: int = 0) -> Array:
    """Each number of a tensor rounded once."""
    of = known(x.dtype)
    words = words_of(x, of)
    if not to._core.has_nan:
        refuse_what_it_has_not(x, to)
    result = _codes.empty(words.shape, to)
    core.elementwise("convert", to._core, env, [(of.format._core, words)], result, None, seed)
    return Array._of(result, to)


def refuse_what_it_has_not(x: torch.Tensor, to: Format) -> None:
    """As ww.array does: NaN, and infinities in fixed point that wraps."""
    if torch.isnan(x).any():
        refuse("NaN", to)
    if to.system == "fixed" and to._core.overflow in WRAPPING and torch.isinf(x).any():
        refuse("infinities", to)


def refuse(lacking: str, to: Format) -> NoReturn:
    if lacking == "NaN":
        raise ValueError(
            f"x has NaN among its numbers, and {to} has none; x.nan_to_num(nan=0.0) puts zero in "
            "its place, or take a format that has one"
        )
    raise ValueError(
        f"x has infinities among its numbers, and {to} has none and wraps; take "
        "overflow=saturate, or x.nan_to_num()"
    )


def values_of(codes: Array, dtype: torch.dtype) -> torch.Tensor:
    """Codes as a new tensor of a dtype that holds their format."""
    of = known(dtype)
    words = np.empty(codes.shape, of.codes)
    operand = (codes.format._core, np.ascontiguousarray(codes._bits))
    core.elementwise("convert", of.format._core, NEAREST, [operand], words, None, 0)
    if of.floats is None:
        return torch.from_numpy(words.view(np.int16)).view(dtype)
    return torch.from_numpy(words.view(of.floats))


@lru_cache(maxsize=256)
def values_by(text: str, dtype: torch.dtype, rounding: str) -> core.RoundedValues:
    """The core's one pass from numbers of a dtype to numbers of a format in that dtype."""
    f = held_format(text, dtype)
    own = DTYPES[dtype]
    low, high = straight_range(text) or (0.0, 0.0)
    low, high = (-0.0 if low == 0 else low), high + 0.0  # both zeros lie inside
    ends = (int(bits_of(end, own)) for end in (low, high))
    return core.RoundedValues(own.format._core, f._core, env_of(rounding), *ends)


def bits_of(x: float, of: Dtype) -> Any:
    from .._create import array

    return array(x, of.format).bits


def rounded_values(x: torch.Tensor, text: str, rounding: str, seed: int) -> torch.Tensor:
    """Each number of a tensor rounded once, in a new tensor."""
    by = values_by(text, x.dtype, rounding)
    x = x.contiguous()
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    lacking = by.round(x.data_ptr(), y.data_ptr(), x.numel(), seed)
    if lacking:
        refuse(lacking, Format(text))
    return y


def values_inside(g: torch.Tensor, x: torch.Tensor, text: str) -> torch.Tensor:
    """g where the format has a number as large as x, else 0."""
    if straight_range(text) is None:
        return g.clone(memory_format=torch.contiguous_format)
    by = values_by(text, x.dtype, "rne")
    g, x = g.to(x.dtype).contiguous(), x.contiguous()
    y = torch.empty_like(g, memory_format=torch.contiguous_format)
    by.pass_inside(g.data_ptr(), x.data_ptr(), y.data_ptr(), g.numel())
    return y
