"""One-token mutants of a C++ source, and only such as can mean something.

Comments, strings, preprocessor lines, static_asserts and template brackets are left alone:
the sources are formatted by clang-format, which puts a space on both sides of a binary operator and
none beside `<T>` or `T&`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

# A binary operator, and what stands in its place.
BINARY = {
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "/": ["*"],
    "%": ["/"],
    "<": ["<=", ">"],
    "<=": ["<"],
    ">": [">=", "<"],
    ">=": [">"],
    "==": ["!="],
    "!=": ["=="],
    "&": ["|"],
    "|": ["&"],
    "^": ["|"],
    "<<": [">>"],
    ">>": ["<<"],
    "&&": ["||"],
    "||": ["&&"],
    "+=": ["-="],
    "-=": ["+="],
    "&=": ["|="],
    "|=": ["&="],
    "^=": ["|="],
    "<<=": [">>="],
    ">>=": ["<<="],
}
UNARY = re.compile(r"(?<![\w)\]+-])[!~-](?=[\w(])")
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min"}
LONGEST_FIRST = "|".join(map(re.escape, sorted(BINARY, key=len, reverse=True)))
OPERATOR = re.compile(rf"(?<= )(?:{LONGEST_FIRST})(?= |$)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.'])(0x[0-9a-fA-F']+|\d[\d']*)([uUlL]*)(?![\w.'])")
WORD = re.compile(r"\b(?:true|false|min|max)\b")
CONDITION = re.compile(r"\bif(?: constexpr)? \(")
# Text in which a change means nothing, or would only be a compile error.
SILENT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])'|^[ \t]*#[^\n]*"
    r"|\bstatic_assert\(.*?\);|\boperator *[^\w\s(]+|\btemplate <[^\n]*|= default|= delete",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Mutant:
    """`file` with `old` at `start` replaced by `new`; `nth` counts equal changes in one line."""

    file: str
    line: str
    number: int
    start: int
    old: str
    new: str
    nth: int

    @property
    def change(self) -> str:
        which = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.old} -> {self.new or 'nothing'}{which}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it in equivalent.txt; line numbers would not survive the next edit above."""
        return self.file, self.line, self.change

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.start + len(self.old) :]


def mutants_of(file: str, source: str) -> list[Mutant]:
    code = SILENT.sub(lambda silent: re.sub(r"[^\n]", " ", silent[0]), source)
    seen: Counter[tuple[str, str, str]] = Counter()
    mutants = []
    for start, old, new in sorted(changes(code)):
        begin = source.rfind("\n", 0, start) + 1
        line = source[begin:].split("\n", 1)[0].strip()
        number = source.count("\n", 0, start) + 1
        seen[str(number), old, new] += 1
        mutants.append(Mutant(file, line, number, start, old, new, seen[str(number), old, new]))
    return mutants


def changes(code: str) -> Iterator[tuple[int, str, str]]:
    """(position, old, new) of every change of one token."""
    for token in OPERATOR.finditer(code):
        for new in BINARY[token[0]]:
            yield token.start(), token[0], new
    for token in UNARY.finditer(code):
        yield token.start(), token[0], ""
    for token in WORD.finditer(code):
        yield token.start(), token[0], WORDS[token[0]]
    for token in NUMBER.finditer(code):
        for new in neighbours(token[1]):
            yield token.start(), token[0], new + token[2]
    for token in CONDITION.finditer(code):
        opening = token.end() - 1
        condition = code[opening : closing(code, opening) + 1]
        yield opening, condition, f"(!{condition})"
    yield from swapped_selections(code)


def neighbours(digits: str) -> list[str]:
    """The constants one above and one below; nothing is below 0."""
    value = int(digits.replace("'", ""), 0)
    written = hex if digits.startswith("0x") else str
    return [written(other) for other in (value + 1, value - 1) if other >= 0]


def swapped_selections(code: str) -> Iterator[tuple[int, str, str]]:
    """select(mask, a, b) -> select(mask, b, a)."""
    for call in re.finditer(r"\bselect(?:<\w+>)?\(", code):
        inside = code[call.end() : closing(code, call.end() - 1)]
        parts = arguments(inside)
        if len(parts) == 3 and parts[1].strip() != parts[2].strip():
            yield call.end(), inside, ", ".join(p.strip() for p in (parts[0], parts[2], parts[1]))


def closing(code: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"the parenthesis at {opening} is never closed")


def arguments(inside: str) -> list[str]:
    """The text between top-level commas."""
    parts, depth = [""], 0
    for letter in inside:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
