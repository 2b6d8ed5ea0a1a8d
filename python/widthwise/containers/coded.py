"""Codes of a bare format under binary32 scales: one a tensor, or one a channel of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .._array import Array
from .._create import array
from .._format import Format, as_format
from .._format_texts import said
from .._formats import portable
from .._machine import by_usual_arithmetic
from .chunks import (
    BINARY32,
    Cut,
    Options,
    Parts,
    Piece,
    ends,
    first_of,
    in_binary32,
    in_binary64,
    on_broadcast,
    part_of,
    refuse,
    without_nan,
)
from .compared import Compared, WithoutOperators
from .packing import packed_size
from .recorded import Recorded


class Coded(Compared, WithoutOperators, Recorded):
    """Codes of a format, and the binary32 scale that their values are multiplied by.

    `ww.load` makes them of a checkpoint that was quantised with a scale a tensor or a channel.

    >>> import widthwise as ww
    >>> x = Coded(ww.array([[448, 1.5]], "e4m3fn"), np.float32(0.5))
    >>> x.to_float64()
    array([[224.  ,   0.75]])
    """

    def __init__(self, codes: Array, scale: np.ndarray | np.float32) -> None:
        self.codes = codes
        self.scale = scale

    @property
    def format(self) -> Format:
        """Of the codes."""
        return self.codes.format

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape

    @property
    def nbytes(self) -> int:
        """Bytes that codes take, packed to their bits row by row, and scales as they are."""
        return packed_size(self.shape, self.format.width) + self.scale.nbytes

    @by_usual_arithmetic
    def to_float64(self) -> np.ndarray:
        """The values, exact for codes of up to 29 digits."""
        return in_binary64(self.codes) * self.scale.astype(np.float64)

    @by_usual_arithmetic
    def to_float32(self) -> np.ndarray:
        """The values, rounded."""
        return self.to_float64().astype(np.float32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("values are codes times scales, made when they are asked for: a copy")
        return self.to_float64().astype(dtype or np.float64, copy=False)

    def _named_parts(self) -> tuple[str, dict[str, np.ndarray]]:
        parts = {"codes": self.codes.bits, "scale": np.asarray(self.scale)}
        return f"coded({portable(self.format)})", parts

    def __repr__(self) -> str:
        scales = f"scale {self.scale}" if self.scale.ndim == 0 else f"{self.scale.size} scales"
        return f"Coded({np.array2string(self.to_float32())}, {self.format}, {scales})"


class Bare:
    """How tensors become codes of a format: as they are, or under a scale of largest magnitude /
    largest number, in binary32; quotients are binary32, too (docs/semantics.md, S4)."""

    def __init__(self, text: str, way: str, axis: int | None, options: Options) -> None:
        self.format = as_format(text)
        self.text = portable(self.format)
        self.way = way
        self.axis = 0 if axis is None else axis
        self.options = options
        self.through = self.format if way == "none" else saturating(self.format)
        if way != "none" and not scales_lead_to(self.format):
            raise ValueError(
                f"{said(text)} under a scale: its largest number is zero, or past binary32's; "
                "options.scale='none' rounds to it"
            )

    def parts(self, shape: tuple[int, ...]) -> Parts:
        codes = {"codes": (self.format, shape)}
        if self.way == "none":
            return codes
        scales = self.scales(shape) if self.way == "channel" else ()
        return {**codes, "scale": (BINARY32, scales)}

    def scales(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many there are along each axis."""
        if self.way == "channel" and not -len(shape) <= self.axis < len(shape):
            raise ValueError(f"axis = {self.axis}: a tensor of shape {shape} has none of that")
        channel = self.axis % len(shape) if self.way == "channel" else None
        return tuple(n if k == channel else 1 for k, n in enumerate(shape))

    def uncut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        return 0, 1

    def pieces(
        self, shape: tuple[int, ...], read: Callable[[Cut], Array], cuts: list[Cut]
    ) -> Iterator[Piece]:
        scale = None if self.way == "none" else self.scale_of(shape, cuts, read)
        for cut in cuts:
            last = scale is not None and cut is cuts[-1]
            yield self.piece(read(cut), cut, shape, scale, last)

    @by_usual_arithmetic
    def scale_of(
        self, shape: tuple[int, ...], cuts: list[Cut], read: Callable[[Cut], Array]
    ) -> np.ndarray:
        largest = np.zeros(self.scales(shape), np.float32)
        axes = tuple(k for k, n in enumerate(largest.shape) if n == 1)
        for cut in cuts:
            magnitudes = np.abs(without_nan(in_binary32(read(cut)), self.options))
            found = magnitudes.max(axis=axes, keepdims=True, initial=0)
            if not np.isfinite(found).all():
                refuse(magnitudes, cut, shape)
            here = part_of(largest, cut)
            np.maximum(here, found, out=here)
        scale = divided(largest, self.format)
        scale[scale == 0] = 1
        return scale

    @by_usual_arithmetic
    def piece(
        self, x: Array, cut: Cut, shape: tuple[int, ...], scale: np.ndarray | None, last: bool
    ) -> Piece:
        o, given = self.options, in_binary64(x)
        if scale is None:
            refuse_nan(np.isnan(given), cut, shape, self)
            codes = array(x, self.format, rounding=o.rounding, seed=o.seed, nan="zero")
            values = in_binary64(codes)
            return Piece((codes,), given, values, self.past_ends(given, values, 1.0))
        own = part_of(scale, cut)
        quotients = without_nan(in_binary32(x), o) / own
        rounded = array(quotients, self.through, rounding=o.rounding, seed=o.seed)
        codes, by = Array._of(rounded.bits, self.format), own.astype(np.float64)
        parts: tuple[Array | np.ndarray, ...] = (codes,)
        if last:
            parts = codes, scale.reshape(self.parts(shape)["scale"][1])
        values = in_binary64(codes) * by
        return Piece(parts, given, values, self.past_ends(given, values, by))

    def past_ends(self, x: np.ndarray, values: np.ndarray, by: Any) -> int:
        """How many numbers saturated."""
        low, high = ends(self.format)
        with np.errstate(invalid="ignore"):
            past = (x > high * by) | (x < low * by)
        finite = past if np.isfinite(values).all() else past & np.isfinite(values)
        return int(np.count_nonzero(finite))

    def on_scales(self, shape: tuple[int, ...], cut: Cut) -> Any:
        return ... if self.way == "tensor" else on_broadcast(self.scales(shape), cut)

    def container(self, codes: Array, others: Mapping[str, Array]) -> Any:
        return Coded(codes, others["scale"].bits.view(np.float32)) if others else codes


