"""XLA's own calls of the core, where the package was built with jaxlib's headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _widthwise as core

# What XLA may call in Python, by a name that tells all of it: one that a cache keeps for another
# process means the same there.
FUNCTIONS: dict[str, Callable[..., None]] = {}
Seen = tuple[np.ndarray, tuple[int, ...]]  # bytes where they lie, and the shape


@lru_cache(maxsize=1)
def registered() -> bool:
    """Whether XLA takes the handlers: it refuses those of another interface than its own."""
    handlers = core.xla_handlers(FUNCTIONS)
    try:
        for name, handler in handlers.items():
            jax.ffi.register_ffi_target(name, handler, platform="cpu")
    except Exception:  # XLA's own, of several kinds: the callbacks compute the same bits
        return False
    return bool(handlers)


def usable() -> bool:
    """They compute on the CPU alone."""
    return jax.default_backend() == "cpu" and registered()


def quantize(x: jax.Array, format: str, rounding: str, words: Any) -> jax.Array:
    """Single numbers rounded; of a batch each example draws as it would alone."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = jax.ffi.ffi_call("widthwise_quantize", result, vmap_method="broadcast_all")
    seed = jnp.zeros((2,), jnp.uint32) if words is None else words
    rank = -1 if words is None else x.ndim
    return call(x, seed, format=format, rounding=rounding, rank=np.int64(rank))


def called(function: Any, result: Any, given: list[jax.Array]) -> jax.Array:
    """A function of Python on the arrays where they lie.

    JAX's own callbacks copy arrays by the threads that wait for the callbacks: large ones of
    several programs at once stop for ever.
    """
    dtypes = tuple(np.dtype(x.dtype) for x in (*given, result))
    name = told((function, dtypes))
    FUNCTIONS.setdefault(name, partial(answer, function, dtypes))
    call = jax.ffi.ffi_call("widthwise_call", result, vmap_method="expand_dims")
    return call(*given, name=name)


def answer(function: Any, dtypes: Any, given: list[Seen], result: Seen) -> None:
    arrays = [x.view(to).reshape(shape) for (x, shape), to in zip(given, dtypes, strict=False)]
    for x in arrays:
        x.flags.writeable = False
    result[0].view(dtypes[-1])[:] = function(*arrays).reshape(-1)


def told(x: Any) -> str:
    """All that a function is made of, as text."""
    if isinstance(x, tuple):
        return f"{type(x).__name__}({', '.join(map(told, x))})"
    if callable(x) and not isinstance(x, type):
        return f"{x.__module__}.{x.__qualname__}"
    return repr(x)
