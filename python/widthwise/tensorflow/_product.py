"""Products and convolutions under a unit, and their gradients under another."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .. import _host
from .._host import Steps
from ._call import drawn_seed, floats, of_result, on_host

WANTED = "a is {} and b is {}; (..., m, k) and (..., k, n) are wanted"
UNKNOWN = "x is {} and w is {}; channels and kernels have to be known"
Ends = tuple[tuple[int, int], tuple[int, int]]


def seed_for(of: tuple[str, str], seed: Any) -> tf.Tensor:
    return drawn_seed(seed, _host.draws(of[0]) or _host.draws(of[1]))


# --- Matrix products ------------------------------------------------------------------------------


def matmul(
    a: Any, b: Any, *, unit: Any, backward_unit: Any = None, c: Any = None, seed: Any = None
) -> tf.Tensor:
    """c + a @ b as the unit computes it, on values; gradients as another unit computes them.

    Operands are rounded to the unit's formats, to nearest even, and gradients pass that rounding
    straight. A unit that scales blocks gets them quantised along the axis that it sums.

    Args:
        a: values, (..., m, k), of one dtype with b.
        b: values, (..., k, n); leading axes broadcast.
        unit: a `ww.Unit` or its text; its result's numbers have to be a's dtype's.
        backward_unit: of both gradients' products, in which what comes back is the operand a and
            what was kept the operand b; the same unit where left out.
        c: what is added to, rounded to the unit's c; it broadcasts to the result. Its gradient is
            TensorFlow's sum.
        seed: as in `quantize`, of units that round stochastically.
    Returns:
        A tensor of a's dtype, (..., m, n).
    Raises:
        ValueError: shapes do not fit; the dtype does not hold the unit's results.
        TypeError: tensors of several dtypes.

    >>> import tensorflow as tf
    >>> a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> matmul(a, tf.transpose(a), unit="hopper.e4m3.f32").numpy().tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """
    a, b = floats("a", a), floats("b", b)
    c = None if c is None else floats("c", c)
    _host.one_dtype(a=a, b=b, c=c)
    inner = (a.shape[-1:], b.shape[-2:-1])
    ranks = [x.shape.rank for x in (a, b) if x.shape.rank is not None]
    if min(ranks, default=2) < 2 or not inner[0].is_compatible_with(inner[1]):
        raise ValueError(WANTED.format(a.shape, b.shape))
    of = _host.units(unit, backward_unit, a.dtype.name, of_result)
    return product(a, b, c, of, seed_for(of, seed))


def product(a: tf.Tensor, b: tf.Tensor, c: Any, of: tuple[str, str], seed: tf.Tensor) -> tf.Tensor:
    lead = tf.broadcast_static_shape(a.shape[:-2], b.shape[:-2])
    shape = lead.concatenate(a.shape[-2:-1]).concatenate(b.shape[-1:])
    back = (of[1], of[1])

    def host(a: Any, b: Any, c: Any, seed: int) -> np.ndarray:
        if min(a.ndim, b.ndim) < 2:  # which nobody knew while the graph was made
            raise ValueError(WANTED.format(a.shape, b.shape))
        return _host.product(a, b, c, of[0], seed)

    def gradient(g: tf.Tensor) -> Any:
        """What comes back is the backward unit's a in both products, and b what was kept."""
        to_a = reduced(product(g, turned(b), None, back, seed + 1), a)
        to_b = reduced(turned(product(turned(g), a, None, back, seed + 2)), b)
        return (to_a, to_b) if c is None else (to_a, to_b, reduced(g, c))

    @tf.custom_gradient
    def call(a: tf.Tensor, b: tf.Tensor, *c: tf.Tensor) -> Any:
        return on_host(host, shape, a.dtype, a, b, c[0] if c else None, seed), gradient

    return call(a, b) if c is None else call(a, b, c)


def turned(x: tf.Tensor) -> tf.Tensor:
    return tf.linalg.matrix_transpose(x)


def reduced(g: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """The sum over the axes that an operand was broadcast along."""
    along = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(g), s1=tf.shape(x)).r1
    return tf.reshape(tf.reduce_sum(g, along), tf.shape(x))


# --- Convolutions ---------------------------------------------------------------------------------


