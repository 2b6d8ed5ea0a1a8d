"""Higham's bounds of an accumulation's error, from a unit's description."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._compare import isfinite
from .._create import array, from_bits
from .._elementwise import multiply
from .._format import Format
from .._format_facts import LAST_DIGIT, highest, lowest
from .._settings import brief, share
from .._unit import Unit, as_unit

NEAREST = ("rne", "rna", "rnz", "rnp", "rnm", "rno")
WITHOUT_ROUNDOFF = ("posit", "takum", "table")  # far from 1, or in a gap, any digit may be lost


@lru_cache(maxsize=256)
def fields_of(u: Unit) -> dict[str, Any]:
    """To be read alone: bounds of many lengths ask for a unit's again and again."""
    return u.fields


class Rounding(NamedTuple):
    """Errors (1 + d), |d| <= roundoff, that one term may meet so many times on its way."""

    times: int
    roundoff: float
    bias: float  # what of the roundoff may always have one direction

    @property
    def in_all(self) -> float:
        return self.times * self.roundoff if self.times else 0.0


def bound(unit: str | Unit, k: int) -> float:
    """What |computed - exact| of k products is at most, over the sum of the terms' magnitudes.

    Higham, Accuracy and Stability of Numerical Algorithms, 3.1 and 4.2: gamma = s / (1 - s), s the
    sum of the unit roundoffs that a term meets; half an ulp is one roundoff to nearest, else two.
    An alignment's truncated terms count with what they lose together. Holds where nothing
    overflows or underflows (as all does that fixed point rounds), for exact multipliers.

    Args:
        unit: as `ww.Unit` takes it.    k: how many products.
    Returns:
        A float. Infinite where s reaches 1, a register cuts at a fixed place, or numbers are
        rounded to posits, takums or tables, whose digits hang on the number. NaN for Kahan's
        sums, of which only the first order is known: 2 u.
    Raises:
        ValueError: k is no number of products.

    >>> round(bound("mac(e5m10)", 100), 4)
    0.0519
    >>> bound("kulisch(e5m10)", 100) < 2**-10.9
    True
    """
    return bound_beside(as_unit(unit), k, ())


def bound_beside(u: Unit, k: int, met: Sequence[Rounding]) -> float:
    """The same of terms that met other roundings before."""
    compensation = fields_of(u).get("chain", {}).get("compensation")
    steps = [*met, *roundings_met(u, k)]
    if compensation == "kahan":
        return math.nan
    if compensation == "neumaier":
        return compensated(steps)
    return gamma(sum(step.in_all for step in steps))


def likely_bound(unit: str | Unit, k: int, confidence: float = 0.99) -> float:
    """The same, to hold with that probability where rounding errors are independent of mean zero.

    Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis (SIAM J. Sci. Comput.
    41, 2019), Theorem 2.4, for every term at once: sqrt(n) u in place of n u. Stochastic rounding's
    errors are such ones, but for what lies below its random bits; nearest's often behave so. What
    may have one direction, as truncation's errors, counts in full.

    Args:
        unit, k: as in `bound`.    confidence: that probability, above 0 and below 1.
    Returns:
        A float, never above `bound`'s.
    Raises:
        ValueError: confidence is not between 0 and 1, or k is no number of products.

    >>> bound("mac(bfloat16)", 1000), round(likely_bound("mac(bfloat16)", 1000), 2)
    (inf, 0.87)
    """
    return likely_bound_beside(as_unit(unit), k, confidence, ())


def likely_bound_beside(u: Unit, k: int, confidence: float, met: Sequence[Rounding]) -> float:
    confidence = share("confidence", confidence)
    certain = bound_beside(u, k, met)
    if fields_of(u).get("chain", {}).get("compensation"):
        return certain
    steps = [*met, *roundings_met(u, k)]
    free = [step for step in steps if step.bias < step.roundoff]
    directed = gamma(sum(step.times * step.bias for step in steps if step.bias))
    widest = max((step.roundoff for step in free), default=0.0)
    if math.isinf(directed) or widest >= 1:
        return certain
    deviations = math.sqrt(2 * math.log(2 * max(1, k) / (1 - confidence))) / (1 - widest)
    # Over the widest, whose square may be no float64.
    root = math.sqrt(sum(step.times * (step.roundoff / (widest or 1)) ** 2 for step in free))
    exponent = widest * (deviations * root + widest * root**2 / (1 - widest))
    likely = math.expm1(exponent) if exponent < 700 else math.inf
    return min(certain, likely + directed + likely * directed)


