"""Vectors of a whole design, a unit or an operation of mixed formats, by the golden model."""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Iterable, Iterator
from ctypes import c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array
from ._compare import isnan
from ._export import design_text
from ._format import Format
from ._unit import Unit, as_unit, units
from ._verify import Verdict, random_codes

BATCH = 4096
MOST_FAILURES = 20


@cache
def library() -> Any:
    lib = ctypes.CDLL(str(Path(__file__).with_name("lib") / "libwidthwise_model.so"))
    lib.widthwise_model_open.restype = c_void_p
    lib.widthwise_model_status.restype = ctypes.c_char_p
    return lib


@dataclass
class Port:
    """An operand's elements in a line, side by side in one field, the first in its lowest bits."""

    name: str
    format: Format
    count: int


def is_design(text: str) -> bool:
    return "(" in text or text in units


def design_ports(canonical: str, k: int | None) -> tuple[list[Port], Format, int]:
    """Operands, the result's format, and how many products a line has."""
    try:
        unit = as_unit(canonical)
    except ValueError:
        return operation_ports(canonical, k)
    if core.design_text_of_unit(unit._core) != canonical:  # `fma(f)` is a text of both
        return operation_ports(canonical, k)
    return unit_ports(unit, k or unit.lanes or 16)


def operation_ports(text: str, k: int | None) -> tuple[list[Port], Format, int]:
    if k not in (None, 1):
        raise ValueError(f"-k = {k}: {text} is an operation, of one result; take none")
    op, inner = text[:-1].split("(", 1)
    first, *others = inner.split(", ")
    named = dict(one.split("=", 1) for one in others if "=" in one)
    formats = [first, named.get("b", first), named.get("c", first)][: core.arity(op)]
    ports = [Port(x, Format(f.split(":")[0]), 1) for x, f in zip("abc", formats, strict=False)]
    return ports, Format(named.get("out", first).split(":")[0]), 1


