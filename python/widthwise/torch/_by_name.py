"""Roundings of parameters by their names: globs, the first that fits decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from .._layer_rules import listed

Change = Callable[[torch.Tensor], torch.Tensor]


class ByName:
    """What is done to a parameter's numbers, by its name; None, or no glob that fits: nothing.

    A glob is on names of parameters, or of layers that hold them.
    """

    def __init__(self, rules: Iterable[tuple[str, Change | None]]) -> None:
        self.rules = list(rules)

    def of(self, name: str) -> Change | None:
        return next((change for glob, change in self.rules if fits(glob, name)), None)

    def __repr__(self) -> str:
        return repr(dict(self.rules))


@lru_cache(maxsize=1 << 14)
def fits(glob: str, name: str) -> bool:
    """'fc*' fits 'fc1', which holds 'fc1.weight'."""
    parts = name.split(".")
    return any(fnmatchcase(".".join(parts[: n + 1]), glob) for n in range(len(parts)))


def by_name(
    told: Any, excluded: Iterable[str] = (), read: Callable[[Any], Any] = lambda x: x
) -> Any:
    """Rules on names as they are read, those that leave layers alone before them; None stays."""
    left: list[tuple[str, Change | None]] = [(glob, None) for glob in excluded]
    if told is None:
        return None
    if isinstance(told, Mapping):
        return ByName([*left, *((glob, read(how)) for glob, how in told.items())])
    if isinstance(told, ByName):
        return ByName([*left, *told.rules])
    return ByName([*left, ("*", read(told))]) if left else read(told)


def names_among(given: Any, optimizer: Optimizer) -> dict[torch.Tensor, str]:
    """The names of parameters: those of a model, of pairs, or of torch's named parameters."""
    if given is None:
        return dict(names_in(optimizer))
    pairs = given.named_parameters() if isinstance(given, nn.Module) else given
    try:
        return {p: name for name, p in dict(pairs).items()}
    except (TypeError, ValueError):
        raise TypeError(
            f"names is {type(given).__name__}; a model or its named_parameters() is taken"
        ) from None


def names_in(optimizer: Optimizer) -> Iterator[tuple[torch.Tensor, str]]:
    """Of groups that torch was given names with."""
    for group in optimizer.param_groups:
        yield from zip(group["params"], group.get("param_names", ()), strict=False)


def check_globs(name: str, told: Any, names: Iterable[str]) -> None:
    """A glob that fits no parameter is a mistake."""
    known = list(names)
    for glob in [glob for glob, _ in told.rules] if isinstance(told, ByName) else ():
        if not any(fits(glob, each) for each in known):
            there = listed([(each, None) for each in known], "there are none")
            raise ValueError(f"{name} has {glob!r}, which fits no parameter; {there}")


def nameless(p: torch.Tensor) -> ValueError:
    return ValueError(
        f"a parameter of shape {tuple(p.shape)} has no name, and there are rules on names; give "
        "names=model.named_parameters(), or make the optimizer of these"
    )
