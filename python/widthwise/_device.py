"""Arrays in a GPU's memory: taken from other libraries and given to them without a copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from . import _codes, _ufuncs
from . import _widthwise as core
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._format import Format, as_format
from ._format_texts import said
from ._settings import whole

CUDA = 2  # DLPack's number of the kind of device
_stream: ContextVar[int] = ContextVar("stream", default=0)


class Place(NamedTuple):
    """Where an array's memory is. Its stand-in has the same shape and strides on this machine, is
    never written or read, and lets NumPy find out where a view's elements lie."""

    gpu: int
    address: int
    stand_in: np.ndarray
    owner: Any

    def address_of(self, view: np.ndarray) -> int:
        offset = first_byte(view) - first_byte(self.stand_in)
        return self.address + offset if view.size else self.address


class DeviceArray(CodeArray, np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers of one format whose codes lie in a GPU's memory.

    Made by `x.to_device("cuda")` of an Array, and by `ww.from_bits(codes, format)` of another
    library's array on a GPU, whose memory it then shares, or `ww.array(values, format)` of its
    values. Operators, elementwise functions, `ww.matmul`, `ww.dot`, `ww.sum`, `ww.cumsum`,
    `ww.conv1d`, `ww.conv2d`, `ww.blocks` and `ww.affine` take them and leave their results there;
    flags, the truths of comparisons, classes and what `ww.trace` tells come here. Other libraries
    take them by DLPack and `__cuda_array_interface__`, as unsigned integers.

    >>> import widthwise as ww
    >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
    >>> (x + x).to_device("cpu")  # doctest: +SKIP
    Array([2 4], e5m10)
    """

    __slots__ = ("_place",)
    _place: Place

    def __init__(self) -> None:
        raise TypeError("make one with x.to_device('cuda'), or ww.from_bits(codes, format)")

    @classmethod
    def _at(cls, place: Place, format: Format, bits: np.ndarray | None = None) -> DeviceArray:
        self = object.__new__(cls)
        self._place = place
        self._bits = place.stand_in if bits is None else bits
        self._format = format
        return self

    def _with(self, bits: np.ndarray) -> DeviceArray:
        if bits.size and not np.may_share_memory(bits, self._place.stand_in):
            raise ValueError(
                f"a view of this shape or index is wanted, of {self!r}, and there is none; "
                ".contiguous() copies it into one piece, on the GPU"
            )
        return DeviceArray._at(self._place, self._format, bits)

    def __getitem__(self, key: Any) -> DeviceArray:
        places = key if isinstance(key, tuple) else (key,)
        whole = all(isinstance(place, int | np.integer) for place in places)
        return self._from_items(self._items[(*places, ...) if whole else key])  # not a scalar

    def __setitem__(self, key: Any, value: Any) -> None:
        """Codes of the same format from the same GPU, into places that lie side by side."""
        to, of = self[key], (self._format, self.device)
        if not isinstance(value, DeviceArray) or (value.format, value.device) != of:
            place = f" on {value.device}" if isinstance(value, Array | DeviceArray) else ""
            raise TypeError(
                f"a DeviceArray of {said(of[0])} on {of[1]} is wanted, not {kind_of(value)}"
                f"{place}; x.to_device and x.astype make one"
            )
        if not to._bits.flags.c_contiguous:
            raise ValueError(
                f"the places of shape {to.shape} do not lie side by side; whole rows are filled"
            )
        given = value._with(np.broadcast_to(value._bits, to._bits.shape))
        # Of memory that was found there, each view has a stand-in of its own.
        apart = value._place.stand_in is not self._place.stand_in
        if apart or np.may_share_memory(to._bits, given._bits):
            given = copied(given)
        if to.size:
            core.gather(queue(self._place.gpu), to._place.address_of(to._bits), given._for_core)

    @property
    def device(self) -> str:
        """The engine that computes there: 'cuda', 'cuda:1'.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x.device  # doctest: +SKIP
        'cuda'
        """
        return name_of(self._place.gpu)

    @property
    def bits(self) -> Any:
        """Not here: the codes lie in the GPU's memory.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x.to_device("cpu").bits  # doctest: +SKIP
        array([15360, 16384], dtype=uint16)
        """
        raise TypeError(
            f"the codes lie on {self.device}, and this is done on the CPU; "
            "x.to_device('cpu') copies them here"
        )

    @property
    def _for_core(self) -> np.ndarray:
        """The same of a GPU: an array whose data are its addresses, which nobody here reads."""
        address = self._place.address_of(self._bits)
        return np.asarray(Addresses(address, self._bits, self._place.owner))

    def contiguous(self) -> DeviceArray:
        """Its elements side by side: itself, or a copy on the GPU.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x[::2].contiguous().shape  # doctest: +SKIP
        (1,)
        """
        return self if self._bits.flags.c_contiguous else copied(self)

    def to_device(self, device: str) -> Any:
        """A copy on another device: 'cpu' is this machine, an Array; itself where it lies there.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x.to_device("cpu")  # doctest: +SKIP
        Array([1 2], e5m10)
        """
        if device == self.device:
            return self
        x = self.contiguous()
        bits = np.empty(self._bits.shape, self._bits.dtype)
        core.copy_out(queue(self._place.gpu), bits, x._place.address_of(x._bits))
        here = Array._of(bits, self._format)
        return here if device == "cpu" else to_device(here, device)

    def to_float64(self, rounding: str | None = None) -> np.ndarray:
        """The values, on this machine; rounding as in `Array.to_float64`.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x.to_float64()  # doctest: +SKIP
        array([1., 2.])
        """
        return self.to_device("cpu").to_float64(rounding)

    def astype(self, format: str | Format, rounding: str = "rne", **how: Any) -> Any:
        """The same numbers in another format, on the GPU.

        rounding, how: as in `ww.convert`.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10").to_device("cuda")  # doctest: +SKIP
        >>> x.astype("e4m3fn").format  # doctest: +SKIP
        Format('e4m3fn')
        """
        from ._elementwise import convert

        return convert(self, as_format(format), rounding=rounding, **how)

    # --- Protocols ---

    def __reduce__(self) -> tuple[Any, ...]:
        return to_device, (self.to_device("cpu"), self.device)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _ufuncs.apply(ufunc, method, inputs, kwargs)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3. Nothing is left to wait for, so it names no stream."""
        return {
            "shape": self._bits.shape,
            "strides": None if self._bits.flags.c_contiguous else self._bits.strides,
            "typestr": self._bits.dtype.str,
            "data": (self._place.address_of(self._bits), False),
            "version": 3,
            "stream": None,
        }

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: Any = None,
    ) -> Any:
        """The codes, as unsigned integers. Nothing is left to wait for, so any stream will do."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the codes are given where they lie, on {self.device}")
        item = self._bits.itemsize
        strides = [stride // item for stride in self._bits.strides]
        address = self._place.address_of(self._bits)
        device = self.__dlpack_device__()
        return core.to_dlpack(device, address, 8 * item, list(self._bits.shape), strides, self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._place.gpu

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self._format}, {self.device})"

    __hash__ = None  # type: ignore[assignment]


class Addresses:
    """What NumPy makes an array of at an address, which keeps its owner alive."""

    def __init__(self, address: int, like: np.ndarray, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "shape": like.shape,
            "strides": like.strides,
            "typestr": like.dtype.str,
            "data": (address, False),
            "version": 3,
        }


@contextmanager
def device_stream(stream: int) -> Iterator[None]:
    """Work on GPUs within waits its turn in a stream, which says what it has to wait for.

    It is done when a function returns.

    Args:
        stream: the driver's handle of it, as `torch.cuda.current_stream().cuda_stream`.
    Returns:
        A context, of this thread alone.
    Raises:
        TypeError: stream is no integer.

    >>> with device_stream(torch.cuda.current_stream().cuda_stream):  # doctest: +SKIP
    ...     z = x + y
    """
    token = _stream.set(whole("stream", stream))
    try:
        yield
    finally:
        _stream.reset(token)


def stream() -> int:
    return _stream.get()


def queue(gpu: int) -> core.Queue:
    return core.Queue(gpu, stream())


# --- Onto a GPU ----------------------------------------------------------------------------------


def name_of(gpu: int) -> str:
    return "cuda" if gpu == 0 else f"cuda:{gpu}"


def gpu_of(device: str) -> int:
    """The index of a GPU that can be used."""
    if not isinstance(device, str) or not re.fullmatch(r"cuda(:\d+)?", device):
        raise ValueError(f"device = {device!r}: it may be 'cpu', 'cuda', or 'cuda:1' and so on")
    gpu = int(device.partition(":")[2] or 0)
    usable = [name for name in core.engine_names() if name.startswith("cuda")]
    if name_of(gpu) not in usable:
        unusable = dict(core.unusable_engines())
        others = f"there are {', '.join(usable)}" if usable else unusable["cuda"]
        why = unusable.get(name_of(gpu), others)
        raise ValueError(f"device = {device!r} cannot be used here: {why}")
    return gpu


def to_device(x: Array, device: str) -> DeviceArray:
    """A copy of an array's codes in a GPU's memory."""
    z = empty(gpu_of(device), x.shape, x.format)
    core.copy_in(queue(z._place.gpu), z._place.address, np.ascontiguousarray(x.bits))
    return z


def empty(gpu: int, shape: tuple[int, ...], format: Format) -> DeviceArray:
    stand_in = _codes.empty(shape, format)
    memory = core.DeviceMemory(gpu, stand_in.nbytes)
    return DeviceArray._at(Place(gpu, memory.address, stand_in, memory), format)


def copied(x: DeviceArray) -> DeviceArray:
    """Its elements side by side in memory of their own."""
    z = empty(x._place.gpu, x.shape, x.format)
    core.gather(queue(x._place.gpu), z._place.address, x._for_core)
    return z


def copied_in(gpu: int, x: np.ndarray) -> np.ndarray:
    """A dense array's copy in a GPU's memory, as its addresses."""
    memory = core.DeviceMemory(gpu, x.nbytes)
    core.copy_in(queue(gpu), memory.address, x)
    return np.asarray(Addresses(memory.address, x, memory))


def gathered(gpu: int, items: np.ndarray) -> np.ndarray:
    """The addresses of a copy there, side by side."""
    dense = np.empty(items.shape, items.dtype)
    memory = core.DeviceMemory(gpu, dense.nbytes)
    core.gather(queue(gpu), memory.address, items)
    return np.asarray(Addresses(memory.address, dense, memory))


def spread_there(x: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
    """x broadcast to a shape, its elements side by side."""
    limbs = x._bits.shape[x.ndim :]
    return x._with(np.broadcast_to(x._bits, (*shape, *limbs))).contiguous()


FLOATS = {
    "float16": "binary16",
    "float32": "binary32",
    "float64": "binary64",
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "e4m3fn",
    "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2": "e5m2",
    "float8_e5m2fnuz": "e5m2fnuz",
    "float8_e8m0fnu": "e8m0fnu",
}


class Found(NamedTuple):
    """Another library's array on a GPU."""

    gpu: int
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes; None of dense rows
    owner: Any

    def as_values(self, name: str) -> DeviceArray:
        """Its memory, as numbers of the format that its dtype is."""
        if self.dtype not in FLOATS:
            raise TypeError(
                f"{name} holds {self.dtype} on {name_of(self.gpu)}; {', '.join(FLOATS)} and "
                f"integers are taken. Codes are taken by ww.from_bits({name}, format)"
            )
        format = Format(FLOATS[self.dtype])
        return self._replace(dtype=format.dtype.name).as_codes(name, format)

    @property
    def integral(self) -> bool:
        return re.fullmatch(r"u?int\d+", self.dtype) is not None

    def as_integers(self, name: str) -> np.ndarray:
        """The addresses of its integers side by side, where they lie or in a copy."""
        if not self.integral:
            raise TypeError(
                f"{name} holds {self.dtype} on {name_of(self.gpu)}; integers of up to 64 bits are "
                f"wanted. Values are taken by ww.array({name}, format)"
            )
        gpu_of(name_of(self.gpu))
        stand_in = standing_in(self.shape, np.dtype(self.dtype), self.strides)
        there = np.asarray(Addresses(self.address, stand_in, self.owner))
        return there if stand_in.flags.c_contiguous else gathered(self.gpu, there)

    def as_codes(self, name: str, format: Format) -> DeviceArray:
        """Its memory, as codes of the format."""
        limbs = (format.limbs,) if format.limbs > 1 else ()
        if self.dtype != format.dtype.name or self.shape[len(self.shape) - len(limbs) :] != limbs:
            raise TypeError(
                f"{name} holds {self.dtype} of shape {self.shape} on {name_of(self.gpu)}; codes of "
                f"{said(format)} are {format.dtype}"
                f"{f' with a last axis of {format.limbs} limbs' if limbs else ''}. "
                f"Values are taken by ww.array({name}, '{said(format)}')"
            )
        gpu_of(name_of(self.gpu))
        stand_in = standing_in(self.shape, format.dtype, self.strides)
        return DeviceArray._at(Place(self.gpu, self.address, stand_in, self.owner), format)


