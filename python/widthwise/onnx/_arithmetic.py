"""Floats and fixed point by arithmetic: one function for all of them, whose numbers differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._format import Format
from .._format_facts import highest, lowest
from ._body import Body
from ._probe import LARGEST, LEAST, f32, first_change, rounded, same

NAME = "Quantize"
HALF = np.float32(0.5)
PAST_HALF = np.nextafter(HALF, np.float32(1))
ABOVE_ZERO, NEVER = 2.0**-60, 2.0

# What is left of an even and of an odd last digit at which magnitudes go up: towards numbers of
# positive sign first, then of negative.
ALWAYS_UP, NEVER_UP = (ABOVE_ZERO, ABOVE_ZERO), (NEVER, NEVER)
TIES_UP, TIES_DOWN = (HALF, HALF), (PAST_HALF, PAST_HALF)
GOES_UP = {
    "rne": ((PAST_HALF, HALF),) * 2,
    "rno": ((HALF, PAST_HALF),) * 2,
    "rna": (TIES_UP,) * 2,
    "rnz": (TIES_DOWN,) * 2,
    "rnp": (TIES_UP, TIES_DOWN),
    "rnm": (TIES_DOWN, TIES_UP),
    "rtz": (NEVER_UP,) * 2,
    "raz": (ALWAYS_UP,) * 2,
    "rup": (ALWAYS_UP, NEVER_UP),
    "rdn": (NEVER_UP, ALWAYS_UP),
    "odd": ((ABOVE_ZERO, NEVER),) * 2,
}


class Numbers(NamedTuple):
    """What the function takes of a format and a rounding, as attributes of its nodes."""

    relative: float  # the last digit over the leading one; 0 of fixed point
    step: float  # the least distance of two numbers
    tiny: float  # what lesser magnitudes are rounded as
    least: float  # above a gap around zero, where there is one
    gap: float  # from where on magnitudes go to it
    gap_negative: float
    most: float  # the largest magnitudes of both signs
    most_negative: float
    past: float  # what greater ones become, and infinities
    past_negative: float
    infinite: float
    infinite_negative: float
    up_even: float
    up_odd: float
    up_even_negative: float
    up_odd_negative: float
    minus_zero: float  # 1 where zero has a sign
    nan: float  # what a result is multiplied by where the operand is NaN


def takes(f: Format) -> bool:
    if f.system == "fixed":
        return f.overflow in ("saturate", "symmetric", "zero")
    return f.is_float and f.fraction_bits > 0 and "zero" in f.codes


def numbers(f: Format, rounding: str) -> Numbers:
    def of(*x: Any) -> list[float]:
        return [float(y) for y in rounded(f32(x), f, rounding)]

    step = 2.0**f.least_digit
    past, below, infinite, minus = of(LARGEST, -LARGEST, np.inf, -np.inf)
    zero, nan = rounded(f32([-0.0, np.nan]), f, rounding)
    gap, gap_negative, least = gaps(f, rounding)
    return Numbers(
        relative=0.0 if f.system == "fixed" else 2.0**-f.fraction_bits,
        step=step,
        tiny=max(step / 4, float(LEAST)),
        least=least,
        gap=gap,
        gap_negative=gap_negative,
        most=highest(f),
        most_negative=abs(lowest(f)),
        past=abs(past),
        past_negative=abs(below),
        infinite=abs(infinite),
        infinite_negative=abs(minus),
        **borders(rounding),
        minus_zero=float(np.signbit(zero)),
        nan=1.0 if zero == nan else float("nan"),
    )


def gaps(f: Format, rounding: str) -> tuple[float, float, float]:
    """From which magnitudes on results leave zero, where there are no subnormals; and to what."""
    if f.system == "fixed" or (f.has_subnormals and not (f.daz or f.ftz)):
        return 0.0, 0.0, 0.0
    least = f32([float(f.min_normal)])
    up, down = (leaving_zero(f, rounding, least, sign) for sign in (1, -1))
    return up, down, float(least[0])


def leaving_zero(f: Format, rounding: str, least: np.ndarray, sign: int) -> float:
    """From which magnitude on; of an unsigned format's negative numbers perhaps never."""
    none = f32([0])
    first, last = (rounded(x * f32(sign), f, rounding) for x in (none, least))
    if same(first, last).all():
        return float("inf")
    return float(first_change(none, least, f, rounding, sign)[0])


