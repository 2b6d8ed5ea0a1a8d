"""Logistic regression in fixed point, with Adam and a quantizer that zeroes clamped gradients."""

import torch
from qtorch import FixedPoint
from qtorch.optim import OptimLP
from qtorch.quant import quantizer
from torch.optim import Adam

torch.manual_seed(0)
x = torch.randn(32, 4) * 3
y = (x.sum(1) > 0).float()
number = FixedPoint(wl=8, fl=5)
act = quantizer(number, number, "stochastic", "stochastic", clamping_grad_zero=True)
wide = quantizer(FixedPoint(wl=16, fl=12), forward_rounding="stochastic")
w = torch.zeros(4, requires_grad=True)
optimizer = OptimLP(Adam([w], lr=0.1), weight_quant=wide, grad_quant=wide, momentum_quant=wide)
losses = []
for _ in range(2):
    optimizer.zero_grad()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(act(x @ w), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
results = [w.detach(), *losses]
