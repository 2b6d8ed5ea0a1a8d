"""What the scripts that draw the pages' pictures share: their look, and how they are written."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

TEXT = "#777777"  # readable on white and on black


def plain(axes: Axes, labels: int) -> None:
    """No frame and no ticks, labels of so many points."""
    axes.tick_params(colors=TEXT, length=0, labelsize=labels)
    axes.set_facecolor("none")
    for spine in axes.spines.values():
        spine.set_visible(False)


def grid(axes: Axes) -> None:
    axes.grid(color=TEXT, linewidth=0.4, alpha=0.5)


def write(figure: Figure, path: Path, script: str, said: str) -> None:
    """A picture that bears what it shows as text; the same bytes each time."""
    plt.rcParams.update({"svg.hashsalt": "widthwise", "svg.fonttype": "path"})
    metadata = {"Date": None, "Creator": script, "Description": said}
    figure.savefig(path, transparent=True, metadata=metadata)
