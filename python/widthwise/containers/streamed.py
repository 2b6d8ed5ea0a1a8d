"""Blocks and affine integers of tensors that come a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._block_format import BlockFormat
from .affine import Affine, affine
from .blocks import Blocks
from .chunks import BINARY32, Cut, Options, Parts, Piece, first_of, refuse, without_nan
from .given import settings
from .grouping import Grouping
from .integer_codes import as_codes, as_integers, format_of
from .layout import Layout
from .numbers import in_machine_floats
from .parameters import parameters
from .quantise import blocks, found_tensor_scale

Read = Callable[[Cut], Array]


class BlockScheme:
    """Blocks of a tensor, by `ww.blocks`."""

    way = "block"

    def __init__(self, text: str, axis: int | None, options: Options) -> None:
        self.format = BlockFormat(text)
        self.text = str(self.format)
        self.axis = -1 if axis is None else axis
        self.options = options

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return Layout.of(self.format, shape, self.axis)

    def parts(self, shape: tuple[int, ...]) -> Parts:
        f, scales = self.format, self.layout(shape).scales_shape
        found = {"codes": (f.element, shape), "scale": (f.scale, scales)}
        return found | ({"tensor_scale": (BINARY32, ())} if f._core.takes_tensor_scale else {})

    def uncut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """How many axes at the end have to stay whole, and how many rows together before them."""
        layout = self.layout(shape)
        if self.format.block == "all":
            return len(shape), 1
        if layout.axis is None:
            return 1, layout.extents[-2]
        return uncut_blocks(len(shape), layout.axis, layout.extents[layout.axis], self.format.block)

    def pieces(self, shape: tuple[int, ...], read: Read, cuts: list[Cut]) -> Iterator[Piece]:
        scale = self.tensor_scale(read, cuts)
        how: dict[str, Any] = {"rounding": self.options.rounding, "seed": self.options.seed}
        for cut in cuts:
            x = self.numbers(read, cut)
            try:
                z = blocks(x, self.format, axis=self.axis, tensor_scale=scale, **how)
            except ValueError as why:
                if not np.isfinite(x).all():
                    refuse(x, cut, shape)
                raise ValueError(placed(str(why), x, cut, shape)) from None
            last = () if scale is None or cut is not cuts[-1] else (np.asarray(scale),)
            values = z.to_float64()
            yield Piece((z.elements, z.scales, *last), x, values, z.clamped or 0)

    def tensor_scale(self, read: Read, cuts: list[Cut]) -> np.float32 | None:
        if not self.format._core.takes_tensor_scale:
            return None
        found = (core.largest_magnitude(self.numbers(read, cut)) for cut in cuts)
        return found_tensor_scale(max(found), self.format)

    def numbers(self, read: Read, cut: Cut) -> np.ndarray:
        return without_nan(in_machine_floats(read(cut)), self.options)

    def on_scales(self, shape: tuple[int, ...], cut: Cut) -> Any:
        """What a piece's scales are of all of them."""
        layout = self.layout(shape)
        if self.format.block == "all":
            return ...
        return tuple(layout.scale_key(i, k) for i, k in enumerate(cut))

    def container(self, codes: Array, others: Mapping[str, Array]) -> Blocks:
        f, scale = self.format, others.get("tensor_scale")
        of_tensor = None if scale is None else np.float32(scale.to_float64())
        return Blocks.of(codes, others["scale"], f, axis=self.axis, tensor_scale=of_tensor)


