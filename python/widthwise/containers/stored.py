"""How a tensor of a checkpoint is quantised, and what of it lies in the file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _widthwise as core
from .._array import Array
from .._block_format import BlockFormat, is_container
from .._format import Format
from .._format_texts import said
from .._safetensors import Checkpoint, Entry, entry_of_codes
from .._spelling import as_key, spelling
from .chunks import POSITIVE, Cut, Options, Packer, Parts, Scheme, cuts_of, is_packed, unpacked
from .coded import Bare
from .scheme import is_affine, parsed
from .streamed import AffineScheme, BlockScheme

SUFFIXES = {"codes": "", "scale": "_scale", "tensor_scale": "_scale_2", "zero_point": "_zero_point"}


def scheme_of(text: str, way: str, axis: int | None, options: Options) -> Scheme:
    """Of a format's text and what a scale is of."""
    if is_container(text):
        if way != "block":
            raise ValueError(
                f"options.scale = {way}: {said(text)} says itself what its scales are of; leave "
                "options.scale out"
            )
        return (AffineScheme if is_affine(text) else BlockScheme)(text, axis, options)
    if way == "block":
        Format(text)  # or what is wrong with it
        raise ValueError(
            f"options.scale = block: {said(text)} has no blocks; take tensor or channel, or the "
            f"format 'block({said(text)},32,e8m0fnu)'"
        )
    return Bare(text, way, axis, options)


def scales_of(text: str, way: str) -> str:
    """What has a scale, as reports tell it: of a format that says so itself what it says."""
    if way != "block":
        return way
    try:
        block = parsed(text)[1] if is_affine(text) else BlockFormat(text).block
    except ValueError:  # of a file that somebody else wrote
        return way
    return {"": "tensor", "all": "tensor", "channel": "channel"}.get(str(block), way)


# --- What lies in the file ------------------------------------------------------------------------


class Kept(NamedTuple):
    """What the metadata tell of a quantised tensor; `parts` are the names of its tensors there."""

    format: str
    scale: str
    shape: tuple[int, ...]
    dtype: str  # as the file that it came from had it
    parts: dict[str, str]
    axis: int | None = None  # where it is not that of the format

    def as_json(self) -> dict[str, Any]:
        facts = {**self._asdict(), "shape": list(self.shape)}
        return {key: x for key, x in facts.items() if x is not None}

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> Kept:
        shape = tuple(facts["shape"])
        named = {key: facts[key] for key in ("format", "scale", "dtype")}
        axis, parts = facts.get("axis"), dict(facts["parts"])
        texts = [*named.values(), *parts, *parts.values()]
        if not all(type(n) is int for n in (*shape, axis or 0)) or "codes" not in parts:
            raise TypeError
        if min(shape, default=1) < 1 or math.prod(shape) >> 60:  # what is empty is not quantised
            raise ValueError
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
    """Codes of fewer than eight bits lie without gaps; NVFP4's scales are positive e4m3fn, and
    signed integers are such."""
    if is_packed(f):
        rows = packed_shape(f, shape)
        return Entry(name, "U8", rows, math.prod(rows))
    given = Format("e4m3fn") if f == POSITIVE else f
    x = entry_of_codes(name, given, shape)._replace(format=None)
    signed = f.system == "fixed" and f.signed and f.width in (8, 16, 32, 64)
    return x._replace(kind=f"I{f.width}") if signed else x


def packed_shape(f: Format, shape: tuple[int, ...]) -> tuple[int, ...]:
    """With bytes along the last axis, where a row of it is whole bytes; else they are one row."""
    if shape and shape[-1] * f.width % 8 == 0:
        return (*shape[:-1], shape[-1] * f.width // 8)
    return (core.packed_bytes(math.prod(shape), f.width),)


class Writer:
    """The bytes of a part that comes in pieces."""

    def __init__(self, f: Format) -> None:
        self.packer = Packer(f) if is_packed(f) else None

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
    return unpacked(raw, f, first, math.prod(extent)).reshape(extent)


# --- Back to numbers ------------------------------------------------------------------------------


class Reader:
    """A quantised tensor in its file: `raw` gives the items of a tensor by its name.

    Raises:
        ValueError: the metadata do not fit what lies there.
    """

    def __init__(self, kept: Kept, raw: Callable[[str], np.ndarray]) -> None:
        self.kept = kept
        self.raw = raw
        with spelling(as_key):
            self.scheme = scheme_of(kept.format, kept.scale, kept.axis, Options())
        self.parts = self.scheme.parts(kept.shape)
        if set(self.parts) != set(kept.parts):
            raise ValueError(f"it has {', '.join(kept.parts)}, not {', '.join(self.parts)}")
        for part in self.parts:  # before anything is made of their shape
            self.part(part)

    def cuts(self) -> list[Cut]:
        return cuts_of(self.scheme, self.kept.shape)

    def whole(self) -> Any:
        """What `ww.load` gives: a copy, not the file."""
        cut = tuple(slice(0, n) for n in self.kept.shape)
        codes = self.codes(cut).copy()
        others = {part: self.all_of(part).copy() for part in self.parts if part != "codes"}
        return self.scheme.container(codes, others)

    def values(self, cut: Cut) -> np.ndarray:
        """Of a piece, in binary64."""
        shape, others = self.kept.shape, {}
        for part, (_, own) in self.parts.items():
            if part != "codes":
                x = self.all_of(part)
                others[part] = x[self.scheme.on_scales(shape, cut)] if own else x
        return self.scheme.container(self.codes(cut), others).to_float64()

    def codes(self, cut: Cut) -> Array:
        return read_codes(self.part("codes"), self.parts["codes"][0], self.kept.shape, cut)

    def all_of(self, part: str) -> Array:
        f, shape = self.parts[part]
        return read_codes(self.part(part), f, shape, tuple(slice(0, n) for n in shape))

    def part(self, part: str) -> np.ndarray:
        """Its items, which have to be as many as such a tensor has."""
        raw, wanted = self.raw(self.kept.parts[part]), entry("", *self.parts[part])
        if raw.shape != wanted.shape or raw.nbytes != wanted.size:
            raise ValueError(
                f"its {part} have shape {raw.shape}; {said(self.kept.format)} of shape "
                f"{self.kept.shape} has {wanted.kind} of shape {wanted.shape}"
            )
        return raw