def conv2d(
    x: Any,
    w: Any,
    bias: Any = None,
    strides: Any = 1,
    padding: Any = "VALID",
    dilations: Any = 1,
    *,
    unit: Any,
    backward_unit: Any = None,
    data_format: str = "NHWC",
    seed: Any = None,
) -> tf.Tensor:
    """Convolve images as tf.nn.conv2d does, each output as the unit computes it.

    Sums run over channel, row, column, in any layout. Gradients are products of the backward unit.
    What x gets is the convolution of what comes back with the kernels turned round: zeros between
    numbers that lie a stride apart, and around them, are multiplied like all else. What w gets sums
    in order of image, row, column.

    Args:
        x: values, (images, height, width, channels), or as data_format says.
        w: values, (kernel height, kernel width, channels / groups, filters).
        bias: (filters,), with which the unit's sums begin; its gradient is TensorFlow's sum.
        strides, dilations: of height and width, or a pair.
        padding: 'VALID', 'SAME', or ((top, bottom), (left, right)).
        unit, backward_unit, seed: as in `matmul`; not units that scale blocks.
        data_format: 'NHWC' or 'NCHW', of x and of the result.
    Returns:
        A tensor of x's dtype, (images, height, width, filters), or as data_format says.
    Raises:
        ValueError: sizes do not fit; the dtype does not hold the unit's results.
        TypeError: tensors of several dtypes.

    >>> import tensorflow as tf
    >>> x = tf.constant([[[[1.0], [2.0], [4.0]]]])
    >>> conv2d(x, tf.constant([[[[1.0]], [[-1.0]]]]), unit="mac(e5m10)").numpy().ravel().tolist()
    [-1.0, -2.0]
    """
    x, w = floats("x", x), floats("w", w)
    bias = None if bias is None else floats("bias", bias)
    _host.one_dtype(x=x, w=w, bias=bias)
    if x.shape.rank is None or w.shape.rank is None:
        raise ValueError(UNKNOWN.format(x.shape, w.shape))
    if x.shape.rank != 4 or w.shape.rank != 4:
        raise ValueError(f"x is {x.shape} and w is {w.shape}; both want 4 axes")
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"data_format = {data_format!r}: 'NHWC' or 'NCHW' is wanted")
    first = data_format == "NCHW"
    channels = x.shape[1 if first else 3]
    if channels is None or not w.shape.is_fully_defined():
        raise ValueError(UNKNOWN.format(x.shape, w.shape))
    groups = channels // max(1, w.shape[2])
    of_bias = None if bias is None else bias.shape
    _host.check_channels((None, channels), (w.shape[3], w.shape[2]), groups, of_bias)
    of = _host.units(unit, backward_unit, x.dtype.name, of_result)
    _host.no_blocks(*of)
    steps = Steps(pair("strides", strides), (0, 0), pair("dilations", dilations), groups)
    padding = read_padding(padding)
    x = with_padding(x if first else tf.transpose(x, (0, 3, 1, 2)), w.shape[:2], steps, padding)
    z = convolution(x, tf.transpose(w, (3, 2, 0, 1)), bias, steps, of, seed_for(of, seed))
    return z if first else tf.transpose(z, (0, 2, 3, 1))


def convolution(
    x: tf.Tensor, w: tf.Tensor, c: Any, steps: Steps, of: tuple[str, str], seed: tf.Tensor
) -> tf.Tensor:
    """Channels and filters first, without padding; what its gradients are has gradients, too."""
    kernel, back = tuple(w.shape[2:]), (of[1], of[1])

    def host(x: Any, w: Any, c: Any, seed: int) -> np.ndarray:
        return _host.convolution(x, w, c, steps, of[0], seed)

    def gradient(g: tf.Tensor) -> Any:
        """What comes back is the backward unit's a in both, and b what was kept."""
        plain = steps._replace(stride=(1, 1))
        around = apart(g, tf.shape(x), kernel, steps)
        dx = convolution(around, turned_round(w, steps.groups), None, plain, back, seed + 1)
        dw = product(rows(g, steps.groups), windows(x, g, kernel, steps), None, back, seed + 2)
        dx, dw = tf.ensure_shape(dx, x.shape), tf.reshape(dw, w.shape)
        return (dx, dw) if c is None else (dx, dw, tf.reduce_sum(g, (0, 2, 3)))

    @tf.custom_gradient
    def call(x: tf.Tensor, w: tf.Tensor, *c: tf.Tensor) -> Any:
        shape = result_shape(x, w, steps)
        return on_host(host, shape, x.dtype, x, w, c[0] if c else None, seed), gradient

    return call(x, w) if c is None else call(x, w, c)


