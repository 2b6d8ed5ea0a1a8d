"""The card of affine integers: the line of their codes, and what their scales are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._table import Table
from .card import MARGIN, WIDTH, axis, spaced_labels, tick
from .style import Card, Drawing, Html, stroke, svg

if TYPE_CHECKING:
    from ..containers.affine import Affine

MOST_ROWS = 5  # scales that are written out
MOST_TICKS = 65  # codes drawn one by one


def affine_card(x: Affine) -> Card:
    if not x.scale.size:
        return Card(x.format, sentence(x))
    return Card(
        x.format,
        sentence(x),
        Drawing(lambda: line_text(x), lambda: line_svg(x)),
        Table(["", "scale", "zero point", "least", "largest"], rows(x)),
    )


def sentence(x: Affine) -> str:
    said = [f"shape {x.shape}, {x.bits} bits a code: {x.qmin} to {x.qmax}, in {x.codes.dtype}"]
    if x.scale.size > 1:
        said.append(f"{x.scale.size} scales in {x.scale.dtype}, shape {x.scale.shape}")
    if x.clamped is not None:
        said.append(f"{x.clamped} of {x.size} clamped" if x.clamped else "none clamped")
    said += [f"{x.nan} NaN"] if x.nan else []
    said += [f"arithmetic {x.arithmetic}"] if x.arithmetic != "exact" else []
    return "; ".join(said)


def ends(x: Affine, i: int) -> tuple[float, float, float, int]:
    """Scale and zero point of a group, and the numbers of its least and largest code."""
    scale, zero = float(x.scale.reshape(-1)[i]), int(x.zero_point.reshape(-1)[i])
    return (x.qmin - zero) * scale, (x.qmax - zero) * scale, scale, zero


def rows(x: Affine) -> list[tuple[Any, ...]]:
    few = min(x.scale.size, MOST_ROWS)
    listed: list[tuple[Any, ...]] = []
    for i in range(few):
        low, high, scale, zero = ends(x, i)
        name = str([int(n) for n in np.unravel_index(i, x.scale.shape)]) if x.scale.ndim else ""
        listed.append((name, f"{scale:.6g}", zero, f"{low:.6g}", f"{high:.6g}"))
    if x.scale.size > few:
        listed.append((f"… {x.scale.size - few} more", "", "", "", ""))
    return listed


def marks(x: Affine) -> dict[int, str]:
    """Codes of the first group that have a name: the ends, and zero's."""
    low, high, _, zero = ends(x, 0)
    return {x.qmin: f"{low:.4g}", x.qmax: f"{high:.4g}", zero: "0"}


def line_text(x: Affine) -> str:
    return "   ".join(f"{code} = {number}" for code, number in sorted(marks(x).items()))


def line_svg(x: Affine) -> Html:
    """Codes above the line, the first group's numbers below it; how often each code occurs."""
    span = max(1, x.qmax - x.qmin)

    def at(code: float) -> float:
        return 2 * MARGIN + (WIDTH - 4 * MARGIN) * (code - x.qmin) / span

    count = min(span + 1, MOST_TICKS)
    often = np.histogram(x.codes, count, (x.qmin - 0.5, x.qmax + 0.5))[0] if x.size else np.zeros(1)
    tallest = max(1, int(often.max()))
    step = (span + 1) / count
    parts = [axis(58)]
    for i, n in enumerate(often.tolist()):
        centre = at(x.qmin - 0.5 + (i + 0.5) * step)
        if n:
            height = max(1.0, 34 * n / tallest)
            width = max(1.5, 0.8 * (WIDTH - 4 * MARGIN) * step / span)
            bar = {"stroke": "#2f78d0", "stroke_width": f"{min(width, 12):.1f}", "opacity": 0.7}
            parts.append(stroke(centre, 57, centre, 57 - height, **bar))
    named = marks(x)
    parts += [tick(at(code), 58, 6) for code in named]
    order = sorted(named, key=lambda code: named[code] != "0")
    parts += spaced_labels([(at(code), str(code)) for code in order], 14)
    parts += spaced_labels([(at(code), named[code]) for code in order], 78)
    return svg(WIDTH, 86, f"the codes of {x.format}", *parts)
