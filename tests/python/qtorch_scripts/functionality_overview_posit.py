"""The same tour of the posit fork."""

import torch
from qtorch_plus import Posit
from qtorch_plus.quant import posit_quantize, quantizer

torch.manual_seed(0)
full = torch.randn(5, 5)
results = [posit_quantize(full, nsize=8, es=es, scale=s) for es in (1, 2) for s in (1.0, 4.0, 0.5)]
bit_8, bit_16 = Posit(nsize=8, es=2), Posit(nsize=16, es=2, scale=2.0)
q = quantizer(bit_8, bit_16, forward_rounding="nearest", backward_rounding="nearest")
x = full.clone().requires_grad_()
y = q(x)
(y * y).sum().backward()
results += [y.detach(), x.grad]
