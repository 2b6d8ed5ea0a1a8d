"""Parts of affine integers: codes with the scales that are theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._device import DeviceArray
from .grouping import Grouping
from .layout import slice_text, told

if TYPE_CHECKING:
    from .affine import Affine

Parts = tuple[Any, np.ndarray, np.ndarray, Grouping]


def sliced(x: Affine, index: Any) -> Parts:
    groups = x.grouping
    if groups.kind == "tensor":
        return part_of(x.codes, index), x.scale, x.zero_point, groups
    one_each = of_each_axis(index, x.shape)
    taken = {groups.axis} | ({groups.axis - 1} if groups.kind == "tile" else set())
    on_scales: list[Any] = []
    for axis, part in enumerate(one_each):
        if groups.kind == "channel":
            on_scales += [part] if axis == groups.axis else []
        elif axis not in taken:
            on_scales.append(part)
        else:
            block = groups.length(x.shape) if axis == groups.axis else groups.rows
            on_scales.append(of_blocks(part, axis, block, x.shape[axis]))
    scale, zero = x.scale[tuple(on_scales)], x.zero_point[tuple(on_scales)]
    codes = part_of(x.codes, tuple(one_each))
    if isinstance(one_each[groups.axis], int):  # only of channels
        return codes, np.asarray(scale), np.asarray(zero), Grouping("tensor")
    before = sum(isinstance(part, int) for part in one_each[: groups.axis])
    fixed = replace(groups, axis=groups.axis - before)
    return codes, scale, zero, fixed


def part_of(codes: Any, index: Any) -> Any:
    """Not a scalar: NumPy's integers, or on a GPU a DeviceArray."""
    part = codes[index]
    return part if isinstance(codes, DeviceArray) else np.asarray(part)


def of_each_axis(index: Any, shape: tuple[int, ...]) -> list[Any]:
    """An integer or a slice for each axis."""
    parts = list(index) if isinstance(index, tuple) else [index]
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), None)
    if at is not None:
        parts[at : at + 1] = [slice(None)] * (len(shape) - len(parts) + 1)
    parts += [slice(None)] * (len(shape) - len(parts))
    if len(parts) > len(shape):
        raise IndexError(f"{len(parts)} indices on an array of {len(shape)} axes")
    for i, part in enumerate(parts):
        if isinstance(part, slice):
            continue
        if isinstance(part, bool) or not isinstance(part, int | np.integer):
            raise TypeError(
                f"index {told(part)}: integers and slices are taken where there are several "
                "scales; x.to_float64() takes any"
            )
        parts[i] = int(part)
    return parts


def of_blocks(part: Any, axis: int, block: int, size: int) -> slice:
    """A slice of elements as one of blocks."""
    start, stop, step = part.indices(size) if isinstance(part, slice) else (part, part + 1, 1)
    whole = step == 1 and start % block == 0 and (stop % block == 0 or stop == size)
    if not isinstance(part, slice) or not whole or stop <= start < size:
        said = slice_text(part) if isinstance(part, slice) else part
        raise ValueError(
            f"index {said} on axis {axis} cuts a block of {block}; take whole blocks, as "
            f"{start // block * block}:{-(-max(stop, start + 1) // block) * block}"
        )
    return slice(start // block, -(-stop // block))


def transposed(x: Affine, axes: tuple[Any, ...]) -> Parts:
    order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
    order = order or tuple(reversed(range(x.ndim)))
    codes = x.codes.transpose(order)
    groups = x.grouping
    if groups.kind == "tensor":
        return codes, x.scale, x.zero_point, groups
    order = tuple(axis % x.ndim for axis in order)
    if groups.kind == "channel":
        return codes, x.scale, x.zero_point, replace(groups, axis=order.index(groups.axis))
    scale, zero = x.scale.transpose(order), x.zero_point.transpose(order)
    if groups.kind == "block":
        return codes, scale, zero, replace(groups, axis=order.index(groups.axis))
    if order[-2:] == (x.ndim - 2, x.ndim - 1):
        return codes, scale, zero, groups
    if order[-2:] == (x.ndim - 1, x.ndim - 2):
        return codes, scale, zero, replace(groups, rows=groups.block, block=groups.rows)
    raise ValueError(f"axes {order}: tiles lie on the last two axes, which have to stay the last")
