"""What became of a file's numbers: counts, and errors against what they were."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _codes
from .._array import Array
from .._compare import CLASSES, class_numbers
from ..containers.chunks import Piece
from ..containers.stored import scales_of

OVERFLOW = 4
FLAGS = {"inexact": 1, "underflow": 2, "overflow": OVERFLOW}
KINDS = {"zero": 1, "subnormal": 2, "infinity": 4, "nan": 8}  # bits, by the ends of classes' names
MASKS = np.array([KINDS.get(name.split("_")[-1], 0) for name in CLASSES], np.uint8)
INFINITE = (MASKS & KINDS["infinity"]) != 0
FINITE = (MASKS & (KINDS["infinity"] | KINDS["nan"])) == 0


class Errors:
    """Of one array's numbers, added up piece by piece."""

    def __init__(self) -> None:
        self.compared = 0
        self.largest = self.sum = 0.0
        self.signal = self.noise = np.longdouble(0)  # squares of doubles overflow in doubles

    def compare(self, x: np.ndarray, z: np.ndarray) -> None:
        """The errors of numbers, none of them NaN; a result that is not finite is infinitely far,
        and so is any number from an infinity."""
        with np.errstate(all="ignore"):
            error = np.where(np.isfinite(z), np.abs(z - x), np.inf)
            self.largest = max(self.largest, float(error.max(initial=0.0)))
            self.sum += float(error.sum())
            self.signal += squares(x)
            self.noise += squares(error)
        self.compared += x.size

    def mean(self) -> float:
        return self.sum / self.compared if self.compared else 0.0

    def snr(self) -> float:
        """Signal to noise in decibels: infinite where nothing was lost."""
        if self.noise == 0:
            return math.inf
        if self.signal == 0 or np.isinf(self.noise):
            return -math.inf
        return float(10 * (np.log10(self.signal) - np.log10(self.noise)))


def squares(x: np.ndarray) -> Any:
    """Their sum; in a longer format where a double's range may not do."""
    total = float(np.square(x).sum())
    if 1e-280 < total < math.inf:
        return np.longdouble(total)
    longer = x.astype(np.longdouble)
    return np.square(longer).sum()


class Tally(Errors):
    """Of one array that is rounded, flags and classes too."""

    def __init__(self, name: str, holds: str) -> None:
        super().__init__()
        self.name = name
        self.holds = holds
        self.counts = dict.fromkeys(
            [*FLAGS, "zero", "subnormal", "saturated", "infinite", "nan"], 0
        )
        self.numbers = 0

    def add(self, x: Array, z: Array, flags: np.ndarray) -> None:
        before, after = class_numbers(x), class_numbers(z)
        self.numbers += z.size
        for name, bit in FLAGS.items():
            self.counts[name] += int(np.count_nonzero(flags & bit))
        became = MASKS[after] & ~MASKS[before]
        for kind, bit in KINDS.items():
            name = "infinite" if kind == "infinity" else kind
            self.counts[name] += int(np.count_nonzero(became & bit))
        self.counts["saturated"] += int(np.count_nonzero(FINITE[after] & (flags & OVERFLOW != 0)))
        given, now = _codes.to_float64(x, "rne"), _codes.to_float64(z, "rne")
        told = FINITE[before] | (INFINITE[before] & (given != now))
        self.compare(given[told], now[told])

    def facts(self) -> dict[str, Any]:
        return {
            "array": self.name or "-",
            "holds": self.holds,
            "numbers": self.numbers,
            **self.counts,
            "largest_error": self.largest,
            "mean_error": self.mean(),
            "snr_db": self.snr(),
        }


class Told(Errors):
    """Of one tensor that is quantised with scales."""

    def __init__(self, x: Any) -> None:
        super().__init__()
        self.plan = x
        self.numbers = self.zero = self.saturated = self.infinite = self.nan = 0

    def add(self, p: Piece) -> None:
        x, z = p.given, p.values
        with np.errstate(all="ignore"):
            self.saturated += p.saturated
            self.zero += int(np.count_nonzero(z == 0) - np.count_nonzero((x == 0) & (z == 0)))
            if np.isfinite(z.sum()):
                self.compare(x, z)
            else:
                self.add_unusual(x, z)
        self.numbers += x.size

    def add_unusual(self, x: np.ndarray, z: np.ndarray) -> None:
        finite = np.isfinite(x)
        self.infinite += int(np.count_nonzero(np.isinf(z) & finite))
        self.nan += int(np.count_nonzero(np.isnan(z) & ~np.isnan(x)))
        told = finite | (np.isinf(x) & (x != z))  # an infinity that stays has no error
        self.compare(x[told], z[told])

    def facts(self) -> dict[str, Any]:
        return {
            "array": self.plan.name,
            "holds": self.plan.holds,
            "format": self.plan.how.format,
            "scale": scales_of(self.plan.how.format, self.plan.how.scale),
            "shape": list(self.plan.shape),
            "numbers": self.numbers,
            "bytes": sum(x.size for x in self.plan.parts.values()),
            "zero": self.zero,
            "saturated": self.saturated,
            "infinite": self.infinite,
            "nan": self.nan,
            "largest_error": self.largest,
            "mean_error": self.mean(),
            "snr_db": self.snr(),
        }
