"""Matrix products under a unit, and their gradients under another."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import _host
from .._format_texts import said
from ._call import (
    Examples,
    Host,
    Words,
    floats,
    following,
    of_result,
    on_host,
    seed_of_words,
    varied_alike,
    words_of,
)


class Units(NamedTuple):
    """Of the product, and of the products that its gradients are."""

    forward: str
    backward: str


def computed(a: jax.Array, b: jax.Array, c: Any, unit: str, words: Words) -> jax.Array:
    ranks = (a.ndim, b.ndim, 0 if c is None else c.ndim)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*lead, a.shape[-2], b.shape[-1])

    if words is not None or _host.scales_blocks(unit):
        host = Examples(Host(product_there, (unit,)), (*ranks, 1), shape, a.dtype)
        return on_host(host, shape, a.dtype, a, b, c, words)
    return on_host(Host(products_there, (unit, ranks)), shape, a.dtype, a, b, c)


def product_there(a: Any, b: Any, c: Any, words: Any, unit: str) -> np.ndarray:
    return _host.product(a, b, c, unit, seed_of_words(words))


def products_there(a: Any, b: Any, c: Any, unit: str, ranks: tuple[int, ...]) -> np.ndarray:
    """Batches before the axes that broadcast among themselves."""
    a, b, c = (
        None if x is None else leading(x, rank, max(ranks))
        for x, rank in zip((a, b, c), ranks, strict=True)
    )
    return _host.product(a, b, c, unit, 0)


def leading(x: np.ndarray, rank: int, axes: int) -> np.ndarray:
    """The batch before so many axes of an example."""
    lead = x.ndim - rank
    return x.reshape(*x.shape[:lead], *(1,) * (axes - rank), *x.shape[lead:])


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def product(of: Units, a: jax.Array, b: jax.Array, c: Any, words: Words) -> jax.Array:
    return computed(a, b, c, of.forward, words)


def forward(of: Units, a: Any, b: Any, c: Any, words: Any) -> Any:
    """Keeps what gradients ask for; None tells that nobody will."""
    of_a, of_b = a.perturbed, b.perturbed
    a, b, c, words = (None if arg is None else arg.value for arg in (a, b, c, words))
    likes = [None if x is None else shaped(x) for x in (a, b, c)]
    return product(of, a, b, c, words), (b if of_a else None, a if of_b else None, likes, words)


def shaped(x: jax.Array) -> jax.Array:
    """An array that keeps nothing but a shape."""
    return jnp.empty((0, *x.shape), x.dtype)


def gradient(of: Units, saved: Any, g: jax.Array) -> Any:
    """What comes back is the backward unit's a in both products, and b what was kept."""
    b, a, (like_a, like_b, like_c), words = saved
    g = jnp.asarray(g)
    to_a = to_b = to_c = None
    if b is not None:
        to_a = reduced(derived(g, turned(b), of.backward, following(words, 1)), like_a)
    if a is not None:
        to_b = reduced(turned(derived(turned(g), a, of.backward, following(words, 2))), like_b)
    if like_c is not None:
        to_c = reduced(g, like_c)
    return to_a, to_b, to_c, None


def derived(a: jax.Array, b: jax.Array, unit: str, words: Words) -> jax.Array:
    return product(Units(unit, unit), a, b, None, words)


def turned(x: jax.Array) -> jax.Array:
    return jnp.swapaxes(x, -1, -2)


def reduced(g: jax.Array, like: jax.Array) -> jax.Array:
    """The sum over the axes that an operand was broadcast along."""
    shape = like.shape[1:]
    g = g.sum(tuple(range(g.ndim - len(shape))))
    kept = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(kept, keepdims=True) if kept else g


product.defvjp(forward, gradient, symbolic_zeros=True)


def units(unit: Any, backward: Any, dtype: str) -> Units:
    return Units(*_host.units(unit, backward, dtype, of_result))


def who_draws(of: Units) -> str | None:
    return next((f"unit {said(unit)}" for unit in of if _host.draws(unit)), None)


def matmul(
    a: Any, b: Any, *, unit: Any, backward_unit: Any = None, c: Any = None, seed: Any = None
) -> Any:
    """c + a @ b as the unit computes it, on values; gradients as another unit computes them.

    Operands are rounded to the unit's formats, to nearest even, and gradients pass that rounding
    straight. A unit that scales blocks gets them quantised along the axis that it sums.

    Args:
        a: values, (..., m, k) or (k,), of one dtype with b.
        b: values, (..., k, n) or (k,); leading axes broadcast.
        unit: a `ww.Unit` or its text; its result's numbers have to be a's dtype's.
        backward_unit: of both gradients' products, in which what comes back is the operand a and
            what was kept the operand b; the same unit where left out.
        c: what is added to, rounded to the unit's c; it broadcasts to the result. Its gradient is
            JAX's sum.
        seed: as in `quantize`, of units that round stochastically.
    Returns:
        An array of a's dtype, (..., m, n), as jnp.matmul shapes it.
    Raises:
        ValueError: shapes do not fit; the dtype does not hold the unit's results; a unit that
            draws without a seed.
        TypeError: arrays of several dtypes.

    >>> import jax.numpy as jnp
    >>> a = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> matmul(a, a.T, unit="hopper.e4m3.f32").tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """
    a, b = floats("a", a), floats("b", b)
    c = None if c is None else floats("c", c)
    _host.one_dtype(a=a, b=b, c=c)
    if not (a.ndim and b.ndim) or a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise ValueError(
            f"a is {a.shape} and b is {b.shape}; a's last axis and b's last but one (or only one) "
            "must match"
        )
    of = units(unit, backward_unit, a.dtype.name)
    a, b, c, words = varied_alike(a, b, c, words_of(seed, who_draws(of)))
    x, y = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    lead = leading_axes(x, y)
    of_result = (*lead, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
    if c is not None:
        check_addend(c, of_result)
        if a.ndim == 1 or b.ndim == 1:
            c = jnp.broadcast_to(c, of_result).reshape(*lead, x.shape[-2], y.shape[-1])
    return product(of, x, y, c, words).reshape(of_result)


def leading_axes(a: jax.Array, b: jax.Array) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"a is {a.shape} and b is {b.shape}; leading axes do not broadcast"
        ) from None


def check_addend(c: jax.Array, shape: tuple[int, ...]) -> None:
    try:
        fits = np.broadcast_shapes(c.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"c is {c.shape}; it does not broadcast to {shape}")
