"""The steps of scaled tensors, each in binary32 as the notebook that they come from has them
(docs/semantics.md, S1 to S3)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import _codes
from .._array import Array
from .._create import array
from .._dot import matmul
from .._elementwise import maximum, round_to_integral
from .._format import Format
from .._machine import by_usual_arithmetic

Data = Array | np.ndarray
LIKE = ("notebook",)
X86_INVALID = -(1 << 31)  # what x86 converts to where no 32-bit integer holds a number


class How(NamedTuple):
    """How numbers become data: a rounding or the dtype's own, and whose faults are kept."""

    rounding: str | None = None
    like: str | None = None
    seed: int = 0


class Kind(NamedTuple):
    """A dtype of data, and the format whose conversion rounds to it."""

    name: str
    format: Format
    through: Format
    largest: int

    @property
    def is_float(self) -> bool:
        return self.format.is_float

    @property
    def base(self) -> np.float32:
        """1 / largest: held in binary64, used in binary32."""
        return np.float32(1.0 / self.largest)

    @property
    def bits(self) -> int:
        return self.format.width

    @property
    def integers(self) -> np.dtype:
        return np.dtype(f"i{self.bits // 8}")


def kind(name: str, text: str, through: str, largest: int) -> Kind:
    return Kind(name, Format(text), Format(through), largest)


KINDS = {
    x.name: x
    for x in (
        kind("sfloat16", "e5m10", "e5m10", 65504),
        kind("sfloat8_e4m3fn", "e4m3fn", "e4m3fn;overflow=satfinite", 448),
        kind("sfloat8_e5m2", "e5m2", "e5m2", 57344),
        kind("sint8", "int8", "int8", 127),
        kind("sint16", "int16", "int16", 32767),
        kind("sint32", "int32", "int32", (1 << 31) - 1),
    )
}


def known(dtype: Any) -> Kind:
    found = KINDS.get(dtype.strip().lower()) if isinstance(dtype, str) else None
    if found is None:
        raise ValueError(f"dtype = {dtype!r}: it may be {', '.join(KINDS)}")
    return found


# --- Numbers and data -----------------------------------------------------------------------------


@by_usual_arithmetic
def binary32(data: Any) -> np.ndarray:
    """An Array's values, or integers, rounded to binary32."""
    if isinstance(data, Array):
        return array(data, "binary32").bits.view(np.float32)
    return np.asarray(data, np.float32)


def finite(x: Any) -> np.ndarray:
    """In binary32."""
    numbers = binary32(array(x, "binary32"))
    if numbers.size == 0:
        raise ValueError(f"x is empty, of shape {numbers.shape}: no number gives it a scale")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        where = _codes.element(int(wrong[0]), numbers.shape)
        raise ValueError(
            f"x: {where} is {numbers.reshape(-1)[wrong[0]]} in binary32, which a scale is held in; "
            "all numbers have to be finite"
        )
    return numbers


@by_usual_arithmetic
def cast(k: Kind, x: np.ndarray, how: How, random: Any = None) -> Data:
    """Binary32 numbers as data. Floats round to nearest, integers as `how` says, else toward 0."""
    if k.is_float:
        return Array._of(array(x, k.through, random=random).bits, k.format)
    drawn = {"rounding": how.rounding or "rtz", "seed": how.seed, "random": random}
    if how.like is None:
        return array(x, k.format, **drawn).bits.view(k.integers)
    return converted_by_x86(k, x, drawn)


def converted_by_x86(k: Kind, x: np.ndarray, drawn: dict[str, Any]) -> np.ndarray:
    """To 32 bits, of which the lower ones are kept."""
    rounded = round_to_integral(array(x, "binary32"), **drawn)
    whole = binary32(rounded).astype(np.float64)
    held = (whole >= X86_INVALID) & (whole <= -X86_INVALID - 1)
    return np.where(held, whole, X86_INVALID).astype(np.int64).astype(k.integers)


@by_usual_arithmetic
def magnitude(k: Kind, data: Data, how: How) -> np.float32:
    """The largest, 0 of none; NaN if there is one. torch's abs of the least integer is itself."""
    if not data.size:
        return np.float32(0)
    if isinstance(data, Array):
        return np.abs(binary32(data)).max()
    if how.like is not None:
        return np.float32(np.abs(data).max())
    return np.float32(max(-int(data.min()), int(data.max())))


