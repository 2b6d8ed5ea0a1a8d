"""The one look of all that is shown: colours, markup that escapes its text, cards.

A page may be light or dark, and nothing here can ask which. So text keeps the page's own colour,
nothing has a background but a thin tint, and the colours are of middle lightness: at least 4 to 1
on white and on #111 (WCAG 2.2's contrast).
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

FIELD_COLOURS = {
    "sign": "#cf5a12",
    "exponent": "#2b8a3e",
    "integer": "#2b8a3e",
    "code": "#20808a",
    "exponent and fraction": "#20808a",
    "fraction": "#2f78d0",
}
LOST = "#d6336c"
LINE = "#8888"  # half of a grey: seen on any page
MONOSPACE = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


class Html(str):
    """Markup that is ready; any other text is still to be escaped."""


def tag(name: str, *parts: Any, **attributes: Any) -> Html:
    """An element: parts are markup or text, font_size=12 is the attribute font-size="12"."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{named}>{''.join(map(html, parts))}</{name}>")


def html(part: Any) -> Html:
    if isinstance(part, Html):
        return part
    shown = getattr(part, "_repr_html_", None)
    return Html(shown() if shown else escape(str(part)))


def svg(width: float, height: float, title: str, *parts: Any) -> Html:
    """A drawing in the page's own colour, which shrinks with the page."""
    return tag(
        "svg",
        tag("title", title),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        width=f"{width:g}",
        height=f"{height:g}",
        role="img",
        fill="currentColor",
        font_family=MONOSPACE,
        font_size=11,
        style="max-width:100%;height:auto;display:block",
    )


def label(x: float, y: float, text: Any, anchor: str = "middle", **attributes: Any) -> Html:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, **attributes)


def stroke(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> Html:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    drawn = {key: f"{value:.1f}" for key, value in ends.items()}
    return tag("line", **drawn, **({"stroke": "currentColor"} | attributes))


def coloured(text: Any, colour: str, **more: str) -> Html:
    style = "".join(f";{key.replace('_', '-')}:{value}" for key, value in more.items())
    return tag("span", text, style=f"color:{colour}{style}")


class Drawing:
    """One thing with two faces: a function for each."""

    def __init__(self, text: Callable[[], str], markup: Callable[[], Html]) -> None:
        self._text, self._markup = text, markup

    def __str__(self) -> str:
        return self._text()

    def _repr_html_(self) -> str:
        return self._markup()


class Card:
    """A title and what stands under it. Printed it is the same in text."""

    def __init__(self, title: str, *parts: Any) -> None:
        self.title = title
        self.parts = parts

    def __str__(self) -> str:
        return "\n\n".join([self.title, *(text for part in self.parts if (text := str(part)))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = tag("div", self.title, style="font-weight:600;font-size:1.1em;margin-bottom:6px")
        body = (tag("div", part, style="margin:6px 0;overflow-x:auto") for part in self.parts)
        frame = f"border:1px solid {LINE};border-radius:6px;padding:8px 12px;max-width:100%"
        return tag("div", title, *body, style=f"display:inline-block;box-sizing:border-box;{frame}")
