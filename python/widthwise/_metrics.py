"""Metrics of a sweep: how far results lie from exact ones, an infinity or NaN without end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np


class Errors:
    """What metrics are made of: computed and exact results, float64 of one shape.

    Outputs whose exact result is no number are left out. Where it is one and the computed is not,
    that is an infinite error.
    """

    def __init__(self, computed: np.ndarray, exact: np.ndarray) -> None:
        known = np.isfinite(exact)
        self.exact = exact[known]
        self.finite = np.isfinite(computed[known])
        with np.errstate(over="ignore", invalid="ignore"):
            distance = np.abs(computed[known] - self.exact)
        self.absolute = np.where(self.finite, distance, np.inf)
        self.computed = computed

    @property
    def relative(self) -> np.ndarray:
        """Of exact results other than 0, and of all that were computed to be no number."""
        counts = (self.exact != 0) | ~self.finite
        with np.errstate(divide="ignore", over="ignore"):
            return self.absolute[counts] / np.abs(self.exact[counts])


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
    return over(norm(e.absolute), norm(e.exact))


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


def norm_of_error(x: np.ndarray, y: np.ndarray, exact: np.ndarray) -> float:
    """Of x - y, where the exact result is a number; infinite where one of them alone is."""
    known = np.isfinite(exact)
    x, y = x[known], y[known]
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0, np.abs(x - y))
    return norm(np.where(np.isnan(distance), np.inf, distance))
