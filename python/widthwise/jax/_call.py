"""How a traced program asks the host: callbacks, seeds, and what is refused while it is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import _host
from .._settings import checked_seed
from . import _xla

WORD = (1 << 32) - 1
Words = Any  # a seed in a traced program: its low and its high 32 bits, uint32, or None


def wider(dtype: str | None) -> str:
    """How one comes to a dtype that holds a format's numbers."""
    if dtype is None:
        return "take encode(x)"
    with_x64 = " with jax.config.update('jax_enable_x64', True)" if dtype == "float64" else ""
    return f"pass x.astype('{dtype}'){with_x64} or encode(x)"


def of_result(told: str | None) -> str:
    """The same for a unit's results."""
    if told is None:
        return "no dtype of JAX does"
    with_x64 = " with jax.config.update('jax_enable_x64', True)" if told == "float64" else ""
    return f"pass operands of {told}{with_x64}"


def floats(name: str, x: Any) -> jax.Array:
    """An argument as an array of floats; what it holds is asked here, where it is traced."""
    x = jnp.asarray(x)
    _host.known(name, x.dtype.name)
    return x


# --- Seeds ----------------------------------------------------------------------------------------


def words_of(seed: Any, who: str | None) -> Words:
    """A seed's 64 bits as two words, of an integer or a key; None where nobody draws."""
    if who is None:
        return None
    if seed is None:
        raise ValueError(f"{who} draws; pass seed=, an integer or a key of jax.random")
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        whole = checked_seed(int(seed))
        return jnp.array([whole & WORD, whole >> 32], jnp.uint32)
    seed = jnp.asarray(seed)
    if is_key(seed):
        return jax.random.bits(seed, (2,), jnp.uint32)
    if seed.shape != () or not jnp.issubdtype(seed.dtype, jnp.integer):
        raise TypeError(
            f"seed is {seed.dtype}, {seed.shape}; one integer or one key of jax.random is wanted"
        )
    wide = seed.dtype.itemsize == 8
    high = (seed >> 32).astype(jnp.uint32) if wide else jnp.uint32(0)
    return jnp.stack([seed.astype(jnp.uint32), high])


def is_key(seed: jax.Array) -> bool:
    """One key, of either kind that jax.random has."""
    if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        return seed.shape == ()
    return seed.dtype == jnp.uint32 and seed.shape == (2,)


def following(words: Words, n: int) -> Words:
    """A seed of its own for the n-th operation that comes of one call: n more."""
    if words is None:
        return None
    low = words[0] + jnp.uint32(n)
    return jnp.stack([low, words[1] + (low < jnp.uint32(n)).astype(jnp.uint32)])


def seed_of_words(words: np.ndarray | None) -> int:
    """The 64 bits again, on the host; 0 where nobody draws."""
    return 0 if words is None else int(words[0]) | int(words[1]) << 32


# --- Calls ----------------------------------------------------------------------------------------


class Host(NamedTuple):
    """What the host computes: arrays, None among them, and settings to an array.

    Compared by what it holds: JAX compiles an eager call once for all that are alike.
    """

    function: Callable[..., np.ndarray]
    settings: tuple[Any, ...] = ()

    def __call__(self, *arrays: Any) -> np.ndarray:
        return self.function(*arrays, *self.settings)


class Examples(NamedTuple):
    """The same for batches of examples, each computed as it would be alone."""

    host: Host
    ranks: tuple[int, ...]  # axes of each argument in one example
    shape: tuple[int, ...]  # of one example's result
    dtype: Any

    def __call__(self, *args: Any) -> np.ndarray:
        pairs = [*zip(args, self.ranks, strict=True)]
        leads = [x.shape[: x.ndim - rank] for x, rank in pairs if x is not None]
        lead = np.broadcast_shapes(*leads)
        if not lead:
            return self.host(*args)
        spread = [
            None if x is None else np.broadcast_to(x, (*lead, *x.shape[x.ndim - rank :]))
            for x, rank in pairs
        ]
        result = np.empty((*lead, *self.shape), self.dtype)
        for at in np.ndindex(*lead):
            result[at] = self.host(*(None if x is None else x[at] for x in spread))
        return result


class Called(NamedTuple):
    """What JAX calls: it hands over the arrays that there are."""

    host: Host | Examples
    there: tuple[bool, ...]

    def __call__(self, *arrays: Any) -> np.ndarray:
        rest = iter(arrays)
        return self.host(*(np.asarray(next(rest)) if t else None for t in self.there))


def on_host(host: Host | Examples, shape: tuple[int, ...], dtype: Any, *args: Any) -> jax.Array:
    """What the host makes of the arrays, of which any may be None.

    Batches come with axes before those that were traced, of one or of the batch's size; `host`
    answers for all of them. Gradients have their rules outside: none passes here.
    """
    given = [jax.lax.stop_gradient(x) for x in args if x is not None]
    called = Called(host, tuple(x is not None for x in args))
    result = jax.ShapeDtypeStruct(shape, dtype)
    if _xla.usable():
        return varied_as(given, _xla.called(called, result, given))
    found = jax.pure_callback(called, result, *given, vmap_method="expand_dims")
    return varied_as(given, found)


# --- Meshes ---------------------------------------------------------------------------------------


def axes_of(x: Any) -> frozenset[str]:
    """The axes of shard_map's mesh along which x differs, by the names that JAX had for them."""
    told = jax.typeof(x) if hasattr(jax, "typeof") else None
    found: frozenset[str] = getattr(
        getattr(told, "manual_axis_type", None), "varying", getattr(told, "vma", frozenset())
    )
    return found


def varied_as(given: Iterable[Any], x: Any) -> Any:
    """x that varies where anything given does: of what leaves JAX it thinks that nothing varies."""
    axes = frozenset[str]().union(*map(axes_of, given)) - axes_of(x)
    if not axes:
        return x
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(x, tuple(axes), to="varying")
    return jax.lax.pvary(x, tuple(axes))


def varied_alike(*args: Any) -> list[Any]:
    """Operands that vary along the same axes, whose gradients JAX sums over those that were added;
    None is left."""
    there = [x for x in args if x is not None]
    return [None if x is None else varied_as(there, x) for x in args]
