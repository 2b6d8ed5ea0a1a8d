"""Widthwise: arithmetic as a piece of hardware would do it, bit for bit, at any width."""

from . import study
from ._array import Array
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
from ._create import array, from_bits, zeros
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
    maximum,
    maximum_number,
    min_num,
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
from ._format import Format, formats
from ._info import build_info
from ._trace import Trace, trace, trace_operation
from ._unit import Unit, units
from ._verify import Verdict, verify

__version__: str = build_info()["version"]
__all__ = [name for name in dir() if not name.startswith("_")]
