"""The operators that NumPy's mixin gives an Array, and what they deliver."""

from __future__ import annotations

import sys
from opcode import opmap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import NDArray

    from ._array import Array

    class Operators:
        """As `_ufuncs` does them: arithmetic in the format, comparisons as truths."""

        def __add__(self, other: Any) -> Array: ...
        def __radd__(self, other: Any) -> Array: ...
        def __sub__(self, other: Any) -> Array: ...
        def __rsub__(self, other: Any) -> Array: ...
        def __mul__(self, other: Any) -> Array: ...
        def __rmul__(self, other: Any) -> Array: ...
        def __truediv__(self, other: Any) -> Array: ...
        def __rtruediv__(self, other: Any) -> Array: ...
        def __pow__(self, other: Literal[2]) -> Array: ...
        def __neg__(self) -> Array: ...
        def __pos__(self) -> Array: ...
        def __abs__(self) -> Array: ...
        def __lt__(self, other: Any) -> NDArray[np.bool_]: ...
        def __le__(self, other: Any) -> NDArray[np.bool_]: ...
        def __gt__(self, other: Any) -> NDArray[np.bool_]: ...
        def __ge__(self, other: Any) -> NDArray[np.bool_]: ...
        def __matmul__(self, other: Any) -> Array: ...
        def __eq__(self, other: object) -> NDArray[np.bool_]: ...  # type: ignore[override]
        def __ne__(self, other: object) -> NDArray[np.bool_]: ...  # type: ignore[override]
else:

    class Operators(np.lib.mixins.NDArrayOperatorsMixin):
        __slots__ = ()

        def __radd__(self, other):
            if type(other) is int and other == 0 and calls_sum(sys._getframe(1)):
                raise TypeError(f"sum(x) leaves the order of its sums unsaid; {SUMS}")
            return super().__radd__(other)


SUMS = "ww.sum(x, unit='mac(e5m10)') sums one after the other, and units have other orders"


def calls_sum(frame: FrameType) -> bool:
    """Whether the line that runs calls sum(), whose first term is 0, and does not add by +."""
    code = frame.f_code
    return "sum" in code.co_names and code.co_code[frame.f_lasti] != opmap["BINARY_OP"]
