"""The command that rounds the numbers of a file to a format, and tells what became of them."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from .. import _codes
from .. import _widthwise as core
from .._array import Array
from .._compare import class_numbers
from .._create import array, from_dtype
from .._format import Format
from .._format_texts import said
from .._rules import SCALES
from .._safetensors import Checkpoint, Entry, Raw, entry, entry_of_codes
from .._table import Table
from ..containers.numbers import holds
from ..containers.recorded import Recorded
from . import checkpoint
from .globs import check_patterns, held, matches
from .output import Once, add_command, add_json, add_rounding, add_seed, show
from .store import check_name, check_other, load, save, save_archive, save_checkpoint
from .tally import FLAGS, KINDS, MASKS, Tally
from .terminal import progress

PIECE = 1 << 18  # numbers rounded at a time


def add_commands(commands: Any) -> None:
    command = add_command(
        commands,
        "quantize",
        "numbers of a file to codes of a format",
        "widthwise quantize a.npy codes.npy --format e4m3fn",
        "widthwise quantize x.npz values.npz --format e5m10 --values --rounding rtz",
        "widthwise quantize x.npz codes.npz --format e4m3fn --include '?' --exclude y",
        "widthwise quantize model.safetensors out.safetensors --format e4m3fn --scale channel",
        "widthwise quantize model.safetensors out.safetensors --format int4 --rules rules.toml",
        "echo 0.1 1/3 0x1.8p-7 | widthwise quantize - codes.npy --format bfloat16 --json",
    )
    command.add_argument(
        "source", metavar="IN", help=".npy, .npz, .safetensors; - is stdin: .npy, .npz, or numbers"
    )
    command.add_argument(
        "target", metavar="OUT", help=".npy; of several arrays .npz or .safetensors"
    )
    command.add_argument(
        "--format", action=Once, metavar="F", help="of the codes; with --dequantize of values"
    )
    for option, what in (("--include", "only arrays"), ("--exclude", "no arrays")):
        command.add_argument(
            option,
            action="append",
            metavar="GLOB",
            help=f"{what} of such names, as '*.weight'; may be repeated. The others pass untouched",
        )
    command.add_argument("--nan", choices=["zero"], help="zero: NaN becomes +0 where F has no NaN")
    command.add_argument(
        "--values", action="store_true", help="write the rounded values as float64"
    )
    command.add_argument("--force", action="store_true", help="OUT may be IN, which is then lost")
    add_checkpoint_options(command)
    command.set_defaults(run=run)
    for add in (add_rounding, add_seed, add_json):
        add(command)


def add_checkpoint_options(command: argparse.ArgumentParser) -> None:
    """Of checkpoints; with any of them norms, biases and embeddings pass."""
    what = command.add_argument_group("checkpoints, *.safetensors or *.safetensors.index.json")
    what.add_argument(
        "--scale",
        action=Once,
        choices=SCALES,
        help="what has a binary32 scale; block: as F itself says",
    )
    what.add_argument(
        "--rules", action=Once, metavar="FILE", help="TOML: format and scale by names' globs"
    )
    what.add_argument(
        "--html", action=Once, metavar="FILE", help="write the report as a page with plots"
    )
    what.add_argument("--dequantize", action="store_true", help="back to the types they had")


# --- What is rounded -----------------------------------------------------------------------------


class Untouched(NamedTuple):
    array: str
    holds: str
    shape: list[int]
    why: str


def is_float(x: Any) -> bool:
    return isinstance(x, Array) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def why_untouched(name: str, x: Any, options: argparse.Namespace) -> str:
    """Nothing of an array that is rounded."""
    if not is_float(x):
        return "no float"
    if options.include and not matches(name, options.include):
        return "not included"
    return "excluded" if matches(name, options.exclude or []) else ""


# --- Rounding ------------------------------------------------------------------------------------


class Rounding(NamedTuple):
    """What is done to every array, and what is told of it."""

    options: argparse.Namespace
    format: Format
    tallies: dict[str, Tally]

    def pieces(self, name: str, x: Any) -> Iterator[Any]:
        """The codes of an array, or their values, some at a time; all at once where random bits
        go by an element's place."""
        tally = self.tallies[name] = Tally(name, held(x))
        flat = x.reshape(-1)
        step = max(1, flat.size) if core.Env(self.options.rounding).stochastic else PIECE
        for first in range(0, flat.size, step):
            part = flat[first : first + step]
            z, flags = self.rounded(name, part, first, x.shape)
            tally.add(as_given(part), z, flags)
            yield z.to_float64() if self.options.values else z

    def rounded(
        self, name: str, part: Any, first: int, shape: tuple[int, ...]
    ) -> tuple[Array, np.ndarray]:
        try:
            if self.options.nan is None and not self.format.has_nan:
                refuse_nan(as_given(part), first, shape, self.format)
            how = {"rounding": self.options.rounding, "seed": self.options.seed}
            z, flags = array(part, self.format, nan="zero", flags=True, **how)
        except (ValueError, TypeError) as why:
            where = f"IN = {self.options.source}{name and f', {name}'}"
            said = re.sub(r"^x\[(\d+)\]", lambda at: f"x[{int(at[1]) + first}]", str(why))
            raise ValueError(f"{where}: {said}") from None
        return z, flags

    def whole(self, name: str, x: Any) -> Any:
        """All of an array, in its shape."""
        shape = x.shape
        if self.options.values:
            values = np.empty(x.size)
            at = 0
            for piece in self.pieces(name, x):
                values[at : at + piece.size] = piece
                at += piece.size
            return values.reshape(shape)
        z = Array._of(_codes.empty((x.size,), self.format), self.format)
        at = 0
        for piece in self.pieces(name, x):
            z._items[at : at + piece.size] = piece._items
            at += piece.size
        return z.reshape(shape)

    def entry(self, name: str, x: Any) -> Entry:
        if self.options.values:
            return Entry(name, "F64", x.shape, 8 * x.size)
        return entry_of_codes(name, self.format, x.shape)


