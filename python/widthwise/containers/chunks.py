"""Large tensors a piece at a time, and codes of a few bits without gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._create import array
from .._format import Format
from .._format_facts import highest, lowest
from .packing import pack, unpack

PIECE = 1 << 17  # numbers at a time: a megabyte of doubles stays in a core's cache

BINARY32 = Format("binary32")
POSITIVE = Format("ue4m3fn")
Cut = tuple[slice, ...]
Parts = dict[str, tuple[Format, tuple[int, ...]]]


def pieces_of(shape: tuple[int, ...], whole_axes: int = 0, rows: int = 1) -> Iterator[Cut]:
    """Subscripts of pieces that follow one another in memory, in order. The last `whole_axes` are
    not cut, and the axis before them after every so many rows alone.

    >>> [(rows.start, columns.stop) for rows, columns in pieces_of((2, 300_000))]
    [(0, 131072), (0, 262144), (0, 300000), (1, 131072), (1, 262144), (1, 300000)]
    """
    if math.prod(shape) == 0:
        return
    inner = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    cut = next((k for k, n in enumerate(inner) if n <= PIECE // rows), len(shape))
    cut = min(cut, len(shape) - whole_axes - 1)
    if cut < 0:
        yield tuple(slice(0, n) for n in shape)
        return
    step = max(1, PIECE // inner[cut] // rows) * rows
    singles = ([slice(i, i + 1) for i in range(n)] for n in shape[:cut])
    last = [slice(i, min(i + step, shape[cut])) for i in range(0, shape[cut], step)]
    whole = ([slice(0, n)] for n in shape[cut + 1 :])
    yield from product(*singles, last, *whole)


def on_broadcast(shape: tuple[int, ...], cut: Cut) -> tuple[Any, ...]:
    """What a piece needs of an array that is broadcast over the tensor, of as many axes."""
    return (*(k if n > 1 else slice(None) for k, n in zip(cut, shape, strict=True)), ...)


def part_of(scales: np.ndarray, cut: Cut) -> np.ndarray:
    return scales[on_broadcast(scales.shape, cut)]


# --- What is done with a piece --------------------------------------------------------------------


class Options(NamedTuple):
    """Of rounding, as the command has them."""

    rounding: str = "rne"
    seed: int = 0
    nan: str | None = None

    @property
    def stochastic(self) -> bool:
        return bool(core.Env(self.rounding).stochastic)


class Piece(NamedTuple):
    """Some of a tensor's numbers: what is kept of them, part by part, what they were and what
    became of them, and how many saturated."""

    parts: tuple[Array | np.ndarray, ...]
    given: np.ndarray
    values: np.ndarray
    saturated: int


class Scheme(Protocol):
    """Tensors into parts, codes and scales of some kind, and back."""

    text: str
    way: str
    options: Options

    def parts(self, shape: tuple[int, ...]) -> Parts:
        """Of a tensor, each as numbers of a format and a shape; the codes first."""

    def uncut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """How many axes at the end stay whole, and how many rows together on the one before."""

    def pieces(
        self, shape: tuple[int, ...], read: Callable[[Cut], Array], cuts: list[Cut]
    ) -> Iterator[Piece]:
        """In order; a piece has what follows what the ones before it had of each part.

        Raises:
            ValueError: a number that has no scale, or no code.
        """

    def on_scales(self, shape: tuple[int, ...], cut: Cut) -> Any:
        """Which scales are those of a piece."""

    def container(self, codes: Array, others: Mapping[str, Array]) -> Any:
        """What `ww.load` gives, of a tensor or a piece."""


def cuts_of(scheme: Scheme, shape: tuple[int, ...]) -> list[Cut]:
    """One where random bits go by a number's place."""
    if scheme.options.stochastic:
        return [tuple(slice(0, n) for n in shape)]
    return list(pieces_of(shape, *scheme.uncut(shape)))


