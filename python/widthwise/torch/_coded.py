"""Codes of tensors: packed side by side, with the scales that belong to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .._array import Array
from .._block_format import is_container
from .._device import DeviceArray
from .._format import Format
from .._format_texts import said
from .._host import block_format_of, env_of, format_text, refuse_idle_axis, whole_seed
from .._machine import by_usual_arithmetic
from ..containers.affine import Affine
from ..containers.blocks import Blocks
from ..containers.coded import Coded
from ..containers.integer_codes import as_codes, format_of
from ..containers.packing import BYTES, pack, unpack
from ..containers.scheme import Scheme, is_affine
from ._containers import contained, container_values
from ._gpu import in_its_turn, lies_there, numbers_there, tensor_there
from ._memory import codes_in, held_format, here, known, rounded_codes, tensor_of, values_of
from ._op import are_tensors, by_chance, drawn_seed

PACKED = 64  # bits of the widest codes that go side by side


class QTensor:
    """A tensor's codes, packed in bytes, and the scales that belong to them.

    `encode` makes it, `decode` and `.decode()` give its values. All parts are tensors, texts and
    numbers: it copies, pickles and comes back from torch.load with weights_only.

    >>> import torch
    >>> q = encode(torch.tensor([6.0, 3.0, -0.5]), "e2m1fn")
    >>> q.packed, q.codes
    (tensor([87,  9], dtype=torch.uint8), tensor([7, 5, 9], dtype=torch.uint8))
    """

    __slots__ = ("axis", "format", "packed", "scale", "shape", "tensor_scale", "zero_point")
    packed: torch.Tensor  # bytes, codes in the tensor's order, low bits first
    scale: torch.Tensor | None  # codes of blocks' scales; floats of affine integers, or of a format
    zero_point: torch.Tensor | None  # of affine integers
    tensor_scale: float | None  # of nvfp4 and its like
    shape: tuple[int, ...]
    format: str
    axis: int | None  # of blocks and channels

    def __init__(
        self,
        packed: torch.Tensor,
        format: str,
        shape: tuple[int, ...],
        scale: torch.Tensor | None = None,
        zero_point: torch.Tensor | None = None,
        tensor_scale: float | None = None,
        axis: int | None = None,
    ) -> None:
        self.packed, self.format, self.shape = packed, format, tuple(shape)
        self.scale, self.zero_point = scale, zero_point
        self.tensor_scale, self.axis = tensor_scale, axis

    @property
    def codes(self) -> torch.Tensor:
        """A code an element, in the least unsigned integers that hold it; affine ones with sign.

        >>> import torch
        >>> encode(torch.tensor([1.0, -1.0]), "e5m2").codes
        tensor([ 60, 188], dtype=torch.uint8)
        """
        with in_its_turn(self.packed):
            x = self.to_ww()
            if isinstance(x, Affine):
                return self._integers(x.scheme)
            held = x.codes if isinstance(x, Coded) else x
            return tensor_of(held.elements if isinstance(held, Blocks) else held)

    @property
    def nbytes(self) -> int:
        """Bytes of codes, scales and zero points.

        >>> import torch
        >>> encode(torch.ones(64), "mxfp4").nbytes
        34
        """
        parts = (self.packed, self.scale, self.zero_point)
        return sum(x.numel() * x.element_size() for x in parts if x is not None)

    @property
    def device(self) -> torch.device:
        """Where the codes lie.

        >>> import torch
        >>> encode(torch.tensor([0.3]), "e2m1fn").device
        device(type='cpu')
        """
        return self.packed.device

    def to(self, device: Any) -> QTensor:
        """The same codes on another device; itself where they lie there.

        >>> import torch
        >>> q = encode(torch.tensor([0.3]), "e2m1fn")
        >>> q.to("cpu") is q
        True
        """
        if torch.empty(0, device=device).device == self.device:
            return self
        scale, zero = (None if x is None else x.to(device) for x in (self.scale, self.zero_point))
        packed, whole = self.packed.to(device), self.tensor_scale
        return QTensor(packed, self.format, self.shape, scale, zero, whole, self.axis)

    def decode(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The values, as `decode` gives them.

        >>> import torch
        >>> encode(torch.tensor([0.3]), "e2m1fn").decode()
        tensor([0.5000])
        """
        return decode(self, dtype)

    def to_ww(self) -> Any:
        """The same as a `ww.Array`, `ww.Blocks` or `ww.Affine`; codes under a scale of the tensor
        or of channels as what `ww.load` gives of them. Codes on a GPU stay there.

        >>> import torch
        >>> encode(torch.tensor([0.3, 6.0]), "e2m1fn").to_ww()
        Array([0.5 6], e2m1fn)
        """
        if is_affine(self.format):
            return self._as_affine()
        if not is_container(self.format):
            codes: Any = unpacked(self.packed, Format(self.format), self.shape)
            return codes if self.scale is None else Coded(codes, self.scale.cpu().numpy())
        assert self.scale is not None
        f = block_format_of(self.format)
        elements = unpacked(self.packed, f.element, self.shape)
        scales = codes_in(self.scale, f.scale)
        along = -1 if self.axis is None else self.axis
        return Blocks.of(elements, scales, f, axis=along, tensor_scale=self.tensor_scale)

    def _as_affine(self) -> Affine:
        from ..containers.given import settings

        assert self.scale is not None and self.zero_point is not None
        rule, groups = settings(self.shape, self.format, None, None, None, self.axis, None)
        codes: Any = unpacked(self.packed, format_of(rule), self.shape)
        if isinstance(codes, Array):
            codes = self._integers(rule).numpy()
        scale, zero_point = (x.cpu().numpy() for x in (self.scale, self.zero_point))
        return Affine._of(codes, scale, zero_point, rule, groups)

    def _integers(self, rule: Scheme) -> torch.Tensor:
        """Affine codes with their sign."""
        codes = tensor_of(unpacked(self.packed, format_of(rule), self.shape)).to(torch.int64)
        if rule.signed:
            codes -= (codes >> rule.bits - 1) << rule.bits
        return codes.to(getattr(torch, np.dtype(rule.dtype).name))

    def __repr__(self) -> str:
        return f"QTensor(shape={self.shape}, format='{self.format}', nbytes={self.nbytes})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, part in state.items():
            setattr(self, name, part)


