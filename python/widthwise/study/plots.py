"""How lines of a study are drawn: told apart, with zeros and infinities in their places.

Colours are of middle lightness, so that a figure is read on white and on black. A number that a
logarithmic axis has no place for stands at its lower end, a zero, or at its upper one, an infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
# What stands at the ends of a logarithmic axis, and what they are called.
ENDS: Mapping[int, Callable[[np.ndarray], np.ndarray]] = {
    0: lambda line: np.equal(line, 0),
    1: lambda line: ~np.isfinite(line),
}
NAMES_OF_ENDS = {0: "zero", 1: "infinite"}
STEP, SPREAD = 6, 60  # points between marks that would hide each other, and between all of them


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
        draw_line(ax, x, line, looks[name], alike.index(name), len(alike), name)
    for end, at_end in ENDS.items():
        there = {name: at_end(line) for name, line in lines.items() if np.any(at_end(line))}
        for place, (name, points) in enumerate(there.items()):
            draw_end(ax, end, np.asarray(x)[points], looks[name], place, len(there))
    return {name: look.colour for name, look in looks.items()}


def draw_line(
    ax: Any, x: Sequence[int], line: np.ndarray, look: Look, place: int, n: int, name: str
) -> None:
    """One of n that lie on each other: they give way by turns, in dashes and in marks."""
    shown, begin = drawable(line), place / n if n > 1 else look.begin
    every = sorted({*marked(spaced(ax, x), begin), *alone(shown)})
    if n > 1 and len(x) <= MOST_MARKERS:
        there = [i for i in every if np.isfinite(shown[i])]
        every = there[place::n] if n <= len(there) else []
        if not every:
            mark_aside(ax, ax.transData, x, shown, look, place, n)
    style = {"linestyle": gaps(place, n), "lw": 1.6, "label": name, **look.of_markers()}
    ax.plot(x, shown, markevery=every, **style)


def gaps(place: int, n: int) -> Any:
    """The dashes of one line of n that lie on each other, by turns."""
    return "-" if n == 1 else (DASH * place, (DASH, DASH * (n - 1)))


def spaced(ax: Any, x: Sequence[int] | np.ndarray) -> np.ndarray:
    """As far from each other as on the axis."""
    return np.log(x) if ax.get_xscale() == "log" else np.asarray(x)


def mark_aside(
    ax: Any, where: Any, x: Any, y: Any, look: Look, place: int, n: int, label: str = "_marks"
) -> None:
    """Marks of one line of n that have them at the same points: moved, so that all are seen."""
    from matplotlib.lines import Line2D
    from matplotlib.transforms import offset_copy

    points = (place - (n - 1) / 2) * min(STEP, SPREAD / n)
    moved = offset_copy(where, ax.figure, x=points, units="points")
    style = look.of_markers() | {"linestyle": "none", "clip_on": False, "zorder": 3}
    ax.add_artist(Line2D(x, y, transform=moved, label=label, **style))


def begin_logarithmic(ax: Any, x: Sequence[int]) -> None:
    ax.set_yscale("log")
    ax.margins(y=0.1)
    ax.update_datalim([(place, 1) for place in x], updatey=False)  # even if nothing is between
    if len(x) > 2 and x[-1] >= DECADE * x[0]:
        ax.set_xscale("log")
    elif len(x) == 1:
        ax.set_xticks(x)
    else:
        count_whole(ax)


def count_whole(ax: Any) -> None:
    """Of an axis of terms: there is no half of one."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


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


def draw_end(ax: Any, end: int, points: np.ndarray, look: Look, place: int, n: int) -> None:
    """Zeros at the lower end of the axis or infinities at its upper one, of one line of n."""
    if len(points) > MOST_MARKERS:
        points = points[marked(spaced(ax, points), look.begin)]
    y, where = np.full(len(points), end), ax.get_xaxis_transform()
    mark_aside(ax, where, points, y, look, place, n, f"_{NAMES_OF_ENDS[end]}")
    name_end(ax, end)


def draw_limit(
    ax: Any, x: Sequence[int], line: np.ndarray, dashes: str, style: dict[str, Any]
) -> None:
    """A bound: along the upper end of the axis where it is infinite."""
    shown = {"lw": 1, "ls": dashes, "marker": "_", "ms": 8, **style}
    there, endless = drawable(line), np.where(np.isfinite(line), np.nan, 1.0)
    ax.plot(x, there, markevery=alone(there), **shown)
    if np.any(endless == 1):
        at_end = {"transform": ax.get_xaxis_transform(), "clip_on": False}
        ax.plot(x, endless, markevery=alone(endless), **shown, **at_end)
        name_end(ax, 1)


def name_end(ax: Any, end: int) -> None:
    """Once."""
    name = NAMES_OF_ENDS[end]
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