def as_given(part: Any) -> Array:
    """The numbers as they were: in their own format, or as doubles."""
    own = part if isinstance(part, Array) else from_dtype(part)
    return array(part, "binary64") if own is None else own


def refuse_nan(given: Array, first: int, shape: tuple[int, ...], format: Format) -> None:
    at = np.flatnonzero(MASKS[class_numbers(given)] == KINDS["nan"])
    if at.size:
        raise ValueError(
            f"x: {_codes.element(first + int(at[0]), shape)} is NaN and {said(format)} has no NaN; "
            "--nan zero puts +0 there, or take a format that has one"
        )


def run(options: argparse.Namespace) -> int:
    if checkpoint.is_wanted(options):
        return checkpoint.run(options)
    if options.format is None:
        raise ValueError("--format is missing: name one, as e4m3fn")
    rounding = Rounding(options, Format(options.format), {})
    if options.values and not holds("e11m52", rounding.format):
        raise ValueError(
            f"--values: float64 has not all numbers of {said(rounding.format)}; leave it out"
        )
    source = load("IN", options.source)
    if not options.force:
        check_other("OUT", options.target, {"IN": options.source}, checkpoint.FORCE)
    check_patterns(options, source)
    untouched: list[Untouched] = []
    if isinstance(source, Mapping):
        untouched = round_all(rounding, source)
    else:
        check_name("OUT", options.target, (".npy",))
        if isinstance(source, Recorded):
            raise ValueError(
                f"IN = {options.source}: it holds {type(source).__name__}, numbers with scales; "
                "ww.load(IN).to_float64() has the numbers, np.save writes them"
            )
        save("OUT", options.target, rounding.whole("", source))
    names = source if isinstance(source, Mapping) else [""]
    rows = [rounding.tallies[name].facts() for name in names if name in rounding.tallies]
    facts = {
        "format": str(rounding.format),
        "arrays": rows,
        "untouched": [x._asdict() for x in untouched],
    }
    show(options, facts, report(rounding.format, rows, untouched))
    return 0


def round_all(rounding: Rounding, source: Mapping[str, Any]) -> list[Untouched]:
    """Into a file of several; what passed as it was."""
    options = rounding.options
    check_name("OUT", options.target, (".npz", ".safetensors"))
    untouched = [
        Untouched(name, held(x), list(x.shape), why)
        for name, x in source.items()
        if (why := why_untouched(name, x, options))
    ]
    passed = {x.array for x in untouched}
    if len(passed) == len(source):
        often = Counter(x.why for x in untouched)
        why = ", ".join(f"{n} {said}" for said, n in often.items()) or "there is none"
        raise ValueError(f"IN = {options.source}: no array of it is to be rounded: {why}")
    with progress("quantize") as tell:
        seen = count()

        def read(name: str) -> Any:
            tell(next(seen) + 1, len(source))
            return source[name]

        if options.target.endswith(".npz"):
            made = (
                (name, plain(read(name)) if name in passed else rounding.whole(name, read(name)))
                for name in source
            )
            save_archive("OUT", options.target, made)
        else:
            round_checkpoint(rounding, source, passed, read)
    return untouched


def round_checkpoint(
    rounding: Rounding, source: Mapping[str, Any], passed: set[str], read: Callable[[str], Any]
) -> None:
    def pieces() -> Iterator[tuple[str, memoryview]]:
        for name in source:
            made = [read(name)] if name in passed else rounding.pieces(name, read(name))
            yield from ((name, content(piece)) for piece in made)
            if isinstance(source, Checkpoint):
                source.forget()

    entries = [
        entry(name, x) if name in passed else rounding.entry(name, x) for name, x in source.items()
    ]
    metadata = source.metadata if isinstance(source, Checkpoint) else {}
    save_checkpoint("OUT", rounding.options.target, entries, metadata, pieces())


def content(x: Any) -> memoryview:
    """The bytes that a checkpoint has of it."""
    if isinstance(x, Raw):
        return x.data
    items = np.ascontiguousarray(x.bits if isinstance(x, Array) else x).reshape(-1)
    return items.view(np.uint8).data


def plain(x: Any) -> Any:
    return np.frombuffer(x.data, np.uint8) if isinstance(x, Raw) else x


# --- Telling -------------------------------------------------------------------------------------

COLUMNS = {
    "array": "array",
    "numbers": "numbers",
    "largest_error": "largest error",
    "mean_error": "mean error",
    "snr_db": "SNR, dB",
    "zero": "zero",
    "subnormal": "subnormal",
    "saturated": "saturated",
    "infinite": "infinite",
    "nan": "NaN",
}


def report(format: Format, rows: list[dict[str, Any]], untouched: list[Untouched]) -> str:
    """What became of each array, in numbers that are so now and were not; sums; what passed."""
    sums = {key: sum(row[key] for row in rows) for key in ("numbers", *FLAGS)}
    parts = [
        str(Table(list(COLUMNS.values()), [[row[key] for key in COLUMNS] for row in rows])),
        f"{sums['numbers']} numbers as {format}; {sums['inexact']} inexact, "
        f"{sums['underflow']} underflow, {sums['overflow']} overflow",
    ]
    if untouched:
        table = [[x.array, x.holds, str(tuple(x.shape)), x.why] for x in untouched]
        parts.append(str(Table(["untouched", "holds", "shape", "why"], table)))
    return "\n\n".join(parts if rows else parts[1:])