torch.serialization.add_safe_globals([QTensor])


@by_usual_arithmetic
def encode(
    x: torch.Tensor,
    format: Any,
    rounding: str = "rne",
    seed: Any = None,
    *,
    axis: int | None = None,
) -> QTensor:
    """The codes of x's values, rounded to a format as `quantize` rounds them.

    Args:
        x, format, rounding, seed, axis: as in `quantize`; the format may be wider than the dtype.
    Returns:
        A QTensor of x's shape, on x's device. Gradients end here.
    Raises:
        ValueError: NaN, and the format has none; an empty tensor, and its numbers share scales.
        TypeError: x holds another dtype.

    >>> import torch
    >>> encode(torch.ones(2, 64), "mxfp8_e4m3")
    QTensor(shape=(2, 64), format='block(e4m3fn,32,e8m0fnu)', nbytes=132)
    """
    are_tensors(x=x)
    drawn = whole_seed(drawn_seed(seed, by_chance(rounding)))
    told = format_text(format)
    refuse_idle_axis(axis, told)
    with in_its_turn(x):
        if is_container(told):
            return with_scales(contained(x, told, rounding, axis, drawn), x.device, axis)
        f = Format(told)
        codes = rounded_codes(x, f, env_of(rounding), drawn)
        return QTensor(packed_codes(codes), str(f), tuple(x.shape))


def with_scales(made: Any, device: torch.device, axis: int | None) -> QTensor:
    if isinstance(made, Affine):
        packed = packed_codes(as_codes(made.codes, made.scheme))
        parts = (torch.from_numpy(np.asarray(x)) for x in (made.scale, made.zero_point))
        scale, zero = (x.to(device) for x in parts)
        return QTensor(packed, made.format, made.shape, scale, zero, axis=axis)
    packed, scales = packed_codes(made.elements), tensor_of(made.scales)
    whole = None if made.tensor_scale is None else float(made.tensor_scale)
    return QTensor(packed, str(made.format), made.shape, scales, None, whole, axis)


def packed_codes(codes: Array | DeviceArray) -> torch.Tensor:
    if codes.format.width > PACKED:
        return tensor_of(codes).view(torch.uint8).reshape(-1)
    packed = pack(codes.reshape(-1))
    return tensor_there(packed) if isinstance(packed, DeviceArray) else torch.from_numpy(packed)


def unpacked(data: torch.Tensor, f: Format, shape: tuple[int, ...]) -> Array | DeviceArray:
    if f.width > PACKED:
        return codes_in(data.view(torch.uint64).reshape(*shape, f.limbs), f)
    bytes = numbers_there(data, BYTES) if lies_there(data) else data.numpy()
    found: Array | DeviceArray = unpack(bytes, f, math.prod(shape)).reshape(shape)
    return found


@by_usual_arithmetic
def decode(q: QTensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The values that codes stand for.

    Args:
        q: what `encode` made.
        dtype: float16, bfloat16, float32 or float64.
    Returns:
        A new tensor of q's shape, on its device. What has more digits than the dtype because a
        scale is multiplied in, is rounded once.
    Raises:
        ValueError: the dtype does not hold the format's numbers.

    >>> import torch
    >>> decode(encode(torch.tensor([0.3, -1.2, 2.0]), "affine(uint8)"))
    tensor([ 0.3012, -1.2047,  1.9953])
    """
    if not isinstance(q, QTensor):
        raise TypeError(
            f"q is {type(q).__name__}; a QTensor is wanted, as encode(x, format) makes it"
        )
    with in_its_turn(q.packed):
        return decoded(q, dtype)


def decoded(q: QTensor, dtype: torch.dtype) -> torch.Tensor:
    x = q.to_ww()
    if isinstance(x, Coded):
        assert q.scale is not None
        codes = values_of(x.codes, torch.float64)
        return rounded_once(here(np.multiply, codes, q.scale.double()), dtype)
    if not isinstance(x, Array | DeviceArray):
        return container_values(x, dtype)
    try:
        held_format(q.format, dtype)
    except ValueError:
        raise ValueError(
            f"{said(q.format)} has numbers that {dtype} does not hold; take a wider dtype, or "
            "q.to_ww(), whose numbers are exact"
        ) from None
    return values_of(x, dtype)


def rounded_once(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """torch goes from doubles to 16 bits by way of binary32."""
    if dtype == torch.float64:
        return x
    return values_of(rounded_codes(x, known(dtype).format), dtype)
