"""Which layers of a model compute how: rules by names and types, the first that fits decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Rule = tuple[Any, Any]  # which layers: a glob, a type, a pair of both; how, or None


def rules_of(rules: Any, settings: Iterable[str], read: Callable[[Any], Any]) -> list[Rule]:
    """A mapping's or a list's pairs; anything else is for all layers.

    Args:
        settings: the names of a layer's settings, by which a dict of them is told from rules.
        read: makes of what stands in a rule how a layer computes.
    """
    if isinstance(rules, Mapping) and not (rules and set(rules) <= set(settings)):
        pairs: Iterable[Any] = rules.items()
    elif isinstance(rules, list | tuple):
        pairs = rules
    else:
        pairs = [("*", rules)]
    return [read_rule(pair, read) for pair in pairs]


def read_rule(pair: Any, read: Callable[[Any], Any]) -> Rule:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"rules: one is {pair!r}; (which layers, how) is wanted")
    key, how = pair
    if not all(isinstance(part, str | type) for part in parts_of(key)):
        raise TypeError(f"rules: {key!r} is no glob on names, no type and no pair of these")
    return key, None if how is None else read(how)


def parts_of(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def covers(key: Any, name: str, layer: Any) -> bool:
    return all(
        fnmatchcase(name, part) if isinstance(part, str) else isinstance(layer, part)
        for part in parts_of(key)
    )


def decided(rules: list[Rule], layers: list[tuple[str, Any]], none: str) -> list[Any]:
    """How each layer computes, None where it stays; a rule that fits no layer is a mistake.

    `none` is what is said of a model that has no layer that changes.
    """
    for key, _ in rules:
        if not any(covers(key, name, layer) for name, layer in layers):
            raise ValueError(f"{key_text(key)} fits no layer; {listed(layers, none)}")
    return [
        next((how for key, how in rules if covers(key, name, layer)), None)
        for name, layer in layers
    ]


def key_text(key: Any) -> str:
    return "rules: " + " with ".join(
        repr(part) if isinstance(part, str) else part.__name__ for part in parts_of(key)
    )


def listed(layers: list[tuple[str, Any]], none: str) -> str:
    if not layers:
        return none
    names = ", ".join(repr(name) for name, _ in layers[:8])
    return f"there are {names}{', …' if len(layers) > 8 else ''}"
