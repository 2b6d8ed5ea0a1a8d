"""Lines of vectors: what their fields are, and whether what came of the operands is right."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ._format import Format
from ._verify import Verdict

BATCH = 4096
MOST_FAILURES = 20
# A code as TestFloat prints it: sign, exponent's field, fraction; and flags.
PRINTED = re.compile(r"([+-])([0-9a-fA-F]+)\.([0-9a-fA-F]*)")
HEXADECIMAL = re.compile(r"(?:0[xX]|\d*'[hH])?([0-9a-fA-F]+)")  # 0x3c00, 16'h3c00
PRINTED_FLAGS = re.compile(r"[v.][i.][o.][u.][x.]")


@dataclass
class Column:
    """A number in a line. Elements lie side by side, the first in its lowest bits."""

    name: str
    width: int  # of an element
    count: int = 1
    format: Format | None = None  # of codes, which may be printed


FLAGS = Column("flags", 5)


class Row(NamedTuple):
    line: int
    operands: list[int]
    outcome: list[int]  # the result, and flags where a line has them


class VectorLines(ABC):
    """Vectors of anything that answers its operands. Whoever is one has a text and columns."""

    text: str
    inputs: list[Column]
    result: Column

    @abstractmethod
    def answers(
        self, operands: list[list[int]], seed: int, first: int
    ) -> tuple[list[int], list[int]]:
        """The results and flags of vectors; operands are given column by column."""

    def same(self, given: list[int], due: list[int]) -> list[bool]:
        """Whether results agree."""
        return [x == y for x, y in zip(given, due, strict=True)]

    def check(
        self, lines: Iterable[bytes], name: str, flags: bool, latency: int, seed: int
    ) -> Verdict:
        """The lines' results and flags against the answers."""
        verdict = Verdict(self.text, name, 0, 0)
        batch: list[Row] = []
        for row in rows(lines, self.inputs, [self.result, FLAGS][: 1 + flags], latency):
            batch.append(row)
            if len(batch) == BATCH:
                self.judge(batch, verdict, seed)
                batch.clear()
        if batch:
            self.judge(batch, verdict, seed)
        return verdict

    def judge(self, batch: list[Row], verdict: Verdict, seed: int) -> None:
        operands = [list(column) for column in zip(*(row.operands for row in batch), strict=True)]
        due, raised = self.answers(operands, seed, verdict.vectors)
        agrees = self.same([row.outcome[0] for row in batch], due)
        for row, same, code, flags in zip(batch, agrees, due, raised, strict=True):
            if same and row.outcome[1:] in ([], [flags]):
                continue
            verdict.errors += 1
            if verdict.errors <= MOST_FAILURES:
                ours = [code, flags][: len(row.outcome)]
                verdict.failures.append(
                    f"line {row.line}: {self.told(row.operands)}: the vector has "
                    f"{outcome(row.outcome)}, this is {outcome(ours)}"
                )
        verdict.vectors += len(batch)

    def told(self, operands: list[int]) -> str:
        return " ".join(f"{c.name} {x:x}" for c, x in zip(self.inputs, operands, strict=True))

    def line(self, numbers: list[int]) -> str:
        """Hexadecimal fields of the operands and what came of them."""
        columns = [*self.inputs, self.result, FLAGS][: len(numbers)]
        return " ".join(
            f"{x:0{-(-c.width * c.count // 4)}X}" for c, x in zip(columns, numbers, strict=True)
        )


def outcome(numbers: list[int]) -> str:
    return " ".join([f"{numbers[0]:x}", *(f"{x:02X}" for x in numbers[1:])])


