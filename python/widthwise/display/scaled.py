"""A scaled tensor's card: where its data lie in the range of their dtype, and what stays empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _codes
from .._array import Array
from .._doublings import doublings
from .._table import Table
from .style import FIELD_COLOURS, LOST, Card, Drawing, Html, label, stroke, svg, tag

if TYPE_CHECKING:
    from ..containers.scaled import Scaled

WIDTH = 560  # pixels
MARGIN = 14
HEIGHT = 60  # of the longest bar
WIDEST = 56  # pixels a power of two


def scaled_card(x: Scaled) -> Card:
    title = f"{x.dtype}, shape {x.shape}, scale {x.scale!s}"
    if not x.size:
        return Card(title, "no elements")
    return Card(title, Table(["", ""], facts(x).items()), range_drawing(x))


def facts(x: Scaled) -> dict[str, object]:
    values = x.to_float32()
    return {
        "values": f"{values.min()!s} to {values.max()!s}",
        "data": f"{shown(x.data, np.argmin)} to {shown(x.data, np.argmax)}",
        "wasted bits": f"{np.float32(x.wasted_bits())!s} of {x.format.width}",
        "bytes": x.nbytes,
    }


def shown(data: Array | np.ndarray, place: Callable[[np.ndarray], Any]) -> str:
    return str(data.ravel()[int(place(numbers_of(data)))])


def numbers_of(data: Array | np.ndarray) -> np.ndarray:
    return _codes.to_float64(data, "rne") if isinstance(data, Array) else data.astype(np.float64)


def range_drawing(x: Scaled) -> Drawing:
    counts = by_power(x)
    return Drawing(lambda: as_text(counts), lambda: as_svg(x, counts))


def by_power(x: Scaled) -> list[int]:
    """How many data lie at most so many powers of two below the dtype's largest; those that are
    zero or no numbers are not counted."""
    largest = float(x.format.max_finite)
    numbers = np.abs(numbers_of(x.data)).reshape(-1)
    numbers = numbers[np.isfinite(numbers) & (numbers > 0)]
    below = np.maximum(doublings(numbers, largest), 0)
    return np.bincount(below, minlength=powers(x)).tolist()


def powers(x: Scaled) -> int:
    """From the largest number of the dtype to the least."""
    least = 1 if x.format.system == "fixed" else x.format.min_subnormal
    return int(doublings(float(least), float(x.format.max_finite))) + 1


def as_text(counts: list[int]) -> str:
    most = max(*counts, 1)
    rows = [(f"max / 2^{i}", n, "#" * round(40 * n / most)) for i, n in enumerate(counts) if n]
    return str(Table(["data to", "numbers", ""], rows))


def as_svg(x: Scaled, counts: list[int]) -> Html:
    """A bar a power of two, the largest to the left; what is wasted there has a tint."""
    step = min(WIDEST, (WIDTH - 2 * MARGIN) / len(counts))
    most = max(*counts, 1)
    used = next((i for i, n in enumerate(counts) if n), len(counts))
    bottom = HEIGHT + 24
    parts = [stroke(MARGIN, bottom, MARGIN + step * len(counts), bottom, opacity=0.5)]
    if used:
        parts += unused(step * used, bottom, f"{used} of {len(counts)} powers of two are empty")
    for i, n in enumerate(counts):
        parts += bar(MARGIN + i * step, bottom, step, HEIGHT * n / most) if n else []
    for i in sorted({0, used % len(counts), len(counts) - 1}):
        text = "max" if i == 0 else f"max/2^{i}"
        x1 = min(max(MARGIN + (i + 0.5) * step, 4 * len(text)), WIDTH - 4 * len(text))
        parts.append(label(x1, bottom + 14, text))
    return svg(WIDTH, bottom + 20, f"data of {x.dtype} by powers of two below the largest", *parts)


def bar(left: float, bottom: float, step: float, height: float) -> list[Html]:
    top = bottom - max(height, 1)
    colour = FIELD_COLOURS["fraction"]
    place = {"x": f"{left + 1:.1f}", "y": f"{top:.1f}", "height": f"{bottom - top:.1f}"}
    wide = f"{max(step - 2, 1):.1f}"
    return [tag("rect", **place, width=wide, fill=colour, fill_opacity=0.6, stroke=colour)]


def unused(width: float, bottom: float, text: str) -> list[Html]:
    place = {"x": MARGIN, "y": bottom - HEIGHT, "width": f"{width:.1f}", "height": HEIGHT}
    tint = tag("rect", **place, fill=LOST, fill_opacity=0.15)
    return [tint, label(MARGIN, bottom - HEIGHT - 6, text, "start", fill=LOST)]
