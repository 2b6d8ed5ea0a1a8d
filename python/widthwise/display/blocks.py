"""A card of blocks: their scales, and how far their elements fill the format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _codes
from .._array import Array
from .._table import Table
from .style import FIELD_COLOURS, LINE, LOST, Card, Drawing, Html, label, stroke, svg, tag

if TYPE_CHECKING:
    from ..containers.blocks import Blocks

WIDTH, LEFT, ROW = 560, 118, 34  # pixels
SHOWN_BLOCKS, SHOWN_ELEMENTS = 6, 32
COLOURS = {False: FIELD_COLOURS["fraction"], True: FIELD_COLOURS["sign"]}


def blocks_card(x: Blocks) -> Card:
    title = f"{x.format}, shape {x.shape}"
    if not x.size:
        return Card(title, "no elements")
    shown = first_blocks(x)
    return Card(
        title,
        sentence(x),
        Drawing(lambda: "", lambda: drawing(x, shown)),
        Table(["block", "scale", "elements"], [row(x, *block) for block in shown]),
    )


def sentence(x: Blocks) -> str:
    said = [f"{x.nbytes} bytes, {8 * x.nbytes / x.size:.4g} bits a number"]
    if x.tensor_scale is not None:
        said.append(f"tensor scale {float(x.tensor_scale):.9g}")
    if x.clamped:
        said.append(f"{x.clamped} of {x.size} elements clamped")
    if x.nan_blocks:
        said.append(f"{x.nan_blocks} of {x.scales.size} blocks are NaN")
    return "; ".join(said)


def first_blocks(x: Blocks) -> list[tuple[tuple[int, ...], Array]]:
    """The place of each in the scales, and its elements' first ones."""
    extents = x._layout.extents
    found = []
    for i in range(min(SHOWN_BLOCKS, x.scales.size)):
        place = tuple(int(n) for n in np.unravel_index(i, x.scales.shape))
        key = tuple(slice(p * b, (p + 1) * b) for p, b in zip(place, extents, strict=True))
        found.append((place, x.elements[key].ravel()[:SHOWN_ELEMENTS]))
    return found


def row(x: Blocks, place: tuple[int, ...], elements: Array) -> tuple[Any, ...]:
    texts = elements._texts(elements.bits)
    block = math.prod(x._layout.extents)
    more = " …" if block > len(texts) or len(texts) > 8 else ""
    return ", ".join(map(str, place)), scale_text(x, place), "  ".join(texts[:8]) + more


def scale_text(x: Blocks, place: tuple[int, ...]) -> str:
    scale = x.scales[place]
    if not x.format._core.power_of_two:
        return str(scale)
    code, top = int(scale.bits), x.format._core.scale.bias
    return "NaN" if code == 2 * top + 1 else f"2^{code - top}"


def drawing(x: Blocks, shown: list[tuple[tuple[int, ...], Array]]) -> Html:
    """A row a block; a bar's height is its element's share of the largest the format has."""
    largest = float(x.format.element.max_finite)
    parts: list[Any] = []
    for i, (place, elements) in enumerate(shown):
        foot = (i + 1) * ROW
        parts.append(label(LEFT - 10, foot - 8, scale_text(x, place), "end"))
        parts.append(stroke(LEFT, foot, WIDTH - 4, foot, stroke=LINE))
        parts += bars(_codes.to_float64(elements, "rne") / largest, foot)
    title = f"elements of {x.format} under their scales"
    return svg(WIDTH, len(shown) * ROW + 4, title, *parts)


def bars(shares: np.ndarray, foot: float) -> list[Html]:
    step = min(13.5, (WIDTH - LEFT - 4) / max(1, shares.size))
    return [bar(LEFT + i * step, step - 2, foot, float(share)) for i, share in enumerate(shares)]


def bar(x: float, width: float, foot: float, share: float) -> Html:
    height = min(abs(share), 1.0) * (ROW - 8) if math.isfinite(share) else ROW - 8
    colour = COLOURS[share < 0] if math.isfinite(share) else LOST
    place = {"x": f"{x:.1f}", "y": f"{foot - height:.1f}", "width": f"{width:.1f}"}
    return tag("rect", **place, height=f"{height:.1f}", fill=colour)
