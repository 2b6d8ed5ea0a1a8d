"""Codes side by side in bytes, as checkpoints and hardware keep them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _widthwise as core
from .._array import Array
from .._code_array import CodeArray
from .._create import is_tensor, on_gpu
from .._device import DeviceArray, Found
from .._format import Format, as_format
from .._format_texts import said
from .._workplace import Workplace

BYTES = Format("uint8")


def pack(x: Any) -> Any:
    """The codes of an Array side by side along its last axis, low bits first.

    Args:
        x: an Array whose codes have up to 64 bits, of one axis or more, or a DeviceArray.
    Returns:
        uint8: each row of n codes has ceil(n * width / 8) bytes, the last one filled with zeros.
        On a GPU a DeviceArray of uint8.
    Raises:
        ValueError: the format is wider, or x has no axis.

    >>> import widthwise as ww
    >>> ww.pack(ww.array([6.0, 3.0, -0.5], "e2m1fn"))
    array([87,  9], dtype=uint8)
    """
    if not isinstance(x, CodeArray):
        way = "x.packed()" if hasattr(x, "packed") else "ww.from_bits(x, format)"
        raise TypeError(f"x is {type(x).__name__}; an Array is packed: {way}")
    if x.ndim == 0 or x.format.width > 64:
        raise ValueError(
            f"x is {said(x.format)}, shape {x.shape}: codes of up to 64 bits are packed along an "
            "axis"
        )
    where, n = Workplace.of({"x": x}), x.shape[-1]
    bytes = where.empty((*x.shape[:-1], core.packed_bytes(n, x.format.width)), BYTES)
    if bytes.size:
        where.run("pack_codes", x.format._core, where.codes(x, x.shape), n, bytes._for_core)
    return bytes if isinstance(bytes, DeviceArray) else bytes.bits


def packed_size(shape: tuple[int, ...], width: int) -> int:
    """Bytes of codes of so many bits whose rows begin a byte each."""
    *rows, n = shape or (1,)
    return math.prod(rows) * core.packed_bytes(n, width)


def unpack(data: Any, format: str | Format, n: int | None = None) -> Any:
    """The codes that `ww.pack` put side by side.

    Args:
        data: uint8, (..., bytes), or a torch tensor of bytes or of float4_e2m1fn_x2.
        format: of the codes.
        n: codes in each row; all that fit when left out.
    Returns:
        An Array of shape (..., n); of bytes on a GPU a DeviceArray.
    Raises:
        ValueError: so many codes take more bytes, or fewer, than there are.

    >>> import numpy as np, widthwise as ww
    >>> ww.unpack(np.uint8([87, 9]), "e2m1fn", 3)
    Array([6 3 -0.5], e2m1fn)
    """
    f = as_format(format)
    bytes = bytes_of(data, f)
    if f.width > 64:
        raise ValueError(f"format = {said(f)}: codes of up to 64 bits are packed")
    row = bytes.shape[-1]
    count = 8 * row // f.width if n is None else n
    taken = core.packed_bytes(max(count, 0), f.width)
    if count < 0 or taken != row:
        raise ValueError(
            f"n = {count}: so many codes of {f.width} bits take {taken} bytes, and data has {row} "
            "a row"
        )
    where = Workplace.of({"data": bytes})
    codes = where.empty((*bytes.shape[:-1], count), f)
    if codes.size:
        where.run("unpack_codes", f._core, where.codes(bytes, bytes.shape), count, codes._for_core)
    return codes


def bytes_of(data: Any, f: Format) -> Any:
    """What is given for bytes, as an Array or a DeviceArray of them."""
    if is_tensor(data):
        import torch

        if "float4" in str(data.dtype) and f.width != 4:
            raise TypeError(f"data holds {data.dtype}, codes of 4 bits; {said(f)} has {f.width}")
        if "float4" not in str(data.dtype) and data.dtype != torch.uint8:
            raise TypeError(f"data holds {data.dtype}; uint8 (..., bytes) wanted")
        data = data.detach().view(torch.uint8)
    there = on_gpu(data)
    if isinstance(there, Found):
        there = there.as_codes("data", BYTES)
    x = np.asarray(data) if there is None else there
    holds = x.format if isinstance(x, DeviceArray) else x.dtype
    if str(holds) != str(BYTES) or x.ndim == 0:
        raise TypeError(f"data holds {holds}, shape {x.shape}; uint8 (..., bytes) wanted")
    return Array._of(x, BYTES) if isinstance(x, np.ndarray) else x
