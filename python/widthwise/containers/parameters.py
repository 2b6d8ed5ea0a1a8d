"""Scales and zero points from ranges, each rounded once from its exact value."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .scheme import Scheme

SCALE_FORMATS: dict[str, Any] = {"binary32": np.float32, "binary64": np.float64}
LOW_DIGITS = 29  # a double's that a float has not
MIDDLE = 1 << LOW_DIGITS - 1
NEAR = 8  # a quotient of doubles is off by less, in its last digits


def scale_dtype(scale_format: Any) -> Any:
    if scale_format not in SCALE_FORMATS:
        raise ValueError(f"scale_format = {scale_format!r}: it may be 'binary32' or 'binary64'")
    return SCALE_FORMATS[scale_format]


def binary32(x: Fraction) -> float:
    """To nearest even, of a number not below zero."""
    if x <= 0:
        return 0.0
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent -= x < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(x / step) * step  # Python's round is to even
    return float(rounded) if rounded < Fraction(2) ** 128 else math.inf


def kept(x: Fraction, dtype: Any) -> float:
    if dtype is np.float32:
        return binary32(x)
    try:
        return float(x)  # correctly rounded
    except OverflowError:
        return math.inf


def parameters(
    lo: np.ndarray, hi: np.ndarray, scheme: Scheme, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Scales of a dtype and zero points (int64) of ranges: of floats, or of exact numbers."""
    check_finite(lo, hi)
    if lo.dtype.kind == "f":
        lo, hi = lo.astype(np.float64), hi.astype(np.float64)
    # A zero in place of a Fraction would else be NumPy's, whose products overflow.
    lo, hi = np.asarray(np.minimum(lo, 0), lo.dtype), np.asarray(np.maximum(hi, 0), hi.dtype)
    numerator, divisor = range_over(lo, hi, scheme)
    if lo.dtype.kind == "f" and dtype is np.float32:
        scales = quotients32(numerator, lo, hi, divisor, scheme)
    else:
        wide = [exact_numerator(a, b, scheme) for a, b in zip(flat(lo), flat(hi), strict=True)]
        scales = np.array([kept(x / divisor, dtype) for x in wide], dtype).reshape(lo.shape)
    if not np.isfinite(scales).all():
        i = int(np.flatnonzero(~np.isfinite(scales))[0])
        raise ValueError(
            f"the range {float(flat(lo)[i]):g} to {float(flat(hi)[i]):g} is too wide for a scale "
            f"in {np.dtype(dtype)}; pass scale_format='binary64', or a narrower range="
        )
    nothing = scales == 0
    scales = np.where(nothing, dtype(1), scales).astype(dtype)
    if scheme.name != "asymmetric":
        return scales, np.full(lo.shape, scheme.zero, np.int64)
    zeros = scheme.qmin - nearest(lo, scales)
    zeros = np.where(nothing, max(scheme.qmin, min(0, scheme.qmax)), zeros)
    return scales, np.clip(zeros, scheme.qmin, scheme.qmax)


def check_finite(lo: np.ndarray, hi: np.ndarray) -> None:
    for name, side in (("least", lo), ("largest", hi)):
        for x in flat(side) if side.dtype.kind == "O" else side[~np.isfinite(side)].tolist():
            if isinstance(x, float) and not math.isfinite(x):
                raise ValueError(
                    f"the {name} element is {x}, which no range from data has; pass range=(lo, "
                    "hi), or scale= and zero_point=, into which infinities clamp"
                )


def range_over(lo: np.ndarray, hi: np.ndarray, scheme: Scheme) -> tuple[np.ndarray, int]:
    """What the scale is a quotient of; the former is rounded where it is of floats."""
    if scheme.name == "asymmetric":
        with np.errstate(over="ignore"):
            return hi - lo, scheme.qmax - scheme.qmin
    amax = np.maximum(-lo, hi)
    if scheme.name == "symmetric":
        return amax, scheme.qmax
    with np.errstate(over="ignore"):
        return amax * 2, scheme.qmax - scheme.qmin


def exact_numerator(lo: Any, hi: Any, scheme: Scheme) -> Fraction:
    if scheme.name == "asymmetric":
        return Fraction(hi) - Fraction(lo)
    return max(-Fraction(lo), Fraction(hi)) * (1 if scheme.name == "symmetric" else 2)


def quotients32(
    numerator: np.ndarray, lo: np.ndarray, hi: np.ndarray, divisor: int, scheme: Scheme
) -> np.ndarray:
    """Rounded from doubles, but where these lie near a border of two floats."""
    wide = np.asarray(numerator, np.float64) / divisor
    with np.errstate(over="ignore"):
        scales = np.array(wide, np.float32)
    low = wide.view(np.int64).astype(np.int64) & (1 << LOW_DIGITS) - 1
    normal = (wide >= 2.0**-125) & (wide < 2.0**127)
    unsure = (~normal | (np.abs(low - MIDDLE) <= NEAR)) & (wide != 0)
    for i in np.flatnonzero(unsure):
        exact = exact_numerator(flat(lo)[i], flat(hi)[i], scheme)
        scales.reshape(-1)[i] = binary32(exact / divisor)
    return scales


def nearest(lo: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """lo / scale to the nearest integer, ties to even."""
    if lo.dtype.kind == "O":
        pairs = zip(flat(lo), flat(scales), strict=True)
        exact = [round(Fraction(a) / Fraction(float(s))) for a, s in pairs]
        return np.array(exact, np.int64).reshape(lo.shape)
    quotients = lo / scales.astype(np.float64)
    whole = np.array(np.rint(quotients), np.int64)
    from_tie = np.abs(np.abs(quotients - whole) - 0.5)
    for i in np.flatnonzero(from_tie <= np.abs(quotients) * 2.0**-50):
        tie = Fraction(float(flat(lo)[i])) / Fraction(float(flat(scales)[i]))
        whole.reshape(-1)[i] = round(tie)
    return whole


def flat(x: np.ndarray) -> Any:
    return x.reshape(-1)