def rows(
    lines: Iterable[bytes], inputs: list[Column], outputs: list[Column], latency: int
) -> Iterator[Row]:
    """The vectors of lines. A line's outcome is that of the operands `latency` lines before it."""
    earlier: deque[list[str]] = deque()
    any_came = False
    for number, fields in whole_lines(lines, inputs):
        is_printed = PRINTED.fullmatch(fields[0]) is not None
        ahead = elements(inputs) if is_printed else len(inputs)
        wanted = ahead + len(outputs)
        if len(fields) != wanted:
            names = spread(inputs) if is_printed else [c.name for c in inputs]
            named = " ".join([*names, *(c.name for c in outputs)])
            lacks_flags = len(fields) + 1 == wanted and outputs[-1].name == "flags"
            raise ValueError(
                f"line {number}: it has {len(fields)} fields; {wanted} are wanted: {named}"
                + "; where there are no flags, say so (--flags no)" * lacks_flags
            )
        earlier.append(fields[:ahead])
        if len(earlier) > latency:
            operands = read(number, earlier.popleft(), inputs)
            yield Row(number, operands, read(number, fields[ahead:], outputs))
            any_came = True
    if earlier and not any_came:
        raise ValueError(
            f"latency = {latency}: of {len(earlier)} lines none has a result; give a smaller one, "
            "or more lines"
        )


def whole_lines(lines: Iterable[bytes], inputs: list[Column]) -> Iterator[tuple[int, list[str]]]:
    """Lines that are no comment, with their numbers. TestFloat may print the operands in one, and
    behind an arrow in the next what came of them, and what it had expected."""
    operands: list[str] = []
    for number, line in enumerate(lines, 1):
        fields = content(line).split("expected")[0].split()
        if not fields:
            continue
        if fields[0] == "=>":
            fields = operands + fields
        operands = []
        fields = [field for field in fields if field != "=>"]
        if len(fields) == elements(inputs) and PRINTED.fullmatch(fields[0]):
            operands = fields
        elif fields:
            yield number, fields


def content(line: bytes) -> str:
    """Without the mark that some programs begin a file with, and a comment."""
    text = line.decode("utf-8-sig", "replace")
    return re.sub(r"(#|//).*", "", text, flags=re.DOTALL).replace(",", " ").replace(";", " ")


def elements(columns: list[Column]) -> int:
    return sum(c.count for c in columns)


def spread(columns: list[Column]) -> list[str]:
    """The names of elements that have a field each."""
    return [f"{c.name}[{i}]" if c.count > 1 else c.name for c in columns for i in range(c.count)]


def read(line: int, fields: list[str], columns: list[Column]) -> list[int]:
    """A number for each column: of its own field, or of one for each of its elements."""
    if len(fields) == len(columns) and not PRINTED.fullmatch(fields[0]):
        return [
            number(line, text, c.name, c, c.width * c.count)
            for text, c in zip(fields, columns, strict=True)
        ]
    found, at = [], 0
    for c in columns:
        codes = [
            number(line, text, name, c, c.width)
            for text, name in zip(fields[at : at + c.count], spread([c]), strict=True)
        ]
        found.append(sum(code << c.width * i for i, code in enumerate(codes)))
        at += c.count
    return found


def number(line: int, text: str, name: str, column: Column, width: int) -> int:
    """What a field says in hexadecimal, or as TestFloat prints it."""
    is_float = column.format is not None and column.format.system == "float"
    printed = PRINTED.fullmatch(text) if is_float else None
    if printed:
        value = printed_code(printed, column.format)  # type: ignore[arg-type]
    elif column is FLAGS and PRINTED_FLAGS.fullmatch(text):
        value = sum((letter != ".") << 4 - i for i, letter in enumerate(text))
    elif hexadecimal := HEXADECIMAL.fullmatch(text):
        value = int(hexadecimal[1], 16)
    else:
        raise ValueError(f"line {line}: {name} = '{text}' is not a hexadecimal number")
    if value >> width:
        raise ValueError(f"line {line}: {name} = '{text}' is too long; it has {width} bits")
    return value


def printed_code(printed: re.Match[str], format: Format) -> int:
    """Past the format's width where a part has more bits than the format."""
    exponent, fraction = int(printed[2], 16), int(printed[3] or "0", 16)
    low, high = format.fraction_bits, format.exponent_bits
    if fraction >> low or exponent >> high or (printed[1] == "-" and not format.signed):
        return 1 << format.width
    return (printed[1] == "-") << low + high | exponent << low | fraction
