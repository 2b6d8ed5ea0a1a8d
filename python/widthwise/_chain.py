"""Elementwise operations one after the other, without arrays in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array
from ._elementwise import SETTINGS
from ._format import Format, as_format
from ._format_texts import said
from ._operands import broadcast, operand
from ._settings import checked_seed

TAKEN = {key: value for key, value in SETTINGS.items() if key not in ("flags", "random")}


def evaluate(steps: Iterable[tuple[Any, ...]], *, flags: bool = False, **arrays: Any) -> Any:
    """What the last of some operations delivers, each done as by its own function.

    The arrays in between are never whole: a few thousand elements go through all steps at a time.

    Args:
        steps: (name of the result, operation, names of its operands, settings), the settings a
            dict as of `ww.add` but for flags and random, or left out. A name may be given again.
        arrays: Arrays by name; NumPy's broadcasting.
        flags: deliver (result, uint8 flags that any step raised: NX 1, UF 2, OF 4, DZ 8, NV 16).
    Returns:
        An Array of the last step's format and the arrays' common shape; with `flags` a pair.
    Raises:
        ValueError: a name that no step before has given, or the wrong number of operands.
        TypeError: operands of several formats, and no format is given.

    >>> import widthwise as ww
    >>> x = ww.array([1.5, 2.0], "e5m10")
    >>> ww.evaluate([("t", "multiply", "x", "x"), ("t", "add", "t", "x", {"rounding": "rtz"})], x=x)
    Array([3.75 6], e5m10)
    """
    values = {name: operand(name, x, None) for name, x in arrays.items()}
    if not values:
        raise ValueError("no arrays are given; pass them by name, as x=x")
    codes, shape = broadcast(values)
    places = {name: (i, x.format) for i, (name, x) in enumerate(values.items())}
    made: list[tuple[Format, tuple[Any, ...]]] = []
    for step in steps:
        name, prepared = prepare(step, places)
        places[name] = (len(values) + len(made), prepared[0])
        made.append(prepared)
    if not made:
        raise ValueError("steps: there are none")
    to = made[-1][0]
    result = _codes.empty(shape, to)
    raised = np.empty(shape, np.uint8) if flags else None
    pairs = [(x.format._core, bits) for x, bits in zip(values.values(), codes, strict=True)]
    core.evaluate(pairs, [step for _, step in made], result, raised)
    z = Array._of(result, to)
    return (z, raised) if flags else z


def prepare(
    step: tuple[Any, ...], places: dict[str, tuple[int, Format]]
) -> tuple[str, tuple[Format, tuple[Any, ...]]]:
    """A step's name, result format, and what the core takes."""
    if not isinstance(step, tuple | list) or len(step) < 3:
        raise TypeError(
            f"steps: one is {step!r}; (name of the result, operation, names of its operands) are "
            "wanted, as ('t', 'add', 'x', 'y')"
        )
    given: Mapping[str, Any] = step[-1] if isinstance(step[-1], Mapping) else {}
    name, op, *names = step[:-1] if given or isinstance(step[-1], Mapping) else step
    for key in given:
        if key not in TAKEN:
            raise TypeError(f"step {name!r}: {key} is no setting; there are {', '.join(TAKEN)}")
    if len(names) != core.arity(op):
        raise ValueError(f"step {name!r}: {op} takes {core.arity(op)} operands, not {len(names)}")
    for x in names:
        if x not in places:
            raise ValueError(f"step {name!r} takes {x!r}; there are {', '.join(places)}")
    how = {**TAKEN, **given}
    to = step_format(name, how["format"], {x: places[x][1] for x in names})
    env = core.Env(how["rounding"], how["tininess"], how["nan"])
    indices = [places[x][0] for x in names]
    return name, (to, (op, to._core, env, indices, checked_seed(how["seed"])))


def step_format(name: str, wanted: Any, formats: dict[str, Format]) -> Format:
    """The format named, or the one that all operands have."""
    if wanted is not None:
        return as_format(wanted)
    if len(set(formats.values())) > 1:
        listed = " and ".join(f"{x} is {said(f)}" for x, f in formats.items())
        raise TypeError(f"step {name!r}: {listed}; name the result's format in its settings")
    return next(iter(formats.values()))