def gamma(roundoffs: float) -> float:
    return roundoffs / (1 - roundoffs) if roundoffs < 1 else math.inf


def compensated(steps: list[Rounding]) -> float:
    """Of sums whose additions hand on their errors: u + gamma^2. Those of products stay.

    Ogita, Rump and Oishi, Accurate Sum and Dot Product (2005), Proposition 4.5.
    """
    if any(step.bias for step in steps):
        return math.nan
    *products, sums = steps
    grown = gamma(sums.in_all)
    summed = sums.roundoff + grown**2 * (1 + sums.roundoff)
    rounded = gamma(sum(step.in_all for step in products))
    return summed + rounded + summed * rounded


class Before(NamedTuple):
    """What terms met before the unit: roundings of values to its operands."""

    roundings: Sequence[Rounding] = ()
    strayed: bool = False


def before(u: Unit, rounded: Iterable[str], mode: str, strayed: bool) -> Before:
    """Of the named operands, that were rounded by a mode."""
    formats = {"a": u.a, "b": u.b, "c": u.c, "scale_a": u.scale_format, "scale_b": u.scale_format}
    fields = ({"fmt": str(formats[name]), "rm": mode} for name in sorted(rounded))
    return Before([rounding(each, 1) for each in fields], strayed)


def lost_below(u: Unit, k: int) -> float:
    """What roundings to numbers below the normal ones may lose of k products, in all.

    Each at most the last digit there, or the least normal number where a format has none below.
    """
    formats = [Format(fields["fmt"]) for fields in rounded_to(fields_of(u))]
    digits = [f.least_digit if f.has_subnormals and not f.ftz else f.emin for f in formats]
    return (k + 1) * sum(map(power, digits))


MOST_EXPONENT = 1024  # of a float64


def power(exponent: int) -> float:
    """Of two, or what a float64 has next above it: what is rounded to many digits errs, too."""
    return math.ldexp(1.0, max(exponent, LAST_DIGIT)) if exponent < MOST_EXPONENT else math.inf


def end_of_range(u: Unit) -> float:
    """Past which a rounding of the unit may deliver a number, as one that saturates or wraps does:
    from there on no bound holds. Infinite where what is too large becomes an infinity or NaN; an
    end past a float64's largest number is that one."""
    return min(map(silent_end, rounded_to(fields_of(u))), default=math.inf)


def silent_end(fields: Mapping[str, Any]) -> float:
    f = Format(fields["fmt"])
    largest = from_bits([f._core.codes["max_finite"]], f)
    times = array([4.0, -4.0], "binary32")
    past = multiply(largest, times, format=f, rounding=fields.get("rm", "rne"))
    if not isfinite(past).any():
        return math.inf
    return min(highest(f), -lowest(f)) if f.signed else highest(f)