def found_on_gpu(x: Any) -> Found | None:
    """x, if it is an array on a GPU. What its library still does there is waited for."""
    if isinstance(x, Found):
        return x
    device = getattr(x, "__dlpack_device__", None)
    if device is not None and device()[0] == CUDA:
        return found_by_dlpack(x)
    interface = getattr(x, "__cuda_array_interface__", None)
    return found_by_interface(x, interface) if interface else None


# Preferred: it names types that NumPy has not, and who gives the array waits for its own stream.
def found_by_dlpack(x: Any) -> Found:
    gpu_of("cuda")  # or an error that says why there is none
    capsule = x.__dlpack__(stream=_stream.get() or 1)  # 1: the default stream
    (_, gpu), address, dtype, shape, strides, owner = core.from_dlpack(capsule)
    return Found(gpu, address, dtype, tuple(shape), tuple(strides) if strides else None, owner)


def found_by_interface(x: Any, interface: Mapping[str, Any]) -> Found:
    gpu_of("cuda")
    if interface.get("mask") is not None:
        raise TypeError("an array with a mask is not taken; fill what it hides")
    address, strides = interface["data"][0], interface.get("strides")
    found = Found(
        core.gpu_of_address(address),
        address,
        np.dtype(interface["typestr"]).name,
        tuple(interface["shape"]),
        tuple(strides) if strides else None,
        x,
    )
    if pending := interface.get("stream"):
        core.wait_for(core.Queue(found.gpu, pending))
    return found


