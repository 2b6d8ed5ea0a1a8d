"""A format's card: its fields to scale, its numbers about 1, its range, its named codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from .. import _codes
from .. import _widthwise as core
from .._format import Format
from .._formats import formats
from .._table import Table
from .bits import fields_of, legend, power_of_two
from .style import FIELD_COLOURS, Card, Drawing, Html, label, stroke, svg, tag

WIDTH = 560  # of every drawing, pixels
MARGIN = 14
WIDEST_BIT = 28
DIGIT = 7  # pixels a character
MOST_TICKS = 128  # numbers drawn one by one
SHORT = 7  # digits of a number that is written out
NEIGHBOURS = 4  # to either side of the middle


def format_card(f: Format) -> Card:
    facts = f.facts()
    named = [(name, facts["values"][name], code) for name, code in facts["codes"].items()]
    return Card(
        " = ".join([str(f), *other_names(f)]),
        Drawing(lambda: str(legend(f)), lambda: Html(fields_svg(f) + legend(f)._repr_html_())),
        sentence(f),
        *drawings(f),
        Table(["", "value", "code"], named),
    )


def drawings(f: Format) -> list[Drawing]:
    """Of the numbers above zero, if there are any."""
    if "min_normal" not in f.codes:
        return []
    return [
        Drawing(lambda: neighbours_text(f), lambda: neighbours_svg(f)),
        Drawing(lambda: "", lambda: range_svg(f)),
    ]


def other_names(f: Format) -> list[str]:
    return [name for name, named in formats.items() if named == f and name != str(f)]


def sentence(f: Format) -> str:
    """What the fields do not show."""
    said = [
        f"{f.width} bits, {count(f.precision, 'digit')} of precision",
        f"exponents {f.emin} to {f.emax}" + (f", bias {f.bias}" if f.is_float else ""),
    ]
    if f.system == "table":
        listed = len(f.values)
        return "; ".join([f"{listed} values", *said, "NaN" if f.has_nan else "no NaN"])
    if not f.is_float:
        said += ["no infinity", "NaR for all that is no number" if f.has_nan else "no NaN"]
        return "; ".join(said + ([f"overflow={f.overflow}"] if f.system == "fixed" else []))
    has = {"subnormals": f.has_subnormals, "infinity": f.has_inf, "NaN": f.has_nan}
    said += [name if there else f"no {name}" for name, there in has.items()]
    policies = {"daz": f.daz, "ftz": f.ftz, f"overflow={f.overflow}": f.overflow != "ieee"}
    return "; ".join([*said, *(name for name, on in policies.items() if on)])


def count(n: int, what: str) -> str:
    return f"{n} {what}" + "s" * (n != 1)


# --- Fields ---------------------------------------------------------------------------------------


def fields_svg(f: Format) -> Html:
    """A box a field, as wide as it has bits; the numbers of its first and last bit above it."""
    bit = min(WIDEST_BIT, (WIDTH - 2 * MARGIN) / f.width)
    left, boxes, ends = f.width, [], [0]
    for name, bits in fields_of(f).items():
        boxes.append(field_box(name, MARGIN + (f.width - left) * bit, bits, bit))
        ends += [left - 1, left - bits]
        left -= bits
    numbers = [(MARGIN + (f.width - i - 0.5) * bit, str(i)) for i in dict.fromkeys(ends)]
    return svg(
        WIDTH, 44, f"the fields of {f}", *boxes, *spaced_labels(numbers, 10, fill_opacity=0.75)
    )


def field_box(name: str, x: float, bits: int, bit: float) -> Html:
    colour = FIELD_COLOURS[name]
    place = {"x": f"{x:.1f}", "y": 16, "width": f"{bits * bit:.1f}", "height": 24}
    box = tag("rect", **place, fill=colour, fill_opacity=0.25, stroke=colour)
    between = [x + i * bit for i in range(1, bits)] if bit >= 6 else []
    return Html(box + "".join(stroke(at, 34, at, 40, stroke=colour) for at in between))


# --- Neighbours -----------------------------------------------------------------------------------


class Number(NamedTuple):
    """A positive number of a format: significand * 2**exponent."""

    decimal: str  # exact, or nothing where it is long
    significand: int
    exponent: int

    @property
    def log2(self) -> float:
        return self.exponent + math.log2(self.significand)

    def __str__(self) -> str:
        return self.decimal or power_of_two(self.significand, self.exponent)


def number(f: Format, code: int) -> Number:
    bits = _codes.from_integers([code], f)
    _, _, significand, exponent = core.values(f._core, bits)[0]
    return Number(_codes.written_out(code, f, SHORT), significand, exponent)


def shows_subnormals(f: Format) -> bool:
    return f.has_subnormals and not f.daz  # which reads them as zero


def least_code(f: Format) -> int:
    """Of the least number above zero."""
    return f.codes["min_subnormal" if shows_subnormals(f) and f.fraction_bits else "min_normal"]


def positive_codes(f: Format) -> Sequence[int]:
    """Of the numbers above zero, in their order."""
    if f.system == "table":
        values = f.values
        return sorted((c for c, x in enumerate(values) if x > 0), key=values.__getitem__)
    return range(least_code(f), f.codes["max_finite"] + 1)


def neighbours(f: Format) -> tuple[list[Number], int]:
    """1, or the power of two in range that is nearest to it, among the numbers next to it; where
    it stands among them."""
    codes = positive_codes(f)
    nearest = min(max(0, f.emin), f.emax)
    if f.is_float:
        middle = max((nearest + f.bias) << f.fraction_bits, codes[0])
        reach = min(NEIGHBOURS, 1 << f.fraction_bits)
    else:
        middle, reach = f.codes.get("one", codes[0]), NEIGHBOURS
    at = codes.index(middle) if isinstance(codes, list) else middle - codes[0]
    first = max(at - reach, 0)
    return [number(f, code) for code in codes[first : at + reach + 1]], at - first


def step(below: Number, above: Number) -> str:
    """The distance of two neighbours: a power of two but in tables, and where posits skip some."""
    least = min(below.exponent, above.exponent)
    units = (above.significand << (above.exponent - least)) - (
        below.significand << (below.exponent - least)
    )
    if units & (units - 1):
        return f"{Decimal(units) * Decimal(2) ** least:.3g}"
    return f"2^{least + units.bit_length() - 1}"


def steps(near: list[Number], middle: int) -> dict[int, str]:
    """The steps to either side of the middle, by the place of the number they begin at."""
    return {i: step(near[i], near[i + 1]) for i in (middle - 1, middle) if 0 <= i < len(near) - 1}


def names(near: list[Number], middle: int) -> dict[int, str]:
    """What is written at each number: its digits, or its distance from the middle if next to it."""
    named = {i: n.decimal for i, n in enumerate(near) if n.decimal}
    named[middle] = str(near[middle])
    for i, distance in steps(near, middle).items():
        neighbour, sign = (i, "-") if i < middle else (i + 1, "+")
        named.setdefault(neighbour, f"{named[middle]} {sign} {distance}")
    return dict(sorted(named.items()))


def neighbours_text(f: Format) -> str:
    near, middle = neighbours(f)
    texts = [f"[{text}]" if i == middle else text for i, text in names(near, middle).items()]
    distances = " and ".join(steps(near, middle).values())
    return f"… {'  '.join(texts)} …   steps of {distances}"


def neighbours_svg(f: Format) -> Html:
    near, middle = neighbours(f)
    least = min(n.exponent for n in near)
    places = [n.significand << (n.exponent - least) for n in near]
    scale = (WIDTH - 6 * MARGIN) / max(1, places[-1] - places[0])
    at = [3 * MARGIN + (place - places[0]) * scale for place in places]
    parts = [axis(34), *(tick(x, 34, 5) for x in at), tick(at[middle], 34, 9)]
    labels = sorted(names(near, middle).items(), key=lambda named: abs(named[0] - middle))
    parts += spaced_labels([(at[i], text) for i, text in labels], 54)
    for i, distance in steps(near, middle).items():
        parts += span(at[i], at[i + 1], 20, distance)
    return svg(WIDTH, 60, f"the numbers of {f} next to {near[middle]}", *parts)


def axis(y: float) -> Html:
    return stroke(MARGIN, y, WIDTH - MARGIN, y, opacity=0.5)


def tick(x: float, y: float, half: float, **attributes: Any) -> Html:
    return stroke(x, y - half, x, y + half, **attributes)


def span(x1: float, x2: float, y: float, text: str) -> list[Html]:
    """A measured distance: a line between two short ones, its length above it."""
    parts = [stroke(x1, y, x2, y), tick(x1, y, 3), tick(x2, y, 3)]
    return [*parts, label((x1 + x2) / 2, y - 7, text)]


def spaced_labels(named: list[tuple[float, str]], y: float, **attributes: Any) -> list[Html]:
    """Those that find room, the first before the later ones."""
    taken: list[tuple[float, float]] = []
    parts = []
    for x, text in named:
        half = len(text) * DIGIT / 2
        x = min(max(x, half), WIDTH - half)
        if all(x + half + DIGIT <= left or right + DIGIT <= x - half for left, right in taken):
            taken.append((x - half, x + half))
            parts.append(label(x, y, text, **attributes))
    return parts


# --- Range ----------------------------------------------------------------------------------------


def range_svg(f: Format) -> Html:
    """All positive numbers on a logarithmic line; the subnormal ones in the fraction's colour."""
    ends = number(f, least_code(f)), number(f, f.codes["max_finite"])
    low, high = (n.log2 for n in ends)

    def at(log2: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * (log2 - low) / max(high - low, 1e-9)

    normal = number(f, f.codes["min_normal"])
    marks = {str(n): at(n.log2) for n in (*ends, normal)}  # the ends' labels come first
    if low <= 0 <= high:
        marks["1"] = at(0)
    parts = [axis(20), *(tick(at(n.log2), 20, 5, opacity=0.6) for n in each_number(f))]
    parts += [tick(x, 20, 9) for x in marks.values()]
    if least_code(f) < f.codes["min_normal"]:
        colour = FIELD_COLOURS["fraction"]
        parts.append(stroke(at(low), 20, at(normal.log2), 20, stroke=colour, stroke_width=4))
        parts.append(label(at(low), 8, "subnormal", "start", fill=colour))
    parts += spaced_labels([(x, text) for text, x in marks.items()], 42)
    parts.append(
        label(WIDTH - MARGIN, 8, f"{math.ceil(high - low)} powers of two", "end", opacity=0.75)
    )
    return svg(WIDTH, 48, f"the range of {f}", *parts)


def each_number(f: Format) -> list[Number]:
    few = positive_codes(f)[: MOST_TICKS + 1]
    return [] if len(few) > MOST_TICKS else [number(f, c) for c in few]
