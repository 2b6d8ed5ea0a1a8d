"""The error along an accumulation, and of a matrix product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._dot import Operands, Work, operand, spread
from .._settings import How
from .._table import Table, data_frame
from .._unit import Several, Unit, as_unit, named_units
from .operands import (
    FIGURES,
    ExactSums,
    checked_lengths,
    part,
    shared_block,
    study_operands,
    without_numbers,
)


class ErrorGrowth:
    """The error along an accumulation: of each unit, after each of the lengths.

    Attributes:
        lengths: how many products were summed.
        units: the units' names: a dictionary's own, or their texts.
        texts: of each name, the unit's text.
        ulps, relative: a unit's |computed - exact|, shape (dot products, lengths): in units of the
            last place of the unit's result format, and relative to the exact sum. Infinite where
            the unit's result is no number.
        error, exact, magnitude, condition: computed - exact, the exact sum, the sum of the terms'
            magnitudes, and that over |exact|, of the same shape.

    >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[17])
    >>> found.exact["mac(e5m2)"].tolist(), found.error["mac(e5m2)"].tolist()
    ([[24.0]], [[-16.0]])
    """

    def __init__(
        self, units: Mapping[str, Unit], lengths: Sequence[int], figures: dict[str, np.ndarray]
    ) -> None:
        self.lengths = list(lengths)
        self.units = list(units)
        self.texts = {name: str(unit) for name, unit in units.items()}
        self.ulps, self.relative, self.error, self.exact, self.magnitude, self.condition = (
            {unit: x[..., i] for unit, x in figures.items()} for i in range(len(FIGURES))
        )

    @property
    def absolute(self) -> dict[str, np.ndarray]:
        """|computed - exact|. Infinite where the result is no number.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.absolute["mac(e5m2)"].tolist()
        [[0.0, 16.0]]
        """
        return {unit: np.where(np.isnan(e), np.inf, np.abs(e)) for unit, e in self.error.items()}

    def mean(self, measure: str = "ulps") -> dict[str, np.ndarray]:
        """Over the dot products, for each unit: shape (lengths,). measure: as in `measured`.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.mean("absolute")["mac(e5m2)"].tolist()
        [0.0, 16.0]
        """
        return {unit: over_dots(e).mean(axis=0) for unit, e in self.measured(measure).items()}

    def max(self, measure: str = "ulps") -> dict[str, np.ndarray]:
        """The largest of the dot products, likewise. measure: as in `measured`.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.max()["mac(e5m2)"].tolist()    # the last place of 24 is 4
        [0.0, 4.0]
        """
        return {unit: over_dots(e).max(axis=0) for unit, e in self.measured(measure).items()}

    def measured(self, measure: str) -> dict[str, np.ndarray]:
        """Each unit's 'ulps', 'relative' or 'absolute' errors: (..., dot products, lengths).

        measure: which of them.

        Raises:
            ValueError: a measure that there is not.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.measured("absolute")["mac(e5m2)"].shape
        (1, 2)
        """
        if measure not in ("ulps", "relative", "absolute"):
            raise ValueError(f"measure = {measure!r}: it may be 'ulps', 'relative' or 'absolute'")
        return getattr(self, measure)

    def table(self) -> Table:
        """The whole accumulation's error.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.table().records()[0]["max error (ulp)"]
        4.0
        """
        rows = [
            (
                *self.labels(unit).values(),
                float(self.ulps[unit][..., -1].mean()),
                float(self.ulps[unit][..., -1].max()),
                float(self.relative[unit][..., -1].mean()),
            )
            for unit in self.units
        ]
        columns = ["mean error (ulp)", "max error (ulp)", "mean relative error"]
        return Table([*self.labels(self.units[0]), *columns], rows)

    def labels(self, unit: str) -> dict[str, str]:
        """What rows about a unit begin with: its text, and its name if it has one of its own.

        >>> found = error_growth([8.0] + [1.0] * 16, None, {"short": "mac(e5m2)"}, lengths=[17])
        >>> found.labels("short")
        {'name': 'short', 'unit': 'mac(e5m2)'}
        """
        named = self.units != list(self.texts.values())
        return ({"name": unit} if named else {}) | {"unit": self.texts[unit]}

    def _title(self) -> str:
        return f"error after {self.lengths[-1]} products"

    def __repr__(self) -> str:
        return f"{self._title()}\n{self.table()}"

    def _repr_html_(self) -> str:
        from ..display.style import Card

        return Card(self._title(), self.table())._repr_html_()

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A data frame of a library, 'pandas' or 'polars': a row for each unit and length.

        Columns: name (of units in a dictionary), unit, length, the mean and the largest errors.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.to_dataframe()["max_ulps"].tolist()
        [0.0, 4.0]
        """
        figures = {
            f"{statistic}_{measure}": np.concatenate([*getattr(self, statistic)(measure).values()])
            for measure in ("ulps", "relative")
            for statistic in ("mean", "max")
        }
        of_units = [self.labels(unit) for unit in self.units for _ in self.lengths]
        labels = {key: [row[key] for row in of_units] for key in of_units[0]}
        lengths = np.tile(self.lengths, len(self.units))
        return data_frame(labels | {"length": lengths} | figures, library)

    def plot(self, ax: Any = None, *, measure: str = "relative", statistic: str = "mean") -> Any:
        """One line a unit, on `ax` or a new figure; returns the axes. Needs matplotlib.

        measure, statistic: 'ulps', 'relative' or 'absolute' errors; their 'mean' or 'max'.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.plot(measure="absolute").get_xlabel()
        'products summed'
        """
        if statistic not in ("mean", "max"):
            raise ValueError(f"statistic = {statistic!r}: it may be 'mean' or 'max'")
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        for unit, line in getattr(self, statistic)(measure).items():
            ax.plot(self.lengths, drawable(line), label=unit)
        ax.set_yscale("log")
        ax.set_xlabel("products summed")
        ax.set_ylabel(f"{statistic} error ({MEASURES[measure]})")
        ax.legend(fontsize="small")
        return ax


