"""Studies: what a unit's arithmetic does to results, against exact ones.

Exact means integers as large as they have to be, summed by the core. An error is taken of them and
only then becomes a float64.

    accumulation    errors of sums and dot products, Higham's bounds beside them, seed by seed
    streamed        the same of terms that come in pieces, however many they are
    error_growth    along one dot product, in short
    product_errors  of a matrix product that has been computed
    sources         where an error was made: products, alignment, sums, overflow, underflow
    stagnation      which terms a sum swallowed, and from where on it stands still
    orders, roundings    the units to compare, for one format
    monotonicity, invariance    whether a unit keeps what exact sums keep
    smallest_width  that meets a tolerance
    bound, likely_bound    Higham's, of a unit and a length
    dots_of_matmul, dots_of_conv2d    matrix products and convolutions as dot products
"""

from typing import NoReturn

from .accumulation import Accumulation, accumulation
from .bounds import bound, likely_bound
from .comparison import orders, roundings
from .growth import ErrorGrowth, error_growth, product_errors
from .invariants import invariance, monotonicity
from .operands import dots_of_conv2d, dots_of_matmul
from .sources import Sources, sources
from .stagnation import Stagnation, stagnation
from .streams import streamed
from .width import smallest_width

__all__ = [
    "Accumulation",
    "ErrorGrowth",
    "Sources",
    "Stagnation",
    "accumulation",
    "bound",
    "dots_of_conv2d",
    "dots_of_matmul",
    "error_growth",
    "invariance",
    "likely_bound",
    "monotonicity",
    "orders",
    "product_errors",
    "roundings",
    "smallest_width",
    "sources",
    "stagnation",
    "streamed",
]


def __getattr__(name: str) -> NoReturn:
    from .._names import NoSuchName

    raise NoSuchName(name, __name__)


def __dir__() -> list[str]:
    """What Tab offers."""
    return __all__
