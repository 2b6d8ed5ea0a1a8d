"""The optimizer that rounds weights, gradients, momenta and accumulators."""

from .optim_low import OptimLP

__all__ = ["OptimLP"]
