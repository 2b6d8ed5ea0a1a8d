"""Draws the guides' pictures, each from what Widthwise computes.

`python docs/guides_pictures.py` writes them anew. Each bears what it shows as text, too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import widthwise as ww
from drawing import TEXT, grid, plain, plt, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure

GUIDES = Path(__file__).parent / "guides"
COLOURS = ["#3b82f6", "#d9730d", "#16a34a", "#a855f7", "#e11d48"]  # readable on white and on black
Series = dict[str, list[float]]


class Picture(NamedTuple):
    data: Callable[[], Series]
    draw: Callable[[Axes, Series], None]
    height: float = 3.4


def legend(axes: Axes) -> None:
    said = axes.legend(
        frameon=False, fontsize=10, labelcolor="linecolor", loc="center left",
        bbox_to_anchor=(1.01, 0.5), handlelength=1.2,
    )  # fmt: skip
    for text in said.get_texts():
        text.set_family("monospace")


# --- Number systems: digits along the magnitudes --------------------------------------------------

OCTAVES = range(-32, 33)


def digits() -> Series:
    """Decimal digits that each format keeps of the worst number of an octave, 0 where none."""
    within = np.geomspace(1, 2, 4001)[1:-1]
    found: Series = {}
    for name in ["binary16", "bfloat16", "posit16", "takum16", "fixed16.8"]:
        rows = [within * 2.0**octave for octave in OCTAVES]
        errors = [np.max(np.abs(ww.array(x, name).to_float64() - x) / x) for x in rows]
        found[name] = [round(max(0.0, -np.log10(min(error, 1.0))), 2) for error in errors]
    return found


def draw_digits(axes: Axes, found: Series) -> None:
    for (name, kept), colour in zip(found.items(), COLOURS, strict=True):
        axes.step(OCTAVES, kept, where="mid", color=colour, label=name)
    axes.set_xticks([*range(-32, 33, 8)], [f"$2^{{{e}}}$" for e in range(-32, 33, 8)])
    axes.set_xlabel("magnitude")
    axes.set_ylabel("decimal digits kept")
    axes.set_ylim(bottom=0)


# --- Accumulation: the wall -----------------------------------------------------------------------

WALL = {
    "exact": "kulisch(e8m7, out=e8m23)",
    "mac(e8m7)": "mac(e8m7)",
    "sum=e8m7:sr16": "mac(e8m7, sum=e8m7:sr16)",
    "sum=e8m10": "mac(e8m7, sum=e8m10)",
}
EACH = 50


def wall() -> Series:
    """Running sums of 0.1 in bfloat16, at every fiftieth term."""
    x = ww.array(np.full(3000, 0.1), "bfloat16")
    sums = {name: ww.cumsum(x, unit=unit, seed=1).to_float64() for name, unit in WALL.items()}
    return {name: [round(float(v), 2) for v in of[EACH - 1 :: EACH]] for name, of in sums.items()}


def draw_wall(axes: Axes, found: Series) -> None:
    for (name, sums), colour in zip(found.items(), [TEXT, *COLOURS], strict=False):
        terms = [EACH * (i + 1) for i in range(len(sums))]
        axes.plot(terms, sums, color=colour, label=name, linewidth=1.6)
    axes.set_xlabel("terms added, each 0.1")
    axes.set_ylabel("running sum")


# --- Blocks: signal to noise ----------------------------------------------------------------------

ELEMENTS = ["e4m3fn", "mxfp8_e4m3", "mxint8", "mxfp6_e2m3", "nvfp4", "mxfp4"]


def kinds_of_numbers() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "weights, normal": rng.normal(size=(64, 1024)) * 2.0**-9,
        "activations with outliers": rng.standard_t(2.5, size=(64, 1024)),
    }


def noise() -> Series:
    """Signal to noise in decibels of each format, for each kind of numbers."""
    found: Series = {}
    for kind, x in kinds_of_numbers().items():
        found[kind] = []
        for name in ELEMENTS:
            make = ww.array if name == "e4m3fn" else ww.blocks
            error = make(x, name).to_float64() - x
            found[kind].append(round(10 * float(np.log10(np.sum(x**2) / np.sum(error**2))), 1))
    return found


def draw_noise(axes: Axes, found: Series) -> None:
    for (kind, levels), colour, marker in zip(found.items(), COLOURS, "os", strict=False):
        axes.plot(levels, range(len(ELEMENTS)), marker, color=colour, label=kind, markersize=7)
    axes.set_yticks(range(len(ELEMENTS)), ELEMENTS, family="monospace")
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("signal to noise, dB")


# --- Affine integers: what range to cover ---------------------------------------------------------

METHODS = ["minmax", "percentile", "mse", "entropy"]
BINS = np.linspace(-18, 18, 109)


def spread() -> np.ndarray:
    return np.random.default_rng(0).standard_t(4, size=20_000)


def ranges() -> Series:
    """How many values each bin has, then the upper end of each method's range for 4 bits."""
    x = spread()
    found: Series = {"counts": [float(n) for n in np.histogram(x, BINS)[0]]}
    for method in METHODS:
        low, high = ww.calibrate(x, method, bits=4)
        found[method] = [round(float(max(-low, high)), 2)]
    return found


