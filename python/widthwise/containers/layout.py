"""Where the blocks of an array lie: their extents along its axes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._block_format import BlockFormat
from .._format_texts import said
from .._settings import INTEGERS, brief

Grid = tuple[int, int, int, int, int]


def told(key: Any) -> str:
    """A key as an error says it: of arrays their shape."""
    return f"of shape {key.shape}" if isinstance(key, np.ndarray) else brief(key)


def slice_text(key: slice) -> str:
    parts = [key.start, key.stop, *([] if key.step is None else [key.step])]
    return ":".join("" if part is None else str(part) for part in parts)


class Layout(NamedTuple):
    """Of an array of one shape in one format. `axis` is that of blocks of n, counted from the
    front; None of tiles and of one block for all."""

    format: BlockFormat
    shape: tuple[int, ...]
    axis: int | None

    @classmethod
    def of(cls, f: BlockFormat, shape: tuple[int, ...], axis: int) -> Layout:
        if not isinstance(axis, INTEGERS):
            raise TypeError(f"axis = {axis!r}: one integer is wanted")
        if not shape:
            raise ValueError("x has no axis; blocks lie along one")
        if f.block == "all":
            return cls(f, shape, None)
        if isinstance(f.block, tuple):
            if len(shape) < 2:
                raise ValueError(f"x has shape {shape}; {said(f)} has tiles of two axes")
            if axis != -1:
                raise ValueError(f"axis = {axis}: tiles of {said(f)} are of the last two axes")
            return cls(f, shape, None)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(
                f"axis = {axis}: x has shape {shape}, and it may be {-len(shape)} to "
                f"{len(shape) - 1}"
            )
        return cls(f, shape, axis % len(shape))

    @property
    def extents(self) -> tuple[int, ...]:
        """Of a block, along each axis; of parts without elements at least 1."""
        block = self.format.block
        if block == "all":
            return tuple(max(1, n) for n in self.shape)
        if isinstance(block, tuple):
            return (*(1 for _ in self.shape[:-2]), *block)
        of_axis = int(block) or max(1, self.shape[self.axis or 0])
        return tuple(of_axis if i == self.axis else 1 for i in range(len(self.shape)))

    @property
    def scales_shape(self) -> tuple[int, ...]:
        return tuple(-(-n // b) for n, b in zip(self.shape, self.extents, strict=True))

    @property
    def grid(self) -> Grid:
        """The array as the core takes it: outer, rows, columns, and a block's rows and columns."""
        shape = self.shape
        if self.format.block == "all":
            return 1, 1, math.prod(shape), 1, math.prod(self.extents)
        if self.axis is None:
            rows, columns = self.extents[-2:]
            return math.prod(shape[:-2]), shape[-2], shape[-1], rows, columns
        block, at = self.extents[self.axis], self.axis
        if at == len(shape) - 1:
            return 1, math.prod(shape[:-1]), shape[-1], 1, block
        return math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :]), block, 1

    def largest(self, magnitudes: np.ndarray) -> np.ndarray:
        """Of each block, in the scales' shape."""
        for i, block in enumerate(self.extents):
            if block > 1:
                begins = range(0, self.shape[i], block)
                magnitudes = np.maximum.reduceat(magnitudes, begins, axis=i)
        return magnitudes

    def spread(self, of_blocks: np.ndarray) -> np.ndarray:
        """What each block has, for each of its elements."""
        for i, (n, block) in enumerate(zip(self.shape, self.extents, strict=True)):
            if block > 1:
                of_blocks = np.repeat(of_blocks, block, axis=i).take(range(n), axis=i)
        return of_blocks

    def spread_to(self, parts: Layout, scales: np.ndarray) -> np.ndarray | None:
        """The scales of blocks that are parts of these; None where one lies in two of these."""
        for i, (n, block, part) in enumerate(
            zip(self.shape, self.extents, parts.extents, strict=True)
        ):
            if block < n and block % part:
                return None
            times = -(-min(block, n) // part)
            scales = scales.repeat(times, axis=i).take(range(parts.scales_shape[i]), axis=i)
        return scales

    def check_whole(self) -> None:
        for i, (n, block) in enumerate(zip(self.shape, self.extents, strict=True)):
            if n % block:
                raise ValueError(
                    f"x has shape {self.shape}: axis {i} is no multiple of {block}, the block of "
                    f"{said(self.format)}; padding='zeros' takes it as if zeros followed"
                )

    # --- Parts ---

    def part(self, key: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], BlockFormat, int]:
        """Keys of elements and of scales; the part's format and axis."""
        keys = self.whole_key(key)
        of_scales = tuple(self.scale_key(i, k) for i, k in enumerate(keys))
        left = [i for i, k in enumerate(keys) if isinstance(k, slice)]
        if not left:
            raise IndexError(
                f"key {brief(key)} is one number, and blocks have an axis; take a slice, or "
                "x.to_float64(), whose numbers stand alone"
            )
        axis = -1
        if self.axis is not None:
            axis = left.index(self.axis)
            axis -= len(left) if axis == len(left) - 1 else 0
        return keys, of_scales, self.format, axis

    def whole_key(self, key: Any) -> tuple[Any, ...]:
        keys = list(key if isinstance(key, tuple) else (key,))
        if any(k is not Ellipsis and not isinstance(k, (slice, *INTEGERS)) for k in keys):
            raise TypeError(f"key {told(key)}: blocks are picked by integers, slices and ...")
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (len(self.shape) - len(keys) + 1)
        keys += [slice(None)] * (len(self.shape) - len(keys))
        if len(keys) != len(self.shape) or Ellipsis in keys:
            raise IndexError(f"key {key!r}: the array has {len(self.shape)} axes")
        return tuple(keys)

    def scale_key(self, axis: int, key: Any) -> Any:
        block, n = self.extents[axis], self.shape[axis]
        tile = isinstance(self.format.block, tuple) and axis >= len(self.shape) - 2
        if block == 1 and self.axis != axis and not tile:
            return key
        if not isinstance(key, slice):
            raise IndexError(
                f"key {key!r}: axis {axis} has blocks of {block}; take a slice of them"
            )
        start, stop, step = key.indices(n)
        stop = max(start, stop)
        if step != 1 or start % block or (stop % block and stop != n) or start == stop < n:
            raise IndexError(
                f"key {slice_text(key)}: axis {axis} has blocks of {block}, and a part begins "
                "and ends with one"
            )
        return slice(start // block, -(-stop // block))

    def transposed(self, axes: Any) -> tuple[tuple[int, ...], BlockFormat, int]:
        n = len(self.shape)
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], INTEGERS) else axes
        order = tuple(a + n if a < 0 else a for a in given) or tuple(reversed(range(n)))
        if sorted(order) != list(range(n)):
            raise ValueError(f"axes = {given}: each of {n} axes once is wanted")
        if self.axis is not None:
            at = order.index(self.axis)
            return order, self.format, at - n if at == n - 1 else at
        if self.format.block == "all" or order[-2:] == (n - 2, n - 1):
            return order, self.format, -1
        if order[-2:] != (n - 1, n - 2):
            raise ValueError(
                f"axes = {order}: tiles of {said(self.format)} stay on the last two axes; "
                "to_float64() has numbers that go anywhere"
            )
        return order, self.turned(), -1

    def turned(self) -> BlockFormat:
        """The format of tiles whose rows are columns."""
        rows, columns = self.extents[-2:]
        return BlockFormat(str(self.format).replace(f",{rows}x{columns},", f",{columns}x{rows},"))
