"""Draws where each rounding mode sends what, for docs/short_forms.md: as Widthwise itself rounds.

`python docs/rounding_modes.py` writes both pictures anew. Each bears what it shows as text, too.
"""

from pathlib import Path

import numpy as np
import widthwise as ww
from drawing import TEXT, grid, plain, plt, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
FORMAT = "e5m2"  # its numbers from 4 to 8 are the integers: 4 and 6 even, 5 odd
MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
STOCHASTIC = ["sr2", "sr2:half", "sr2:even"]
VALUES = [4.25, 4.5, 4.75, 5.25, 5.5, 5.75]
FRACTIONS = [i / 32 for i in range(33)]
UP, DOWN = "#d9730d", "#3b82f6"  # each is readable on white and on black


def sent(mode: str) -> list[float]:
    """Where a mode sends -VALUES, from the least on, and VALUES."""
    values = [*[-v for v in reversed(VALUES)], *VALUES]
    return ww.array(values, FORMAT, rounding=mode).to_float64().tolist()


def share_away(mode: str) -> list[float]:
    """The share of all random words that send 4 + fraction to 5."""
    words = np.arange(4, dtype=np.uint64)
    rounded = [
        ww.array(np.full(4, 4 + f), FORMAT, rounding=mode, random=words).to_float64()
        for f in FRACTIONS
    ]
    return [float(np.mean(r == 5)) for r in rounded]


def described() -> dict[str, str]:
    """What each picture shows, a line a mode."""
    deterministic = "; ".join(f"{mode}: {' '.join(f'{v:g}' for v in sent(mode))}" for mode in MODES)
    stochastic = "; ".join(
        f"{mode}: {' '.join(f'{s:g}' for s in share_away(mode))}" for mode in STOCHASTIC
    )
    return {"rounding_modes": deterministic, "stochastic_rounding": stochastic}


def draw_side(axes: Axes, values: list[float], ends: list[list[float]]) -> None:
    """One side of the number line: a row a mode, a triangle a value that points where it goes."""
    low, high = min(values), max(values)
    for number in range(int(np.floor(low)), int(np.ceil(high)) + 1):
        axes.axvline(number, color=TEXT, linewidth=1.2)
        for tie in (number - 0.5, number + 0.5):
            if low <= tie <= high:
                axes.axvline(tie, color=TEXT, linewidth=0.6, linestyle=":")
    for row, to in enumerate(ends):
        for value, end in zip(values, to, strict=True):
            up = end > value
            axes.plot(
                value,
                row,
                marker=">" if up else "<",
                markersize=9 if value % 1 == 0.5 else 6,
                color=UP if up else DOWN,
            )
    axes.set_xlim(np.floor(low) - 0.15, np.ceil(high) + 0.15)
    axes.set_xticks([*range(int(np.floor(low)), int(np.ceil(high)) + 1)])
    axes.xaxis.tick_top()


def draw_modes() -> Figure:
    figure, (below, above) = plt.subplots(1, 2, figsize=(7.2, 4.4), sharey=True)
    ends = [sent(mode) for mode in MODES]
    half = len(VALUES)
    draw_side(below, [-v for v in reversed(VALUES)], [to[:half] for to in ends])
    draw_side(above, VALUES, [to[half:] for to in ends])
    below.set_yticks(range(len(MODES)), MODES, family="monospace")
    below.invert_yaxis()
    for axes in (below, above):
        plain(axes, 11)
    figure.text(0.08, 0.02, "◀ to the number on the left", color=DOWN, fontsize=11)
    figure.text(0.42, 0.02, "▶ to the right", color=UP, fontsize=11)
    figure.text(0.64, 0.02, "large, dotted line: a tie", color=TEXT, fontsize=11)
    figure.subplots_adjust(left=0.08, right=0.98, top=0.92, bottom=0.1, wspace=0.08)
    return figure


def draw_stochastic() -> Figure:
    figure, all_axes = plt.subplots(1, 3, figsize=(7.2, 2.6), sharey=True)
    for axes, mode in zip(all_axes, STOCHASTIC, strict=True):
        axes.plot([0, 1], [0, 1], color=TEXT, linewidth=0.8, linestyle=":")
        axes.plot(FRACTIONS, share_away(mode), "o", markersize=3.5, color=UP)
        axes.set_title(mode, family="monospace", color=TEXT, fontsize=11)
        axes.set_xticks([0, 0.5, 1], ["4", "4.5", "5"])
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "", "50 %", "", "100 %"])
        plain(axes, 11)
        grid(axes)
    figure.subplots_adjust(left=0.1, right=0.98, top=0.88, bottom=0.12, wspace=0.12)
    return figure


def main() -> None:
    figures = {"rounding_modes": draw_modes(), "stochastic_rounding": draw_stochastic()}
    for name, said in described().items():
        write(figures[name], HERE / f"{name}.svg", "docs/rounding_modes.py", said)


if __name__ == "__main__":
    main()
