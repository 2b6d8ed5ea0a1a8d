"""Arrays of a file: chosen by their names, and told of."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from .._array import Array
from .._safetensors import Raw
from ..containers.recorded import Recorded


def matches(name: str, patterns: list[str] | None) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns or [])


def check_patterns(options: argparse.Namespace, source: Any) -> None:
    for option in ("include", "exclude"):
        for pattern in getattr(options, option) or []:
            if not isinstance(source, Mapping):
                raise ValueError(f"--{option} = {pattern}: IN holds one array, which has no name")
            if not any(fnmatchcase(name, pattern) for name in source):
                names = ", ".join(list(source)[:5]) + (", …" if len(source) > 5 else "")
                raise ValueError(
                    f"--{option} = {pattern}: IN holds no array of such a name: {names}"
                )


def held(x: Any) -> str:
    if isinstance(x, Raw):
        return x.kind
    if isinstance(x, Recorded):
        return type(x).__name__
    return str(x.format) if isinstance(x, Array) else str(x.dtype)
