"""What the functions take as operands, and what they say of anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _codes
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._create import code_array
from ._format import Format
from ._format_texts import said


def operand(name: str, x: Any, format: Format | None) -> Any:
    """An array of codes, or unsigned integers as the codes of `format`."""
    if isinstance(x, CodeArray):
        return x
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "u":
        wanted = f"'{said(format)}'" if format else "format"
        raise TypeError(
            f"{name} is {kind_of(x)}; an Array or unsigned integers (codes) are wanted. "
            f"Values are taken by ww.array({name}, {wanted})"
        )
    if format is None:
        raise TypeError(
            f"{name} is {kind_of(x)}, codes of a format that is not named; "
            f"pass format=, or ww.from_bits({name}, format)"
        )
    return code_array(name, np.asarray(x), format)


def check_count(what: str, count: int, given: Sequence[Any]) -> None:
    if len(given) != count:
        raise TypeError(
            f"{what} takes {count} operand{'s' * (count != 1)}, {len(given)} "
            f"{'was' if len(given) == 1 else 'were'} given"
        )


def operands(named: dict[str, Any], format: Format | None) -> list[Any]:
    """All of an operation's operands. Codes are of the Arrays' format, or of `format`."""
    known = next((x.format for x in named.values() if isinstance(x, CodeArray)), format)
    return [operand(name, x, known) for name, x in named.items()]


def result_format(named: dict[str, Array], format: Format | None) -> Format:
    """`format`, or the one that all operands have."""
    if format is not None:
        return format
    (first, x), *rest = named.items()
    for name, y in rest:
        if y.format != x.format:
            raise TypeError(
                f"{first} is {said(x.format)} and {name} is {said(y.format)}; name the result's "
                f"format, as format='{said(x.format)}'"
            )
    return x.format


def broadcast(named: dict[str, Array]) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Contiguous codes of one shape, by NumPy's rules, and that shape."""
    shape = common_shape(named)
    return [spread(x, shape) for x in named.values()], shape


def common_shape(named: Mapping[str, CodeArray]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(x.shape for x in named.values()))
    except ValueError:
        shapes = " and ".join(f"{name} has shape {x.shape}" for name, x in named.items())
        raise ValueError(f"{shapes}; they do not broadcast to one") from None


def spread(x: Array, shape: tuple[int, ...]) -> np.ndarray:
    if x.shape == shape:
        return np.asarray(x.bits, order="C")  # which np.ascontiguousarray makes (1,) of ()
    spread = np.asarray(np.broadcast_to(_codes.items(x.bits, x.format), shape), order="C")
    return _codes.bits(spread, x.format)