MEASURES = {"ulps": "ulp of the result", "relative": "relative", "absolute": "absolute"}


def over_dots(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])


def drawable(line: np.ndarray) -> np.ndarray:
    """What a logarithmic axis can show; gaps elsewhere."""
    return np.where((line > 0) & np.isfinite(line), line, np.nan)


def error_growth(
    a: Any,
    b: Any,
    units: Several,
    *,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    lengths: Iterable[int] | None = None,
    rounding: str = "rne",
) -> ErrorGrowth:
    """The error along an accumulation, against the exact sum of the unit's own operands.

    Each unit sums the first n products of a and b for several n, as it would if the dot product
    ended there; the exact sum is one of integers. What is lost in rounding a and b to a unit's
    formats is not counted: that is another question than the accumulation's.

    Args:
        a, b: values, rounded to each unit's formats here, or Arrays; (..., k) that broadcast.
            b = None sums a: products with one.
        units: one or several, ww.Unit or text, or a dictionary of them by names of your own, which
            label what is found, as `orders` gives.
        c: what the sums start at; None is +0.
        scale_a, scale_b: values or Arrays, as in `ww.dot`, of units that scale their blocks.
        lengths: where to look, 1 to k; None: up to 48, evenly spaced in their logarithm. All but k
            are multiples of a block that shares a scale.
        rounding: of values to the operands' formats.
    Returns:
        An ErrorGrowth: figures of shape (dot products, lengths) for each unit.
    Raises:
        ValueError: no units, scales that a unit wants or does not take, lengths that are not there.

    >>> import widthwise as ww
    >>> ones, units = [1.0] * 16, ["mac(e5m2)", "kulisch(e5m2)"]
    >>> growth = error_growth(ones, ones, units, lengths=[8, 16])
    >>> {unit: ulps.tolist() for unit, ulps in growth.max().items()}
    {'mac(e5m2)': [0.0, 2.0], 'kulisch(e5m2)': [0.0, 0.0]}
    """
    figures: dict[str, np.ndarray] = {}
    chosen: list[int] = []
    compared = named_units(units)
    for name, unit in compared.items():
        x = study_operands(unit, a, b, c, rounding, scale_a, scale_b)
        chosen = checked_lengths(chosen or lengths, x.k, shared_block(compared.values()))
        figures[name] = prefix_figures(unit, x, chosen, [How()])[0]
    return ErrorGrowth(compared, chosen, figures)


def prefix_figures(
    unit: Unit,
    x: Operands,
    lengths: Sequence[int],
    runs: Sequence[How],
) -> np.ndarray:
    """FIGURES of each run's dot products that end at the lengths: (runs, count, lengths, …)."""
    found = np.empty((len(runs), x.count, len(lengths), len(FIGURES)))
    exact = ExactSums(unit, x)
    done = 0
    for i, length in enumerate(lengths):
        exact.add(part(unit, x, done, length))
        done = length
        prefix = part(unit, x, 0, length)
        for j, how in enumerate(runs):
            work = Work(unit, length, x.count, how)
            computed = work.run(prefix.bound(), (x.count,))
            found[j, :, i] = exact.figures(unit, computed)
    return found


def product_errors(
    unit: str | Unit, a: Any, b: Any, computed: Any, c: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """|computed - exact| of the matrix product c + a @ b that the unit computed.

    Args:
        unit: as `ww.Unit` takes it.
        a, b, c: (m, k), (k, n), and what broadcasts to (m, n), in the unit's formats.
        computed: (m, n), in its result's.
    Returns:
        In units of the last place of the result's format, and relative to the exact value.
    Raises:
        ValueError: computed is not of the product's shape.
        TypeError: an array is not of the unit's format there.

    >>> import widthwise as ww
    >>> a, b = ww.array([[8.0, 1.0]], "e5m2"), ww.array([[1.0], [1.0]], "e5m2")
    >>> ulps, relative = product_errors("mac(e5m2)", a, b, ww.matmul(a, b, unit="mac(e5m2)"))
    >>> ulps.tolist(), relative.round(3).tolist()
    ([[0.5]], [[0.111]])
    """
    u = as_unit(unit)
    x = operand("a", a, u.a, u._core.a_keeps, u)
    y = operand("b", b, u.b, u._core.b_keeps, u)
    z = operand("computed", computed, u.result_format, None, u)
    shape = (*x.shape[:1], *y.shape[1:])
    if (x.ndim, y.ndim) != (2, 2) or x.shape[1] != y.shape[0] or z.shape != shape:
        raise ValueError(
            f"a is {x.shape}, b is {y.shape} and computed is {z.shape}; "
            "they must be (m, k), (k, n) and (m, n)"
        )
    found = np.empty((*shape, len(FIGURES)))
    if c is not None:
        c = spread("c", operand("c", c, u.c, u._core.c_keeps, u), shape).bits
    operands = core.Operands(x.bits, y.bits, c, None, None)
    core.product_errors(u._core, operands, np.ascontiguousarray(z.bits), found)
    found = without_numbers(found)
    return found[..., 0], found[..., 1]
