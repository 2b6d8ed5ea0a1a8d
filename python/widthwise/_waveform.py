"""A simulator's waveform beside a trace: which wire of exported hardware differs first.

An export has NAME_taps.json in it, which says on what wires its module has what the stages of a
trace have, and in which of its own stages; of a module with a clock that tells when to look.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Values = dict[str, str]  # of a wire by its name below the module: its digits


class Reading(NamedTuple):
    """The wires of one computation, a picture of them for each stage of the module."""

    stages: list[Values]

    def digits(self, stage: int, wire: str) -> str | None:
        return self.stages[stage].get(wire)


def read_taps(vcd: Path, folder: str | os.PathLike[str] | None) -> dict[str, Any]:
    """Of the export in a folder; without one of that which the waveform lies in."""
    places = [Path(folder)] if folder is not None else list(vcd.absolute().parents)
    for place in places:
        found = sorted(place.glob("*_taps.json"))
        if len(found) == 1:
            return dict(json.loads(found[0].read_text()))
    where = f"folder = {folder}: no" if folder is not None else f"{vcd}: beside and above it no"
    raise ValueError(
        f"{where} NAME_taps.json is there; name the exported folder that the waveform is of"
    )


def words_of(vcd: Path) -> Iterator[str]:
    """A waveform is words, whatever lines they stand in (IEEE 1364-2005, 18.2)."""
    with vcd.open(encoding="latin-1") as file:
        for line in file:
            yield from line.split()


class Header:
    """The wires of a module's scope, by the keys that a waveform has for them."""

    def __init__(self, words: Iterator[str], taps: dict[str, Any], vcd: Path) -> None:
        self.names: dict[str, list[str]] = {}
        self.widths: dict[str, int] = {}
        wires = list(declared(words))
        module = scope_of(wires, taps, vcd)
        for scope, name, key, width in wires:
            if scope[: len(module)] == module:
                below = ".".join([*scope[len(module) :], name])
                self.names.setdefault(key, []).append(below)
                self.widths[below] = width

    def digits(self, values: Values) -> Values:
        """By name, as many digits as the wire has."""
        return {
            name: widened(values[key], self.widths[name])
            for key, names in self.names.items()
            if key in values
            for name in names
        }


def widened(digits: str, width: int) -> str:
    """A waveform leaves out zeros in front, and all but one of several x or z."""
    return digits.rjust(width, digits[0] if digits[0] in "xzXZ" else "0")


def declared(words: Iterable[str]) -> Iterator[tuple[list[str], str, str, int]]:
    """Scope, name, key and width of each wire."""
    scope: list[str] = []
    said: list[str] = []
    for word in words:
        said.append(word)
        if word != "$end":
            continue
        match said:
            case ["$scope", _, name, "$end"]:
                scope.append(name.lstrip("\\"))
            case ["$upscope", "$end"]:
                scope.pop()
            case ["$var", _, width, key, name, *_]:
                yield list(scope), name.lstrip("\\").split("[")[0], key, int(width)
            case ["$enddefinitions", "$end"]:
                return
        said = []


def scope_of(wires: list[tuple[list[str], str, str, int]], taps: dict[str, Any], vcd: Path) -> Any:
    """Of the module: the first one with its ports and its first term."""
    if not wires:
        raise ValueError(
            f"vcd = {vcd}: it declares no wire; a value change dump is wanted, as $dumpfile and "
            "GHDL's --vcd write it, no FST and no GHW"
        )
    wanted = {"y", f"{taps['terms'][0]['name']}_sig"}
    found: dict[tuple[str, ...], set[str]] = {}
    for scope, name, _, _ in wires:
        found.setdefault(tuple(scope), set()).add(name)
    for path, names in found.items():
        if wanted <= names:
            return list(path)
    raise ValueError(
        f"vcd = {vcd}: no scope in it has wires {' and '.join(sorted(wanted))}, as module "
        f"{taps['module']} has; dump all wires below it: $dumpvars(0, instance)"
    )


