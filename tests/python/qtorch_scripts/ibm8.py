"""Floats of eight bits for weights, activations, gradients and errors, of sixteen for the rest."""

import torch
from qtorch import FloatingPoint
from qtorch.auto_low import lower
from qtorch.optim import OptimLP
from qtorch.quant import Quantizer, quantizer
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(0)
bits = {"weight": (5, 2), "grad": (5, 2), "momentum": (6, 9), "acc": (6, 9)}
quantizers = {}
for num, (exp, man) in bits.items():
    number = FloatingPoint(exp=exp, man=man)
    print(f"{num}: {number}")
    quantizers[num] = quantizer(forward_number=number, forward_rounding="stochastic")
model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)
)
half = FloatingPoint(exp=5, man=2)
lower(
    model,
    layer_types=["conv", "linear"],
    forward_number=half,
    backward_number=half,
    forward_rounding="stochastic",
    backward_rounding="stochastic",
)
loss_quant = Quantizer(FloatingPoint(6, 9), None, "stochastic", "stochastic")
optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
optimizer = OptimLP(
    optimizer,
    weight_quant=quantizers["weight"],
    grad_quant=quantizers["grad"],
    momentum_quant=quantizers["momentum"],
    acc_quant=quantizers["acc"],
    grad_scaling=1 / 1000,
)
scheduler = LambdaLR(optimizer, lr_lambda=[lambda epoch: 1 - epoch / 10])
x, y = torch.rand(6, 1, 8, 8), torch.randint(0, 5, (6,))
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(loss_quant(model(x)), y)
    (loss * 1000).backward()
    optimizer.step()
    scheduler.step()
results = [p.detach() for p in model.parameters()]