def unit_ports(unit: Unit, k: int) -> tuple[list[Port], Format, int]:
    ports = [Port("a", unit.a, k), Port("b", unit.b, k), Port("c", unit.c, 1)]
    if unit.scale_format is not None:
        blocks = -(-k // (unit.scale_block or 1))
        ports += [Port(name, unit.scale_format, blocks) for name in ("scale_a", "scale_b")]
    return ports, unit.result_format, k


class DesignVectors:
    """Lines of a design: its operands in the order of a, b, c, scale_a and scale_b, y, flags."""

    def __init__(self, text: str, k: int | None = None) -> None:
        # An operation has no -k, as it has no lanes in an export.
        self.text = core.design_text(design_text(text, k is not None))
        self.ports, self.result, self.k = design_ports(self.text, k)
        self.model = c_void_p(library().widthwise_model_open(self.text.encode()))
        self.rounding = library().widthwise_model_rounding(self.model)

    def compute(self, arrays: list[np.ndarray], seed: int, first: int) -> tuple[np.ndarray, Any]:
        n = len(arrays[0])
        y, flags = _codes.empty((n,), self.result), np.empty(n, np.uint8)
        given = dict(zip((port.name for port in self.ports), arrays, strict=True))
        at = [
            given[x].ctypes.data_as(c_void_p) if x in given else None
            for x in ("a", "b", "c", "scale_a", "scale_b")
        ]
        numbers = [c_uint64(x) for x in (seed, first, n, self.k)]
        outputs = [x.ctypes.data_as(c_void_p) for x in (y, flags)]
        status = library().widthwise_model_batch(self.model, self.rounding, *numbers, *at, *outputs)
        if status:
            told = library().widthwise_model_status(status).decode()
            raise ValueError(f"{self.text}, -k = {self.k}: {told}")
        return y, flags

    def made(self, n: int, seed: int) -> Iterator[str]:
        """n lines, of random and directed operands."""
        for first in range(0, n, BATCH):
            count = min(BATCH, n - first)
            arrays = [
                random_codes(1, (count, port.count), port.format, (seed + i + first) % 2**64)[0]
                for i, port in enumerate(self.ports)
            ]
            y, flags = self.compute([x.bits for x in arrays], seed, first)
            fields = [packed(x.bits, p) for x, p in zip(arrays, self.ports, strict=True)] + [
                packed(y, Port("y", self.result, 1))
            ]
            for i in range(count):
                yield " ".join(field[i] for field in fields) + f" {flags[i]:02X}\n"

    def check(
        self,
        lines: Iterable[bytes],
        name: str,
        nan_bits: bool,
        flags: bool,
        latency: int,
        seed: int,
    ) -> Verdict:
        """The lines' results and flags against the design's."""
        verdict = Verdict(self.text, name, 0, 0)
        batch: list[tuple[int, list[int], list[int]]] = []
        for row in self.read(lines, flags, latency):
            batch.append(row)
            if len(batch) == BATCH:
                self.judge(batch, verdict, nan_bits, seed)
                batch.clear()
        if batch:
            self.judge(batch, verdict, nan_bits, seed)
        return verdict

    def read(
        self, lines: Iterable[bytes], flags: bool, latency: int
    ) -> Iterator[tuple[int, list[int], list[int]]]:
        """Of each vector its line's number, its operands and what came of them."""
        widths = [p.format.width * p.count for p in self.ports]
        names = [p.name for p in self.ports]
        out_widths, out_names = [self.result.width, 5][: 1 + flags], ["y", "flags"][: 1 + flags]
        earlier: deque[list[str]] = deque()
        for number, line in enumerate(lines, 1):
            text = line.decode().split("#")[0]
            fields = text.replace(",", " ").split()
            if not fields or fields[0].startswith("//"):
                continue
            wanted = len(names) + len(out_names)
            if len(fields) != wanted:
                raise ValueError(
                    f"line {number}: it has {len(fields)} fields; {wanted} are wanted: "
                    f"{' '.join(names + out_names)}"
                )
            earlier.append(fields[: len(names)])
            if len(earlier) > latency:
                operands = numbers(number, earlier.popleft(), names, widths)
                yield number, operands, numbers(number, fields[len(names) :], out_names, out_widths)

    def judge(
        self,
        batch: list[tuple[int, list[int], list[int]]],
        verdict: Verdict,
        nan_bits: bool,
        seed: int,
    ) -> None:
        arrays = [unpacked([row[1][i] for row in batch], p) for i, p in enumerate(self.ports)]
        y, flags = self.compute(arrays, seed, verdict.vectors)
        due = _codes.integers(y, self.result)
        given = _codes.from_integers([row[2][0] for row in batch], self.result)
        nan = [isnan(Array._of(codes, self.result)) & (not nan_bits) for codes in (y, given)]
        for i, (number, operands, (code, *raised)) in enumerate(batch):
            same = code == due[i] or (nan[0][i] and nan[1][i])
            if same and (not raised or raised[0] == flags[i]):
                continue
            verdict.errors += 1
            if verdict.errors <= MOST_FAILURES:
                told = " ".join(
                    f"{p.name} {x:x}" for p, x in zip(self.ports, operands, strict=True)
                )
                theirs = " ".join([f"{code:x}", *(f"{x:02X}" for x in raised)])
                ours = " ".join([f"{due[i]:x}", *(f"{flags[i]:02X}" for _ in raised)])
                verdict.failures.append(
                    f"line {number}: {told}: the vector has {theirs}, this is {ours}"
                )
        verdict.vectors += len(batch)


def numbers(line: int, fields: list[str], names: list[str], widths: list[int]) -> list[int]:
    found = []
    for text, name, width in zip(fields, names, widths, strict=True):
        if not re.fullmatch(r"(0[xX])?[0-9a-fA-F]+", text):
            raise ValueError(f"line {line}: {name} = '{text}' is not a hexadecimal number")
        found.append(int(text, 16))
        if found[-1] >> width:
            raise ValueError(f"line {line}: {name} = '{text}' is too long; it has {width} bits")
    return found


def packed(bits: np.ndarray, port: Port) -> list[str]:
    """A field for each row."""
    codes = _codes.integers(bits, port.format)
    width, count = port.format.width, port.count
    digits = -(-width * count // 4)
    return [
        f"{sum(x << width * i for i, x in enumerate(codes[at : at + count])):0{digits}X}"
        for at in range(0, len(codes), count)
    ]


def unpacked(fields: list[int], port: Port) -> np.ndarray:
    width, mask = port.format.width, (1 << port.format.width) - 1
    codes = [field >> width * i & mask for field in fields for i in range(port.count)]
    return _codes.from_integers(codes, port.format)
