"""Sums that stand still: terms that change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._compare import classify, equal, isnan
from .._unit import Unit, as_unit
from .operands import one_dot, running_sums


class Stagnation:
    """Which terms a running sum swallowed: products that are not zero and changed nothing.

    Attributes:
        unit: its text.    length: how many products were summed.
        swallowed: their indices, ascending.
        first: the first of them, None if there is none.
        still_from: the index from which on nothing but zeros and swallowed terms came, None if the
            last term that is not zero still moved the sum.
    """

    def __init__(self, unit: str, moved: np.ndarray, terms: np.ndarray) -> None:
        self.unit = unit
        self.length = len(moved)
        self.swallowed = np.flatnonzero(terms & ~moved)
        self.first = int(self.swallowed[0]) if self.swallowed.size else None
        last_move = int(np.flatnonzero(moved)[-1]) if moved.any() else -1
        still = self.swallowed[self.swallowed > last_move]
        self.still_from = int(still[0]) if still.size else None

    @property
    def share(self) -> float:
        """Of all terms, how many were swallowed."""
        return self.swallowed.size / self.length

    def __repr__(self) -> str:
        if self.first is None:
            return f"{self.unit}: every term of {self.length} moved the sum"
        still = "it moves to the end"
        if self.still_from is not None:
            still = f"it stands still from term {self.still_from} on"
        return (
            f"{self.unit}: {self.swallowed.size} of {self.length} terms were swallowed, the first "
            f"of them term {self.first}; {still}"
        )

    def plot(self, ax: Any = None) -> Any:
        """How many terms were swallowed so far, on `ax` or a new figure. Needs matplotlib."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        so_far = np.zeros(self.length, int)
        so_far[self.swallowed] = 1
        ax.plot(np.arange(1, self.length + 1), so_far.cumsum(), label=self.unit)
        ax.set_xlabel("products summed")
        ax.set_ylabel("terms swallowed so far")
        ax.legend(fontsize="small")
        return ax


def stagnation(
    a: Any,
    b: Any,
    unit: str | Unit,
    *,
    c: Any = None,
    seed: int = 0,
    rounding: str = "rne",
) -> Stagnation:
    """Which terms of one dot product left the unit's sum as it was.

    Args:
        a, b: values or Arrays, (k,); b = None sums a. Others: as in `accumulation`.

    >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
    >>> found.swallowed.size, found.first, found.still_from
    (9, 1, 1)
    """
    u = as_unit(unit)
    x = one_dot(u, a, b, c, rounding)
    k = x.operands.k
    if k == 0:
        raise ValueError("a and b have no elements along their last axis; nothing is summed")
    sums = running_sums(u, x.operands, seed).reshape(k)
    moved = np.ones(k, bool)
    moved[1:] = ~same(sums[1:], sums[:-1])
    moved[0] = not (is_zero(sums[0]) if x.c is None else same(sums[0], x.c))
    terms = ~(is_zero(x.a) | is_zero(x.b))
    return Stagnation(str(u), moved, terms)


def same(x: Array, y: Array) -> np.ndarray:
    return equal(x, y) | (isnan(x) & isnan(y))


def is_zero(x: Array) -> np.ndarray:
    return np.char.endswith(classify(x), "_zero")
