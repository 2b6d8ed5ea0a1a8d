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

from ._attention import MultiheadAttention, attention
from ._calibrate import calibrate
from ._coded import QTensor, decode, encode
from ._convert import convert, report, revert
from ._convolution import conv1d, conv2d, conv3d
from ._layers import Conv1d, Conv2d, Conv3d, Linear, Quantizer
from ._loss_scale import LossScale, loss_scale
from ._optimizer import quantize_optimizer
from ._product import bmm, linear, matmul
from ._profile import Profile, profile_model
from ._quantize import quantize
from ._scaled_mm import scaled_mm
from ._state import QuantizedState, dequantize_state_dict, quantize_state_dict
from ._suggestion import Suggestion

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Linear",
    "LossScale",
    "MultiheadAttention",
    "Profile",
    "QTensor",
    "QuantizedState",
    "Quantizer",
    "Suggestion",
    "attention",
    "bmm",
    "calibrate",
    "conv1d",
    "conv2d",
    "conv3d",
    "convert",
    "decode",
    "dequantize_state_dict",
    "encode",
    "linear",
    "loss_scale",
    "matmul",
    "profile_model",
    "quantize",
    "quantize_optimizer",
    "quantize_state_dict",
    "report",
    "revert",
    "scaled_mm",
]
