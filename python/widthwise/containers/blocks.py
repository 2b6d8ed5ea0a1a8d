"""Blocks: numbers whose elements share scales (OCP MX, NVFP4, block floating point, tiles)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._array import Array
from .._block_format import BlockFormat
from .._container import Container, Scaled
from .._format import Format, as_format
from .._format_texts import said
from .._machine import by_usual_arithmetic
from .._workplace import Workplace
from .compared import Compared, WithoutOperators
from .given_codes import check_scales, codes, given
from .layout import Layout
from .numbers import HELD, for_core
from .packing import pack, packed_size
from .recorded import Recorded

if TYPE_CHECKING:
    from .._unit import Unit
    from ..display.style import Card


class Blocks(Compared, WithoutOperators, Container, Recorded):
    """Numbers as elements and scales: element * scale, and times the tensor's scale if it has one.

    `ww.blocks` makes them of numbers, `Blocks.of` of codes.

    >>> import numpy as np, widthwise as ww
    >>> w = ww.blocks(np.arange(128, dtype=np.float32).reshape(2, 64), "mxfp8_e4m3")
    >>> w
    Blocks(block(e4m3fn,32,e8m0fnu), shape (2, 64), 25 clamped)
    >>> w[:, 32:].scales.to_float64().tolist()
    [[0.125], [0.25]]
    >>> w.nbytes, w.T.axis
    (132, 0)
    """

    __slots__ = (
        "_axis",
        "_elements",
        "_format",
        "_scales",
        "_tensor_scale",
        "clamped",
        "nan_blocks",
    )
    _also = ", and ww.matmul(a, b, unit='blackwell.mxfp8') multiplies blocks"
    _elements: Any  # Arrays, on a GPU DeviceArrays
    _scales: Any
    _format: BlockFormat
    _axis: int
    _tensor_scale: np.float32 | None
    clamped: int | None
    nan_blocks: int | None

    def __init__(self) -> None:
        raise TypeError("make blocks with ww.blocks(values, format) or ww.Blocks.of(codes, scales)")

    @classmethod
    def _of(
        cls,
        elements: Any,
        scales: Any,
        format: BlockFormat,
        axis: int,
        tensor_scale: np.float32 | None = None,
        clamped: int | None = None,
        nan_blocks: int | None = None,
    ) -> Blocks:
        self = object.__new__(cls)
        self._elements, self._scales = elements, scales
        self._format, self._axis, self._tensor_scale = format, axis, tensor_scale
        self.clamped, self.nan_blocks = clamped, nan_blocks
        return self

    @classmethod
    def of(
        cls,
        elements: Any,
        scales: Any,
        format: str | BlockFormat,
        *,
        axis: int = -1,
        tensor_scale: Any = None,
    ) -> Blocks:
        """Blocks of codes that are there; nothing is copied.

        Args:
            elements: an Array of the format's elements, or their codes (unsigned integers, or a
                dtype of that encoding, as ml_dtypes' and torch's).
            scales: the same of its scales; an axis of blocks has length / block of them.
            format, axis, tensor_scale: as in `ww.blocks`.
        Raises:
            ValueError: shapes that do not fit; the message has the shape that does.
            TypeError: elements and scales lie on two devices.

        >>> import widthwise as ww
        >>> import numpy as np
        >>> x = Blocks.of(np.uint8([7, 5, 8, 2]), np.uint8([127]), "mxfp4")
        >>> x.to_float64()
        array([ 6.,  3., -0.,  1.])
        """
        f = BlockFormat(format)
        e, s = codes("elements", elements, f.element), codes("scales", scales, f.scale)
        layout = Layout.of(f, e.shape, axis)
        if s.shape != layout.scales_shape:
            raise ValueError(
                f"scales is {s.shape}; elements of shape {e.shape} in {said(f)} along axis {axis} "
                f"have {layout.scales_shape}"
            )
        Workplace.of({"elements": e, "scales": s})
        check_scales(s)
        t = (
            None
            if tensor_scale is None and not f._core.takes_tensor_scale
            else given(1 if tensor_scale is None else tensor_scale, f)
        )
        return cls._of(e, s, f, axis, t)

    # --- What there is ---

    @property
    def elements(self) -> Any:
        """The elements' codes, of the array's shape.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").elements
        Array([6 3], e2m1fn)
        """
        return self._elements

    @property
    def scales(self) -> Any:
        """The scales' codes: along an axis of blocks one a block.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").scales
        Array([1], e8m0fnu)
        """
        return self._scales

    @property
    def tensor_scale(self) -> np.float32 | None:
        """What all numbers are multiplied by, beside their block's scale; None where none is.

        >>> import widthwise as ww
        >>> ww.blocks([2688.0], "nvfp4").tensor_scale
        np.float32(1.0)
        """
        return self._tensor_scale

    @property
    def format(self) -> BlockFormat:
        """What the codes mean.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").format
        BlockFormat('block(e2m1fn,32,e8m0fnu)')
        """
        return self._format

    @property
    def axis(self) -> int:
        """Along which blocks of n elements lie, as it was given.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").axis
        -1
        """
        return self._axis

    @property
    def block(self) -> int | tuple[int, int] | str:
        """As the format's: n, (rows, columns), 0 for a whole axis, 'all'.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").block
        32
        """
        return self._format.block

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers.

        >>> import widthwise as ww
        >>> ww.blocks([[6.0, 3.0]], "mxfp4").shape
        (1, 2)
        """
        return self._elements.shape

    @property
    def ndim(self) -> int:
        """How many axes there are.

        >>> import widthwise as ww
        >>> ww.blocks([[6.0, 3.0]], "mxfp4").ndim
        2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are.

        >>> import widthwise as ww
        >>> ww.blocks([[6.0, 3.0]], "mxfp4").size
        2
        """
        return self._elements.size

    def __len__(self) -> int:
        return len(self._elements)

    def __iter__(self) -> Iterator[Blocks]:
        # Of a sequence without this method an IndexError, as of an axis of blocks, is the end.
        for i in range(len(self)):
            yield self[i]

    @property
    def nbytes(self) -> int:
        """Bytes that elements take, packed to their bits row by row, and scales as they are.

        >>> import widthwise as ww
        >>> import numpy as np
        >>> ww.blocks(np.ones((2, 32), np.float32), "mxfp4").nbytes   # 2 * (32 * 4 / 8 + 1)
        34
        """
        elements = packed_size(self.shape, self._format.element.width)
        return elements + self._scales._bits.nbytes + (0 if self._tensor_scale is None else 4)

    @property
    def _layout(self) -> Layout:
        return Layout.of(self._format, self.shape, self._axis)

    # --- Numbers ---

    def to_float64(self) -> np.ndarray:
        """What the codes stand for, exactly.

        >>> import widthwise as ww
        >>> ww.blocks([1.0, 0.3], "bfp(4,2,e8)").to_float64()
        array([1.  , 0.25])
        """
        return for_core(self.to_device("cpu").dequantise("binary64"))

    def to_float32(self) -> np.ndarray:
        """What they stand for, rounded once to binary32 (nearest, ties to even).

        >>> import widthwise as ww
        >>> ww.blocks([1.0, 0.3], "mxfp8_e4m3").to_float32()
        array([1.    , 0.3125], dtype=float32)
        """
        return for_core(self.to_device("cpu").dequantise())

    def dequantise(self, format: str | Format = "binary32") -> Any:
        """The same as an Array where the codes lie, on a GPU a DeviceArray; `format` is binary32
        or binary64.

        >>> import widthwise as ww
        >>> ww.blocks([1.0, 0.3], "mxfp8_e4m3").dequantise()
        Array([1 0.3125], e8m23)
        """
        f = as_format(format)
        if str(f) not in HELD:
            raise ValueError(f"format = {str(format)!r}: it may be binary32 or binary64")
        return self._read(f)

    def numbers(self) -> Any:
        """Exactly, as NumPy's array, or on a GPU as a DeviceArray.

        >>> import widthwise as ww
        >>> ww.blocks([1.0, 0.3], "bfp(4,2,e8)").numbers()
        array([1.  , 0.25])
        """
        return self.to_float64() if self.device == "cpu" else self.dequantise("binary64")

    @by_usual_arithmetic
    def _read(self, to: Format) -> Any:
        digits = self._format.element.precision + self._format.scale.precision + 24
        if self._tensor_scale is None:
            digits -= 24
        if digits > 53 and not self._format._core.power_of_two:
            raise ValueError(
                f"{said(self._format)}: element * scale has up to {digits} digits, and binary64 "
                "has 53; elements.to_fractions() and scales.to_fractions() have the factors"
            )
        where = Workplace.of({"elements": self._elements, "scales": self._scales})
        codes = [where.codes(part, part.shape) for part in (self._elements, self._scales)]
        x = where.empty(self.shape, to)
        s = 1.0 if self._tensor_scale is None else float(self._tensor_scale)
        where.run("read_blocks", self._format._core, self._layout.grid, *codes, for_core(x), s)
        return x

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("numbers of blocks are made when they are asked for; copy=None")
        x = self.to_float64()
        return x if dtype is None else x.astype(dtype)

    def packed(self) -> Any:
        """The elements' codes side by side along the last axis, low bits first: uint8, on a GPU a
        DeviceArray of it.

        Each row begins a byte. FP4 has its even elements in the low halves, as torch's
        float4_e2m1fn_x2. `ww.unpack` takes them apart.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0, -0.25, 0.75], "mxfp4").packed()
        array([87, 40], dtype=uint8)
        """
        return pack(self._elements)

    # --- Where they lie ---

    @property
    def device(self) -> str:
        """'cpu', or the engine that computes where the codes lie: 'cuda', 'cuda:1'.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").device
        'cpu'
        """
        return self._elements.device

    def to_device(self, device: str) -> Blocks:
        """A copy on another device, as of an Array; itself where it lies there.

        >>> import widthwise as ww
        >>> x = ww.blocks([6.0, 3.0], "mxfp4")
        >>> x.to_device("cpu") is x
        True
        """
        if device == self.device:
            return self
        parts = self._elements.to_device(device), self._scales.to_device(device)
        f, axis, s = self._format, self._axis, self._tensor_scale
        return Blocks._of(*parts, f, axis, s, self.clamped, self.nan_blocks)

    # --- Parts and views ---

    def __getitem__(self, key: Any) -> Blocks:
        """Whole blocks; axes without blocks as in NumPy."""
        elements, scales, format, axis = self._layout.part(key)
        return Blocks._of(
            self._elements[elements], self._scales[scales], format, axis, self._tensor_scale
        )

    def transpose(self, *axes: int) -> Blocks:
        """The axes in another order, reversed if no `axes` are given; blocks go with theirs.

        >>> import widthwise as ww
        >>> ww.blocks([[6.0, 3.0]], "mxfp4").transpose(1, 0)
        Blocks(block(e2m1fn,32,e8m0fnu), shape (2, 1), axis 0)
        """
        order, format, axis = self._layout.transposed(axes)
        e, s = self._elements.transpose(order), self._scales
        s = s if format.block == "all" else s.transpose(order)
        return Blocks._of(e, s, format, axis, self._tensor_scale, self.clamped, self.nan_blocks)

    @property
    def T(self) -> Blocks:
        """The axes in reverse order.

        >>> import widthwise as ww
        >>> ww.blocks([[6.0, 3.0]], "mxfp4").T.shape
        (2, 1)
        """
        return self.transpose()

    def requantise(
        self, format: str | BlockFormat | None = None, *, axis: int | None = None, **how: Any
    ) -> Blocks:
        """The numbers that the codes stand for, quantised anew: in another `format`, along another
        `axis`; keywords besides (`how`) as in `ww.blocks`.

        >>> import widthwise as ww
        >>> import numpy as np
        >>> x = ww.blocks(np.eye(32, dtype=np.float32), "mxfp4")
        >>> x.requantise(axis=0).scales.shape
        (1, 32)
        """
        from .quantise import blocks

        f = self._format if format is None else BlockFormat(format)
        return blocks(self, f, axis=self._axis if axis is None else axis, **how)

    def fits(self, format: BlockFormat, axis: int) -> bool:
        """Whether these are blocks of a format's elements, sizes and scales along an axis, however
        their scales were found; or larger ones, which on this machine lend it to their parts.

        >>> import widthwise as ww
        >>> x = ww.blocks([6.0, 3.0], "mxfp4;scale=ceil")
        >>> x.fits(BlockFormat("mxfp4"), -1), x.fits(BlockFormat("nvfp4"), -1)   # format, axis
        (True, False)
        """
        return self._scales_of_parts(format, axis) is not None

    def for_unit(self, name: str, unit: Unit, axis: int) -> Scaled:
        """Codes and scales for a unit that sums along an axis; `name` is the argument's, in errors.

        >>> import widthwise as ww
        >>> ww.blocks([6.0, 3.0], "mxfp4").for_unit("a", ww.Unit("blackwell.mxfp4"), -1).scales
        Array([1], e8m0fnu)
        """
        if unit.scale_format is None:
            raise ValueError(
                f"{name} is {said(self._format)}; unit {said(unit)} scales nothing. Take a unit "
                f"that does, as blackwell.mxfp8, or pass "
                f"ww.array({name}.to_float64(), '{said(unit.a)}')"
            )
        element = unit.a if name == "a" else unit.b
        wanted = BlockFormat.of(element, unit.scale_block, unit.scale_format)
        if (scales := self._scales_of_parts(wanted, axis)) is not None:
            return Scaled(self._elements, scales, self._tensor_scale)
        if not self.fits(wanted, self._layout.axis or 0):
            raise ValueError(
                f"{name} is {said(self._format)}; unit {said(unit)} takes {said(wanted)}: "
                f"{name}.requantise('{said(wanted)}')"
            )
        raise ValueError(
            f"{name} has its blocks along axis {self._layout.axis}, and unit {said(unit)} sums "
            f"along axis {axis % self.ndim}: {name}.requantise(axis={axis})"
        )

    def _scales_of_parts(self, f: BlockFormat, axis: int) -> Any:
        """Of the blocks of another format, each of which is or lies within one of these."""
        own = self._format
        if (f.element, f.scale) != (own.element, own.scale):
            return None
        if f.block == own.block and self._layout.axis == axis % self.ndim:
            return self._scales
        if self.device != "cpu":
            return None
        bits = self._layout.spread_to(Layout.of(f, self.shape, axis), self._scales.bits)
        return None if bits is None else Array._of(bits, f.scale)

    # --- Shown and kept ---

    def _named_parts(self) -> tuple[str, dict[str, np.ndarray]]:
        here = self.to_device("cpu")
        parts = {"elements": here._elements.bits, "scales": here._scales.bits}
        if self._tensor_scale is not None:
            parts["tensor_scale"] = np.asarray(self._tensor_scale)
        return f"{self._format} axis={self._axis}", parts

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._elements, self._scales, self._format, self._axis, self._tensor_scale)
        return Blocks._of, (*parts, self.clamped, self.nan_blocks)

    def __repr__(self) -> str:
        return f"Blocks({self._format}, shape {self.shape}{self._axis_text()}{self._warning()})"

    def _axis_text(self) -> str:
        last = self._layout.axis in (None, self.ndim - 1)
        return "" if last else f", axis {self._axis}"

    def _warning(self) -> str:
        """What an answer would mislead without."""
        of_nan = "block of NaN" if self.nan_blocks == 1 else "blocks of NaN"
        counts = ((self.clamped, "clamped"), (self.nan_blocks, of_nan))
        said = [f"{n} {what}" for n, what in counts if n]
        return "".join(f", {text}" for text in said)

    def card(self) -> Card:
        """What a notebook shows: the blocks to scale, their bits, and what was clamped.

        >>> import widthwise as ww
        >>> print(ww.blocks([6.0, 3.0], "mxfp4").card())  # doctest: +ELLIPSIS
        block(e2m1fn,32,e8m0fnu), shape (2,)...
        """
        from ..display.blocks import blocks_card

        return blocks_card(self.to_device("cpu"))

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()
