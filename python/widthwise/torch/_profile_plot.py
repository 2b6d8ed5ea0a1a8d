"""A profile as a picture: errors at the output by layer and format, and what ranges lie there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..study.plots import COLOURS, Look

if TYPE_CHECKING:
    from ._profile import Profile

ROW = 0.34  # inches a layer
LEAST = 2.4
WIDTH = 9.5
LONGEST = 24  # digits of a name
BAR = 0.34
APART = 0.5  # of a layer's row, which its formats' marks take
ACROSS = 72  # digits of formats' names in a line above the errors
GAP = 5  # digits that a mark takes


def draw(profile: Profile, axes: Any, title: str | None) -> Any:
    names = profile.layers
    if axes is None:
        import matplotlib.pyplot as plt

        height = max(LEAST, 1.3 + ROW * len(names))
        share = {"width_ratios": (3, 2)}
        _, axes = plt.subplots(
            1, 2, figsize=(WIDTH, height), layout="constrained", sharey=True, gridspec_kw=share
        )
    left, right = axes
    draw_errors(left, profile, names)
    draw_ranges(right, profile, names)
    kinds = {row["layer"]: row["type"] for row in profile.records()}
    left.set_yticks(range(len(names)), [f"{short(name)}  {kinds[name]}" for name in names])
    left.set_ylim(len(names) - 0.4, -0.6)
    if title is not None:
        left.figure.suptitle(title)
    return axes


def short(name: str) -> str:
    return name if len(name) <= LONGEST else "…" + name[1 - LONGEST :]


def draw_errors(ax: Any, profile: Profile, names: list[str]) -> None:
    """A mark a format; what is infinite stands at the right end, what is zero at the left."""
    errors = profile["error_output"].astype(float)
    there = [float(e) for e in errors if 0 < e < math.inf] or [1e-3]
    low, high = min(there) / 2, max(there) * 2
    for place, format in enumerate(profile.formats):
        rows = [row for row in profile.records() if row["format"] == format]
        x = [min(max(row["error_output"], low), high) for row in rows]
        aside = (place - (len(profile.formats) - 1) / 2) * APART / len(profile.formats)
        y = [names.index(row["layer"]) + aside for row in rows]  # equal ones hide none
        ax.plot(x, y, ls="none", label=format, clip_on=False, **Look(place).of_markers())
    ax.set_xscale("log")
    ax.set_xlim(low / 1.1, high * 1.1)
    infinite = " (infinite at the right)" if any(e == math.inf for e in errors) else ""
    ax.set_xlabel(f"error at the output, relative{infinite}")
    ax.grid(axis="y", alpha=0.25, lw=0.8)
    longest = max(map(len, profile.formats))
    columns = min(4, len(profile.formats), max(1, ACROSS // (longest + GAP)))
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "borderaxespad": 0}
    ax.legend(fontsize="small", frameon=False, ncols=columns, handletextpad=0.2, **above)


def draw_ranges(ax: Any, profile: Profile, names: list[str]) -> None:
    """Powers of two from the least to the largest magnitude."""
    first = {row["layer"]: row for row in profile.records()}
    for shift, of, colour in ((-BAR / 2, "input", COLOURS[0]), (BAR / 2, "weight", COLOURS[1])):
        for i, name in enumerate(names):
            ends = first[name][f"{of}_least"], first[name][f"{of}_largest"]
            if None in ends:
                continue
            low, high = map(math.log2, ends)
            label = f"{of}s" if i == 0 else None
            ax.barh(i + shift, high - low, BAR * 0.8, low, color=colour, label=label)
    ax.use_sticky_edges = False
    ax.margins(x=0.04)
    ax.axvline(0, color=COLOURS[-1], lw=0.8)
    ax.set_xlabel("magnitudes above zero, powers of two")
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "borderaxespad": 0}
    ax.legend(fontsize="small", frameon=False, ncols=2, **above)