@by_usual_arithmetic
def values(k: Kind, data: Data, scale: np.float32) -> np.ndarray:
    with np.errstate(all="ignore"):
        return binary32(data) * scale * k.base


@by_usual_arithmetic
def held(data: Any, k: Kind) -> Data:
    """Data as the dtype has them, or an error: nothing is rounded."""
    if not k.is_float:
        return held_integers(data, k)
    if isinstance(data, Array) and data.format == k.format:
        return data
    rounded, flags = array(data, k.format, flags=True)
    wrong = np.flatnonzero(flags)
    if wrong.size:
        where = _codes.element(int(wrong[0]), rounded.shape)
        raise ValueError(f"data: {where} is no {k.format}; ww.scaled(x, {k.name!r}) rounds")
    return rounded


def held_integers(data: Any, k: Kind) -> np.ndarray:
    given = np.asarray(data)
    if given.dtype.kind not in "iu":
        raise ValueError(
            f"data hold {given.dtype}: integers are wanted; ww.scaled(x, {k.name!r}) rounds"
        )
    ends = np.iinfo(k.integers)
    wrong = np.flatnonzero((given < ends.min) | (given > ends.max))
    if wrong.size:
        where = _codes.element(int(wrong[0]), given.shape)
        raise ValueError(
            f"data: {where} is {given.reshape(-1)[wrong[0]]}; {k.name} has {ends.min} to {ends.max}"
        )
    return given.astype(k.integers)


# --- Operations -----------------------------------------------------------------------------------


@by_usual_arithmetic
def quantised(k: Kind, x: np.ndarray, scale: np.float32, how: How, random: Any = None) -> Data:
    with np.errstate(all="ignore"):
        return cast(k, x / scale / k.base, how, random)


@by_usual_arithmetic
def excess(k: Kind, data: Data, how: How) -> np.float32:
    """The part of the dtype's range that the data reach."""
    with np.errstate(all="ignore"):
        return magnitude(k, data, how) * k.base


@by_usual_arithmetic
def requantised(k: Kind, data: Data, reached: np.float32, how: How, random: Any = None) -> Data:
    with np.errstate(all="ignore"):
        return cast(k, binary32(data) / reached, how, random)


@by_usual_arithmetic
def added(k: Kind, parts: list[tuple[Data, np.float32]], scale: np.float32, how: How) -> Data:
    """Each operand by its share of the scale; floats are rounded before they are added, too."""
    with np.errstate(all="ignore"):
        a, b = (binary32(data) * (own / scale) for data, own in parts)
        if k.is_float:
            a, b = binary32(cast(k, a, how)), binary32(cast(k, b, how))
        return cast(k, a + b, how)


@by_usual_arithmetic
def multiplied(k: Kind, a: Data, b: Data, terms: int, how: How) -> Data:
    """A matrix product of operands made so small that it cannot overflow."""
    by = np.float32((terms / (1.0 / k.largest)) ** -0.5)
    with np.errstate(all="ignore"):
        a, b = cast(k, binary32(a) * by, how), cast(k, binary32(b) * by, how)
    if isinstance(a, Array) and isinstance(b, Array):
        wide = matmul(a.astype("binary32"), b.astype("binary32"), unit="mac(binary32)")
        return cast(k, binary32(wide), how)
    # Sums of magnitude below 2^53 are exact in doubles: operands are below sqrt(largest / terms).
    whole = np.matmul(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return whole.astype(np.int64).astype(k.integers)


@by_usual_arithmetic
def rectified(data: Data) -> Data:
    """Data below zero as zero; NaN stays."""
    if isinstance(data, Array):
        return maximum(data, Array._of(np.zeros((), data.format.dtype), data.format))
    return np.maximum(data, 0)


@by_usual_arithmetic
def wasted(k: Kind, data: Data, how: How) -> float:
    """Bits of an integer, or of a float's exponent, that no number of the data needs."""
    if magnitude(k, data, how) == 0:
        return float(k.bits)
    reached = np.asarray(excess(k, data, how))
    if k.is_float:
        reached = binary32(cast(k, reached, how))
    with np.errstate(all="ignore"):
        bits = log2(float(np.float32(1) / reached))
    return log2(bits) if k.is_float else bits


def log2(x: float) -> float:
    """In binary64, rounded to binary32."""
    if math.isnan(x) or x < 0:
        return math.nan
    return -math.inf if x == 0 else float(np.float32(math.log2(x)))
