"""Convolutions under a unit, and their gradients under another."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from .. import _convolution, _dot
from .._array import Array
from .._host import NO_BLOCKS, one_dtype, step_of_each, unit_of, whole_seed
from ._gpu import lies_there
from ._memory import held_format, rounded_codes, values_of
from ._multiplier import told_multiplier
from ._op import Op, are_tensors, following, may_be_tensors, met_directly, one_by_one
from ._product import How, backward_of, derived, scales_blocks, seed_for, units

Pair = int | tuple[int, int]
Triple = int | tuple[int, int, int]
CONVOLUTION = (
    "convolution(Tensor x, Tensor w, Tensor? c, int[] stride, int[] padding, int[] dilation, "
    "int groups, str unit, str backward_unit, str? multiplier, str? backward_multiplier, "
    "Tensor? seed) -> Tensor"
)


def compute(
    x: torch.Tensor,
    w: torch.Tensor,
    c: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
    unit: str,
    backward_unit: str,
    multiplier: str | None,
    backward_multiplier: str | None,
    seed: torch.Tensor | None,
) -> torch.Tensor:
    one_dtype(x=x, w=w, c=c)
    if x.ndim == 5:
        images, kernels, steps, depth = in_planes(x, w, stride, padding, dilation)
        how: list[Any] = [groups, unit, backward_unit, multiplier, backward_multiplier, seed]
        z = compute(images, kernels, c, *steps, *how)
        return z.unflatten(0, (x.shape[0], depth)).transpose(1, 2).contiguous()
    u = unit_of(unit)
    held_format(str(u.result_format), x.dtype)
    z = _convolution.conv2d(
        rounded_codes(x, u.a),
        rounded_codes(w, u.b),
        unit=u,
        c=None if c is None else rounded_codes(c, u.c),
        stride=tuple(stride),
        padding=tuple(padding),
        dilation=tuple(dilation),
        groups=groups,
        threads=torch.get_num_threads(),
        seed=whole_seed(seed),
        multiplier=told_multiplier(multiplier),
    )
    return values_of(z, x.dtype)


def sizes(x: Any, w: Any, stride: Any, padding: Any, dilation: Any) -> list[Any]:
    """Height and width of what comes out, after its depth if it has one."""
    return [
        (x.shape[2 + i] + 2 * padding[i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1
        for i in range(len(stride))
    ]


class Planes(NamedTuple):
    """A convolution of volumes as one of images."""

    x: torch.Tensor
    w: torch.Tensor
    steps: tuple[Any, Any, Any]
    depth: int  # of what comes out


def in_planes(x: Any, w: Any, stride: Any, padding: Any, dilation: Any) -> Planes:
    """The planes that an output sees are channels of one image; the order of the sum stays."""
    rest = (stride[1:], padding[1:], dilation[1:])
    reach = dilation[0] * (w.shape[2] - 1) + 1
    deep = F.pad(x, (0, 0, 0, 0, padding[0], padding[0]))
    seen = deep.unfold(2, reach, stride[0])[..., :: dilation[0]]
    images = seen.permute(0, 2, 1, 5, 3, 4).flatten(0, 1).flatten(1, 2)
    return Planes(images, w.flatten(1, 2), rest, seen.shape[2])


def shape(
    x: torch.Tensor, w: torch.Tensor, c: Any, stride: Any, padding: Any, dilation: Any, *how: Any
) -> torch.Tensor:
    one_dtype(x=x, w=w, c=c)
    return x.new_empty((x.shape[0], w.shape[0], *sizes(x, w, stride, padding, dilation)))


def save(ctx: Any, inputs: Any, output: Any) -> None:
    x, w, c, *ctx.steps, ctx.groups = inputs[:7]
    *how, seed = inputs[7:]
    ctx.how = backward_of(*how)
    ctx.save_for_backward(x, w, seed)
    ctx.with_c = c is not None


def gradient(ctx: Any, g: torch.Tensor) -> tuple[Any, ...]:
    """What comes back is the backward unit's a in both, and b what was kept."""
    x, w, seed = ctx.saved_tensors
    to_x = to_w = to_c = None
    if ctx.needs_input_grad[0]:
        to_x = gradient_of_x(g, x, w, ctx, following(seed, 1))
    if ctx.needs_input_grad[1]:
        to_w = gradient_of_w(g, x, w, ctx, following(seed, 2))
    if ctx.with_c and ctx.needs_input_grad[2]:
        to_c = g.sum((0, *range(2, g.ndim)))
    return to_x, to_w, to_c, *(None,) * 9


