"""Tensors on a GPU: computed where they lie, in the turn of torch's current stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import torch

from .. import _device
from .. import _widthwise as core
from .._device import DeviceArray, Place
from .._format import Format
from .._host import NEAREST

CAPTURED = (
    "a CUDA graph is being captured, and what Widthwise computes is waited for; call it before or "
    "after torch.cuda.graph(…)"
)


def lies_there(x: torch.Tensor) -> bool:
    return x.is_cuda


def gpu_of(x: torch.Tensor) -> int:
    """A tensor's GPU, which the core can use."""
    try:
        return _device.gpu_of(_device.name_of(x.get_device()))
    except ValueError as why:
        raise ValueError(
            f"a tensor lies on {x.device}, and {why}; bring it here with .cpu(), or convert(model, "
            "rules, backend='cpu') has layers do so"
        ) from None


def device_of(gpu: int) -> torch.device:
    return torch.device("cuda", gpu)


def stream_of(x: torch.Tensor) -> int:
    """The driver's handle of the stream that torch's own work on x would go to."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(CAPTURED)
    return torch.cuda.current_stream(x.device).cuda_stream


# --- Memory that torch and the core share ---------------------------------------------------------


def numbers_there(x: torch.Tensor, own: Format) -> DeviceArray:
    """A tensor's memory as numbers of a format whose codes have its dtype's width."""
    strides = tuple(own.dtype.itemsize * step for step in x.stride())
    stand_in = _device.standing_in(tuple(x.shape), own.dtype, strides)
    return DeviceArray._at(Place(gpu_of(x), x.data_ptr(), stand_in, x), own)


def tensor_there(codes: DeviceArray) -> torch.Tensor:
    """Codes as unsigned integers, in a tensor's own memory."""
    bits = codes._bits
    words = getattr(torch, bits.dtype.name)
    y = torch.empty(bits.shape, dtype=words, device=device_of(codes._place.gpu))
    if y.numel():
        core.gather(_device.queue(codes._place.gpu), y.data_ptr(), codes._for_core)
    return y


def converted(x: DeviceArray, z: DeviceArray, env: core.Env, seed: int) -> DeviceArray:
    """x rounded into the memory that z has."""
    there = _device.queue(x._place.gpu)
    operands = [(x.format._core, x._for_core)]
    core.device_elementwise(
        there, "convert", z.format._core, env, operands, z._for_core, None, seed
    )
    return z


def codes_there(x: torch.Tensor, own: Format, to: Format, env: core.Env, seed: int) -> DeviceArray:
    """Each number of a tensor rounded once."""
    numbers = numbers_there(x.detach().contiguous(), own)
    return converted(numbers, _device.empty(numbers._place.gpu, numbers.shape, to), env, seed)


def values_there(codes: DeviceArray, own: Format, dtype: torch.dtype) -> torch.Tensor:
    """Codes written as numbers of a dtype that holds their format, to a new tensor."""
    y = torch.empty(codes.shape, dtype=dtype, device=device_of(codes._place.gpu))
    converted(codes.contiguous(), numbers_there(y, own), NEAREST, 0)
    return y


# --- Kernels --------------------------------------------------------------------------------------


def wherever(kernel: Callable[..., Any], tensors: Mapping[int, str]) -> Callable[..., Any]:
    """A kernel for both: of tensors on a GPU it waits its turn in torch's stream. `tensors` names
    those among its arguments, with the first."""

    @wraps(kernel)
    def run(*args: Any) -> Any:
        there = [i for i in tensors if args[i] is not None and lies_there(args[i])]
        if there:
            one_device({name: args[i] for i, name in tensors.items()})
        if 0 not in there:
            return kernel(*args)
        with in_turn(args[0]):
            return kernel(*args)

    return run


def in_turn(x: torch.Tensor) -> AbstractContextManager[None]:
    return _device.device_stream(stream_of(x))


def in_its_turn(x: torch.Tensor) -> AbstractContextManager[None]:
    """The same of a tensor that lies anywhere."""
    return in_turn(x) if lies_there(x) else nullcontext()


def one_device(named: Mapping[str, torch.Tensor | None]) -> None:
    """All operands lie with the first; a seed may lie anywhere."""
    first, *others = ((k, x) for k, x in named.items() if x is not None and x.is_floating_point())
    for name, x in others:
        if x.device != first[1].device:
            raise ValueError(
                f"{first[0]} lies on {first[1].device} and {name} on {x.device}; one device is "
                f"wanted: {name}.to('{first[1].device}') brings it there"
            )
