"""Counts of numbers that lie near each other, which add up whatever the order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .calibration import BINS, bins_of, largest_magnitude

LOST = 41  # of a binary64's 52 fraction bits
HALF = np.int64(1 << LOST - 1)


Counts = tuple[np.ndarray, np.ndarray]  # keys, and how often each occurs


def counted(x: np.ndarray) -> Counts:
    """A double's upper bits as integers, which are sorted."""
    doubles = np.ascontiguousarray(x, np.float64).reshape(-1) + 0.0  # no -0
    return np.unique(doubles.view(np.int64) >> LOST, return_counts=True)


class Batch:
    """Numbers as a calibrator asks for them: these lie here."""

    def __init__(self, numbers: np.ndarray) -> None:
        self._numbers = numbers

    @property
    def size(self) -> int:
        return self._numbers.size

    def ends(self) -> tuple[float, float]:
        return float(self._numbers.min()), float(self._numbers.max())

    def values(self) -> np.ndarray:
        """To be kept."""
        return self._numbers.copy()

    def counts(self) -> Counts:
        return counted(self._numbers)


class Sketch:
    """How often magnitudes occur, to 11 fraction bits, by sign."""

    def __init__(self) -> None:
        self.keys = np.empty(0, np.int64)
        self.counts = np.empty(0, np.int64)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.counts.nbytes

    def add(self, keys: np.ndarray, counts: np.ndarray) -> None:
        both = np.concatenate([self.keys, keys])
        self.keys, where = np.unique(both, return_inverse=True)
        weights = np.concatenate([self.counts, counts])
        self.counts = np.zeros(len(self.keys), np.int64)
        np.add.at(self.counts, where, weights)

    def values(self, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """The middle of each count's numbers, none past the ends, in ascending order; counts."""
        middles = ((self.keys << LOST) | HALF).view(np.float64)
        middles = np.where(self.keys == 0, 0.0, middles).clip(low, high)
        order = np.argsort(middles, kind="stable")
        values = middles[order]
        values[0], values[-1] = low, high
        return values, self.counts[order]


def weighted_order_statistic(values: np.ndarray, counts: np.ndarray, p: Fraction) -> Fraction:
    """As of the values, each as often as it counts."""
    ends = np.cumsum(counts)
    h = (int(ends[-1]) - 1) * p / 100
    i = math.floor(h)
    at = np.searchsorted(ends, [i, min(i + 1, int(ends[-1]) - 1)], side="right")
    below, above = (Fraction(float(values[j])) for j in at)
    return below + (h - i) * (above - below)


def weighted_histogram(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, Fraction]:
    amax = largest_magnitude(values)
    bins = np.zeros(BINS, np.int64)
    if amax == 0:
        bins[0] = counts.sum()
    else:
        np.add.at(bins, bins_of(values, amax), counts)
    return bins, amax / BINS
