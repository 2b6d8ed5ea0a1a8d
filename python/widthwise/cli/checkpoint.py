"""Checkpoints, quantised by rules and back: one file or many, a tensor at a time."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from .. import _rules
from .. import _widthwise as core
from .._array import Array
from .._block_format import is_container
from .._create import array
from .._format import Format
from .._format_texts import said
from .._safetensors import FLOATS, QUANTISED, Checkpoint, Entry, Raw, entry, entry_of_codes, kinds
from .._shards import INDEX
from .._spelling import as_key, as_option, spelled, spelling
from ..containers.chunks import Options, Scheme, cuts_of
from ..containers.numbers import holds
from ..containers.stored import (
    Kept,
    Writer,
    as_bytes,
    as_text,
    entries,
    scheme_of,
)
from . import checkpoint_report as report
from .globs import check_patterns, held, matches
from .shards import Group, Source, Target
from .store import check_other
from .tally import Told
from .terminal import progress

COPIED = 1 << 22  # bytes at a time


def is_wanted(options: argparse.Namespace) -> bool:
    """Whether the command is about a checkpoint with scales, rather than plain rounding."""
    asked = (options.scale, options.rules, options.html, options.dequantize)
    if any(asked) or options.source.endswith(INDEX) or is_container(options.format or ""):
        return True
    return options.source.endswith(".safetensors") and Source.is_quantised(options.source)


def run(options: argparse.Namespace) -> int:
    """Quantise, or undo it."""
    if os.path.isdir(options.source):
        raise ValueError(
            f"IN = {options.source}: this is a folder; name the .safetensors or *{INDEX} file in it"
        )
    if not options.source.endswith((".safetensors", INDEX)):
        raise ValueError(
            f"IN = {options.source}: scales, rules and --dequantize are of checkpoints, "
            f".safetensors or *{INDEX}; ww.blocks and ww.affine take arrays"
        )
    core.Env(options.rounding)  # or what is wrong with it
    if options.values:
        raise ValueError("--values: a checkpoint's values are written by --dequantize, from codes")
    source = Source.of("IN", options.source)
    if options.dequantize:
        return dequantise(options, source)
    if options.format is None:
        raise ValueError("--format is missing: name one, as e4m3fn, or undo with --dequantize")
    return quantise(options, source)


FORCE = ", or pass --force"


def check_files(options: argparse.Namespace, source: Source, target: Target) -> None:
    """That no model is overwritten unless --force says so, and no other file at all."""
    read = {"IN": options.source} | {f"of IN, {x}": x for x in source.files[1:]}
    rules = {"--rules": options.rules} if options.rules else {}
    out = target.index or target.path
    if not options.force:
        check_other("OUT", out, read, FORCE)
    check_other("OUT", out, rules)
    if options.html:
        check_other("--html", options.html, read | rules | {"OUT": out})


# --- What becomes of each tensor ------------------------------------------------------------------


class Planned(NamedTuple):
    """A tensor, and how it is quantised; or why it stays."""

    name: str
    holds: str
    shape: tuple[int, ...]
    kind: str
    scheme: Scheme | None
    how: _rules.How
    parts: dict[str, Entry]
    before: int  # bytes

    def kept(self, text: str) -> Kept:
        names = {part: x.name for part, x in self.parts.items()}
        return Kept(text, self.how.scale, self.shape, self.kind, names, self.how.axis)


def rules_of(options: argparse.Namespace) -> _rules.Rules:
    own = is_container(options.format)
    way = options.scale or ("block" if own else "none")
    otherwise = _rules.How(options.format, way)
    with spelling(as_option):
        scheme_of(options.format, way, None, rounding_of(options))
    if options.rules is None:
        return _rules.Rules((), True, otherwise)
    try:
        with open(options.rules, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as why:
        said = getattr(why, "strerror", None) or "this is no text"
        raise ValueError(f"--rules = {options.rules}: {said}") from None
    return _rules.read(text, f"--rules = {options.rules}", otherwise)


def rounding_of(options: argparse.Namespace) -> Options:
    return Options(options.rounding, options.seed, options.nan)


def plan(options: argparse.Namespace, source: Source) -> dict[str, Planned]:
    """Of every tensor, before anything is written."""
    rules = rules_of(options)
    check_patterns(options, source)
    rules.check(source)
    made: dict[str, Scheme] = {}
    planned = {}
    for group in source.groups:
        taken = {name for kept in group.kept.values() for name in kept.parts.values()}
        for name in group.tensors:
            x = group.tensors[name]
            how = how_of(name, x, rules, options, name in taken)
            key = f"{how.format} {how.scale} {how.axis}"
            if not how.keep and key not in made:
                made[key] = in_place_of(name, rules, how, options)
            kind, scheme = group.tensors.kind(name), None if how.keep else made[key]
            parts = {} if scheme is None else parts_of(name, x, scheme, options)
            size = kept_entry(group.tensors, name).size
            planned[name] = Planned(name, held(x), x.shape, kind, scheme, how, parts, size)
    check_used(rules, planned)
    check_names(planned)
    return planned


def check_used(rules: _rules.Rules, planned: dict[str, Planned]) -> None:
    """That a rule which quantises does so with one of its tensors."""
    for rule in rules.rules:
        own = [x for name, x in planned.items() if rules.rule_of(name) is rule]
        if rule.how.keep or any(x.scheme is not None for x in own):
            continue
        said = ", ".join(f"{x.name} ({x.how.keep})" for x in own[:5]) + ", …" * (len(own) > 5)
        raise ValueError(
            f"{rule.place} = {rule.match[0]}: none of its tensors is quantised: {said}; leave the "
            "rule out, or say keep = true"
        )


def in_place_of(
    name: str, rules: _rules.Rules, how: _rules.How, options: argparse.Namespace
) -> Scheme:
    rule = rules.rule_of(name)
    try:
        with spelling(as_key if rule else as_option):
            return scheme_of(how.format, how.scale, how.axis, rounding_of(options))
    except ValueError as why:
        raise ValueError(f"{rule.place.removesuffix(', match')}: {why}" if rule else why) from None


def parts_of(name: str, x: Array, scheme: Scheme, options: argparse.Namespace) -> dict[str, Entry]:
    try:
        return entries(name, scheme.parts(x.shape))
    except ValueError as why:
        kept = f"--exclude '{name}' leaves it as it is"
        raise ValueError(f"IN = {options.source}, {name}: {why}; {kept}") from None


def how_of(
    name: str, x: Any, rules: _rules.Rules, options: argparse.Namespace, taken: bool
) -> _rules.How:
    """Integers, truths and what is quantised already stay whatever a rule says."""
    why = ""
    if taken:
        why = "quantised already"
    elif not isinstance(x, Array):
        why = "no float"
    elif x.size == 0:
        why = "empty"
    elif matches(name, options.exclude):
        why = "excluded"
    elif options.include and not matches(name, options.include):
        why = "not included"
    if why:
        return _rules.How(keep=why)
    asked = matches(name, options.include) or rules.rule_of(name) is not None
    how = rules._replace(skips=rules.skips and not asked).of(name, x.ndim)
    narrow = not how.keep and not asked and x.format.width <= 8
    return _rules.How(keep="narrow") if narrow else how


def check_names(planned: dict[str, Planned]) -> None:
    """No part takes the name of another tensor."""
    for x in planned.values():
        for part in x.parts.values():
            if part.name != x.name and part.name in planned:
                raise ValueError(
                    f"IN: {x.name} is to be written with {part.name}, and there is a tensor of "
                    f"that name; a rule with keep = true leaves {x.name} as it is"
                )


# --- Quantising -----------------------------------------------------------------------------------


def quantise(options: argparse.Namespace, source: Source) -> int:
    target = Target.of("OUT", options.target, source)
    check_files(options, source, target)
    if options.html and not os.path.isdir(os.path.dirname(options.html) or "."):
        raise ValueError(f"--html = {options.html}: there is no such folder")
    planned = plan(options, source)
    told = {name: Told(x) for name, x in planned.items() if x.scheme is not None}
    if not told:
        raise ValueError(
            f"IN = {options.source}: no tensor of it is to be quantised: {why_kept(planned)}"
        )
    with target, progress("quantize") as tell:
        seen = count(1)
        for file in target.files(source):
            pieces = (
                piece
                for group in file.groups
                for name in group.tensors
                for piece in made(options, group, planned[name], told, tell, next(seen))
            )
            metadata = with_kept(file.metadata(), file.groups, planned)
            file.write(entries_of(file.groups, planned), metadata, pieces)
        target.finish(source)
    report.show(options, target, list(planned.values()), told)
    return 0


def why_kept(planned: dict[str, Planned]) -> str:
    """Why tensors stay, and what takes those that are skipped by default."""
    often = Counter(x.how.keep for x in planned.values())
    why = ", ".join(f"{n} {said}" for said, n in often.most_common()) or "there is none"
    skipped = [said for said in often if said in (*_rules.SKIPPED, "vector", "narrow")]
    return why + ("; a rule takes what is skipped by default" if skipped else "")


def with_kept(
    metadata: dict[str, str], groups: list[Group], planned: dict[str, Planned]
) -> dict[str, str]:
    kept = {name: x for group in groups for name, x in group.kept.items()}
    for group in groups:
        names = (planned[name] for name in group.tensors)
        kept |= {x.name: x.kept(x.scheme.text) for x in names if x.scheme is not None}
    return {**metadata, QUANTISED: as_text(kept)} if kept else metadata


def entries_of(groups: list[Group], planned: dict[str, Planned]) -> list[Entry]:
    found: list[Entry] = []
    for group in groups:
        for name in group.tensors:
            parts = planned[name].parts
            found += parts.values() if parts else [kept_entry(group.tensors, name)]
    return found


def kept_entry(tensors: Checkpoint, name: str) -> Entry:
    """A tensor that passes, byte for byte and with its type."""
    x = tensors[name]
    return entry(name, x)._replace(kind=tensors.kind(name))


def made(
    options: argparse.Namespace,
    group: Group,
    x: Planned,
    told: dict[str, Told],
    tell: Any,
    place: int,
) -> Iterator[tuple[str, memoryview]]:
    """The bytes of a tensor, in pieces that its file's names go with."""
    source = group.tensors[x.name]
    if x.scheme is None:
        yield from copied(x.name, source)
    else:
        try:
            cuts = cuts_of(x.scheme, x.shape)
            formats = [f for f, _ in x.scheme.parts(x.shape).values()]
            names = [part.name for part in x.parts.values()]
            writers = [(name, Writer(f)) for name, f in zip(names, formats, strict=True)]
            for piece in x.scheme.pieces(x.shape, source.__getitem__, cuts):
                told[x.name].add(piece)
                for (name, writer), data in zip(writers, piece.parts, strict=False):
                    yield name, writer.add(data)
            yield from ((name, writer.end()) for name, writer in writers)
        except ValueError as why:
            said = spelled(str(why), as_option)
            raise ValueError(f"IN = {options.source}, {x.name}: {said}") from None
    group.tensors.forget()
    tell(place, len(told))


