"""Accumulations: many units, lengths and seeds, with bounds beside the errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._settings import How, several
from .._table import Table, data_frame
from .._unit import Several, Unit, named_units
from .bounds import bound, likely_bound
from .growth import ErrorGrowth, drawable, over_dots, prefix_figures
from .operands import checked_lengths, shared_block, study_operands


class Accumulation(ErrorGrowth):
    """Errors of units along accumulations: shape (seeds, dot products, lengths), and bounds.

    Attributes:
        seeds: of each unit; one alone where the unit draws nothing.
        bounds, likely_bounds: a unit's bounds of the absolute error at each length, over the sum of
            the terms' magnitudes: shape (lengths,).
        Others: as in ErrorGrowth.

    >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[17])
    >>> found.error["mac(e5m2)"].shape, found.bounds["mac(e5m2)"].shape
    ((1, 1, 1), (1,))
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        lengths: Sequence[int],
        figures: dict[str, np.ndarray],
        seeds: dict[str, list[int]],
        confidence: float,
    ) -> None:
        super().__init__(units, lengths, figures)
        self.seeds = seeds
        self.bounds = {
            name: np.array([bound(u, k) for k in self.lengths]) for name, u in units.items()
        }
        self.likely_bounds = {
            name: np.array([likely_bound(u, k, confidence) for k in self.lengths])
            for name, u in units.items()
        }

    def table(self) -> Table:
        """The whole accumulation's error, the largest beside the bounds of it.

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.table().columns[:2], len(found.table())
        (['unit', 'mean error (ulp)'], 1)
        """
        columns = ["mean error (ulp)", "max error (ulp)", "max relative error"]
        rows = []
        for unit in self.units:
            condition = float(self.condition[unit][..., -1].max())
            limits = (self.bounds[unit][-1] * condition, self.likely_bounds[unit][-1] * condition)
            of_all = [float(self.ulps[unit][..., -1].mean())]
            of_all += [float(x[unit][..., -1].max()) for x in (self.ulps, self.relative)]
            rows.append((*self.labels(unit).values(), *of_all, condition, *map(float, limits)))
        columns += ["condition", "bound", "likely bound"]
        return Table([*self.labels(self.units[0]), *columns], rows)

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A tidy data frame of a library, 'pandas' or 'polars'.

        A row for each unit, seed, dot product and length.
        Columns: name (of units in a dictionary), unit, seed, dot, length, exact, error (computed -
        exact), absolute, relative, ulps, magnitude (the sum of the terms' magnitudes), condition
        (that over |exact|), bound and likely_bound (of the absolute error).

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.to_dataframe()[["length", "error"]].values.tolist()
        [[1.0, 0.0], [17.0, -16.0]]
        """
        parts = [self.columns_of(unit) for unit in self.units]
        merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return data_frame(merged, library)

    def columns_of(self, unit: str) -> dict[str, np.ndarray]:
        """The columns of a unit's rows, by name: shape (seeds * dot products * lengths,).

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.columns_of("mac(e5m2)")["exact"].tolist()
        [8.0, 24.0]
        """
        shape = self.ulps[unit].shape
        seeds, dots, lengths = np.meshgrid(
            self.seeds[unit], np.arange(shape[1]), self.lengths, indexing="ij"
        )
        measures = ("exact", "error", "absolute", "relative", "ulps", "magnitude", "condition")
        labels = {key: np.full(shape, label) for key, label in self.labels(unit).items()}
        cases = labels | {"seed": seeds, "dot": dots, "length": lengths}
        of_terms = self.magnitude[unit]
        with np.errstate(invalid="ignore"):  # an infinite bound of terms that are all zero
            limits = {
                "bound": self.bounds[unit] * of_terms,
                "likely_bound": self.likely_bounds[unit] * of_terms,
            }
        found = {name: getattr(self, name)[unit] for name in measures}
        return {name: x.reshape(-1) for name, x in (cases | found | limits).items()}

    def band(
        self, confidence: float = 0.9, measure: str = "relative"
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Between which two lines a share of each unit's seeds and dot products lies.

        confidence: that share, above 0 and below 1.    measure: as in `measured`.

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.band(0.9, "absolute")["mac(e5m2)"][1].tolist()
        [0.0, 16.0]
        """
        if not 0 < confidence < 1:
            raise ValueError(f"confidence = {confidence}: it may be above 0 and below 1")
        outside = (1 - confidence) / 2
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
        bounds: bool = False,
    ) -> Any:
        """One line a unit, on `ax` or a new figure; returns the axes. Needs matplotlib.

        measure, statistic: 'ulps', 'relative' or 'absolute' errors; their 'mean' or 'max'.
        band: shade where that share of the seeds and dot products lies.
        bounds: add each unit's bound (dashed) and likely bound (dotted) of the largest error.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.plot(bounds=True).get_ylabel()
        'mean error (relative)'
        """
        if bounds and measure == "ulps":
            raise ValueError("bounds = True: they are of the measures 'relative' and 'absolute'")
        ax = super().plot(ax, measure=measure, statistic=statistic)
        colours = dict(zip(self.units, [line.get_color() for line in ax.get_lines()], strict=False))
        for unit, (low, high) in (self.band(band, measure) if band else {}).items():
            ax.fill_between(
                self.lengths, drawable(low), drawable(high), color=colours[unit], alpha=0.2, lw=0
            )
        if band:
            share = f"where {band:.0%} of seeds and sums lie"
            ax.fill_between([], [], color="gray", alpha=0.2, lw=0, label=share)
        for unit in self.units if bounds else []:
            scale = self.condition if measure == "relative" else self.magnitude
            largest = over_dots(scale[unit]).max(axis=0)
            for line, style in ((self.bounds, "--"), (self.likely_bounds, ":")):
                ax.plot(self.lengths, drawable(line[unit] * largest), style, color=colours[unit])
        if bounds:
            ax.plot([], [], "--", color="gray", label="bound of the largest")
            ax.plot([], [], ":", color="gray", label="likely bound of the largest")
        ax.legend(fontsize="small")
        return ax


