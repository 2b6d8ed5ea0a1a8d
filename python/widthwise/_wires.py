"""Exact numbers of a trace: what stands on its wires, and what its codes stand for."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from . import _widthwise as core
from ._codes import from_integers
from ._format import Format
from ._trace import Wire
from ._unit import Unit

WIDEST = 1 << 17  # bits between two numbers' digits; further apart no difference is written out


class Dyadic(NamedTuple):
    """m * 2**q."""

    m: int
    q: int

    def __sub__(self, other: Dyadic) -> Dyadic | None:
        return total([self, Dyadic(-other.m, other.q)])

    @property
    def fraction(self) -> Fraction:
        if self.m == 0:
            return Fraction()
        return Fraction(self.m << self.q) if self.q >= 0 else Fraction(self.m, 1 << -self.q)

    @property
    def top(self) -> int:
        """The power of two above it."""
        return self.q + self.m.bit_length()


def total(terms: Iterable[Dyadic | None]) -> Dyadic | None:
    """Their exact sum; nothing where one is no number or they lie too far apart."""
    terms = list(terms)
    if any(term is None for term in terms):
        return None
    present = [term for term in terms if term and term.m]
    least = min((term.q for term in present), default=0)
    if any(term.top - least > WIDEST for term in present):
        return None
    return Dyadic(sum(term.m << (term.q - least) for term in present), least)


def wire_number(wire: Wire) -> Dyadic | None:
    """What stands on a wire, if it is a number; not at pack, where it is a code."""
    if wire.kind == "zero":
        return Dyadic(0, wire.exponent)
    if wire.kind != "finite" or wire.stage == "pack":
        return None
    return Dyadic(-wire.significand if wire.negative else wire.significand, wire.exponent)


def packed(code: int, f: Format) -> Dyadic | None:
    kind, negative, significand, exponent = core.values(f._core, from_integers([code], f))[0]
    if kind in ("infinite", "nan"):
        return None
    return Dyadic(-significand if negative else significand, exponent)


def aligned_sums(u: Unit) -> list[str]:
    """Those that cut their terms to one place, by name."""
    sums = ("group_sum", "block_sum", "c_sum")
    return [name for name in sums if "reference" in u.fields.get(name, {}).get("align", {})]