def scales_lead_to(f: Format) -> bool:
    """Whether it has a largest number above zero, and one that binary32 reaches."""
    try:
        return 0 < f.max_finite < 1 << 128
    except (ValueError, OverflowError):
        return False


def saturating(f: Format) -> Format:
    """The same codes, of a format whose conversions do not overflow."""
    if not f.is_float:
        return f
    return Format(";".join([*policies_left(f), "overflow=satfinite"]))


def policies_left(f: Format) -> list[str]:
    return [part for part in str(f).split(";") if not part.startswith("overflow")]


def divided(largest: np.ndarray, f: Format) -> np.ndarray:
    """By a format's largest number, correctly rounded to binary32."""
    top = Fraction(f.max_finite)
    if Fraction(float(np.float32(float(top)))) == top:
        with np.errstate(under="ignore"):
            return np.asarray(largest / np.float32(float(top)))
    exact = [Fraction(float(x)) / top for x in largest.reshape(-1)]
    return array(exact, BINARY32).bits.view(np.float32).reshape(largest.shape)


def refuse_nan(nan: np.ndarray, cut: Cut, shape: tuple[int, ...], scheme: Bare) -> None:
    """Where NaN stand, unless a number stands for them or the format has them."""
    if scheme.options.nan == "zero" or scheme.format.has_nan:
        return
    if nan.any():
        where, _ = first_of(nan, nan, cut, shape)
        raise ValueError(
            f"{where} is NaN and {said(scheme.format)} has no NaN; options.nan='zero' puts +0 "
            "there, or take a format that has one"
        )
