"""Vectors of a whole design, a unit or an operation of mixed formats, by the golden model."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import c_uint64, c_void_p
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
from ._format_texts import said
from ._unit import Unit, as_unit, units
from ._vector_lines import BATCH, Column, VectorLines
from ._verify import random_codes


@cache
def library() -> Any:
    lib = ctypes.CDLL(str(Path(__file__).with_name("lib") / "libwidthwise_model.so"))
    lib.widthwise_model_open.restype = c_void_p
    lib.widthwise_model_status.restype = ctypes.c_char_p
    return lib


def is_design(text: str) -> bool:
    return "(" in text or text in units


def port(name: str, format: Format, count: int = 1) -> Column:
    return Column(name, format.width, count, format)


def design_ports(canonical: str, k: int | None) -> tuple[list[Column], Format, int]:
    """Operands, the result's format, and how many products a line has."""
    try:
        unit = as_unit(canonical)
    except ValueError:
        return operation_ports(canonical, k)
    if core.design_text_of_unit(unit._core) != canonical:  # `fma(f)` is a text of both
        return operation_ports(canonical, k)
    return unit_ports(unit, k or unit.lanes or 16)


def operation_ports(text: str, k: int | None) -> tuple[list[Column], Format, int]:
    if k not in (None, 1):
        raise ValueError(f"-k = {k}: {said(text)} is an operation, of one result; take none")
    op, inner = text[:-1].split("(", 1)
    first, *others = inner.split(", ")
    named = dict(one.split("=", 1) for one in others if "=" in one)
    formats = [first, named.get("b", first), named.get("c", first)][: core.arity(op)]
    ports = [port(x, Format(f.split(":")[0])) for x, f in zip("abc", formats, strict=False)]
    return ports, Format(named.get("out", first).split(":")[0]), 1


def unit_ports(unit: Unit, k: int) -> tuple[list[Column], Format, int]:
    ports = [port("a", unit.a, k), port("b", unit.b, k), port("c", unit.c)]
    if unit.scale_format is not None:
        blocks = -(-k // (unit.scale_block or 1))
        ports += [port(name, unit.scale_format, blocks) for name in ("scale_a", "scale_b")]
    return ports, unit.result_format, k


class DesignVectors(VectorLines):
    """Lines of a design: its operands in the order of a, b, c, scale_a and scale_b, y, flags.

    nan_bits: NaN have to agree in every bit; so they do where the design says which it delivers.
    """

    def __init__(self, text: str, k: int | None = None, nan_bits: bool = False) -> None:
        # An operation has no -k, as it has no lanes in an export.
        self.text = core.design_text(design_text(text, k is not None))
        self.inputs, self.format, self.k = design_ports(self.text, k)
        self.result = port("y", self.format)
        self.nan_bits = nan_bits or ", nan=" in self.text
        self.model = c_void_p(library().widthwise_model_open(self.text.encode()))
        self.rounding = library().widthwise_model_rounding(self.model)

    def compute(self, arrays: list[np.ndarray], seed: int, first: int) -> tuple[np.ndarray, Any]:
        n = len(arrays[0])
        y, flags = _codes.empty((n,), self.format), np.empty(n, np.uint8)
        given = dict(zip((column.name for column in self.inputs), arrays, strict=True))
        at = [
            given[x].ctypes.data_as(c_void_p) if x in given else None
            for x in ("a", "b", "c", "scale_a", "scale_b")
        ]
        numbers = [c_uint64(x) for x in (seed, first, n, self.k)]
        outputs = [x.ctypes.data_as(c_void_p) for x in (y, flags)]
        status = library().widthwise_model_batch(self.model, self.rounding, *numbers, *at, *outputs)
        if status:
            told = library().widthwise_model_status(status).decode()
            raise ValueError(f"{said(self.text)}, -k = {self.k}: {told}")
        return y, flags

    def made(self, n: int, seed: int) -> Iterator[str]:
        """n lines, of random and directed operands."""
        for first in range(0, n, BATCH):
            count = min(BATCH, n - first)
            arrays = [
                random_codes(1, (count, c.count), c.format, (seed + i + first) % 2**64)[0].bits  # type: ignore[arg-type]
                for i, c in enumerate(self.inputs)
            ]
            if self.text.startswith("convert("):
                move_to_borders(self.inputs[0], self.result, (seed + first) % 2**64, arrays[0])
            y, flags = self.compute(arrays, seed, first)
            fields = [packed(x, c) for x, c in zip(arrays, self.inputs, strict=True)]
            for numbers in zip(*fields, packed(y, self.result), flags.tolist(), strict=True):
                yield f"{self.line(list(numbers))}\n"

    def answers(
        self, operands: list[list[int]], seed: int, first: int
    ) -> tuple[list[int], list[int]]:
        arrays = [unpacked(x, c) for x, c in zip(operands, self.inputs, strict=True)]
        y, flags = self.compute(arrays, seed, first)
        return _codes.integers(y, self.format), flags.tolist()

    def same(self, given: list[int], due: list[int]) -> list[bool]:
        alike = np.array(super().same(given, due))
        if self.nan_bits:
            return list(alike)
        nan = [
            isnan(Array._of(_codes.from_integers(x, self.format), self.format))
            for x in (given, due)
        ]
        return list(alike | (nan[0] & nan[1]))


def move_to_borders(source: Column, result: Column, seed: int, codes: np.ndarray) -> None:
    assert source.format and result.format  # as a design's ports have
    core.operands_to_borders(source.format._core, result.format._core, seed, codes)


def packed(bits: np.ndarray, column: Column) -> list[int]:
    """A number for each row."""
    codes = _codes.integers(bits, column.format)  # type: ignore[arg-type]
    count = column.count
    return [
        sum(x << column.width * i for i, x in enumerate(codes[at : at + count]))
        for at in range(0, len(codes), count)
    ]


def unpacked(fields: list[int], column: Column) -> np.ndarray:
    width, mask = column.width, (1 << column.width) - 1
    codes = [field >> width * i & mask for field in fields for i in range(column.count)]
    flat = _codes.from_integers(codes, column.format)  # type: ignore[arg-type]
    return flat.reshape(len(fields), column.count, *flat.shape[1:])
