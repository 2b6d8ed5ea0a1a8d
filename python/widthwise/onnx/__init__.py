"""ONNX: models whose values have a format, in standard operators; and what such models hold.

Nothing else of the package imports this module, and it alone imports onnx; `export_to_onnx` imports
torch when it is asked for.
"""

try:
    import onnx as _onnx  # noqa: F401 - to say once, and clearly, that it is missing
except ImportError as why:
    raise ImportError(
        "widthwise.onnx reads and writes ONNX models with the package onnx, which cannot be "
        f"imported ({why}); pip install 'widthwise[onnx]', or pip install onnx",
        name="onnx",
    ) from None

from typing import TYPE_CHECKING, Any

from ._insert import inlined, quantize_model
from ._read import load, quantisers

if TYPE_CHECKING:
    from ._torch import export_to_onnx

__all__ = ["export_to_onnx", "inlined", "load", "quantisers", "quantize_model"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name != "export_to_onnx":
        raise AttributeError(f"module 'widthwise.onnx' has no attribute {name!r}")
    from ._torch import export_to_onnx

    return export_to_onnx
