"""How a graph asks the host: calls of NumPy, seeds, what is refused while the graph is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from .. import _host


def wider(dtype: str | None) -> str:
    """How one comes to a dtype that holds a format's numbers."""
    return f"pass tf.cast(x, '{dtype}')" if dtype else "no dtype of TensorFlow does"


def of_result(dtype: str | None) -> str:
    """The same for a unit's results."""
    return f"pass operands of {dtype}" if dtype else "no dtype of TensorFlow does"


def floats(name: str, x: Any) -> tf.Tensor:
    x = tf.convert_to_tensor(x)
    _host.known(name, x.dtype.name)
    return x


def drawn_seed(seed: Any, draws: bool) -> tf.Tensor:
    """What stochastic rounding draws by, from TensorFlow's generator where none is given."""
    if not draws:
        return tf.constant(0, tf.int64)
    if seed is None:
        return tf.random.uniform((), maxval=(1 << 63) - 1, dtype=tf.int64)
    if not tf.is_tensor(seed):
        return tf.constant(_host.signed_seed(seed), tf.int64)
    if not seed.dtype.is_integer or seed.shape.rank not in (None, 0):
        raise TypeError(f"seed is {seed.dtype.name}, {seed.shape}; one integer is wanted")
    return tf.cast(seed, tf.int64)


def on_host(
    host: Callable[..., np.ndarray], shape: tf.TensorShape, dtype: tf.DType, *args: Any
) -> tf.Tensor:
    """What the host makes of the tensors, of which any may be None; the last one is the seed."""
    there = [x is not None for x in args]

    def called(*arrays: Any) -> np.ndarray:
        rest = iter(arrays)
        given: list[Any] = [next(rest) if t else None for t in there]
        seed = _host.whole_seed(given.pop())
        return np.asarray(host(*given, seed=seed), dtype=dtype.as_numpy_dtype)

    z = tf.numpy_function(called, [x for x in args if x is not None], dtype, stateful=False)
    z.set_shape(shape)
    return z
