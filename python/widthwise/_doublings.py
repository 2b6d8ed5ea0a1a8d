"""Powers of two between numbers, by their significands: logarithms and quotients are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np


def doublings(x: Any, end: float) -> Any:
    """How often positive floats may be doubled and not pass a positive end: floor(log2(end / x)).

    >>> doublings(np.array([7 * 2.0**-30, 448, 449]), 448.0).tolist()
    [36, 0, -1]
    """
    significand, exponent = np.frexp(x)
    of_end, reach = np.frexp(end)
    return reach - exponent - (significand > of_end)