class AffineScheme:
    """Affine integers of a tensor, by `ww.affine` from the least and the largest number."""

    way = "block"

    def __init__(self, text: str, axis: int | None, options: Options) -> None:
        self.rule, _ = settings((1, 1), text, False, None, None, None, None)
        self.given, self.axis, self.options = text, axis, options
        self.text = text.strip().lower()

    def groups(self, shape: tuple[int, ...]) -> Grouping:
        return settings(shape, self.given, False, None, None, self.axis, None)[1]

    def parts(self, shape: tuple[int, ...]) -> Parts:
        f = format_of(self.rule)
        scales = self.groups(shape).scales_shape(shape)
        found = {"codes": (f, shape), "scale": (BINARY32, scales)}
        return found | ({"zero_point": (f, scales)} if self.rule.name == "asymmetric" else {})

    def uncut(self, shape: tuple[int, ...]) -> tuple[int, int]:
        groups = self.groups(shape)
        if groups.kind in ("tensor", "channel"):
            return 0, 1
        if groups.kind == "tile":
            return 1, groups.rows
        return uncut_blocks(len(shape), groups.axis, groups.length(shape), groups.block)

    def pieces(self, shape: tuple[int, ...], read: Read, cuts: list[Cut]) -> Iterator[Piece]:
        groups, rule = self.groups(shape), self.rule
        found = self.found(shape, groups, read, cuts)
        how: dict[str, Any] = {"rounding": self.options.rounding, "seed": self.options.seed}
        how |= {"bits": rule.bits, "signed": rule.signed, "scheme": rule.name}
        how |= {"block": groups.text() if groups.kind in ("block", "tile") else None}
        how |= {"axis": groups.axis if groups.kind in ("channel", "block") else None}
        for cut in cuts:
            x = self.numbers(read, cut, shape)
            own: dict[str, Any] = {}
            if found is not None:
                at = self.on_scales(shape, cut)
                own = {"scale": found[0][at], "zero_point": found[1][at]}
            z = affine(x, **how, **own)
            scales = (z.scale, z.zero_point) if found is None else found
            given = self.coded(z.codes, *(scales if found is None or cut is cuts[-1] else ()))
            yield Piece(given, x, z.dequantise(np.float64), z.clamped)

    def found(
        self, shape: tuple[int, ...], groups: Grouping, read: Read, cuts: list[Cut]
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Scales and zero points of the whole tensor; nothing where a piece has its own."""
        if groups.kind not in ("tensor", "channel"):
            return None
        low = np.full(groups.scales_shape(shape), np.inf)
        high = np.full(low.shape, -np.inf)
        for cut in cuts:
            at = self.on_scales(shape, cut)
            lo, hi = groups.ranges(self.numbers(read, cut, shape))
            low[at], high[at] = np.minimum(low[at], lo), np.maximum(high[at], hi)
        return parameters(low, high, self.rule, np.float32)

    def numbers(self, read: Read, cut: Cut, shape: tuple[int, ...]) -> np.ndarray:
        x = without_nan(in_machine_floats(read(cut)), self.options)
        if not np.isfinite(x).all():
            refuse(x, cut, shape)
        return x

    def on_scales(self, shape: tuple[int, ...], cut: Cut) -> Any:
        groups = self.groups(shape)
        if groups.kind == "tensor":
            return ...
        if groups.kind == "channel":
            return cut[groups.axis]
        keys = list(cut)
        keys[groups.axis] = blocks_of(cut[groups.axis], groups.length(shape))
        if groups.kind == "tile":
            keys[-2] = blocks_of(cut[-2], groups.rows)
        return tuple(keys)

    def coded(
        self, codes: np.ndarray, scale: Any = None, zero_point: Any = None
    ) -> tuple[Array | np.ndarray, ...]:
        """The parts that there are, integers as codes."""
        parts: tuple[Array | np.ndarray, ...] = (as_codes(codes, self.rule),)
        if scale is None:
            return parts
        zero = (as_codes(zero_point, self.rule),) if self.rule.name == "asymmetric" else ()
        return (*parts, np.asarray(scale, np.float32), *zero)

    def container(self, codes: Array, others: Mapping[str, Array]) -> Affine:
        zero = others.get("zero_point")
        return Affine(
            as_integers(codes)[0],
            others["scale"].bits.view(np.float32),
            None if zero is None else as_integers(zero)[0],
            bits=self.given,
            axis=self.axis,
        )


def uncut_blocks(axes: int, axis: int, length: int, block: Any) -> tuple[int, int]:
    """How blocks along an axis are kept whole: rows of the last axis stay in one piece, as do whole
    axes, and other axes are cut between blocks."""
    if axis == axes - 1 or block == 0:
        return axes - axis, 1
    return axes - axis - 1, length


def blocks_of(cut: slice, block: int) -> slice:
    return slice(cut.start // block, -(-cut.stop // block))


def placed(message: str, x: np.ndarray, cut: Cut, shape: tuple[int, ...]) -> str:
    """What is said of an element of a piece, of the tensor's."""
    wrong = ~np.isfinite(x)
    if not wrong.any() or not message.startswith("x: "):
        return message
    here = _codes.element(int(np.flatnonzero(wrong)[0]), x.shape)
    there, _ = first_of(wrong, x, cut, shape)
    return message.replace(f"x: {here} is", f"{there} is", 1)
