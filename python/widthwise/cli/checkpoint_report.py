"""What is told of a checkpoint that was quantised: a table, JSON, a page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .._table import Table
from ..containers.stored import Kept, scales_of
from . import output
from .store import write
from .tally import Told

COLUMNS = {
    "array": "array",
    "format": "format",
    "scale": "scale",
    "numbers": "numbers",
    "bytes": "bytes",
    "largest_error": "largest error",
    "mean_error": "mean error",
    "snr_db": "SNR, dB",
    "zero": "zero",
    "saturated": "saturated",
    "infinite": "infinite",
    "nan": "NaN",
}


def show(
    options: argparse.Namespace, target: Any, planned: list[Any], told: Mapping[str, Told]
) -> None:
    facts = {
        "format": options.format,
        "arrays": [x.facts() for x in told.values()],
        "untouched": [untouched(x) for x in planned if x.scheme is None],
        "files": sorted(set(target.file_of.values())),
        "bytes_before": sum(x.before for x in planned),
        "bytes_after": sum(target.sizes.values()),
        **unnamed(target),
    }
    if options.html:
        from ..display.checkpoint import page

        made = page(options.source, facts, COLUMNS, untouched_rows(facts))
        write("--html", options.html, made.encode())
    output.show(options, facts, text(facts))


def untouched(x: Any) -> dict[str, Any]:
    return {"array": x.name, "holds": x.holds, "shape": list(x.shape), "why": x.how.keep}


def unnamed(target: Any) -> dict[str, Any]:
    return {"no_longer_named": target.unnamed} if target.unnamed else {}


def text(facts: Mapping[str, Any]) -> str:
    """The table, what passed, sums, and files that nothing names any more."""
    rows = [[row[key] for key in COLUMNS] for row in facts["arrays"]]
    parts = [str(Table(list(COLUMNS.values()), rows))]
    if facts["untouched"]:
        parts.append(str(Table(["untouched", "holds", "shape", "why"], untouched_rows(facts))))
    parts.append(sentence(facts))
    if "no_longer_named" in facts:
        parts.append(f"the index no longer names {', '.join(facts['no_longer_named'])}")
    return "\n\n".join(parts)


def untouched_rows(facts: Mapping[str, Any]) -> list[list[Any]]:
    kept = facts["untouched"]
    return [[x["array"], x["holds"], str(tuple(x["shape"])), x["why"]] for x in kept]


def sentence(facts: Mapping[str, Any]) -> str:
    before, after = facts["bytes_before"], facts["bytes_after"]
    numbers, tensors = sum(row["numbers"] for row in facts["arrays"]), len(facts["arrays"])
    bits = 8 * sum(row["bytes"] for row in facts["arrays"]) / max(1, numbers)
    return (
        f"{numbers} numbers of {tensors} tensor{'s' * (tensors != 1)}, {bits:.2f} bits each with "
        f"their scales; {before} bytes became {after}, {after / max(1, before):.1%}"
    )


def show_back(
    options: argparse.Namespace, target: Any, kept: Mapping[str, Kept], wanted: str | None
) -> None:
    rows = [
        (name, x.format, scales_of(x.format, x.scale), wanted or x.dtype)
        for name, x in kept.items()
    ]
    arrays = [dict(zip(("array", "format", "scale", "became"), row, strict=True)) for row in rows]
    facts = {"arrays": arrays, "files": sorted(set(target.file_of.values())), **unnamed(target)}
    table = Table(["array", "format", "scale", "became"], rows)
    output.show(options, facts, str(table))
