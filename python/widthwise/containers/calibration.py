"""The range that a scale is to cover, found from data by one of five methods, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._settings import integer
from .numbers import refuse_there
from .parameters import binary32

METHODS = ("minmax", "percentile", "mse", "entropy", "cross_entropy")
PERCENTILE = 99.99  # of data that a range covers, if nobody says otherwise
GRID = 100  # thresholds that mse and cross_entropy try, from the largest magnitude down
BINS = 2048  # of entropy's histogram
SLICE = 1 << 18
UNIT = 2.0**-53
LEAST_LOG = 2.0**-1022  # of what cross_entropy takes the logarithm
MARGIN = 1e-10  # past what a sum of 2,048 terms, whose magnitudes add up to 100 at most, loses

Range = tuple[Fraction, Fraction]


def check_method(method: Any, bits: Any, percentile: Any) -> None:
    if method not in METHODS:
        raise ValueError(f"method = {method!r}: it may be {', '.join(map(repr, METHODS))}")
    if percentile is not None:
        if method != "percentile":
            raise ValueError(f"percentile = {percentile} and method = '{method}'; leave it out")
        if (
            not isinstance(percentile, int | float | Fraction | np.number)
            or not 50 <= percentile <= 100
        ):
            raise ValueError(f"percentile = {percentile!r}: it may be 50 to 100, as 99.9")
    least, most = {"mse": (2, 24), "entropy": (2, 12), "cross_entropy": (2, 24)}.get(
        method, (1, 32)
    )
    if not least <= integer("bits", bits) <= most:
        raise ValueError(f"bits = {bits}: method '{method}' takes {least} to {most}")


def check_data(x: Any) -> None:
    refuse_there("calibration", x)
    if x.size == 0:
        raise ValueError(f"x has shape {x.shape}: an empty array has no range")
    if not np.isfinite(x).all():
        i = int(np.flatnonzero(~np.isfinite(x))[0])
        at = [int(n) for n in np.unravel_index(i, x.shape)] if x.shape else ""
        raise ValueError(
            f"x{at} is {x.reshape(-1)[i]}, which no range from data has; leave it out, as "
            "x[np.isfinite(x)]"
        )


def range_finder(method: str, bits: int, percentile: Any) -> Callable[[np.ndarray], Range]:
    """What finds the range of data by a method."""
    check_method(method, bits, percentile)

    def find(x: np.ndarray) -> Range:
        check_data(x)
        return found_range(method, x, bits, percentile)

    return find


def found_range(method: str, x: np.ndarray, bits: int, percentile: Any) -> Range:
    if method == "minmax":
        return Fraction(float(x.min())), Fraction(float(x.max()))
    if method == "percentile":
        p = Fraction(PERCENTILE if percentile is None else exact_number(percentile))
        return order_statistic(x, 100 - p), order_statistic(x, p)
    if method == "mse":
        t = mse_threshold(x, bits)
    elif method == "entropy":
        t = entropy_threshold(*histogram(x), bits)[0]
    else:
        t = cross_entropy_threshold([x.reshape(-1, x.shape[-1] if x.ndim else 1)], bits)
    return -t, t


def exact_number(x: Any) -> Any:
    return float(x) if isinstance(x, np.floating) else int(x) if isinstance(x, np.integer) else x


# --- Percentiles ----------------------------------------------------------------------------------


def order_statistic(x: np.ndarray, p: Fraction) -> Fraction:
    """Linear interpolation between order statistics at (n - 1) p / 100 (NumPy's `linear`)."""
    h = (x.size - 1) * p / 100
    i = min(math.floor(h), x.size - 1)
    j = min(i + 1, x.size - 1)
    ordered = np.partition(x, (i, j), axis=None)
    below, above = Fraction(float(ordered[i])), Fraction(float(ordered[j]))
    return below + (h - i) * (above - below)


# --- Squared error --------------------------------------------------------------------------------


def largest_magnitude(x: np.ndarray) -> Fraction:
    return Fraction(max(-float(x.min()), float(x.max())))


def grid_of(amax: Fraction, bits: int) -> list[tuple[Fraction, float]]:
    """Thresholds from the largest down, and the scale of each in binary32."""
    qmax = (1 << bits - 1) - 1
    steps = [amax * i / GRID for i in range(GRID, 0, -1)]
    scales = [binary32(t / qmax) for t in steps]
    if math.isinf(scales[0]):
        raise ValueError(f"x reaches {float(amax):g}, too far for a scale in binary32")
    return [(t, s or 1.0) for t, s in zip(steps, scales, strict=True)]


def symmetric_codes(x: np.ndarray, scale: float, bits: int) -> np.ndarray:
    """Nearest codes of one scale, zero point 0, in an integer type that holds them."""
    qmax = (1 << bits - 1) - 1
    codes = np.empty(x.shape, np.int8 if bits <= 8 else np.int16 if bits <= 16 else np.int32)
    scales = core.AffineScales([1, x.size, 1, 1, 0, 0, 0], np.array([scale]), np.zeros(1, np.int64))
    scales.quantise(x, codes, None, (-qmax, qmax), "exact", core.Env(), None, False, 0)
    return codes


def mse_threshold(x: np.ndarray, bits: int, weights: np.ndarray | None = None) -> Fraction:
    """The T = amax i / 100 whose codes have the least exact squared error, the larger on ties.

    Sums in binary64 choose but where they lie too near each other, which integers settle.
    """
    x = np.ascontiguousarray(x).reshape(-1)
    amax = largest_magnitude(x)
    if amax == 0:
        return amax
    grid = grid_of(amax, bits)
    errors = [squared_error(x, s, bits, weights) for _, s in grid]
    least = min(error + doubt for error, doubt in errors)
    contenders = [i for i, (error, doubt) in enumerate(errors) if error - doubt <= least]
    if len(contenders) == 1 or weights is not None:
        return grid[contenders[0]][0]
    exact = {s: exact_squared_error(x, s, bits) for s in {grid[i][1] for i in contenders}}
    return grid[min(contenders, key=lambda i: exact[grid[i][1]])][0]


def squared_error(
    x: np.ndarray, scale: float, bits: int, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """The sum of squares, in units of a power of two near the largest, and how far it may be off.

    A difference of two doubles is rounded once, its square once more, and NumPy adds 2^18 terms by
    pairs with fewer than 64 roundings on the way of each.
    """
    _, exponent = math.frexp(float(largest_magnitude(x)))
    total, slices = 0.0, 0
    for first in range(0, x.size, SLICE):
        part = x[first : first + SLICE]
        wide = part.astype(np.float64)
        wide -= symmetric_codes(part, scale, bits) * scale
        wide = np.ldexp(wide, -exponent)
        wide *= wide
        if weights is not None:
            wide *= weights[first : first + SLICE]
        total += float(wide.sum())
        slices += 1
    return total, total * (70 + slices) * UNIT + x.size * 2.0**-1000


def exact_squared_error(x: np.ndarray, scale: float, bits: int) -> int:
    """Of all elements, in units that all contenders share."""
    least = least_digit(x) if x.dtype == np.float64 else -149
    least = min(least, -149)  # a scale in binary32 has no lower digit
    step = int(Fraction(scale) / Fraction(2) ** least)
    codes = symmetric_codes(x, scale, bits)
    total = 0
    for q, v in zip(codes.tolist(), x.tolist(), strict=True):
        significand, exponent = math.frexp(v)
        shift = exponent - 53 - least
        whole = int(significand * 2.0**53)
        total += ((whole << shift if shift >= 0 else whole >> -shift) - q * step) ** 2
    return total


def least_digit(x: np.ndarray) -> int:
    """The exponent of a power of two of which all elements are multiples."""
    _, exponents = np.frexp(x[x != 0])
    return int(exponents.min()) - 53 if exponents.size else 0


# --- Entropy --------------------------------------------------------------------------------------


def histogram(x: np.ndarray, amax: Fraction | None = None) -> tuple[np.ndarray, Fraction]:
    """How many magnitudes lie in each of 2,048 bins up to the largest, and a bin's width."""
    amax = largest_magnitude(x) if amax is None else amax
    counts = np.zeros(BINS, np.int64)
    if amax == 0:
        counts[0] = x.size
        return counts, amax
    x = x.reshape(-1)
    for first in range(0, x.size, SLICE):
        counts += np.bincount(bins_of(x[first : first + SLICE], amax), minlength=BINS)
    return counts, amax / BINS


def bins_of(x: np.ndarray, amax: Fraction) -> np.ndarray:
    """floor(2048 |x| / amax), the last bin closed. A quotient that is an integer may have been
    rounded up to it."""
    magnitudes = np.abs(x).astype(np.float64)
    top, exponent = math.frexp(float(amax))
    quotients = np.ldexp(magnitudes, 11 - exponent) / top
    bins = quotients.astype(np.int64)
    if x.dtype == np.float64:
        borders = np.unique(magnitudes[(quotients == bins) & (magnitudes > 0)])
        for v in borders.tolist():
            bins[magnitudes == v] = math.floor(Fraction(v) * BINS / amax)
    return np.minimum(bins, BINS - 1)


def entropy_threshold(counts: np.ndarray, width: Fraction, bits: int) -> tuple[Fraction, int]:
    """The threshold of least Kullback-Leibler divergence over a histogram, and its bins.

    All divergences are worked out in NumPy's doubles; those that might be the least once more,
    each term rounded as it is written down (docs/semantics.md, A6).
    """
    levels = 1 << bits - 1
    n = len(counts)
    if width == 0:
        return Fraction(0), levels
    near = np.array([divergence(counts, i, levels) for i in range(levels, n + 1)])
    least = near.min()
    if math.isinf(least):
        return min((levels + Fraction(1, 2)) * width, n * width), levels
    contenders = np.flatnonzero(near <= least + MARGIN).tolist()
    best = contenders[0] + levels
    if len(contenders) > 1:
        best = min(
            (careful_divergence(counts, i + levels, levels), i + levels) for i in contenders
        )[1]
    return min((best + Fraction(1, 2)) * width, n * width), best


def merged(counts: np.ndarray, i: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P with the outliers, and of each bin the sum and the number of live bins of its group."""
    p = counts[:i].copy()
    p[i - 1] += counts[i:].sum()
    starts = np.arange(levels) * (i // levels)
    sums = np.add.reduceat(counts[:i], starts)
    live = np.add.reduceat((p > 0).astype(np.int64), starts)
    sizes = np.diff([*starts, i])
    return p, np.repeat(sums, sizes), np.repeat(live, sizes)


def divergence(counts: np.ndarray, i: int, levels: int) -> float:
    """KL(P || Q), infinite where P has what Q has not."""
    p, sums, live = merged(counts, i, levels)
    at = p > 0
    if (sums[at] == 0).any():
        return math.inf
    share = p[at] / p.sum()
    q = sums[at] / (live[at] * float(counts[:i].sum()))
    return float((share * np.log(share / q)).sum())


def careful_divergence(counts: np.ndarray, i: int, levels: int) -> float:
    p, sums, live = merged(counts, i, levels)
    total_p, total_q = int(p.sum()), int(counts[:i].sum())
    parts = zip(p.tolist(), sums.tolist(), live.tolist(), strict=True)
    return math.fsum(
        n / total_p * math.log(n * total_q * bins / (total_p * s)) for n, s, bins in parts if n
    )


# --- Cross-entropy --------------------------------------------------------------------------------


def cross_entropy_threshold(tables: Iterable[np.ndarray], bits: int) -> Fraction:
    """The T = amax i / 100 of least mean -sum softmax(x) ln softmax(x') over rows.

    As entropy's: NumPy's doubles choose those that might be the least.
    """
    tables = [np.ascontiguousarray(table) for table in tables]
    amax = max(map(largest_magnitude, tables))
    if amax == 0:
        return amax
    grid = grid_of(amax, bits)
    near = np.array([sum(cross_entropy(t, s, bits) for t in tables) for _, s in grid])
    # A share of a row of n is off by n + 5 units at most, and its logarithm, at most 709, likewise.
    doubt = sum(t.size for t in tables) * 2e-13
    contenders = np.flatnonzero(near <= near.min() + doubt).tolist()
    if len(contenders) == 1:
        return grid[contenders[0]][0]
    careful = {s: careful_cross_entropy(tables, s, bits) for s in {grid[i][1] for i in contenders}}
    return grid[min(contenders, key=lambda i: careful[grid[i][1]])][0]


def dequantised(table: np.ndarray, scale: float, bits: int) -> np.ndarray:
    return symmetric_codes(table.reshape(-1), scale, bits).reshape(table.shape) * scale


def softmax(table: np.ndarray) -> np.ndarray:
    powers = np.exp(table - table.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def cross_entropy(table: np.ndarray, scale: float, bits: int) -> float:
    q = np.maximum(softmax(dequantised(table, scale, bits)), LEAST_LOG)
    return float(-(softmax(table.astype(np.float64)) * np.log(q)).sum())


def careful_cross_entropy(tables: list[np.ndarray], scale: float, bits: int) -> float:
    total = 0.0
    for table in tables:
        rows = zip(table.tolist(), dequantised(table, scale, bits).tolist(), strict=True)
        for given, came in rows:
            p, q = careful_softmax(given), careful_softmax(came)
            total -= math.fsum(a * math.log(max(b, LEAST_LOG)) for a, b in zip(p, q, strict=True))
    return total


def careful_softmax(row: list[float]) -> list[float]:
    largest = max(row)
    powers = [math.exp(v - largest) for v in row]
    total = math.fsum(powers)
    return [power / total for power in powers]
