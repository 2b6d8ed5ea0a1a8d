"""Sweeps: one matrix product by many units, and how far each strays from the exact one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from . import _widthwise as core
from ._engines import check
from ._format_texts import said
from ._metrics import (
    ALL_METRICS,
    PARTS,
    USUAL,
)
from ._missing import asks_for
from ._settings import Progress, several, told, whole
from ._swept import (
    Request,
    block_formats,
    doubles,
    exact_of,
)
from ._table import Findings, Titled
from ._unit import Several, Unit, as_units
from .containers.blocks import Blocks

NOTES = {  # of what has counts in `meta`
    "no_number": "exact values that are no numbers of binary64",
    "past": "results that are numbers past binary64's range",
}


class Grid(Sequence[str]):
    """Units that differ in parameters; `parameters` has those of each."""

    def __init__(self, units: list[str], parameters: list[dict[str, Any]]) -> None:
        self.units, self.parameters = units, parameters

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, i: Any) -> Any:
        return self.units[i]

    def __repr__(self) -> str:
        return f"{len(self)} units: {', '.join(self.units[:3])}{', …' if len(self) > 3 else ''}"


MOST_UNITS = 10**6


def grid(text: str, **parameters: Iterable[Any]) -> Grid:
    """Units of one form, for every combination of its parameters.

    Args:
        text: a unit's text with the parameters in braces.
        parameters: the values that each one takes.
    Returns:
        A Grid: a sequence of texts, whose `.parameters` has the values of each.
    Raises:
        ValueError: a parameter that the text does not have, or one of it that has no values; more
            than a million units.
        TypeError: a single value.

    >>> import widthwise as ww
    >>> list(ww.grid("mac(e{e}m{m})", e=[4, 5], m=[3, 10]))
    ['mac(e4m3)', 'mac(e4m10)', 'mac(e5m3)', 'mac(e5m10)']
    """
    if not isinstance(text, str):
        raise TypeError(
            f"text = {text!r}: one text is wanted, as 'mac(e{{e}}m10)' with e=[4, 5]; a list of "
            "units goes to ww.sweep as it is"
        )
    chosen = [several(name, values) for name, values in parameters.items()]
    for name, values in zip(parameters, chosen, strict=True):
        if not values:
            raise ValueError(f"{name} is empty; give it a value at least, as {name}=[…]")
        if "{" + name not in text:
            raise ValueError(
                f"{name} is no parameter of {said(text)!r}: write {{{name}}} where it stands there"
            )
    if (count := math.prod(map(len, chosen))) > MOST_UNITS:
        raise ValueError(
            f"a grid of {count:,} units; {MOST_UNITS:,} are the most: take fewer values of one"
        )
    rows = [dict(zip(parameters, values, strict=True)) for values in product(*chosen)]
    try:
        return Grid([text.format(**row) for row in rows], rows)
    except (IndexError, ValueError) as why:
        raise ValueError(
            f"text = {said(text)!r}: its braces hold no parameter's name ({why}); write {{e}} and "
            "e=[…]"
        ) from None
    except KeyError as missing:
        raise ValueError(
            f"{said(text)!r} has a parameter {missing.args[0]} without values: give "
            f"{missing.args[0]}=[…]"
        ) from None


def parameters_of(units: Several, count: int) -> Sequence[dict[str, Any]]:
    """What each of so many units is called beside its text."""
    if isinstance(units, Grid):
        return units.parameters
    return [{"name": name} for name in units] if isinstance(units, Mapping) else [{}] * count


AGAINST = {
    "given": "the data as given",
    "operands": "the unit's own operands",
    "exact": "the results that were given",
}


class SweepResult(Titled, Findings):
    """A row for every unit: its text, a grid's parameters or a dictionary's name, and the metrics.

    The unit's text is the one that was asked for, and `canonical` the canonical one.

    Attributes:
        meta: what the figures belong to: shapes, rounding, seed, engine, metrics, what errors are
            against, the outputs whose exact value is no number of binary64 (`no_number`), the
            results that are numbers past its range (`past`), version.

    >>> import widthwise as ww
    >>> found = ww.sweep(["mac(e5m10)", "mac(e5m2)"], [0.1, 0.3], [1.0, 2.0], metrics=["max_abs"])
    >>> found.best("max_abs").rows[0][0]
    'mac(e5m10)'
    """

    def __init__(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], meta: dict[str, Any]
    ) -> None:
        super().__init__(columns, rows)
        self.meta = meta

    def _title(self) -> str:
        """What is measured, and against what."""
        a, b = self.meta["a"], self.meta["b"]
        counted = ((note, self.meta[key]) for key, note in NOTES.items())
        told = "".join(f"; {note}: {count}" for note, count in counted if count)
        return f"errors of {a} x {b}, against {AGAINST[self.meta['against']]}{told}"

    def best(self, metric: str, count: int = 1) -> SweepResult:
        """The rows of the units with the least of a metric (of `exact`, with the most).

        count: how many, the best first.

        Raises:
            ValueError: a metric that was not measured; one that no unit has a finite value of.

        >>> import widthwise as ww
        >>> found = ww.sweep(["mac(e4m3)", "mac(e5m10)", "mac(e5m2)"], [0.1, 0.3], [1.0, 2.0])
        >>> found.best("rel_norm", 2)["unit"].tolist()
        ['mac(e5m10)', 'mac(e4m3)']
        """
        found = self.ordered(metric)
        if not np.isfinite(found[metric][:1]).all():
            raise ValueError(
                f"metric = {metric!r}: it is {found[metric][0]} of the best unit, "
                f"{said(found.rows[0][0])}: none is finite; {self._way_on()}"
            )
        if whole("count", count) < 1:
            raise ValueError("count = 0: one row at least is wanted")
        return SweepResult(self.columns, found.rows[:count], self.meta)

    def _way_on(self) -> str:
        if self.meta["no_number"] or self.meta["past"]:
            return (
                "exact values or results are no numbers of binary64: leave out NaN and infinities "
                "among the data; where products pass its range, scale the data by a power of two, "
                "or ask ww.study.accumulation, which has no such range"
            )
        return "take units of a wider range, or other data"

    def ordered(self, metric: str) -> SweepResult:
        """All rows, the best by a metric first; infinities and NaN stand last.

        Raises:
            ValueError: a metric that was not measured.

        >>> import widthwise as ww
        >>> found = ww.sweep(["mac(e2m3)", "mac(e5m10)"], [100.0], [1.0])
        >>> found.ordered("max_abs")["unit"].tolist()
        ['mac(e5m10)', 'mac(e2m3)']
        """
        if metric not in self.meta["metrics"]:
            raise ValueError(f"metric = {metric!r}: it may be {', '.join(self.meta['metrics'])}")
        values = self[metric] * (-1.0 if metric == "exact" else 1.0)
        order = np.argsort(values, kind="stable")
        return SweepResult(self.columns, [self.rows[i] for i in order], self.meta)


@asks_for("ww.sweep(['mac(e5m10)'], a, b)")
def sweep(
    units: Several,
    a: Any,
    b: Any,
    *,
    metrics: Sequence[str] | None = None,
    exact: Any = None,
    rounding: str = "rne",
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    against: str = "given",
    progress: Progress = None,
) -> SweepResult:
    """One matrix product by many units, against the exact product of the values as given.

    Each unit rounds a and b to its own formats first: what that loses counts, too, and two of the
    metrics tell it from what the accumulation loses.

    Args:
        units: texts, Units, a dictionary of them by names of your own, or a grid (`ww.grid`).
            Those with block scales take a's rows and b's columns as `ww.blocks` makes them.
        a, b: values, float64 or what becomes it exactly: (m, k) and (k, n), or vectors of k; or
            Blocks, whose codes the units with such scales take, and others what they stand for.
        metrics: of |computed - exact| over all outputs, which is infinite where one of both is no
            number, unless both are one infinity: 'max_abs', 'mean_abs'; relative to the exact
            output where that is not 0:
            'max_rel', 'mean_rel'; 'rel_norm', the Frobenius norm of the errors over that of the
            exact product; its parts 'of_operands', what rounding them cost, and 'of_accumulation',
            the rest, likewise; 'exact', the share of outputs without error; 'not_finite', how many
            are infinite or NaN. None: max_abs, rel_norm, its parts, exact and not_finite; a part
            takes one more exact product for each unit.
        exact: what to compare with, float64 (m, n). None: exact sums, rounded once to binary64;
            one past its range, or below it, is a number that no infinity or zero is the same as.
            A unit's result past its range has its true distance, as far as binary64 has that, and
            is counted in the title and in `meta`.
        rounding: of values to the units' formats.
        against: 'given', or 'operands': the exact product of each unit's own operands, which
            leaves out what rounding them cost; it has one part alone.
        engine, threads, seed: as in `ww.matmul`. On a GPU ('cuda', or 'auto' where that is
            faster) many units are computed and measured together; means and norms are summed in
            another order there, and may differ in their last digits.
        progress: called with (units done, of how many) as they are done, or True for a line on
            stderr.
    Returns:
        A SweepResult: a row for every unit.
    Raises:
        ValueError: no units, a metric that is not there, shapes that do not match, a unit that
            cannot be swept.

    >>> import widthwise as ww
    >>> found = ww.sweep(["mac(e5m2)", "mac(e5m10)"], [[1.0, 0.25]], [[3.0], [1.0]])
    >>> found["max_abs"].tolist()
    [0.25, 0.0]
    """
    listed = as_units(units)
    parameters = parameters_of(units, len(listed))
    wanted = checked_metrics(metrics, against, exact)
    check_request(listed, engine)
    given = tuple(z if isinstance(z, Blocks) else None for z in (a, b))
    x, y = values("a", a), values("b", b)
    if x.shape[-1] != y.shape[0]:
        raise ValueError(
            f"a is {x.shape} and b is {y.shape}; a's last axis and b's first must match"
        )
    options = {"threads": threads, "seed": seed}
    truth = exact_results(exact, x, y, options)
    request = Request(x, y, given, truth, rounding, engine, options, told(progress))
    found = request.measured(listed, wanted, against)
    rows = [
        (unit.text, str(unit), *row.values(), *(of_unit[name] for name in wanted))
        for unit, row, of_unit in zip(listed, parameters, found, strict=True)
    ]
    names = list(parameters[0])
    meta = {
        "a": x.shape,
        "b": y.shape,
        "rounding": rounding,
        "seed": seed,
        "engine": engine,
        "metrics": wanted,
        # Of unit's own operands, each has other ones.
        "no_number": int(np.count_nonzero(~np.isfinite(truth))) if against == "given" else None,
        "past": request.past,
        "against": "exact" if exact is not None else against,
        "version": core.build_info()["version"],
    }
    return SweepResult(["unit", "canonical", *names, *wanted], rows, meta)


def checked_metrics(metrics: Sequence[str] | None, against: str, exact: Any) -> list[str]:
    if against not in ("given", "operands"):
        raise ValueError(f"against = {against!r}: it may be 'given' or 'operands'")
    if against == "operands" and exact is not None:
        raise ValueError(
            "exact is given; against = 'operands' takes the exact product of each unit's own "
            "operands: leave one of them out"
        )
    apart = against == "given"
    if metrics is None:
        return [name for name in USUAL if apart or name not in PARTS]
    chosen = several("metrics", metrics)
    for name in chosen:
        if name not in ALL_METRICS:
            raise ValueError(f"metrics: {name!r} is none of {', '.join(ALL_METRICS)}")
        if name in PARTS and not apart:
            raise ValueError(f"metrics: {name!r} is a part of the error against = 'given'")
    return chosen


def exact_results(exact: Any, x: np.ndarray, y: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """float64 of the product's shape."""
    if exact is None:
        exact = exact_of(x, y, options)
    given, shape = doubles("exact", exact), computed_shape(x, y)
    if given.shape != shape:
        raise ValueError(
            f"exact is {given.shape}, the product of a and b is {shape}; they must be of one shape"
        )
    return given


def computed_shape(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    return (*a.shape[:-1], *b.shape[1:])


def check_request(units: Sequence[Unit], engine: str) -> None:
    check(engine)
    for unit in units:
        if unit.scale_format:
            try:
                block_formats(unit)
            except ValueError as why:
                raise ValueError(f"unit {said(unit.text)} scales its blocks: {why}") from None


def values(name: str, x: Any) -> np.ndarray:
    z = x.to_float64() if isinstance(x, Blocks) else doubles(name, x)
    if z.ndim not in (1, 2):
        raise ValueError(f"{name} is {z.shape}; a sweep takes matrices, or vectors of k")
    return z
