"""Blocks in NumPy's files: one record, `a["nvfp4 axis=-1"]["elements"]` to anybody."""

from __future__ import annotations

import re

import numpy as np

from .blocks import Blocks

NAME = re.compile(r"(.*) axis=(-?\d+)")


def of_record(name: str, a: np.ndarray) -> Blocks:
    """What `Blocks.as_record` made."""
    (field,) = a.dtype.names or ("",)
    told = NAME.fullmatch(field)
    if told is None or a.shape != ():
        raise ValueError(f"{name} holds a record {field!r}, which is no Blocks of ours")
    parts = a[field]
    names = set(parts.dtype.names or ())
    if not {"elements", "scales"} <= names:
        raise ValueError(f"{name} is named {field!r} and has no elements and scales")
    scale = parts["tensor_scale"] if "tensor_scale" in names else None
    try:
        return Blocks.of(
            parts["elements"], parts["scales"], told[1], axis=int(told[2]), tensor_scale=scale
        )
    except (ValueError, TypeError) as why:
        raise ValueError(f"{name}: {why}") from None
