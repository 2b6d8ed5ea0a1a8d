"""Files of the commands: .npy, .npz and .safetensors, in and out."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _safetensors
from .. import _widthwise as core
from .._array import Array
from .._files import restored, stored

# Codes as Arrays, values as float64.
Content = Array | np.ndarray


def load(argument: str, path: str) -> Any:
    """An array, or a dict of several; of numbers on stdin their texts."""
    data = sys.stdin.buffer.read() if path == "-" else contents(argument, path)
    if path == "-" and not data.startswith((b"\x93NUMPY", b"PK")):
        return np.array(data.decode().split(), dtype=object)
    try:
        return _safetensors.parse(data) if path.endswith(".safetensors") else arrays(data)
    except ValueError as why:
        raise ValueError(f"{argument} = {path}: {why}") from None


def arrays(data: bytes) -> Any:
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
        several = {} if isinstance(found, np.ndarray) else {name: found[name] for name in found}
    except (ValueError, EOFError):
        raise ValueError("this is no array of numbers; write it with np.save or np.savez") from None
    if isinstance(found, np.ndarray):
        return restored("it", found)
    return {name: restored(name, a) for name, a in several.items()}


def contents(argument: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as why:
        raise ValueError(
            f"{argument} = {path}: {why.strerror or why}; name a .npy, .npz or .safetensors file"
        ) from None


def load_array(argument: str, path: str) -> Any:
    a = load(argument, path)
    if isinstance(a, dict):
        raise ValueError(f"{argument} = {path}: this holds several arrays; name a .npy file")
    return a


def save(argument: str, path: str, content: Content | Mapping[str, Content]) -> None:
    """The whole file or nothing; the old one stays where writing fails."""
    several = isinstance(content, Mapping)
    endings = (".npz", ".safetensors") if several else (".npy",)
    if not path.endswith(endings):
        raise ValueError(
            f"{argument} = {path}: a name that ends in {' or '.join(endings)} is wanted"
        )
    if path.endswith(".safetensors"):
        write(argument, path, _safetensors.text(content))  # type: ignore[arg-type]
        return
    data = io.BytesIO()
    if isinstance(content, Mapping):
        np.savez(data, **{name: stored(x) for name, x in content.items()})  # type: ignore[arg-type]
    else:
        np.save(data, stored(content))
    write(argument, path, data.getvalue())


def write(argument: str, path: str, data: bytes) -> None:
    try:
        core.write_file(path, data)
    except OSError as why:
        raise ValueError(f"{argument} = {path}: {why.strerror or why}") from None
