"""Six numbers chosen by command line, which is full precision where nothing is said."""

import argparse

import torch
from qtorch import BlockFloatingPoint, FixedPoint, FloatingPoint
from qtorch.optim import OptimLP
from qtorch.quant import Quantizer, quantizer
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import LambdaLR

num_types = ["weight", "activate", "grad", "error", "momentum", "acc"]
parser = argparse.ArgumentParser()
for num in num_types:
    parser.add_argument(f"--{num}-type", default="float", choices=["fixed", "block", "float"])
    parser.add_argument(f"--{num}-man", type=int, default=23)
    parser.add_argument(f"--{num}-exp", type=int, default=8)
    parser.add_argument(f"--{num}-rounding", default="stochastic")
line = "--weight-type block --activate-man 2 --activate-exp 5 --error-type fixed --error-man 8"
args = parser.parse_args(line.split())


def number_of(num):
    kind, man = getattr(args, f"{num}_type"), getattr(args, f"{num}_man")
    if kind == "block":
        return BlockFloatingPoint(wl=8, dim=0)
    if kind == "fixed":
        return FixedPoint(wl=16, fl=man)
    return FloatingPoint(exp=getattr(args, f"{num}_exp"), man=man)


torch.manual_seed(0)
x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
quantizers = {
    num: quantizer(number_of(num), forward_rounding=getattr(args, f"{num}_rounding"))
    for num in num_types
}
make = lambda: Quantizer(  # noqa: E731
    number_of("activate"), number_of("error"), args.activate_rounding, args.error_rounding
)
model = nn.Sequential(nn.Linear(6, 12), make(), nn.ReLU(), nn.Linear(12, 3), make())
optimizer = OptimLP(
    SGD(model.parameters(), lr=0.1, momentum=0.9),
    weight_quant=quantizers["weight"],
    grad_quant=quantizers["grad"],
    momentum_quant=quantizers["momentum"],
    acc_quant=quantizers["acc"],
)
scheduler = LambdaLR(optimizer, lr_lambda=[lambda epoch: 1.0 if epoch < 1 else 0.1])
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    scheduler.step()
results = [p.detach() for p in model.parameters()]