def body(opset: int) -> Any:
    """The function: magnitudes on a grid, whose sign comes last, for runtimes' Where loses that of
    zero."""
    b = Body(NAME, Numbers._fields, opset)
    b.constants(minus=-1)
    taken_apart(b)
    b.do("Min", "known largest", "finite")
    not_too_tiny(b, "finite")
    b.leading_digit("magnitude", "digit")
    b.do("Mul", "digit relative", "last")
    b.do("Max", "last step", "grid")
    in_steps(b, "grid")
    b.do("Mul", "steps grid", "on_grid")
    b.do("Where", "negative gap_negative gap", "from")
    b.do("GreaterOrEqual", "finite from", "is_beyond")
    b.do("Max", "on_grid least", "not_least")
    b.do("Where", "is_beyond not_least zero", "number")
    b.do("Where", "negative most_negative most", "top")
    b.do("Where", "negative past_negative past", "over")
    b.do("Greater", "number top", "is_over")
    b.do("Where", "is_over over number", "in_range")
    b.do("Where", "negative infinite_negative infinite", "limit")
    b.do("Greater", "known largest", "is_infinite")
    b.do("Where", "is_infinite limit in_range", "result")
    b.do("Add", "result minus_zero", "or_zero")
    b.do("Greater", "or_zero zero", "has_sign")
    b.do("And", "negative has_sign", "turns")
    b.do("Where", "turns minus one", "sign")
    b.do("Mul", "result sign", "signed")
    b.do("Where", "is_nan nan one", "factor")
    b.do("Mul", "signed factor", "y")
    return b.function()


def taken_apart(b: Body) -> None:
    """x as a magnitude, which is 0 of NaN, and a sign, which zeros have too."""
    b.constants(zero=0, one=1, two=2, largest=LARGEST)
    b.do("IsNaN", "x", "is_nan")
    b.do("Less", "x zero", "below")
    b.do("Div", "one x", "inverse")
    b.do("Less", "inverse zero", "before_zero")
    b.do("Or", "below before_zero", "negative")
    b.do("Abs", "x", "size")
    b.do("Where", "is_nan zero size", "known")


def not_too_tiny(b: Body, of: str) -> None:
    """A quarter of a step stands for all that is less and not 0, whose quotient might underflow."""
    b.do("Greater", f"{of} zero", "is_some")
    b.do("Max", f"{of} tiny", "at_least")
    b.do("Where", "is_some at_least zero", "magnitude")


def in_steps(b: Body, grid: str) -> None:
    """How many steps of a grid the magnitude is rounded to: one more from a border on."""
    b.do("Div", f"magnitude {grid}", "exact")
    b.do("Floor", "exact", "whole")
    b.do("Sub", "exact whole", "rest")
    b.do("Div", "whole two", "half")
    b.do("Floor", "half", "half_whole")
    b.do("Less", "half_whole half", "is_odd")
    for sign in ("", "_negative"):
        b.do("Where", f"is_odd up_odd{sign} up_even{sign}", f"up{sign}")
    b.do("Where", "negative up_negative up", "border")
    b.do("GreaterOrEqual", "rest border", "goes_up")
    b.do("Where", "goes_up one zero", "more")
    b.do("Add", "whole more", "steps")


def borders(rounding: str) -> dict[str, float]:
    """Where magnitudes go up, by the names of the attributes."""
    signs = zip(("", "_negative"), GOES_UP[rounding], strict=True)
    return {
        f"up_{kind}{sign}": float(x)
        for sign, of in signs
        for kind, x in zip(("even", "odd"), of, strict=True)
    }
