"""A network of four layers that share one quantizer, in posits."""

import torch
import torch.nn.functional as F
from qtorch_plus import Posit
from qtorch_plus.optim import OptimLP
from qtorch_plus.quant import Quantizer, quantizer
from torch import nn, optim

torch.manual_seed(0)
bit_8, bit_16 = Posit(nsize=8, es=2, scale=1.0), Posit(nsize=16, es=2, scale=1.0)
eight, sixteen = (quantizer(forward_number=n, forward_rounding="nearest") for n in (bit_8, bit_16))


class CNN(nn.Module):
    def __init__(self, quant):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 6, 3)
        self.fc1, self.fc2 = nn.Linear(24, 12), nn.Linear(12, 10)
        self.quant = quant()

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.quant(self.conv1(x)), 2))
        x = F.relu(F.max_pool2d(self.quant(self.conv2(x)), 2))
        x = F.relu(self.quant(self.fc1(x.view(-1, 24))))
        return F.log_softmax(self.quant(self.fc2(x)), dim=0)


model = CNN(lambda: Quantizer(bit_8, bit_8, "nearest", "nearest"))
optimizer = OptimLP(
    optim.SGD(model.parameters(), lr=0.01, momentum=0.5),
    weight_quant=eight,
    grad_quant=eight,
    momentum_quant=sixteen,
    acc_quant=sixteen,
    grad_scaling=1,
)
images, labels = torch.rand(8, 1, 14, 14), torch.randint(0, 10, (8,))
for _ in range(2):
    optimizer.zero_grad()
    F.nll_loss(model(images), labels).backward()
    optimizer.step()
results = [p.detach() for p in model.parameters()]
