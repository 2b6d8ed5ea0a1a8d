"""By what a loss is to be multiplied, so that gradients keep to a format's range."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from .._block_format import is_container
from .._doublings import doublings
from .._format import Format
from .._format_facts import LAST_DIGIT, highest
from .._format_texts import said
from .._rules import format_text
from .._table import Findings, Titled
from ._calibrate import evaluating, fed
from ._candidates import Losses
from ._convert import changeable, none_of
from ._profile import NOTHING, floats_in, magnitudes

COLUMNS = ("layer", "least", "largest", "overflow", "underflow", "overflow_scaled",
           "underflow_scaled")  # fmt: skip


class LossScale(Titled, Findings):
    """A row a layer: magnitudes of the gradients that come to its result, and the shares of them
    that lie past the format's range or become zero, as they are and scaled.

    Attributes:
        scale: a power of two.    format: of the gradients.
    """

    def __init__(self, rows: Iterable[Sequence[Any]], scale: float, format: str) -> None:
        super().__init__(COLUMNS, rows)
        self.scale, self.format = scale, format

    def _title(self) -> str:
        return f"gradients in {self.format}: loss * {self.scale:g}"


def loss_scale(
    model: nn.Module, loader: Iterable[Any], loss: Callable[[Any, Any], Any], format: Any = "e5m2"
) -> LossScale:
    """Find the largest power of two that a loss may be multiplied by, for gradients in a format.

    No gradient of these batches lies past half of the format's largest number then. All is measured
    in evaluation mode; parameters and their gradients stay as they are.

    Args:
        model: with Linear, Conv1d, Conv2d, Conv3d or MultiheadAttention layers, converted or not.
        loader: pairs (input, target).
        loss: of (the model's result, target), one number.
        format: of gradients, bare: 'e5m2', 'binary16', a ww.Format.
    Returns:
        A LossScale: `scale`, and a row a layer.
    Raises:
        ValueError: the model has no such layer, the loader no pair, no gradient is above zero or
            one is not finite, or they are so large that no float scales them down to the format; a
            format of blocks, which scales by itself.

    >>> import torch
    >>> from torch import nn
    >>> net = nn.Sequential(nn.Linear(4, 2))
    >>> pairs = [(torch.ones(1, 4), torch.zeros(1, 2))]
    >>> loss_scale(net, pairs, lambda y, t: (y - t).sum() * 2**-20, "e5m2").scale
    17179869184.0
    """
    format = format_text("format", format)
    if is_container(format):
        raise ValueError(
            f"format = '{said(format)}' finds its scales by itself; a bare one needs a hint"
        )
    f, pairs = Format(format), list(loader)
    if not highest(f) > 0:
        raise ValueError(
            f"format = '{said(f)}' has no number above zero that gradients could keep to"
        )
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) > 1 for pair in pairs):
        raise ValueError("loader: pairs (input, target) are wanted, one or more")
    layers = changeable(model)
    if not layers:
        raise ValueError(none_of(model))
    seen = dict.fromkeys(layers, NOTHING)

    def see(name: str, g: torch.Tensor) -> None:
        if not g.isfinite().all():
            raise ValueError(f"a gradient that comes to '{name}' is not finite")
        seen[name] = magnitudes([g], seen[name])

    backward(model, layers, pairs, loss, see)
    largest = max(high for _, high in seen.values())
    if largest == 0:
        raise ValueError("all gradients are zero; no scale helps them")
    scale = power_into(f, largest)
    plain, scaled = ({name: Losses() for name in layers} for _ in range(2))

    def count(name: str, g: torch.Tensor) -> None:
        plain[name].add(g, format)
        scaled[name].add(g.double() * scale, format)

    backward(model, layers, pairs, loss, count)
    rows = [
        (name, *seen[name], *plain[name].shares(), *scaled[name].shares())
        for name in layers
        if seen[name] != NOTHING
    ]
    return LossScale(rows, scale, str(f))


def power_into(f: Format, largest: float) -> float:
    """The largest power of two, of those that floats have, by which the largest gradient does not
    pass half of a format's largest number."""
    exponent = int(doublings(largest, highest(f))) - 1
    if exponent < LAST_DIGIT:
        raise ValueError(
            f"format = '{said(f)}': gradients reach {largest:g}, and half of its largest number is "
            f"{highest(f):g} / 2; the loss scale 2^{exponent} lies below all floats, the least of "
            f"which is 2^{LAST_DIGIT}; take a format that reaches farther, or a smaller loss"
        )
    return math.ldexp(1.0, min(exponent, sys.float_info.max_exp - 1))


def backward(
    model: nn.Module,
    layers: dict[str, nn.Module],
    pairs: list[Any],
    loss: Callable[[Any, Any], Any],
    see: Callable[[str, torch.Tensor], None],
) -> None:
    """Gradients that come to each layer's result."""

    def hook(name: str) -> Callable[..., None]:
        def watch(layer: nn.Module, args: Any, output: Any) -> None:
            for y in floats_in(output)[:1]:  # attention's weights come second
                if y.requires_grad:
                    y.register_hook(lambda g: see(name, g.detach()))

        return watch

    handles = [layer.register_forward_hook(hook(name)) for name, layer in layers.items()]
    try:
        with evaluating(model), gradients_kept(model), torch.enable_grad():
            for pair in pairs:
                loss(fed(model, pair), pair[1]).backward()
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def gradients_kept(model: nn.Module) -> Iterator[None]:
    before = {p: p.grad for p in model.parameters()}
    for p in before:
        p.grad = None
    try:
        yield
    finally:
        for p, g in before.items():
            p.grad = g