def rounded_to(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A unit's roundings; those of its operands are none."""
    for key, value in fields.items():
        if isinstance(value, Mapping) and key not in ("a", "b", "c", "scale"):
            if "fmt" in value:
                yield value
            yield from rounded_to(value)


# --- The roundings on a term's way ---------------------------------------------------------------


def roundings_met(u: Unit, k: int) -> list[Rounding]:
    if not isinstance(k, int | np.integer) or not 0 <= k < 1 << 63:
        raise ValueError(f"k = {brief(k)}: a number of products is wanted, 0 to 2^63 - 1")
    fields = fields_of(u)
    lanes = u.lanes or max(1, k)
    blocks = -(-k // lanes)
    chain = fields.get("chain", {})
    interval = chain.get("promote", {}).get("interval")
    inner = blocks if interval is None else min(blocks, interval // lanes)
    met = [kept(fields[name]) for name in ("a", "b") if "keep_frac" in fields[name]]
    if "round" in fields.get("product", {}):
        met.append(rounding(fields["product"]["round"], 1))
    met += block_roundings(fields, lanes, inner, u)
    if interval is not None:
        met.append(rounding(chain["promote"]["round"], -(-k // interval)))
    met += [rounding(chain[name], 1) for name in ("c_round", "final") if name in chain]
    if chain.get("c_at") == "last":
        met.append(rounding(fields["out"], 1))
    # The last of all, which `compensated` relies on. A sum of two has one rounding more with c.
    return [*met, rounding(fields["out"], inner)]


def block_roundings(fields: dict[str, Any], lanes: int, blocks: int, u: Unit) -> list[Rounding]:
    """Of the sums within a block: of a group's lanes, of the groups, and with c."""
    groups = fields.get("groups", {})
    together = groups.get("consecutive") or (lanes // groups["strided"] if groups else lanes)
    late = int(fields.get("c_level") == "late")
    met = sum_roundings(fields.get("group_sum", {}), together + (1 - late) * (not groups), u)
    if groups:
        met += sum_roundings(fields.get("block_sum", {}), -(-lanes // together) + 1 - late, u)
    if late:
        met += sum_roundings(fields.get("c_sum", {}), 2, u)
    met += [cut(bits, 2) for bits in fields.get("late_frac", {}).values()]
    return [step._replace(times=step.times * blocks) for step in met]


def sum_roundings(sum_fields: dict[str, Any], terms: int, u: Unit) -> list[Rounding]:
    align = sum_fields.get("align", {})
    frac_bits = align.get("frac_bits", 0)
    met = []
    if align.get("reference") == "max_exponent":
        met.append(cut(frac_bits - below_scales(sum_fields, u), terms))
    if align.get("reference") == "fixed_lsb" and frac_bits < product_digits(u):
        met.append(Rounding(1, math.inf, math.inf))
    if "node_round" in sum_fields:
        depth = terms - 1
        if sum_fields.get("order") == "pairwise_tree":
            depth = max(0, terms - 1).bit_length()
        met.append(rounding(sum_fields["node_round"], depth))
    return met


def rounding(fields: dict[str, Any], times: int) -> Rounding:
    f = Format(fields["fmt"])
    precision = min(f.precision, fields.get("keep_frac", f.fraction_bits) + 1)
    mode = fields.get("rm", "rne")
    if f.system in WITHOUT_ROUNDOFF:
        return Rounding(times, math.inf, 0.0)
    if mode in NEAREST:
        roundoff, bias = power(-precision), 0.0
    else:
        roundoff = bias = power(1 - precision)
    if random_bits := re.match(r"sr(\d+)", mode):
        bias = roundoff * 2.0 ** -int(random_bits[1])
    cut_before = 2.0 ** -fields["post_norm_frac"] if "post_norm_frac" in fields else 0.0
    return Rounding(times, roundoff + cut_before, bias + cut_before)


def kept(operand: dict[str, Any]) -> Rounding:
    """An operand of which only some fraction bits are read."""
    lost = power(-operand["keep_frac"])
    return Rounding(1, lost, lost)


def cut(frac_bits: int, terms: int) -> Rounding:
    """Terms of which each loses less than 2^-frac_bits of the largest."""
    lost = terms * 2.0**-frac_bits
    return Rounding(1, lost, lost)


def product_digits(u: Unit) -> int:
    """Fraction bits below the point of the least product, or of c."""
    return -min(-element_digits(u) + 2 * lsb(u.scale_format), lsb(u.c))


def element_digits(u: Unit) -> int:
    """Of the least product of two elements, before its scales."""
    return -lsb(u.a) - lsb(u.b)


def lsb(f: Format | None) -> int:
    """The exponent of a format's least digit."""
    return f.least_digit if f else 0


def below_scales(sum_fields: dict[str, Any], u: Unit) -> int:
    """How far below its scales' exponents, which align it, a scaled group's sum may lie."""
    scaled = fields_of(u).get("scale", {}).get("apply") == "group"
    return element_digits(u) if scaled and sum_fields == fields_of(u).get("block_sum") else 0
