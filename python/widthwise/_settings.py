"""Settings that many functions take, checked, as the core wants them."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np


class How(NamedTuple):
    """How products are computed, as `ww.dot` takes it and what leads to it hands it on."""

    engine: str = "auto"
    threads: int | None = None
    seed: int = 0
    flags: bool = False
    multiplier: Any = None
    random: Any = None


INTEGERS = (int, np.integer)
NUMBERS = (*INTEGERS, float, np.floating, Fraction, Decimal)


def brief(x: Any) -> str:
    """What was given, on one line of an error: of a long array its beginning."""
    text = " ".join(repr(x).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def checked_seed(seed: int) -> int:
    if not isinstance(seed, INTEGERS) or isinstance(seed, bool):
        raise TypeError(f"seed = {brief(seed)}: an integer is wanted, 0 to 2^64 - 1")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed = {seed}: it may be 0 to 2^64 - 1")
    return int(seed)


def checked_threads(threads: int | None) -> int:
    """As the core wants it: 0 is one a core."""
    count = None if threads is None else integer("threads", threads)
    if count is not None and count < 1:
        raise ValueError(f"threads = {count}: it may be 1 or more, or None for one a core")
    return count or 0


def several(name: str, x: Iterable[Any]) -> list[Any]:
    """A text is one thing, and is not taken letter by letter."""
    if isinstance(x, str | bytes) or not isinstance(x, Iterable):
        raise TypeError(f"{name} = {brief(x)}: several are wanted, as [{brief(x)}]")
    return list(x)


Progress = Callable[[int, int], object] | bool | None


def told(progress: Progress) -> Callable[[int, int], object]:
    """What is called with (done, of how many): a function, or the bar that True stands for."""
    if callable(progress):
        return progress
    if not isinstance(progress, bool | None):
        raise TypeError(
            f"progress = {brief(progress)}: True, or a function of (done, of how many), is wanted"
        )
    return bar() if progress else lambda done, of: None


def bar() -> Callable[[int, int], object]:
    """A line that is written anew on stderr, and ended by the last step."""

    def tell(done: int, of: int) -> None:
        print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return tell


def integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {brief(value)}: an integer is wanted") from None


def check_number(name: str, value: Any, wanted: str) -> None:
    if not isinstance(value, NUMBERS) or isinstance(value, bool):
        raise TypeError(f"{name} = {brief(value)}: {wanted}")


def number(name: str, value: Any, least: float) -> float:
    check_number(name, value, "a number is wanted, as 1e-3")
    if not least <= value < math.inf:
        raise ValueError(f"{name} = {value}: a number is wanted, {least} or more and finite")
    return float(value)


def share(name: str, value: Any) -> float:
    """Of a whole, above 0 and below 1."""
    check_number(name, value, "a share is wanted, as 0.9")
    if not 0 < value < 1:
        raise ValueError(f"{name} = {value}: it may be above 0 and below 1, as 0.9")
    return float(value)


def whole(name: str, value: Any) -> int:
    """An integer that is not negative."""
    n = integer(name, value)
    if not 0 <= n < 1 << 63:
        raise ValueError(f"{name} = {n}: it may be 0 to 2^63 - 1")
    return n
