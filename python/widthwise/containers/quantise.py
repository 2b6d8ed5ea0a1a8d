"""Numbers to blocks: each block's scale, and its elements rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._block_format import BlockFormat
from .._create import array
from .._format_texts import said
from .._like import like_whom
from .._machine import by_usual_arithmetic
from .._missing import asks_for
from .._random import random_source
from .._workplace import Workplace
from . import microxcaling
from .blocks import Blocks
from .given_codes import given
from .layout import Layout
from .numbers import as_numbers, for_core, number_at, refuse_there

STEPS = ("exact", "f32")
FLOAT_MAX = float(np.finfo(np.float32).max)
PADDING = ("zeros", "refuse")
OF_FORMAT = dict.fromkeys(("block", "block_size"), "ww.blocks(x, 'block(e2m1fn,16,e8m0fnu)')") | {
    option: f"ww.blocks(x, '{text}')"
    for option, text in (
        ("scale", "mxfp4;scale=rceil"),
        ("specials", "mxfp8_e5m2;specials=element"),
        ("flush", "mxfp4;flush=block"),
        ("clamp", "mxint8;clamp=full"),
        ("carry", "bfp(8,32,e8);carry=raise"),
    )
}


@by_usual_arithmetic
@asks_for("ww.blocks(x, 'mxfp4')", OF_FORMAT)
def blocks(
    x: Any,
    format: str | BlockFormat,
    *,
    axis: int = -1,
    rounding: str = "rne",
    seed: int = 0,
    random: Any = None,
    tensor_scale: Any = None,
    arithmetic: str = "exact",
    padding: str = "zeros",
    like: str | None = None,
) -> Blocks:
    """Quantise numbers to blocks: a scale for each, and elements that are rounded once.

    Args:
        x: numbers of one axis or more that binary64 holds: floats of 16 to 64 bits, integers, an
            Array, a torch tensor, Blocks. Floats on a GPU (by DLPack or
            `__cuda_array_interface__`) are quantised there, to DeviceArrays.
        format: 'mxfp8_e4m3', 'nvfp4', 'block(e4m3fn,1x128,binary32)', …, as `ww.BlockFormat`.
        axis: along which blocks of n lie, and whole axes; tiles are of the last two.
        rounding, seed, random: of the elements, as in `ww.array`; they saturate.
        tensor_scale: of formats whose scales are ue4m3fn; None finds it,
            f32(amax / (448 * the element's largest)), and 1 for zeros.
        arithmetic: 'exact', or 'f32' for torchao's steps of NVFP4: each in binary32, reciprocals
            multiplied, block scales of 2^-6 and more.
        padding: a block at an axis' end may be short, as if zeros followed; 'refuse' makes that an
            error.
        like: 'microxcaling' gives that package's results, its faults included.
    Returns:
        Blocks of x's shape. How many elements were clamped and how many blocks have NaN for a
        scale is in `.clamped` and `.nan_blocks`, and on the card.
    Raises:
        ValueError: an empty array; a number that is NaN or infinite in NVFP4, bfp or tiles; a
            tensor scale that is no positive number of binary32.

    >>> import numpy as np, widthwise as ww
    >>> x = ww.blocks(np.float32([6, 3, -0.25, 0.75]), "mxfp4")
    >>> x.elements, x.scales
    (Array([6 3 -0 1], e2m1fn), Array([1], e8m0fnu))
    >>> x.to_float64()
    array([ 6.,  3., -0.,  1.])
    """
    f = BlockFormat(format)
    if arithmetic not in STEPS:
        raise ValueError(f"arithmetic = {arithmetic!r}: it may be exact or f32")
    if padding not in PADDING:
        raise ValueError(f"padding = {padding!r}: it may be zeros or refuse")
    if arithmetic == "f32" and not f._core.takes_tensor_scale:
        raise ValueError(
            f"arithmetic = 'f32': it is for scales in ue4m3fn, and {said(f)} has others"
        )
    numbers = as_numbers(x, single=arithmetic == "f32" or str(f.scale) == "e8m23")
    layout = Layout.of(f, numbers.shape, axis)
    if padding == "refuse":
        layout.check_whole()
    s = None if tensor_scale is None else given(tensor_scale, f)
    where = Workplace.of({"x": numbers})
    as_microxcaling = like_whom(like, ("microxcaling",))
    if as_microxcaling:
        refuse_there("like='microxcaling'", numbers)
        microxcaling.check(f, rounding)
    env = core.Env(rounding)
    bits_drawn = random_source(random, seed, env, rounding, numbers.shape, where.gpu)
    if as_microxcaling:
        e, sc, nan_blocks = microxcaling.codes(numbers, layout, rounding)
        return Blocks._of(e, sc, f, axis, None, None, nan_blocks)
    maxima = None
    if s is None and f._core.takes_tensor_scale:
        maxima = where.run("largest_magnitudes", layout.grid, for_core(numbers))
        s = found_tensor_scale(maxima.of_all, f)
    single, scale = arithmetic == "f32", 1.0 if s is None else float(s)
    how = core.BlockHow(rounding, scale, single, maxima)
    elements = where.empty(numbers.shape, f.element)
    scales = where.empty(layout.scales_shape, f.scale)
    to = (elements._for_core, scales._for_core)
    clamped, nan_blocks, refused = where.run(
        "quantise_blocks", f._core, layout.grid, for_core(numbers), *to, how, bits_drawn
    )
    if refused is not None:
        raise ValueError(
            f"x: {_codes.element(refused, numbers.shape)} is {number_at(numbers, refused)}, which "
            f"{said(f)} has no code for; replace it, or take OCP's MX, where its block's scale "
            "becomes NaN"
        )
    if str(f.scale) == "e8m23" and not where.run("largest_magnitude", for_core(scales)) < math.inf:
        raise ValueError(
            f"x: a block's largest magnitude takes a scale past binary32's range in {said(f)}; "
            "multiply x by a power of two first"
        )
    return Blocks._of(elements, scales, f, axis, s, clamped, nan_blocks)


@lru_cache(maxsize=32)
def largest_product(f: BlockFormat) -> tuple[Fraction, np.float32 | None]:
    """Of a scale and an element; in binary32, too, where that has it and it is 1 or more."""
    exact = Fraction(f.scale.max_finite) * Fraction(f.element.max_finite)
    if not 1 <= exact < 1 << 100 or float(np.float32(float(exact))) != exact:
        return exact, None
    return exact, np.float32(float(exact))


def quotient(amax: float, f: BlockFormat) -> np.float32:
    """By the largest product, rounded once to binary32; of two numbers of it the machine's."""
    exact, single = largest_product(f)
    if single is not None and amax < FLOAT_MAX and float(np.float32(amax)) == amax:
        return np.float32(amax) / single
    return np.float32(array([Fraction(amax) / exact], "binary32").to_float64()[0])


def found_tensor_scale(amax: float, f: BlockFormat) -> np.float32:
    """amax / (the scale's largest * the element's), rounded to binary32; of zeros 1."""
    if not math.isfinite(amax):
        return np.float32(1)  # which number it is is said where blocks are quantised
    s = quotient(amax, f)
    if not np.isfinite(s):
        raise ValueError(
            f"x: its largest magnitude, {amax:g}, takes a tensor scale past binary32's range; "
            "multiply x by a power of two first"
        )
    return s if s > 0 else np.float32(1)
