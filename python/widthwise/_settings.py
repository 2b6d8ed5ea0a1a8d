"""Settings that many functions take, checked, as the core wants them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
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


def checked_seed(seed: int) -> int:
    if not isinstance(seed, INTEGERS):
        raise TypeError(f"seed = {seed!r}: an integer is wanted, 0 to 2^64 - 1")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed = {seed}: it may be 0 to 2^64 - 1")
    return int(seed)


def checked_threads(threads: int | None) -> int:
    """As the core wants it: 0 is one a core."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads = {threads}: it may be 1 or more, or None for one a core")
    return threads or 0


def several(name: str, x: Iterable[Any]) -> list[Any]:
    if not isinstance(x, Iterable):
        raise TypeError(f"{name} = {x!r}: several are wanted, as [{x!r}]")
    return list(x)


def whole(name: str, value: Any) -> int:
    """An integer that is not negative."""
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}: an integer is wanted") from None
    if not 0 <= n < 1 << 63:
        raise ValueError(f"{name} = {n}: it may be 0 to 2^63 - 1")
    return n
