"""Scaled tensors: data of a few bits, one binary32 scale, and 1 / largest of the dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._array import Array
from .._format import Format
from .._like import like_whom
from .._machine import by_usual_arithmetic
from .._missing import asks_for
from .._settings import checked_seed
from . import scaled_steps as steps
from .compared import Compared, WithoutOperators
from .numbers import without_gradient
from .recorded import Recorded
from .scaled_steps import Data, How, Kind

if TYPE_CHECKING:
    from ..display.style import Card


@by_usual_arithmetic
@asks_for("ww.scaled(x, 'sint8')")
def scaled(
    x: Any,
    dtype: str,
    *,
    rounding: str | None = None,
    like: str | None = None,
    seed: int = 0,
    random: Any = None,
) -> Scaled:
    """Quantise numbers to data that use all of a dtype's range, and one scale.

    The scale is the largest magnitude in binary32, or 1 where all are zero; data are
    x / scale / base, base = 1 / largest of the dtype, each quotient rounded to binary32.

    Args:
        x: numbers of any shape, as `ww.array` takes them, all of them finite in binary32.
        dtype: 'sfloat16', 'sfloat8_e4m3fn', 'sfloat8_e5m2', 'sint8', 'sint16' or 'sint32'.
        rounding: of integers, which without it are cut towards zero: rne, rna, …, sr8. Floats
            always round to nearest, ties to even.
        like: 'notebook' keeps the faults of the notebook that these tensors come from: integers
            as x86 converts them, no check of scales.
        seed, random: of stochastic rounding, as in `ww.add`.
    Returns:
        A Scaled of x's shape. What is computed from it has its rounding, like and seed.
    Raises:
        ValueError: x is empty, or holds an infinity, NaN or what binary32 does not reach.
        TypeError: x holds something that is no number.

    >>> import widthwise as ww
    >>> ww.scaled([1, 2, 3], "sfloat16")
    Scaled([1.0002443 2.0004885 3.       ], sfloat16, scale 3.0, wasted bits -inf)
    >>> ww.scaled([3, -2], "sint8", rounding="rne").data
    array([127, -85], dtype=int8)
    """
    k = steps.known(dtype)
    how = settings(k, How(), rounding, like, seed)
    numbers = steps.finite(x)
    scale = np.abs(numbers).max() or np.float32(1)
    return Scaled._made(steps.quantised(k, numbers, scale, how, random), scale, k, how)


def settings(
    k: Kind, own: How, rounding: str | None, like: str | None, seed: int | None = None
) -> How:
    """A call's, or else the tensor's own; the context's `like` is before the tensor's."""
    if k.is_float and rounding not in (None, "rne"):
        raise ValueError(f"rounding = {rounding!r}: {k.name} rounds by rne; integers by any mode")
    whose = like_whom(like, steps.LIKE) or own.like
    kept = own.seed if seed is None else checked_seed(seed)
    return How(rounding if rounding is not None else own.rounding, whose, kept)


def checked_scale(whose: str, scale: np.float32, how: How) -> np.float32:
    if how.like is None and not 0 < scale < np.inf:
        raise ValueError(f"{whose} is {scale} in binary32; a scale is finite and above zero")
    return scale


class Scaled(Compared, WithoutOperators, Recorded):
    """A tensor of data * scale / largest: what `ww.scaled` makes and what comes of it.

    Every step is one of binary32, as `value` = (data * scale) * base; data rounds to its dtype:
    float16 and e5m2 overflow to infinity, e4m3fn saturates, integers are cut and saturate.

    Operators take the rounding, like and seed of the left operand; their methods take others.

    >>> import widthwise as ww
    >>> a, b = ww.scaled([1, 2, 3], "sfloat16"), ww.scaled([4, 5, 6], "sfloat16")
    >>> a + b  # the rounding of its own steps carries the last one past 65504
    Scaled([5.00342   6.9995112       inf], sfloat16, scale 9.0, wasted bits nan)
    """

    __slots__ = ("_data", "_how", "_kind", "_scale")
    __array_ufunc__ = None  # NumPy's operators leave theirs to ours
    _also = "; + and @ are of two Scaled, x.relu() of one"
    _data: Data
    _scale: np.float32
    _kind: Kind
    _how: How

    def __init__(self, *_: Any) -> None:
        raise TypeError("ww.scaled(x, dtype) makes one, or ww.Scaled.of(data, scale, dtype)")

    @classmethod
    def _made(cls, data: Data, scale: Any, kind: Kind, how: How) -> Scaled:
        made = object.__new__(cls)
        made._data, made._scale, made._kind, made._how = data, np.float32(scale), kind, how
        return made

    @classmethod
    @by_usual_arithmetic
    def of(
        cls,
        data: Any,
        scale: float,
        dtype: str,
        *,
        rounding: str | None = None,
        like: str | None = None,
        seed: int = 0,
    ) -> Scaled:
        """Data that are there already, and their scale.

        Args:
            data: integers of the dtype's range; for floats an Array of its format, or numbers
                that it holds exactly.
            scale: finite and above zero; rounded to binary32.
            dtype, rounding, like, seed: as in `ww.scaled`.
        Raises:
            ValueError: data that the dtype does not hold, or no such scale.

        >>> import widthwise as ww
        >>> ww.Scaled.of([50, 2, -4], 100.0, "sint8").requantise()
        Scaled([39.37008    1.5500032 -3.1000063], sint8, scale 39.37008, wasted bits 0.0)
        """
        k = steps.known(dtype)
        how = settings(k, How(), rounding, like, seed)
        with np.errstate(over="ignore"):
            given = checked_scale(f"scale = {scale}", np.float32(without_gradient(scale)), how)
        return cls._made(steps.held(data, k), given, k, how)

    # --- What it is ---

    @property
    def data(self) -> Data:
        """An Array of the dtype's format, or NumPy integers of its width.

        >>> import widthwise as ww
        >>> ww.scaled([1, 2, 3], "sfloat16").data, ww.scaled([1, 2, 3], "sint16").data
        (Array([21840 43680 65504], e5m10), array([10922, 21844, 32767], dtype=int16))
        """
        return self._data

    @property
    def scale(self) -> np.float32:
        """What all data are multiplied by, beside 1 / largest of the dtype.

        >>> import widthwise as ww
        >>> float(ww.scaled([1, -3], "sint8").scale)
        3.0
        """
        return self._scale

    @property
    def dtype(self) -> str:
        """Its name.

        >>> import widthwise as ww
        >>> ww.scaled([1, -3], "sint8").dtype
        'sint8'
        """
        return self._kind.name

    @property
    def format(self) -> Format:
        """Of the data.

        >>> import widthwise as ww
        >>> ww.scaled([1], "sfloat8_e5m2").format, ww.scaled([1], "sint8").format
        (Format('e5m2'), Format('int8'))
        """
        return self._kind.format

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the numbers.

        >>> import widthwise as ww
        >>> ww.scaled([[1, 2, 3]], "sint8").shape
        (1, 3)
        """
        return self._data.shape

    @property
    def ndim(self) -> int:
        """How many axes there are.

        >>> import widthwise as ww
        >>> ww.scaled([[1, 2, 3]], "sint8").ndim
        2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are.

        >>> import widthwise as ww
        >>> ww.scaled([[1, 2, 3]], "sint8").size
        3
        """
        return self._data.size

    @property
    def nbytes(self) -> int:
        """Of data and scale.

        >>> import widthwise as ww
        >>> ww.scaled([1, 2, 3], "sfloat16").nbytes
        10
        """
        return self.size * self._kind.bits // 8 + self._scale.nbytes

    def to_float32(self) -> np.ndarray:
        """The values: data times scale, rounded to binary32, times base, rounded again.

        >>> import widthwise as ww
        >>> ww.scaled([1, 2, 3], "sfloat8_e4m3fn").to_float32()
        array([0.96428573, 1.9285715 , 3.0000002 ], dtype=float32)
        """
        return steps.values(self._kind, self._data, self._scale)

    def to_float64(self) -> np.ndarray:
        """The same values in float64.

        >>> import widthwise as ww
        >>> ww.scaled([0.5, 0.25], "sint32").to_float64()
        array([0.5 , 0.25])
        """
        return self.to_float32().astype(np.float64)

    def wasted_bits(self, *, like: str | None = None) -> float:
        """How many bits no number of the data needs, in binary32.

        With r = largest magnitude * base: of integers log2(1 / r), which full-range data have 0 of.
        Of floats log2(log2(1 / r)), bits of the exponent: -inf where data are full-range, NaN past
        it. Data that are all zero waste all bits.

        Args:
            like: as in `ww.scaled`.

        >>> import widthwise as ww
        >>> half = ww.Scaled.of([32, -3], 1.0, "sint8")
        >>> half.wasted_bits(), half.requantise().wasted_bits()
        (1.9886846542358398, 0.0)
        """
        if self.size == 0:
            raise ValueError(f"there is no number, shape {self.shape}; wasted bits are of some")
        return steps.wasted(self._kind, self._data, settings(self._kind, self._how, None, like))

    # --- What comes of it ---

    @by_usual_arithmetic
    def requantise(
        self,
        *,
        rounding: str | None = None,
        like: str | None = None,
        seed: int | None = None,
        random: Any = None,
    ) -> Scaled:
        """The same numbers by data that reach all of the dtype's range again.

        Args:
            rounding, like, seed, random: as in `ww.scaled`; None is as the tensor was made, and
                random bits are of one call.
        Returns:
            A Scaled with the scale times the part of the range that was used; all zeros are as
            they were.
        Raises:
            ValueError: data hold an infinity or NaN, or the scale becomes zero.

        >>> import widthwise as ww
        >>> small = ww.scaled([1, 2, 90], "sint8")[:2]
        >>> small.data, small.requantise().data
        (array([1, 2], dtype=int8), array([ 63, 127], dtype=int8))
        """
        k, how = self._kind, settings(self._kind, self._how, rounding, like, seed)
        reached = steps.excess(k, self._data, how)
        if how.like is None and reached == 0:
            return self
        if how.like is None and not np.isfinite(reached):
            raise ValueError(
                f"data hold {np.abs(reached)}: what overflowed does not come back; requantise the "
                "operands, or take a dtype with more exponents"
            )
        with np.errstate(all="ignore"):
            scale = checked_scale("the new scale", self._scale * reached, how)
        return Scaled._made(steps.requantised(k, self._data, reached, how, random), scale, k, how)

    @by_usual_arithmetic
    def add(
        self,
        other: Scaled,
        *,
        rounding: str | None = None,
        like: str | None = None,
        seed: int | None = None,
    ) -> Scaled:
        """A sum with the sum of both scales, which no sum of finite numbers exceeds by much.

        Args:
            other: of the same dtype; shapes broadcast.
            rounding, like, seed: as in `ww.scaled`; None is as the left operand was made.
        Raises:
            ValueError: dtypes or shapes differ, or the scale becomes infinite.
            TypeError: other is no Scaled.

        >>> import widthwise as ww
        >>> (ww.scaled([100], "sint8") + ww.scaled([200], "sint8")).to_float32()
        array([300.], dtype=float32)
        """
        k, how = self._kind, settings(self._kind, self._how, rounding, like, seed)
        self._check_other("add", other)
        try:
            np.broadcast_shapes(self.shape, other.shape)
        except ValueError:
            raise ValueError(f"shapes {self.shape} and {other.shape} do not broadcast") from None
        with np.errstate(all="ignore"):
            scale = checked_scale("the sum of the scales", self._scale + other._scale, how)
        parts = [(self._data, self._scale), (other._data, other._scale)]
        return Scaled._made(steps.added(k, parts, scale, how), scale, k, how)

    @by_usual_arithmetic
    def matmul(
        self,
        other: Scaled,
        *,
        rounding: str | None = None,
        like: str | None = None,
        seed: int | None = None,
    ) -> Scaled:
        """A matrix product whose scale is the worst case: both scales times the terms of a sum.

        Both operands are made smaller by (K / base)^(-1/2), for K terms, and cast. Integers then
        multiply with sums that wrap in the dtype; floats with binary32 sums in order of k, which
        are cast once.

        Args:
            other: of the same dtype; shapes as np.matmul takes them.
            rounding, like, seed: as in `ww.scaled`; None is as the left operand was made.
        Raises:
            ValueError: dtypes differ, shapes do not fit, or the scale becomes infinite or zero.
            TypeError: other is no Scaled.

        >>> import widthwise as ww
        >>> a = ww.scaled([[1, 2], [3, 4]], "sfloat16")
        >>> (a @ a).to_float32()
        array([[ 7.00342 , 10.004885],
               [15.007328, 22.010748]], dtype=float32)
        """
        k, how = self._kind, settings(self._kind, self._how, rounding, like, seed)
        self._check_other("matmul", other)
        terms = self._terms(other)
        with np.errstate(all="ignore"):
            scale = self._scale * other._scale * np.float32(terms)
        checked_scale("the product of the scales and the terms", scale, how)
        return Scaled._made(steps.multiplied(k, self._data, other._data, terms, how), scale, k, how)

    def _terms(self, other: Scaled) -> int:
        if min(self.ndim, other.ndim) == 0 or self.shape[-1] != other.shape[-2:][0]:
            raise ValueError(
                f"a is {self.shape} and b is {other.shape}; a's last axis has to be as long as b's "
                "last but one (or only one)"
            )
        if self.shape[-1] == 0:
            raise ValueError(f"shapes {self.shape} and {other.shape}: sums have no terms")
        return self.shape[-1]

    def _check_other(self, what: str, other: Any) -> None:
        if not isinstance(other, Scaled):
            raise TypeError(
                f"{what} takes two Scaled, and this is {type(other).__name__}; "
                f"ww.scaled(x, {self.dtype!r}) makes one"
            )
        if other.dtype != self.dtype:
            raise ValueError(
                f"{what}: {self.dtype} and {other.dtype} differ; "
                f"ww.scaled(y.to_float32(), {self.dtype!r}) quantises the other"
            )

    def relu(self) -> Scaled:
        """Zero in place of what is below it.

        >>> import widthwise as ww
        >>> ww.scaled([1, -2], "sint8").relu().data
        array([63,  0], dtype=int8)
        """
        return self._with(steps.rectified(self._data))

    def __add__(self, other: Any) -> Scaled:
        return self.add(other)

    __radd__ = __add__  # what is no Scaled is refused there

    def __matmul__(self, other: Any) -> Scaled:
        return self.matmul(other)

    __rmatmul__ = __matmul__

    # --- Shape ---

    def _with(self, data: Data) -> Scaled:
        return Scaled._made(data, self._scale, self._kind, self._how)

    def __getitem__(self, key: Any) -> Scaled:
        found = self._data[key]
        return self._with(found if isinstance(found, Array) else np.asarray(found))

    def __len__(self) -> int:
        return len(self._data)

    def reshape(self, *shape: Any) -> Scaled:
        """The same numbers in another shape, as NumPy's.

        >>> import widthwise as ww
        >>> ww.scaled([1, 2, 3, 4], "sint8").reshape(2, -1).shape
        (2, 2)
        """
        return self._with(self._data.reshape(*shape))

    @property
    def T(self) -> Scaled:
        """With the axes turned round.

        >>> import widthwise as ww
        >>> ww.scaled([[1, 2, 3]], "sint8").T.shape
        (3, 1)
        """
        return self._with(self._data.T)

    # --- Shown and kept ---

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("values are data times scale, made when they are asked for: a copy")
        return self.to_float32().astype(dtype or np.float32, copy=False)

    def __str__(self) -> str:
        return np.array2string(self.to_float32(), separator=" ")

    def __repr__(self) -> str:
        wasted = f", wasted bits {short(self.wasted_bits())}" if self.size else ""
        return f"Scaled({self}, {self.dtype}, scale {short(self._scale)}{wasted})"

    def card(self) -> Card:
        """What a notebook shows: the bits that are wasted, and where the data lie in the range.

        >>> import widthwise as ww
        >>> print(ww.scaled([1, 2, 3], "sint8").card())  # doctest: +ELLIPSIS
        sint8, shape (3,), scale 3.0...
        """
        from ..display.scaled import scaled_card

        return scaled_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()

    def _named_parts(self) -> tuple[str, dict[str, np.ndarray]]:
        how = {name: x for name, x in self._how._asdict().items() if x is not None}
        told = [f"{name}={''.join(str(x).split())}" for name, x in how.items()]
        data = self._data.bits if isinstance(self._data, Array) else self._data
        parts = {"data": data, "scale": np.asarray(self._scale)}
        return " ".join([f"scaled({self.dtype})", *told]), parts

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._data, self._scale, self.dtype, tuple(self._how))


def _restored(data: Data, scale: np.float32, dtype: str, how: tuple[Any, ...]) -> Scaled:
    return Scaled._made(data, scale, steps.known(dtype), How(*how))


def short(x: float | np.float32) -> str:
    """As binary32 prints."""
    return str(np.float32(x))
