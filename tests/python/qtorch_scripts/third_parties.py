"""What others write: partial, sweeps, a subclass of the optimizer, groups, e4m3 with 480."""

from functools import partial

import torch
from qtorch.number import FloatingPoint
from qtorch.optim import OptimLP
from qtorch.quant import Quantizer, float_quantize
from torch import nn
from torch.optim import SGD

torch.manual_seed(0)
fp8 = partial(float_quantize, exp=4, man=3, rounding="stochastic")
weights = torch.randn(6, 6) * 200
results = [fp8(weights), fp8(weights.t()), fp8(weights[::2, 1:])]
for exp in range(2, 6):  # every split of eight bits
    q = lambda x, e=exp: float_quantize(x, e, 7 - e, "stochastic")  # noqa: E731
    results.append((q(weights) - weights).abs().mean())


class Clipped(OptimLP):
    def __init__(self, optim, most=1.0, **how):
        super().__init__(optim, **how)
        self.most = most

    def step(self, closure=None):
        for group in self.param_groups:
            nn.utils.clip_grad_norm_(group["params"], self.most)
        return super().step(closure)


number = FloatingPoint(5, 2)
model = nn.Sequential(nn.Linear(6, 4), Quantizer(number, number, "stochastic", "stochastic"))
optimizer = Clipped(SGD(model[0].parameters(), lr=0.1), weight_quant=fp8, grad_quant=fp8)
extra = nn.Parameter(torch.ones(4))
optimizer.add_param_group({"params": [extra], "lr": 0.01})
for _ in range(2):
    optimizer.zero_grad(set_to_none=False)
    (model(weights / 200) * extra).square().sum().backward()
    optimizer.step()
results += [p.detach() for p in (*model.parameters(), extra)]
