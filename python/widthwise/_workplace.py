"""Where work is done: on this machine, or on the GPU whose memory the operands lie in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _codes, _device
from . import _widthwise as core
from ._array import Array
from ._code_array import CodeArray
from ._format import Format
from ._operands import spread


class Numbers:
    """Flags, truths or integers of a shape, computed at a workplace and wanted here."""

    def __init__(self, gpu: int | None, shape: tuple[int, ...], dtype: Any) -> None:
        self._gpu = gpu
        self._here = np.empty(shape, dtype)
        self._memory = None if gpu is None else core.DeviceMemory(gpu, self._here.nbytes)

    @property
    def for_core(self) -> np.ndarray:
        """To be written by the core: the array itself, or a GPU's addresses."""
        if self._memory is None:
            return self._here
        flat = self._here.reshape(-1)
        return np.asarray(_device.Addresses(self._memory.address, flat, self._memory))

    def here(self) -> np.ndarray:
        if self._memory is not None and self._gpu is not None:
            core.copy_out(_device.queue(self._gpu), self._here, self._memory.address)
        return self._here

    def there(self) -> _device.DeviceArray:
        """Those of a byte each that lie on a GPU, in the memory that they have."""
        assert self._gpu is not None and self._memory is not None and self._here.itemsize == 1
        place = _device.Place(self._gpu, self._memory.address, self._here, self._memory)
        return _device.DeviceArray._at(place, Format("uint8"))


class Workplace(NamedTuple):
    gpu: int | None  # None: this machine

    @classmethod
    def of(cls, named: Mapping[str, CodeArray | None]) -> Workplace:
        """Where all of some arrays lie."""
        return cls(_device.gpu_of_all(named))

    def codes(self, x: Any, shape: tuple[int, ...]) -> np.ndarray:
        """x broadcast to a shape, its elements side by side, for the core."""
        return spread(x, shape) if self.gpu is None else _device.spread_there(x, shape)._for_core

    def integers(self, n: np.ndarray) -> np.ndarray:
        """Integers of this machine, brought there."""
        return n if self.gpu is None else _device.copied_in(self.gpu, n)

    def empty(self, shape: tuple[int, ...], format: Format) -> Any:
        if self.gpu is None:
            return Array._of(_codes.empty(shape, format), format)
        return _device.empty(self.gpu, shape, format)

    def numbers(self, shape: tuple[int, ...], dtype: Any = np.uint8) -> Numbers:
        return Numbers(self.gpu, shape, dtype)

    def flags(self, shape: tuple[int, ...], wanted: bool) -> Numbers | None:
        return self.numbers(shape) if wanted else None

    def run(self, work: str, *arguments: Any, here: tuple[Any, ...] = ()) -> Any:
        """One of the core's functions, which takes some more `here`, or its twin for a GPU."""
        if self.gpu is None:
            return getattr(core, work)(*arguments, *here)
        return getattr(core, f"device_{work}")(_device.queue(self.gpu), *arguments)


HERE = Workplace(None)


def delivered(z: Any, raised: Numbers | None) -> Any:
    """A result, and its flags if they are wanted."""
    return z if raised is None else (z, raised.here())
