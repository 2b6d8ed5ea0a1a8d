"""Affine integers: codes q, a scale s and a zero point z, whose numbers are s (q - z)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _widthwise as core
from .._machine import by_usual_arithmetic
from .._random import random_source
from .affine_steps import asked_of, calibrated, dequantised, empty_codes, fill, place_of
from .affine_types import to_affine
from .compared import Compared, NotOneArray, WithoutOperators
from .given import (
    FOUND,
    check_codes,
    checked_dtype,
    covered,
    given,
    numbers,
    refuse_both,
    settings,
)
from .grouping import Grouping
from .integer_codes import as_codes, as_integers
from .packing import pack, packed_size
from .parameters import parameters, scale_dtype
from .recorded import Recorded
from .scheme import MOST_BITS, Scheme
from .slicing import sliced, transposed

if TYPE_CHECKING:
    from ..display.style import Card

MOST_RANDOM_BITS = 62
LONGEST = 200  # codes that repr writes out


class Affine(NotOneArray, Compared, WithoutOperators, Recorded):
    """Integers with a scale and a zero point, per array, channel or block.

    Args:
        codes: integers within the codes' range, of any shape; or an Array of int4, uint4, …, as
            `ww.unpack` makes them.
        scale: floats above zero: one, one a channel, or one a block.
        zero_point: integers within the codes' range, of scale's shape.
        bits, symmetric, signed, scheme, axis, block, scale_format: as `ww.affine` has them; bits
            and signed are those of the codes when left out.
    Raises:
        ValueError: a scale that is zero, negative, infinite or NaN; a zero point or a code out of
            range; shapes that do not fit.

    >>> import numpy as np, widthwise as ww
    >>> x = ww.Affine(np.uint8([0, 5, 255]), 0.5, 5)
    >>> x.to_float64()
    array([ -2.5,   0. , 125. ])
    """

    __slots__ = (
        "arithmetic", "clamped", "codes", "grouping", "nan", "scale", "scheme", "zero_point",
    )  # fmt: skip
    _also = ", and ww.affine_linear(x, w, scale=…) multiplies affine integers"
    codes: Any  # NumPy's integers, on a GPU a DeviceArray
    scale: np.ndarray
    zero_point: np.ndarray
    scheme: Scheme
    grouping: Grouping
    clamped: int | None  # elements that were past the range, infinities among them; None of codes
    nan: int | None  # elements that were NaN; likewise
    arithmetic: str

    def __init__(
        self,
        codes: Any,
        scale: Any,
        zero_point: Any = None,
        *,
        bits: int | str | None = None,
        symmetric: bool = False,
        signed: bool | None = None,
        scheme: str | None = None,
        axis: int | None = None,
        block: int | str | None = None,
        scale_format: str = "binary32",
    ) -> None:
        codes, width = as_integers(codes)
        if codes.dtype.kind not in "iu":
            raise TypeError(
                f"codes holds {codes.dtype}; codes are integers. ww.affine(x) makes them"
            )
        of_dtype = codes.dtype.kind == "i"
        if bits is None:
            bits = min(width, MOST_BITS)
        signed = of_dtype if signed is None and not isinstance(bits, str) else signed
        rule, groups = settings(codes.shape, bits, symmetric, signed, scheme, axis, block)
        dtype = scale_dtype(scale_format)
        shape = groups.scales_shape(codes.shape)
        scales, zeros = given(scale, zero_point, rule, shape, dtype, "ww.affine(x) finds one for x")
        check_codes(codes, rule)
        self._set(codes.astype(rule.dtype, copy=False), scales, zeros, rule, groups)

    def _set(
        self, codes: Any, scale: Any, zero_point: Any, scheme: Scheme, grouping: Grouping
    ) -> Affine:
        self.codes, self.scale = codes, scale
        self.zero_point = zero_point.astype(scheme.dtype, copy=False)
        self.scheme, self.grouping = scheme, grouping
        self.clamped, self.nan, self.arithmetic = None, None, "exact"
        return self

    def _part(self, codes: Any, scale: Any, zero_point: Any, grouping: Grouping) -> Affine:
        """Some of it, or all in another order."""
        part = Affine._of(codes, scale, zero_point, self.scheme, grouping)
        part.arithmetic = self.arithmetic
        return part

    @classmethod
    def _of(cls, *parts: Any) -> Affine:
        """Of parts that are known to fit."""
        return cls.__new__(cls)._set(*parts)

    @property
    def format(self) -> str:
        """As text, which `ww.affine` takes.

        >>> Affine([[-3], [7]], [1.0, 0.5], bits=4, scheme="symmetric", axis=0).format
        'affine(int4,symmetric,channel)'
        """
        return self.scheme.text(self.grouping.text())

    @property
    def qmin(self) -> int:
        """The least code.

        >>> Affine([0], 1.0, bits=4, symmetric=True).qmin
        -7
        """
        return self.scheme.qmin

    @property
    def qmax(self) -> int:
        """The largest code.

        >>> Affine([0], 1.0, bits=4).qmax
        7
        """
        return self.scheme.qmax

    @property
    def bits(self) -> int:
        """Of a code.

        >>> Affine([0], 1.0, bits=4).bits
        4
        """
        return self.scheme.bits

    @property
    def axis(self) -> int | None:
        """Of the channels, or along which blocks lie; None of one scale and of tiles.

        >>> Affine([[1, 2]], [[1.0]], block=2).axis
        1
        """
        return self.grouping.axis if self.grouping.kind in ("channel", "block") else None

    @property
    def block(self) -> int | str | None:
        """A block's length, 0 for the whole axis; a tile as '1x128'; None if there are none.

        >>> Affine([[1, 2]], [[1.0]], block=2).block
        2
        """
        kind = self.grouping.kind
        return (
            self.grouping.block
            if kind == "block"
            else self.grouping.text()
            if kind == "tile"
            else None
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the codes.

        >>> Affine([[1, 2]], 0.5).shape
        (1, 2)
        """
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """How many axes the codes have.

        >>> Affine([[1, 2]], 0.5).ndim
        2
        """
        return self.codes.ndim

    @property
    def size(self) -> int:
        """How many codes there are.

        >>> Affine([[1, 2]], 0.5).size
        2
        """
        return self.codes.size

    @property
    def nbytes(self) -> int:
        """Bytes that codes take, packed to their bits row by row, and scales and zero points as
        they are.

        >>> import numpy as np
        >>> Affine(np.uint8([1, 2]), 0.5, bits=4).nbytes  # codes, a scale of 4, a zero point of 1
        6
        """
        return packed_size(self.shape, self.bits) + self.scale.nbytes + self.zero_point.nbytes

    def packed(self) -> Any:
        """The codes side by side along the last axis, low bits first, in two's complement: uint8,
        on a GPU a DeviceArray of it.

        Each row begins a byte. `ww.unpack(x.packed(), 'int4')` takes them apart, and `ww.Affine`
        takes those.

        >>> import widthwise as ww
        >>> x = Affine([1, -2, 7], 0.5, bits=4, symmetric=True)
        >>> x.packed()
        array([225,   7], dtype=uint8)
        >>> Affine(ww.unpack(x.packed(), "int4", 3), x.scale, symmetric=True).codes
        array([ 1, -2,  7], dtype=int8)
        """
        return pack(as_codes(self.codes, self.scheme))

    def __len__(self) -> int:
        return len(self.codes)

    def to_float64(self) -> np.ndarray:
        """The exact numbers s (q - z), as binary64.

        >>> Affine([1, 2], 0.5).to_float64()
        array([0.5, 1. ])

        Raises:
            ValueError: one has more digits than a binary64.
        """
        numbers, rounded = dequantised(self.to_device("cpu"), np.float64)
        if rounded:
            raise ValueError(
                f"{rounded} of {self.size} numbers have more digits than a binary64; "
                "x.to_fractions() has them exactly, x.dequantise(np.float64) rounds them"
            )
        return numbers

    def dequantise(self, dtype: Any = np.float32) -> Any:
        """The numbers s (q - z), each rounded once, to nearest even, to a dtype: float32 or
        float64. Of codes on a GPU a DeviceArray.

        >>> import widthwise as ww
        >>> ww.affine([0.3, -1.2, 2], bits=8).dequantise()
        array([ 0.30117646, -1.2047058 ,  1.9952941 ], dtype=float32)
        """
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"dtype = {dtype!r}: it may be float32 or float64")
        return dequantised(self, np.dtype(dtype))[0]

    @by_usual_arithmetic
    def to_fractions(self) -> np.ndarray:
        """The exact numbers, as Fractions in an array of objects.

        >>> Affine([1, 2], 0.75).to_fractions().tolist()
        [Fraction(3, 4), Fraction(3, 2)]
        """
        scales = np.broadcast_to(self.grouping.spread(self.scale, self.shape), self.shape)
        codes = self.to_device("cpu").codes
        steps = codes.astype(np.int64) - self.grouping.spread(self.zero_point, self.shape)
        pairs = zip(np.ravel(steps).tolist(), np.ravel(scales).tolist(), strict=True)
        exact = np.empty(self.size, object)
        exact[:] = [q * Fraction(s) for q, s in pairs]
        return exact.reshape(self.shape)

    @property
    def device(self) -> str:
        """Where the codes lie: 'cpu', 'cuda', 'cuda:1'. Scales and zero points stay here.

        >>> Affine([1, 2], 0.5).device
        'cpu'
        """
        return "cpu" if isinstance(self.codes, np.ndarray) else self.codes.device

    def to_device(self, device: str) -> Affine:
        """A copy with its codes on another device; itself where they lie there.

        >>> x = Affine([1, 2], 0.5)
        >>> x.to_device("cpu") is x
        True
        """
        if device == self.device:
            return self
        codes = as_codes(self.codes, self.scheme) if self.device == "cpu" else self.codes
        moved = codes.to_device(device)
        moved = as_integers(moved)[0] if device == "cpu" else moved
        z = self._part(moved, self.scale, self.zero_point, self.grouping)
        z.clamped, z.nan = self.clamped, self.nan
        return z

    def __getitem__(self, index: Any) -> Affine:
        """Elements by integers and slices, which keep whole blocks; by anything that NumPy takes
        where there is one scale."""
        return self._part(*sliced(self, index))

    def transpose(self, *axes: Any) -> Affine:
        """The axes in another order, the scales' among them; axes are integers, reversed if none.

        >>> Affine([[1, 2]], [0.5], axis=0).transpose(1, 0).axis
        1
        """
        turned = self._part(*transposed(self, axes))
        turned.clamped, turned.nan = self.clamped, self.nan
        return turned

    @property
    def T(self) -> Affine:
        """The axes reversed.

        >>> Affine([[1, 2]], 0.5).T.shape
        (2, 1)
        """
        return self.transpose()

    def __repr__(self) -> str:
        codes = repr(self.codes)
        if self.device == "cpu":
            codes = np.array2string(self.codes, separator=", ", threshold=LONGEST, prefix="Affine(")
        return f"Affine({codes}, {self.format}, {self._said()})"

    def _said(self) -> str:
        if self.scale.ndim == 0:
            return f"scale={self.scale[()]!s}, zero_point={self.zero_point[()]!s}"
        return f"{self.scale.size} scales"

    def card(self) -> Card:
        """Its codes on a line with what they stand for, its scales, how much was clamped.

        >>> print(str(Affine([1, 2], 0.5, bits=4).card()).splitlines()[0])
        affine(int4)
        """
        from ..display.affine import affine_card

        return affine_card(self.to_device("cpu"))

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()

    def _named_parts(self) -> tuple[str, dict[str, np.ndarray]]:
        here = self.to_device("cpu")
        axis = [] if self.axis is None else [f"axis={self.axis}"]
        name = " ".join([self.format, *axis, f"arithmetic={self.arithmetic}"])
        return name, {"codes": here.codes, "scale": self.scale, "zero_point": self.zero_point}

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, part in state.items():
            setattr(self, name, part)


