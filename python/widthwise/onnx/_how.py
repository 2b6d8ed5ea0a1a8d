"""What values are rounded to, as it was told; what is wrong with it is said before a graph is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._block_format import is_container
from .._format_texts import said
from .._host import check_format, whole
from ..containers.given import FOUND, given, given_scales, refuse_both
from ..containers.scheme import is_affine, parsed


class How(NamedTuple):
    """A format, as it prints; scales that are given, in binary32, are one or one a channel."""

    format: str
    rounding: str = "rne"
    axis: int | None = None
    scale: np.ndarray | None = None
    zero_point: np.ndarray | None = None

    @property
    def has_channels(self) -> bool:
        """Whether there is one scale for each index of an axis."""
        of_many = self.scale is not None and self.scale.ndim == 1
        return of_many or (is_affine(self.format) and parsed(self.format)[1] == "channel")

    def key(self) -> tuple[Any, ...]:
        """The same of what is the same, and of nothing else."""
        numbers = (
            None if x is None else (x.shape, x.tobytes()) for x in (self.scale, self.zero_point)
        )
        return self.format, self.rounding, self.axis, *numbers


def how_of(
    format: Any, rounding: str = "rne", axis: Any = None, scale: Any = None, zero_point: Any = None
) -> How:
    """Read and checked.

    Raises:
        ValueError: a scale that is no positive number of binary32, more of them than the format
            has; a zero point that is no code, or without a scale; an axis of one scale or of none.
        TypeError: an axis or a zero point that is no integer.
    """
    text = check_format(str(format))
    at = None if axis is None else whole(axis)
    if at is None and axis is not None:
        raise TypeError(f"axis = {axis!r}: an integer is wanted")
    check_axis(text, at, scale)
    if scale is None:
        refuse_both("zero_point without scale", zero_point=zero_point)
        return How(text, rounding, at)
    return How(text, rounding, at, *numbers_given(text, scale, zero_point))


def check_axis(text: str, axis: int | None, scale: Any) -> None:
    """That there may be something that lies along it."""
    if axis is None:
        return
    if not is_container(text) and scale is None:
        raise ValueError(
            f"axis = {axis}, and {said(text)} has no scales; leave axis out, or pass scale= as well"
        )
    if is_affine(text):
        rule, groups = parsed(text)
        if groups in ("", "all"):
            raise ValueError(
                f"axis = {axis}, and {text} has one scale; leave axis out, or write "
                f"'{rule.text('channel')}'"
            )


def numbers_given(text: str, scale: Any, zero_point: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """A scale and zero point, or one of each for each channel."""
    scales, zeros = single(scale), None if zero_point is None else single(zero_point)
    if scales.ndim > 1:
        raise ValueError(f"scale has shape {scales.shape}; one number is wanted, or one a channel")
    if not is_affine(text):
        return of_bare(text, scales, zeros), None
    rule, groups = parsed(text)
    if scales.ndim and groups != "channel":
        raise ValueError(
            f"scale has {scales.size} numbers, and {text} has one for all channels; write "
            f"'{rule.text('channel')}'"
        )
    return given(scales, zeros, rule, scales.shape, np.float32, FOUND)


def single(x: Any) -> np.ndarray:
    """One number has no axis, however many it came with."""
    a = np.asarray(x)
    return a.reshape(()) if a.size == 1 else a


def of_bare(text: str, scales: np.ndarray, zeros: np.ndarray | None) -> np.ndarray:
    if is_container(text):
        raise ValueError(
            f"scale is given, and {said(text)} finds its scales itself; leave scale out"
        )
    if zeros is not None and zeros.any():
        raise ValueError(
            f"zero_point = {zeros.tolist()}, and {said(text)} has none; leave it out, or take "
            "affine integers as 'affine(uint8)'"
        )
    return given_scales(scales, scales.shape, np.float32, "leave scale out to round without one")
