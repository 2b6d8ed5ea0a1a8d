"""Sums that stand still: terms that change nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._array import Array
from .._compare import equal, isfinite, isnan, iszero
from .._create import from_bits
from .._dot import Operands, dot
from .._format_texts import said
from .._missing import asks_for
from .._trace import trace
from .._unit import Unit, as_unit, titled
from . import plots
from .given import OneDot, checked_against, one_dot
from .operands import running_sums
from .registers import register_format, unit_of, why_no_register


class Stagnation:
    """Which terms a sum swallowed: products that are not zero and moved no register.

    Attributes:
        unit, canonical: its text, as it was asked for and the canonical one.
        length: how many products were summed.
        swallowed: their indices, ascending.
        vanished: those of them that were zero before they were added: rounding the operands did it.
        no_number_from: the term from which on the register is infinite or NaN, None if it never is.
            No term moves it any more.
        first: the first of them, None if there is none.
        still_from: the index from which on nothing but zeros and swallowed terms came, None if the
            last term that is not zero still moved the sum.

    >>> stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)").swallowed
    array([1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    def __init__(self, unit: Unit, terms: Terms, moved: np.ndarray, finite: np.ndarray) -> None:
        self.unit, self.canonical, self._title = unit.text, str(unit), titled(unit)
        self.terms = terms.alone
        self.length, self._lanes = len(moved), unit.lanes
        self.swallowed = np.flatnonzero(terms.given & ~moved)
        self.vanished = np.flatnonzero(terms.given & ~terms.read & ~moved)
        self.first = int(self.swallowed[0]) if self.swallowed.size else None
        self.no_number_from = None if finite.all() else int(np.argmin(finite))
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
        ends = ""
        if self.no_number_from is not None:
            ends = f"; the sum is no number from term {self.no_number_from} on"
        if self.first is None:
            each = f"term of {self.length}" if self._lanes < 2 else f"block of {self._lanes} terms"
            return f"{self._title}: every {each} moved the sum{ends}"
        still = "it moves to the end"
        if self.still_from is not None:
            still = f"it stands still from term {self.still_from} on"
        lost = f"; rounding the operands made {self.vanished.size} of them zero"
        return (
            f"{self._title}: {self.swallowed.size} of {self.length} terms were swallowed, the "
            f"first of them term {self.first}{lost if self.vanished.size else ''}; {still}{ends}"
        )

    def plot(self, ax: Any = None, *, title: str | None = None) -> Any:
        """How many terms were swallowed so far, on `ax` or a new figure. Needs matplotlib.

        title: above the axes. A line tells from where on the sum is no number.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
        >>> found.plot().get_xlabel()
        'terms summed'
        """
        ax = plots.axes(ax)
        place = len([line for line in ax.get_lines() if len(line.get_xdata())])
        lost = {self.unit: self.swallowed}
        if self.vanished.size:
            lost["of them zero by rounding the operands"] = self.vanished
        for i, (name, indices) in enumerate(lost.items()):
            so_far = np.zeros(self.length, int)
            so_far[indices] = 1
            look, steps = plots.Look(place + i), np.arange(1, self.length + 1)
            marks = look.of_markers() | {"markevery": plots.marked(steps, look.begin)}
            ax.plot(steps, so_far.cumsum(), label=name, lw=1.6, **marks)
        if self.no_number_from is not None:
            at = self.no_number_from + 1
            ax.axvline(at, color="gray", ls=":", label="no number from here on")
        plots.count_whole(ax)
        summed = "terms" if self.terms else "products"
        return plots.finish(ax, title, f"{summed} summed", "terms swallowed so far")


class Terms(NamedTuple):
    """Which terms are not zero: as given, and as the unit reads them."""

    given: np.ndarray
    read: np.ndarray
    alone: bool  # and no products


@asks_for("ww.study.stagnation(a, b, 'mac(e5m10)')")
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
    against: str = "given",
) -> Stagnation:
    """Which terms of one dot product left what the unit holds as it was.

    Looked at is the register that the unit adds to, as wide as it is: the running sum before what
    follows the last term, together with what compensation carries along; the inner sum of a unit
    that promotes; the whole register of one that adds all of k exactly, or at a fixed place.

    A unit of several lanes adds them in blocks. The terms of a block are swallowed together, where
    they have a sum and the register stays; what single ones lose within it `sources` tells.

    A term that is not zero as it was given and becomes so on being rounded to an operand is
    swallowed, too. A register that has become infinite or NaN swallows all that follows.

    Args:
        a, b: values or Arrays, (k,); b = None sums a.
        scale_a, scale_b: (blocks,), of a unit that scales them. Others: as in `accumulation`.
        against: 'given', or 'operands': terms are those that the unit reads.
    Returns:
        A Stagnation: the swallowed terms' indices, and from where on the sum stands still.
    Raises:
        ValueError: a unit with no such register, and why: one that permutes its lanes, or aligns
            all of k to the largest or adds them in a tree. No terms.

    >>> found = stagnation([256.0] + [1.0] * 9, None, "mac(bfloat16)")
    >>> found.swallowed.size, found.first, found.still_from
    (9, 1, 1)
    >>> stagnation([256.0] + [1.0] * 9, None, "kulisch(bfloat16)")    # its register holds them all
    kulisch(bfloat16) = kulisch(e8m7): every term of 10 moved the sum
    """
    u = as_unit(unit)
    if why := why_no_register(u):
        raise ValueError(f"unit {said(u.text)} {why}; accumulation tells the errors of its sums")
    x = one_dot(u, a, b, c, rounding, scale_a, scale_b)
    if x.operands.k == 0:
        raise ValueError("a and b have no elements along their last axis; nothing is summed")
    read = factors_of(u, x.data.read)
    given = read if checked_against(against) == "operands" else factors_of(u, x.data.given)
    terms = Terms(not_zero(given), not_zero(read), b is None)
    if not u.lanes:
        return Stagnation(u, terms, *moved_register(u, x))
    moved, finite = moved_by_blocks(u, x, seed)
    for i in np.flatnonzero(~moved) if u.lanes > 1 else []:
        block = slice(i * u.lanes, (i + 1) * u.lanes)
        for not_zeros, factors in ((terms.given, given), (terms.read, read)):
            not_zeros[block] &= has_sum([factor[block] for factor in factors])
    of_terms = (np.repeat(each, u.lanes)[: x.operands.k] for each in (moved, finite))
    return Stagnation(u, terms, *of_terms)


def factors_of(u: Unit, x: Operands) -> list[Array]:
    """Of each term, its scales included."""
    a, b, _, *scales = x.arrays
    assert a is not None and b is not None
    block = np.arange(x.k) // (u.scale_block or 1)
    return [a, b, *(scale[block] for scale in scales if scale is not None)]


def not_zero(factors: list[Array]) -> np.ndarray:
    return np.asarray(~np.any([iszero(factor) for factor in factors], axis=0))


def has_sum(factors: list[Array]) -> bool:
    """Whether the products' exact sum is not 0, or no number."""
    if not all(isfinite(factor).all() for factor in factors):
        return True
    return bool(np.prod([factor.to_fractions() for factor in factors], axis=0).sum())


# --- What moves ----------------------------------------------------------------------------------


def moved_by_blocks(u: Unit, x: OneDot, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether each block of lanes moved the registers, and left numbers in them."""
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
    return moved, isfinite(after)


def moved_in_trace(u: Unit, x: OneDot, seed: int) -> tuple[np.ndarray, np.ndarray]:
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
    finite: np.ndarray = np.all(isfinite(found[:, 1]), axis=1)
    return np.asarray(~still.all(axis=1)), finite


def moved_register(u: Unit, x: OneDot) -> tuple[np.ndarray, np.ndarray]:
    """The same of each term and a register that adds exactly, or at a fixed place, C last."""
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
    finite: np.ndarray = np.logical_and.accumulate(isfinite(added))
    if not finite.all():
        refuse_data_without_numbers(u, x)
    n = int(np.count_nonzero(finite))
    moved = ~iszero(added)
    if width is not None:
        digit = Fraction(2) ** -u.widths()["group_sum.fraction"]
        moved[:n] = saturating(added[:n].to_fractions(), digit, width)
    moved[n + 1 :] = False  # what has become infinite stays so
    return moved, finite


def refuse_data_without_numbers(u: Unit, x: OneDot) -> None:
    factors = factors_of(u, x.data.given)
    finite = np.all([isfinite(factor) for factor in factors], axis=0)
    if not finite.all():
        i = int(np.argmin(finite))
        value = np.prod([factor[i].to_float64("rne") for factor in factors])
        raise ValueError(f"a[{i}] * b[{i}] is {value}; a register adds numbers alone")


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
