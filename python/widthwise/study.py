"""Studies: what a unit's arithmetic does to results, against exact ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _widthwise as core
from ._array import Array
from ._create import array
from ._dot import Operands, adapted, spread
from ._format import Format
from ._table import Table
from ._unit import Unit, as_unit

MOST_LENGTHS = 48


class ErrorGrowth:
    """The error along an accumulation: of each unit, after each of the lengths.

    Attributes:
        lengths: how many products were summed.
        units: the units' texts.
        ulps, relative: a unit's |computed - exact|, shape (dot products, lengths): in units of the
            last place of the unit's result format, and relative to the exact sum. Infinite where
            the unit's result is no number.
    """

    def __init__(self, lengths: Sequence[int], errors: dict[str, np.ndarray]) -> None:
        self.lengths = list(lengths)
        self.units = list(errors)
        self.ulps = {unit: e[..., 0] for unit, e in errors.items()}
        self.relative = {unit: e[..., 1] for unit, e in errors.items()}

    def mean(self, measure: str = "ulps") -> dict[str, np.ndarray]:
        """Over the dot products, for each unit: shape (lengths,)."""
        return {unit: e.mean(axis=0) for unit, e in self.measured(measure).items()}

    def max(self, measure: str = "ulps") -> dict[str, np.ndarray]:
        return {unit: e.max(axis=0) for unit, e in self.measured(measure).items()}

    def measured(self, measure: str) -> dict[str, np.ndarray]:
        if measure not in ("ulps", "relative"):
            raise ValueError(f"measure = {measure!r}: it may be 'ulps' or 'relative'")
        return self.ulps if measure == "ulps" else self.relative

    def table(self) -> Table:
        """The whole accumulation's error."""
        rows = [
            (
                unit,
                float(self.ulps[unit][:, -1].mean()),
                float(self.ulps[unit][:, -1].max()),
                float(self.relative[unit][:, -1].mean()),
            )
            for unit in self.units
        ]
        return Table(["unit", "mean error (ulp)", "max error (ulp)", "mean relative error"], rows)

    def __repr__(self) -> str:
        return f"error after {self.lengths[-1]} products\n{self.table()}"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def to_dataframe(self) -> Any:
        """A pandas DataFrame: unit, length, and the mean and the largest errors. Needs pandas."""
        import pandas as pd

        columns = {
            f"{statistic}_{measure}": getattr(self, statistic)(measure)
            for measure in ("ulps", "relative")
            for statistic in ("mean", "max")
        }
        frames = [
            pd.DataFrame(
                {"unit": unit, "length": self.lengths}
                | {name: x[unit] for name, x in columns.items()}
            )
            for unit in self.units
        ]
        return pd.concat(frames, ignore_index=True)

    def plot(self, ax: Any = None, *, measure: str = "relative", statistic: str = "mean") -> Any:
        """One line a unit, on `ax` or a new figure; returns the axes. Needs matplotlib."""
        if statistic not in ("mean", "max"):
            raise ValueError(f"statistic = {statistic!r}: it may be 'mean' or 'max'")
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        for unit, line in getattr(self, statistic)(measure).items():
            ax.plot(
                self.lengths, np.where((line > 0) & np.isfinite(line), line, np.nan), label=unit
            )
        ax.set_yscale("log")
        ax.set_xlabel("products summed")
        ax.set_ylabel(
            f"{statistic} error ({'ulp of the result' if measure == 'ulps' else 'relative'})"
        )
        ax.legend(fontsize="small")
        return ax


