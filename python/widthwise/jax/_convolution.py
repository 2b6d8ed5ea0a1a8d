"""Convolutions under a unit, and their gradients under another."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import _host
from .._host import Steps
from ._call import (
    Examples,
    Host,
    Words,
    floats,
    following,
    on_host,
    seed_of_words,
    varied_alike,
    words_of,
)
from ._product import Units, derived, units, who_draws

LAYOUTS = {1: ("NCW", "OIW", "NCW"), 2: ("NCHW", "OIHW", "NCHW")}


class How(NamedTuple):
    steps: Steps
    of: Units


def computed(x: jax.Array, w: jax.Array, c: Any, steps: Steps, unit: str, words: Words) -> Any:
    shape = (x.shape[0], w.shape[0], *_host.sizes(x.shape[2:], w.shape[2:], steps))
    one_by_one = Examples(Host(convolved_there, (steps, unit)), (4, 4, 1, 1), shape, x.dtype)
    return on_host(Host(images_there, (one_by_one,)), shape, x.dtype, x, w, c, words)


def convolved_there(x: Any, w: Any, c: Any, words: Any, steps: Steps, unit: str) -> np.ndarray:
    return _host.convolution(x, w, c, steps, unit, seed_of_words(words))


def images_there(x: Any, w: Any, c: Any, words: Any, one_by_one: Examples) -> np.ndarray:
    """Images of a batch go together where all meet the same weights."""
    lead = x.shape[:-4]
    shared = [w.shape[:-4], () if c is None else c.shape[:-1]]
    if words is not None or any(n != 1 for axes in shared for n in axes):
        return one_by_one(x, w, c, words)
    w, c = w.reshape(w.shape[-4:]), None if c is None else c.reshape(c.shape[-1:])
    z = one_by_one.host(x.reshape(-1, *x.shape[-3:]), w, c, None)
    return z.reshape(*lead, -1, *z.shape[1:])


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def convolution(how: How, x: jax.Array, w: jax.Array, c: Any, words: Words) -> jax.Array:
    return computed(x, w, c, how.steps, how.of.forward, words)


def forward(how: How, x: Any, w: Any, c: Any, words: Any) -> Any:
    """Keeps what gradients ask for, and whether they do: None tells that nobody will."""
    wanted = (() if x.perturbed else None, () if w.perturbed else None)
    with_c = None if c is None else ()
    x, w, c, words = (None if arg is None else arg.value for arg in (x, w, c, words))
    return convolution(how, x, w, c, words), (x, w, wanted, with_c, words)


def gradient(how: How, saved: Any, g: jax.Array) -> Any:
    """What comes back is the backward unit's a in both, and b what was kept."""
    x, w, (of_x, of_w), with_c, words = saved
    g = jnp.asarray(g)
    to_x = to_w = to_c = None
    if of_x is not None:
        to_x = gradient_of_x(g, x, w, how, following(words, 1))
    if of_w is not None:
        to_w = gradient_of_w(g, x, w, how, following(words, 2))
    if with_c is not None:
        to_c = g.sum((0, 2, 3))
    return to_x, to_w, to_c, None


convolution.defvjp(forward, gradient, symbolic_zeros=True)


