"""The machine's C++ compiler, and NVIDIA's, for `ww.product`. Imported when there is a text."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import _widthwise as core

# Floats as IEEE 754 has them, no name that nobody defines, and none of what a GPU cannot do.
OPTIONS = (
    *("-std=c++17", "-O2", "-w", "-fdiagnostics-color=never"),
    *("-ffp-contract=off", "-fno-exceptions"),
    *("-shared", "-fPIC", "-Wl,-z,defs", "-x", "c++", "-"),
)


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
        library = Path(folder, "product.so")
        Path(folder, "product").write_text(text, encoding="utf-8")  # the compiler shows its lines
        subprocess.run(
            [*command, *OPTIONS, "-o", str(library)],
            input=core.product_source(text),
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
        )
        try:
            function = ctypes.CDLL(str(library)).widthwise_product
        except OSError as error:
            raise RuntimeError(
                f"what {command[0]} made for ww.product cannot be loaded: {error}. If its folder "
                "allows no programs, name another one in TMPDIR"
            ) from None
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
