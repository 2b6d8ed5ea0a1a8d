"""Checkpoints in one file or in several, which an index lists as Hugging Face's libraries have it.

The index: a JSON object whose "weight_map" has each tensor's file by its name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ._files import INDEX as INDEX
from ._safetensors import Checkpoint

NO_INDEX = "this is no index of a checkpoint: a JSON object with the files of tensors, weight_map"


class Shards(Mapping[str, Any]):
    """Tensors by name, whichever file they lie in.

    Raises:
        ValueError: the index is none, or names a file or a tensor that is not there.
    """

    def __init__(self, folder: str, index: Mapping[str, Any]) -> None:
        self.metadata = dict(index.get("metadata") or {})
        self.files = {file: opened(folder, file) for file in files_of(index["weight_map"])}
        self._file_of = {name: file for file, x in self.files.items() for name in x}
        check(index["weight_map"], self.files)

    @classmethod
    def of_index(cls, path: str | os.PathLike[str]) -> Shards:
        """The files are opened, not read."""
        with open(path, "rb") as file:
            text = file.read()
        try:
            return cls(os.path.dirname(os.path.realpath(path)), json.loads(text))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError(NO_INDEX) from None

    def __getitem__(self, name: str) -> Any:
        return self.files[self._file_of[name]][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._file_of)

    def __len__(self) -> int:
        return len(self._file_of)


def files_of(names: Mapping[str, str]) -> list[str]:
    """Each once, in order of their names."""
    files = sorted(set(names.values()))
    for file in files:
        if file in (".", "..") or os.path.basename(file) != file or not file:
            raise ValueError(f"the index names the file {file!r}, which is none beside it")
    return files


def opened(folder: str, file: str) -> Checkpoint:
    try:
        return Checkpoint.of_file(os.path.join(folder, file))
    except OSError as why:
        raise ValueError(f"the index names {file}: {why.strerror}") from None
    except ValueError as why:
        raise ValueError(f"{file}: {why}") from None


def check(names: Mapping[str, str], files: Mapping[str, Checkpoint]) -> None:
    """The index and its files have the same tensors."""
    for name, file in names.items():
        if name not in files[file]:
            raise ValueError(f"the index says that {name} is in {file}; it is not")
    for file, tensors in files.items():
        for name in tensors:
            if names.get(name) != file:
                raise ValueError(f"{file} holds {name}, which the index does not say of it")


def index_text(names: Mapping[str, str], metadata: Mapping[str, Any], size: int) -> bytes:
    """An index of these files by tensor, whose bytes are so many in all."""
    content = {"metadata": {**metadata, "total_size": size}, "weight_map": dict(names)}
    return (json.dumps(content, indent=2) + "\n").encode()
