"""Every format and unit inside TensorFlow and Keras, forward and backward, bit for bit.

Nothing else of the package imports this module, and this module alone imports tensorflow.
"""

try:
    import tensorflow as _tensorflow  # noqa: F401 - to say once, and clearly, that it is missing
except ImportError as why:
    raise ImportError(
        "widthwise.tensorflow works inside TensorFlow, which cannot be imported "
        f"({why}); pip install 'widthwise[tensorflow]', or pip install tensorflow",
        name="tensorflow",
    ) from None

from ._convert import convert_model
from ._layers import Conv2D, Dense, Quantizer
from ._product import conv2d, matmul
from ._quantize import quantize

tf_quantize, tf_convert_model = quantize, convert_model  # as other packages call them

__all__ = [
    "Conv2D",
    "Dense",
    "Quantizer",
    "conv2d",
    "convert_model",
    "matmul",
    "quantize",
    "tf_convert_model",
    "tf_quantize",
]
