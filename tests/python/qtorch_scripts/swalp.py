"""Block floating point everywhere, and an average of the weights beside."""

import copy

import torch
from qtorch import BlockFloatingPoint
from qtorch.auto_low import sequential_lower
from qtorch.optim import OptimLP
from qtorch.quant import *  # noqa: F403
from torch import nn
from torch.optim import SGD

torch.manual_seed(0)
rounding = "stochastic"
images, labels = torch.rand(6, 1, 8, 8), torch.randint(0, 4, (6,))
number = BlockFloatingPoint(wl=8, dim=0)
quant = {
    num: quantizer(forward_number=number, forward_rounding=rounding)  # noqa: F405
    for num in ("weight", "momentum", "grad")
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Sequential(
            nn.Dropout(0.0), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 4)
        )

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


model = sequential_lower(
    Net(),
    layer_types=["conv", "linear"],
    forward_number=number,
    backward_number=number,
    forward_rounding=rounding,
    backward_rounding=rounding,
)
model.classifier[-1] = model.classifier[-1][0]  # the last layer's is taken off
averaged = copy.deepcopy(model)
optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
optimizer = OptimLP(
    optimizer,
    weight_quant=quant["weight"],
    grad_quant=quant["grad"],
    momentum_quant=quant["momentum"],
)
for n in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    for mean, p in zip(averaged.parameters(), model.parameters(), strict=True):
        mean.data.mul_(1 - 1 / (n + 1)).add_(p.data, alpha=1 / (n + 1))
results = [*(p.detach() for p in averaged.parameters()), *(p.detach() for p in model.parameters())]