def apart(g: tf.Tensor, image: tf.Tensor, kernel: Any, steps: Steps) -> tf.Tensor:
    """Numbers a stride apart, and so many zeros around them that each of an image meets all of a
    kernel; zeros are multiplied like all else."""
    n, filters, high, wide = tf.unstack(tf.shape(g))
    s, t = steps.stride
    gaps = [[0, 0], [0, 0], [0, 0], [0, s - 1], [0, 0], [0, t - 1]]
    spread = tf.pad(tf.reshape(g, (n, filters, high, 1, wide, 1)), gaps)
    rows, columns = (high - 1) * s + 1, (wide - 1) * t + 1  # without the gap after the last one
    spread = tf.reshape(spread, (n, filters, high * s, wide * t))[:, :, :rows, :columns]
    before = [d * (k - 1) for k, d in zip(kernel, steps.dilation, strict=True)]
    after = image[2] - rows, image[3] - columns
    return tf.pad(spread, [[0, 0], [0, 0], [before[0], after[0]], [before[1], after[1]]])


def turned_round(w: tf.Tensor, groups: int) -> tf.Tensor:
    """Kernels from a result's channels to an image's."""
    filters, channels, *kernel = w.shape
    each = tf.reshape(w, (groups, filters // groups, channels, *kernel))
    each = tf.transpose(each, (0, 2, 1, 3, 4))
    return tf.reshape(each, (groups * channels, filters // groups, *kernel))[:, :, ::-1, ::-1]


def rows(g: tf.Tensor, groups: int) -> tf.Tensor:
    """Each filter's results, in order of image, row, column: (groups, filters, results)."""
    filters = g.shape[1] // groups
    each = tf.reshape(g, tf.concat([tf.shape(g)[:1], [groups, filters, -1]], 0))
    return tf.reshape(tf.transpose(each, (1, 2, 0, 3)), (groups, filters, -1))


def windows(x: tf.Tensor, g: tf.Tensor, kernel: Any, steps: Steps) -> tf.Tensor:
    """What each result saw: (groups, results, numbers of a window)."""
    n, _, high, wide = tf.unstack(tf.shape(g))
    (s, t), (d, e) = steps.stride, steps.dilation
    seen = [
        x[:, :, i : i + (high - 1) * s + 1 : s, j : j + (wide - 1) * t + 1 : t]
        for i in range(0, kernel[0] * d, d)
        for j in range(0, kernel[1] * e, e)
    ]
    channels = x.shape[1] // steps.groups
    each = tf.reshape(tf.stack(seen), (len(seen), n, steps.groups, channels, high, wide))
    each = tf.transpose(each, (2, 1, 4, 5, 3, 0))
    return tf.reshape(each, (steps.groups, n * high * wide, channels * len(seen)))


def pair(name: str, step: Any, least: int = 1) -> tuple[int, int]:
    high, wide = _host.step_of_each(name, step, 2, least)
    return high, wide


def listed(given: Any) -> list[Any]:
    return _host.in_order(given) or []


def read_padding(padding: Any) -> str | Ends:
    if isinstance(padding, str) and padding.upper() in ("SAME", "VALID"):
        return padding.upper()
    try:
        (top, bottom), (left, right) = (listed(ends) for ends in listed(padding))
        return pair("padding", (top, bottom), 0), pair("padding", (left, right), 0)
    except (TypeError, ValueError):
        raise ValueError(
            f"padding = {padding!r}: 'VALID', 'SAME' or ((top, bottom), (left, right)) is wanted"
        ) from None


def with_padding(x: tf.Tensor, kernel: Any, steps: Steps, padding: str | Ends) -> tf.Tensor:
    """Zeros before and after; SAME has the odd one after, as TensorFlow."""
    if padding == "VALID":
        return x
    if not isinstance(padding, str):
        return tf.pad(x, ((0, 0), (0, 0), *padding))
    around: list[Any] = [(0, 0), (0, 0)]
    for i, (k, s, d) in enumerate(zip(kernel, steps.stride, steps.dilation, strict=True)):
        n = tf.shape(x)[2 + i] if x.shape[2 + i] is None else x.shape[2 + i]
        short = (-(-n // s) - 1) * s + d * (k - 1) + 1 - n
        total = max(short, 0) if isinstance(short, int) else tf.maximum(short, 0)
        around.append((total // 2, total - total // 2))
    return tf.pad(x, around)


def result_shape(x: tf.Tensor, w: tf.Tensor, steps: Steps) -> tf.TensorShape:
    """As far as it is known, and no kernel is larger than its image."""
    image, kernel = x.shape[2:], tuple(w.shape[2:])
    if not image.is_fully_defined():
        return tf.TensorShape([x.shape[0], w.shape[0], None, None])
    out = _host.sizes(image, kernel, steps)
    if min(out) < 1:
        raise ValueError(
            f"x is {tuple(x.shape)} with its padding and w is {tuple(w.shape)}, channels and "
            "filters first: the kernel is larger than the image"
        )
    return tf.TensorShape([x.shape[0], w.shape[0], *out])