def accumulation(
    a: Any,
    b: Any = None,
    units: Several = (),
    *,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    lengths: Iterable[int] | None = None,
    seeds: Iterable[int] = (0,),
    rounding: str = "rne",
    confidence: float = 0.99,
    engine: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Accumulation:
    """Errors of sums and dot products on many units, against the exact sums of their operands.

    What is lost in rounding a and b to a unit's formats is not counted (`ww.sweep` counts it).

    Args:
        a, b: values, rounded to each unit's formats here, or Arrays; (..., k) that broadcast.
            b = None sums a: products with one. Matrix products and convolutions by
            `dots_of_matmul` and `dots_of_conv2d`.
        units: one or several, ww.Unit or text, or a dictionary of them by names of your own, which
            label what is found, as `orders` and `roundings` give.
        c: what the sums start at; None is +0.
        scale_a, scale_b: values or Arrays, as in `ww.dot`, of units that scale their blocks.
        lengths: where to look along k, 1 to k; None: up to 48, evenly spaced in their logarithm.
            All but k are multiples of a block that shares a scale.
        seeds: of units that round stochastically; others are computed once.
        rounding: of values to the operands' formats.
        confidence: of the likely bound.
        engine, threads: as in `ww.dot`.
        progress: called with (units done, of how many).
    Returns:
        An Accumulation: figures of shape (seeds, dot products, lengths) for each unit.
    Raises:
        ValueError: no units, scales that a unit wants or does not take, lengths that are not there.

    >>> import widthwise as ww
    >>> found = ww.study.accumulation([8.0] + [1.0] * 16, None, ["mac(e5m2)", "kulisch(e5m2)"])
    >>> found.max("absolute")["mac(e5m2)"][-1].item()    # 8 + 1 rounds to 8 every time
    16.0
    >>> list(found.to_dataframe().columns[:5])
    ['unit', 'seed', 'dot', 'length', 'exact']
    """
    chosen, drawn = named_units(units), several("seeds", seeds)
    if not drawn:
        raise ValueError("seeds is empty; name one at least, as [0]")
    figures, of_units = {}, {}
    ends: list[int] = []
    for done, (name, unit) in enumerate(chosen.items(), 1):
        x = study_operands(unit, a, b, c, rounding, scale_a, scale_b)
        ends = checked_lengths(ends or lengths, x.k, shared_block(chosen.values()))
        of_units[name] = drawn if draws(unit) else drawn[:1]
        runs = [How(engine, threads, seed) for seed in of_units[name]]
        figures[name] = prefix_figures(unit, x, ends, runs)
        if progress:
            progress(done, len(chosen))
    return Accumulation(chosen, ends, figures, of_units, confidence)


def draws(unit: Unit) -> bool:
    """Whether any of the unit's roundings is stochastic."""

    def modes(fields: dict[str, Any]) -> Iterable[str]:
        for key, value in fields.items():
            if isinstance(value, dict):
                yield from modes(value)
            elif key.endswith("rm"):
                yield value

    return any(mode.startswith("sr") for mode in modes(unit.fields))