def copied(name: str, x: Any) -> Iterator[tuple[str, memoryview]]:
    items = x.bits if isinstance(x, Array) else x
    data = x.data if isinstance(x, Raw) else items.reshape(-1).view(np.uint8).data
    for first in range(0, len(data), COPIED):
        yield name, data[first : first + COPIED]


# --- Back -----------------------------------------------------------------------------------------


def dequantise(options: argparse.Namespace, source: Source) -> int:
    """Every quantised tensor as the type it had, or as --format says."""
    for name in ("scale", "rules", "html", "include", "exclude", "nan"):
        if getattr(options, name):
            raise ValueError(
                f"--{name}: --dequantize undoes all; it goes with --format and --rounding alone"
            )
    target = Target.of("OUT", options.target, source)
    check_files(options, source, target)
    kept = {name: x for group in source.groups for name, x in group.kept.items()}
    bare = {name: x for group in source.groups for name, x in group.bare_codes().items()}
    kept |= bare
    if not kept:
        raise ValueError(
            f"IN = {options.source}: nothing in it is quantised; floats of its own types, FP8 "
            "too, are rounded to another without --dequantize: --format binary32"
        )
    if core.Env(options.rounding).stochastic:
        raise ValueError(
            f"--rounding = {options.rounding}: random bits belong to quantising; back to numbers "
            "take rne, rtz, …"
        )
    wanted = None if options.format is None else type_of(options.format)
    if wanted is None:
        check_held(options, bare)
    with target:
        for file in target.files(source):
            found = whole_entries(file.groups, kept, wanted)
            names = {x.name for x in found}
            pieces = (
                piece
                for group in file.groups
                for name in group.tensors
                if name in names
                for piece in restored(options, group, name, kept.get(name), wanted)
            )
            file.write(found, file.metadata(), pieces)
        target.finish(source)
    report.show_back(options, target, kept, wanted)
    return 0


