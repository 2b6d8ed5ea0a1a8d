"""The optimizer that wraps one of torch's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.optim import SGD, Adam, Optimizer

from ....torch._by_name import Change, by_name, names_among
from ....torch._optimizer import KEPT, Steps, scaling
from .._ops import whom, whom_outside

__all__ = ["OptimLP"]
# What the packages round of SGD's and Adam's state: AMSGrad's maximum is not among it.
MOMENTA = ("momentum_buffer", "exp_avg", "exp_avg_sq")
Quant = Change | Mapping[str, Change | None] | None


class OptimLP(Optimizer):
    """An optimizer whose weights, gradients, momenta and accumulators are rounded.

    It shares its param_groups and state with the one it wraps, so that schedulers and checkpoints
    take it for that. `widthwise.torch.quantize_optimizer` has the same steps for formats.

    Args:
        optim: any optimizer of torch, which stays as it is.
        weight_quant, grad_quant, momentum_quant: functions of a tensor, as `quantizer` makes them;
            or dicts of these and None by globs on names of parameters or of layers that hold them,
            {"head": None, "*": eight}, of which the first that fits decides.
        grad_scaling: what gradients are multiplied by before they are rounded.
        acc_quant: the same of copies of the weights (`weight_acc`) that steps are added to.
        like: 'qtorch' or 'fork': a closure is not called, gradients that are not rounded are not
            scaled, AMSGrad's maximum is not rounded, and weights that were set between two steps
            are forgotten where there is `acc_quant`.
        names: the model, or its named_parameters(), where there are globs; an optimizer that was
            made of named_parameters() knows them.
        except_layers: globs on names of what stays as `optim` leaves it.

    >>> import torch
    >>> from widthwise.compat.qtorch import FloatingPoint
    >>> from widthwise.compat.qtorch.quant import quantizer
    >>> p = torch.nn.Parameter(torch.tensor([1.0]))
    >>> eight = quantizer(FloatingPoint(4, 3), forward_rounding="nearest")
    >>> low = OptimLP(torch.optim.SGD([p], lr=0.3), weight_quant=eight)
    >>> p.grad = torch.tensor([1.0])
    >>> low.step()
    >>> p.item()
    0.6875
    """

    def __init__(
        self,
        optim: Optimizer,
        weight_quant: Quant = None,
        grad_scaling: float = 1.0,
        grad_quant: Quant = None,
        momentum_quant: Quant = None,
        acc_quant: Quant = None,
        *,
        like: str | None = None,
        names: Any = None,
        except_layers: Iterable[str] = (),
    ) -> None:
        if not isinstance(optim, Optimizer):
            raise TypeError(f"optim is {type(optim).__name__}, and an optimizer of torch is taken")
        if not grad_scaling > 0:
            raise ValueError(f"grad_scaling = {grad_scaling}: it is positive")
        whom(like)
        super().__init__(optim.param_groups, optim.defaults)
        self.optim = optim
        self.grad_scaling = grad_scaling
        self.weight_quant, self.grad_quant = weight_quant, grad_quant
        self.momentum_quant, self.acc_quant = momentum_quant, acc_quant
        self.like = like
        self.names, self.except_layers = names_among(names, optim), list(except_layers)
        self.weight_acc: dict[torch.Tensor, torch.Tensor] = {}
        self.weight_left: dict[torch.Tensor, torch.Tensor] = {}
        self.share()
        steps = self.steps()
        steps.check(self, self.except_layers)
        steps.take_up(self)

    def share(self) -> None:
        """torch gives an optimizer other groups when it loads."""
        self.param_groups, self.state = self.optim.param_groups, self.optim.state

    def steps(self, like: str | None = None) -> Steps:
        told = self.weight_quant, self.grad_quant, self.momentum_quant, self.acc_quant
        weight, grad, momentum, accumulator = (by_name(x, self.except_layers) for x in told)
        known = like is not None and isinstance(self.optim, SGD | Adam)
        return Steps(
            weight,
            scaling(grad, self.grad_scaling) if like is None else grad,
            dict.fromkeys(MOMENTA, momentum) if known else momentum,
            accumulator,
            self.grad_scaling,
            self.weight_acc,
            self.weight_left if like is None else None,
            self.names,
        )

    def step(self, closure: Any = None) -> Any:
        """One step; returns what the closure does, which is called as torch's own call it."""
        self.share()
        like = whom_outside(self.like)
        steps = self.steps(like)
        with steps.given_up(self):
            around = steps.begin(self, closure if like is None else None)
            loss = self.optim.step() if around is None else self.optim.step(around)
            steps.end(self)
        return loss

    def state_dict(self) -> dict[str, Any]:
        found = self.optim.state_dict()
        if self.acc_quant is not None:
            found[KEPT] = self.steps().saved(self)
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        given = dict(state_dict)
        kept = given.pop(KEPT, {})
        self.optim.load_state_dict(given)
        self.share()
        self.steps().load(self, kept)

    def __getstate__(self) -> dict[str, Any]:
        """All but torch's hooks, and the step that a scheduler has put its own around."""
        own = self.__dict__.items()
        return {k: v for k, v in own if not k.startswith("_") and k != "step"}

    def __repr__(self) -> str:
        return f"LP Optimizer: {self.optim!r}"
