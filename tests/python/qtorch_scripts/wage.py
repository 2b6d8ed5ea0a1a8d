"""Integers for weights, activations, gradients and errors, each scaled by its layer's shift."""

from functools import partial

import torch
from qtorch import FixedPoint
from qtorch.quant import fixed_point_quantize, quantizer
from torch import nn


def shift(x):
    return x / 2.0 ** torch.ceil(torch.log2(x.abs().max()))


def weights_of(x, bits, scale=1.0, mode="nearest"):
    y = fixed_point_quantize(x, wl=bits, fl=bits - 1, clamp=True, symmetric=True, rounding=mode)
    if scale > 1.8:
        y /= scale
    return y


def gradients_of(x, bits, random_bits, lr, mode="nearest"):
    x = shift(x) * (lr / 2.0 ** (bits - 1))
    return fixed_point_quantize(
        x, wl=random_bits, fl=random_bits - 1, clamp=False, symmetric=True, rounding=mode
    )


class WAGEQuantizer(nn.Module):
    def __init__(self, bits_a, bits_e, mode="nearest"):
        super().__init__()
        number = lambda bits: FixedPoint(bits, bits - 1, clamp=True, symmetric=True)  # noqa: E731
        self.quantizer = quantizer(
            forward_number=number(bits_a) if bits_a != -1 else None,
            forward_rounding=mode,
            backward_number=number(bits_e) if bits_e != -1 else None,
            backward_rounding=mode,
            clamping_grad_zero=True,
            backward_hooks=[shift],
        )

    def forward(self, x):
        return self.quantizer(x)


torch.manual_seed(0)
q = partial(WAGEQuantizer, mode="stochastic")
model = nn.Sequential(
    nn.Linear(6, 16, bias=False), nn.ReLU(), q(8, 8), nn.Linear(16, 3, bias=False), q(-1, 8)
)
accumulators = {name: p.data.clone() for name, p in model.named_parameters()}
x, y = torch.rand(10, 6), torch.eye(3)[torch.randint(0, 3, (10,))]
for _ in range(2):
    for name, p in model.named_parameters():
        p.data = weights_of(accumulators[name], 2, scale=2.0, mode="stochastic")
    model.zero_grad()
    (model(x) - y).square().sum().backward()
    for name, p in model.named_parameters():
        step = gradients_of(p.grad.data, 8, 16, lr=8.0, mode="stochastic")
        accumulators[name] = torch.clamp(accumulators[name] - step, -0.99, 0.99)
results = list(accumulators.values())
