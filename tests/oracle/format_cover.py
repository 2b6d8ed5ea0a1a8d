"""The corners of a format's fields, as texts: what format_cover.hpp has, in Python.

Among these few formats every two values of two fields meet that any format may have together.
Whoever draws formats draws from these too.
"""

from __future__ import annotations

import functools
import itertools
import random

import widthwise as ww

# Each option as it stands in a text; "" is the default.
FIELDS = [
    ["", "u"],
    ["1", "2", "4", "5"],
    ["0", "1", "2", "3"],
    ["", ";bias=1", ";bias=-9"],
    [f";nan={nan}" for nan in ("ieee", "all_ones", "negative_zero", "none")],
    [f";inf={inf}" for inf in ("ieee", "no", "top")],
    ["", ";sub=no"],
    ["", ";zero=no"],
    ["", ";daz"],
    ["", ";ftz"],
    ["", *(f";overflow={how}" for how in ("inf", "max", "nan", "satfinite"))],
]
TRIES = 300  # at a format that has two values


def text_of(choice: tuple[int, ...]) -> str:
    sign, exp_bits, frac_bits, *options = (
        values[i] for values, i in zip(FIELDS, choice, strict=True)
    )
    return f"{sign}e{exp_bits}m{frac_bits}{''.join(options)}"


def is_format(text: str) -> bool:
    try:
        ww.Format(text)
    except ValueError:
        return False
    return True


def pairs(choice: tuple[int, ...]) -> set:
    return set(itertools.combinations(enumerate(choice), 2))


def format_cover() -> tuple[str, ...]:
    return tuple(text_of(choice) for choice in chosen())


@functools.cache
def chosen() -> tuple[tuple[int, ...], ...]:
    """Of each format which value it has of each field."""
    draw, covered, found = random.Random(1), set(), []
    wanted = (
        ((i, a), (j, b))
        for i, j in itertools.combinations(range(len(FIELDS)), 2)
        for a in range(len(FIELDS[i]))
        for b in range(len(FIELDS[j]))
    )
    for pair in wanted:
        if pair in covered:
            continue
        choices = [with_both(draw, pair) for _ in range(TRIES)]
        formats = [choice for choice in choices if is_format(text_of(choice))]
        if formats:
            best = max(formats, key=lambda choice: len(pairs(choice) - covered))
            covered |= pairs(best)
            found.append(best)
    return tuple(found)


def with_both(draw: random.Random, pair: tuple) -> tuple[int, ...]:
    given = dict(pair)
    return tuple(given.get(i, draw.randrange(len(values))) for i, values in enumerate(FIELDS))
