"""How a tensor of a checkpoint is quantised, and what of it lies in the file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._array import Array
from .._format import Format
from .._formats import portable
from .._safetensors import Checkpoint, Entry, entry_of_codes
from .chunks import Cut, Packer, in_binary64, is_packed, packed_length, part_of, unpacked
from .coded import Bare, Coded, Options, Piece

OWN_SCALES = ("block(", "bfp(", "affine(", "mx", "nvfp4")  # formats that say what a scale is of
SUFFIXES = {"codes": "", "scale": "_scale", "tensor_scale": "_scale_2", "zero_point": "_zero_point"}
Parts = dict[str, tuple[Format, tuple[int, ...]]]


class Scheme(Protocol):
    """Tensors into parts: codes, and scales of some kind."""

    way: str

    def parts(self, shape: tuple[int, ...]) -> Parts:
        """Of a tensor, each as numbers of a format and a shape; the codes first."""

    def pieces(self, shape: tuple[int, ...], read: Callable[[Cut], Array]) -> Iterator[Piece]:
        """In order; a piece has the beginnings of as many parts as there are already."""


def has_own_scales(text: str) -> bool:
    return text.strip().lower().startswith(OWN_SCALES)


def scheme_of(text: str, way: str, axis: int, options: Options) -> Scheme:
    """Of a format's text and what a scale is of."""
    if has_own_scales(text):
        if way != "block":
            raise ValueError(
                f"--scale = {way}: {text} says itself what its scales are of; leave --scale out"
            )
        raise ValueError(f"--format = {text}: checkpoints have no such formats yet")
    if way == "block":
        raise ValueError(
            f"--scale = block: {text} has no blocks; take tensor or channel, or --format "
            f"'block({text},32,e8m0fnu)'"
        )
    return Bare(text, way, axis, options)


# --- What lies in the file ------------------------------------------------------------------------


class Kept(NamedTuple):
    """What the metadata tell of a quantised tensor; `parts` are the names of its tensors there."""

    format: str
    scale: str
    shape: tuple[int, ...]
    dtype: str  # as the file that it came from had it
    parts: dict[str, str]
    axis: int = 0

    def as_json(self) -> dict[str, Any]:
        facts = {**self._asdict(), "shape": list(self.shape)}
        return facts if self.scale == "channel" else {k: v for k, v in facts.items() if k != "axis"}

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> Kept:
        shape = tuple(facts["shape"])
        named = {key: facts[key] for key in ("format", "scale", "dtype")}
        axis, parts = facts.get("axis", 0), dict(facts["parts"])
        texts = [*named.values(), *parts, *parts.values()]
        if not all(type(n) is int for n in (*shape, axis)) or "codes" not in parts:
            raise TypeError
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
        return cls(shape=shape, parts=parts, axis=axis, **named)


def kept_in(tensors: Checkpoint) -> dict[str, Kept]:
    """What a file's metadata tell of quantised tensors."""
    try:
        kept = {name: Kept.of_json(facts) for name, facts in tensors.quantised.items()}
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ValueError("its metadata of quantised tensors are broken") from None
    for name, x in kept.items():
        for part in x.parts.values():
            if part not in tensors:
                raise ValueError(f"{name} is without its part {part}")
    return kept


def as_text(kept: Mapping[str, Kept]) -> str:
    return json.dumps({name: facts.as_json() for name, facts in kept.items()})


def entries(name: str, parts: Parts) -> dict[str, Entry]:
    """Of a tensor's parts, by the parts' names."""
    return {part: entry(name + SUFFIXES[part], *what) for part, what in parts.items()}


def entry(name: str, f: Format, shape: tuple[int, ...]) -> Entry:
    """Codes of fewer than eight bits lie without gaps; NVFP4's scales are positive e4m3fn."""
    if is_packed(f):
        rows = packed_shape(f, shape)
        return Entry(name, "U8", rows, math.prod(rows))
    given = Format("e4m3fn") if str(f) == "ue4m3fn" else f
    return entry_of_codes(name, given, shape)._replace(format=None)


def packed_shape(f: Format, shape: tuple[int, ...]) -> tuple[int, ...]:
    """With bytes along the last axis, where a row of it is whole bytes; else they are one row."""
    if shape and shape[-1] * f.width % 8 == 0:
        return (*shape[:-1], shape[-1] * f.width // 8)
    return (packed_length(math.prod(shape), f.width),)


class Writer:
    """The bytes of a part that comes in pieces."""

    def __init__(self, f: Format) -> None:
        self.packer = Packer(f.width) if is_packed(f) else None

    def add(self, x: Array | np.ndarray) -> memoryview:
        bits = x.bits if isinstance(x, Array) else x
        return as_bytes(bits if self.packer is None else self.packer.add(bits))

    def end(self) -> memoryview:
        return as_bytes(np.empty(0, np.uint8) if self.packer is None else self.packer.end())


def as_bytes(items: np.ndarray) -> memoryview:
    return np.ascontiguousarray(items).reshape(-1).view(np.uint8).data


def read_codes(raw: np.ndarray, f: Format, shape: tuple[int, ...], cut: Cut) -> Array:
    """A piece of the codes as they lie in a file."""
    if not is_packed(f):
        return Array._of(raw.view(f.dtype)[cut], f)
    extent = tuple(k.stop - k.start for k in cut)
    first = int(np.ravel_multi_index([k.start for k in cut], shape)) if shape else 0
    return Array._of(unpacked(raw, f.width, first, math.prod(extent)).reshape(extent), f)


# --- Back to numbers ------------------------------------------------------------------------------


class Reader(NamedTuple):
    """A quantised tensor in its file: `raw` gives the items of a tensor by its name."""

    kept: Kept
    raw: Callable[[str], np.ndarray]

    def whole(self) -> Any:
        """What `ww.load` gives: a copy, not the file."""
        cut = tuple(slice(0, n) for n in self.kept.shape)
        codes = self.codes(cut).copy()
        if self.kept.scale == "none":
            return codes
        return Coded(codes, self.scale().copy())

    def values(self, cut: Cut) -> np.ndarray:
        """Of a piece, in binary64."""
        codes = self.codes(cut)
        if self.kept.scale == "none":
            return in_binary64(codes)
        scale = self.scale()
        return Coded(codes, scale if scale.ndim == 0 else part_of(scale, cut)).to_float64()

    def codes(self, cut: Cut) -> Array:
        f = Format(self.kept.format)
        raw = self.part("codes", f, self.kept.shape)
        return read_codes(raw, f, self.kept.shape, cut)

    def scale(self) -> np.ndarray:
        scheme = Bare(self.kept.format, self.kept.scale, self.kept.axis, Options())
        return self.part("scale", *scheme.parts(self.kept.shape)["scale"]).view(np.float32)

    def part(self, part: str, f: Format, shape: tuple[int, ...]) -> np.ndarray:
        """Its items, which have to be as many as such a tensor has."""
        raw = self.raw(self.kept.parts[part])
        wanted = entry("", f, shape)
        if raw.shape != wanted.shape or raw.nbytes != wanted.size:
            raise ValueError(
                f"its {part} have shape {raw.shape}; {self.kept.format} of shape "
                f"{self.kept.shape} has {wanted.kind} of shape {wanted.shape}"
            )
        return raw


def format_text(text: str) -> str:
    """That any process reads: of a table of one's own its values."""
    return text if has_own_scales(text) else portable(Format(text))
