"""What a calibrator saw, the range that each method makes of it, and what each loses."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._table import Table
from ..study.plots import COLOURS, Look, gaps, mark_aside
from .calibration import (
    GRID,
    METHODS,
    check_method,
    found_range,
    grid_of,
    largest_magnitude,
    symmetric_codes,
)
from .calibrator import weighted_range
from .parameters import binary32

if TYPE_CHECKING:
    from .calibrator import Calibrator

SHOWN = ("minmax", "percentile", "mse", "entropy")
COLUMNS = ["method", "lo", "hi", "mean squared error", "clamped"]
MOST_BINS = 200
NEAR = 80  # of an axis: a share of it that a mark takes
GREY = "#7a7f87"


def ranges(c: Calibrator) -> dict[str, tuple[Fraction, Fraction]]:
    """What each method chooses that takes this many bits; the calibrator's own first."""
    values, counts = c._counted()
    found = {c.method: c.range(exact=True)}
    for method in SHOWN:
        if method in found:
            continue
        try:
            check_method(method, c.bits, None)
        except ValueError:
            continue
        found[method] = (
            found_range(method, values, c.bits, None)
            if counts is None
            else weighted_range(method, values, counts, c.bits)
        )
    return {method: found[method] for method in METHODS if method in found}


def error_of(values: np.ndarray, counts: np.ndarray | None, t: Fraction, bits: int) -> float:
    """The mean squared error of symmetric codes to a threshold."""
    scale = binary32(t / ((1 << bits - 1) - 1)) or 1.0
    lost = values.astype(np.float64) - symmetric_codes(values, scale, bits) * scale
    return float(np.average(lost * lost, weights=counts))


def thresholds(c: Calibrator) -> Table:
    values, counts = c._counted()
    total = c.count
    listed = []
    for method, (lo, hi) in ranges(c).items():
        past = (values < float(lo)) | (values > float(hi))
        clamped = int(past.sum() if counts is None else counts[past].sum())
        error = error_of(values, counts, max(-lo, hi), c.bits)
        listed.append((method, float(lo), float(hi), error, f"{clamped} of {total}"))
    return Table(COLUMNS, listed)


def draw(c: Calibrator, ax: Any, title: str | None) -> Any:
    values, counts = c._counted()
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(2, 1, figsize=(8, 6), layout="constrained", sharex=True)
    above, below = ax
    found = ranges(c)
    draw_histogram(above, values, counts)
    draw_errors(below, values, counts, c.bits)
    thresholds = {method: max(-lo, hi) for method, (lo, hi) in found.items()}
    for i, (method, t) in enumerate(thresholds.items()):
        look, error = Look(i + 1), error_of(values, counts, t, c.bits)
        alike = [other for other, x in thresholds.items() if near(x, t, max(thresholds.values()))]
        place, n = alike.index(method), len(alike)
        above.axvline(
            float(t),
            color=look.colour,
            lw=1.6,
            ls=gaps(place, n),
            label=f"{method}: {float(t):.4g}",
        )
        label = f"{method}: {error:.3g}"
        mark_aside(below, below.transData, [float(t)], [error], look, place, n, label)
    above.set_ylabel("magnitudes in a bin")
    below.set_ylabel("mean squared error")
    below.set_xlabel(f"threshold of {c.bits}-bit symmetric codes")
    if title is not None:
        above.set_title(title)
    for each in ax:
        beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
        legend = each.legend(fontsize="small", frameon=False, **beside)
        for line in legend.get_lines() if each is above else []:
            line.set_linestyle("-")  # nothing to give way to
    return ax


def near(x: Fraction, y: Fraction, most: Fraction) -> bool:
    """Whether marks there would hide each other."""
    return abs(x - y) * NEAR <= most


def draw_histogram(ax: Any, values: np.ndarray, counts: np.ndarray | None) -> None:
    magnitudes = np.abs(values)
    top = float(largest_magnitude(values)) or 1.0
    often, edges = np.histogram(magnitudes, MOST_BINS, (0, top), weights=counts)
    ax.stairs(often, edges, fill=True, color=COLOURS[0], alpha=0.5)
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.7)


def draw_errors(ax: Any, values: np.ndarray, counts: np.ndarray | None, bits: int) -> None:
    amax = largest_magnitude(values)
    if amax == 0:
        return
    grid = [t for t, _ in grid_of(amax, bits)][:: -(GRID // 50)]
    errors = [error_of(values, counts, t, bits) for t in grid]
    ax.plot([float(t) for t in grid], errors, color=GREY, lw=1.4)
    ax.set_yscale("log")
