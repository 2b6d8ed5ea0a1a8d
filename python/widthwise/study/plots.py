"""How lines of a study are drawn: told apart, with zeros and infinities in their places.

Colours are of middle lightness, so that a figure is read on white and on black. A number that a
logarithmic axis has no place for stands at its lower end, a zero, or at its upper one, an infinity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

COLOURS = ("#2f78d0", "#cf5a12", "#2b8a3e", "#d6336c", "#8a5cd6", "#0b8494", "#a8710b", "#7a7f87")
MARKERS = "os^DvP<X>*ph"
DECADE = 10  # between the ends of lengths that a logarithmic axis shows better
ALIKE = 0.02  # lines that lie this near each other everywhere would hide each other
MOST_MARKERS = 8  # a line
GOLDEN = 0.618  # whose multiples lie apart from each other
MOST_NAMES = 24  # in a column of the legend
DASH = 5  # points of a line that gives way to one that lies on it


class Look:
    """How one line is told from the others."""

    def __init__(self, place: int) -> None:
        self.colour = COLOURS[place % len(COLOURS)]
        self.marker = MARKERS[place % len(MARKERS)]
        self.hollow = place // len(COLOURS) % 2 == 1
        self.begin = place * GOLDEN % 1  # of its markers, as a share of their distance

    def of_markers(self) -> dict[str, Any]:
        face = "none" if self.hollow else self.colour
        return {"color": self.colour, "marker": self.marker, "ms": 5, "mfc": face, "mew": 1.1}


def axes(ax: Any) -> Any:
    """The user's own, or those of a new figure with room for a legend beside them."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
    return ax


def draw_lines(ax: Any, x: Sequence[int], lines: Mapping[str, np.ndarray]) -> dict[str, str]:
    """A line each on logarithmic axes; the colours that they have."""
    begin_logarithmic(ax, x)
    looks = {name: Look(i) for i, name in enumerate(lines)}
    for name, line in lines.items():
        alike = [other for other, y in lines.items() if lie_together(line, y)]
        place, n = alike.index(name), len(alike)
        gaps = "-" if n == 1 else (DASH * place, (DASH, DASH * (n - 1)))
        along = np.log(x) if ax.get_xscale() == "log" else np.asarray(x)
        begin = place / n if n > 1 else looks[name].begin
        every = sorted({*marked(along, begin), *alone(drawable(line))})
        style = {"linestyle": gaps, "lw": 1.6, "markevery": every, **looks[name].of_markers()}
        ax.plot(x, drawable(line), label=name, **style)
        draw_ends(ax, x, line, looks[name])
    return {name: look.colour for name, look in looks.items()}


def begin_logarithmic(ax: Any, x: Sequence[int]) -> None:
    ax.set_yscale("log")
    ax.margins(y=0.1)
    if len(x) > 2 and x[-1] >= DECADE * x[0]:
        ax.set_xscale("log")


def lie_together(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.allclose(x, y, rtol=ALIKE, atol=0, equal_nan=True))


def marked(along: np.ndarray, begin: float) -> list[int]:
    """Which points of a line have a marker, by their places along it: all of a few, else some at
    even distances, which begin at a share of the first."""
    if len(along) <= MOST_MARKERS:
        return [*range(len(along))]
    wanted = along[0] + (along[-1] - along[0]) * (np.arange(MOST_MARKERS) + begin) / MOST_MARKERS
    nearest = np.abs(wanted[:, np.newaxis] - along).argmin(axis=1)
    return sorted({*nearest.tolist()})


def alone(line: np.ndarray) -> list[int]:
    """Points between gaps, of which a line shows nothing."""
    gaps = np.isnan(np.concatenate([[np.nan], line, [np.nan]]))
    return np.flatnonzero(~gaps[1:-1] & gaps[:-2] & gaps[2:]).tolist()


def drawable(line: np.ndarray) -> np.ndarray:
    """What a logarithmic axis has a place for; gaps elsewhere."""
    return np.where((line > 0) & np.isfinite(line), line, np.nan)


def draw_ends(ax: Any, x: Sequence[int], line: np.ndarray, look: Look) -> None:
    """Zeros at the lower end of the axis and infinities at its upper one, each named once."""
    at_end = ax.get_xaxis_transform()
    for end, there, name in ((0, line == 0, "zero"), (1, ~np.isfinite(line), "infinite")):
        if not np.any(there):
            continue
        points = np.asarray(x)[there]
        if len(points) > MOST_MARKERS:
            along = np.log(points) if ax.get_xscale() == "log" else points
            points = points[marked(along, look.begin)]
        style = look.of_markers() | {"linestyle": "none", "clip_on": False, "zorder": 3}
        ax.plot(points, np.full(len(points), end), transform=at_end, label=f"_{name}", **style)
        name_end(ax, name, end)


def name_end(ax: Any, name: str, end: int) -> None:
    if name in (text.get_text() for text in ax.texts):
        return
    above = {0: "bottom", 1: "top"}[end]
    place = {"xytext": (4, 5 if end == 0 else -5), "textcoords": "offset points"}
    ax.annotate(name, (0, end), xycoords="axes fraction", va=above, fontsize="x-small", **place)


def shade(ax: Any, x: Sequence[int], low: np.ndarray, high: np.ndarray, colour: str) -> None:
    """Between two lines, down to the end of the axis where the lower one is zero."""
    least = np.nanmin(drawable(np.concatenate([low, high, [np.inf]])), initial=np.inf)
    floor = least / DECADE if np.isfinite(least) else np.nan
    shown = np.where(low == 0, floor, drawable(low))
    ax.fill_between(x, shown, drawable(high), color=colour, alpha=0.2, lw=0)


def finish(ax: Any, title: str | None, x: str, y: str) -> Any:
    """Names of the axes, and a legend beside the lines."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title is not None:
        ax.set_title(title)
    handles, names = ax.get_legend_handles_labels()
    columns = max(1, -(-len(names) // MOST_NAMES))
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
    legend = ax.legend(handles, names, fontsize="small", ncols=columns, frameon=False, **beside)
    for line in legend.get_lines():
        if line.get_marker() != "None":  # which may give way to others, but not here
            line.set_linestyle("-")
    return ax
