"""Fixed point that wraps: integers modulo 2^W in binary32, which has all of those that it holds."""

from __future__ import annotations

from typing import Any

from .._format import Format
from ._arithmetic import borders, in_steps, not_too_tiny, taken_apart
from ._body import Body
from ._probe import LEAST

NAMES = {"wrap": "QuantizeWrap", "wrap_sm": "QuantizeWrapSm", "keep_sign": "QuantizeKeepSign"}
NUMBERS = ("step", "tiny", "modulus", "middle", "far")
BORDERS = tuple(borders("rne"))


def takes(f: Format) -> bool:
    return f.system == "fixed" and f.overflow in NAMES


def way(f: Format) -> str:
    """Without a sign there is none to keep."""
    return f.overflow if f.signed else "wrap"


def numbers(f: Format, rounding: str) -> dict[str, float]:
    """The attributes of a node; past `far` a binary32 is a multiple of 2^(W + 1) steps."""
    step, modulus = 2.0**f.least_digit, 2.0**f.width
    return {
        "step": step,
        "tiny": max(step / 4, float(LEAST)),
        "modulus": modulus,
        "middle": modulus / 2 if f.signed else 2 * modulus,
        "far": min(step * 2.0 ** (f.width + 25), float("inf")),
        **borders(rounding),
    }


def body(overflow: str, opset: int) -> Any:
    """The function of one way to wrap."""
    b = Body(NAMES[overflow], (*NUMBERS, *BORDERS), opset)
    taken_apart(b)
    b.do("GreaterOrEqual", "known far", "is_far")
    b.do("Where", "is_far zero known", "near")
    not_too_tiny(b, "near")
    in_steps(b, "step")
    b.do("Div", "steps modulus", "times")
    b.do("Floor", "times", "turns")
    b.do("Mul", "turns modulus", "gone")
    b.do("Sub", "steps gone", "low")
    b.do("Greater", "low zero", "is_between")
    b.do("And", "negative is_between", "is_below")
    b.do("Sub", "modulus low", "from_above")
    b.do("Where", "is_below from_above low", "code")  # in two's complement
    TAILS[overflow](b)
    b.do("Mul", "number step", "y")
    return b.function()


def as_signed(b: Body, code: str) -> None:
    b.do("GreaterOrEqual", f"{code} middle", "has_top")
    b.do("Sub", f"{code} modulus", "less")
    b.do("Where", f"has_top less {code}", "number")


def wrapped(b: Body) -> None:
    as_signed(b, "code")


def with_sign_of_deleted_bit(b: Body) -> None:
    """Bit W becomes the sign, and where that changes it all bits invert."""
    b.do("Where", "is_below one zero", "borrowed")
    b.do("Add", "turns borrowed", "above")
    b.do("Div", "above two", "half_above")
    b.do("Floor", "half_above", "half_above_whole")
    b.do("Less", "half_above_whole half_above", "bit")
    b.do("GreaterOrEqual", "code middle", "top")
    b.do("Xor", "bit top", "changes")
    b.do("Sub", "modulus one", "ones")
    b.do("Sub", "ones code", "inverted")
    b.do("Where", "changes inverted code", "turned")
    as_signed(b, "turned")


def with_own_sign(b: Body) -> None:
    """The sign of the number beside the low W - 1 bits; far numbers have these 0, infinities no
    sign."""
    b.do("GreaterOrEqual", "code middle", "top")
    b.do("Sub", "code middle", "without_top")
    b.do("Where", "top without_top code", "low_bits")
    b.do("Greater", "steps zero", "is_some_step")
    b.do("LessOrEqual", "known largest", "is_finite")
    b.do("And", "is_far is_finite", "is_far_number")
    b.do("Or", "is_some_step is_far_number", "is_number")
    b.do("And", "negative is_number", "stays_negative")
    b.do("Sub", "low_bits middle", "below_zero")
    b.do("Where", "stays_negative below_zero low_bits", "number")


TAILS = {"wrap": wrapped, "wrap_sm": with_sign_of_deleted_bit, "keep_sign": with_own_sign}
