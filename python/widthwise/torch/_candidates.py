"""What a layer may compute by: formats and units, their bits, what they make of a tensor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch

from .._block_format import is_container
from .._format import Format
from .._format_facts import highest, lowest
from .._host import check_format, text, unit_of
from ..containers.scheme import is_affine, parsed
from ._coded import encode
from ._layers import Scheme, scheme_of
from ._quantize import quantize, within


class Candidate(NamedTuple):
    """One way for a layer to compute: how it is called, and its settings."""

    name: str
    scheme: Scheme

    @property
    def formats(self) -> tuple[str | None, str | None]:
        """Of the input and of the weight; None stays binary32."""
        unit = None if self.scheme.unit is None else unit_of(self.scheme.unit)
        own = (None, None) if unit is None else (str(unit.a), str(unit.b))
        return self.scheme.input or own[0], self.scheme.weight or own[1]

    def rules(self) -> dict[str, Any]:
        """As `convert` takes it."""
        pairs = self.scheme._asdict().items()
        return {key: v for key, v in pairs if v is not None and (key, v) != ("rounding", "rne")}


def candidates_of(formats: Any) -> list[Candidate]:
    """Of what a user listed, each once.

    Raises:
        ValueError: nothing is listed, one twice, or a text is neither a format nor a unit.
    """
    listed: Iterable[Any] = [formats] if isinstance(formats, str | Mapping) else formats
    found = [candidate_of(each) for each in listed]
    if not found:
        raise ValueError("formats is empty; one or more are wanted, as ['e4m3fn', 'int8']")
    names = [candidate.name for candidate in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"formats has '{twice}' twice; leave one out")
    return found


def candidate_of(given: Any) -> Candidate:
    if isinstance(given, Mapping):
        scheme = scheme_of(**given)
        return Candidate(scheme.told(), scheme)
    told = text(given)
    try:
        check_format(told)
    except ValueError as no_format:
        try:
            unit_of(told)
        except ValueError:
            raise no_format from None
        return Candidate(told, scheme_of(unit=told))
    return Candidate(told, scheme_of(input=of_inputs(told), weight=told))


def of_inputs(format: str) -> str:
    """One scale in place of one a channel, for an input's first axis is the batch."""
    if not is_affine(format) or parsed(format)[1] != "channel":
        return format
    return parsed(format)[0].text()


def weight_bits(weights: list[torch.Tensor], format: str | None) -> float:
    """That a number of these takes, with its share of what scales there are."""
    weights = [x for x in weights if x.numel()]
    numbers = sum(x.numel() for x in weights)
    if not numbers:
        return 0.0
    if format is None:
        return 8.0 * sum(x.nbytes for x in weights) / numbers
    if not is_container(format):
        return float(Format(format).width)
    return 8.0 * sum(encode(x, format).nbytes for x in weights) / numbers


# --- A tensor in a format ------------------------------------------------------------------------


class Losses:
    """Of numbers that go into a format: how many lie past its range, how many become zero."""

    def __init__(self) -> None:
        self.numbers = self.over = self.under = 0

    def add(self, x: torch.Tensor, format: str | None) -> None:
        if format is None or not x.numel():
            return
        self.numbers += x.numel()
        self.over += int(past(x, format).sum())
        became = quantize(x.double(), format)
        self.under += int(((x != 0) & (became == 0)).sum())

    def shares(self) -> tuple[float, float]:
        return self.over / max(1, self.numbers), self.under / max(1, self.numbers)


def past(x: torch.Tensor, format: str) -> torch.Tensor:
    """Beyond the largest or the least number, or what scales reach, by more than rounding."""
    if is_container(format):
        return ~within(x, format, None)
    f = Format(format)
    wide = x.double()
    return (wide > highest(f)) | (wide < lowest(f))


def wasted_bits(largest: float, format: str | None) -> float | None:
    """Doublings that the format has above the largest magnitude; none of what finds its scales."""
    if format is None or is_container(format) or not 0 < largest < math.inf:
        return None
    end = highest(Format(format))
    return math.log2(end) - math.log2(largest) if end > 0 else None
