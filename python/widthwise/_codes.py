"""Codes as NumPy holds them: one item a code, or a last axis of uint64 limbs past 64 bits."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _widthwise as core
from ._format import Format
from ._format_texts import said

if TYPE_CHECKING:
    from ._array import Array

BINARY64 = Format("binary64")
LOSSY = 1 | 2 | 4  # NX, UF, OF


def items(bits: np.ndarray, format: Format) -> np.ndarray:
    """One item a code, so that NumPy's shapes and broadcasting work: limbs become a void item."""
    if format.limbs == 1:
        return bits
    return bits.view(np.dtype((np.void, 8 * format.limbs)))[..., 0]


def bits(items: np.ndarray, format: Format) -> np.ndarray:
    """The inverse of `items`."""
    return items if format.limbs == 1 else items[..., np.newaxis].view(np.uint64)


def empty(shape: tuple[int, ...], format: Format) -> np.ndarray:
    return np.empty(shape if format.limbs == 1 else (*shape, format.limbs), format.dtype)


def integers(bits: np.ndarray, format: Format) -> list[int]:
    """Codes as Python integers, flat."""
    data = np.ascontiguousarray(bits).tobytes()
    step = format._core.item_bytes
    return [int.from_bytes(data[at : at + step], "little") for at in range(0, len(data), step)]


def place(i: int, shape: tuple[int, ...]) -> str:
    """Where element i of an array stands: its subscript, as it is written in brackets.

    >>> place(5, (2, 3)), place(2, (4,))
    ('1, 2', '2')
    """
    return ", ".join(str(int(j)) for j in np.unravel_index(i, shape)) if len(shape) > 1 else str(i)


def element(i: int, shape: tuple[int, ...]) -> str:
    """The same, for a sentence: 'element 2' or 'element [1, 2]'."""
    return f"element {f'[{place(i, shape)}]' if len(shape) > 1 else i}"


def from_integers(
    codes: list[int], format: Format, shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """The inverse of `integers`; each has to fit. shape: of what the codes are an error's of."""
    for i, code in enumerate(codes):
        if not 0 <= code < 1 << format.width:
            raise ValueError(
                f"bits[{place(i, shape or ())}] = {code:#x} is no code of {said(format)}; "
                f"they take {format.width} bits, 0 to {(1 << format.width) - 1:#x}"
            )
    data = b"".join(code.to_bytes(format._core.item_bytes, "little") for code in codes)
    flat = np.frombuffer(bytearray(data), format.dtype)
    return flat if format.limbs == 1 else flat.reshape(-1, format.limbs)


def check_fit(name: str, bits: np.ndarray, format: Format) -> None:
    """Refuses a code with a bit past the format's width."""
    stray = core.first_stray(format._core, np.ascontiguousarray(bits))
    if stray >= 0:
        shape = bits.shape[: bits.ndim - (format.limbs > 1)]
        code = integers(bits.reshape(-1, format.limbs)[stray], format)[0]
        raise ValueError(
            f"{name}: {element(stray, shape)} is {code:#x}; codes of {said(format)} take "
            f"{format.width} bits, 0 to {(1 << format.width) - 1:#x}"
        )


def sign_bit(f: Format) -> Any:
    """The sign in a code's last limb; 0 where the format has none."""
    return f.dtype.type(f.signed << ((f.width - 1) % (8 * f.dtype.itemsize)))


def all_float64(f: Format) -> bool:
    """Whether every number of the format is a float64."""
    fits = f.precision <= BINARY64.precision and f.emax <= BINARY64.emax
    return fits and f.least_digit >= BINARY64.least_digit


def to_float64(x: Array, rounding: str | None) -> np.ndarray:
    result = np.empty(x.shape, np.uint64)
    watched = rounding is None and not all_float64(x.format)
    flags = np.empty(x.shape, np.uint8) if watched else None
    env = core.Env(rounding or "rne")
    operand = (x.format._core, np.ascontiguousarray(x.bits))
    core.elementwise("convert", BINARY64._core, env, [operand], result, flags, 0)
    lost = np.flatnonzero(flags & LOSSY) if flags is not None else np.empty(0)
    if lost.size:
        i = int(lost[0])
        raise ValueError(
            f"{element(i, x.shape)} of this {said(x.format)} array, {text_of(x, i)}, is no "
            "float64; name a rounding, as .to_float64(rounding='rne'), or take .to_fractions()"
        )
    return result.view(np.float64)


def text_of(x: Array, i: int) -> str:
    """Element i, flat, as the shortest decimal number that rounds to it."""
    return core.shortest(x.format._core, np.ascontiguousarray(x.ravel().bits[i]))[0]


def readable(code: int, format: Format) -> str:
    """A code's value: all of its digits where they are few, else the shortest that tell it, but
    not fewer than the value itself has of six."""
    bits = from_integers([code], format)
    shortest = core.shortest(format._core, bits)[0]
    told = len(re.sub(r"e.*|\D", "", shortest).lstrip("0"))
    return written_out(code, format, 21) or (
        shortest if told >= 6 else core.decimal(format._core, bits, 6)[0]
    )


def written_out(code: int, format: Format, digits: int) -> str:
    """A code's value in decimal if so many digits hold all of it, else nothing."""
    bits = from_integers([code], format)
    kind, negative, significand, exponent = core.values(format._core, bits)[0]
    if kind == "finite" and abs(exponent) > 4 * (format.precision + digits):
        return ""  # it has more digits than these, or more zeros than are worth reading
    text = core.decimal(format._core, bits, digits)[0]
    if kind != "finite":
        return text
    value = Fraction(-significand if negative else significand) * Fraction(2) ** exponent
    return text if Fraction(text) == value else ""


def flag_names(flags: Any) -> str:
    names = {16: "NV", 8: "DZ", 4: "OF", 2: "UF", 1: "NX"}
    return " ".join(name for bit, name in names.items() if int(flags) & bit) or "none"
