"""Every format and unit inside PyTorch, forward and backward, bit for bit.

Nothing else of the package imports this module, and this module alone imports torch.
"""

try:
    import torch as _torch  # noqa: F401 - to say once, and clearly, that it is missing
except ImportError as why:
    raise ImportError(
        "widthwise.torch works inside PyTorch, which cannot be imported "
        f"({why}); pip install 'widthwise[torch]', or pip install torch",
        name="torch",
    ) from None

from ._coded import QTensor, decode, encode
from ._convert import convert, report, revert
from ._convolution import conv1d, conv2d
from ._layers import Conv1d, Conv2d, Linear, Quantizer
from ._optimizer import quantize_optimizer
from ._product import bmm, linear, matmul
from ._quantize import quantize
from ._scaled_mm import scaled_mm

__all__ = [
    "Conv1d",
    "Conv2d",
    "Linear",
    "QTensor",
    "Quantizer",
    "bmm",
    "conv1d",
    "conv2d",
    "convert",
    "decode",
    "encode",
    "linear",
    "matmul",
    "quantize",
    "quantize_optimizer",
    "report",
    "revert",
    "scaled_mm",
]
