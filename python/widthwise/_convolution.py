"""Convolutions: every output a dot product of its window, as one unit computes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _engines, _types
from . import _widthwise as core
from ._array import Array
from ._dot import check_engine_there, given_words, operand, spread
from ._missing import asks_for
from ._product import Multiplier, bound_multiplier
from ._settings import How, checked_seed, checked_threads, whole
from ._unit import Unit, as_unit
from ._workplace import Workplace, delivered

Pair = int | tuple[int, int]


@_types.convolutions
@asks_for("ww.conv2d(x, w, unit='mac(e5m10)')")
def conv2d(
    x: Any,
    w: Any,
    *,
    unit: str | Unit,
    c: Any = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
    multiplier: Multiplier = None,
) -> Any:
    """Convolve images with kernels that are not turned round, as torch.nn.functional.conv2d does.

    Each output is c + the dot product of a window, the unit's a, with the weights, its b, in order
    of channel, kernel row, kernel column. Zeros of the padding are multiplied like all else.

    Args:
        x: (images, channels, height, width), or one image, (channels, height, width).
            DeviceArrays are convolved where they lie, and so is what comes of them.
        w: (filters, channels / groups, kernel height, kernel width).
        unit: as in `ww.dot`; not one that scales blocks.
        c: (filters,), a number for each, or of the result's shape; None is +0.
        stride, padding, dilation: of both axes, or (of the height, of the width).
        groups: into so many the channels and the filters are parted, each group by itself.
        random: as in `ww.dot`, words for each output: of the result's shape and one axis more.
        Others: as in `ww.dot`.
    Returns:
        An Array of unit.result_format, (images, filters, height, width), or without images.
    Raises:
        ValueError: sizes do not fit.    TypeError: an operand is not what the unit takes.

    >>> import widthwise as ww
    >>> x = ww.array([[[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]], "e5m10")
    >>> edge = ww.array([[[[1.0, -1]]]], "e5m10")
    >>> ww.conv2d(x, edge, unit="mac(e5m10)", stride=(2, 1)).to_float64()
    array([[[-1., -1.],
            [-1., -1.]]])
    """
    steps = [pair("stride", stride), pair("padding", padding), pair("dilation", dilation)]
    how = How(engine, threads, seed, flags, multiplier, random)
    return convolve(as_unit(unit), x, w, c, steps, groups, how)


def convolve(
    u: Unit, x: Any, w: Any, c: Any, steps: list[tuple[int, int]], groups: int, how: How
) -> Any:
    """The steps are of the height and the width: stride, padding, dilation."""
    _engines.check(how.engine)
    images, weights = operands_of(u, x, w, 2)
    one = images.ndim == 3
    images = images.reshape(1, *images.shape) if one else images
    check_channels(x, w, images.shape[1], weights.shape[1], groups)
    filters = weights.shape[0]
    convolution = core.Convolution(
        images.shape[0],
        images.shape[1],
        filters,
        whole("groups", groups),
        *zip(images.shape[2:], weights.shape[2:], *steps, strict=True),
    )
    shape = (images.shape[0], filters, *convolution.shape)
    arrays = {
        "x": images,
        "w": weights.reshape(filters, math.prod(weights.shape[1:])),
        "c": addends(u, c, shape, one),
    }
    where, words = Workplace.of(arrays), None
    if how.random is not None:
        outputs = shape[1:] if one else shape
        words = given_words(u, math.prod(weights.shape[1:]), how, outputs, where)
    check_engine_there(how.engine, where)
    z, raised = where.empty(shape, u.result_format), where.flags(shape, how.flags)
    codes, weighed, added = (None if x is None else x._for_core for x in arrays.values())
    results = (z._for_core, raised and raised.for_core)
    operands = (u._core, convolution, codes, weighed, added, *results)
    product, threads = bound_multiplier(how.multiplier), checked_threads(how.threads)
    if words is not None:
        core.convolve_supplied(*operands, words, product, threads)
    else:
        drawn = (checked_seed(how.seed), product)
        here = (threads, how.engine)
        where.run("convolve", *operands, *drawn, here=here)
    if not one:
        return delivered(z, raised)
    return (z[0], raised.here()[0]) if raised else z[0]


@_types.convolutions
@asks_for("ww.conv1d(x, w, unit='mac(e5m10)')")
def conv1d(
    x: Any,
    w: Any,
    *,
    unit: str | Unit,
    c: Any = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
    multiplier: Multiplier = None,
) -> Any:
    """Convolve signals with kernels that are not turned round, as torch.nn.functional.conv1d does.

    Args:
        x: (signals, channels, length), or one signal, (channels, length).
        w: (filters, channels / groups, kernel length).
        Others: as in `ww.conv2d`, of the one axis.
    Returns:
        An Array of unit.result_format, (signals, filters, length), or without signals.
    Raises:
        ValueError: sizes do not fit.    TypeError: an operand is not what the unit takes.

    >>> import widthwise as ww
    >>> x, w = ww.array([[1.0, 2, 4, 8]], "e5m10"), ww.array([[[1.0, 1]]], "e5m10")
    >>> ww.conv1d(x, w, unit="mac(e5m10)", padding=1).to_float64()
    array([[ 1.,  3.,  6., 12.,  8.]])
    """
    u = as_unit(unit)
    signals, weights = operands_of(u, x, w, 1)
    steps = [
        (1, whole("stride", stride)),
        (0, whole("padding", padding)),
        (1, whole("dilation", dilation)),
    ]
    how = How(engine, threads, seed, flags, multiplier, words_with_height(random))
    images = (with_height(signals), with_height(weights), flat_addend(u, c))
    z = convolve(u, *images, steps, groups, how)
    if not flags:
        return without_height(z)
    return without_height(z[0]), z[1].reshape(without_height(z[0]).shape)


# --- Operands ------------------------------------------------------------------------------------


def operands_of(u: Unit, x: Any, w: Any, axes: int) -> tuple[Array, Array]:
    """Both as Arrays of the unit's formats, with so many axes beside images and channels."""
    images = operand("x", x, u.a, u._core.a_keeps, u)
    weights = operand("w", w, u.b, u._core.b_keeps, u)
    if images.ndim not in (axes + 1, axes + 2):
        raise ValueError(
            f"x has shape {images.shape}; it wants {axes + 2} axes, or {axes + 1} for one alone: "
            f"{'(images, channels, height, width)' if axes == 2 else '(signals, channels, length)'}"
        )
    if weights.ndim != axes + 2:
        kernel = "kernel height, kernel width" if axes == 2 else "kernel length"
        raise ValueError(
            f"w has shape {weights.shape}; it wants {axes + 2} axes: "
            f"(filters, channels / groups, {kernel})"
        )
    return images, weights


def check_channels(x: Any, w: Any, channels: int, own: int, groups: int) -> None:
    if whole("groups", groups) > 0 and own * groups != channels:
        raise ValueError(
            f"x has {channels} channels, w takes {own} and groups = {groups}: w's second axis has "
            "to be x's channels / groups"
        )


def pair(name: str, value: Any) -> tuple[int, int]:
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise ValueError(
                f"{name} = {value!r}: one integer is wanted, or two, of the height and the width"
            )
        return whole(name, value[0]), whole(name, value[1])
    return whole(name, value), whole(name, value)


def addends(u: Unit, c: Any, shape: tuple[int, ...], one: bool) -> Any:
    """C as (images, filters, pixels), by strides; None where there is no C."""
    if c is None:
        return None
    addend = operand("c", c, u.c, u._core.c_keeps, u)
    images, filters, height, width = shape
    pixels = height * width
    if addend.shape == (filters,):
        return spread("c", addend.reshape(1, filters, 1), (images, filters, pixels))
    if addend.shape == (shape[1:] if one else shape):
        return addend.reshape(images, filters, pixels)
    raise ValueError(
        f"c has shape {addend.shape}; it wants ({filters},), a number for each filter, or the "
        f"result's, {shape[1:] if one else shape}"
    )


def with_height(x: Array) -> Array:
    return x.reshape(*x.shape[:-1], 1, x.shape[-1])


def words_with_height(random: Any) -> Any:
    """Random words as conv2d takes them: of outputs that have a height."""
    if isinstance(random, Mapping):
        return {name: words_with_height(each) for name, each in random.items()}
    if random is None or np.ndim(random) < 3:
        return random
    return np.expand_dims(np.asarray(random), -3)


def without_height(x: Array) -> Array:
    return x.reshape(*x.shape[:-2], x.shape[-1])


def flat_addend(u: Unit, c: Any) -> Any:
    """C as conv2d takes it."""
    if c is None:
        return None
    addend = operand("c", c, u.c, u._core.c_keeps, u)
    return addend if addend.ndim < 2 else with_height(addend)
