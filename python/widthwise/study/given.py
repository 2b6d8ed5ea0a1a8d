"""Data as given, before they are rounded to a unit's formats: what errors are held against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _widthwise as core
from .._array import Array
from .._compare import classify, equal, greater
from .._container import without_tensor_scale
from .._create import array, from_bits
from .._dot import NAMES, Operands
from .._reading import shortened
from .._unit import Unit
from .operands import part, rounded_operands
from .registers import unit_of

AGAINST = {"given": "the data as given", "operands": "the unit's own operands"}
SMALL = [f"{sign}_{size}" for sign in ("positive", "negative") for size in ("zero", "subnormal")]
INEXACT = 1 | 2 | 4
# Formats that hold the data: floats, 64-bit integers, and Fractions and texts to 1,024 digits.
HOLD = ("binary64", "e11m63", "e62m1023")


def checked_against(against: str) -> str:
    if against not in AGAINST:
        raise ValueError(f"against = {against!r}: it may be 'given' or 'operands'")
    return against


class Data(NamedTuple):
    """Dot products of one unit: as it computes them, and what they would be without rounding.

    `operands` are the unit's, rounded to its formats; `read` what it keeps of them, which is less
    where it drops digits (TF32 in binary32 registers). `given` are the data in formats that hold
    them, those of `given_unit`; the names of those that rounding changed are in `rounded`, and
    whether that took one of them out of the normal numbers' range.
    """

    unit: Unit
    operands: Operands
    read: Operands
    given: Operands
    given_unit: Unit
    rounded: frozenset[str]
    strayed: bool = False

    @property
    def k(self) -> int:
        return self.operands.k

    @property
    def changed(self) -> bool:
        """Whether what the unit reads differs from the data."""
        return self.given is not self.read


def study_data(
    unit: Unit,
    a: Any,
    b: Any,
    c: Any,
    rounding: str,
    scale_a: Any = None,
    scale_b: Any = None,
) -> Data:
    """Of dot products along the last axis; b = None is a one for each of a."""
    a, scale_a = without_tensor_scale("a", a, scale_a, unit)
    b, scale_b = without_tensor_scale("b", b, scale_b, unit)
    used = rounded_operands(unit, a, b, c, rounding, scale_a, scale_b)
    x = Operands.of_dots(unit, *used)
    read = as_read(unit, x)
    exact = [as_given(y, z) for y, z in zip((a, b, c, scale_a, scale_b), used, strict=True)]
    changed = frozenset(name for name, y in zip(NAMES, exact, strict=True) if y is not None)
    if not changed and read is x:
        return Data(unit, x, read, read, unit, changed)
    arrays = [z if y is None else y for y, z in zip(exact, used, strict=True)]
    arrays[3:] = in_one_format(*arrays[3:])
    holder = unit_that_holds(unit, arrays)
    out = any(y is not None and strays(y, z) for y, z in zip(exact, used, strict=True))
    return Data(unit, x, read, Operands.of_dots(holder, *arrays), holder, changed, out)


def strays(exact: Array, rounded: Array) -> bool:
    """Whether rounding changed a number to one below the normal ones, or one past the largest."""
    small = np.isin(classify(rounded), SMALL)
    largest = from_bits(rounded.format.codes["max_finite"], rounded.format)
    return bool(np.any(small & ~equal(exact, rounded) | greater(abs(exact), largest)))


def as_given(x: Any, rounded: Array | None) -> Array | None:
    """Values in a format that holds them; None where rounding changed none of them."""
    if x is None or rounded is None or isinstance(x, Array):
        return None
    exact = held(x)
    return None if np.all(equal(exact, rounded)) else exact


def held(x: Any) -> Array:
    for text in HOLD:
        z, raised = array(x, text, flags=True)
        if not np.any(raised & INEXACT):
            break
    return z


def in_one_format(x: Array | None, y: Array | None) -> list[Array | None]:
    if x is None or y is None or x.format == y.format:
        return [x, y]
    both = [held(x), held(y)]
    widest = max(both, key=lambda z: z.format.width).format
    return [array(z, widest) for z in both]


def unit_that_holds(unit: Unit, arrays: list[Array | None]) -> Unit:
    """Whose operands are of these arrays' formats, and which shares scales as the unit does."""
    a, b, c, scale, _ = (None if x is None else {"fmt": str(x.format)} for x in arrays)
    fields = {"a": a, "b": b, "c": c or {"fmt": "binary64"}, "lanes": 1, "c_level": "late"}
    fields["out"] = {"fmt": "binary64"}
    if scale is not None:
        fields["scale"] = unit.fields["scale"] | scale
    return unit_of(fields)


