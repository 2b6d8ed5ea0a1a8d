"""Scales and zero points from ranges, each rounded once from its exact value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .. import _widthwise as core
from .scheme import Scheme

SCALE_FORMATS: dict[str, Any] = {"binary32": np.float32, "binary64": np.float64}


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
    scales, zeros, unsure = found(lo, hi, scheme, dtype)
    if len(unsure):
        check_finite(lo, hi)
    for i in unsure:
        scales[i], zeros[i] = exact_parameters(flat(lo)[i], flat(hi)[i], scheme, dtype)
    return scales.reshape(lo.shape), zeros.reshape(lo.shape)


def found(
    lo: np.ndarray, hi: np.ndarray, scheme: Scheme, dtype: Any
) -> tuple[np.ndarray, np.ndarray, Sequence[int]]:
    """In a row, by the machine's arithmetic, and which of them that leaves to exact numbers."""
    if lo.dtype.kind == "f" and dtype is np.float32:
        return core.affine_parameters(lo, hi, (scheme.qmin, scheme.qmax), scheme.name)
    return np.empty(lo.size, dtype), np.empty(lo.size, np.int64), range(lo.size)


def check_finite(lo: np.ndarray, hi: np.ndarray) -> None:
    for name, side in (("least", lo), ("largest", hi)):
        for x in flat(side) if side.dtype.kind == "O" else side[~np.isfinite(side)].tolist():
            if isinstance(x, float) and not math.isfinite(x):
                raise ValueError(
                    f"the {name} element is {x}, which no range from data has; pass range=(lo, "
                    "hi), or scale= and zero_point=, into which infinities clamp"
                )


def exact_parameters(lo: Any, hi: Any, scheme: Scheme, dtype: Any) -> tuple[Any, int]:
    low, high = min(exact(lo), Fraction(0)), max(exact(hi), Fraction(0))
    scale = dtype(kept(exact_scale(low, high, scheme), dtype))
    if not np.isfinite(scale):
        raise ValueError(
            f"the range {float(low):g} to {float(high):g} is too wide for a scale in "
            f"{np.dtype(dtype)}; pass scale_format='binary64', or a narrower range="
        )
    zero = 0
    if scale > 0 and scheme.name == "asymmetric":
        zero = scheme.qmin - round(low / exact(scale))  # Python's round is to even
    elif scheme.name != "asymmetric":
        zero = scheme.zero
    return scale if scale > 0 else dtype(1), max(scheme.qmin, min(zero, scheme.qmax))


def exact(x: Any) -> Fraction:
    return Fraction(float(x)) if isinstance(x, np.floating) else Fraction(x)


def exact_scale(low: Fraction, high: Fraction, scheme: Scheme) -> Fraction:
    if scheme.name == "asymmetric":
        return (high - low) / (scheme.qmax - scheme.qmin)
    amax = max(-low, high)
    if scheme.name == "symmetric":
        return amax / scheme.qmax
    return amax * 2 / (scheme.qmax - scheme.qmin)


def flat(x: np.ndarray) -> Any:
    return x.reshape(-1)
