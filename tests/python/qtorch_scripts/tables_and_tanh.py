"""A network after training, its weights in tables and its activations in the fork's formats."""

import torch
from qtorch_plus import PositTanhModule, PositTanhModuleEnhanced
from qtorch_plus.quant.quant_function import (
    act_format_quantize,
    configurable_table_quantize,
    configurable_table_quantize_geomean,
    configurable_table_quantize_rounding_hint,
    new_format_quantize,
    posit_sigmoid,
)
from torch import nn

torch.manual_seed(0)
table = torch.tensor([2.0**-k for k in range(8, -1, -1)])
ways = [
    lambda w: configurable_table_quantize(w, table, scale=2.0),
    lambda w: configurable_table_quantize_geomean(w, table),
    lambda w: configurable_table_quantize_rounding_hint(w, table, table * 0.6),
    lambda w: new_format_quantize(w, scale=4.0),
]
x, results = torch.randn(7, 5), []
for way, tanh in zip(ways, [PositTanhModule(), PositTanhModuleEnhanced()] * 2, strict=True):
    net = nn.Sequential(nn.Linear(5, 6), tanh, nn.Linear(6, 2))
    for name, p in net.named_parameters():
        if name.endswith("weight"):
            p.data = way(p.data)
    seen = act_format_quantize(x.clone()).requires_grad_()
    posit_sigmoid(net(seen).detach(), 16)
    net(seen).sum().backward()
    results += [net(seen).detach(), seen.grad, net[0].weight.grad]
