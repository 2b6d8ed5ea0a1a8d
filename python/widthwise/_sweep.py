"""Sweeps: one matrix product by many units, and how far each strays from the exact one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from . import _widthwise as core
from ._array import Array
from ._create import array
from ._device import gpu_of
from ._dot import matmul
from ._engines import check
from ._settings import several
from ._table import Findings
from ._unit import Several, Unit, as_unit, as_units

# Of exact double operands: binary64's own products fill 106 digits, which this register holds.
EXACT = "kulisch(binary64)"


class Errors:
    """What metrics are made of: computed and exact results, float64 of one shape."""

    def __init__(self, computed: np.ndarray, exact: np.ndarray) -> None:
        self.usable = np.isfinite(computed) & np.isfinite(exact)
        self.exact = exact[self.usable]
        with np.errstate(over="ignore"):
            self.absolute = np.abs(computed[self.usable] - self.exact)
        self.computed = computed

    @property
    def relative(self) -> np.ndarray:
        """Of exact results other than 0."""
        magnitude = np.abs(self.exact)
        return self.absolute[magnitude > 0] / magnitude[magnitude > 0]


def at_most(values: np.ndarray) -> float:
    return float(values.max()) if values.size else float("nan")


def average(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")


def norm(values: np.ndarray) -> float:
    """The root of the sum of squares, whatever their size."""
    largest = at_most(np.abs(values))
    if not largest > 0:
        return largest
    return float(largest * np.sqrt(np.sum((values / largest) ** 2)))


def relative_norm(e: Errors) -> float:
    error, whole = norm(e.absolute), norm(e.exact)
    return error / whole if whole > 0 else (0.0 if error == 0 else float("inf"))


TOGETHER = 64  # units on a GPU: what one launch takes
METRICS: Mapping[str, Callable[[Errors], float]] = {
    "max_abs": lambda e: at_most(e.absolute),
    "mean_abs": lambda e: average(e.absolute),
    "max_rel": lambda e: at_most(e.relative),
    "mean_rel": lambda e: average(e.relative),
    "rel_norm": relative_norm,
    "exact": lambda e: float(np.count_nonzero(e.absolute == 0) / max(1, e.computed.size)),
    "not_finite": lambda e: float(np.count_nonzero(~np.isfinite(e.computed))),
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
    chosen = [several(name, values) for name, values in parameters.items()]
    for name in parameters:
        if "{" + name not in text:
            raise ValueError(
                f"{name} is no parameter of {text!r}: write {{{name}}} where it stands there"
            )
    if (count := math.prod(map(len, chosen))) > MOST_UNITS:
        raise ValueError(
            f"a grid of {count:,} units; {MOST_UNITS:,} are the most: take fewer values of one"
        )
    rows = [dict(zip(parameters, values, strict=True)) for values in product(*chosen)]
    try:
        return Grid([text.format(**row) for row in rows], rows)
    except KeyError as missing:
        raise ValueError(
            f"{text!r} has a parameter {missing.args[0]} without values: give {missing.args[0]}=[…]"
        ) from None


def parameters_of(units: Several, count: int) -> Sequence[dict[str, Any]]:
    """What each of so many units is called beside its text."""
    if isinstance(units, Grid):
        return units.parameters
    return [{"name": name} for name in units] if isinstance(units, Mapping) else [{}] * count


class SweepResult(Findings):
    """A row for every unit: its text, a grid's parameters or a dictionary's name, and the metrics.

    Attributes:
        meta: what the figures belong to: shapes, rounding, seed, engine, metrics and version.

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

    def best(self, metric: str, count: int = 1) -> SweepResult:
        """The rows of the units with the least of a metric (of `exact`, with the most).

        count: how many, the best first.

        >>> import widthwise as ww
        >>> found = ww.sweep(["mac(e4m3)", "mac(e5m10)", "mac(e5m2)"], [0.1, 0.3], [1.0, 2.0])
        >>> found.best("rel_norm", 2)["unit"].tolist()
        ['mac(e5m10)', 'mac(e4m3)']
        """
        values = self[metric] * (-1.0 if metric == "exact" else 1.0)
        order = np.argsort(values, kind="stable")[:count]
        return SweepResult(self.columns, [self.rows[i] for i in order], self.meta)


