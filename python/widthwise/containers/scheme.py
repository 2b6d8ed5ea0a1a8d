"""The codes of affine integers, as text: affine(uint8), affine(int4,symmetric,32)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._format_texts import said

SCHEMES = ("asymmetric", "symmetric", "symmetric_full")
MOST_BITS = 32
INTEGERS = [[np.dtype(f"{kind}{size}") for size in (8, 16, 32)] for kind in ("uint", "int")]
WANTED = "as affine(uint8), affine(int8,symmetric,channel) or affine(int4,symmetric,32)"


@dataclass(frozen=True)
class Scheme:
    """Integers of so many bits, and which of them are codes."""

    bits: int
    signed: bool
    name: str

    @property
    def qmin(self) -> int:
        if not self.signed:
            return 0
        return -(1 << self.bits - 1) + (self.name == "symmetric")

    @property
    def qmax(self) -> int:
        return (1 << self.bits - self.signed) - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the least of NumPy's integers that holds the codes."""
        size = 0 if self.bits <= 8 else 1 if self.bits <= 16 else 2
        return INTEGERS[self.signed][size]

    @property
    def zero(self) -> int:
        """The zero point of the symmetric ones."""
        return 0 if self.signed else (self.qmax + 1) // 2

    def text(self, grouping: str = "") -> str:
        parts = [f"{'int' if self.signed else 'uint'}{self.bits}"]
        if self.name != "asymmetric" or grouping:
            parts.append(self.name)
        return f"affine({','.join([*parts, *([grouping] if grouping else [])])})"


def scheme_of(bits: Any, symmetric: Any, signed: Any, scheme: Any) -> Scheme:
    """Of what a user said, checked."""
    name = scheme if scheme is not None else "symmetric" if symmetric else "asymmetric"
    if name not in SCHEMES:
        raise ValueError(f"scheme = {name!r}: it may be {', '.join(map(repr, SCHEMES))}")
    if scheme is not None and symmetric and name == "asymmetric":
        raise ValueError(f"symmetric = {symmetric!r} and scheme = 'asymmetric'; leave one out")
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer):
        raise TypeError(f"bits = {bits!r}: an integer is wanted, or a text {WANTED}")
    if not 1 <= bits <= MOST_BITS:
        raise ValueError(f"bits = {bits}: codes have 1 to {MOST_BITS} bits")
    signed = name != "asymmetric" if signed is None else bool(signed)
    if name == "symmetric" and not signed:
        raise ValueError(
            "signed = False and scheme = 'symmetric', whose codes lie on both sides of 0; "
            "scheme='symmetric_full' has unsigned codes about their middle"
        )
    if name == "symmetric" and bits == 1:
        raise ValueError("bits = 1: a symmetric code has at least 2 bits, -1, 0 and 1")
    return Scheme(int(bits), signed, name)


def is_affine(text: str) -> bool:
    """Whether a format's text is one of these, whatever is wrong with it."""
    return text.lstrip().lower().startswith("affine")


def parsed(text: str) -> tuple[Scheme, str]:
    """A text as its codes and the text of its groups."""
    whole = re.fullmatch(r"\s*affine\s*\(([^()]*)\)\s*", text.lower())
    if not whole:
        named = re.fullmatch(r"\s*(u?int\d+)\s*", text.lower())
        ours = f"; write affine({named[1]}), or bits as a number" if named else f", {WANTED}"
        raise ValueError(f"'{said(text)}' is no text of affine integers{ours}")
    element, *rest = [part.strip() for part in whole[1].split(",")]
    kind = re.fullmatch(r"(u?)int(\d+)", element)
    if not kind:
        raise ValueError(f"'{text}': {element!r} is no integer as int8 or uint4; {WANTED}")
    name = rest.pop(0) if rest and rest[0] in SCHEMES else "asymmetric"
    grouping = rest.pop(0) if rest else ""
    if rest or not re.fullmatch(r"|channel|all|\d+|\d+x\d+", grouping):
        unread = ",".join([grouping, *rest])
        raise ValueError(
            f"'{text}': {unread!r} is neither a scheme ({', '.join(SCHEMES)}) nor channel, a "
            "block's length, a tile as 1x128, or all"
        )
    try:
        return scheme_of(int(kind[2]), False, not kind[1], name), grouping
    except ValueError as why:
        raise ValueError(f"'{text}': {why}") from None
