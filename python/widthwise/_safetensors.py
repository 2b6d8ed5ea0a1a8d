"""Files of tensors as Hugging Face's libraries exchange them: a header in JSON, then the bytes.

The layout: github.com/huggingface/safetensors, "Format". Codes of a format that has no type there
are unsigned integers; which format a tensor is of stands in the metadata, under FORMATS.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._array import Array
from ._create import code_array
from ._format import Format
from ._formats import portable

FORMATS = "widthwise.formats"  # metadata: a JSON object, the formats of tensors by name
QUANTISED = "widthwise.quantized"  # likewise of tensors that have scales or lie without gaps
FLOATS = {
    "F64": "binary64",
    "F32": "binary32",
    "F16": "binary16",
    "BF16": "bfloat16",
    "F8_E4M3": "e4m3fn",
    "F8_E5M2": "e5m2",
    "F8_E4M3FNUZ": "e4m3fnuz",
    "F8_E5M2FNUZ": "e5m2fnuz",
    "F8_E8M0": "e8m0fnu",
}
OTHERS = {f"{kind}{8 * n}": f"<{kind.lower()}{n}" for kind in "UI" for n in (1, 2, 4, 8)}
OTHERS |= {"BOOL": "|b1", "C64": "<c8"}
BROKEN = "this is no safetensors file: its header is not whole"
LONGEST_HEADER = 100_000_000  # bytes; the library's own limit


class Raw(NamedTuple):
    """A tensor of a type that NumPy has not, as F4: its bytes as they are."""

    kind: str
    shape: tuple[int, ...]
    data: memoryview


class Checkpoint(Mapping[str, Any]):
    """A file's tensors by name, each read where it is asked for: floats as Arrays of their format,
    integers and truths as NumPy's, what is neither as Raw.

    Raises:
        ValueError: it is no such file, or a tensor lies outside it.
    """

    def __init__(self, data: Any) -> None:
        view = memoryview(data)
        self._map = data if isinstance(data, mmap.mmap) else None
        try:
            length = int.from_bytes(view[:8], "little")
            if length > min(len(view) - 8, LONGEST_HEADER):
                raise ValueError(BROKEN)
            header = json.loads(bytes(view[8 : 8 + length]))
            self.metadata: dict[str, str] = dict(header.pop("__metadata__", None) or {})
            self._body = view[8 + length :]
            self._facts = {name: self._checked(name, facts) for name, facts in header.items()}
            self.formats = json.loads(self.metadata.pop(FORMATS, "{}"))
            self.quantised = dict(json.loads(self.metadata.pop(QUANTISED, "{}")))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError(BROKEN) from None

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Checkpoint:
        """The file itself is not read before its tensors are."""
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ValueError(BROKEN)
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def _checked(self, name: str, facts: Any) -> tuple[str, tuple[int, ...], int, int]:
        kind, shape = facts["dtype"], tuple(facts["shape"])
        first, last = facts["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, first, last)):
            raise ValueError(BROKEN)
        dtype = dtype_of(kind)
        size = None if dtype is None else math.prod(shape) * dtype.itemsize
        if not first <= last <= len(self._body) or size not in (None, last - first):
            raise ValueError(
                f"{name} is {kind} of shape {shape} at bytes {first} to {last} of "
                f"{len(self._body)}; the file is cut short, or its header is wrong"
            )
        return kind, shape, first, last

    def kind(self, name: str) -> str:
        """A tensor's type as the file names it."""
        return self._facts[name][0]

    def size(self, name: str) -> int:
        """A tensor's bytes."""
        _, _, first, last = self._facts[name]
        return last - first

    def raw(self, name: str) -> np.ndarray:
        """A tensor's items as NumPy's, floats' as codes."""
        kind, shape, first, last = self._facts[name]
        dtype = dtype_of(kind)
        if dtype is None:
            raise ValueError(f"{name} is {kind}, which is not read here")
        return np.frombuffer(self._body[first:last], dtype).reshape(shape)

    def forget(self) -> None:
        """Give back the memory that pages of the file have taken; they are read once more."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def __getitem__(self, name: str) -> Any:
        kind, shape, first, last = self._facts[name]
        dtype = dtype_of(kind)
        if dtype is None:
            return Raw(kind, shape, self._body[first:last])
        values = self.raw(name)
        text = self.formats.get(name, FLOATS.get(kind))
        if text is None:
            return values
        format = Format(text)
        if dtype.kind == "f":
            values = values.view(format.dtype)
        return code_array(name, values, format)

    def __contains__(self, name: object) -> bool:
        return name in self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


def dtype_of(kind: str) -> np.dtype | None:
    """Of a type's items, floats' codes; None of a type that is not read."""
    if kind in FLOATS:
        return Format(FLOATS[kind]).dtype
    return np.dtype(OTHERS[kind]) if kind in OTHERS else None


class Entry(NamedTuple):
    """A tensor to be written: its type there, the shape of its items, its bytes, its format."""

    name: str
    kind: str
    shape: tuple[int, ...]
    size: int
    format: str | None = None


def entry(name: str, x: Any) -> Entry:
    """Of an Array, a NumPy array or Raw."""
    if isinstance(x, Raw):
        return Entry(name, x.kind, x.shape, len(x.data))
    if isinstance(x, Array):
        return entry_of_codes(name, x.format, x.shape)
    if not isinstance(x, np.ndarray | np.generic):
        raise ValueError(
            f"{name} holds {type(x).__name__}, which a safetensors file does not; name a .npz"
        )
    kind = next((k for k, t in OTHERS.items() if np.dtype(t) == x.dtype), None)
    if kind is None and x.dtype.kind == "f" and x.dtype.itemsize <= 8:
        kind = f"F{8 * x.dtype.itemsize}"
    if kind is None:
        raise ValueError(f"{name} holds {x.dtype}, which a safetensors file does not; name a .npz")
    return Entry(name, kind, x.shape, x.nbytes)


def entry_of_codes(name: str, format: Format, shape: tuple[int, ...]) -> Entry:
    """Codes as the type that has their encoding, or as unsigned integers; wide ones as limbs."""
    limbs = () if format.limbs == 1 else (format.limbs,)
    size = math.prod((*shape, *limbs)) * format.dtype.itemsize
    kind = kinds().get(encoding(format), f"U{8 * format.dtype.itemsize}")
    own = kind in FLOATS and Format(FLOATS[kind]) == format
    return Entry(name, kind, (*shape, *limbs), size, None if own else portable(format))


def kinds() -> dict[str, str]:
    return {str(Format(format)): kind for kind, format in FLOATS.items()}


def encoding(format: Format) -> str:
    """The format without its policies, which leave the codes what they are."""
    parts = [x for x in str(format).split(";") if not x.startswith(("daz", "ftz", "overflow"))]
    return str(Format(";".join(parts)))


def in_place(entries: Iterable[Entry]) -> list[Entry]:
    """In the order that they are written: the longest items first, so that all are aligned."""

    def item(x: Entry) -> int:
        dtype = dtype_of(x.kind)
        return -dtype.itemsize if dtype else 0

    return sorted(entries, key=item)


def head(entries: Iterable[Entry], metadata: Mapping[str, str]) -> bytes:
    """What stands before the bytes of tensors that lie in this order."""
    header: dict[str, Any] = {}
    formats = {x.name: x.format for x in entries if x.format is not None}
    told = {**metadata, **({FORMATS: json.dumps(formats)} if formats else {})}
    if told:
        header["__metadata__"] = told
    at = 0
    for x in entries:
        header[x.name] = {
            "dtype": x.kind,
            "shape": list(x.shape),
            "data_offsets": [at, at + x.size],
        }
        at += x.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the bytes of tensors are aligned
    return len(text).to_bytes(8, "little") + text
