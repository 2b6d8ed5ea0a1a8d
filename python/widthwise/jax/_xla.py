"""XLA's own call of the core, where the package was built with jaxlib's headers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _widthwise as core

TARGET = "widthwise_quantize"


@lru_cache(maxsize=1)
def registered() -> bool:
    """Whether XLA takes the handler: it refuses one of another interface than its own."""
    handlers = core.xla_handlers()
    try:
        for name, handler in handlers.items():
            jax.ffi.register_ffi_target(name, handler, platform="cpu")
    except Exception:  # XLA's own, of several kinds: the callbacks compute the same bits
        return False
    return bool(handlers)


def usable() -> bool:
    """It computes on the CPU alone."""
    return jax.default_backend() == "cpu" and registered()


def quantize(x: jax.Array, format: str, rounding: str, words: Any) -> jax.Array:
    """Single numbers rounded; of a batch each example draws as it would alone."""
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    call = jax.ffi.ffi_call(TARGET, result, vmap_method="broadcast_all")
    seed = jnp.zeros((2,), jnp.uint32) if words is None else words
    rank = -1 if words is None else x.ndim
    return call(x, seed, format=format, rounding=rounding, rank=np.int64(rank))
