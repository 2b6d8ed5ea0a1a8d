"""What the products know of numbers with a scale: how they come to a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ._format_texts import said

if TYPE_CHECKING:
    import numpy as np

    from ._array import Array
    from ._format import Format
    from ._unit import Unit


class Scaled(NamedTuple):
    """An operand as a unit with block scales takes it."""

    elements: Array
    scales: Array
    tensor_scale: np.float32 | None  # of the whole operand: products are multiplied by it


class Container:
    """Numbers that a unit takes apart: codes and scales."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def numbers(self) -> Any:
        """What other containers are made of: exact, NumPy's or on a GPU a DeviceArray."""
        raise NotImplementedError

    def for_unit(self, name: str, unit: Unit, axis: int) -> Scaled:
        """Codes and scales for a unit that sums along an axis; an error that names the argument
        and the way out, where the blocks are not those that the unit scales."""
        raise NotImplementedError


def told_apart(name: str, x: Any, scale: Any, unit: Unit, axis: int) -> Scaled:
    """An operand and its scales, given beside it or within it."""
    if not isinstance(x, Container):
        return Scaled(x, scale, None)
    if scale is not None:
        raise ValueError(
            f"scale_{name} is given, and {name} has scales of its own; leave it out, or pass "
            f"{name}.elements"
        )
    return x.for_unit(name, unit, axis)


def as_operand(name: str, x: Any, format: Format, unit: Unit) -> str:
    """What makes of values what a unit takes."""
    values = f"{name}.to_float64()" if hasattr(x, "to_float64") else name
    if unit.scale_format is None or unit.scale_block is None or name not in ("a", "b"):
        return f"ww.array({values}, '{said(format)}')"
    from ._block_format import BlockFormat

    blocks = BlockFormat.of(format, unit.scale_block, unit.scale_format)
    return f"ww.blocks({values}, '{said(blocks)}') along the axis that is summed"


def without_tensor_scale(name: str, x: Any, scale: Any, unit: Unit) -> tuple[Any, Any]:
    """Codes and scales of an operand of dot products, for whoever looks at the unit's own sums."""
    apart = told_apart(name, x, scale, unit, -1)
    if apart.tensor_scale not in (None, 1):
        raise ValueError(
            f"{name} has a tensor scale, {apart.tensor_scale:.9g}, which multiplies a unit's sums "
            f"once they are done; pass blocks without it: ww.blocks(x, '{said(x.format)}', "
            "tensor_scale=1)"
        )
    return apart.elements, apart.scales
