"""What editors and mypy know of the functions: which arrays they deliver, with flags and without.

Each function is declared to be one of these protocols, which tests hold to its own signature. What
lies on a GPU, and flags asked for by a variable, are `Any`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._array import Array
    from ._format import Format
    from ._product import Multiplier
    from ._unit import Unit

    Operand: TypeAlias = Array | np.ndarray | np.generic
    Flagged: TypeAlias = tuple[Array, NDArray[np.uint8]]
    Truths: TypeAlias = NDArray[np.bool_]
    Integers: TypeAlias = NDArray[np.integer[Any]]


class Settings(TypedDict, total=False):
    """Of a rounding."""

    rounding: str
    tininess: str
    nan: str
    seed: int
    random: Any


class ToFormat(Settings, total=False):
    format: str | Format | None


class Loading(TypedDict, total=False):
    """Of `ww.array`."""

    rounding: str
    tininess: str
    nan: str | None
    seed: int
    random: Any


class Rounding(TypedDict, total=False):
    """Of `ww.from_integer`."""

    rounding: str
    tininess: str
    seed: int
    random: Any


class Integral(TypedDict, total=False):
    """Of `ww.to_integer`."""

    format: str | Format | None
    rounding: str
    invalid: str
    seed: int
    random: Any


class OfCodes(TypedDict, total=False):
    """Of what rounds nothing."""

    format: str | Format | None


class Running(TypedDict, total=False):
    """Of cumulative sums."""

    axis: int
    c: Any
    threads: int | None
    seed: int
    random: Any


class Summing(Running, total=False):
    engine: str


class Computing(TypedDict, total=False):
    """Of dot products."""

    c: Any
    scale_a: Any
    scale_b: Any
    engine: str
    threads: int | None
    seed: int
    random: Any
    multiplier: Multiplier


class Convolving(TypedDict, total=False):
    """Of convolutions."""

    c: Any
    stride: Any
    padding: Any
    dilation: Any
    groups: int
    engine: str
    threads: int | None
    seed: int
    random: Any
    multiplier: Multiplier


# --- Single operations ---------------------------------------------------------------------------


class Unary(Protocol):
    @overload
    def __call__(
        self, x: Operand, /, *, flags: Literal[False] = ..., **how: Unpack[ToFormat]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, /, *, flags: Literal[True], **how: Unpack[ToFormat]
    ) -> Flagged: ...
    @overload
    def __call__(self, x: Any, /, *, flags: bool = ..., **how: Unpack[ToFormat]) -> Any: ...


class Binary(Protocol):
    @overload
    def __call__(
        self, x: Operand, y: Operand, /, *, flags: Literal[False] = ..., **how: Unpack[ToFormat]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, y: Operand, /, *, flags: Literal[True], **how: Unpack[ToFormat]
    ) -> Flagged: ...
    @overload
    def __call__(self, x: Any, y: Any, /, *, flags: bool = ..., **how: Unpack[ToFormat]) -> Any: ...


class Ternary(Protocol):
    @overload
    def __call__(
        self,
        x: Operand,
        y: Operand,
        z: Operand,
        /,
        *,
        flags: Literal[False] = ...,
        **how: Unpack[ToFormat],
    ) -> Array: ...
    @overload
    def __call__(
        self,
        x: Operand,
        y: Operand,
        z: Operand,
        /,
        *,
        flags: Literal[True],
        **how: Unpack[ToFormat],
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, y: Any, z: Any, /, *, flags: bool = ..., **how: Unpack[ToFormat]
    ) -> Any: ...


class ExactUnary(Protocol):
    @overload
    def __call__(
        self, x: Operand, /, *, flags: Literal[False] = ..., **how: Unpack[OfCodes]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, /, *, flags: Literal[True], **how: Unpack[OfCodes]
    ) -> Flagged: ...
    @overload
    def __call__(self, x: Any, /, *, flags: bool = ..., **how: Unpack[OfCodes]) -> Any: ...


class ExactBinary(Protocol):
    @overload
    def __call__(
        self, x: Operand, y: Operand, /, *, flags: Literal[False] = ..., **how: Unpack[OfCodes]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, y: Operand, /, *, flags: Literal[True], **how: Unpack[OfCodes]
    ) -> Flagged: ...
    @overload
    def __call__(self, x: Any, y: Any, /, *, flags: bool = ..., **how: Unpack[OfCodes]) -> Any: ...


class Comparison(Protocol):
    @overload
    def __call__(
        self, x: Any, y: Any, *, flags: Literal[False] = ..., **how: Unpack[OfCodes]
    ) -> Truths: ...
    @overload
    def __call__(
        self, x: Any, y: Any, *, flags: Literal[True], **how: Unpack[OfCodes]
    ) -> tuple[Truths, NDArray[np.uint8]]: ...
    @overload
    def __call__(self, x: Any, y: Any, *, flags: bool, **how: Unpack[OfCodes]) -> Any: ...


class Conversion(Protocol):
    @overload
    def __call__(
        self,
        x: Array,
        format: str | Format,
        *,
        flags: Literal[False] = ...,
        **how: Unpack[Settings],
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Array, format: str | Format, *, flags: Literal[True], **how: Unpack[Settings]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, format: str | Format, *, flags: bool = ..., **how: Unpack[Settings]
    ) -> Any: ...


class ToIntegral(Protocol):
    @overload
    def __call__(
        self,
        x: Operand,
        *,
        exact: bool = ...,
        flags: Literal[False] = ...,
        **how: Unpack[ToFormat],
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, *, exact: bool = ..., flags: Literal[True], **how: Unpack[ToFormat]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, *, exact: bool = ..., flags: bool = ..., **how: Unpack[ToFormat]
    ) -> Any: ...


class Scaling(Protocol):
    @overload
    def __call__(
        self, x: Operand, n: Any, *, flags: Literal[False] = ..., **how: Unpack[ToFormat]
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, n: Any, *, flags: Literal[True], **how: Unpack[ToFormat]
    ) -> Flagged: ...
    @overload
    def __call__(self, x: Any, n: Any, *, flags: bool = ..., **how: Unpack[ToFormat]) -> Any: ...


# --- Arrays that are made ------------------------------------------------------------------------


class FromValues(Protocol):
    @overload
    def __call__(
        self,
        x: Any,
        format: str | Format,
        *,
        flags: Literal[False] = ...,
        **how: Unpack[Loading],
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Any, format: str | Format, *, flags: Literal[True], **how: Unpack[Loading]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, format: str | Format, *, flags: bool, **how: Unpack[Loading]
    ) -> Any: ...


class FromIntegers(Protocol):
    @overload
    def __call__(
        self,
        n: Any,
        format: str | Format,
        *,
        flags: Literal[False] = ...,
        **how: Unpack[Rounding],
    ) -> Array: ...
    @overload
    def __call__(
        self, n: Any, format: str | Format, *, flags: Literal[True], **how: Unpack[Rounding]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, n: Any, format: str | Format, *, flags: bool, **how: Unpack[Rounding]
    ) -> Any: ...


class ToIntegers(Protocol):
    @overload
    def __call__(
        self, x: Any, dtype: Any = ..., *, flags: Literal[False] = ..., **how: Unpack[Integral]
    ) -> Integers: ...
    @overload
    def __call__(
        self, x: Operand, dtype: Any = ..., *, flags: Literal[True], **how: Unpack[Integral]
    ) -> tuple[Integers, NDArray[np.uint8]]: ...
    @overload
    def __call__(
        self, x: Any, dtype: Any = ..., *, flags: bool, **how: Unpack[Integral]
    ) -> Any: ...


class FromCodes(Protocol):
    def __call__(self, bits: Any, format: str | Format, *, copy: bool = ...) -> Array: ...


# --- Units at work -------------------------------------------------------------------------------


class Dots(Protocol):
    @overload
    def __call__(
        self,
        a: Operand,
        b: Operand,
        *,
        unit: str | Unit,
        flags: Literal[False] = ...,
        **how: Unpack[Computing],
    ) -> Array: ...
    @overload
    def __call__(
        self,
        a: Operand,
        b: Operand,
        *,
        unit: str | Unit,
        flags: Literal[True],
        **how: Unpack[Computing],
    ) -> Flagged: ...
    @overload
    def __call__(
        self, a: Any, b: Any, *, unit: str | Unit, flags: bool = ..., **how: Unpack[Computing]
    ) -> Any: ...


class Convolutions(Protocol):
    @overload
    def __call__(
        self,
        x: Operand,
        w: Operand,
        *,
        unit: str | Unit,
        flags: Literal[False] = ...,
        **how: Unpack[Convolving],
    ) -> Array: ...
    @overload
    def __call__(
        self,
        x: Operand,
        w: Operand,
        *,
        unit: str | Unit,
        flags: Literal[True],
        **how: Unpack[Convolving],
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, w: Any, *, unit: str | Unit, flags: bool = ..., **how: Unpack[Convolving]
    ) -> Any: ...


class Sums(Protocol):
    @overload
    def __call__(
        self,
        x: Operand,
        *,
        unit: str | Unit,
        flags: Literal[False] = ...,
        **how: Unpack[Summing],
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, *, unit: str | Unit, flags: Literal[True], **how: Unpack[Summing]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, *, unit: str | Unit, flags: bool = ..., **how: Unpack[Summing]
    ) -> Any: ...


class RunningSums(Protocol):
    @overload
    def __call__(
        self,
        x: Operand,
        *,
        unit: str | Unit,
        flags: Literal[False] = ...,
        **how: Unpack[Running],
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Operand, *, unit: str | Unit, flags: Literal[True], **how: Unpack[Running]
    ) -> Flagged: ...
    @overload
    def __call__(
        self, x: Any, *, unit: str | Unit, flags: bool = ..., **how: Unpack[Running]
    ) -> Any: ...


# --- Declarations of functions that are written out ----------------------------------------------


def from_values(function: Callable[..., Any]) -> FromValues:
    return function


def from_integers(function: Callable[..., Any]) -> FromIntegers:
    return function


def to_integers(function: Callable[..., Any]) -> ToIntegers:
    return function


def from_codes(function: Callable[..., Any]) -> FromCodes:
    return function


def binary(function: Callable[..., Any]) -> Binary:
    return function


def exact_unary(function: Callable[..., Any]) -> ExactUnary:
    return function


def exact_binary(function: Callable[..., Any]) -> ExactBinary:
    return function


def conversion(function: Callable[..., Any]) -> Conversion:
    return function


def to_integral(function: Callable[..., Any]) -> ToIntegral:
    return function


def scaling(function: Callable[..., Any]) -> Scaling:
    return function


def dots(function: Callable[..., Any]) -> Dots:
    return function


def convolutions(function: Callable[..., Any]) -> Convolutions:
    return function


def sums(function: Callable[..., Any]) -> Sums:
    return function


def running_sums(function: Callable[..., Any]) -> RunningSums:
    return function