@to_affine
@by_usual_arithmetic
def affine(
    x: Any,
    bits: int | str = 8,
    symmetric: bool = False,
    axis: int | None = None,
    block: int | str | None = None,
    calibrate: Any = "minmax",
    *,
    signed: bool | None = None,
    scheme: str | None = None,
    scale: Any = None,
    zero_point: Any = None,
    range: Any = None,
    percentile: Any = None,
    scale_format: str = "binary32",
    arithmetic: str = "exact",
    rounding: str = "rne",
    flags: bool = False,
    seed: int = 0,
    random: Any = None,
) -> Any:
    """Quantise numbers to integers with a scale and a zero point.

    q = clamp(round(x / s) + z), and x is then about s (q - z).

    Args:
        x: floats of 16 to 64 bits, integers, an Array or a tensor, of any shape but empty. Floats
            on a GPU (as `ww.blocks` takes them) become codes there, a DeviceArray.
        bits: of a code, 1 to 32; or the whole as text, 'affine(int8,symmetric,channel)'.
        symmetric: codes +-(2^(bits-1) - 1), zero point 0; else all codes, unsigned.
        axis: one scale for each index of this axis (0 if a text says `channel`); with `block` the
            axis along which blocks lie, the last if left out.
        block: one scale for so many elements along an axis, 0 for all of it; '1x128', a tile of
            the last two axes; 'all', the array.
        calibrate: what range the scale is to cover: minmax, percentile, mse, entropy,
            cross_entropy (`ww.calibrate`), or a `ww.Calibrator` that has seen data.
        signed: the codes' sign, where not asymmetric's uint or symmetric's int.
        scheme: 'asymmetric', 'symmetric' or 'symmetric_full' (-2^(bits-1) is a code, too), in
            place of `symmetric`.
        scale, zero_point: numbers, or arrays with one for each channel or block.
        range: (lo, hi) to cover, in place of what `calibrate` finds; arrays likewise.
        percentile: of calibrate='percentile': 99.9 covers the 0.1th to the 99.9th.
        scale_format: 'binary32' or 'binary64', of the scale; a given one is rounded to it.
        arithmetic: 'exact', or an engine's order of operations and its NaN: 'onnx', 'torch'
            (fake_quantize), 'torch_legacy' (quantize_per_tensor).
        rounding: as in `ww.array`, to 62 random bits; seed, random likewise.
        flags: deliver (Affine, uint8 flags: NX 1, OF 4 past the range, NV 16 of NaN).
    Returns:
        An Affine of x's shape. NaN has the zero point's code, infinities clamp.
    Raises:
        ValueError: x is empty, or not finite and its range is asked for; a scale that is zero,
            infinite or NaN; a zero point out of range; shapes that do not fit.

    >>> import widthwise as ww
    >>> ww.affine([-1, 0, 0.5, 3.08])
    Affine([  0,  62,  93, 254], affine(uint8), scale=0.016, zero_point=62)
    >>> ww.affine([[1, -2], [30, 40]], "affine(int8,symmetric,channel)").scale
    array([0.01574803, 0.31496063], dtype=float32)
    """
    if isinstance(x, Affine):
        raise TypeError("x is an Affine already; pass x.to_float64() to quantise its numbers anew")
    values = numbers(x)
    if not values.size:
        raise ValueError(f"x has shape {values.shape}: an empty array has no range, and no scale")
    rule, groups = settings(values.shape, bits, symmetric, signed, scheme, axis, block)
    dtype = checked_dtype(scale_format, arithmetic)
    env = core.Env(rounding)
    if env.random_bits > MOST_RANDOM_BITS:
        raise ValueError(
            f"rounding = '{rounding}': affine integers take up to {MOST_RANDOM_BITS} random bits"
        )
    own_bits = random, seed, env, rounding, values.shape, place_of(values).gpu
    bits_drawn = random_source(*own_bits)
    shape = groups.scales_shape(values.shape)
    if scale is not None:
        refuse_both("scale", range=range, percentile=percentile, **asked_of(calibrate))
        scales, zeros = given(scale, zero_point, rule, shape, dtype, FOUND)
    else:
        refuse_both("zero_point without scale", zero_point=zero_point)
        if range is not None:
            refuse_both("range", percentile=percentile, **asked_of(calibrate))
        lo, hi = (
            covered(range, shape)
            if range is not None
            else calibrated(values, rule, groups, calibrate, percentile)
        )
        scales, zeros = parameters(lo, hi, rule, dtype)
    codes = empty_codes(values.shape, rule, values)
    result = Affine._of(codes, scales, zeros, rule, groups)
    raised = fill(result, values, arithmetic, env, flags, bits_drawn)
    return (result, raised) if flags else result
