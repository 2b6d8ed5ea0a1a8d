"""Values as gmpy2's mpfr numbers, and back: exact, with signed zeros, infinities and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array, object_array


def to_mpfr(x: Array) -> np.ndarray:
    """See `Array.to_mpfr`."""
    try:
        import gmpy2
    except ImportError:
        raise ImportError("gmpy2 is not installed: pip install 'widthwise[exact]'") from None
    widest = gmpy2.context(
        precision=x.format.precision, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min()
    )
    with gmpy2.context(widest):
        return object_array([number(gmpy2, i, *v) for i, v in enumerate(x._values())], x.shape)


def number(gmpy2: Any, i: int, kind: str, negative: bool, significand: int, exponent: int) -> Any:
    """Its precision is the format's, which every significand fits: nothing is rounded."""
    sign = -1 if negative else 1
    if kind in ("infinite", "nan"):
        return gmpy2.nan() if kind == "nan" else gmpy2.inf(sign)
    if significand == 0:
        return gmpy2.zero(sign)
    scale = gmpy2.mul_2exp if exponent >= 0 else gmpy2.div_2exp
    z = scale(gmpy2.mpfr(sign * significand), abs(exponent))
    if z.is_zero() or not z.is_finite():
        raise OverflowError(
            f"element {i} is an integer times 2^{exponent}, past gmpy2's exponents; "
            "take .to_scaled(), (integer, exponent)"
        )
    return z


def is_mpfr(x: Any) -> bool:
    return type(x).__module__ == "gmpy2" and type(x).__name__ == "mpfr"


def text(x: Any) -> str:
    """An mpfr number as text, exact."""
    sign = "-" if x.is_signed() else ""
    if not x.is_finite():
        return sign + ("nan" if x.is_nan() else "inf")
    significand, exponent = map(int, x.as_mantissa_exp())
    return f"{sign}{abs(significand):#x}p{exponent}"
