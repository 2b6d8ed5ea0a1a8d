"""Python's numbers beside Arrays: weak, as in NumPy (NEP 50)."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from . import _widthwise as core
from ._code_array import CodeArray
from ._format import Format
from ._format_texts import said

INEXACT, OVERFLOW, INVALID = 1, 4, 16
WIDEST_EXPONENT = 62
MOST_SHOWN = 40  # characters of a number


def is_weak(x: Any) -> bool:
    """Whether it takes the format of what it stands beside: NumPy's scalars have their own."""
    return isinstance(x, int | float | Fraction | Decimal) and not isinstance(x, np.generic)


def taken(x: Any, like: CodeArray) -> Any:
    """A number as an Array of another's format, which lies where that does: rounded once, to
    nearest even. What does not fit is told as NumPy tells it."""
    return rounded(x, like.format).to_device(like.device)  # type: ignore[attr-defined]


def rounded(x: Any, format: Format) -> Any:
    """x as an Array of the format, nearest even; past its range a RuntimeWarning, or what
    np.errstate says of `over` and `invalid`."""
    from ._create import array

    z, flags = array(x, format, flags=True)
    raised = int(np.bitwise_or.reduce(flags, axis=None)) if z.size else 0
    for bit, name, what in (
        (OVERFLOW, "over", "overflow"),
        (INVALID, "invalid", "invalid value"),
    ):
        if raised & bit:
            tell(name, f"{what}: {misfit(x, z, flags, bit)}")
    return z


def misfit(x: Any, z: Any, flags: np.ndarray, bit: int) -> str:
    """The first number that did not fit, and what became of it."""
    i = int(np.flatnonzero(flags & bit)[0])
    given = np.asarray(x, dtype=object).reshape(-1)[i] if z.shape else x
    text = repr(given)
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return f"{text} is past what {said(z.format)} holds, and is taken as {z.ravel()[i]}"


def tell(kind: str, message: str) -> None:
    """Warns, raises or is silent, as np.errstate has it; its `call`, `print` and `log` warn."""
    how = dict(np.geterr())[kind]
    if how == "raise":
        raise FloatingPointError(message)
    if how != "ignore":
        warnings.warn(message, RuntimeWarning, stacklevel=outside())


def outside() -> int:
    """How many frames up the caller of this package is, from who asks."""
    import sys

    frame, depth = sys._getframe(2), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in WITHIN:
        frame, depth = frame.f_back, depth + 1
    return depth


WITHIN = ("widthwise", "numpy")


def beside(x: Any, format: Format) -> Any:
    """A number as an Array that compares with every number of the format as its value does.

    Of one digit more than the format's, rounded to odd: where it is none of them it stays between
    the same two.
    """
    from ._create import array

    most = format.precision == core.precision_limit
    z, flags = array(x, format_around([format], 0 if most else 1), rounding="odd", flags=True)
    if most and int(flags) & INEXACT:
        raise ValueError(
            f"{x!r} is no number of {said(format)}, and there are no longer formats to compare it "
            f"in; ww.array(x, '{said(format)}') rounds it"
        )
    return z


def format_around(formats: list[Format], more_digits: int = 0) -> Format:
    """A signed format with subnormals that has every number of these."""
    digits = max(2, max(f.precision for f in formats) + more_digits)
    reach = max(max(abs(f.least_digit), abs(f.emax)) for f in formats) + digits + 2
    exponent_bits = min(reach.bit_length() + 2, WIDEST_EXPONENT)
    return Format(f"e{exponent_bits}m{digits - 1}")