def as_read(unit: Unit, x: Operands) -> Operands:
    """What the unit keeps of its operands."""
    keeps = [unit._core.a_keeps, unit._core.b_keeps, unit._core.c_keeps]
    if not any(keep is not None for keep in keeps):
        return x
    a, b, c, *scales = x.arrays
    kept = [shortened(y, keep) for y, keep in zip((a, b, c), keeps, strict=True)]
    return Operands([*kept, *scales], x.shape, x.k)


class OneDot(NamedTuple):
    """One dot product: arrays (k,), c of shape (), scales (blocks,) of a unit that takes them."""

    a: Array
    b: Array
    c: Array | None
    scale_a: Array | None
    scale_b: Array | None
    operands: Operands
    data: Data

    def scales_of_terms(self, unit: Unit) -> list[Array | None]:
        """Scales as (k,), each term's own."""
        block = np.arange(self.operands.k) // (unit.scale_block or 1)
        return [None if scale is None else scale[block] for scale in (self.scale_a, self.scale_b)]


def one_dot(
    unit: Unit, a: Any, b: Any, c: Any, rounding: str, scale_a: Any = None, scale_b: Any = None
) -> OneDot:
    data = study_data(unit, a, b, c, rounding, scale_a, scale_b)
    x = data.operands
    if x.shape != ():
        raise ValueError(
            f"a and b make {x.count} dot products, of shape {x.shape}; one is studied: "
            "pass one row of each"
        )
    p, q, start, scales_p, scales_q = x.arrays
    assert p is not None and q is not None
    return OneDot(p, q, None if start is None else start[0], scales_p, scales_q, x, data)


# Of a result: a Deviation's figures, and those of the two parts of its error.
DIFFERENCE = ("ulps", "relative", "error")
DEVIATION = (*DIFFERENCE, "exact", "magnitude", "condition")
PARTS = {"operands": "operand", "accumulation": "accumulation"}
FIGURES = (*DEVIATION, *(f"{part}_{figure}" for part in PARTS.values() for figure in DIFFERENCE))


class Truth:
    """The exact sums of data as given and of what the unit reads of them, as products are added.

    Results are held against the sum that `against` names. What rounding the operands cost is looked
    at against the data alone.
    """

    def __init__(self, data: Data, against: str, apart: bool) -> None:
        self.against = against
        self.reads = core.ExactSums(data.unit._core, self.summed(data).bound())
        self.given = None
        if against == "given" and (apart or data.changed):
            self.given = core.ExactSums(data.given_unit._core, data.given.bound())

    def summed(self, data: Data) -> Operands:
        return data.read if self.against == "given" else data.operands

    def add(self, data: Data, first: int, last: int) -> None:
        self.reads.add(part(data.unit, self.summed(data), first, last).bound())
        if self.given is not None:
            self.given.read(data.given_unit._core)
            self.given.add(part(data.unit, data.given, first, last).bound())

    def figures(self, unit: Unit, computed: Array) -> np.ndarray:
        bits = np.ascontiguousarray(computed.bits)
        count = bits.size // unit.result_format.limbs
        found = np.empty((count, len(DEVIATION)))
        of_operands = np.zeros((count, len(DIFFERENCE)))
        accumulated = np.empty_like(of_operands)
        exact = self.reads if self.given is None else self.given
        exact.deviations(unit._core, bits, found)
        self.reads.errors(unit._core, bits, exact, accumulated)
        if self.given is not None:
            self.reads.differences(unit._core, self.given, of_operands)
        elif self.against == "operands":
            of_operands[:] = np.nan  # nobody asked
        return np.column_stack([without_numbers(found), of_operands, accumulated])


def without_numbers(figures: np.ndarray) -> np.ndarray:
    """Errors against an exact sum that is NaN, as infinite ones of no known amount."""
    at = {name: figures[..., i] for i, name in enumerate(DEVIATION)}
    nan = np.isnan(at["exact"])
    for name in ("ulps", "relative"):
        at[name][nan] = np.inf
    at["error"][nan] = np.nan
    return figures
