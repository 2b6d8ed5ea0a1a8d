"""The tour of the functions, of quantizer's two directions, and of the optimizer."""

import torch
from qtorch import BlockFloatingPoint, FixedPoint, FloatingPoint
from qtorch.optim import OptimLP
from qtorch.quant import block_quantize, fixed_point_quantize, float_quantize, quantizer
from torch.optim import SGD

torch.manual_seed(0)
full = torch.rand(4, 4)
results = [
    float_quantize(full, exp=5, man=2, rounding="stochastic"),
    fixed_point_quantize(full, wl=8, fl=6, rounding="stochastic"),
    block_quantize(full, wl=8, dim=0, rounding="stochastic"),
]
for number in (FloatingPoint(exp=5, man=2), FixedPoint(wl=8, fl=7), BlockFloatingPoint(wl=8)):
    print(number)
    q = quantizer(
        forward_number=number,
        backward_number=FloatingPoint(exp=6, man=3),
        forward_rounding="stochastic",
        backward_rounding="stochastic",
    )
    x = full.clone().requires_grad_()
    y = q(x)
    (y * full).sum().backward()
    results += [y.detach(), x.grad]

weights = torch.nn.Parameter(torch.rand(4))
optimizer = OptimLP(
    SGD([weights], lr=0.1, momentum=0.9),
    weight_quant=quantizer(FloatingPoint(5, 2), forward_rounding="stochastic"),
    grad_quant=quantizer(FixedPoint(8, 6), forward_rounding="stochastic"),
)
for _ in range(2):
    optimizer.zero_grad()
    (full @ weights).sum().backward()
    optimizer.step()
results.append(weights.detach())
