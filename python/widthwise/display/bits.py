"""Codes digit by digit, in the colours of their fields, and the values they stand for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._format import Format
from .._table import Table
from .style import FIELD_COLOURS, Card, Drawing, Html, coloured, tag

SHOWN_WHOLE = 16  # elements; of more the first and the last few
ENDS = 6
LONGEST_FIELD = 64  # digits; of more the first and the last few
FIELD_ENDS = 20
EXACT_DIGITS = 60  # of a decimal number that is written out
COLUMNS = ["", "value", "bits", "code", "exact value", "significand"]


def fields_of(f: Format) -> dict[str, int]:
    """The fields of a code, from its top bit, with their widths; those there are."""
    if f.system == "fixed":
        fraction = min(max(f.fraction_bits, 0), f.width - f.signed)
        whole = f.width - f.signed - fraction
        widths = {"sign": int(f.signed), "integer": whole, "fraction": fraction}
    elif f.is_float:
        widths = {"sign": int(f.signed), "exponent": f.exponent_bits, "fraction": f.fraction_bits}
    elif f.system == "table":
        widths = {"code": f.width}
    else:
        widths = {"sign": 1, "exponent and fraction": f.width - 1}
    return {name: bits for name, bits in widths.items() if bits}


def fields_in(code: int, f: Format) -> dict[str, int]:
    """The fields of one code: where a number's exponent is as long as it is large, they move."""
    if f.system not in ("posit", "takum"):
        return fields_of(f)
    magnitude = (1 << f.width) - code if code >> f.width - 1 else code
    body = f"{magnitude:0{f.width}b}"[-(f.width - 1) :]
    if f.system == "posit":
        run = len(body) - len(body.lstrip(body[0]))
        exponent = min(run + 1, len(body)) + f.exponent_bits
    else:
        length = int(body[1:4].ljust(3, "0"), 2)
        exponent = 4 + (length if body[0] == "1" else 7 - length)
    exponent = min(exponent, len(body))
    widths = {"sign": 1, "exponent": exponent, "fraction": len(body) - exponent}
    return {name: bits for name, bits in widths.items() if bits}


class Bits:
    """One code in binary, its fields apart."""

    def __init__(self, code: int, f: Format) -> None:
        digits = iter(f"{code:0{f.width}b}")
        self.fields = {
            name: abbreviated("".join(itertools.islice(digits, bits)))
            for name, bits in fields_in(code, f).items()
        }

    def __str__(self) -> str:
        return " ".join(self.fields.values())

    def _repr_html_(self) -> str:
        parts = (
            coloured(digits, FIELD_COLOURS[name], margin_right="0.5em")
            for name, digits in self.fields.items()
        )
        return tag("span", *parts, style="white-space:nowrap")


def abbreviated(digits: str) -> str:
    if len(digits) <= LONGEST_FIELD:
        return digits
    left_out = len(digits) - 2 * FIELD_ENDS
    return f"{digits[:FIELD_ENDS]}…{left_out}…{digits[-FIELD_ENDS:]}"


def legend(f: Format) -> Drawing:
    """The fields' names, in their colours, and their widths."""
    names = {name: f"{name} {bits}" for name, bits in fields_of(f).items()}

    def markup() -> Html:
        dots = [coloured(text, FIELD_COLOURS[name]) for name, text in names.items()]
        return Html(" · ".join(dots))

    return Drawing(lambda: ", ".join(names.values()), markup)


def array_card(x: Array) -> Card:
    title = f"{x.format}, shape {x.shape}"
    if not x.size:
        return Card(title, "no elements")
    return Card(title, legend(x.format), Table(COLUMNS, rows(x)))


def rows(x: Array) -> Iterator[tuple[Any, ...]]:
    """A row an element; where there are many, one row for all between the ends."""
    whole = x.size <= SHOWN_WHOLE
    yield from element_rows(x, range(x.size if whole else ENDS))
    if not whole:
        yield ("…", f"{x.size - 2 * ENDS} more", *[""] * (len(COLUMNS) - 2))
        yield from element_rows(x, range(x.size - ENDS, x.size))


def element_rows(x: Array, places: range) -> Iterator[tuple[Any, ...]]:
    f = x.format
    part = x.ravel()[places.start : places.stop]
    codes = _codes.integers(part.bits, f)
    for place, code, value in zip(places, codes, part._values(), strict=True):
        where = ", ".join(str(i) for i in np.unravel_index(place, x.shape)) if x.shape else ""
        yield (
            where,
            core.shortest(f._core, _codes.from_integers([code], f))[0],
            Bits(code, f),
            f"0x{code:0{-(-f.width // 4)}x}",
            exact_decimal(code, f),
            scaled(*value),
        )


def exact_decimal(code: int, f: Format) -> str:
    """All digits of a code's value, unless there are very many."""
    begun = core.decimal(f._core, _codes.from_integers([code], f), 21)[0]
    whole = "0x" in begun  # past some range numbers are written in hexadecimal
    return _codes.written_out(code, f, EXACT_DIGITS) or begun + "…" * (not whole)


def scaled(kind: str, negative: bool, significand: int, exponent: int) -> str:
    """The significand in hexadecimal, times a power of two; nothing for what is no number."""
    if kind in ("infinite", "nan"):
        return ""
    sign = "-" if negative else ""
    return f"{sign}0x{significand:x}" + (f" × 2^{exponent}" if significand else "")


def power_of_two(significand: int, exponent: int) -> str:
    """2^e, 2^e - 2^d for a number of all ones, else about as many 2^e."""
    top = exponent + significand.bit_length()
    if significand & (significand - 1) == 0:
        return f"2^{top - 1}"
    if significand & (significand + 1) == 0:
        return f"2^{top} - 2^{exponent}"
    return f"≈ {significand / (1 << significand.bit_length() - 1):.4g} × 2^{top - 1}"
