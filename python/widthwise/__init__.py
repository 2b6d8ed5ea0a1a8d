"""Widthwise: arithmetic as a piece of hardware would do it, bit for bit, at any width."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _widthwise
from ._array import Array
from ._block_format import BlockFormat
from ._chain import evaluate
from ._compare import (
    classify,
    equal,
    equal_signaling,
    greater,
    greater_equal,
    greater_equal_signaling,
    greater_signaling,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    less_equal_signaling,
    less_signaling,
    not_equal,
    total_order,
    total_order_magnitude,
    unordered,
)
from ._convolution import conv1d, conv2d
from ._create import array, from_bits, full, ones, zeros
from ._device import DeviceArray, device_stream
from ._dot import dot, matmul, sum
from ._elementwise import (
    abs,
    add,
    convert,
    copysign,
    divide,
    fma,
    from_integer,
    logb,
    max_num,
    max_x86,
    maximum,
    maximum_number,
    min_num,
    min_x86,
    minimum,
    minimum_number,
    multiply,
    negate,
    next_down,
    next_up,
    remainder,
    round_to_integral,
    scaleb,
    sqrt,
    subtract,
    to_integer,
)
from ._engines import engines, explain
from ._export import export
from ._files import load
from ._format import Format
from ._formats import formats
from ._info import build_info
from ._libm import fmod, frexp, ldexp, nextafter, spacing
from ._like import like
from ._product import Product, product
from ._running import cumsum
from ._sweep import SweepResult, grid, sweep
from ._trace import Trace, trace, trace_operation
from ._unit import Unit, units
from ._verify import Verdict, verify
from ._views import view
from .containers.affine import Affine, affine
from .containers.blocks import Blocks
from .containers.calibrator import Calibrator, calibrate
from .containers.integers import integer_matmul, qlinear_matmul, requantize
from .containers.layers import affine_conv2d, affine_linear
from .containers.packing import pack, unpack
from .containers.quantise import blocks
from .containers.scaled import Scaled, scaled

if TYPE_CHECKING:
    from . import study

__version__: str = _widthwise.build_info()["version"]
__all__ = [
    "Affine",
    "Array",
    "BlockFormat",
    "Blocks",
    "Calibrator",
    "DeviceArray",
    "Format",
    "Product",
    "Scaled",
    "SweepResult",
    "Trace",
    "Unit",
    "Verdict",
    "abs",
    "add",
    "affine",
    "affine_conv2d",
    "affine_linear",
    "array",
    "blocks",
    "build_info",
    "calibrate",
    "classify",
    "conv1d",
    "conv2d",
    "convert",
    "copysign",
    "cumsum",
    "device_stream",
    "divide",
    "dot",
    "engines",
    "equal",
    "equal_signaling",
    "evaluate",
    "explain",
    "export",
    "fma",
    "fmod",
    "formats",
    "frexp",
    "from_bits",
    "from_integer",
    "full",
    "greater",
    "greater_equal",
    "greater_equal_signaling",
    "greater_signaling",
    "grid",
    "integer_matmul",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "less",
    "less_equal",
    "less_equal_signaling",
    "less_signaling",
    "like",
    "load",
    "logb",
    "matmul",
    "max_num",
    "max_x86",
    "maximum",
    "maximum_number",
    "min_num",
    "min_x86",
    "minimum",
    "minimum_number",
    "multiply",
    "negate",
    "next_down",
    "next_up",
    "nextafter",
    "not_equal",
    "ones",
    "pack",
    "product",
    "qlinear_matmul",
    "remainder",
    "requantize",
    "round_to_integral",
    "scaleb",
    "scaled",
    "spacing",
    "sqrt",
    "study",
    "subtract",
    "sum",
    "sweep",
    "to_integer",
    "total_order",
    "total_order_magnitude",
    "trace",
    "trace_operation",
    "units",
    "unordered",
    "unpack",
    "verify",
    "view",
    "zeros",
]


def __getattr__(name: str) -> Any:
    """What is loaded when it is first asked for, has had another name, or is asked for in vain."""
    return import_module("._names", __name__).found(name)


def __dir__() -> list[str]:
    """What Tab offers."""
    return [*__all__, "__version__"]
