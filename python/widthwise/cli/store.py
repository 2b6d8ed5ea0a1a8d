"""Files of the commands: .npy, .npz and .safetensors, in and out."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np

from .._array import Array
from .._files import broken, replacing, restored, stored
from .._safetensors import Checkpoint, Entry, head, in_place

FAULTS: tuple[type[Exception], ...] = (ValueError, *broken())
UNREADABLE = "this is no array of numbers; write it with np.save or np.savez"


class Archive(Mapping[str, Any]):
    """A .npz's arrays by name, each read where it is asked for."""

    def __init__(self, file: Any, where: str) -> None:
        self._content = file
        self._where = where

    def __getitem__(self, name: str) -> Any:
        try:
            return restored(name, self._content[name])
        except FAULTS as why:
            fault = why if isinstance(why, ValueError) and "pickle" not in str(why) else UNREADABLE
            raise ValueError(f"{self._where}, {name}: {fault}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._content.files)

    def __len__(self) -> int:
        return len(self._content.files)


def load(argument: str, path: str) -> Any:
    """An array, or a mapping of several; of numbers on stdin their texts."""
    try:
        if path != "-":
            if path.endswith(".safetensors"):
                return Checkpoint.of_file(path)
            return arrays(path, f"{argument} = {path}")
        data = sys.stdin.buffer.read()
        if not data.startswith((b"\x93NUMPY", b"PK")):
            if texts := data.decode().replace(",", " ").split():
                return np.array(texts, dtype=object)
            raise ValueError("no number came; write some, by blanks, commas or lines")
        return arrays(io.BytesIO(data), f"{argument} = {path}")
    except OSError as why:
        raise ValueError(f"{argument} = {path}: {unread(path, why)}") from None
    except ValueError as why:
        raise ValueError(f"{argument} = {path}: {why}") from None


def unread(path: str, why: OSError) -> str:
    said = f"{why.strerror or why}; name a .npy, .npz or .safetensors file"
    return f"{said} in it" if os.path.isdir(path) else said


def arrays(file: Any, where: str) -> Any:
    try:
        found = np.load(file, allow_pickle=False)
    except FAULTS:
        raise ValueError(UNREADABLE) from None
    return restored("it", found) if isinstance(found, np.ndarray) else Archive(found, where)


def load_array(argument: str, path: str) -> Any:
    a = load(argument, path)
    if isinstance(a, Mapping):
        raise ValueError(f"{argument} = {path}: this holds several arrays; name a .npy file")
    return a


# --- Writing -------------------------------------------------------------------------------------


def check_name(argument: str, path: str, endings: tuple[str, ...]) -> None:
    if not path.endswith(endings):
        raise ValueError(
            f"{argument} = {path}: a name that ends in {' or '.join(endings)} is wanted"
        )


def check_other(argument: str, path: str, inputs: Mapping[str, str], otherwise: str = "") -> None:
    """That what is written takes the place of nothing that is read, through links neither."""
    for name, read in inputs.items():
        if path != "-" and read != "-" and is_same(path, read):
            what = name if path == read else f"{name} = {read}"
            raise ValueError(
                f"{argument} = {path}: that is {what}, which would be overwritten; name another "
                f"file{otherwise}"
            )


def is_same(a: str, b: str) -> bool:
    if os.path.realpath(a) == os.path.realpath(b):
        return True
    try:
        return os.path.samefile(a, b)
    except OSError:  # one is not there
        return False


def save(argument: str, path: str, content: Array | np.ndarray) -> None:
    """One array as .npy: the whole file or nothing; the old one stays where writing fails."""
    check_name(argument, path, (".npy",))
    whole(argument, path, lambda file: np.save(file, stored(content)))


def save_archive(argument: str, path: str, content: Iterable[tuple[str, Any]]) -> None:
    """A .npz of arrays that are made as they are written."""

    def fill(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, x in content:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, stored(x), allow_pickle=False)

    whole(argument, path, fill)


def save_checkpoint(
    argument: str,
    path: str,
    entries: list[Entry],
    metadata: Mapping[str, str],
    made: Iterable[tuple[str, memoryview]],
) -> None:
    """A .safetensors file of these tensors, whose bytes are written as they are made: of each in
    order, of several in any."""
    placed = in_place(entries)

    def fill(file: BinaryIO) -> None:
        begin = head(placed, metadata)
        file.write(begin)
        *starts, _ = ends = list(accumulate([len(begin), *(x.size for x in placed)]))
        at = dict(zip((x.name for x in placed), starts, strict=True))
        for name, piece in made:
            file.seek(at[name])
            file.write(piece)
            at[name] += len(piece)
        assert list(at.values()) == ends[1:], "a tensor was not written to its end"

    whole(argument, path, fill)


def write(argument: str, path: str, data: bytes) -> None:
    whole(argument, path, lambda file: file.write(data))


def whole(argument: str, path: str, fill: Callable[[BinaryIO], Any]) -> None:
    try:
        with replacing(path) as file:
            fill(file)
    except OSError as why:
        folder = os.path.dirname(path)
        if folder and not os.path.exists(folder):
            raise ValueError(f"{argument} = {path}: there is no folder {folder}") from None
        raise ValueError(
            f"{argument} = {path}: {why.strerror or why}; whatever stood there is unchanged"
        ) from None
