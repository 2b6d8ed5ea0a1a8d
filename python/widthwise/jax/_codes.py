"""Codes of arrays, an item each."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _host
from .._block_format import is_container
from .._create import from_bits
from .._format import Format
from .._format_texts import said
from ._call import Examples, Host, floats, on_host, seed_of_words, words_of


def single(format: Any) -> Format:
    told = _host.format_text(format)
    if is_container(told):
        raise ValueError(f"{said(told)}: its numbers share scales; quantize takes it, or ww.blocks")
    return Format(told)


def items_of(f: Format) -> np.dtype:
    """The least unsigned integers that hold the format's codes."""
    if f.width > 64:
        raise ValueError(f"{said(f)} has codes of {f.width} bits; JAX has integers of 64")
    if f.width > 32 and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        raise ValueError(
            f"{said(f)} has codes of {f.width} bits, and JAX has integers of 32 without "
            "jax.config.update('jax_enable_x64', True)"
        )
    return np.dtype(f.dtype)


def encode(x: Any, format: Any, rounding: str = "rne", seed: Any = None) -> Any:
    """The codes of x's values, rounded to a format as `quantize` rounds them.

    Args:
        x: an array of float16, bfloat16, float32 or float64; the format may be wider than they are.
        format: as `ww.Format` takes it.
        rounding, seed: as in `quantize`.
    Returns:
        An array of x's shape, of uint8, uint16, uint32 or uint64. Gradients end here.
    Raises:
        ValueError: codes of more bits than JAX's integers; NaN, and the format has none.
        TypeError: x holds another dtype.

    >>> import jax.numpy as jnp
    >>> encode(jnp.array([1.0, -1.0]), "e5m2").tolist()
    [60, 188]
    """
    f = single(format)
    x, dtype = floats("x", x), items_of(f)
    _host.env_of(rounding)
    words = words_of(seed, f"rounding '{rounding}'" if rounding.startswith("sr") else None)

    host = Host(codes_there, (str(f), rounding))
    alone = host if words is None else Examples(host, (x.ndim, 1), x.shape, dtype)
    return on_host(alone, x.shape, dtype, x, words)


def codes_there(x: Any, words: Any, format: str, rounding: str) -> np.ndarray:
    return _host.rounded(x, Format(format), rounding, seed_of_words(words)).bits


def decode(codes: Any, format: Any, dtype: Any = jnp.float32) -> Any:
    """The values that codes stand for.

    Args:
        codes: an array of unsigned integers, as `encode` makes them.
        format: theirs.
        dtype: float16, bfloat16, float32 or float64.
    Returns:
        An array of that dtype, of the codes' shape.
    Raises:
        ValueError: the dtype does not hold the format's numbers.
        TypeError: codes are no unsigned integers of the format's width.

    >>> decode(encode(jnp.array([0.3, 100.0]), "e2m1fn"), "e2m1fn").tolist()
    [0.5, 6.0]
    """
    f = single(format)
    to = jax.dtypes.canonicalize_dtype(dtype)
    _host.known("the result", to.name)
    _host.held_format(str(f), to.name, lambda told: f"take dtype={told}" if told else NONE)
    codes = jnp.asarray(codes)
    if codes.dtype != items_of(f):
        raise TypeError(f"codes are {codes.dtype}; those of {said(f)} are {items_of(f)}")

    return on_host(Host(values_there, (str(f), to)), codes.shape, to, codes)


def values_there(codes: np.ndarray, format: str, to: np.dtype) -> np.ndarray:
    return _host.values_of(from_bits(codes, format), to)


NONE = "ww.from_bits(codes, format) has them exactly"