def error_growth(
    a: Any,
    b: Any,
    units: str | Unit | Iterable[str | Unit],
    *,
    c: Any = None,
    lengths: Iterable[int] | None = None,
    rounding: str = "rne",
) -> ErrorGrowth:
    """The error along an accumulation, against the exact sum of the unit's own operands.

    Each unit sums the first n products of a and b for several n, as it would if the dot product
    ended there; the exact sum is one of integers. What is lost in rounding a and b to a unit's
    formats is not counted: that is another question than the accumulation's.

    Args:
        a, b: values, rounded to each unit's formats here, or Arrays; (..., k) that broadcast.
        units: one or several, ww.Unit or text.
        c: what the sums start at; None is +0.
        lengths: where to look, 1 to k; None: up to 48, evenly spaced in their logarithm.
        rounding: of values to the operands' formats.

    >>> import widthwise as ww
    >>> ones, units = [1.0] * 16, ["mac(e5m2)", "kulisch(e5m2)"]
    >>> growth = error_growth(ones, ones, units, lengths=[8, 16])
    >>> {unit: ulps.tolist() for unit, ulps in growth.max().items()}
    {'mac(e5m2)': [0.0, 2.0], 'kulisch(e5m2)': [0.0, 0.0]}
    """
    listed = [units] if isinstance(units, str | Unit) else list(units)
    if not listed:
        raise ValueError("units is empty; name one at least, as 'mac(e5m10)'")
    errors: dict[str, np.ndarray] = {}
    chosen: list[int] = []
    for unit in map(as_unit, listed):
        x = study_operands(unit, a, b, c, rounding)
        chosen = checked_lengths(lengths, x.k)
        found = np.empty((x.count, len(chosen), 2))
        core.error_growth(unit._core, x.bound(), chosen, found)
        errors[str(unit)] = found
    return ErrorGrowth(chosen, errors)


def product_errors(
    unit: str | Unit, a: Array, b: Array, computed: Array, c: Array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """|computed - exact| of the matrix product c + a @ b that the unit computed.

    Args:
        a, b, c: (m, k), (k, n), and what broadcasts to (m, n), in the unit's formats.
    Returns:
        In units of the last place of the result's format, and relative to the exact value.
    Raises:
        ValueError: computed is not of the product's shape.
    """
    u = as_unit(unit)
    (m, k), (other, n) = a.shape, b.shape
    if k != other or computed.shape != (m, n):
        raise ValueError(
            f"a is {a.shape}, b is {b.shape} and computed is {computed.shape}; "
            "they must be (m, k), (k, n) and (m, n)"
        )
    found = np.empty((m, n, 2))
    addend = None if c is None else spread("c", c, (m, n)).bits
    operands = core.Operands(a.bits, b.bits, addend, None, None)
    core.product_errors(u._core, operands, np.ascontiguousarray(computed.bits), found)
    return found[..., 0], found[..., 1]


def study_operands(unit: Unit, a: Any, b: Any, c: Any, rounding: str) -> Operands:
    if unit.scale_format:
        raise ValueError(f"unit {unit} scales its blocks; error_growth has no scales to give it")
    x, y = (
        study_operand(name, value, format, keeps, unit, rounding)
        for name, value, format, keeps in (
            ("a", a, unit.a, unit._core.a_keeps),
            ("b", b, unit.b, unit._core.b_keeps),
        )
    )
    z = None if c is None else study_operand("c", c, unit.c, unit._core.c_keeps, unit, rounding)
    return Operands.of_dots(unit, x, y, z, None, None)


def study_operand(
    name: str, x: Any, format: Format, keeps: int | None, unit: Unit, rounding: str
) -> Array:
    if isinstance(x, Array):
        return adapted(name, x, format, keeps, unit)
    return array(x, format, rounding=rounding)


def checked_lengths(lengths: Iterable[int] | None, k: int) -> list[int]:
    if k == 0:
        raise ValueError(
            "a and b have no elements along their last axis; there is no error to grow"
        )
    if lengths is None:
        return sorted({round(x) for x in np.geomspace(1, k, min(k, MOST_LENGTHS))})
    chosen = sorted(set(lengths))
    if not chosen or chosen[0] < 1 or chosen[-1] > k:
        raise ValueError(f"lengths = {chosen}: they may be 1 to {k}, the operands' length")
    return chosen