def gradient_of_x(g: Any, x: Any, w: Any, ctx: Any, seed: Any) -> torch.Tensor:
    """The convolution of g, its numbers a stride apart, with the kernels turned round.

    The zeros between the numbers and around them are multiplied like all else.
    """
    stride, padding, dilation = ctx.steps
    turned = w.unflatten(0, (ctx.groups, -1)).transpose(1, 2).flatten(0, 1)
    turned = turned.flip(*range(2, w.ndim))
    ends: list[int] = []
    for i in reversed(range(len(stride))):  # of the last axis first, as pad takes them
        before = dilation[i] * (w.shape[2 + i] - 1) - padding[i]
        wide = (g.shape[2 + i] - 1) * stride[i] + 1
        ends += [before, x.shape[2 + i] + dilation[i] * (w.shape[2 + i] - 1) - wide - before]
    apart = F.pad(with_zeros_between(g, stride), ends)
    ones, none = [1] * len(stride), [0] * len(stride)
    return call(apart, turned, None, ones, none, dilation, ctx.groups, *ctx.how, seed)


def with_zeros_between(g: torch.Tensor, stride: Any) -> torch.Tensor:
    """Each number a stride from the next."""
    for at, step in enumerate(stride, 2):
        if step > 1:
            between = F.pad(g.unsqueeze(at + 1).movedim(at + 1, -1), (0, step - 1))
            size = g.shape[at] * step
            spread = between.movedim(-1, at + 1).reshape(*g.shape[:at], size, *g.shape[at + 1 :])
            g = spread.narrow(at, 0, size - step + 1)
    return g


def gradient_of_w(g: Any, x: Any, w: Any, ctx: Any, seed: Any) -> torch.Tensor:
    """Products of g with the windows, summed in order of image, row, column."""
    if met_directly((g, x)) and not (torch.is_grad_enabled() or lies_there(g)):
        return weights_by_codes(g, x, w, ctx, seed)
    rows = rows_of_filters(g, ctx.groups)
    return derived(rows, windows(x, w, ctx), ctx.how, seed).reshape(w.shape)


