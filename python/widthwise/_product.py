"""Products of one's own as C++ text: one function, for the CPU's engines and for a GPU."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import _widthwise as core

# Floats as IEEE 754 has them, no name that nobody defines, and none of what a GPU cannot do.
OPTIONS = (
    *("-std=c++17", "-O2", "-w", "-fdiagnostics-color=never"),
    *("-ffp-contract=off", "-fno-exceptions", "-fno-rtti"),
    *("-shared", "-fPIC", "-Wl,-z,defs", "-x", "c++", "-"),
)


class Product:
    """A product of two significands, compiled from text. `ww.product` makes it."""

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

    def __reduce__(self) -> tuple:
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
        RuntimeError: there is no compiler.

    >>> import widthwise as ww
    >>> coarse = ww.product("mp = uint128(ma >> 2) * (mb >> 2) << 4;", "coarse")
    >>> coarse(13, 6), coarse
    (48, ww.product('mp = uint128(ma >> 2) * (mb >> 2) << 4;', name='coarse'))
    >>> x = ww.array([1.25, 3], "e5m10")
    >>> ww.dot(x, x, unit="mac(e5m10)", multiplier=coarse)
    Array(10.56, e5m10)
    """
    if not isinstance(text, str):
        raise TypeError(f"text = {text!r}: C++ statements that set mp from ma and mb are wanted")
    called = "product" if name is None else f"product {name!r}"
    if not re.search(r"\bmp\b", text):
        raise ValueError(f"{called}: {text!r} does not set mp, as 'mp = uint128(ma) * mb;' would")
    try:
        address = compiled(text, compiler())
    except subprocess.CalledProcessError as error:
        raise ValueError(f"{called}: {error.cmd[0]} does not compile it:\n{error.stderr}") from None
    return Product(text, name, core.TextProduct(core.product_source(text), address))


def compiler() -> tuple[str, ...]:
    """The command, its program by its whole path."""
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if path := shutil.which(command[0]):
            return (path, *command[1:])
    looked = f"CXX={named[0]}, which is not there" if named else "no c++, g++ or clang++ on PATH"
    raise RuntimeError(
        f"ww.product needs a C++ compiler: {looked}. Install one, or name one in CXX; "
        "multiplier= takes a Python function (ma, mb) -> m without one"
    )


@functools.cache
def compiled(text: str, command: tuple[str, ...]) -> int:
    """Where the function lies. Its library stays loaded, its file does not outlive the loading."""
    with tempfile.TemporaryDirectory(prefix="widthwise-") as folder:
        Path(folder, "product").write_text(text)  # for the compiler to show lines of
        library = Path(folder, "product.so")
        subprocess.run(
            [*command, *OPTIONS, "-o", str(library)],
            input=core.product_source(text),
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
        )
        function = ctypes.CDLL(str(library)).widthwise_product
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


@functools.cache
def offer_nvrtc() -> None:
    """Loads PyPI's NVRTC, the newest: the engine then finds it by its name."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations or [] if spec else []
    found = [path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.1?")]
    if not found:
        return
    newest = max(found, key=lambda path: path.name)
    with contextlib.suppress(OSError):
        for path in [*newest.parent.glob("libnvrtc-builtins.so.*"), newest]:  # it looks for those
            ctypes.CDLL(str(path))
