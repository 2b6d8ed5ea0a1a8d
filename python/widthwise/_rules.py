"""Which tensors of a checkpoint are quantised, and how: rules by their names, in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ._block_format import BlockFormat, is_container
from ._format import Format

SCALES = ("none", "tensor", "channel", "block")
KEYS = ("match", "format", "scale", "axis", "keep")
# What is left as it is unless a rule says otherwise, by globs on names in lower case.
SKIPPED: dict[str, tuple[str, ...]] = {
    "norm": ("*norm*", "*running_mean", "*running_var", "*.[lbg]n.*", "*.[lbg]n[0-9_]*.*"),
    "bias": ("*bias*",),
    "embedding": ("*embed*", "*.emb.*", "*.wte.*", "*.wpe.*"),
}


def format_text(name: str, format: Any) -> str:
    """What a user gave for a format, as text."""
    if isinstance(format, str | Format | BlockFormat):
        return str(format)
    raise TypeError(
        f"{name} = {format!r}: a text as 'e4m3fn', a ww.Format or a ww.BlockFormat is wanted"
    )


class How(NamedTuple):
    """What becomes of a tensor; a text for `keep` tells why it stays."""

    format: str = ""
    scale: str = "none"
    axis: int | None = None
    keep: str = ""


class Rule(NamedTuple):
    """Of all tensors whose names match one of the globs."""

    place: str  # as errors name it
    match: tuple[str, ...]
    how: How

    def covers(self, name: str) -> bool:
        return any(fnmatchcase(name, glob) for glob in self.match)


class Rules(NamedTuple):
    """The first rule that covers a tensor decides, then what is skipped, then `otherwise`."""

    rules: tuple[Rule, ...]
    skips: bool
    otherwise: How

    def of(self, name: str, axes: int) -> How:
        """Of a tensor with so many axes."""
        found = self.rule_of(name)
        if found is not None:
            return found.how
        why = skipped(name) or ("vector" if axes < 2 else "") if self.skips else ""
        return How(keep=why) if why else self.otherwise

    def rule_of(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.covers(name)), None)

    def check(self, names: Iterable[str]) -> None:
        """Each glob matches a tensor, and each rule decides one."""
        all_names = list(names)
        deciding = {rule.place for name in all_names if (rule := self.rule_of(name))}
        for rule in self.rules:
            for glob in rule.match:
                if not any(fnmatchcase(name, glob) for name in all_names):
                    raise ValueError(
                        f"{rule.place} = {glob}: no tensor has such a name: {some(all_names)}"
                    )
            if rule.place not in deciding:
                raise ValueError(
                    f"{rule.place} = {rule.match[0]}: an earlier rule takes all of its tensors; "
                    "put it before that"
                )


def some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def skipped(name: str) -> str:
    """The kind of a tensor that is skipped by its name; nothing of any other."""
    low = f".{name.lower()}"
    kinds = (
        kind for kind, globs in SKIPPED.items() if any(fnmatchcase(low, glob) for glob in globs)
    )
    return next(kinds, "")


def read(text: str, where: str, otherwise: How) -> Rules:
    """Rules of a file: tables [[rule]], and defaults = false to skip nothing.

    Raises:
        ValueError: it is no TOML, or a rule lacks a key, has another one, or contradicts itself.

    >>> rules = read('''[[rule]]
    ... match = ["lm_head.*", "*.gate.weight"]
    ... keep = true''', "rules.toml", How("e4m3fn", "tensor"))
    >>> [rules.of(name, 2).keep for name in ("lm_head.weight", "model.norm.weight")]
    ['rule 1', 'norm']
    >>> rules.of("fc.weight", 2)
    How(format='e4m3fn', scale='tensor', axis=None, keep='')
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise ValueError(f"{where}: this is no TOML: {why}") from None
    unknown = [key for key in content if key not in ("rule", "defaults")]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]} is no key of it; there are [[rule]] and defaults")
    skips, tables = content.get("defaults", True), content.get("rule", [])
    if not isinstance(skips, bool):
        raise ValueError(f"{where}: defaults = {skips!r}: true or false is wanted")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{where}: each rule begins with [[rule]], in double brackets")
    rules = (rule(table, where, i + 1, otherwise) for i, table in enumerate(tables))
    return Rules(tuple(rules), skips, otherwise)


def rule(table: Mapping[str, Any], where: str, number: int, otherwise: How) -> Rule:
    place = f"{where}, rule {number}"
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        raise ValueError(f"{place}: {unknown[0]} is no key of a rule; there are {', '.join(KEYS)}")
    globs = table.get("match")
    globs = [globs] if isinstance(globs, str) else globs
    if not globs or not isinstance(globs, list) or not all(isinstance(g, str) and g for g in globs):
        raise ValueError(f"{place}: match = '*.weight', or a list of such globs, is wanted")
    return Rule(f"{place}, match", tuple(globs), how(table, place, number, otherwise))


def how(table: Mapping[str, Any], place: str, number: int, otherwise: How) -> How:
    keep, given = table.get("keep", False), {key: table[key] for key in KEYS[1:4] if key in table}
    if not isinstance(keep, bool):
        raise ValueError(f"{place}: keep = {keep!r}: true or false is wanted")
    if keep and given:
        raise ValueError(f"{place}: it keeps its tensors, and has {', '.join(given)}; leave one")
    for key, kind in (("format", str), ("scale", str), ("axis", int)):
        if key in given and type(given[key]) is not kind:
            raise ValueError(f"{place}: {key} = {given[key]!r}: it is of the wrong type")
    if given.get("scale", "none") not in SCALES:
        raise ValueError(f"{place}: scale = {given['scale']!r}: it may be {', '.join(SCALES)}")
    if is_container(given.get("format", "")):
        given.setdefault("scale", "block")
    made = otherwise._replace(**given)
    if made.axis is not None and made.scale in ("none", "tensor"):
        raise ValueError(
            f"{place}: axis = {made.axis}, and scale is {made.scale}, which has no axis; leave "
            "axis out, or say scale = 'channel'"
        )
    return How(keep=f"rule {number}") if keep else made
