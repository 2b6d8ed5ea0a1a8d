"""Values to values: rounded to a format, with a gradient that passes straight through."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from .. import _host
from .._block_format import is_container
from ._call import drawn_seed, floats, on_host, wider


def rounded(x: tf.Tensor, format: str, rounding: str, axis: int | None, seed: Any) -> tf.Tensor:
    """Without a gradient of its own."""
    host = partial(_host.quantized, format=format, rounding=rounding, axis=axis)
    return on_host(host, x.shape, x.dtype, x, seed)


def where_it_passes(g: tf.Tensor, x: tf.Tensor, format: str, axis: int | None) -> tf.Tensor:
    """Nothing comes back where the format has no number so large."""
    if is_container(format):

        def host(x: np.ndarray, seed: int) -> np.ndarray:
            return _host.within(x, format, axis)

        inside = on_host(host, x.shape, tf.bool, x, drawn_seed(None, False))
        return tf.where(inside, g, tf.zeros_like(g))
    ends = _host.straight_range(format)
    if ends is None:
        return g
    low, high = (tf.constant(np.asarray(end, x.dtype.as_numpy_dtype)) for end in ends)
    return tf.where((x < low) | (x > high), tf.zeros_like(g), g)


def quantize(
    x: Any,
    format: Any,
    rounding: str = "rne",
    backward: Any = None,
    seed: Any = None,
    clamp: bool = True,
    *,
    backward_rounding: str | None = None,
    axis: int | None = None,
) -> tf.Tensor:
    """Values of x rounded to a format, in x's dtype; the gradient passes straight through.

    Args:
        x: a tensor of float16, bfloat16, float32 or float64, of any shape.
        format: as `ww.Format` takes it ('e4m3fn', 'posit16es2', 'fixed8.4'), or of numbers that
            share scales: as `ww.blocks` ('mxfp8_e4m3') or `ww.affine` ('affine(int8,symmetric)').
        rounding: as in `ww.array`; 'sr8' is stochastic with 8 random bits.
        backward: a format that gradients are rounded to; None leaves them as they come.
        seed: of stochastic rounding, an integer or a tensor of one, whose bits are those of
            `ww.array`; None draws one from TensorFlow's generator, which tf.random.set_seed sets.
        clamp: the gradient is zero where x lies past the format's largest or least number (of
            blocks: of what the scale reaches; of affine integers: where the code was clamped).
        backward_rounding: of gradients, `rounding` where left out; it draws by `seed` + 1.
        axis: of blocks and channels, as in `ww.blocks` and `ww.affine`.
    Returns:
        A tensor of x's shape and dtype, in graphs too; XLA (jit_compile=True) refuses the call.
    Raises:
        ValueError: the dtype does not hold the format's numbers; NaN, and the format has none
            (TensorFlow wraps this one).
        TypeError: x holds another dtype.

    >>> import tensorflow as tf
    >>> quantize(tf.constant([0.3, 1.7, 9.0]), "e2m1fn").numpy().tolist()
    [0.5, 1.5, 6.0]
    """
    format, backward = _host.format_text(format), _host.text(backward)
    back = rounding if backward_rounding is None else backward_rounding
    _host.refuse_idle_axis(axis, format, backward)
    x = floats("x", x)
    check(x, (format, backward), (rounding, back))
    asked = [rounding] if backward is None else [rounding, back]
    return straight(
        x, format, rounding, backward, back, clamp, axis,
        drawn_seed(seed, any(mode.startswith("sr") for mode in asked)),
    )  # fmt: skip


def straight(
    x: tf.Tensor,
    format: str,
    rounding: str,
    backward: str | None,
    backward_rounding: str,
    clamp: bool,
    axis: int | None,
    seed: tf.Tensor,
) -> tf.Tensor:
    @tf.custom_gradient
    def call(x: tf.Tensor) -> Any:
        def gradient(g: tf.Tensor) -> tf.Tensor:
            g = where_it_passes(g, x, format, axis) if clamp else g
            if backward is None:
                return g
            how = (backward_rounding, None, "rne", False, axis, seed + 1)
            return straight(g, backward, *how)

        return rounded(x, format, rounding, axis, seed), gradient

    return call(x)


def check(x: tf.Tensor, formats: Any, roundings: Any) -> None:
    """What is wrong is told while the graph is made, gradients' part too."""
    for format in formats:
        if format is None:
            continue
        if is_container(format):
            _host.check_format(format)
        else:
            _host.held_format(format, x.dtype.name, wider)
    for mode in roundings:
        _host.env_of(mode)
