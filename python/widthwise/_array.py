"""Arrays of codes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _codes, _functions, _ufuncs
from . import _widthwise as core
from ._code_array import CodeArray
from ._format import WIDEST_RANGE, Format, as_format
from ._format_texts import said
from ._operators import Operators

if TYPE_CHECKING:
    from .display.style import Card


class Array(CodeArray, Operators):
    """Numbers of one format, held as their codes.

    Made by `ww.array` (values) and `ww.from_bits` (codes). Operators take arrays of one format and
    round to it, nearest even; the functions (`ww.add`, …) take any formats, modes and flags.
    A Python number beside an Array is taken in its format, rounded once (NumPy's NEP 50); past the
    format's range with a RuntimeWarning, as np.errstate has it. Comparisons, which round nothing,
    take other formats and any number by its exact value.

    >>> import widthwise as ww
    >>> x = ww.array([0.1, 0.2], "e5m10")
    >>> x + x
    Array([0.2 0.4], e5m10)
    >>> 2 * x + 1
    Array([1.2 1.4], e5m10)
    >>> x[x > 0.1]    # 0.1 itself lies a little below
    Array([0.2], e5m10)
    >>> [hex(code) for code in x.bits]
    ['0x2e66', '0x3266']
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("make arrays with ww.array(values, format) or ww.from_bits(codes, format)")

    @classmethod
    def _of(cls, bits: np.ndarray, format: Format) -> Array:
        self = object.__new__(cls)
        self._bits = bits
        self._format = format
        return self

    @property
    def bits(self) -> np.ndarray:
        """The codes themselves, not a copy: uint8/16/32/64, or uint64 limbs on a last axis.

        >>> import widthwise as ww
        >>> ww.array([1.0, -2.0], "e5m10").bits
        array([15360, 49152], dtype=uint16)
        >>> ww.zeros((3,), "binary128").bits.shape    # a last axis of limbs, the low one first
        (3, 2)
        """
        return self._bits

    @property
    def _for_core(self) -> np.ndarray:
        """The codes, to be handed on to the core."""
        return self._bits

    def _with(self, bits: np.ndarray) -> Array:
        return Array._of(bits, self._format)

    @property
    def device(self) -> str:
        """'cpu': this machine's memory.

        >>> import widthwise as ww
        >>> ww.array([1.0], "e5m10").device
        'cpu'
        """
        return "cpu"

    def to_device(self, device: str) -> Any:
        """A copy in a GPU's memory, a DeviceArray.

        device: 'cuda', or 'cuda:1', or 'cpu', which delivers the Array itself.

        Raises:
            ValueError: there is no such GPU, and why.

        >>> import widthwise as ww
        >>> x = ww.array([1.0], "e5m10")
        >>> x.to_device("cpu") is x
        True
        """
        from ._device import to_device

        return self if device == "cpu" else to_device(self, device)

    def copy(self) -> Array:
        """The same codes in memory of their own.

        >>> import widthwise as ww
        >>> x = ww.array([1.0, 2.0], "e5m10")
        >>> y = x.copy()
        >>> y[0] = 3
        >>> x
        Array([1 2], e5m10)
        """
        return Array._of(self._bits.copy(), self._format)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign: values are rounded as beside an operator; an Array has to be of this format."""
        from ._numbers import rounded

        if not isinstance(value, CodeArray):
            value = rounded(value, self._format)
        if not isinstance(value, Array) or value.format != self._format:
            raise TypeError(
                f"an element of {said(self._format)} is wanted, not {kind_of(value)}; "
                f"take value.astype('{said(self._format)}')"
            )
        self._items[key] = value._items

    # --- Values ---

    def to_float64(self, rounding: str | None = None) -> np.ndarray:
        """The values as float64: exact, or rounded where `rounding` is given.

        Raises:
            ValueError: a value is not a float64's, and no rounding is named.

        >>> import widthwise as ww
        >>> ww.array([0.1, "inf"], "e4m3fn").to_float64()
        array([0.1015625,       nan])
        >>> ww.array("1/3", "e15m112").to_float64(rounding="rup")
        array(0.33333333)
        """
        return _codes.to_float64(self, rounding)

    def to_fractions(self) -> np.ndarray:
        """The values as an object array of Fractions, exact.

        Raises:
            ValueError: there is an infinity or a NaN.
            OverflowError: a value's integers would pass 2^24 bits; `.to_scaled()` holds it.

        >>> import widthwise as ww
        >>> ww.array([0.1], "e4m3fn").to_fractions()
        array([Fraction(13, 128)], dtype=object)
        """
        fractions = [self._fraction(i, *value) for i, value in enumerate(self._values())]
        return object_array(fractions, self.shape)

    def to_scaled(self) -> np.ndarray:
        """The values as an object array of (integer, exponent): integer * 2**exponent, exact.

        >>> import widthwise as ww
        >>> ww.array(["-3p1000000"], "e30m10").to_scaled()[0]
        (-3, 1000000)
        """
        scaled = []
        for i, (kind, negative, significand, exponent) in enumerate(self._values()):
            self._refuse_special(i, kind)
            scaled.append((-significand if negative else significand, exponent))
        return object_array(scaled, self.shape)

    def to_mpfr(self) -> np.ndarray:
        """The values as an object array of gmpy2's mpfr numbers, exact: NaN and -0 are kept.

        Raises:
            ImportError: gmpy2 is not installed.
            OverflowError: an exponent is past gmpy2's 2^30; `.to_scaled()` holds it.

        >>> import widthwise as ww
        >>> ww.array(["1.5", "nan"], "e5m10").to_mpfr().tolist()
        [mpfr('1.5',11), mpfr('nan')]
        """
        from ._mpfr import to_mpfr

        return to_mpfr(self)

    def view(self, dtype: Any) -> Any:
        """The same memory as an array of another library's floats.

        Args:
            dtype: of NumPy, ml_dtypes or torch (then a tensor is returned), this very format's.
        Raises:
            TypeError: the dtype is not this format.

        >>> import numpy as np, widthwise as ww
        >>> ww.array([0.1, 1e9], "e5m10").view(np.float16)
        array([0.1, inf], dtype=float16)
        """
        from ._views import as_dtype

        return as_dtype(self, dtype)

    def argsort(self, axis: int | None = -1) -> np.ndarray:
        """Where the elements in order stand: by value, -0 before +0, NaN last; stable.

        Along an axis; None: of all, flat. np.sort, np.argsort, np.min, np.max, np.argmin and
        np.argmax take Arrays, too.

        >>> import widthwise as ww
        >>> ww.array([1.0, "nan", 0.0, -0.0], "e5m10").argsort()
        array([3, 2, 0, 1])
        """
        from ._order import argsort

        return argsort(self, axis)

    def _values(self) -> list[tuple[str, bool, int, int]]:
        return core.values(self._format._core, np.ascontiguousarray(self._bits))

    def _refuse_special(self, i: int, kind: str) -> None:
        if kind in ("infinite", "nan"):
            where = np.unravel_index(i, self.shape) if self.shape else ()
            raise ValueError(
                f"element {[int(j) for j in where]} is {'NaN' if kind == 'nan' else 'infinite'}, "
                "which is no fraction; ww.classify(x) tells the kinds apart"
            )

    def _fraction(
        self, i: int, kind: str, negative: bool, significand: int, exponent: int
    ) -> Fraction:
        self._refuse_special(i, kind)
        if abs(exponent) > WIDEST_RANGE:
            raise OverflowError(
                f"{_codes.element(i, self.shape)} is an integer times 2^{exponent}, "
                "too long to write out; take .to_scaled(), (integer, exponent)"
            )
        signed = -significand if negative else significand
        return Fraction(signed << exponent) if exponent >= 0 else Fraction(signed, 1 << -exponent)

    @overload
    def astype(self, format: str | Format, rounding: str = ..., **how: Any) -> Array: ...

    @overload
    def astype(self, format: type[object]) -> np.ndarray: ...

    def astype(self, format: Any, rounding: str = "rne", **how: Any) -> Any:
        """The same numbers in another format, each rounded once.

        rounding, how: as in `ww.convert`.

        >>> import widthwise as ww
        >>> ww.array([3.3], "e5m10").astype("e4m3fn", "rup")
        Array([3.5], e4m3fn)

        `object` in place of a format gives the exact values, as `.to_fractions()` does.

        >>> ww.array([3.3], "fixed8.4").astype(object)
        array([Fraction(53, 16)], dtype=object)
        """
        from ._elementwise import convert

        if format is object:
            return self.to_fractions()
        if not isinstance(format, str | Format):
            from ._format_facts import no_text

            raise TypeError(f"{no_text((format,))}; NumPy's numbers are .to_float64()")
        return convert(self, as_format(format), rounding=rounding, **how)

    def tolist(self) -> Any:
        """The values as nested lists of floats; errors as of `.to_float64()`.

        >>> import widthwise as ww
        >>> ww.array([[1.0, 0.1]], "e4m3fn").tolist()
        [[1.0, 0.1015625]]
        """
        return self.to_float64().tolist()

    def _only(self) -> tuple[str, bool, int, int]:
        """The value of an array of one number."""
        if self.size != 1:
            raise TypeError(f"an array of shape {self.shape} is not one number")
        return self._values()[0]

    def __float__(self) -> float:
        self._only()
        return float(self.to_float64().reshape(()))

    def _whole(self, rounded: Callable[[Fraction], int]) -> int:
        """One number as an integer; of infinities and NaN Python's errors."""
        kind, negative, significand, exponent = self._only()
        if kind == "infinite":
            raise OverflowError("an infinity is no integer")
        if kind == "nan":
            raise ValueError("NaN is no integer")
        if exponent + significand.bit_length() < -1:
            return 0
        return rounded(self._fraction(0, kind, negative, significand, exponent))

    def __int__(self) -> int:
        """Of one number, toward zero, exact."""
        return self._whole(int)

    __trunc__ = __int__

    @overload
    def __round__(self, ndigits: None = None) -> int: ...
    @overload
    def __round__(self, ndigits: int) -> Array: ...
    def __round__(self, ndigits: int | None = None) -> Any:
        """Of one number the integer next to it; with ndigits the nearest decimal number of so many
        places behind the point, rounded to the format. Ties go to even."""
        if ndigits is None and self.shape == ():
            return self._whole(round)
        return _functions.rounded(self, ndigits or 0)

    def __format__(self, spec: str) -> str:
        """Of one number, as a float's; '' is str(x)."""
        return format(float(self), spec) if spec else str(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Only asked for what there is not: says where NumPy's method of the name is found."""
            raise AttributeError(f"an Array has no {name!r}" + _functions.way_of_method(name))

    def __bool__(self) -> bool:
        """Of one number: whether it is not zero. NaN is true."""
        if self.size != 1:
            raise TypeError(
                f"an array of shape {self.shape} has no truth; compare its elements, as "
                "(x == y).all()"
            )
        return self._only()[0] != "zero"

    # --- Protocols ---

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "an Array holds codes: values are made, not viewed; take .bits for those"
            )
        try:
            values = self.to_float64()
        except ValueError as why:
            raise TypeError(f"as a NumPy array: {why}") from None
        return values if dtype is None else self._exactly(values, np.dtype(dtype))

    def _exactly(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Values in another dtype, where it has them all."""
        with np.errstate(all="ignore"):
            there = values.astype(dtype)
        if dtype.kind in "biuf" and not np.array_equal(
            there.astype(values.dtype), values, equal_nan=True
        ):
            raise TypeError(
                f"as {dtype}: it does not have all these values of {said(self.format)}; round them "
                "yourself, as x.to_float64().astype(dtype), or take x.astype(format)"
            )
        return there

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _ufuncs.apply(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _functions.apply(function, args, kwargs)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """The codes, as unsigned integers."""
        return self._bits.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._bits.__dlpack_device__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._bits, self._format)

    __hash__ = None  # type: ignore[assignment]

    # --- Shown ---

    def _texts(self, bits: np.ndarray) -> list[str]:
        return core.shortest(self._format._core, np.ascontiguousarray(bits))

    def __repr__(self) -> str:
        return f"Array({self}, {self._format})"

    def __str__(self) -> str:
        """Each value as the shortest decimal number that rounds to its code, of an integer without
        zeros that are not its own: 65504, 1.23e+08."""
        flat = self._bits.reshape((self.size,) + self._bits.shape[len(self.shape) :])

        def shown(i: np.integer) -> str:
            return self._texts(flat[int(i)])[0]

        places = np.arange(self.size).reshape(self.shape)
        return np.array2string(places, formatter={"int_kind": shown}, separator=" ")

    def card(self) -> Card:
        """What a notebook shows: each element's bits by field, its code and its exact value.

        >>> import widthwise as ww
        >>> print(ww.array([1.5], "e2m1fn").card())  # doctest: +ELLIPSIS
        e2m1fn, shape (1,)...
        """
        from .display.bits import array_card

        return array_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def _restored(bits: np.ndarray, format: str | Format) -> Array:
    return Array._of(bits, Format(format))


def object_array(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def kind_of(x: Any) -> str:
    """What a wrong operand is, for an error."""
    if isinstance(x, CodeArray):
        return said(x.format)
    if isinstance(x, np.ndarray | np.generic):
        return str(x.dtype)
    holds = f" of {x.dtype}" if hasattr(x, "dtype") else ""  # a tensor, a column of pandas
    return type(x).__name__ + holds
