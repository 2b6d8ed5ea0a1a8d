"""FloPoCo's words: two bits in front of a number say what it is, and no exponent is set aside.

A word is exn, sign, exponent (wE bits), fraction (wF bits). exn: 00 zero, 01 a number, 10 infinity,
11 NaN. Of a number every exponent counts, 0 and all ones too: (-1)^s 1.f 2^(e - bias), the bias
2^(wE - 1) - 1. What rounds to less than the least of them is zero, of its sign, and what rounds to
more than the largest is infinity. Rounding is to nearest even.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array
from ._elementwise import compute
from ._format import Format
from ._vector_lines import BATCH, Column, VectorLines
from ._verify import random_codes

ZERO, NUMBER, INFINITE, NAN = range(4)
OPERATIONS = ("add", "subtract", "multiply", "divide", "sqrt", "fma", "convert")


class Words:
    """Words of one wE and wF, as codes of a format that has room for what operations make."""

    def __init__(self, name: str, text: str) -> None:
        self.format = Format(text)
        self.exponent, self.fraction = self.format.exponent_bits, self.format.fraction_bits
        if self.format != Format(f"e{self.exponent}m{self.fraction}"):
            raise ValueError(
                f"{name} = {text}: FloPoCo's words know wE and wF alone; "
                f"take e{self.exponent}m{self.fraction}"
            )
        self.bias = self.format.bias
        self.width = 3 + self.exponent + self.fraction
        # The digits of a sum that cancels reach as far below the least product.
        self.wide = Format(f"e{self.exponent + 3 + self.fraction.bit_length()}m{self.fraction}")

        self.infinity, self.nan = (self.wide.codes[x] for x in ("infinity", "nan"))

    def code(self, word: int) -> int:
        """A code of `wide`. What stands behind exn and sign of no number says nothing."""
        exn, sign = word >> self.width - 2, word >> self.width - 3 & 1
        negative = sign << self.wide.width - 1
        if exn == NAN:
            return self.nan
        if exn == INFINITE:
            return self.infinity | negative
        if exn == ZERO:
            return negative
        field = word >> self.fraction & (1 << self.exponent) - 1
        fraction = word & (1 << self.fraction) - 1
        return negative | (field - self.bias + self.wide.bias) << self.fraction | fraction

    def word(self, code: int) -> int:
        """The word of a number that is rounded to wF digits already."""
        sign = code >> self.wide.width - 1
        magnitude = code & (1 << self.wide.width - 1) - 1
        if magnitude > self.infinity:
            return self.special(NAN, 0)
        field = (magnitude >> self.fraction) - self.wide.bias + self.bias
        if magnitude == self.infinity or field >> self.exponent > 0:
            return self.special(INFINITE, sign)
        if magnitude == 0 or field < 0:
            return self.special(ZERO, sign)
        fraction = magnitude & (1 << self.fraction) - 1
        return self.special(NUMBER, sign) | field << self.fraction | fraction

    def special(self, exn: int, sign: int) -> int:
        return (exn << 1 | sign) << self.exponent + self.fraction

    def meaning(self, word: int) -> int:
        """A word without what says nothing; so FloPoCo's own test benches compare."""
        exn = word >> self.width - 2
        kept = {NUMBER: self.width, NAN: 2}.get(exn, 3)
        return word >> self.width - kept << self.width - kept


class FlopocoVectors(VectorLines):
    """Lines of a FloPoCo operator: words of its operands and its result, no flags."""

    def __init__(self, op: str, format: str, to: str, rounding: str) -> None:
        self.op = core.operation_name(op)
        if self.op not in OPERATIONS:
            raise ValueError(f"op = {op}: FloPoCo's words are for {', '.join(OPERATIONS)}")
        if rounding != "rne":
            raise ValueError(f"rounding = {rounding}: FloPoCo rounds to nearest even; take none")
        self.words = Words("format", format)
        self.out = Words("to", to) if to else self.words
        self.text = f"{self.op} of FloPoCo's words, {sizes(self.words)}"
        self.text += f" to {sizes(self.out)}" if to else ""
        names = "abc"[: core.arity(self.op)]
        self.inputs = [Column(name, self.words.width) for name in names]
        self.result = Column("y", self.out.width)
        # A result's exponents go as far as the operands' let them; its digits are wF.
        exponents = max(self.words.wide.exponent_bits, self.out.wide.exponent_bits)
        self.between = Format(f"e{exponents}m{self.out.fraction}")

    def answers(
        self, operands: list[list[int]], seed: int = 0, first: int = 0
    ) -> tuple[list[int], list[int]]:
        wide = self.words.wide
        arrays = [
            Array._of(_codes.from_integers([self.words.code(x) for x in words], wide), wide)
            for words in operands
        ]
        rounded = compute(self.op, arrays, self.between)
        codes = _codes.integers(rounded.astype(self.out.wide).bits, self.out.wide)
        return [self.out.word(code) for code in codes], [0] * len(codes)

    def same(self, given: list[int], due: list[int]) -> list[bool]:
        meaning = self.out.meaning
        return [meaning(x) == meaning(y) for x, y in zip(given, due, strict=True)]

    def made(self, n: int, seed: int) -> Iterator[str]:
        """n lines, of random and directed operands, each of what a word may be."""
        for first in range(0, n, BATCH):
            count = min(BATCH, n - first)
            # Where a format has subnormals, infinity and NaN, words have numbers.
            drawn = random_codes(
                len(self.inputs), (count,), self.words.format, (seed + first) % 2**64
            )
            rng = np.random.default_rng([seed % 2**64, first])
            operands = []
            for x in drawn:
                kinds = rng.choice(4, count, p=(0.05, 0.87, 0.05, 0.03))
                operands.append(self.of_kinds(_codes.integers(x.bits, x.format), kinds.tolist()))
            results, _ = self.answers(operands)
            for numbers in zip(*operands, results, strict=True):
                yield f"{self.line(list(numbers))}\n"

    def of_kinds(self, codes: list[int], kinds: list[int]) -> list[int]:
        place = self.words.width - 2
        return [self.words.meaning(k << place | x) for k, x in zip(kinds, codes, strict=True)]


def sizes(words: Words) -> str:
    return f"wE = {words.exponent}, wF = {words.fraction}"
