"""A small residual network trained in eight bits, with pictures drawn by chance."""

import torch
import torch.nn.functional as F
from qtorch import FloatingPoint
from qtorch.optim import OptimLP
from qtorch.quant import Quantizer, quantizer
from torch import nn
from torch.optim import SGD

torch.manual_seed(0)
images, labels = torch.rand(8, 3, 8, 8), torch.randint(0, 10, (8,))
bit_8, bit_16 = FloatingPoint(exp=5, man=2), FloatingPoint(exp=6, man=9)
rounding = {"forward_rounding": "stochastic"}
weight_quant = quantizer(forward_number=bit_8, **rounding)
grad_quant = quantizer(forward_number=bit_8, **rounding)
momentum_quant = quantizer(forward_number=bit_16, **rounding)
acc_quant = quantizer(forward_number=bit_16, **rounding)
act_error_quant = lambda: Quantizer(bit_8, bit_8, "stochastic", "stochastic")  # noqa: E731


class Block(nn.Module):
    def __init__(self, planes, quant):
        super().__init__()
        self.norm = nn.BatchNorm2d(planes)
        self.conv = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.quant = quant()

    def forward(self, x):
        return x + self.conv(self.quant(F.relu(self.norm(x))))


class Net(nn.Module):
    def __init__(self, quant):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = nn.Sequential(Block(4, quant), Block(4, quant))
        self.quant = quant()
        self.fc = nn.Linear(4 * 16, 10)

    def forward(self, x):
        x = F.avg_pool2d(self.blocks(self.quant(self.first(x))), 2)
        return self.fc(self.quant(x).flatten(1))


model = Net(act_error_quant)
optimizer = OptimLP(
    SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4),
    weight_quant=weight_quant,
    grad_quant=grad_quant,
    momentum_quant=momentum_quant,
    acc_quant=acc_quant,
    grad_scaling=1 / 1000,
)
losses = []
for _ in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    (loss * 1000).backward()
    optimizer.step()
    losses.append(loss.detach())
results = [*losses, *(p.detach() for p in model.parameters())]
