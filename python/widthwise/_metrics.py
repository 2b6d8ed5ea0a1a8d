"""Metrics of a sweep: how far results lie from exact ones, without end where one is no number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._swept import Results


class Errors:
    """What metrics are made of: computed and exact results, float64 of one shape.

    An error is infinite where one of both is no number, as in studies; but an infinity that is the
    exact result has none. `results` has those computed that binary64 does not hold.
    """

    def __init__(
        self, computed: np.ndarray, exact: np.ndarray, results: Results | None = None
    ) -> None:
        self.computed, self.exact = computed, exact
        finite = np.isfinite(computed) & np.isfinite(exact)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = np.where(finite, np.abs(computed - exact), np.inf)
        self.absolute = np.where(computed == exact, 0, distance)
        self.past: tuple[np.ndarray, np.ndarray] | None = None  # where, and their ratios
        if results is not None and results.past.any():
            self.absolute[results.past], ratios = results.distances(exact)
            self.past = results.past, ratios

    @property
    def relative(self) -> np.ndarray:
        """Of exact results other than 0, and of all errors without end."""
        endless = np.isinf(self.absolute)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = np.where(endless, np.inf, self.absolute / np.abs(self.exact))
        if self.past is not None:
            where, ratios = self.past
            ratio[where] = ratios
        return ratio[(self.exact != 0) | endless]


def magnitude(error: np.ndarray) -> np.ndarray:
    """What is no number is an infinite error."""
    return np.where(np.isnan(error), np.inf, np.abs(error))


def at_most(values: np.ndarray) -> float:
    return float(values.max()) if values.size else float("nan")


def average(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")


def norm(values: np.ndarray) -> float:
    """The root of the sum of squares, whatever their size."""
    largest = at_most(np.abs(values))
    if not 0 < largest < np.inf:
        return largest
    return float(largest * np.sqrt(np.sum((values / largest) ** 2)))


def relative_norm(e: Errors) -> float:
    return over(norm(e.absolute), norm_of_numbers(e.exact))


def norm_of_numbers(values: np.ndarray) -> float:
    """Of those that are finite."""
    return norm(values[np.isfinite(values)])


def over(error: float, whole: float) -> float:
    if whole > 0 or np.isnan(error):
        return error / whole
    return 0.0 if error == 0 else float("inf")


# Of one product's results, in the order in which a GPU tells them.
METRICS: Mapping[str, Callable[[Errors], float]] = {
    "max_abs": lambda e: at_most(e.absolute),
    "mean_abs": lambda e: average(e.absolute),
    "max_rel": lambda e: at_most(e.relative),
    "mean_rel": lambda e: average(e.relative),
    "rel_norm": relative_norm,
    "exact": lambda e: float(np.count_nonzero(e.absolute == 0) / max(1, e.computed.size)),
    "not_finite": lambda e: int(np.count_nonzero(~np.isfinite(e.computed))),
}
# The two parts of rel_norm: what rounding the operands cost, and the accumulation.
PARTS = ("of_operands", "of_accumulation")
ALL_METRICS = (*METRICS, *PARTS)
USUAL = ("max_abs", "rel_norm", *PARTS, "exact", "not_finite")


def as_metrics(values: Iterable[float]) -> dict[str, float]:
    found: dict[str, float] = dict(zip(METRICS, values, strict=True))
    return found | {"not_finite": int(found["not_finite"])}


def norm_of_error(x: np.ndarray, y: np.ndarray, results: Results | None = None) -> float:
    """Of x - y; infinite where one of them alone is a number."""
    return norm(np.where(np.isnan(x) & np.isnan(y), 0, Errors(x, y, results).absolute))