def draw_ranges(axes: Axes, found: Series) -> None:
    axes.stairs(found["counts"], BINS, color=TEXT, fill=True, alpha=0.35)
    for method, colour in zip(METHODS, COLOURS, strict=False):
        (end,) = found[method]
        axes.axvline(end, color=colour, linewidth=1.6, label=f"{method:10} ±{end:g}")
        axes.axvline(-end, color=colour, linewidth=1.6)
    axes.set_yscale("log")
    axes.set_xlabel("value")
    axes.set_ylabel("how many")


# --- Sweeps: what a bit buys ----------------------------------------------------------------------


def bits_bought() -> Series:
    """Relative error of products by significand, for units whose sums are as wide and wider."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(32, 512)), rng.normal(size=(512, 32))
    units = {
        "mac(e8m{m})": "mac(e8m{m})",
        "sum=e8m23": "mac(e8m{m}, sum=e8m23)",
        "tree, fan=8": "tree(e8m{m}, fan=8)",
    }
    found: Series = {}
    for name, text in units.items():
        rows = ww.sweep(ww.grid(text, m=list(range(2, 13))), x, y, metrics=["rel_norm"])
        found[name] = [float(f"{row['rel_norm']:.3g}") for row in rows.records()]
    return found


def draw_bits(axes: Axes, found: Series) -> None:
    for (name, errors), colour in zip(found.items(), COLOURS, strict=False):
        axes.plot(range(2, 13), errors, "o-", color=colour, label=name, markersize=4)
    axes.set_yscale("log", base=2)
    axes.set_xticks(range(2, 13))
    axes.set_xlabel("fraction bits of the operands, m")
    axes.set_ylabel("relative error of the product")


PICTURES = {
    "digits": Picture(digits, draw_digits),
    "wall": Picture(wall, draw_wall),
    "noise": Picture(noise, draw_noise, 3.0),
    "ranges": Picture(ranges, draw_ranges),
    "bits": Picture(bits_bought, draw_bits),
}


def described(found: Series) -> str:
    return "; ".join(f"{name}: {' '.join(f'{v:g}' for v in of)}" for name, of in found.items())


def drawn(picture: Picture, found: Series) -> Figure:
    figure, axes = plt.subplots(figsize=(7.6, picture.height), layout="constrained")
    picture.draw(axes, found)
    plain(axes, 10)
    grid(axes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_color(TEXT)
    legend(axes)
    return figure


def main() -> None:
    for name, picture in PICTURES.items():
        found = picture.data()
        path = GUIDES / f"{name}.svg"
        write(drawn(picture, found), path, "docs/guides_pictures.py", described(found))


if __name__ == "__main__":
    main()
