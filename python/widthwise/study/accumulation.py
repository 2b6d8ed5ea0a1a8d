"""Accumulations: many units, lengths and seeds, with bounds beside the errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._array import Array
from .._create import zeros
from .._dot import Operands, Work
from .._settings import several
from .._table import Table, data_frame
from .._unit import Several, Unit, as_units
from .bounds import bound, likely_bound
from .growth import ErrorGrowth, drawable, over_dots, prefix_figures
from .operands import (
    ExactSums,
    checked_lengths,
    part,
    shared_block,
    study_operands,
)
from .registers import continued

MOST_AT_ONCE = 1024  # terms that lie beside each other as wide as a register that holds them all


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
        lengths: Sequence[int],
        figures: dict[str, np.ndarray],
        seeds: dict[str, list[int]],
        confidence: float,
    ) -> None:
        super().__init__(lengths, figures)
        self.seeds = seeds
        self.bounds = {u: np.array([bound(u, k) for k in self.lengths]) for u in self.units}
        self.likely_bounds = {
            u: np.array([likely_bound(u, k, confidence) for k in self.lengths]) for u in self.units
        }

    def table(self) -> Table:
        """The whole accumulation's error, the largest beside the bounds of it.

        >>> found = accumulation([8.0] + [1.0] * 16, None, "mac(e5m2)", lengths=[1, 17])
        >>> found.table().columns[:2], len(found.table())
        (['unit', 'mean error (ulp)'], 1)
        """
        columns = ["unit", "mean error (ulp)", "max error (ulp)", "max relative error"]
        rows = []
        for unit in self.units:
            condition = float(self.condition[unit][..., -1].max())
            limits = (self.bounds[unit][-1] * condition, self.likely_bounds[unit][-1] * condition)
            of_all = [float(self.ulps[unit][..., -1].mean())]
            of_all += [float(x[unit][..., -1].max()) for x in (self.ulps, self.relative)]
            rows.append((unit, *of_all, condition, *map(float, limits)))
        return Table([*columns, "condition", "bound", "likely bound"], rows)

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A tidy data frame of pandas or polars: a row for each unit, seed, dot product, length.

        Columns: unit, seed, dot, length, exact, error (computed - exact), absolute, relative, ulps,
        magnitude (the sum of the terms' magnitudes), condition (that over |exact|), bound and
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
        measures = ("exact", "error", "absolute", "relative", "ulps", "magnitude", "condition")
        cases = {"unit": np.full(shape, unit), "seed": seeds, "dot": dots, "length": lengths}
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
        """Between which two lines that share of a unit's seeds and dot products lies.

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
        for unit in self.units if bounds else []:
            scale = self.condition if measure == "relative" else self.magnitude
            largest = over_dots(scale[unit]).max(axis=0)
            for line, style in ((self.bounds, "--"), (self.likely_bounds, ":")):
                ax.plot(self.lengths, drawable(line[unit] * largest), style, color=colours[unit])
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
        units: one or several, ww.Unit or text, or a dictionary of ww.Unit, as `orders` and
            `roundings` give.
        c: what the sums start at; None is +0.
        scale_a, scale_b: values or Arrays, as in `ww.dot`, of units that scale their blocks.
        lengths: where to look along k, 1 to k; None: up to 48, evenly spaced in their logarithm.
            All but k are multiples of a block that shares a scale.
        seeds: of units that round stochastically; others are computed once.
        rounding: of values to the operands' formats.
        confidence: of the likely bound.
        engine, threads: as in `ww.dot`.
        progress: called with (units done, of how many).
    Raises:
        ValueError: no units, scales that a unit wants or does not take, lengths that are not there.

    >>> import widthwise as ww
    >>> found = ww.study.accumulation([8.0] + [1.0] * 16, None, ["mac(e5m2)", "kulisch(e5m2)"])
    >>> found.max("absolute")["mac(e5m2)"][-1].item()    # 8 + 1 rounds to 8 every time
    16.0
    >>> list(found.to_dataframe().columns[:5])
    ['unit', 'seed', 'dot', 'length', 'exact']
    """
    chosen, drawn = as_units(units), several("seeds", seeds)
    if not drawn:
        raise ValueError("seeds is empty; name one at least, as [0]")
    figures, of_units = {}, {}
    ends: list[int] = []
    for done, unit in enumerate(chosen, 1):
        x = study_operands(unit, a, b, c, rounding, scale_a, scale_b)
        ends = checked_lengths(ends or lengths, x.k, shared_block(chosen))
        of_units[str(unit)] = drawn if draws(unit) else drawn[:1]
        figures[str(unit)] = prefix_figures(unit, x, ends, of_units[str(unit)], engine, threads)
        if progress:
            progress(done, len(chosen))
    return Accumulation(ends, figures, of_units, confidence)


def draws(unit: Unit) -> bool:
    """Whether any of the unit's roundings is stochastic."""

    def modes(fields: dict[str, Any]) -> Iterable[str]:
        for key, value in fields.items():
            if isinstance(value, dict):
                yield from modes(value)
            elif key.endswith("rm"):
                yield value

    return any(mode.startswith("sr") for mode in modes(unit.fields))