def check_held(options: argparse.Namespace, bare: dict[str, Kept]) -> None:
    """That the type which codes go back to has all their numbers."""
    for name, x in bare.items():
        if not holds("e11m52", Format(x.format)):
            raise ValueError(
                f"IN = {options.source}, {name}: {said(x.format)} has numbers that no type of a "
                "checkpoint has; --format binary64 rounds them once, and ww.load gives the codes"
            )


def type_of(text: str) -> str:
    """The type of a checkpoint that has a format's numbers."""
    kind = kinds().get(str(Format(text)))
    if kind is None:
        raise ValueError(f"--format = {said(text)}: back to one of {', '.join(FLOATS.values())}")
    return kind


def whole_entries(groups: list[Group], kept: dict[str, Kept], wanted: str | None) -> list[Entry]:
    """Without the tensors of scales."""
    found: list[Entry] = []
    for group in groups:
        parts = {name for x in group.kept.values() for name in x.parts.values()} - set(kept)
        for name in group.tensors:
            if name in kept:
                found.append(whole_entry(name, kept[name], wanted))
            elif name not in parts:
                found.append(kept_entry(group.tensors, name))
    return found


def whole_entry(name: str, kept: Kept, wanted: str | None) -> Entry:
    return entry_of_codes(name, Format(FLOATS[wanted or kept.dtype]), kept.shape)


def restored(
    options: argparse.Namespace, group: Group, name: str, kept: Kept | None, wanted: str | None
) -> Iterator[tuple[str, memoryview]]:
    if kept is None:
        yield from copied(name, group.tensors[name])
    else:
        format = Format(FLOATS[wanted or kept.dtype])
        try:
            cuts, values = group.values(name, kept)
            for cut in cuts:
                yield name, as_bytes(array(values(cut), format, rounding=options.rounding).bits)
        except (ValueError, KeyError) as why:
            raise ValueError(f"IN = {options.source}, {name}: {why}") from None
    group.tensors.forget()
