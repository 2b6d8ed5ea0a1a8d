"""Accumulations: many units, lengths and seeds, with bounds beside the errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._missing import asks_for
from .._settings import How, Progress, several, told
from .._table import Table, data_frame
from .._unit import Several, Unit, named_units
from . import plots
from .bounds import (
    Before,
    before,
    bound_beside,
    end_of_range,
    likely_bound_beside,
    lost_below,
)
from .given import checked_against, study_data
from .growth import ErrorGrowth, over_dots, prefix_figures
from .operands import checked_lengths, shared_block


class Accumulation(ErrorGrowth):
    """Errors of units along accumulations: shape (seeds, dot products, lengths), and bounds.

    Attributes:
        seeds: of each unit; one alone where the unit draws nothing.
        bounds, likely_bounds: a unit's bounds of the absolute error at each length, over the sum of
            the terms' magnitudes: shape (lengths,). Against the data as given they count the
            rounding of what was rounded. They hold where nothing overflows or underflows; `limits`
            counts that, too.
        confidence: of the likely bound.
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
        against: str = "given",
        terms: bool = False,
        met: Mapping[str, Before] | None = None,
    ) -> None:
        super().__init__(units, lengths, figures, against, terms)
        self.seeds = seeds
        self.confidence = confidence
        self._before = {name: (met or {}).get(name, Before()) for name in units}

        def of_units(limit: Callable[[str, int], float]) -> dict[str, np.ndarray]:
            return self._by_unit({x: np.array([limit(x, k) for k in self.lengths]) for x in units})

        self.bounds = of_units(lambda x, k: bound_beside(units[x], k, self._before[x].roundings))
        self._end = {name: end_of_range(unit) for name, unit in units.items()}
        self._below = of_units(lambda x, k: lost_below(units[x], k))
        self.likely_bounds = of_units(
            lambda x, k: likely_bound_beside(units[x], k, confidence, self._before[x].roundings)
        )

    def table(self) -> Table:
        """The whole accumulation's error, the largest beside the bounds of it.

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.table().columns[:2], len(found.table())
        (['unit', 'canonical'], 1)
        """
        columns = ["mean error (ulp)", "max error (ulp)", "max relative error", *self._parts()]
        rows = []
        for unit in self.units:
            condition = float(self.condition[unit][..., -1].max())
            limits = (float(limit[..., -1].max()) for limit in self._relative_limits(unit))
            of_all = [float(self.ulps[unit][..., -1].mean())]
            of_all += [float(x[unit][..., -1].max()) for x in (self.ulps, self.relative)]
            of_all += self._split(unit, np.max)
            rows.append((*self.labels(unit).values(), *of_all, condition, *limits))
        columns += ["condition", "bound", "likely bound"]
        return Table([*self.labels(self.units[0]), *columns], rows)

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A tidy data frame of a library, 'pandas' or 'polars'.

        A row for each unit, seed, dot product and length.
        Columns: name (of units in a dictionary), unit, canonical, seed, dot, length, exact, error
        (computed - exact), its parts operand_error and accumulation_error, absolute, relative,
        ulps, magnitude (the sum of the terms' magnitudes), condition (that over |exact|), bound and
        likely_bound (of the absolute error).

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
        parts = ("operand_error", "accumulation_error") if self.against == "given" else ()
        measures = ("exact", "error", *parts, "absolute", "relative", "ulps")
        measures += ("magnitude", "condition")
        labels = {key: np.full(shape, label) for key, label in self.labels(unit).items()}
        cases = labels | {"seed": seeds, "dot": dots, "length": lengths}
        limits = dict(zip(("bound", "likely_bound"), self.limits(unit), strict=True))
        found = {name: getattr(self, name)[unit] for name in measures}
        return {name: x.reshape(-1) for name, x in (cases | found | limits).items()}

    def limits(self, unit: str) -> tuple[np.ndarray, np.ndarray]:
        """The bound and the likely bound of a unit's absolute errors, of the errors' shape.

        unit: its name. They are Higham's, with what underflow may have cost beside them, and what
        operands lost that were rounded past the ends of their range; infinite where a result
        overflowed, or may have without a trace, as in formats that saturate or wrap.

        >>> found = accumulation([60000.0] * 2, None, "mac(e5m10)", lengths=[1, 2])
        >>> found.limits("mac(e5m10)")[0].round(1).tolist()
        [[[58.7, inf]]]
        """
        return self._limits(unit, self.magnitude[unit], 1.0)

    def _relative_limits(self, unit: str) -> tuple[np.ndarray, np.ndarray]:
        """The same over |exact|; conditions stay within a float64's range where sums do not."""
        return self._limits(unit, self.condition[unit], np.abs(self.exact[unit]))

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def _limits(self, unit: str, grown: np.ndarray, of: Any) -> tuple[np.ndarray, np.ndarray]:
        """Bounds times the terms' magnitudes, and what else was lost: both over `of`."""
        number = np.isfinite(self.error[unit]) | np.isfinite(self.ulps[unit])
        below = np.where(number, self._below[unit], np.inf)
        if self._before[unit].strayed:  # which lose what they have lost
            below = below + np.abs(self.operand_error[unit])
        found = []
        for lines in (self.bounds[unit], self.likely_bounds[unit]):
            lost = below * (1 + lines)
            reached = self.magnitude[unit] * (1 + np.fmax(lines, 0)) + np.fmax(
                lost, 0
            )  # NaN is no limit
            endless = np.isinf(below) | (reached > self._end[unit])
            found.append(np.where(endless, np.inf, lines * grown + lost / of))
        return found[0], found[1]

    def plot(
        self,
        ax: Any = None,
        *,
        measure: str = "relative",
        statistic: str = "mean",
        band: float | None = None,
        split: bool | None = None,
        bounds: bool = False,
        title: str | None = None,
    ) -> Any:
        """One line a unit, on `ax` or a new figure; returns the axes. Needs matplotlib.

        bounds: add each unit's bound (dashed) and likely bound (dotted) of the largest error.
        measure, statistic, band, split, title: as in `ErrorGrowth.plot`.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.plot(bounds=True).get_ylabel().splitlines()
        ['mean error (relative),', 'against the data as given']
        """
        if bounds and measure == "ulps":
            raise ValueError("bounds = True: they are of the measures 'relative' and 'absolute'")
        ax, colours = self._drawn(ax, measure, statistic, band, split)
        if bounds:
            self._draw_bounds(ax, measure, colours)
        return self._named(ax, measure, statistic, title)

    def _draw_bounds(self, ax: Any, measure: str, colours: dict[str, str]) -> None:
        of_units = self._relative_limits if measure == "relative" else self.limits
        lines = {unit: of_units(unit) for unit in self.units}
        likely = f"likely bound of the largest\n({self.confidence:.0%}, Higham and Mary)"
        for i, (dashes, name) in enumerate(
            (("--", "bound of the largest (Higham)"), (":", likely))
        ):
            for unit in self.units:
                largest = over_dots(lines[unit][i]).max(axis=0)
                style = {"color": colours[unit], "label": f"_{name}, {unit}"}
                plots.draw_limit(ax, self.lengths, largest, dashes, style)
            ax.plot([], [], dashes, lw=1, color="gray", label=name)


@asks_for("ww.study.accumulation(a, b, ['mac(e5m10)'])")
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
    against: str = "given",
    progress: Progress = None,
) -> Accumulation:
    """Errors of sums and dot products on many units, against the exact sums of the data as given.

    An error has two parts: what rounding a and b to a unit's formats cost, and what the
    accumulation cost.

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
        against: 'given', or 'operands': the exact sums of each unit's own operands, which leaves
            out what rounding them cost.
        progress: called with (units done, of how many), or True for a line on stderr.
    Returns:
        An Accumulation: figures of shape (seeds, dot products, lengths) for each unit.
    Raises:
        ValueError: no units, scales that a unit wants or does not take, lengths that are not there.

    >>> import widthwise as ww
    >>> found = ww.study.accumulation([8.0] + [1.0] * 16, None, ["mac(e5m2)", "kulisch(e5m2)"])
    >>> found.max("absolute")["mac(e5m2)"][-1].item()    # 8 + 1 rounds to 8 every time
    16.0
    >>> list(found.to_dataframe().columns[:5])
    ['unit', 'canonical', 'seed', 'dot', 'length']
    """
    chosen, drawn = named_units(units), several("seeds", seeds)
    if not drawn:
        raise ValueError("seeds is empty; name one at least, as [0]")
    checked_against(against)
    tell = told(progress)
    figures, of_units, met = {}, {}, {}
    ends: list[int] = []
    for done, (name, unit) in enumerate(chosen.items(), 1):
        x = study_data(unit, a, b, c, rounding, scale_a, scale_b)
        ends = checked_lengths(ends or lengths, x.k, shared_block(chosen.values()))
        of_units[name] = drawn if draws(unit) else drawn[:1]
        runs = [How(engine, threads, seed) for seed in of_units[name]]
        figures[name] = prefix_figures(x, ends, runs, against)
        if against == "given":
            met[name] = before(unit, x.rounded, rounding, x.strayed)
        tell(done, len(chosen))
    return Accumulation(chosen, ends, figures, of_units, confidence, against, b is None, met)


def draws(unit: Unit) -> bool:
    """Whether any of the unit's roundings is stochastic."""

    def modes(fields: dict[str, Any]) -> Iterable[str]:
        for key, value in fields.items():
            if isinstance(value, dict):
                yield from modes(value)
            elif key.endswith("rm"):
                yield value

    return any(mode.startswith("sr") for mode in modes(unit.fields))
