"""Large tensors a piece at a time, and codes of a few bits without gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from .._array import Array
from .._create import array
from .._format import Format

PIECE = 1 << 17  # numbers at a time: a megabyte of doubles stays in a core's cache

Cut = tuple[slice, ...]


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


def part_of(scales: np.ndarray, cut: Cut) -> np.ndarray:
    """What a piece needs of an array that is broadcast over the tensor, of as many axes."""
    axes = zip(cut, scales.shape, strict=True)
    own: tuple[Any, ...] = tuple(k if n > 1 else slice(None) for k, n in axes)
    return scales[(*own, ...)]


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
        top = float(f.max_finite)
        return -top, top
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return float(values[0]), float(values[-1])
    return (
        float(values[0] - (values[1] - values[0]) / 2),
        float(values[-1] + (values[-1] - values[-2]) / 2),
    )


# --- Bits -----------------------------------------------------------------------------------------


def is_packed(f: Format) -> bool:
    return f.width < 8


def packed_length(n: int, width: int) -> int:
    return -(-n * width // 8)


def packed(codes: np.ndarray, width: int) -> np.ndarray:
    """Codes in their order without gaps, the end filled up to a byte: the first code in the lowest
    bits, as in torch's float4 and the FP6 of OCP's MX.

    >>> packed(np.uint8([1, 2, 15]), 4)
    array([33, 15], dtype=uint8)
    """
    codes = codes.reshape(-1)
    if width == 4 and codes.size % 2 == 0:
        return codes[::2] | codes[1::2] << 4
    digits = np.unpackbits(codes[:, np.newaxis], axis=-1, count=width, bitorder="little")
    return np.packbits(digits, axis=None, bitorder="little")


def unpacked(data: np.ndarray, width: int, first: int, n: int) -> np.ndarray:
    """The inverse: n codes from the first on.

    >>> unpacked(np.uint8([33, 15]), 4, 1, 2)
    array([ 2, 15], dtype=uint8)
    """
    begin = first // 8 * 8  # a code that begins a byte
    data = data.reshape(-1)[begin * width // 8 : packed_length(first + n, width)]
    if width == 4:
        codes = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)
    else:
        digits = np.unpackbits(data, bitorder="little")
        rows = digits[: len(digits) // width * width].reshape(-1, width)
        codes = np.packbits(rows, axis=-1, bitorder="little")[:, 0]
    return codes[first - begin : first - begin + n]


class Packer:
    """Packs codes that come in pieces of any length."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rest = np.empty(0, np.uint8)

    def add(self, codes: np.ndarray) -> np.ndarray:
        """The bytes that are full, of these codes and those that were left."""
        codes = codes.reshape(-1)
        codes = np.concatenate([self.rest, codes]) if self.rest.size else codes
        full = codes.size // 8 * 8
        self.rest = codes[full:]
        return packed(codes[:full], self.width)

    def end(self) -> np.ndarray:
        rest, self.rest = self.rest, np.empty(0, np.uint8)
        return packed(rest, self.width)
