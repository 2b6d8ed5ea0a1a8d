"""Codes side by side in bytes, as checkpoints and hardware keep them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._create import is_tensor
from .._device import DeviceArray
from .._format import Format, as_format


def pack(x: Array) -> np.ndarray:
    """The codes of an Array side by side along its last axis, low bits first.

    Args:
        x: an Array whose codes have up to 64 bits, of one axis or more.
    Returns:
        uint8: each row of n codes has ceil(n * width / 8) bytes, the last one filled with zeros.
    Raises:
        ValueError: the format is wider, or x has no axis.

    >>> import widthwise as ww
    >>> ww.pack(ww.array([6.0, 3.0, -0.5], "e2m1fn"))
    array([87,  9], dtype=uint8)
    """
    if isinstance(x, DeviceArray):
        raise TypeError(f"x lies on {x.device}; codes are packed here: x.to_device('cpu')")
    if not isinstance(x, Array):
        way = "x.packed()" if hasattr(x, "packed") else "ww.from_bits(x, format)"
        raise TypeError(f"x is {type(x).__name__}; an Array is packed: {way}")
    if x.ndim == 0 or x.format.width > 64:
        raise ValueError(
            f"x is {x.format}, shape {x.shape}: codes of up to 64 bits are packed along an axis"
        )
    n = x.shape[-1]
    row = -(-n * x.format.width // 8)
    bytes = core.pack_codes(x.format._core, np.ascontiguousarray(x.bits), n)
    return bytes.reshape(*x.shape[:-1], row)


def packed_size(shape: tuple[int, ...], width: int) -> int:
    """Bytes of codes of so many bits whose rows begin a byte each."""
    *rows, n = shape or (1,)
    return math.prod(rows) * -(-n * width // 8)


def unpack(data: Any, format: str | Format, n: int | None = None) -> Array:
    """The codes that `ww.pack` put side by side.

    Args:
        data: uint8, (..., bytes), or a torch tensor of bytes or of float4_e2m1fn_x2.
        format: of the codes.
        n: codes in each row; all that fit when left out.
    Returns:
        An Array of shape (..., n).
    Raises:
        ValueError: so many codes take more bytes, or fewer, than there are.

    >>> import numpy as np, widthwise as ww
    >>> ww.unpack(np.uint8([87, 9]), "e2m1fn", 3)
    Array([6 3 -0.5], e2m1fn)
    """
    f = as_format(format)
    if is_tensor(data):
        import torch

        if "float4" in str(data.dtype) and f.width != 4:
            raise TypeError(f"data holds {data.dtype}, codes of 4 bits; {f} has {f.width}")
        data = data.detach().cpu().view(torch.uint8).numpy()
    bytes = np.ascontiguousarray(data)
    if bytes.dtype != np.uint8 or bytes.ndim == 0:
        raise TypeError(f"data holds {bytes.dtype}, shape {bytes.shape}; uint8 (..., bytes) wanted")
    if f.width > 64:
        raise ValueError(f"format = {f}: codes of up to 64 bits are packed")
    row = bytes.shape[-1]
    count = 8 * row // f.width if n is None else n
    if count < 0 or -(-count * f.width // 8) != row:
        raise ValueError(
            f"n = {count}: so many codes of {f.width} bits take {-(-count * f.width // 8)} bytes, "
            f"and data has {row} a row"
        )
    shape = (*bytes.shape[:-1], count)
    codes = _codes.empty(shape, f)
    if math.prod(shape):
        core.unpack_codes(f._core, bytes, count, codes)
    return Array._of(codes, f)