def gradient_of_x(g: Any, x: Any, w: Any, how: How, words: Words) -> jax.Array:
    """The convolution of g, its numbers a stride apart, with the kernels turned round.

    The zeros between the numbers and around them are multiplied like all else.
    """
    steps = how.steps
    ends = [(0, 0, 0), (0, 0, 0)]
    for i in (0, 1):
        reach = steps.dilation[i] * (w.shape[2 + i] - 1)
        before = reach - steps.padding[i]
        wide = (g.shape[2 + i] - 1) * steps.stride[i] + 1
        ends.append((before, x.shape[2 + i] + reach - wide - before, steps.stride[i] - 1))
    apart = jax.lax.pad(g, jnp.zeros((), g.dtype), ends)
    groups, (filters, channels, *kernel) = steps.groups, w.shape
    of_groups = w.reshape(groups, filters // groups, channels, *kernel).swapaxes(1, 2)
    turned = of_groups.reshape(-1, filters // groups, *kernel)[:, :, ::-1, ::-1]
    plain = Steps((1, 1), (0, 0), steps.dilation, groups)
    return convolution(How(plain, both(how.of.backward)), apart, turned, None, words)


def gradient_of_w(g: Any, x: Any, w: Any, how: How, words: Words) -> jax.Array:
    """Products of g with the windows, summed in order of image, row, column."""
    groups = how.steps.groups
    n, filters, *out = g.shape
    rows = g.reshape(n, groups, filters // groups, *out).transpose(1, 2, 0, 3, 4)
    rows = rows.reshape(groups, filters // groups, -1)
    return derived(rows, windows(x, w, out, how.steps), how.of.backward, words).reshape(w.shape)


def windows(x: Any, w: Any, out: Any, steps: Steps) -> jax.Array:
    """What each output saw: (groups, images * outputs, numbers of a window)."""
    low, wide = steps.padding
    x = jnp.pad(x, ((0, 0), (0, 0), (low, low), (wide, wide)))
    taps = jnp.stack(
        [
            seen(x, (i * steps.dilation[0], j * steps.dilation[1]), out, steps.stride)
            for i in range(w.shape[2])
            for j in range(w.shape[3])
        ]
    )
    groups, (n, channels) = steps.groups, x.shape[:2]
    apart = taps.reshape(len(taps), n, groups, channels // groups, *out)
    return apart.transpose(2, 1, 4, 5, 3, 0).reshape(groups, n * out[0] * out[1], -1)


def seen(x: Any, first: Any, out: Any, stride: Any) -> jax.Array:
    """The numbers that one weight of a kernel meets."""
    ends = [first[i] + (out[i] - 1) * stride[i] + 1 for i in (0, 1)]
    return x[:, :, first[0] : ends[0] : stride[0], first[1] : ends[1] : stride[1]]


def both(unit: str) -> Units:
    return Units(unit, unit)


# --- Arguments ------------------------------------------------------------------------------------


def conv(
    x: Any,
    w: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    unit: Any,
    backward_unit: Any = None,
    dimension_numbers: tuple[str, str, str] | None = None,
    seed: Any = None,
) -> Any:
    """Convolve along one or two axes, each output as the unit computes it.

    Gradients are products of the backward unit. What x gets is the convolution of what comes back
    with the kernels turned round: zeros between numbers that lie a stride apart, and around them,
    are multiplied like all else. What w gets sums in order of image, row, column.

    Args:
        x: values, (images, channels, height, width), or (images, channels, width).
        w: values, (filters, channels / groups, kernel height, kernel width), or without height.
        bias: (filters,), with which the unit's sums begin; its gradient is JAX's sum.
        stride, dilation: of all axes, or one each.
        padding: an integer, one each, a pair (before, after) each, 'VALID' or 'SAME' as
            jax.lax has it.
        groups: jax.lax's feature_group_count.
        unit, backward_unit, seed: as in `matmul`; not units that scale blocks.
        dimension_numbers: the layouts of x, w and the result, as jax.lax takes them; ('NHWC',
            'HWIO', 'NHWC') is flax's. Sums run over channel, row, column in any layout.
    Returns:
        An array of x's dtype: (images, filters, height, width), or without height.
    Raises:
        ValueError: sizes do not fit; the dtype does not hold the unit's results.
        TypeError: arrays of several dtypes.

    >>> import jax.numpy as jnp
    >>> x = jnp.array([[[[1.0, 2, 3], [4, 5, 6]]]])
    >>> conv(x, jnp.array([[[[1.0, -1]]]]), unit="mac(e5m10)").tolist()
    [[[[-1.0, -1.0], [-1.0, -1.0]]]]
    """
    x, w = floats("x", x), floats("w", w)
    bias = None if bias is None else floats("bias", bias)
    _host.one_dtype(x=x, w=w, bias=bias)
    axes = x.ndim - 2
    if axes not in LAYOUTS or w.ndim != x.ndim:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; both want 3 axes, or both 4")
    given = LAYOUTS[axes] if dimension_numbers is None else dimension_numbers
    told = layouts(x, w, given)
    x, w = x.transpose(told.lhs_spec), w.transpose(told.rhs_spec)
    _host.check_channels(x.shape, w.shape, groups, None if bias is None else bias.shape)
    of = units(unit, backward_unit, x.dtype.name)
    _host.no_blocks(*of)
    strides = _host.step_of_each("stride", stride, axes)
    dilations = _host.step_of_each("dilation", dilation, axes)
    ends = padded(padding, x.shape[2:], w.shape[2:], strides, dilations)
    check_sizes(x, w, ends, dilations)
    x, alike = with_ends_alike(x, ends)
    if axes == 1:
        x, w = x[:, :, None], w[:, :, None]
    steps = Steps(of_both(strides, 1), of_both(alike, 0), of_both(dilations, 1), int(groups))
    how = How(steps, of)
    x, w, bias, words = varied_alike(x, w, bias, words_of(seed, who_draws(of)))
    z = convolution(how, x, w, bias, words)
    z = z[:, :, 0] if axes == 1 else z
    return z.transpose(np.argsort(told.out_spec))


def layouts(x: Any, w: Any, given: Any) -> Any:
    if not isinstance(given, tuple | list) or len(given) != 3:
        raise ValueError(f"dimension_numbers = {given!r}: three texts are wanted, of x, w, result")
    return jax.lax.conv_dimension_numbers(x.shape, w.shape, tuple(given))


def of_both(steps: tuple[int, ...], of_height: int) -> tuple[int, int]:
    return (steps[0], steps[1]) if len(steps) == 2 else (of_height, steps[0])


def padded(
    padding: Any, image: Any, kernel: Any, strides: Any, dilations: Any
) -> list[tuple[int, int]]:
    """Zeros before and after, on each axis."""
    axes = len(image)
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"padding = {padding!r}: 'SAME', 'VALID' or integers are wanted")
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
        return [*jax.lax.padtype_to_pads(image, reach, strides, padding.upper())]
    try:
        one = _host.whole(padding) is not None
        each: Any = [padding] * axes if one else _host.in_order(padding)
        ends = [_host.step_of_each("padding", n, 2, 0) for n in each]
    except (TypeError, ValueError):
        ends = []
    if len(ends) != axes:
        raise ValueError(
            f"padding = {padding!r}: an integer of 0 or more, {axes} of them, or {axes} pairs of "
            "(before, after) are wanted"
        )
    return [(before, after) for before, after in ends]


def check_sizes(x: Any, w: Any, ends: Any, dilations: Any) -> None:
    for n, k, (before, after), d in zip(x.shape[2:], w.shape[2:], ends, dilations, strict=True):
        if n + before + after < d * (k - 1) + 1:
            raise ValueError(
                f"x is {x.shape} and w is {w.shape}: the kernel is larger than the image with its "
                "padding"
            )


def with_ends_alike(x: Any, ends: Any) -> tuple[Any, tuple[int, ...]]:
    """x, and the padding that is alike before and after; x has the rest itself."""
    alike = tuple(min(n) for n in ends)
    rest = [(a - n, b - n) for (a, b), n in zip(ends, alike, strict=True)]
    if any(n for pair in rest for n in pair):
        x = jnp.pad(x, [(0, 0), (0, 0), *rest])
    return x, alike
