"""What a checkpoint holds: tensors, their formats and scales, the bits of a number."""

from __future__ import annotations

import argparse
import math
from typing import Any

from .._files import INDEX
from .._table import Table
from ..containers.stored import Kept, scales_of
from . import output
from .globs import held
from .shards import Group, Source

COLUMNS = {
    "array": "tensor",
    "holds": "holds",
    "scale": "scale",
    "was": "was",
    "shape": "shape",
    "numbers": "numbers",
    "bytes": "bytes",
    "bits": "bits",
}


def is_checkpoint(text: str) -> bool:
    return text.endswith((".safetensors", INDEX))


def run(options: argparse.Namespace) -> int:
    source = Source.of("FILE", options.text)
    rows = [row for group in source.groups for row in rows_of(group)]
    size = sum(row["bytes"] for row in rows)
    facts = {"file": options.text, "tensors": rows, "bytes": size, "metadata": metadata(source)}
    facts |= {"files": [group.file for group in source.groups]} if source.index is not None else {}
    output.show(options, facts, text_of(facts))
    return 0


def rows_of(group: Group) -> list[dict[str, Any]]:
    """A row a tensor; those of scales belong to what they scale."""
    kept = group.kept
    parts = {name for x in kept.values() for name in x.parts.values()} - set(kept)
    return [row_of(group, name, kept.get(name)) for name in group.tensors if name not in parts]


def row_of(group: Group, name: str, kept: Kept | None) -> dict[str, Any]:
    size = sum(group.tensors.size(part) for part in (kept.parts.values() if kept else [name]))
    x = group.tensors[name]
    shape = kept.shape if kept else x.shape
    numbers = math.prod(shape)
    return {
        "array": name,
        "holds": kept.format if kept else held(x),
        "scale": scales_of(kept.format, kept.scale) if kept else "",
        "was": kept.dtype if kept else "",
        "shape": list(shape),
        "numbers": numbers,
        "bytes": size,
        "bits": round(8 * size / numbers, 3) if numbers else 0.0,
    }


def metadata(source: Source) -> dict[str, str]:
    return {key: x for group in source.groups for key, x in group.tensors.metadata.items()}


def text_of(facts: dict[str, Any]) -> str:
    rows = [[shown(row[key]) for key in COLUMNS] for row in facts["tensors"]]
    quantised = [row for row in facts["tensors"] if row["was"]]
    numbers = sum(row["numbers"] for row in quantised)
    bits = 8 * sum(row["bytes"] for row in quantised) / max(1, numbers)
    lines = [f"{len(rows)} tensors, {facts['bytes']} bytes"]
    if quantised:
        lines.append(
            f"{len(quantised)} of them quantised: {numbers} numbers, {bits:.2f} bits each with "
            "their scales"
        )
    lines += [f"{key}: {value}" for key, value in facts["metadata"].items()]
    return "\n\n".join([facts["file"], str(Table(list(COLUMNS.values()), rows)), "\n".join(lines)])


def shown(x: Any) -> Any:
    return str(tuple(x)) if isinstance(x, list) else x
