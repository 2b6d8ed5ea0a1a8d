"""The page about a checkpoint that was quantised: what it lost, tensor by tensor."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .._table import Table
from .style import FIELD_COLOURS, LINE, LOST, Card, Html, label, stroke, svg, tag

WIDTH = 900  # pixels
ROW = 18
BAR = 12
ROOM = 340  # for the names, to the left of the bars
DIGITS = 46  # of a name
STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:24px auto;max-width:1000px;padding:0 12px;font-family:system-ui,sans-serif}"
    "td,th{border-bottom:1px solid " + LINE + "}"
)


def page(
    source: str, facts: Mapping[str, Any], columns: Mapping[str, str], kept: list[list[Any]]
) -> str:
    """All of it in one file, which loads nothing."""
    rows = [[row[key] for key in columns] for row in facts["arrays"]]
    cards = [
        Card("Signal to noise", Html(noise(facts["arrays"]))),
        Card("Bytes", Html(sizes(facts["arrays"]))),
        Card("Tensors", Table(list(columns.values()), rows)),
        Card("Untouched", Table(["tensor", "holds", "shape", "why"], kept)),
    ]
    title = f"{source} as {facts['format']}"
    before, after = facts["bytes_before"], facts["bytes_after"]
    said = f"{before} bytes became {after}, {after / max(1, before):.1%}."
    body = [
        tag("h1", title),
        tag("p", said),
        *(tag("div", x, style="margin:12px 0") for x in cards),
    ]
    meta, style = Html('<meta charset="utf-8">'), tag("style", Html(STYLE))
    head = tag("head", meta, tag("title", title), style)
    return "<!doctype html>\n" + tag("html", head, tag("body", *body), lang="en")


def noise(rows: list[dict[str, Any]]) -> Html:
    """A bar a tensor, in decibels; without an end where nothing was lost."""
    finite = [row["snr_db"] for row in rows if math.isfinite(row["snr_db"])]
    most = max([*finite, 1.0])
    marks = [(20 * i, f"{20 * i}") for i in range(1, int(most // 20) + 1)]
    bars = [
        Bar(row["array"], length(row["snr_db"], most), decibels(row["snr_db"]), row["saturated"])
        for row in rows
    ]
    return drawn(bars, most, marks, "signal to noise of each tensor, in decibels")


def decibels(snr: float) -> str:
    return "nothing lost" if snr == math.inf else f"{snr:.1f} dB"


def length(x: float, most: float) -> float:
    return min(max(x, 0.0), most)


def sizes(rows: list[dict[str, Any]]) -> Html:
    most = max(max((row["bytes"] for row in rows), default=1), 1)
    bars = []
    for row in rows:
        bits = 8 * row["bytes"] / max(1, row["numbers"])
        bars.append(Bar(row["array"], row["bytes"], f"{row['bytes']}, {bits:.2f} bits each", 0))
    return drawn(bars, most, [], "bytes of each tensor")


class Bar:
    """A line of a drawing; what saturated is told in its colour."""

    def __init__(self, name: str, size: float, text: str, saturated: int) -> None:
        self.name = name if len(name) <= DIGITS else "…" + name[1 - DIGITS :]
        self.size = size
        self.text = text + (f", {saturated} saturated" if saturated else "")
        self.colour = LOST if saturated else FIELD_COLOURS["fraction"]


def drawn(bars: list[Bar], most: float, marks: Sequence[tuple[float, str]], title: str) -> Html:
    scale = (WIDTH - ROOM - 190) / most
    bottom = ROW * len(bars) + 6
    parts = [stroke(ROOM, 0, ROOM, bottom, opacity=0.5)]
    for at, text in marks:
        parts.append(stroke(ROOM + at * scale, 0, ROOM + at * scale, bottom, opacity=0.2))
        parts.append(label(ROOM + at * scale, bottom + 12, text, opacity=0.75))
    for i, bar in enumerate(bars):
        y = ROW * i + 4
        wide = max(1.0, bar.size * scale)
        place = {"x": ROOM, "y": y, "width": f"{wide:.1f}", "height": BAR}
        parts.append(label(ROOM - 6, y + 10, bar.name, "end"))
        parts.append(tag("rect", **place, fill=bar.colour, fill_opacity=0.6, stroke=bar.colour))
        parts.append(label(ROOM + wide + 6, y + 10, bar.text, "start"))
    return svg(WIDTH, bottom + 18, title, *parts)