def without_nan(x: np.ndarray, options: Options) -> np.ndarray:
    return x if options.nan != "zero" else np.where(np.isnan(x), x.dtype.type(0), x)


def refuse(numbers: np.ndarray, cut: Cut, shape: tuple[int, ...]) -> None:
    where, number = first_of(~np.isfinite(numbers), numbers, cut, shape)
    zero = "options.nan='zero' puts +0 there; or " if np.isnan(number) else ""
    raise ValueError(
        f"{where} is {number} in binary32, of which no scale is made; {zero}keep the tensor, or "
        "take a bare format without a scale"
    )


def first_of(
    wrong: np.ndarray, numbers: np.ndarray, cut: Cut, shape: tuple[int, ...]
) -> tuple[str, Any]:
    """Where in the tensor the first such number stands, and the number."""
    at = np.unravel_index(int(np.flatnonzero(wrong)[0]), wrong.shape)
    place = [int(i) + (k.start or 0) for i, k in zip(at, cut, strict=True)]
    inside = int(np.ravel_multi_index(place, shape)) if shape else 0
    return _codes.element(inside, shape), numbers[at]


# --- Numbers --------------------------------------------------------------------------------------


def in_binary32(x: Array | np.ndarray) -> np.ndarray:
    """Values rounded to binary32; a view where they are of it."""
    if isinstance(x, np.ndarray) and x.dtype == np.float32:
        return x
    return array(x, "binary32").bits.view(np.float32)


def in_binary64(x: Array) -> np.ndarray:
    """Their values, as far as doubles have them; of short codes by a table."""
    if x.format.width > 16:
        return array(x, "binary64").bits.view(np.float64)
    return values_of_codes(x.format)[x.bits]


@lru_cache(maxsize=32)
def values_of_codes(f: Format) -> np.ndarray:
    codes = np.arange(1 << f.width).astype(f.dtype)
    return array(Array._of(codes, f), "binary64").bits.view(np.float64)


@lru_cache(maxsize=32)
def ends(f: Format) -> tuple[float, float]:
    """Where numbers saturate: half a step past the largest code's, and past the least one's."""
    values = np.unique(values_of_codes(f)) if f.width <= 16 else None
    if values is None:
        return lowest(f), highest(f)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return float(values[0]), float(values[-1])
    return (
        float(values[0] - (values[1] - values[0]) / 2),
        float(values[-1] + (values[-1] - values[-2]) / 2),
    )


# --- Bits -----------------------------------------------------------------------------------------


def is_packed(f: Format) -> bool:
    """NVFP4's scales of 7 bits take a byte, as positive e4m3fn."""
    return f.width < 8 and f != POSITIVE


def unpacked(data: np.ndarray, f: Format, first: int, n: int) -> Array:
    """n codes from the first on, of bytes in which all follow one another.

    >>> unpacked(np.uint8([33, 15]), Format("e2m1fn"), 1, 2)
    Array([1 -6], e2m1fn)
    """
    begin = first // 8 * 8  # a code that begins a byte
    count = first + n - begin
    data = data.reshape(-1)[begin * f.width // 8 : core.packed_bytes(first + n, f.width)]
    return unpack(data, f, count)[first - begin :]


class Packer:
    """Packs codes that come in pieces of any length."""

    def __init__(self, f: Format) -> None:
        self.format = f
        self.rest = np.empty(0, np.uint8)

    def add(self, codes: np.ndarray) -> np.ndarray:
        """The bytes that are full, of these codes and those that were left."""
        codes = codes.reshape(-1)
        codes = np.concatenate([self.rest, codes]) if self.rest.size else codes
        full = codes.size // 8 * 8
        self.rest = codes[full:]
        return pack(Array._of(codes[:full], self.format))

    def end(self) -> np.ndarray:
        rest, self.rest = self.rest, np.empty(0, np.uint8)
        return pack(Array._of(rest, self.format))
