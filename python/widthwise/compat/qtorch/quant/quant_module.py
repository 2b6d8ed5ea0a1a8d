"""`quantizer` as a module."""

from __future__ import annotations

import torch
from torch import nn

from ..number import Number
from .quant_function import quantizer

__all__ = ["Quantizer"]


class Quantizer(nn.Module):
    """Rounds what goes through it by one number, and the gradient that comes back by another.

    Args:
        forward_number, backward_number, forward_rounding, backward_rounding, like: as `quantizer`
            takes them.

    >>> import torch
    >>> from widthwise.compat.qtorch import FixedPoint
    >>> Quantizer(FixedPoint(8, 4), forward_rounding="nearest")(torch.tensor([0.3]))
    tensor([0.3125])
    """

    def __init__(
        self,
        forward_number: Number | None = None,
        backward_number: Number | None = None,
        forward_rounding: str = "stochastic",
        backward_rounding: str = "stochastic",
        *,
        like: str | None = None,
    ) -> None:
        super().__init__()
        self.quantize = quantizer(
            forward_number, backward_number, forward_rounding, backward_rounding, like=like
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.quantize(x)

    def extra_repr(self) -> str:
        q = self.quantize
        return f"{q.forward_number}, {q.backward_number}, {', '.join(q.roundings)}"
