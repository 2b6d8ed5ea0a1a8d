"""What multiplies in place of the exact product, and C++ text for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import _widthwise as core

Multiplier = str | Callable[[int, int], int] | None


class Product:
    """A product of two significands, compiled from text. `ww.product` makes it.

    Attributes:
        text: the C++ statements.    name: for messages, or None.

    >>> product("mp = uint128(ma) * mb;")(13, 6)
    78
    """

    def __init__(self, text: str, name: str | None, bound: core.TextProduct) -> None:
        self.text = text
        self.name = name
        self._core = bound

    def __call__(self, ma: int, mb: int) -> int:
        """mp, as the text has it of ma and mb."""
        for name, m in (("ma", ma), ("mb", mb)):
            if not 0 <= m < 1 << 64:
                raise ValueError(f"{name} = {m}: significands are 0 to 2^64 - 1")
        return self._core(ma, mb)

    def __repr__(self) -> str:
        name = "" if self.name is None else f", name={self.name!r}"
        return f"ww.product({self.text!r}{name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return product, (self.text, self.name)


def product(text: str, name: str | None = None) -> Product:
    """A multiplier from C++ statements, to stand wherever `multiplier=` is.

    The machine's own compiler (CXX, or c++, g++, clang++ on PATH) makes it a function, which
    engines call on all threads without Python; for a GPU NVIDIA's NVRTC compiles the same text.

    Args:
        text: statements that set `mp`, a uint128 and 0 before, from `ma` and `mb`, the significands
            with their hidden ones, uint64 each. There is `bit_length(x)` of a uint64, and C++17
            without its library. What C++ leaves undefined, as a shift by 64, may differ between
            machines.
        name: for messages.
    Returns:
        A callable (ma, mb) -> mp. As a `multiplier=` it has at most the digits of both together.
    Raises:
        ValueError: the text does not compile; with the compiler's words and the text's lines.
        RuntimeError: there is no compiler, or what it makes cannot be loaded.

    >>> import widthwise as ww
    >>> coarse = ww.product("mp = uint128(ma >> 2) * (mb >> 2) << 4;", "coarse")
    >>> coarse(13, 6), coarse
    (48, ww.product('mp = uint128(ma >> 2) * (mb >> 2) << 4;', name='coarse'))
    >>> x = ww.array([1.25, 3], "e5m10")
    >>> ww.dot(x, x, unit="mac(e5m10)", multiplier=coarse)
    Array(10.56, e5m10)
    """
    from subprocess import CalledProcessError

    from ._compiler import compiled, compiler

    if not isinstance(text, str):
        raise TypeError(f"text = {text!r}: C++ statements that set mp from ma and mb are wanted")
    called = "product" if name is None else f"product {name!r}"
    if not re.search(r"\bmp\b", text):
        raise ValueError(f"{called}: {text!r} does not set mp, as 'mp = uint128(ma) * mb;' would")
    try:
        address = compiled(text, compiler())
    except CalledProcessError as error:
        raise ValueError(f"{called}: {error.cmd[0]} does not compile it:\n{error.stderr}") from None
    return Product(text, name, core.TextProduct(core.product_source(text), address))


def bound_multiplier(multiplier: Multiplier) -> Any:
    """As the core takes it."""
    if isinstance(multiplier, Product):
        if "cuda" in core.engine_names():
            from ._compiler import offer_nvrtc

            offer_nvrtc()
        return multiplier._core
    if multiplier is not None and not isinstance(multiplier, str) and not callable(multiplier):
        raise TypeError(
            f"multiplier = {multiplier!r}: a name is wanted, as 'mitchell', or a function "
            "(ma, mb) -> m of integers, or C++ text as ww.product takes it"
        )
    return multiplier
