"""Values to values: rounded to a format, with a gradient that passes straight through."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import _host
from .._block_format import is_container
from . import _xla
from ._call import (
    Examples,
    Host,
    Words,
    floats,
    following,
    on_host,
    seed_of_words,
    varied_alike,
    varied_as,
    wider,
    words_of,
)


class How(NamedTuple):
    """What is known of a rounding before there are numbers."""

    format: str
    rounding: str
    backward: str | None
    backward_rounding: str
    clamp: bool
    axis: int | None


def computed(x: jax.Array, format: str, rounding: str, axis: int | None, words: Words) -> Any:
    """By XLA's own call where the package has it, else by the host's."""
    words = words if rounding.startswith("sr") else None
    if not is_container(format):
        _host.held_format(format, x.dtype.name, wider)
        if _xla.usable():
            given = [x] if words is None else [x, words]
            found = _xla.quantize(jax.lax.stop_gradient(x), format, rounding, words)
            return varied_as(given, found)

    host = Host(rounded_there, (format, rounding, axis))
    alone = words is not None or is_container(format)
    batched = Examples(host, (x.ndim, 1), x.shape, x.dtype) if alone else host
    return on_host(batched, x.shape, x.dtype, x, words)


def rounded_there(x: Any, words: Any, format: str, rounding: str, axis: int | None) -> np.ndarray:
    return _host.quantized(x, format, rounding, axis, seed_of_words(words))


def where_it_passes(g: Any, x: jax.Array, how: How) -> Any:
    """Nothing comes back where the format has no number so large."""
    if not how.clamp:
        return g
    if is_container(how.format):
        host = Host(_host.within, (how.format, how.axis))
        inside = on_host(Examples(host, (x.ndim,), x.shape, np.bool_), x.shape, np.bool_, x)
        return jnp.where(inside, g, jnp.zeros_like(g))
    ends = _host.straight_range(how.format)
    if ends is None:
        return g
    low, high = (np.asarray(end, x.dtype) for end in ends)
    return jnp.where((x < low) | (x > high), jnp.zeros_like(g), g)


# Without a format for gradients a rule for tangents is one for gradients, too.


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def straight(how: How, x: jax.Array, words: Words) -> Any:
    return computed(x, how.format, how.rounding, how.axis, words)


@straight.defjvp
def tangent(how: How, primals: Any, tangents: Any) -> Any:
    x, words = primals
    return straight(how, x, words), where_it_passes(tangents[0], x, how)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def returning(how: How, x: jax.Array, words: Words) -> Any:
    return computed(x, how.format, how.rounding, how.axis, words)


def forward(how: How, x: jax.Array, words: Words) -> Any:
    kept = x if how.clamp else None  # without clamp nobody asks for x
    return returning(how, x, words), (kept, words)


def gradient(how: How, saved: Any, g: jax.Array) -> Any:
    x, words = saved
    g = where_it_passes(g, x, how)
    assert how.backward is not None
    back = How(how.backward, how.backward_rounding, None, "rne", False, how.axis)
    return straight(back, g, following(words, 1)), None


returning.defvjp(forward, gradient)


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
) -> Any:
    """Values of x rounded to a format, in x's dtype; the gradient passes straight through.

    Args:
        x: an array of float16, bfloat16, float32 or float64, of any shape.
        format: as `ww.Format` takes it ('e4m3fn', 'posit16es2', 'fixed8.4'), or of numbers that
            share scales: as `ww.blocks` ('mxfp8_e4m3') or `ww.affine` ('affine(int8,symmetric)').
        rounding: as in `ww.array`; 'sr8' is stochastic with 8 random bits.
        backward: a format that gradients are rounded to; None leaves them as they come, and forward
            mode (jvp, jacfwd) works too.
        seed: of stochastic rounding, which needs one: an integer, also a traced one, whose bits are
            those of `ww.array`, or a key of jax.random. Under vmap each example draws as it would
            alone.
        clamp: the gradient is zero where x lies past the format's largest or least number (of
            blocks: of what the scale reaches; of affine integers: where the code was clamped).
        backward_rounding: of gradients, `rounding` where left out; it draws by `seed` + 1.
        axis: of blocks and channels, as in `ww.blocks` and `ww.affine`.
    Returns:
        An array of x's shape and dtype.
    Raises:
        ValueError: the dtype does not hold the format's numbers; stochastic rounding without a
            seed; NaN, and the format has none (inside compiled code JAX wraps this one).
        TypeError: x holds another dtype.

    >>> import jax.numpy as jnp
    >>> quantize(jnp.array([0.3, 1.7, 9.0]), "e2m1fn").tolist()
    [0.5, 1.5, 6.0]
    """
    back = rounding if backward_rounding is None else backward_rounding
    how = How(_host.format_text(format), rounding, _host.text(backward), back, clamp, axis)
    _host.refuse_idle_axis(axis, how.format, how.backward)
    x = floats("x", x)
    check(x, how)
    x, words = varied_alike(x, words_of(seed, who_draws(how)))
    return straight(how, x, words) if how.backward is None else returning(how, x, words)


def who_draws(how: How) -> str | None:
    """The first of the roundings that is stochastic."""
    asked = [how.rounding] if how.backward is None else [how.rounding, how.backward_rounding]
    return next((f"rounding '{r}'" for r in asked if r.startswith("sr")), None)


def check(x: jax.Array, how: How) -> None:
    """What is wrong is told while the program is traced, gradients' part too."""
    for format in (how.format, how.backward):
        if format is None:
            continue
        if is_container(format):
            _host.check_format(format)
        else:
            f = _host.held_format(format, x.dtype.name, wider)
            if format is how.format and not f.has_nan and not isinstance(x, jax.core.Tracer):
                _host.refuse_what_it_has_not(np.asarray(x), f)
    for mode in (how.rounding, how.backward_rounding):
        _host.env_of(mode)
