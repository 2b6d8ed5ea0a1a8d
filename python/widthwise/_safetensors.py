"""Files of tensors as Hugging Face's libraries exchange them: a header in JSON, then the bytes.

The layout: github.com/huggingface/safetensors, "Format".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._array import Array
from ._create import code_array
from ._format import Format

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
INTEGERS = {f"{kind}{8 * n}": f"<{kind.lower()}{n}" for kind in "UI" for n in (1, 2, 4, 8)}


def parse(data: bytes) -> dict[str, Any]:
    """Tensors by name: floats as Arrays of their format, integers as NumPy's.

    Raises:
        ValueError: it is no such file, or a tensor's type is neither.
    """
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        header.pop("__metadata__", None)
        return {name: tensor(name, facts, body) for name, facts in header.items()}
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError("this is no safetensors file: its header is not whole") from None


def tensor(name: str, facts: Mapping[str, Any], body: memoryview) -> Any:
    first, last = facts["data_offsets"]
    kind = facts["dtype"]
    if kind not in FLOATS and kind not in INTEGERS:
        raise ValueError(f"{name} holds {kind}; {', '.join([*FLOATS, *INTEGERS])} are read")
    format = Format(FLOATS[kind]) if kind in FLOATS else None
    dtype = format.dtype if format else np.dtype(INTEGERS[kind])
    values = np.frombuffer(body[first:last], dtype).reshape(facts["shape"])
    return code_array(name, values, format) if format else values


def text(tensors: Mapping[str, Array | np.ndarray]) -> bytes:
    """The file. Codes of a format that has no type there are unsigned integers, and the metadata
    name the format."""
    header: dict[str, Any] = {}
    metadata, body = {}, b""
    for name, x in tensors.items():
        kind, codes = typed(x)
        if isinstance(x, Array) and kind not in FLOATS:
            metadata[name] = str(x.format)
        part = np.ascontiguousarray(codes).tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(codes.shape),
            "data_offsets": [len(body), len(body) + len(part)],
        }
        body += part
    if metadata:
        header["__metadata__"] = metadata
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)  # the bytes of tensors are aligned
    return len(head).to_bytes(8, "little") + head + body


def typed(x: Array | np.ndarray) -> tuple[str, np.ndarray]:
    codes = x.bits if isinstance(x, Array) else x
    formats = {str(Format(format)): kind for kind, format in FLOATS.items()}
    if isinstance(x, Array) and str(x.format) in formats:
        return formats[str(x.format)], codes
    if codes.dtype == np.float64:
        return "F64", codes
    return f"U{8 * codes.itemsize}", codes
