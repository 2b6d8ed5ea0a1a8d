"""The error along an accumulation, and of a matrix product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._dot import Work, operand, spread
from .._format_texts import said
from .._metrics import magnitude
from .._missing import asks_for
from .._settings import How, share
from .._table import Table, Titled, data_frame
from .._unit import Several, Unit, as_unit, named_units
from . import plots
from .given import (
    AGAINST,
    DEVIATION,
    FIGURES,
    PARTS,
    Data,
    Truth,
    checked_against,
    study_data,
    without_numbers,
)
from .operands import checked_lengths, part, shared_block


class OfUnits(dict[str, np.ndarray]):
    """Figures by the units' names; a unit's other texts find them, too."""

    def __init__(self, units: Mapping[str, Unit], figures: Mapping[str, np.ndarray]) -> None:
        super().__init__(figures)
        self.units = units

    def __missing__(self, name: str) -> np.ndarray:
        try:
            wanted = as_unit(name)
        except (TypeError, ValueError):
            wanted = None
        for own, unit in self.units.items():
            if unit == wanted:
                return self[own]
        raise KeyError(f"{said(name)!r}: the units are {said(', '.join(self))}")


class ErrorGrowth(Titled):
    """The error along an accumulation: of each unit, after each of the lengths.

    Attributes:
        lengths: how many products were summed.
        units: the units' names: a dictionary's own, or the texts that were asked for, by which all
            figures are found. A unit's canonical text finds them, too.
        texts, canonical: of each name, the text that was asked for, and the canonical one.
        against: what errors are held against: 'given', the exact sum of the data as given, or
            'operands', that of the unit's own operands.
        terms: whether single terms were summed, b being None, and no products.
        ulps, relative: a unit's |computed - exact|, shape (dot products, lengths): in units of the
            last place of the unit's result format (of posits, takums and tables in the distance of
            the numbers on either side), and relative to the exact sum. Infinite where the unit's
            result is no number.
        error, exact, magnitude, condition: computed - exact, the exact sum, the sum of the terms'
            magnitudes, and that over |exact|, of the same shape. Past a float64's range the first
            three are infinite, while ulps, relative and condition tell the numbers there.
        operand_error, accumulation_error: the two parts of `error`: what rounding the operands
            cost, which is infinite where one became so, and what the accumulation cost. Against
            'operands' the first is not looked at, and NaN. In ulps, and relative: `measured`.

    >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[17])
    >>> found.exact["mac(e5m2)"].tolist(), found.error["mac(e5m2)"].tolist()
    ([[24.0]], [[-16.0]])
    """

    ulps: dict[str, np.ndarray]
    relative: dict[str, np.ndarray]
    error: dict[str, np.ndarray]
    exact: dict[str, np.ndarray]
    magnitude: dict[str, np.ndarray]
    condition: dict[str, np.ndarray]
    operand_error: dict[str, np.ndarray]
    accumulation_error: dict[str, np.ndarray]

    def __init__(
        self,
        units: Mapping[str, Unit],
        lengths: Sequence[int],
        figures: dict[str, np.ndarray],
        against: str = "given",
        terms: bool = False,
    ) -> None:
        self.lengths = list(lengths)
        self.units = list(units)
        self.texts = {name: unit.text for name, unit in units.items()}
        self.canonical = {name: str(unit) for name, unit in units.items()}
        self.against, self.terms = against, terms
        self._units = units
        for i, figure in enumerate(FIGURES):
            by_name = {name: x[..., i] for name, x in figures.items()}
            setattr(self, figure, OfUnits(units, by_name))

    @property
    def absolute(self) -> dict[str, np.ndarray]:
        """|computed - exact|. Infinite where the result is no number.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.absolute["mac(e5m2)"].tolist()
        [[0.0, 16.0]]
        """
        return self._by_unit({unit: magnitude(e) for unit, e in self.error.items()})

    def _by_unit(self, figures: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return OfUnits(self._units, figures)

    def mean(self, measure: str = "ulps", part: str | None = None) -> dict[str, np.ndarray]:
        """Over the dot products, for each unit: shape (lengths,). measure, part: as in `measured`.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.mean("absolute")["mac(e5m2)"].tolist()
        [0.0, 16.0]
        """
        measured = self.measured(measure, part).items()
        return self._by_unit({unit: over_dots(e).mean(axis=0) for unit, e in measured})

    def max(self, measure: str = "ulps", part: str | None = None) -> dict[str, np.ndarray]:
        """The largest of the dot products, likewise. measure, part: as in `measured`.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.max()["mac(e5m2)"].tolist()    # the last place of 24 is 4
        [0.0, 4.0]
        """
        measured = self.measured(measure, part).items()
        return self._by_unit({unit: over_dots(e).max(axis=0) for unit, e in measured})

    def measured(self, measure: str, part: str | None = None) -> dict[str, np.ndarray]:
        """Each unit's 'ulps', 'relative' or 'absolute' errors: (..., dot products, lengths).

        measure: which of them.    part: 'operands', what rounding them cost, or 'accumulation', the
        rest; None: both together.

        Raises:
            ValueError: a measure or a part that there is not.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.measured("absolute")["mac(e5m2)"].shape
        (1, 2)
        """
        if measure not in ("ulps", "relative", "absolute"):
            raise ValueError(f"measure = {measure!r}: it may be 'ulps', 'relative' or 'absolute'")
        of = "error" if measure == "absolute" else measure
        if part is None:
            return getattr(self, measure)
        if part not in PARTS:
            raise ValueError(f"part = {part!r}: it may be 'operands', 'accumulation' or None")
        if part == "operands" and self.against == "operands":
            raise ValueError(
                "part = 'operands': what rounding them cost is known where against = 'given'"
            )
        return self._by_unit(
            {unit: magnitude(e) for unit, e in getattr(self, f"{PARTS[part]}_{of}").items()}
        )

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
                *self._split(unit, np.mean),
            )
            for unit in self.units
        ]
        columns = ["mean error (ulp)", "max error (ulp)", "mean relative error"]
        return Table([*self.labels(self.units[0]), *columns, *self._parts()], rows)

    def _parts(self) -> list[str]:
        """Columns of what each part of the relative error comes to."""
        return [f"of {part}" for part in PARTS] if self.against == "given" else []

    def _split(self, unit: str, statistic: Any) -> list[float]:
        return [
            float(statistic(self.measured("relative", part)[unit][..., -1]))
            for part in (PARTS if self.against == "given" else ())
        ]

    def labels(self, unit: str) -> dict[str, str]:
        """What rows about a unit begin with: its texts, and its name if it has one of its own.

        >>> found = error_growth([8.0] + [1.0] * 16, None, {"short": "mac(bfloat16)"}, lengths=[17])
        >>> found.labels("short")
        {'name': 'short', 'unit': 'mac(bfloat16)', 'canonical': 'mac(e8m7)'}
        """
        named = {"name": unit} if self.units != list(self.texts.values()) else {}
        return named | {"unit": self.texts[unit], "canonical": self.canonical[unit]}

    def _summed(self) -> str:
        return "terms" if self.terms else "products"

    def _title(self) -> str:
        """What is measured, and against what."""
        return f"error after {self.lengths[-1]} {self._summed()}, against {AGAINST[self.against]}"

    def _printed(self) -> Table:
        return self.table()

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A data frame of a library, 'pandas' or 'polars': a row for each unit and length.

        Columns: name (of units in a dictionary), unit, canonical, length, the mean and the largest
        errors; against the data as given also the mean and largest of each part, relative.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.to_dataframe()["max_ulps"].tolist()
        [0.0, 4.0]
        """
        figures = {
            f"{statistic}_{measure}": np.concatenate([*getattr(self, statistic)(measure).values()])
            for measure in ("ulps", "relative")
            for statistic in ("mean", "max")
        }
        for of in PARTS if self.against == "given" else ():
            for statistic in ("mean", "max"):
                found = getattr(self, statistic)("relative", of)
                figures[f"{statistic}_of_{of}"] = np.concatenate([*found.values()])
        of_units = [self.labels(unit) for unit in self.units for _ in self.lengths]
        labels = {key: [row[key] for row in of_units] for key in of_units[0]}
        lengths = np.tile(self.lengths, len(self.units))
        return data_frame(labels | {"length": lengths} | figures, library)

    def band(
        self, confidence: float = 0.9, measure: str = "relative"
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Between which two lines a share of each unit's seeds and dot products lies.

        confidence: that share, above 0 and below 1.    measure: as in `measured`.

        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.band(0.9, "absolute")["mac(e5m2)"][1].tolist()
        [0.0, 16.0]
        """
        outside = (1 - share("confidence", confidence)) / 2
        lines = {
            unit: np.quantile(over_dots(e), (outside, 1 - outside), axis=0, method="nearest")
            for unit, e in self.measured(measure).items()
        }
        return {unit: (low, high) for unit, (low, high) in lines.items()}

    def plot(
        self,
        ax: Any = None,
        *,
        measure: str = "relative",
        statistic: str = "mean",
        band: float | None = None,
        split: bool | None = None,
        title: str | None = None,
    ) -> Any:
        """One line a unit, on `ax` or a new figure; returns the axes. Needs matplotlib.

        Args:
            measure, statistic: 'ulps', 'relative' or 'absolute' errors; their 'mean' or 'max'.
            band: shade where that share of the seeds and dot products lies.
            split: thin lines of what rounding the operands cost (dash-dotted); None: of up to three
                units against the data as given.
            title: above the axes.

        Zeros stand at the lower end of the axis, infinities at the upper one.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = error_growth([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.plot(measure="absolute").get_xlabel()
        'terms summed'
        """
        ax, _ = self._drawn(ax, measure, statistic, band, split)
        return self._named(ax, measure, statistic, title)

    def _drawn(
        self, ax: Any, measure: str, statistic: str, band: float | None, split: bool | None
    ) -> tuple[Any, dict[str, str]]:
        """The axes, and the units' colours."""
        if statistic not in ("mean", "max"):
            raise ValueError(f"statistic = {statistic!r}: it may be 'mean' or 'max'")
        lines = getattr(self, statistic)(measure)
        shaded = {} if band is None else self.band(share("band", band), measure)
        ax = plots.axes(ax)
        colours = plots.draw_lines(ax, self.lengths, lines)
        for unit, (low, high) in shaded.items():
            plots.shade(ax, self.lengths, low, high, colours[unit])
        if band is not None:
            name = f"where {band:.0%} of seeds and sums lie"
            ax.fill_between([], [], color="gray", alpha=0.2, lw=0, label=name)
        if split is None:
            split = self.against == "given" and len(self.units) <= FEW
        if split:
            self._draw_split(ax, measure, statistic, colours)
        return ax, colours

    def _draw_split(self, ax: Any, measure: str, statistic: str, colours: dict[str, str]) -> None:
        lost = getattr(self, statistic)(measure, "operands")
        for unit in [unit for unit, line in lost.items() if np.any(line)]:
            style = {"lw": 1, "color": colours[unit], "label": f"_operands of {unit}"}
            ax.plot(self.lengths, plots.drawable(lost[unit]), "-.", **style)
        if any(np.any(line) for line in lost.values()):
            ax.plot([], [], "-.", lw=1, color="gray", label="of it by rounding the operands")

    def _named(self, ax: Any, measure: str, statistic: str, title: str | None) -> Any:
        y = f"{statistic} error ({MEASURES[measure]}),\nagainst {AGAINST[self.against]}"
        return plots.finish(ax, title, f"{self._summed()} summed", y)


FEW = 3  # units whose errors are drawn in parts, too
MEASURES = {"ulps": "ulp of the result", "relative": "relative", "absolute": "absolute"}


def over_dots(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, x.shape[-1])


@asks_for("ww.study.error_growth(a, b, ['mac(e5m10)'])")
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
    against: str = "given",
) -> ErrorGrowth:
    """The error along an accumulation, against the exact sum of the data as given.

    Each unit sums the first n products of a and b for several n, as it would if the dot product
    ended there; the exact sum is one of integers. An error has two parts: what rounding a and b to
    the unit's formats cost, and what the accumulation cost.

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
        against: 'given', or 'operands': the exact sum of the unit's own operands, which leaves out
            what rounding them cost.
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
    checked_against(against)
    for name, unit in compared.items():
        x = study_data(unit, a, b, c, rounding, scale_a, scale_b)
        chosen = checked_lengths(chosen or lengths, x.k, shared_block(compared.values()))
        figures[name] = prefix_figures(x, chosen, [How()], against)[0]
    return ErrorGrowth(compared, chosen, figures, against, b is None)


def prefix_figures(
    data: Data, lengths: Sequence[int], runs: Sequence[How], against: str
) -> np.ndarray:
    """FIGURES of each run's dot products that end at the lengths: (runs, count, lengths, …)."""
    unit, x = data.unit, data.operands
    found = np.empty((len(runs), x.count, len(lengths), len(FIGURES)))
    truth = Truth(data, against, apart=False)
    done = 0
    for i, length in enumerate(lengths):
        truth.add(data, done, length)
        done = length
        prefix = part(unit, x, 0, length)
        for j, how in enumerate(runs):
            work = Work(unit, length, x.count, how)
            computed = work.run(prefix.bound(), (x.count,))
            found[j, :, i] = truth.figures(unit, computed)
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
    found = np.empty((*shape, len(DEVIATION)))
    if c is not None:
        c = spread("c", operand("c", c, u.c, u._core.c_keeps, u), shape).bits
    operands = core.Operands(x.bits, y.bits, c, None, None)
    core.product_errors(u._core, operands, np.ascontiguousarray(z.bits), found)
    found = without_numbers(found)
    return found[..., 0], found[..., 1]
