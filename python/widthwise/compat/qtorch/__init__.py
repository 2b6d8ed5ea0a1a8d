"""QPyTorch and its posit fork by name, computed correctly: scripts change their import lines alone.

Nothing is compiled, and nothing of either package has to be installed. `like="qtorch"` and
`like="fork"`, or `with ww.like(...)`, give their bits, faults included.

>>> import torch
>>> from widthwise.compat.qtorch import FloatingPoint
>>> from widthwise.compat.qtorch.quant import float_quantize
>>> float_quantize(torch.tensor([1.125]), 5, 2, rounding="nearest")    # a tie goes to even
tensor([1.])
>>> float_quantize(torch.tensor([1.125]), 5, 2, rounding="nearest", like="qtorch")
tensor([1.2500])
"""

from . import auto_low as auto_low  # not in __all__: a star would hide torch.optim's own name
from . import number, posit_activation
from . import optim as optim
from . import quant as quant
from .number import *  # noqa: F403
from .posit_activation import *  # noqa: F403

__all__ = [*number.__all__, *posit_activation.__all__]