def moments(words: Iterator[str]) -> Iterator[dict[str, str]]:
    """What changes at each time, by key."""
    changes: dict[str, str] = {}
    for word in words:
        first = word[0]
        if first == "#":
            yield changes
            changes = {}
        elif first in "01xzXZ":
            changes[word[1:]] = first
        elif first in "bB":
            changes[next(words, "")] = word[1:]
        elif first in "rRsS":
            next(words, "")  # a number or a text, which no wire of a module has
        elif word == "$comment":
            while next(words, "$end") != "$end":
                pass
    yield changes


def read_waveform(vcd: Path, taps: dict[str, Any], operands: dict[str, int]) -> Reading:
    """The computation of these operands, the first of several."""
    words = words_of(vcd)
    header = Header(words, taps, vcd)
    look = Clocked(header, taps, operands) if taps["clocked"] else Still(header, taps, operands)
    values: dict[str, str] = {}
    for changes in moments(words):
        if look.before(values, changes):
            break
        values.update(changes)
    look.before(values, {key: "" for key in values})
    if not look.done:
        raise ValueError(f"vcd = {vcd}: {look.missing()}")
    return Reading(look.pictures)


class Look:
    """Waits for the operands at the module's ports."""

    def __init__(self, header: Header, taps: dict[str, Any], operands: dict[str, int]) -> None:
        self.header = header
        self.pictures: list[Values] = []
        self.registers = [stage["registers"] for stage in taps["stages"]]
        self.keys = {name: key for key, names in header.names.items() for name in names}
        self.ports = {name: code for name, code in operands.items() if name in self.keys}
        self.at_last = dict.fromkeys(self.ports, "x")
        self.done = False

    def value(self, values: dict[str, str], name: str) -> str:
        return values.get(self.keys.get(name, ""), "x")

    def enter(self, values: dict[str, str]) -> bool:
        self.at_last = {name: self.value(values, name) for name in self.ports}
        return all(
            set(digits) <= {"0", "1"} and int(digits, 2) == self.ports[name]
            for name, digits in self.at_last.items()
        )

    def missing(self) -> str:
        wanted = ", ".join(f"{name} = 0x{code:x}" for name, code in self.ports.items())
        last = ", ".join(f"{name} {shown(digits)}" for name, digits in self.at_last.items())
        return f"its ports never have the trace's operands, {wanted}; at the end they have {last}"


class Still(Look):
    """Of a module without a clock: the last moment before the ports change again."""

    def before(self, values: dict[str, str], changes: dict[str, str]) -> bool:
        if not changes.keys() & {self.keys[name] for name in self.ports}:
            return False
        self.done = self.enter(values)
        if self.done:
            self.pictures = [self.header.digits(values)] * len(self.registers)
        return self.done


class Clocked(Look):
    """Of a module with a clock: each stage as many clocks later as registers stand before it."""

    clocks = -1  # that the pipeline has moved on since the operands were taken

    def missing(self) -> str:
        if self.clocks < 0:
            return super().missing()
        return f"it ends {self.clocks} clocks after the operands were taken, before their result"

    def before(self, values: dict[str, str], changes: dict[str, str]) -> bool:
        clock = self.keys["clk"]
        if changes.get(clock) != "1" or values.get(clock) == "1":
            return False
        moves = self.value(values, "advance") == "1"
        if self.clocks < 0:
            taken = self.value(values, "in_valid") == self.value(values, "in_ready") == "1"
            self.clocks = 0 if moves and taken and self.enter(values) else -1
        elif moves:
            self.clocks += 1
        if self.clocks >= 0 and moves:
            self.keep(values)
        return self.done

    def keep(self, values: dict[str, str]) -> None:
        """The stages that the computation stands in now."""
        now = None
        while len(self.pictures) < len(self.registers):
            if sum(self.registers[: len(self.pictures)]) != self.clocks:
                return
            now = now or self.header.digits(values)
            self.pictures.append(now)
        self.done = True


def shown(digits: str) -> str:
    return f"0x{int(digits, 2):x}" if set(digits) <= {"0", "1"} else digits