def standing_in(
    shape: tuple[int, ...], dtype: np.dtype, strides: tuple[int, ...] | None
) -> np.ndarray:
    if strides is None:
        return np.empty(shape, dtype)
    reach = [stride * (n - 1) for stride, n in zip(strides, shape, strict=True)]
    low = sum(step for step in reach if step < 0) if 0 not in shape else 0
    high = sum(step for step in reach if step > 0) if 0 not in shape else 0
    memory = np.empty(high - low + dtype.itemsize, np.uint8)
    return np.ndarray(shape, dtype, memory, -low, strides)


def first_byte(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


# --- Where operands lie --------------------------------------------------------------------------


def gpu_of_all(named: Mapping[str, CodeArray | None]) -> int | None:
    """The GPU that all arrays lie on; None where all are here."""
    if DeviceArray not in map(type, named.values()):  # small products ask this, too
        return None
    places = {
        name: x.device if isinstance(x, DeviceArray) else "cpu"
        for name, x in named.items()
        if x is not None
    }
    (first, device), *others = places.items()
    for name, other in others:
        if other != device:
            raise TypeError(
                f"{first} lies on {device} and {name} on {other}; "
                f"{name}.to_device('{device}') brings it there"
            )
    return None if device == "cpu" else gpu_of(device)
