"""The posit fork's modules of tanh."""

from __future__ import annotations

import torch
from torch import nn

from ._ops import FORK, squash_op, whom

__all__ = ["PositTanhModule", "PositTanhModuleEnhanced", "RefTanhModule"]
BITS = 16


class PositTanh(nn.Module):
    name: str

    def __init__(self, *, like: str | None = None) -> None:
        super().__init__()
        self.like = like
        whom(like, FORK)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return squash_op(input, self.name, BITS, whom(self.like, FORK))


class PositTanhModule(PositTanh):
    """`posit_tanh` of 16 bits; its gradient is 1 - y^2.

    Args:
        like: 'fork', as in `quantizer`.

    >>> import torch
    >>> PositTanhModule()(torch.tensor([2.0]))
    tensor([0.8750])
    """

    name = "tanh"


class PositTanhModuleEnhanced(PositTanh):
    """`posit_tanh_enhanced` of 16 bits; its gradient is 1 - y^2.

    Args:
        like: 'fork', as in `quantizer`.

    >>> import torch
    >>> PositTanhModuleEnhanced()(torch.tensor([2.0]))
    tensor([0.9430])
    """

    name = "tanh_enhanced"


class RefTanhModule(nn.Module):
    """torch's own tanh.

    >>> import torch
    >>> RefTanhModule()(torch.tensor([2.0]))
    tensor([0.9640])
    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return torch.tanh(input)
