"""Where a checkpoint comes from and goes to: one file, or several that an index lists."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from .._format import Format
from .._safetensors import Checkpoint, Entry
from .._shards import INDEX, Shards, index_text
from ..containers.chunks import Cut, pieces_of
from ..containers.numbers import holds
from ..containers.stored import Kept, Reader, kept_in
from .store import check_name, save_checkpoint, write


class Group(NamedTuple):
    """The tensors of one file."""

    file: str
    tensors: Checkpoint

    @property
    def kept(self) -> dict[str, Kept]:
        """What its metadata tell of those that are quantised."""
        try:
            return kept_in(self.tensors)
        except ValueError as why:
            raise ValueError(f"{self.file}: {why}") from None

    def bare_codes(self) -> dict[str, Kept]:
        """Codes that lie as integers each, in a format without scales: what plain rounding made."""
        found = {}
        for name, format in self.tensors.formats.items():
            f = Format(format)
            dtype = "F32" if holds("e8m23", f) else "F64"
            found[name] = Kept(format, "none", self.tensors[name].shape, dtype, {"codes": name})
        return found

    def values(self, name: str, kept: Kept) -> tuple[list[Cut], Callable[[Cut], Any]]:
        """The pieces of a quantised tensor, and each one's values: in binary64, bare codes as they
        are."""
        if name in self.tensors.formats:
            return list(pieces_of(kept.shape)), lambda cut: self.tensors[name][cut]
        reader = Reader(kept, self.tensors.raw)
        return reader.cuts(), reader.values


class Source(Mapping[str, Any]):
    """All tensors of a checkpoint, by groups that lie in a file each."""

    def __init__(self, path: str, groups: list[Group], index: Mapping[str, Any] | None) -> None:
        self.path = path
        self.groups = groups
        self.index = index  # metadata of the index, if there is one

    @classmethod
    def of(cls, argument: str, path: str) -> Source:
        try:
            if path.endswith(INDEX):
                shards = Shards.of_index(path)
                groups = [Group(file, x) for file, x in shards.files.items()]
                return cls(path, groups, shards.metadata)
            return cls(path, [Group(os.path.basename(path), Checkpoint.of_file(path))], None)
        except OSError as why:
            raise ValueError(f"{argument} = {path}: {why.strerror or why}") from None
        except ValueError as why:
            raise ValueError(f"{argument} = {path}: {why}") from None

    @property
    def files(self) -> list[str]:
        """The paths of all that it is read from."""
        folder = os.path.dirname(self.path)
        return [self.path, *(os.path.join(folder, group.file) for group in self.groups)]

    @staticmethod
    def is_quantised(path: str) -> bool:
        """Whether a file's metadata tell of tensors with scales."""
        try:
            return bool(Checkpoint.of_file(path).quantised)
        except (OSError, ValueError):
            return False  # which reading it tells more of

    def __getitem__(self, name: str) -> Any:
        return next(group.tensors[name] for group in self.groups if name in group.tensors)

    def __iter__(self) -> Iterator[str]:
        return (name for group in self.groups for name in group.tensors)

    def __len__(self) -> int:
        return sum(len(group.tensors) for group in self.groups)


class File:
    """A file that is written, and the groups that it is made of."""

    def __init__(self, target: Target, path: str, groups: list[Group]) -> None:
        self.target = target
        self.path = path
        self.groups = groups

    def metadata(self) -> dict[str, str]:
        merged: dict[str, str] = {}
        for group in self.groups:
            for key, value in group.tensors.metadata.items():
                if merged.setdefault(key, value) != value:
                    raise ValueError(
                        f"IN: its files disagree about the metadata {key}: {merged[key]!r} and "
                        f"{value!r}; name an OUT that ends in {INDEX}"
                    )
        return merged

    def write(
        self,
        entries: list[Entry],
        metadata: Mapping[str, str],
        made: Iterable[tuple[str, memoryview]],
    ) -> None:
        save_checkpoint(self.target.argument, self.path, entries, metadata, made)
        self.target.written.append(self.path)
        self.target.sizes |= {x.name: x.size for x in entries}
        self.target.file_of |= {x.name: os.path.basename(self.path) for x in entries}


class Target:
    """A file that takes the place of an older one when it is whole; or files by new names, and an
    index that takes the place of an older one when they are."""

    def __init__(self, argument: str, path: str, index: str | None) -> None:
        self.argument = argument
        self.path = path
        self.index = index
        self.written: list[str] = []
        self.sizes: dict[str, int] = {}
        self.file_of: dict[str, str] = {}
        self.unnamed: list[str] = []

    @classmethod
    def of(cls, argument: str, path: str, source: Source) -> Target:
        if path.endswith(INDEX) or (source.index is not None and is_folder(path)):
            if source.index is None:
                raise ValueError(
                    f"{argument} = {path}: IN is one file, and so is what becomes of it; name a "
                    ".safetensors file"
                )
            name = os.path.basename(source.path)
            return cls(argument, path, path if path.endswith(INDEX) else os.path.join(path, name))
        check_name(argument, path, (".safetensors", INDEX))
        return cls(argument, path, None)

    def files(self, source: Source) -> Iterator[File]:
        """Those to be written, one after the other."""
        if self.index is None:
            yield File(self, self.path, source.groups)
            return
        folder = os.path.dirname(self.index) or "."
        self._make(folder)
        for group in source.groups:
            yield File(self, free_name(folder, group.file), [group])

    def finish(self, source: Source) -> None:
        """The index, after which the new files are what it names."""
        if self.index is None or source.index is None:
            return
        before = named_by(self.index)
        text = index_text(self.file_of, source.index, sum(self.sizes.values()))
        write(self.argument, self.index, text)
        self.unnamed = sorted(before - set(self.file_of.values()))

    def _make(self, folder: str) -> None:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as why:
            raise ValueError(f"{self.argument} = {self.path}: {why.strerror or why}") from None

    def __enter__(self) -> Target:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        """Where one file fails, those before it go, too; the old index has its own."""
        for path in self.written if kind is not None and self.index is not None else ():
            with suppress(OSError):
                os.unlink(path)


def is_folder(path: str) -> bool:
    return path.endswith("/") or os.path.isdir(path) or not os.path.splitext(path)[1]


def free_name(folder: str, file: str) -> str:
    """No file that an older index may name is touched: where one stands, another name is taken."""
    stem = file.removesuffix(".safetensors")
    path, number = os.path.join(folder, file), 2
    while os.path.lexists(path):
        path = os.path.join(folder, f"{stem}.{number}.safetensors")
        number += 1
    return path


def named_by(index: str) -> set[str]:
    """The files of an index that is about to be replaced, if it is one."""
    try:
        with open(index, "rb") as file:
            return set(json.load(file)["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()