# --- Terms that come in pieces -------------------------------------------------------------------


def streamed(
    pieces: Iterable[Any],
    units: Several,
    *,
    seed: int = 0,
    rounding: str = "rne",
    confidence: float = 0.99,
    engine: str = "auto",
    threads: int | None = None,
) -> Accumulation:
    """The same of one sum or dot product whose terms come in pieces: only one is in memory.

    Each piece continues what the unit's register holds, which is the whole sum bit for bit, unless
    roundings draw: chains of blocks, promoted or not, and registers that add exactly or at a fixed
    place, as `kulisch` and `fixedacc`. The lengths looked at are the pieces' ends.

    Args:
        pieces: values or Arrays (k,), which are summed, or pairs of them, or (a, b, scale_a,
            scale_b) where the unit scales its blocks. All but the last are of a multiple of the
            unit's lanes, of what it promotes at once and of a block that shares a scale.
        seed: of stochastic rounding; piece i draws by seed + i.
        Others: as in `accumulation`.
    Raises:
        ValueError: a unit that holds more than one number between its terms, as compensated sums
            do, or needs all of them at once; a piece that ends within a block; no pieces.

    >>> import widthwise as ww
    >>> found = ww.study.streamed(([1.0] * 100 for _ in range(5)), "mac(bfloat16)")
    >>> found.lengths, found.max("absolute")["mac(e8m7)"].tolist()
    ([100, 200, 300, 400, 500], [0.0, 0.0, 44.0, 144.0, 244.0])
    """
    chains = [Chain(unit, rounding, engine, threads) for unit in as_units(units)]
    lengths: list[int] = []
    for i, given in enumerate(pieces):
        piece = piece_of(given)
        for chain in chains:
            chain.take(piece, seed + i)
        lengths.append(chains[0].length)
    if not lengths:
        raise ValueError("pieces is empty; there is nothing to sum")
    figures = {str(chain.unit): np.stack(chain.figures, axis=1)[None] for chain in chains}
    return Accumulation(lengths, figures, {unit: [seed] for unit in figures}, confidence)


class Piece(NamedTuple):
    """Some terms of a sum or dot product, with the scales of their blocks where there are any."""

    a: Any
    b: Any = None
    scale_a: Any = None
    scale_b: Any = None

    @property
    def scales(self) -> tuple[Any, Any]:
        return self.scale_a, self.scale_b


def piece_of(given: Any) -> Piece:
    if not isinstance(given, tuple):
        return Piece(given)
    if len(given) not in (2, 4):
        raise ValueError(
            f"pieces: one is a tuple of {len(given)}; a pair (a, b) is wanted, or (a, b, scale_a, "
            "scale_b), and of a sum its terms alone"
        )
    return Piece(*given)


class Chain:
    """A unit's sum that goes on from piece to piece, and the exact one."""

    def __init__(self, unit: Unit, rounding: str, engine: str, threads: int | None) -> None:
        self.unit, self.rounding, self.engine, self.threads = unit, rounding, engine, threads
        self.continued = continued(unit)
        # A register's piece may go in by parts, but for random bits, which go by the place in it.
        self.most = sys.maxsize if unit.lanes or draws(unit) else MOST_AT_ONCE * self.continued.step
        self.length = 0
        self.register: Array | None = None
        self.exact: ExactSums | None = None
        self.figures: list[np.ndarray] = []

    def take(self, piece: Piece, seed: int) -> None:
        unit, step = self.continued.goes_on, self.continued.step
        if self.length % step:
            raise ValueError(
                f"pieces: one ended after {self.length} terms, within a block of unit "
                f"{self.unit}; all but the last are of a multiple of {step}"
            )
        x = study_operands(unit, piece.a, piece.b, self.register, self.rounding, *piece.scales)
        if x.shape != ():
            raise ValueError(f"pieces: one makes sums of shape {x.shape}; they are of shape (k,)")
        if self.exact is None:
            self.exact = ExactSums(unit, x)
        self.exact.add(x)
        # A block of no terms would still align and round what the register holds.
        for first in range(0, x.k if self.length else max(1, x.k), self.most):
            self.advance(part(unit, x, first, min(x.k, first + self.most)), seed)
        self.length += x.k
        self.figures.append(self.exact.figures(self.unit, self.delivered(seed).reshape(1)))

    def advance(self, x: Operands, seed: int) -> None:
        if self.register is not None:
            x.arrays[2] = self.register.reshape(1)
        self.register = self.computed(self.continued.goes_on, x, seed)

    def delivered(self, seed: int) -> Array:
        """What the unit makes of its register."""
        ends, register = self.continued.ends, self.register
        assert register is not None
        if ends is None:
            return register
        nothing = zeros((0,), ends.a)
        return self.computed(ends, study_operands(ends, nothing, nothing, register, "rne"), seed)

    def computed(self, unit: Unit, x: Operands, seed: int) -> Array:
        work = Work(unit, x.k, self.engine, self.threads, seed, False, None, 1)
        return work.run(x.bound(), ())