def rows_of_filters(g: torch.Tensor, groups: int) -> torch.Tensor:
    """(groups, filters of one, images * outputs), by steps that every vmap of torch has."""
    n, filters, *out = g.shape
    apart = g.reshape(n, groups, filters // groups, math.prod(out)).movedim(0, 2)
    return apart.reshape(groups, filters // groups, n * math.prod(out))


def windows(x: Any, w: Any, how: Any) -> torch.Tensor:
    """What each output saw: (groups, images * outputs, numbers of a window)."""
    steps = how.steps
    if x.ndim == 5:
        x, w, steps, _ = in_planes(x, w, *steps)
    stride, padding, dilation = steps
    seen = F.unfold(x, tuple(w.shape[2:]), tuple(dilation), tuple(padding), tuple(stride))
    return seen.unflatten(1, (how.groups, -1)).permute(1, 0, 3, 2).flatten(1, 2)


def weights_by_codes(g: Any, x: Any, w: Any, how: Any, seed: Any) -> torch.Tensor:
    """The same without a copy of a number: each is rounded once, and codes make the windows."""
    unit, _, multiplier, _ = how.how
    u = unit_of(unit)
    held_format(str(u.result_format), g.dtype)
    codes, kept = rounded_codes(g, u.a), rounded_codes(x, u.b)
    assert isinstance(codes, Array) and isinstance(kept, Array)
    rows = codes.bits
    each = g.shape[1] // how.groups  # no -1 below, which an empty batch leaves undetermined
    rows = np.moveaxis(rows.reshape(g.shape[0], how.groups, each, *rows.shape[2:]), 0, 2)
    seen = windows_of_codes(kept, g, w, how)
    z = _dot.matmul(
        Array._of(rows.reshape(how.groups, each, math.prod(rows.shape[2:])), u.a),
        Array._of(seen.swapaxes(-1, -2), u.b),
        unit=u,
        threads=torch.get_num_threads(),
        seed=whole_seed(seed),
        multiplier=told_multiplier(multiplier),
    )
    return values_of(z, g.dtype).reshape(w.shape)


def windows_of_codes(x: Array, g: torch.Tensor, w: torch.Tensor, how: Any) -> np.ndarray:
    """Codes, (groups, numbers of a window, images * outputs)."""
    stride, padding, dilation = how.steps
    codes = x.bits
    if any(padding):
        around = ((0, 0), (0, 0), *((n, n) for n in padding))
        codes = np.pad(codes, around, constant_values=x.format.codes["zero"])
    n, c, *_ = codes.shape
    by_image, by_channel, *by_axis = codes.strides
    views = np.lib.stride_tricks.as_strided(
        codes,
        (c, *w.shape[2:], n, *g.shape[2:]),
        (
            by_channel,
            *(step * d for step, d in zip(by_axis, dilation, strict=True)),
            by_image,
            *(step * s for step, s in zip(by_axis, stride, strict=True)),
        ),
    )
    window = c // how.groups * math.prod(w.shape[2:])
    outputs = n * math.prod(g.shape[2:])
    return np.ascontiguousarray(views).reshape(how.groups, window, outputs)


class Steps:
    """What a tangent knows of its convolution, as a gradient's ctx does."""

    def __init__(self, inputs: Any) -> None:
        *self.steps, self.groups = inputs[3:7]
        *how, self.seed = inputs[7:]
        self.how = backward_of(*how)


def tangent(inputs: Any, tangents: Any) -> Any:
    x, w = inputs[:2]
    how = Steps(inputs)
    dx, dw, dc, *_ = tangents
    total: Any = 0
    if dx is not None:
        total = call(dx, w, None, *how.steps, how.groups, *how.how, following(how.seed, 1))
    if dw is not None:
        total = total + by_weights(dw, x, w, how)
    return total if dc is None else total + dc.reshape(-1, *(1,) * (x.ndim - 2))


def by_weights(dw: Any, x: Any, w: Any, how: Steps) -> torch.Tensor:
    """The tangents of weights, the unit's a, with the windows, its b."""
    rows = dw.reshape(how.groups, dw.shape[0] // how.groups, -1)
    products = derived(rows, windows(x, w, how).mT, how.how, following(how.seed, 2))
    out = sizes(x, w, *how.steps)
    apart = products.reshape(w.shape[0], x.shape[0], *out)
    return apart.transpose(0, 1)


call = Op(
    CONVOLUTION,
    kernel=compute,
    shape=shape,
    save=save,
    gradient=gradient,
    tangent=tangent,
    batch=one_by_one,
)


def conv2d(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """Convolve images as torch.nn.functional.conv2d does, each output as the unit computes it.

    Gradients are products of the backward unit. What x gets is the convolution of what comes back
    with the kernels turned round: zeros between numbers that lie a stride apart, and around them,
    are multiplied like all else. What w gets sums in order of image, row, column.

    Args:
        x: values, (images, channels, height, width), or one image.
        w: values, (filters, channels / groups, kernel height, kernel width).
        bias: (filters,), with which the unit's sums begin; its gradient is torch's sum.
        stride, padding, dilation: of both axes, or a pair; padding may be 'valid', or 'same' at
            stride 1.
        groups: as torch has it.
        unit, backward_unit: as in `matmul`; not units that scale blocks.
        multiplier, backward_multiplier, seed: as in `matmul`.
    Returns:
        A tensor of shape (images, filters, height, width), or without images.
    Raises:
        ValueError: sizes do not fit; the dtype does not hold the unit's results.
        TypeError: tensors of several dtypes.

    >>> import torch
    >>> x = torch.tensor([[[1.0, 2, 3], [4, 5, 6]]])
    >>> conv2d(x, torch.tensor([[[[1.0, -1]]]]), unit="mac(e5m10)")
    tensor([[[-1., -1.],
             [-1., -1.]]])
    """
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    return convolved((x, w, bias), (stride, padding, dilation), groups, of, seed, 2)


def conv1d(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: int = 1,
    padding: int | str = 0,
    dilation: int = 1,
    groups: int = 1,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """Convolve signals as torch.nn.functional.conv1d does, each output as the unit computes it.

    Args:
        x: values, (signals, channels, length), or one signal.
        w: values, (filters, channels / groups, kernel length).
        Others: as in `conv2d`, of the one axis.
    Returns:
        A tensor of shape (signals, filters, length), or without signals.
    Raises:
        ValueError, TypeError: what `conv2d` refuses.

    >>> import torch
    >>> x, w = torch.tensor([[1.0, 2, 4, 8]]), torch.tensor([[[1.0, 1]]])
    >>> conv1d(x, w, padding=1, unit="mac(e5m10)")
    tensor([[ 1.,  3.,  6., 12.,  8.]])
    """
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    return convolved((x, w, bias), (stride, padding, dilation), groups, of, seed, 1)


def conv3d(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Triple = 1,
    padding: Triple | str = 0,
    dilation: Triple = 1,
    groups: int = 1,
    *,
    unit: Any,
    backward_unit: Any = None,
    multiplier: Any = None,
    backward_multiplier: Any = None,
    seed: Any = None,
) -> torch.Tensor:
    """Convolve volumes as torch.nn.functional.conv3d does, each output as the unit computes it.

    An output's sum runs in order of channel, plane, row, column of the kernel: it is that of the
    image whose channels are the planes that the kernel sees. What w gets sums in order of volume,
    plane, row, column.

    Args:
        x: values, (volumes, channels, depth, height, width), or one volume.
        w: values, (filters, channels / groups, kernel depth, kernel height, kernel width).
        Others: as in `conv2d`, of three axes.
    Returns:
        A tensor of shape (volumes, filters, depth, height, width), or without volumes.
    Raises:
        ValueError, TypeError: what `conv2d` refuses.

    >>> import torch
    >>> x = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> conv3d(x, torch.ones(1, 1, 2, 2, 2), unit="mac(e5m10)")
    tensor([[[[28.]]]])
    """
    of = units(unit, backward_unit, multiplier, backward_multiplier)
    return convolved((x, w, bias), (stride, padding, dilation), groups, of, seed, 3)


def convolved(tensors: Any, steps: Any, groups: int, of: How, seed: Any, axes: int) -> torch.Tensor:
    """One shape for all: images, with a height of 1 where there is none."""
    x, w, bias = tensors
    are_tensors(x=x, w=w)
    may_be_tensors(bias=bias)
    check_shapes(x, w, bias, groups, axes)
    for each in of[:2]:
        if scales_blocks(each):
            raise ValueError(NO_BLOCKS.format(each))
    alone = x.ndim == axes + 1
    images = x[None] if alone else x
    if axes == 1:
        images, w = images.unsqueeze(2), w.unsqueeze(2)
    stride, _, dilation = (along(name, step, axes) for name, step in zip(NAMES, steps, strict=True))
    images, padding = padded(images, w, stride, steps[1], dilation, axes)
    check_sizes(sizes(images, w, stride, padding, dilation), x, w)
    z = call(images, w, bias, stride, padding, dilation, groups, *of, seed_for(of, seed))
    z = z.squeeze(2) if axes == 1 else z
    return z[0] if alone else z


NAMES = ("stride", "padding", "dilation")


def along(name: str, step: Any, axes: int) -> list[int]:
    """A step of the height and one of the width, after one of the depth if there is one."""
    if isinstance(step, str):
        return [0] * max(axes, 2)
    least = 0 if name == "padding" else 1
    each = list(step_of_each(name, step, axes, least))
    return each if axes > 1 else [least, *each]


def padded(x: Any, w: Any, stride: Any, padding: Any, dilation: Any, axes: int) -> Any:
    """The images, and what padding is alike on both sides."""
    if padding == "same":
        if set(stride) != {1}:
            raise ValueError(f"padding = 'same' wants a stride of 1, and it is {tuple(stride)}")
        whole = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
        if not any(n % 2 for n in whole):
            return x, [n // 2 for n in whole]
        ends = [n for total in whole[::-1] for n in (total // 2, total - total // 2)]
        return F.pad(x, ends), [0] * len(stride)
    if isinstance(padding, str) and padding != "valid":
        raise ValueError(f"padding = {padding!r}: integers, 'valid' or 'same' are wanted")
    return x, along("padding", padding, axes)


def check_shapes(x: Any, w: Any, bias: Any, groups: int, axes: int) -> None:
    if x.ndim not in (axes + 1, axes + 2) or w.ndim != axes + 2:
        raise ValueError(
            f"x is {tuple(x.shape)} and w is {tuple(w.shape)}; x wants {axes + 2} axes, or "
            f"{axes + 1} for one alone, and w {axes + 2}"
        )
    channels, filters = x.shape[-axes - 1], w.shape[0]
    if groups < 1 or w.shape[1] * groups != channels or filters % groups:
        raise ValueError(
            f"x has {channels} channels, w is {tuple(w.shape)} and groups = {groups}: w's second "
            "axis has to be x's channels / groups, and its first a multiple of groups"
        )
    if bias is not None and tuple(bias.shape) != (filters,):
        raise ValueError(f"bias is {tuple(bias.shape)}; ({filters},) is wanted, a number a filter")


def check_sizes(out: list[Any], x: Any, w: Any) -> None:
    if min(out) < 1:
        raise ValueError(
            f"x is {tuple(x.shape)} and w is {tuple(w.shape)}: the kernel is larger than the image "
            "with its padding"
        )
