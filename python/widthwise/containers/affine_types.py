"""What editors and mypy know of `ww.affine`, as `_types` says it of the functions on Arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .affine import Affine


class Quantising(TypedDict, total=False):
    """Of `ww.affine`."""

    signed: bool | None
    scheme: str | None
    scale: Any
    zero_point: Any
    range: Any
    percentile: Any
    scale_format: str
    arithmetic: str
    rounding: str
    seed: int
    random: Any


class ToAffine(Protocol):
    @overload
    def __call__(
        self,
        x: Any,
        bits: int | str = ...,
        symmetric: bool = ...,
        axis: int | None = ...,
        block: int | str | None = ...,
        calibrate: Any = ...,
        *,
        flags: Literal[False] = ...,
        **how: Unpack[Quantising],
    ) -> Affine: ...
    @overload
    def __call__(
        self,
        x: Any,
        bits: int | str = ...,
        symmetric: bool = ...,
        axis: int | None = ...,
        block: int | str | None = ...,
        calibrate: Any = ...,
        *,
        flags: Literal[True],
        **how: Unpack[Quantising],
    ) -> tuple[Affine, NDArray[np.uint8]]: ...
    @overload
    def __call__(
        self,
        x: Any,
        bits: int | str = ...,
        symmetric: bool = ...,
        axis: int | None = ...,
        block: int | str | None = ...,
        calibrate: Any = ...,
        *,
        flags: bool,
        **how: Unpack[Quantising],
    ) -> Any: ...


def to_affine(function: Callable[..., Any]) -> ToAffine:
    return function
