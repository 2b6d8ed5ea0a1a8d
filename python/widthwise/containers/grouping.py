"""Which elements share a scale: all of an array, a channel, a block along an axis, a tile."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._device import DeviceArray, queue


@dataclass(frozen=True)
class Grouping:
    """The shape of the scales of an array, and how the core finds an element's.

    `rows` and `block` are a tile's sides on the last two axes; rows is 0 where there are none.
    """

    kind: str  # "tensor", "channel", "block" or "tile"
    axis: int = 0
    rows: int = 0
    block: int = 0

    def text(self) -> str:
        """As a format's text has it."""
        if self.kind == "tile":
            return f"{self.rows}x{self.block}"
        return {"tensor": "", "channel": "channel"}.get(self.kind, str(self.block))

    def scales_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.kind == "tensor":
            return ()
        if self.kind == "channel":
            return (shape[self.axis],)
        groups = list(shape)
        groups[self.axis] = -(-shape[self.axis] // self.length(shape))
        if self.kind == "tile":
            groups[-2] = -(-shape[-2] // self.height(shape))
        return tuple(groups)

    def length(self, shape: tuple[int, ...]) -> int:
        """Of a block along its axis, no longer than this; 0 is the whole axis."""
        return max(1, min(self.block or shape[self.axis], shape[self.axis]))

    def height(self, shape: tuple[int, ...]) -> int:
        """Of a tile, no higher than the array."""
        return max(1, min(self.rows, shape[-2]))

    def layout(self, shape: tuple[int, ...]) -> list[int]:
        """outer, length, inner, block, and what each of them moves the scale's number by."""
        if self.kind == "tensor":
            return [1, math.prod(shape), 1, 1, 0, 0, 0]
        outer, inner = math.prod(shape[: self.axis]), math.prod(shape[self.axis + 1 :])
        if self.kind == "channel":
            return [outer, shape[self.axis], inner, 1, 0, 1, 0]
        block = self.length(shape)
        groups = -(-shape[self.axis] // block)
        return [outer, shape[self.axis], inner, block, groups * inner, inner, int(inner > 1)]

    def for_core(self, scales: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Scales, or zero points, in the order of the layout: a tile's once for each row."""
        if self.kind == "tensor":
            return scales
        if self.kind == "tile":
            scales = np.repeat(scales, self.height(shape), axis=-2)[..., : shape[-2], :]
        return np.ascontiguousarray(scales).reshape(-1)

    def spread(self, scales: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """One for each element, or as NumPy broadcasts to them."""
        if self.kind == "tensor":
            return scales
        if self.kind == "channel":
            return scales.reshape([-1 if i == self.axis else 1 for i in range(len(shape))])
        wide = np.repeat(scales, self.length(shape), axis=self.axis)
        if self.kind == "tile":
            wide = np.repeat(wide, self.height(shape), axis=-2)
        return wide[tuple(slice(n) for n in shape)]

    def ranges(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest element of each group; NaN where there is one."""
        if isinstance(x, DeviceArray):
            return self.ranges_there(x)
        if self.kind == "tensor" and x.dtype == np.float32:
            low, high = core.float_range(x)
            return np.array(low, np.float32), np.array(high, np.float32)
        if (run := self.contiguous(x.shape)) and x.dtype == np.float32:
            sides = core.block_ranges(x, *run)
            low, high = (side.reshape(self.scales_shape(x.shape)) for side in sides)
            return low, high
        return self.reduced(np.minimum, x), self.reduced(np.maximum, x)

    def ranges_there(self, x: DeviceArray) -> tuple[np.ndarray, np.ndarray]:
        """Likewise of numbers on a GPU. The layout has a tile's rows one by one."""
        tile, shape = self.kind == "tile", x.shape
        by_rows = replace(self, rows=1).scales_shape(shape) if tile else self.scales_shape(shape)
        found = core.device_group_ranges(
            queue(x._place.gpu), self.layout(shape), math.prod(by_rows), x._for_core
        )
        low, high = (side.reshape(by_rows) for side in found)
        if tile:
            begins = np.arange(0, shape[-2], self.height(shape))
            low = np.minimum.reduceat(low, begins, axis=-2)
            high = np.maximum.reduceat(high, begins, axis=-2)
        return low, high

    def contiguous(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """The length of rows and of the blocks in them, if each group lies in one piece."""
        if self.kind == "channel" and self.axis == 0:
            return math.prod(shape[1:]), math.prod(shape[1:])
        if self.kind == "block" and self.axis == len(shape) - 1:
            return shape[-1], self.length(shape)
        return None

    def reduced(self, how: np.ufunc, x: np.ndarray) -> np.ndarray:
        if self.kind == "tensor":
            return np.asarray(how.reduce(x, axis=None))
        if self.kind == "channel":
            return how.reduce(x, axis=tuple(i for i in range(x.ndim) if i != self.axis))
        size, block = x.shape[self.axis], self.length(x.shape)
        if size % block == 0:
            parts = x.reshape(*x.shape[: self.axis], -1, block, *x.shape[self.axis + 1 :])
            x = how.reduce(parts, axis=self.axis + 1)
        else:
            x = how.reduceat(x, np.arange(0, size, block), axis=self.axis)
        if self.kind == "tile":
            x = how.reduceat(x, np.arange(0, x.shape[-2], self.height(x.shape)), axis=-2)
        return x

    def groups(self, x: np.ndarray) -> list[np.ndarray]:
        """The elements of each group, in the order of the scales."""
        count = math.prod(self.scales_shape(x.shape))
        numbers = np.arange(count).reshape(self.scales_shape(x.shape))
        of_element = np.broadcast_to(self.spread(numbers, x.shape), x.shape).reshape(-1)
        order = np.argsort(of_element, kind="stable")
        borders = np.searchsorted(of_element[order], np.arange(1, count))
        return np.split(x.reshape(-1)[order], borders)


def grouping_of(shape: tuple[int, ...], axis: Any, block: Any) -> Grouping:
    """What a user's axis and block mean for an array of a shape, checked."""
    if block is None and axis is None:
        return Grouping("tensor")
    if block is None:
        return Grouping("channel", checked_axis(axis, shape))
    if block == "all":
        if axis is not None:
            raise ValueError(f"block = 'all' has no axis, and axis = {axis}; leave one out")
        return Grouping("tensor")
    if isinstance(block, str) and (sides := re.fullmatch(r"(\d+)x(\d+)", block.lower())):
        return tile_of(shape, axis, int(sides[1]), int(sides[2]))
    if isinstance(block, str) and block.isdecimal():
        block = int(block)
    if isinstance(block, bool) or not isinstance(block, int | np.integer) or block < 0:
        raise ValueError(
            f"block = {block!r}: a number of elements along the axis is wanted, 0 for all of it, "
            "'1x128' for a tile of the last two axes, or 'all'"
        )
    if not shape:
        raise ValueError(f"x is one number and block = {block}; leave block out")
    return Grouping("block", checked_axis(-1 if axis is None else axis, shape), 0, int(block))


def checked_axis(axis: Any, shape: tuple[int, ...]) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise TypeError(f"axis = {axis!r}: an integer is wanted")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"axis = {axis}: x has {len(shape)} axes, {-len(shape)} to {len(shape) - 1}"
        )
    return int(axis) % len(shape)


def tile_of(shape: tuple[int, ...], axis: Any, rows: int, columns: int) -> Grouping:
    if len(shape) < 2 or rows == 0 or columns == 0:
        raise ValueError(
            f"block = '{rows}x{columns}' on an array of shape {shape}: a tile lies on the last two "
            "axes, and has at least one row and one column"
        )
    if axis is not None:
        raise ValueError(
            f"block = '{rows}x{columns}' lies on the last two axes, and axis = {axis}; leave axis "
            "out"
        )
    return Grouping("tile", len(shape) - 1, rows, columns)