def sweep(
    units: Several,
    a: Any,
    b: Any,
    *,
    metrics: Sequence[str] = ("max_abs", "rel_norm", "exact", "not_finite"),
    exact: Any = None,
    rounding: str = "rne",
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> SweepResult:
    """One matrix product by many units, against the exact product of the given values.

    Each unit rounds a and b to its own formats first: what that loses counts, too.

    Args:
        units: texts, Units, a dictionary of them by names of your own, or a grid (`ww.grid`).
            Units with block scales are not swept.
        a, b: values, float64 or what becomes it exactly: (m, k) and (k, n), or vectors of k.
        metrics: of |computed - exact| over all outputs that are numbers: 'max_abs', 'mean_abs';
            relative to the exact output where that is not 0: 'max_rel', 'mean_rel'; 'rel_norm',
            the Frobenius norm of the errors over that of the exact product; 'exact', the share
            of outputs without error; 'not_finite', how many are infinite or NaN.
        exact: what to compare with, float64 (m, n). None: exact sums, rounded once to binary64.
        rounding: of values to the units' formats.
        engine, threads, seed: as in `ww.matmul`. On a GPU ('cuda', or 'auto' where that is
            faster) many units are computed and measured together; means and norms are summed in
            another order there, and may differ in their last digits.
        progress: called with (units done, of how many) as they are done.
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
    check_request(listed, metrics, engine)
    x, y = values("a", a), values("b", b)
    if x.shape[-1] != y.shape[0]:
        raise ValueError(
            f"a is {x.shape} and b is {y.shape}; a's last axis and b's first must match"
        )
    options = {"threads": threads, "seed": seed}
    if exact is None:
        exact = product_of(as_unit(EXACT), x, y, rounding, "auto", options)
    wanted = np.asarray(exact, dtype=np.float64)
    shape = computed_shape(x, y)
    if wanted.shape != shape:
        raise ValueError(
            f"exact is {wanted.shape}, the product of a and b is {shape}; they must be of one shape"
        )
    request = Request(x, y, wanted, rounding, engine, options, progress)
    found = request.measured(listed, metrics)
    rows = [
        (str(unit), *row.values(), *(of_unit[name] for name in metrics))
        for unit, row, of_unit in zip(listed, parameters, found, strict=True)
    ]
    names = list(parameters[0])
    meta = {
        "a": x.shape,
        "b": y.shape,
        "rounding": rounding,
        "seed": seed,
        "engine": engine,
        "metrics": list(metrics),
        "version": core.build_info()["version"],
    }
    return SweepResult(["unit", *names, *metrics], rows, meta)


class Request:
    """What is computed of every unit."""

    def __init__(
        self,
        a: np.ndarray,
        b: np.ndarray,
        exact: np.ndarray,
        rounding: str,
        engine: str,
        options: dict[str, Any],
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self.a, self.b, self.exact = a, b, exact
        self.rounding, self.engine, self.options = rounding, engine, options
        self.progress = progress or (lambda done, of: None)

    def measured(self, units: list[Unit], metrics: Sequence[str]) -> list[dict[str, float]]:
        """The metrics of each unit: on a GPU many together, and elsewhere one by one."""
        found: dict[int, dict[str, float]] = {}
        gpus = {i: gpu for i, unit in enumerate(units) if (gpu := self.gpu(unit)) is not None}
        if gpus:
            there = self.sweep_on(next(iter(gpus.values())))
        for part in batched(list(gpus), TOGETHER):
            of_part = there.run([units[i]._core for i in part], self.options["seed"])
            rows = [dict(zip(METRICS, values, strict=True)) for values in of_part]
            found |= zip(part, rows, strict=True)
            self.progress(len(found), len(units))
        for i, unit in enumerate(units):
            if i not in found:
                errors = Errors(self.product(unit), self.exact)
                found[i] = {name: METRICS[name](errors) for name in metrics}
                self.progress(len(found), len(units))
        return [found[i] for i in range(len(units))]

    def product(self, unit: Unit) -> np.ndarray:
        return product_of(unit, self.a, self.b, self.rounding, self.engine, self.options)

    def gpu(self, unit: Unit) -> int | None:
        """The GPU that measures a unit; None where an engine computes its product."""
        k = self.a.shape[-1]
        if self.engine == "auto":
            best = core.PreparedUnit(unit._core, k, None).opinions(False, self.exact.size)[0][0]
        else:
            best = self.engine
        if not best.startswith("cuda") or best not in core.engine_names() or self.has_nan:
            return None
        return None if core.why_no_sweep(unit._core, k) else gpu_of(best)

    @cached_property
    def has_nan(self) -> bool:
        """Then `array` has to say what a format does with it."""
        return bool(np.isnan(self.a).any() or np.isnan(self.b).any())

    def sweep_on(self, gpu: int) -> core.DeviceSweep:
        """The values, on a GPU; vectors as matrices."""
        a, b = np.atleast_2d(self.a), self.b.reshape(self.b.shape[0], -1)
        exact = self.exact.reshape(a.shape[0], b.shape[1])
        x, y, z = (np.ascontiguousarray(values) for values in (a, b, exact))
        return core.DeviceSweep(gpu, x, y, z, self.rounding)


def batched(items: list[int], most: int) -> Iterator[list[int]]:
    return (items[first : first + most] for first in range(0, len(items), most))


def computed_shape(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    return (*a.shape[:-1], *b.shape[1:])


def check_request(units: Sequence[Unit], metrics: Sequence[str], engine: str) -> None:
    check(engine)
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"metrics: {name!r} is none of {', '.join(METRICS)}")
    for unit in units:
        if unit.scale_format:
            raise ValueError(f"unit {unit} scales its blocks; a sweep has no scales to give it")


def values(name: str, x: Any) -> np.ndarray:
    if isinstance(x, Array):
        return x.to_float64()
    z = np.asarray(x, dtype=np.float64)
    if z.ndim not in (1, 2):
        raise ValueError(f"{name} is {z.shape}; a sweep takes matrices, or vectors of k")
    return z


def product_of(
    unit: Unit, a: np.ndarray, b: np.ndarray, rounding: str, engine: str, options: dict[str, Any]
) -> np.ndarray:
    x, y = array(a, unit.a, rounding=rounding), array(b, unit.b, rounding=rounding)
    z = matmul(x, y, unit=unit, engine=engine, **options)
    return np.asarray(z.to_float64(rounding="rne"))
