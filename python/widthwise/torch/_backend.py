"""Where a layer computes: where its tensors lie, or on the device that it is told."""

from __future__ import annotations

import threading
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves, tree_map_only

from .. import _widthwise as core

BACKENDS = ("auto", "cpu", "cuda")
standing_in = threading.RLock()  # a layer's own tensors are away while others stand in for them


def check_backend(backend: Any) -> None:
    """One of them, and nothing that it needs is missing."""
    if backend not in BACKENDS:
        raise ValueError(f"backend = {backend!r}: it may be {', '.join(map(repr, BACKENDS))}")
    missing = what_cuda_lacks() if backend == "cuda" else []
    if missing:
        raise ValueError(
            f"backend = 'cuda' cannot be had here: {'; '.join(missing)}. 'auto' computes where "
            "tensors lie, 'cpu' on this machine, both to the same bits"
        )


def what_cuda_lacks() -> list[str]:
    """Torch's part, and ours."""
    lacks = []
    if not torch.cuda.is_available():
        lacks.append(f"torch {torch.__version__} finds no GPU")
    unusable = dict(core.unusable_engines())
    return [*lacks, f"Widthwise's engine: {unusable['cuda']}"] if "cuda" in unusable else lacks


class Within(nn.Module):
    """A layer's computation as a module, so that other tensors stand in for its parameters and no
    hook is called twice."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *args: Any, **how: Any) -> Any:
        return self.layer.computed(*args, **how)


def tensors_of(layer: nn.Module) -> dict[str, torch.Tensor]:
    return dict(chain(layer.named_parameters(), layer.named_buffers()))


def lie_on(backend: str, layer: nn.Module, given: Any) -> bool:
    """Whether all that a layer computes with lies on such a device."""
    tensors = chain(tree_leaves(given), tensors_of(layer).values())
    return all(x.device.type == backend for x in tensors if isinstance(x, torch.Tensor))


@torch.compiler.disable
def computed_on(backend: str, layer: Any, args: Any, how: Any) -> Any:
    """What a layer gives, computed on a device of its own: its tensors go there, and what comes of
    them goes where the first one lay. One that is given twice stays one."""
    with standing_in:
        given = [x for x in tree_leaves((args, how)) if isinstance(x, torch.Tensor)]
        if not given or lie_on(backend, layer, given):
            return layer.computed(*args, **how)
        return computed_there(torch.device(backend), given[0].device, layer, args, how)


def computed_there(place: torch.device, home: torch.device, layer: Any, args: Any, how: Any) -> Any:
    there: dict[int, torch.Tensor] = {}

    def moved(x: torch.Tensor) -> torch.Tensor:
        if id(x) not in there:
            there[id(x)] = x.to(place)
        return there[id(x)]

    own = {f"layer.{name}": moved(x) for name, x in tensors_of(layer).items()}
    args, how = tree_map_only(torch.Tensor, moved, (args, how))
    y = functional_call(Within(layer), own, args, how)
    return tree_map_only(torch.Tensor, lambda x: x.to(home), y)
