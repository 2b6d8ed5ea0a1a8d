"""Functions that round tensors, with QPyTorch's names and arguments, and its posit fork's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .. import _tables
from .._fork import left_aligned
from .._ops import FORK, PACKAGES, having, resolved, round_by, squash_op, whom
from .._rounding import mode_of
from ..number import (
    BlockFloatingPoint,
    FixedPoint,
    FloatingPoint,
    Number,
    Posit,
    Positbf,
    number_of,
)
from ._quantizer import quantizer

__all__ = [
    "act_format_quantize",
    "bfloat16_posit8_quantize",
    "block_quantize",
    "configurable_table_quantize",
    "configurable_table_quantize_geomean",
    "configurable_table_quantize_rounding_hint",
    "convert_to_posit",
    "fixed_point_quantize",
    "float_quantize",
    "new_format_quantize",
    "posit_quantize",
    "posit_sigmoid",
    "posit_tanh",
    "posit_tanh_enhanced",
    "quantizer",
]


def alone(x: torch.Tensor, number: Number, rounding: str, like: str | None) -> torch.Tensor:
    """Values without a graph, as the functions below have always had them."""
    mode_of(rounding)
    return round_by(detached(x), number, None, (rounding, rounding), whom(like, having(number)))


def detached(x: Any) -> torch.Tensor:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is {type(x).__name__}, and a tensor is taken")
    return x.detach()


def fixed_point_quantize(
    x: torch.Tensor,
    wl: int | FixedPoint,
    fl: int | None = None,
    clamp: bool | None = None,
    symmetric: bool | None = None,
    rounding: str = "stochastic",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """x in fixed point; no gradient passes.

    Args:
        x: a tensor of float16, bfloat16, float32 or float64.
        wl, fl, clamp, symmetric: as in FixedPoint; or wl is one, and the others are left out.
        rounding: 'stochastic' (by torch's generator), 'nearest' (ties to even) or 'floor'.
        like: 'qtorch' or 'fork', as in `quantizer`.
    Returns:
        A new tensor of x's dtype and shape, contiguous. NaN stays.

    >>> import torch
    >>> fixed_point_quantize(torch.tensor([0.3, 9.0]), 8, 4, rounding="nearest")
    tensor([0.3125, 7.9375])
    """
    if fl is None and not isinstance(wl, Number):
        raise TypeError("fl is missing: bits behind the point; or pass a FixedPoint for wl")
    number = number_of(FixedPoint, wl=wl, fl=fl, clamp=clamp, symmetric=symmetric)
    return alone(x, number, rounding, like)


def block_quantize(
    x: torch.Tensor,
    wl: int | BlockFloatingPoint,
    dim: int | None = None,
    rounding: str = "stochastic",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """x in block floating point; no gradient passes.

    Args:
        x, rounding, like: as in `fixed_point_quantize`; nearest has ties towards plus infinity.
        wl, dim: as in BlockFloatingPoint; or wl is one, and dim is left out.
    Returns:
        A new tensor of x's dtype and shape, contiguous. NaN and infinity stay, and have no say in
        their block's exponent.
    Raises:
        ValueError: x is empty.
        IndexError: x has no such axis.

    >>> import torch
    >>> block_quantize(torch.tensor([1.0, 0.3, -0.3]), 4, rounding="nearest")
    tensor([ 1.0000,  0.2500, -0.2500])
    """
    return alone(x, number_of(BlockFloatingPoint, wl=wl, dim=dim), rounding, like)


def float_quantize(
    x: torch.Tensor,
    exp: int | FloatingPoint,
    man: int | None = None,
    rounding: str = "stochastic",
    *,
    subnormals: bool | None = None,
    saturate: bool | None = None,
    like: str | None = None,
) -> torch.Tensor:
    """x in floats without infinities; no gradient passes.

    Args:
        x, rounding, like: as in `fixed_point_quantize`.
        exp, man, subnormals, saturate: as in FloatingPoint; or exp is one, and the others are left
            out.
    Returns:
        A new tensor of x's dtype and shape, contiguous. NaN stays; infinity becomes the largest
        number, as all that is past it; without `saturate` all of that becomes infinity.

    >>> import torch
    >>> float_quantize(torch.tensor([0.3, 500.0]), exp=4, man=3, rounding="nearest").tolist()
    [0.3125, 480.0]
    """
    if man is None and not isinstance(exp, Number):
        raise TypeError("man is missing: bits of the fraction; or pass a FloatingPoint for exp")
    settings = {"exp": exp, "man": man, "subnormals": subnormals, "saturate": saturate}
    number = number_of(FloatingPoint, **settings)
    return alone(x, number, rounding, like)


def posit_quantize(
    x: torch.Tensor,
    nsize: int | Posit,
    es: int | None = None,
    scale: float | None = None,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """x in posits, multiplied by a scale before and divided after; no gradient passes.

    Args:
        x, rounding: as in `fixed_point_quantize`.
        nsize, es, scale: as in Posit; or nsize is one, and the others are left out.
        like: 'fork', as in `quantizer`.
    Returns:
        A new tensor of x's dtype and shape, contiguous. NaN stays; infinity becomes NaN, as NaR is
        read.

    >>> import torch
    >>> posit_quantize(torch.tensor([0.3, 1e9]), 8, 1)
    tensor([2.9688e-01, 4.0960e+03])
    """
    return alone(x, as_posit(nsize, es, scale), rounding, like)


def as_posit(nsize: Any, es: int | None, scale: float | None) -> Posit:
    if es is None and not isinstance(nsize, Number):
        raise TypeError("es is missing: bits of the exponent; or pass a Posit for nsize")
    posit: Posit = number_of(Posit, nsize=nsize, es=es, scale=scale)
    return posit


def bfloat16_posit8_quantize(
    x: torch.Tensor,
    nsize: int | Posit,
    es: int | None = None,
    scale: float | None = None,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """bfloat16 in posits of up to 8 bits; scaling is rounded to bfloat16. No gradient passes.

    Args:
        x, rounding, nsize, es, scale, like: as in `posit_quantize`.
    Returns:
        A new tensor of x's dtype and shape, contiguous.

    >>> import torch
    >>> bfloat16_posit8_quantize(torch.tensor([0.3, 1e9]).bfloat16(), 8, 1).tolist()
    [0.296875, 4096.0]
    """
    given = as_posit(nsize, es, scale)
    return alone(x, Positbf(*given.arguments()), rounding, like)


def convert_to_posit(
    x: torch.Tensor,
    nsize: int | Posit,
    es: int | None = None,
    scale: float | None = None,
    *,
    like: str | None = None,
) -> torch.Tensor:
    """The codes of posits of up to 16 bits, in the upper bits of uint16.

    Args:
        x, scale: as in `posit_quantize`; with like='fork' the scale is not used.
        nsize, es: as in Posit; or nsize is one, and the others are left out.
        like: 'fork', as in `quantizer`.
    Returns:
        A new tensor of torch.uint16, of x's shape.

    >>> import torch
    >>> [hex(code) for code in convert_to_posit(torch.tensor([0.3, -1.0]), 8, 1).tolist()]
    ['0x2300', '0xc000']
    """
    number = as_posit(nsize, es, scale)
    if number.nsize > 16:
        raise ValueError(
            f"nsize = {number.nsize}: codes in uint16 have at most 16; take ww.torch.encode"
        )
    return left_aligned(detached(x), number, resolved(whom(like, FORK), FORK))


# --- Sigmoid and tanh ----------------------------------------------------------------------------


def posit_sigmoid(
    x: torch.Tensor,
    nsize: int,
    es: int = 0,
    scale: float = 1.0,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """The sigmoid that is read off a posit's code, its first bit flipped and all shifted right.

    Args:
        x: a tensor of float16, bfloat16, float32 or float64, read as binary32.
        nsize: bits of the posit, 8 or 16, whose es is 0.
        es, scale, rounding: 0, 1.0 and 'nearest'; with like='fork' others are not looked at.
        like: 'fork', as in `quantizer`.
    Returns:
        A new tensor of x's dtype and shape. NaN stays; infinity is as the largest posit.
    Raises:
        ValueError: another nsize, es or scale.

    >>> import torch
    >>> posit_sigmoid(torch.tensor([0.0, 0.3, 100.0]), 16).tolist()
    [0.5, 0.574951171875, 0.9971923828125]
    """
    return squash(x, "sigmoid", nsize, (es, scale, rounding), like)


def posit_tanh(
    x: torch.Tensor,
    nsize: int,
    es: int = 0,
    scale: float = 1.0,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """Twice `posit_sigmoid` of twice x, less one; arguments as there.

    >>> import torch
    >>> posit_tanh(torch.tensor([0.3, 2.0]), 16).tolist()
    [0.2999267578125, 0.875]
    """
    return squash(x, "tanh", nsize, (es, scale, rounding), like)


def posit_tanh_enhanced(
    x: torch.Tensor,
    nsize: int,
    es: int = 0,
    scale: float = 1.0,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """`posit_tanh`, 0.06795 farther from zero beyond 0.7583, at most 1; arguments as there.

    >>> import torch
    >>> posit_tanh_enhanced(torch.tensor([1.0, 100.0]), 16).tolist()
    [0.75, 1.0]
    """
    return squash(x, "tanh_enhanced", nsize, (es, scale, rounding), like)


def squash(
    x: torch.Tensor, name: str, nsize: int, others: tuple[Any, ...], like: str | None
) -> torch.Tensor:
    if nsize not in (8, 16):
        raise ValueError(f"nsize = {nsize}: the function is made for posits of 8 and 16 bits")
    whose = whom(like, FORK)
    if whose not in PACKAGES and others != (0, 1.0, "nearest"):
        raise ValueError(
            f"es, scale, rounding = {others}: the function is defined for 0, 1.0, 'nearest'; "
            "like='fork' does not look at them"
        )
    return squash_op(detached(x), name, nsize, whose)


# --- Tables --------------------------------------------------------------------------------------


def configurable_table_quantize(
    x: torch.Tensor,
    table_lookup: torch.Tensor | Sequence[float],
    scale: float = 1.0,
    rounding: str = "nearest",
    *,
    like: str | None = None,
) -> torch.Tensor:
    """Magnitudes to the nearest entry of a table, with x's sign; zero stays zero.

    Args:
        x, like: as in `posit_quantize`.
        table_lookup: a tensor or list of magnitudes, in any order; the first of two that are as
            near wins.
        scale: numbers are multiplied by it before, and divided after.
        rounding: 'nearest', 'stochastic' or 'floor' (the entry below).
    Returns:
        A new tensor of x's dtype and shape. NaN stays; infinity becomes the largest entry.

    >>> import torch
    >>> configurable_table_quantize(torch.tensor([0.5, -0.6, 2e5]), torch.tensor([0.0, 1.0, 2.0]))
    tensor([ 0., -1.,  2.])
    """
    mode_of(rounding)
    return _tables.to_table(detached(x), table_lookup, scale, rounding, table_whom(like))


def table_whom(like: str | None) -> str | None:
    return resolved(whom(like, FORK), FORK)


def configurable_table_quantize_rounding_hint(
    x: torch.Tensor,
    table_lookup: torch.Tensor | Sequence[float],
    rounding_hint: torch.Tensor | Sequence[float],
    scale: float = 1.0,
    *,
    like: str | None = None,
) -> torch.Tensor:
    """Magnitudes to the last entry whose hint lies below them, zero where none does.

    Args:
        x, table_lookup, scale, like: as in `configurable_table_quantize`.
        rounding_hint: a tensor or list of as many thresholds.
    Returns:
        A new tensor of x's dtype and shape. NaN stays.

    >>> import torch
    >>> table, hints = torch.tensor([0.25, 1.0, 2.0]), torch.tensor([0.2, 0.5, 1.5])
    >>> configurable_table_quantize_rounding_hint(torch.tensor([0.1, 0.3, -0.8, 3]), table, hints)
    tensor([ 0.0000,  0.2500, -1.0000,  2.0000])
    """
    return _tables.to_hints(detached(x), table_lookup, rounding_hint, scale, table_whom(like))


def configurable_table_quantize_geomean(
    x: torch.Tensor,
    table_lookup: torch.Tensor | Sequence[float],
    scale: float = 1.0,
    *,
    like: str | None = None,
) -> torch.Tensor:
    """The same with the geometric means of neighbours for hints, and 0.0001 for the first.

    Args:
        x, table_lookup, scale, like: as in `configurable_table_quantize`; the table ascends.
    Returns:
        A new tensor of x's dtype and shape. NaN stays.

    >>> import torch
    >>> configurable_table_quantize_geomean(torch.tensor([0.3, 0.8]), torch.tensor([0.25, 1, 2]))
    tensor([0.2500, 1.0000])
    """
    whose = table_whom(like)
    hints = _tables.means(table_lookup, whose)
    return _tables.to_hints(detached(x), table_lookup, hints, scale, whose)


def act_format_quantize(
    x: torch.Tensor, scale: float = 1.0, rounding: str = "nearest", *, like: str | None = None
) -> torch.Tensor:
    """The fork's table for activations, from 2^-12 to 16; arguments as for tables.

    >>> import torch
    >>> act_format_quantize(torch.tensor([0.3, 1.2, 5.0]))
    tensor([0.3125, 1.2500, 4.0000])
    """
    return configurable_table_quantize(
        x, torch.tensor(_tables.ACTIVATIONS), scale, rounding, like=like
    )


def new_format_quantize(
    x: torch.Tensor, scale: float = 1.0, rounding: str = "nearest", *, like: str | None = None
) -> torch.Tensor:
    """The fork's table for weights, from 2^-16 to 1; arguments as for tables.

    >>> import torch
    >>> new_format_quantize(torch.tensor([0.3, 1.2, 5.0]))
    tensor([0.2500, 1.0000, 1.0000])
    """
    return configurable_table_quantize(x, torch.tensor(_tables.WEIGHTS), scale, rounding, like=like)
