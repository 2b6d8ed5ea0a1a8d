"""What a unit that reads less of its operands keeps of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _codes
from ._array import Array
from ._compare import isnan


def shortened(x: Any, keeps: int | None) -> Any:
    """x with so many fraction bits, the rest cut off; NaN stays."""
    if x is None or keeps is None or keeps >= x.format.fraction_bits:
        return x
    f = x.format
    dropped = (1 << (f.fraction_bits - keeps)) - 1
    mask = _codes.from_integers([((1 << f.width) - 1) ^ dropped], f)[0]
    nan = isnan(x)
    nan = nan.reshape(*nan.shape, *(1,) * (x.bits.ndim - nan.ndim))
    return Array._of(np.where(nan, x.bits, x.bits & mask), f)
