"""Sums that stand still: terms that change nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .._array import Array
from .._compare import equal, isfinite, isnan, iszero
from .._create import from_bits
from .._dot import Operands, dot
from .._trace import trace
from .._unit import Unit, as_unit
from .operands import OneDot, one_dot, running_sums
from .registers import register_format, unit_of, why_no_register


class Stagnation:
    """Which terms a sum swallowed: products that are not zero and moved no register.

    Attributes:
        unit: its text.    length: how many products were summed.
        swallowed: their indices, ascending.
        first: the first of them, None if there is none.
        still_from: the index from which on nothing but zeros and swallowed terms came, None if the
            last term that is not zero still moved the sum.

    >>> stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)").swallowed
    array([1, 2, 3, 4, 5, 6, 7, 8, 9])
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
        """Of all terms, how many were swallowed.

        >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
        >>> found.share
        0.9
        """
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
        """How many terms were swallowed so far, on `ax` or a new figure. Needs matplotlib.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
        >>> found.plot().get_xlabel()
        'products summed'
        """
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
    scale_a: Any = None,
    scale_b: Any = None,
    seed: int = 0,
    rounding: str = "rne",
) -> Stagnation:
    """Which terms of one dot product left what the unit holds as it was.

    Looked at is the register that the unit adds to, as wide as it is: the running sum before what
    follows the last term, together with what compensation carries along; the inner sum of a unit
    that promotes; the whole register of one that adds all of k exactly, or at a fixed place.

    A unit of several lanes adds them in blocks. The terms of a block are swallowed together, where
    they have a sum and the register stays; what single ones lose within it `sources` tells.

    Args:
        a, b: values or Arrays, (k,); b = None sums a.
        scale_a, scale_b: (blocks,), of a unit that scales them. Others: as in `accumulation`.
    Returns:
        A Stagnation: the swallowed terms' indices, and from where on the sum stands still.
    Raises:
        ValueError: a unit with no such register, and why: one that permutes its lanes, or aligns
            all of k to the largest or adds them in a tree. No terms.

    >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
    >>> found.swallowed.size, found.first, found.still_from
    (9, 1, 1)
    >>> stagnation([256.0] + [1.0] * 9, None, "kulisch(bfloat16)")    # its register holds them all
    kulisch(e8m7): every term of 10 moved the sum
    """
    u = as_unit(unit)
    if why := why_no_register(u):
        raise ValueError(f"unit {u} {why}; accumulation tells the errors of its sums")
    x = one_dot(u, a, b, c, rounding, scale_a, scale_b)
    if x.operands.k == 0:
        raise ValueError("a and b have no elements along their last axis; nothing is summed")
    factors = [x.a, x.b, *(scale for scale in x.scales_of_terms(u) if scale is not None)]
    terms = ~np.any([iszero(factor) for factor in factors], axis=0)
    if not u.lanes:
        return Stagnation(str(u), moved_register(u, x), terms)
    moved = moved_by_blocks(u, x, seed)
    for i in np.flatnonzero(~moved) if u.lanes > 1 else []:
        block = slice(i * u.lanes, (i + 1) * u.lanes)
        terms[block] &= has_sum([factor[block] for factor in factors])
    return Stagnation(str(u), np.repeat(moved, u.lanes)[: x.operands.k], terms)


def has_sum(factors: list[Array]) -> bool:
    """Whether the products' exact sum is not 0, or no number."""
    if not all(isfinite(factor).all() for factor in factors):
        return True
    return bool(np.prod([factor.to_fractions() for factor in factors], axis=0).sum())


# --- What moves ----------------------------------------------------------------------------------


def moved_by_blocks(u: Unit, x: OneDot, seed: int) -> np.ndarray:
    """Whether each block of lanes moved the registers."""
    fields = u.fields
    chain = fields.pop("chain", {})
    if "compensation" in chain or "promote" in chain:
        return moved_in_trace(u, x, seed)
    late = chain.get("c_at") == "last"
    start, k = None if late else x.c, x.operands.k
    p, q, _, *scales = x.operands.arrays
    operands = Operands([p, q, None, *scales], (), k) if late else x.operands
    sums = running_sums(unit_of(fields), operands, seed).reshape(k)
    after = sums[[*range(u.lanes - 1, k - 1, u.lanes), k - 1]]
    moved = np.ones(len(after), bool)
    moved[1:] = ~same(after[1:], after[:-1])
    moved[0] = not (iszero(after[0]) if start is None else same(after[0], start))
    return moved


def moved_in_trace(u: Unit, x: OneDot, seed: int) -> np.ndarray:
    """The same of sums that hold more than their running result; promotion empties both."""
    chain = u.fields["chain"]
    carried = "error" if chain.get("compensation") == "kahan" else "compensation"
    registers = ["out", f"chain.compensation.{carried}"]
    held, blocks = [0, 0], []
    for wire in trace(u, x.a, x.b, x.c, scale_a=x.scale_a, scale_b=x.scale_b, seed=seed):
        if wire.stage == "unpack" and wire.slot == "c":
            blocks.append([*held, *held])
        elif wire.stage == "pack" and wire.slot in registers:
            held[registers.index(wire.slot)] = wire.significand
            blocks[-1][2:] = held
        elif wire.stage == "pack" and wire.slot == "chain.promote.round":
            held = [0, 0]
    found = from_bits([code for block in blocks for code in block], u.fields["out"]["fmt"])
    found = found.reshape(len(blocks), 2, 2)
    still = same(found[:, 0], found[:, 1])
    if x.c is not None and "promote" not in chain:
        still[0, 0] = same(found[0, 1, 0], x.c)
    return np.asarray(~still.all(axis=1))


def moved_register(u: Unit, x: OneDot) -> np.ndarray:
    """Whether each term moved a register that adds exactly, or at a fixed place, C last."""
    fields = u.fields
    fields.pop("chain", None)
    group = fields.get("group_sum", {})
    saturates = group.pop("overflow", "wrap") == "saturate"  # what wraps, wraps term by term
    width = group.pop("width") if saturates else None
    alone = unit_of(fields | {"group_sum": group})
    alone = unit_of(alone.fields | {"out": {"fmt": register_format(alone)}})
    column, scales = (-1, 1), x.scales_of_terms(u)
    scale_a, scale_b = (None if scale is None else scale.reshape(column) for scale in scales)
    a, b = x.a.reshape(column), x.b.reshape(column)
    added = dot(a, b, unit=alone, scale_a=scale_a, scale_b=scale_b)
    if not isfinite(added).all():
        i = int(np.argmin(isfinite(added)))
        raise ValueError(f"a[{i}] * b[{i}] is {added[i]}; a register adds numbers alone")
    if width is None:
        return ~iszero(added)
    return saturating(added.to_fractions(), Fraction(2) ** -u.widths()["group_sum.fraction"], width)


def saturating(added: np.ndarray, last_digit: Fraction, width: int) -> np.ndarray:
    total, moved = Fraction(), []
    end = 2 ** (width - 1) * last_digit
    for value in added:
        after = max(-end, min(end - last_digit, total + value))
        moved.append(after != total)
        total = after
    return np.array(moved)


def same(x: Array, y: Array) -> np.ndarray:
    alike: np.ndarray = equal(x, y) | (isnan(x) & isnan(y))
    return alike
