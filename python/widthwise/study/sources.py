"""Where an error was made: the local errors of every step of one dot product."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._array import Array
from .._compare import isfinite
from .._dot import NAMES, Operands
from .._format import Format
from .._format_texts import said
from .._missing import asks_for
from .._table import Findings, Table, Titled, cell
from .._trace import Trace, Wire, trace
from .._unit import Unit, as_unit, titled
from .._wires import aligned_sums, packed, wire_number
from . import plots
from .given import AGAINST, OneDot, checked_against, one_dot

SOURCES = (
    "operands",
    "product rounding",
    "alignment",
    "sum rounding",
    "overflow",
    "underflow",
)
# Whose codes are looked at: of a sum's nodes only the sum is.
ROUNDINGS = ("product.round", "out", "chain.promote.round", "chain.final")
UNTOLD = ("compensation", "c_at", "c_round", "lane_permutation")  # settings of a chain


def nearest(x: Fraction | float) -> float:
    """As binary64 has it; infinite past its range."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def printed(x: Fraction | float) -> float | str:
    """As binary64 has it; past its range or below it in four digits."""
    near = nearest(x)
    if isinstance(x, float) or x == near or (near and math.isfinite(near)):
        return near
    figures = Context(prec=4, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return f"{figures.divide(Decimal(x.numerator), Decimal(x.denominator)):.4g}"


class Error(NamedTuple):
    """What one step added to the result's error."""

    step: int  # the position along k; of a block of lanes, its first
    source: str
    error: Fraction | float  # after the step - before it; infinite where that is no number


class Sources(Titled):
    """Local errors of one dot product; together they are computed - exact.

    Attributes:
        unit, canonical: its text, as it was asked for and the canonical one.
        against: 'given' or 'operands', whose exact sum is meant.
        errors: every step's that is not 0, exact: (step, source, error). The last is infinite where
            its step left the numbers.
        result: what was computed, a Fraction; None where it is no number.
        length: how many products were summed.
        overflow_at: the step that left the numbers, where the account ends; None if there is none.
            Where an operand did, on being rounded, nothing else is told.

    >>> sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)").result
    Fraction(9, 1)
    """

    def __init__(
        self,
        unit: Unit,
        errors: list[Error],
        result: Fraction | None,
        overflow_at: int | None,
        against: str = "given",
        terms: bool = False,
        length: int = 0,
    ) -> None:
        self.unit, self.canonical, self._title_of_unit = unit.text, str(unit), titled(unit)
        self.errors, self.against, self.terms = errors, against, terms
        self.result, self.overflow_at, self.length = result, overflow_at, length

    def of(self, source: str) -> list[Any]:
        """A source's errors, exact, in order.

        Raises:
            ValueError: a source that there is not.

        >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
        >>> found.of("sum rounding")
        [Fraction(-1, 4)]
        """
        if source not in SOURCES:
            raise ValueError(f"source = {source!r}: it may be {', '.join(SOURCES)}")
        return [e.error for e in self.errors if e.source == source]

    def total(self, source: str | None = None) -> Fraction | float:
        """The sum of a source's errors, or of all; infinite where the result is no number.

        >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
        >>> found.total(), found.total("underflow")
        (Fraction(-1, 4), Fraction(0, 1))
        """
        errors = [e.error for e in self.errors] if source is None else self.of(source)
        return sum(errors, Fraction())

    def table(self) -> Table:
        """Of each source: how many errors, their sum, and the sum of their magnitudes, as floats:
        infinite past binary64's range, where a Sources that is printed has digits.

        >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
        >>> found.table().rows
        [('product rounding', 0, 0.0, 0.0), ('sum rounding', 1, -0.25, 0.25)]
        """
        return self._summed(nearest)

    def _summed(self, shown: Callable[[Fraction | float], float | str]) -> Table:
        rows = [
            (source, len(found), shown(sum(found)), shown(sum(map(abs, found))))
            for source in SOURCES
            if (found := self.of(source)) or source.endswith("rounding")
        ]
        return Table(["source", "errors", "sum", "sum of magnitudes"], rows)

    def _title(self) -> str:
        ends = f"no number from step {self.overflow_at} on"
        if self.overflow_at is None:
            ends = f"computed - exact = {cell(printed(self.total()))}"
        return f"{self._title_of_unit}: {ends}, against {AGAINST[self.against]}"

    def _printed(self) -> Table:
        return self._summed(printed)

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A data frame of a library, 'pandas' or 'polars': step, source, error.

        >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
        >>> found.to_dataframe()[["step", "error"]].values.tolist()
        [[1.0, -0.25]]
        """
        rows = [(e.step, e.source, nearest(e.error)) for e in self.errors]
        return Findings(["step", "source", "error"], rows).to_dataframe(library)

    def plot(self, ax: Any = None, *, title: str | None = None) -> Any:
        """Each source's errors summed along k, on `ax` or a new figure. Needs matplotlib.

        title: above the axes. Where the sum left the numbers, a line says so.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
        >>> found.plot().get_xlabel()
        'products summed'
        """
        ax = plots.axes(ax)
        end = max((e.step for e in self.errors), default=-1) + 1
        for place, source in enumerate(SOURCES):
            so_far, steps, sums = Fraction(), [0], [0.0]
            for e in self.errors:
                if e.source == source and isinstance(e.error, Fraction):
                    so_far += e.error
                    steps.append(e.step + 1)
                    sums.append(nearest(so_far))
            if len(steps) > 1:
                look, along = plots.Look(place), np.array([*steps, end])
                marks = look.of_markers() | {"markevery": plots.marked(along, look.begin)}
                ax.step(along, [*sums, sums[-1]], where="post", label=source, lw=1.6, **marks)
        if self.overflow_at is not None:
            ax.axvline(self.overflow_at, color="gray", ls=":", label="no number from here on")
            ax.set_xlim(-0.5, self.overflow_at + 1)
        elif not self.errors:
            ax.text(0.5, 0.5, "no error", transform=ax.transAxes, ha="center", va="center")
            ax.set(xlim=(0, max(1, self.length)), ylim=(-1, 1))
        plots.count_whole(ax)
        y = f"error so far, computed - exact,\nagainst {AGAINST[self.against]}"
        return plots.finish(ax, title, f"{'terms' if self.terms else 'products'} summed", y)


@asks_for("ww.study.sources(a, b, 'mac(e5m10)')")
def sources(
    a: Any,
    b: Any,
    unit: str | Unit,
    *,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    seed: int = 0,
    rounding: str = "rne",
    against: str = "given",
) -> Sources:
    """Where the error of one dot product was made, by its trace.

    A rounding counts as overflow where its exact value lies past the format's largest number, as
    underflow where that lies below the least normal one. Alignment is what terms lost on being
    shifted into a block's register; operands, what rounding the data to them cost, and what a unit
    that reads less of them left away.

    Args:
        a, b: values or Arrays, (k,); b = None sums a.
        scale_a, scale_b: (blocks,), of a unit that scales them. Others: as in `accumulation`.
        against: 'given', or 'operands', which leaves out what rounding the data to them cost.
    Returns:
        Sources: the steps' errors, exact, whose sum is the result's.
    Raises:
        ValueError: a unit whose sums are compensated or whose C comes last: what is lost there on
            the way is not lost to the result. Data that are no numbers.

    >>> found = sources([8.0, 1.0], [1.0, 1.25], "mac(e4m3fn)")
    >>> found.errors, found.result
    ([Error(step=1, source='sum rounding', error=Fraction(-1, 4))], Fraction(9, 1))
    """
    u = as_unit(unit)
    chain = u.fields.get("chain", {})
    for key in UNTOLD:
        if key in chain:
            raise ValueError(
                f"unit {said(u.text)} has chain.{key}; errors are told apart where sums go in "
                "order, C first, without compensation"
            )
    x = one_dot(u, a, b, c, rounding, scale_a, scale_b)
    exact = x.data.given if checked_against(against) == "given" else x.operands
    given, given_c = exact_terms(u, exact)
    if (at := overflowed_operand(u, x.operands)) is not None:
        errors = [Error(at, "operands", math.inf)]
        return Sources(u, errors, None, at, against, b is None, x.operands.k)
    traced = trace(u, x.a, x.b, x.c, scale_a=x.scale_a, scale_b=x.scale_b, seed=seed)
    errors, result, ended_at = Account(u, x, given, given_c).of(traced)
    return Sources(u, errors, result, ended_at, against, b is None, x.operands.k)


def exact_terms(u: Unit, x: Operands) -> tuple[np.ndarray, Fraction]:
    """Products with their scales, and c.

    Raises:
        ValueError: one is no number.
    """
    a, b, c, *scales = (
        None if y is None else numbers(name, y) for name, y in zip(NAMES, x.arrays, strict=True)
    )
    assert a is not None and b is not None
    terms = a * b
    for scale in scales:
        if scale is not None:
            terms = terms * np.repeat(scale, u.scale_block or 1)[: len(terms)]
    return terms, Fraction() if c is None else c[0]


def overflowed_operand(u: Unit, x: Operands) -> int | None:
    """The first step whose operand has become no number."""
    steps = []
    for name, y in zip(NAMES, x.arrays, strict=True):
        if y is not None and not (finite := isfinite(y)).all():
            at = int(np.argmin(finite))
            steps.append(at * (u.scale_block or 1) if name.startswith("scale") else at)
    return min(steps, default=None)


class Account:
    """The sum of a traced dot product, followed from wire to wire."""

    def __init__(self, unit: Unit, x: OneDot, given: np.ndarray, given_c: Fraction) -> None:
        fields = unit.fields
        self.unit = unit
        self.given = given  # each product, scaled
        self.scales = [1] * len(given)  # of each product, which is traced before it is scaled
        if x.scale_a is not None and x.scale_b is not None and unit.scale_block:
            of_blocks = numbers("scale_a", x.scale_a) * numbers("scale_b", x.scale_b)
            self.scales = np.repeat(of_blocks, unit.scale_block)[: len(given)].tolist()
        self.given_c: Fraction | None = given_c
        self.late = fields.get("c_level") == "late"
        aligned = aligned_sums(unit)
        # Where exact sums are held the wires may show less than the sum, but as much as rounds it.
        self.register = None
        if aligned:
            self.register = "join" if "c_sum" in aligned or not self.late else "block_sum"
        self.promotes = "promote" in fields.get("chain", {})
        self.sum = self.outer = Fraction()
        self.terms: dict[int, Fraction] = {}
        self.held: Fraction | None = None
        self.errors: list[Error] = []

    def of(self, traced: Trace) -> tuple[list[Error], Fraction | None, int | None]:
        """The errors, the result, and where the sum left the numbers."""
        for wire in filter(self.tells, traced):
            f = traced.format_of(wire)
            packs = wire.stage == "pack"
            number = packed(wire.significand, f) if packs else wire_number(wire)
            if number is None:
                at = self.step(wire)
                self.note(at, "overflow", -math.inf if wire.negative else math.inf)
                return self.errors, None, at
            self.follow(wire, number.fraction, f)
        return self.errors, self.outer if self.promotes else self.sum, None

    def tells(self, wire: Wire) -> bool:
        if wire.stage == "unpack":
            return wire.slot == "c" and self.given_c is not None  # later it is the running sum
        return wire.stage in ("product", self.register) or (
            wire.stage == "pack" and wire.slot in ROUNDINGS
        )

    def step(self, wire: Wire) -> int:
        return min(self.terms, default=max(wire.lane, 0))

    def follow(self, wire: Wire, value: Fraction, f: Format) -> None:
        if wire.stage == "unpack":
            self.note(0, "operands", value - (self.given_c or 0))
            self.sum, self.outer = (Fraction(), value) if self.promotes else (value, Fraction())
            self.given_c = None
        elif wire.stage == "product":
            self.terms[wire.lane] = value
            if wire.lane < len(self.given):
                lost = value * self.scale_of(wire.lane) - self.given[wire.lane]
                self.note(wire.lane, "operands", lost)
        elif wire.stage == "pack":
            self.pack(wire, value, f)
        else:
            self.held = value

    def pack(self, wire: Wire, rounded: Fraction, f: Format) -> None:
        if wire.slot == "product.round":
            exact, scale = self.terms[wire.lane], self.scale_of(wire.lane)
            self.rounding(wire.lane, "product rounding", exact, rounded, f, scale)
            self.terms[wire.lane] = rounded
        elif wire.slot == "out":
            self.rounding(self.step(wire), "sum rounding", self.joined(wire), rounded, f)
            self.sum, self.terms, self.held = rounded, {}, None
        elif wire.slot == "chain.promote.round":
            self.rounding(max(wire.lane, 0), "sum rounding", self.outer + self.sum, rounded, f)
            self.outer, self.sum = rounded, Fraction()
        else:
            before = self.outer if self.promotes else self.sum
            self.rounding(len(self.given) - 1, "sum rounding", before, rounded, f)
            self.sum = self.outer = rounded

    def scale_of(self, lane: int) -> Fraction | int:
        return self.scales[lane] if lane < len(self.scales) else 1  # zeros fill the last block

    def joined(self, wire: Wire) -> Fraction:
        """The block's sum with C before it is rounded."""
        scaled = (term * self.scale_of(lane) for lane, term in self.terms.items())
        exact = self.sum + sum(scaled)
        if self.held is None:
            return exact
        held = self.held + (self.sum if self.register == "block_sum" else 0)
        self.note(self.step(wire), "alignment", held - exact)
        return held

    def rounding(
        self,
        step: int,
        source: str,
        exact: Fraction,
        rounded: Fraction,
        f: Format,
        scale: Fraction | int = 1,
    ) -> None:
        if rounded == exact:
            return
        e = exponent(exact)
        if e > f.emax or (e == f.emax and abs(exact) > f.max_finite):
            source = "overflow"
        elif e < f.emin:
            source = "underflow"
        self.note(step, source, (rounded - exact) * scale)

    def note(self, step: int, source: str, error: Fraction | float) -> None:
        if error:
            self.errors.append(Error(step, source, error))


def numbers(name: str, x: Array) -> np.ndarray:
    try:
        return x.to_fractions()
    except ValueError as why:
        raise ValueError(f"{name}: {why}") from None


def exponent(x: Fraction) -> int:
    """Of the largest power of two that is not above |x|, which is not zero."""
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return e if abs(x) >= Fraction(2) ** e else e - 1
