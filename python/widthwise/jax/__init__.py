"""Every format and unit inside JAX, forward and backward, bit for bit.

Nothing else of the package imports this module, and this module alone imports jax.
"""

try:
    import jax as _jax  # noqa: F401 - to say once, and clearly, that it is missing
except ImportError as why:
    raise ImportError(
        "widthwise.jax works inside JAX, which cannot be imported "
        f"({why}); pip install 'widthwise[jax]', or pip install jax",
        name="jax",
    ) from None

from ._codes import decode, encode
from ._convolution import conv
from ._product import matmul
from ._quantize import quantize

__all__ = ["conv", "decode", "encode", "matmul", "quantize"]
