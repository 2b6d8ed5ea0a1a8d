"""Products of integer codes summed in 32 bits, and sums brought to the next layer's codes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .. import _create
from .. import _widthwise as core
from .._device import DeviceArray
from .affine import Affine
from .integer_codes import as_integers
from .numbers import without_gradient
from .parameters import binary32

VARIANTS = ("exact", "gemmlowp", "ruy", "single", "q31", "rndnu", "fp32")
INT32 = np.iinfo(np.int32)
MOST_SIGNIFICAND = 1 << 64
MOST_DIVISOR = 1 << 62


def requantize(
    acc: Any,
    M: Any,
    zero_point: Any = 0,
    qmin: int = -128,
    qmax: int = 127,
    variant: str = "exact",
    *,
    axis: int = -1,
) -> np.ndarray:
    """Bring sums of 32 bits to codes: acc M rounded, + zero_point, clamped.

    Args:
        acc: integers of 32 bits, any shape.
        M: what a step of acc is in steps of the result, sa sb / sy, above zero: a number or a
            Fraction, or one for each index of `axis`.
        zero_point: of the result, an integer, or one for each index of `axis`.
        qmin, qmax: the least and largest code.
        variant: exact (ties to even), gemmlowp, ruy, single, q31, rndnu, fp32: the rounding of
            those who are named so (docs/semantics.md, A5).
        axis: of several M, acc's last if left out.
    Returns:
        Codes of acc's shape, in the least of NumPy's integers that holds qmin and qmax.
    Raises:
        ValueError: M is not finite or not above zero, or past what a variant takes.

    >>> import widthwise as ww
    >>> [ww.requantize([5, -5, -3], 0.5, variant=v).tolist() for v in ("exact", "gemmlowp")]
    [[2, -2, -2], [3, -2, -1]]
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant = {variant!r}: it may be {', '.join(map(repr, VARIANTS))}")
    sums = sums_of("acc", acc)
    range_checked(qmin, qmax)
    scales = [exact_multiplier(m, i, np.ndim(M)) for i, m in enumerate(each("M", M))]
    zeros = np.asarray(zero_point)
    if zeros.dtype.kind not in "iu":
        raise TypeError(f"zero_point holds {zeros.dtype}; zero points are integers")
    wrong = np.flatnonzero((zeros < qmin) | (zeros > qmax))
    if wrong.size:
        raise ValueError(
            f"zero_point = {zeros.reshape(-1)[wrong[0]]}: it is a code, {qmin} to {qmax}"
        )
    count = max(len(scales), zeros.size)
    if count > 1 or np.ndim(M) or zeros.ndim:
        axis = checked_channels(sums, axis, {"M": len(scales), "zero_point": zeros.size}, count)
    inner = math.prod(sums.shape[axis + 1 :]) if count > 1 else 1
    scales = scales * count if len(scales) == 1 else scales
    zeros = np.array(np.broadcast_to(zeros.astype(np.int64).reshape(-1), count))
    taken = [part for m in scales if (part := multiplier(m, variant)) is not None]
    if len(taken) < len(scales):
        codes = np.empty(sums.shape, np.int64)
        by_fractions(sums, scales, zeros, inner, (qmin, qmax), codes)
    else:
        codes = np.empty(sums.shape, np.int32)
        core.requantise(sums, codes, inner, taken, zeros, variant, (qmin, qmax))
    return codes.astype(least_dtype(qmin, qmax))


def sums_of(name: str, acc: Any) -> np.ndarray:
    given = np.asarray(acc)
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {given.dtype}; sums are integers of 32 bits")
    if given.dtype != np.int32 and given.size:
        wrong = np.flatnonzero((given < INT32.min) | (given > INT32.max))
        if wrong.size:
            raise ValueError(
                f"{name} holds {given.reshape(-1)[wrong[0]]}; sums are integers of 32 bits, as "
                "ww.integer_matmul makes them"
            )
    return np.ascontiguousarray(given, np.int32).reshape(given.shape)


def range_checked(qmin: Any, qmax: Any) -> None:
    for name, q in (("qmin", qmin), ("qmax", qmax)):
        if isinstance(q, bool) or not isinstance(q, int | np.integer):
            raise TypeError(f"{name} = {q!r}: an integer is wanted")
    if not INT32.min <= qmin <= qmax <= np.iinfo(np.uint32).max:
        raise ValueError(f"qmin = {qmin} and qmax = {qmax}: -2^31 <= qmin <= qmax < 2^32 is wanted")


def each(name: str, x: Any) -> list[Any]:
    x = without_gradient(x)
    if np.ndim(x) == 0:
        return [x.item() if isinstance(x, np.ndarray) else x]
    if np.ndim(x) != 1:
        raise ValueError(f"{name} has {np.ndim(x)} axes; one number is wanted, or one a channel")
    return list(x)


def exact_multiplier(m: Any, i: int, axes: int) -> Fraction:
    where = f"M[{i}]" if axes else "M"
    try:
        exact = Fraction(float(m)) if isinstance(m, np.floating) else Fraction(m)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{where} = {m!r}: a finite number above zero is wanted") from None
    if exact <= 0:
        raise ValueError(f"{where} = {m}: a multiplier of scales is above zero")
    return exact


def in_digits(m: Fraction) -> str:
    """A few of them."""
    try:
        return f"{float(m):g}"
    except OverflowError:
        return f"about 2^{m.numerator.bit_length() - m.denominator.bit_length()}"


def checked_channels(sums: np.ndarray, axis: int, sizes: dict[str, int], count: int) -> int:
    if not -sums.ndim <= axis < sums.ndim:
        raise ValueError(f"axis = {axis}: acc has shape {sums.shape}")
    for name, size in sizes.items():
        if size not in (1, sums.shape[axis]):
            raise ValueError(
                f"{name} has {size} numbers, and axis {axis} of acc {sums.shape[axis]}; one each "
                "is wanted, or one number"
            )
    return axis % sums.ndim


def multiplier(m: Fraction, variant: str) -> tuple[int, int, int, float] | None:
    """Significand, divisor, exponent and binary32 number of M, as a variant takes it; None where
    an exact one has too many digits."""
    if variant == "exact":
        return rational(m)
    if variant in ("rndnu", "fp32", "q31"):
        return of_binary32(m, variant)
    q, shift = quantised(m)
    if shift > 30:  # C shifts a sum of 32 bits by no more
        raise ValueError(f"M = {in_digits(m)}: {variant} takes multipliers below 2^30")
    return q, 1, shift - 31, 0.0


def rational(m: Fraction) -> tuple[int, int, int, float] | None:
    up = (m.numerator & -m.numerator).bit_length() - 1
    down = (m.denominator & -m.denominator).bit_length() - 1
    significand, divisor = m.numerator >> up, m.denominator >> down
    if significand >= MOST_SIGNIFICAND or divisor >= MOST_DIVISOR:
        return None
    return significand, divisor, up - down, 0.0


def of_binary32(m: Fraction, variant: str) -> tuple[int, int, int, float]:
    real = binary32(m)
    if math.isinf(real):
        raise ValueError(
            f"M = {in_digits(m)}: {variant} takes it in binary32, where it is infinite"
        )
    if variant == "q31":
        if not 2.0**-32 <= real < 1:
            raise ValueError(
                f"M = {in_digits(m)}: q31 takes multipliers of 2^-32 and more, below 1"
            )
        significand, exponent = math.frexp(real)
        return int(significand * 2**31), 1, exponent - 31, real
    if real == 0:
        return 0, 1, 0, real
    significand, exponent = math.frexp(real)
    return int(significand * 2**24), 1, exponent - 24, real


def quantised(m: Fraction) -> tuple[int, int]:
    """TFLite's QuantizeMultiplier: m = q 2^(shift - 31), q in [2^30, 2^31), ties away."""
    shift = m.numerator.bit_length() - m.denominator.bit_length()
    shift += m >= Fraction(2) ** shift
    q = math.floor(m / Fraction(2) ** shift * 2**31 + Fraction(1, 2))
    if q == 1 << 31:
        q, shift = q >> 1, shift + 1
    return (0, 0) if shift < -31 else (q, shift)


def by_fractions(
    sums: np.ndarray, scales: list[Fraction], zeros: np.ndarray, inner: int,
    span: tuple[int, int], codes: np.ndarray,
) -> None:  # fmt: skip
    """The exact variant of multipliers that the core has no words for."""
    to = codes.reshape(-1)
    for i, acc in enumerate(sums.reshape(-1).tolist()):
        channel = i // inner % len(scales)
        to[i] = min(max(round(acc * scales[channel]) + int(zeros[channel]), span[0]), span[1])


def least_dtype(qmin: int, qmax: int) -> np.dtype[Any]:
    for name in ("int8", "uint8", "int16", "uint16", "int32"):
        if np.iinfo(name).min <= qmin and qmax <= np.iinfo(name).max:
            return np.dtype(name)
    return np.dtype("uint32")


def integer_matmul(
    a: Any,
    b: Any,
    zero_a: Any = None,
    zero_b: Any = None,
    bias: Any = None,
    *,
    overflow: str = "wrap",
    pairs: str = "exact",
) -> np.ndarray:
    """Multiply matrices of integers: bias + sum of (a - zero_a) (b - zero_b), in 32 bits.

    Args:
        a: integers of 8, 16 or 32 bits, or an Affine, shape (..., m, k).
        b: likewise, (..., k, n).
        zero_a: a's zero point, or one a row (m); 0 if left out, and an Affine has its own.
        zero_b: b's, or one a column (n); likewise.
        bias: sums to begin with, integers of 32 bits, shape (n,).
        overflow: 'wrap', or 'saturate' at each step, in order of k, the bias first.
        pairs: 'sat16' adds products of codes in pairs along k, which saturate in 16 bits (x86's
            vpmaddubsw), and folds zero points in at the end.
    Returns:
        int32, shape (..., m, n).
    Raises:
        TypeError: floats.    ValueError: shapes that do not fit, or what an argument may not be.

    >>> import numpy as np, widthwise as ww
    >>> a, b = np.uint8([[255, 255]]), np.int8([[127], [127]])
    >>> int(ww.integer_matmul(a, b)[0, 0]), int(ww.integer_matmul(a, b, pairs="sat16")[0, 0])
    (64770, 32767)
    """
    if overflow not in ("wrap", "saturate"):
        raise ValueError(f"overflow = {overflow!r}: it may be 'wrap' or 'saturate'")
    if pairs not in ("exact", "sat16"):
        raise ValueError(f"pairs = {pairs!r}: it may be 'exact' or 'sat16'")
    a, zero_a = taken_apart("a", a, zero_a, -2)
    b, zero_b = taken_apart("b", b, zero_b, -1)
    a, b = integers("a", a), integers("b", b)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"a has shape {a.shape} and b {b.shape}: a's last axis is as long as b's last but one"
        )
    m, n = a.shape[-2], b.shape[-1]
    zeros = (
        zero_points("zero_a", zero_a, a.itemsize, m, "row of a"),
        zero_points("zero_b", zero_b, b.itemsize, n, "column of b"),
    )
    if bias is not None:
        bias = sums_of("bias", bias)
        if bias.shape != (n,):
            raise ValueError(f"bias has shape {bias.shape}; one for each column is wanted, ({n},)")
    try:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"a has shape {a.shape} and b {b.shape}, whose leading axes do not broadcast"
        ) from None
    result = np.empty((*lead, m, n), np.int32)
    if result.size == 0:
        return result
    if b.ndim == 2 and len(zeros[0]) == 1:  # one product of many rows
        a, places = a.reshape(math.prod(a.shape[:-1]), a.shape[-1]), [(result.reshape(-1, n), ())]
    else:
        places = [(result[i], i) for i in np.ndindex(*lead)]
        a = np.broadcast_to(a, (*lead, *a.shape[-2:]))
        b = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    for to, i in places:
        core.integer_product(
            a[i], b[i], zeros[0], zeros[1], bias, overflow == "saturate", pairs == "sat16", to
        )
    return result


def taken_apart(name: str, x: Any, zero: Any, axis: int) -> tuple[Any, Any]:
    """Codes and their zero points: one, or one for each index of the axis that is not summed."""
    if not isinstance(x, Affine):
        return x, 0 if zero is None else zero
    if zero is not None:
        raise ValueError(
            f"zero_{name} is given, and {name} is an Affine, which has its own; leave it out, or "
            f"pass {name}.codes"
        )
    own = x.zero_point.reshape(-1)
    if (own == own[:1]).all():
        return x.codes, own[0] if own.size else 0
    if x.grouping.kind == "channel" and x.axis == x.ndim + axis:
        return x.codes, own
    raise ValueError(
        f"{name} is {x.format}, whose zero points differ along the axis that is summed; quantise "
        f"it with one scale, one for each index of axis {x.ndim + axis}, or a symmetric scheme"
    )


def scale_of(name: str, x: Any, scale: Any, axis: int) -> Any:
    """Likewise its scale."""
    if not isinstance(x, Affine):
        if scale is None:
            raise TypeError(f"{name}_scale is missing; only an Affine has its own")
        return scale
    if scale is not None:
        raise ValueError(
            f"{name}_scale is given, and {name} is an Affine, which has its own; leave it out, or "
            f"pass {name}.codes"
        )
    of_axis = x.grouping.kind == "channel" and x.axis == x.ndim + axis
    if x.grouping.kind != "tensor" and not of_axis:
        raise ValueError(
            f"{name} is {x.format}; QLinearMatMul takes one scale, or of b one a column"
        )
    return x.scale


def integers(name: str, x: Any) -> np.ndarray:
    if isinstance(x, DeviceArray):
        raise TypeError(
            f"{name} lies on {x.device}, and integers are multiplied here: "
            f"{name}.to_device('cpu') brings it"
        )
    a = as_integers(_create.as_numpy(x), name)[0]
    if a.dtype.kind == "i" and a.dtype.itemsize == 8 and not isinstance(x, np.ndarray):
        a = listed(name, a)
    if a.dtype.kind not in "iu" or a.dtype.itemsize > 4:
        raise TypeError(
            f"{name} holds {a.dtype}; integers of 8, 16 or 32 bits are taken, as codes of "
            "ww.affine are"
        )
    if a.ndim < 2:
        raise ValueError(f"{name} has shape {a.shape}; matrices are wanted")
    if any(stride % a.itemsize for stride in a.strides):  # a field of packed records
        a = np.ascontiguousarray(a)
    return a.astype(a.dtype.newbyteorder("="), copy=False)


def listed(name: str, a: np.ndarray) -> np.ndarray:
    """Python's integers in the least of NumPy's integers that holds them."""
    if not a.size:
        return a.astype(np.int8)
    low, high = int(a.min()), int(a.max())
    if low < INT32.min or high > (INT32.max if low < 0 else np.iinfo(np.uint32).max):
        raise ValueError(f"{name} holds {low} to {high}; integers of 32 bits are taken")
    return a.astype(least_dtype(low, high))


def zero_points(name: str, x: Any, itemsize: int, count: int, what: str) -> np.ndarray:
    zeros = as_integers(x, name)[0]
    if zeros.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {zeros.dtype}; zero points are integers")
    if zeros.ndim > 1 or zeros.size not in (1, count):
        raise ValueError(
            f"{name} has shape {zeros.shape}; one is wanted, or one a {what}, ({count},)"
        )
    least, most = -(1 << 8 * itemsize - 1), (1 << 8 * itemsize) - 1
    wrong = np.flatnonzero((zeros < least) | (zeros > most))
    if wrong.size:
        raise ValueError(
            f"{name} = {zeros.reshape(-1)[wrong[0]]}: the zero point of codes of {8 * itemsize} "
            f"bits is one, {least} to {most}"
        )
    return zeros.astype(np.int64).reshape(-1)


def qlinear_matmul(
    a: Any, a_scale: Any = None, a_zero_point: Any = None, b: Any = None, b_scale: Any = None,
    b_zero_point: Any = None, y_scale: Any = None, y_zero_point: Any = 0,
    qmin: int | None = None, qmax: int | None = None,
) -> np.ndarray:  # fmt: skip
    """ONNX's QLinearMatMul as onnxruntime computes it: sums in 32 bits, then variant fp32 by
    M = f32(f32(a_scale b_scale) / y_scale).

    Args:
        a, a_scale, a_zero_point: uint8 or int8 codes, shape (..., m, k), and what they stand for.
        b, b_scale, b_zero_point: likewise, (..., k, n); both may be one a column (n). Of an Affine
            a or b both are left out.
        y_scale, y_zero_point: of the result; the scale has no default.
        qmin, qmax: its codes; of y_zero_point's dtype where that is int8 or uint8, else of a's.
    Returns:
        Codes, shape (..., m, n).
    Raises:
        ValueError: shapes that do not fit; a scale that is not finite or not above zero.

    >>> import numpy as np, widthwise as ww
    >>> a, b = np.uint8([[208, 236, 0, 238]]), np.uint8([[152], [60], [0], [127]])
    >>> ww.qlinear_matmul(a, 0.0066, 113, b, 0.00705, 114, 0.0107, 118)
    array([[168]], dtype=uint8)
    """
    if b is None or y_scale is None:
        raise TypeError(f"{'b' if b is None else 'y_scale'} is missing")
    a_scale, b_scale = scale_of("a", a, a_scale, -2), scale_of("b", b, b_scale, -1)
    a, a_zero_point = taken_apart("a", a, a_zero_point, -2)
    b, b_zero_point = taken_apart("b", b, b_zero_point, -1)
    a, b = integers("a", a), integers("b", b)
    for name, x in (("a", a), ("b", b)):
        if x.dtype.itemsize > 1:
            raise TypeError(f"{name} holds {x.dtype}; QLinearMatMul takes uint8 and int8")
    low, high = code_range(y_zero_point, a, qmin, qmax)
    given = {"a_scale": a_scale, "b_scale": b_scale, "y_scale": y_scale}
    sa, sb, sy = (positive(name, s) for name, s in given.items())
    if sa.size != 1 or sy.size != 1:
        raise ValueError("a_scale and y_scale are one number each; b_scale may be one a column")
    sums = integer_matmul(a, b, a_zero_point, b_zero_point)
    with np.errstate(over="ignore", under="ignore"):
        m = (sa.reshape(()) * sb) / sy.reshape(())  # each rounded to binary32
    wrong = np.flatnonzero(~(np.isfinite(m) & (m > 0)))
    if wrong.size:
        raise ValueError(f"a_scale b_scale / y_scale is {m.reshape(-1)[wrong[0]]} in binary32")
    m = m.reshape(-1) if m.size > 1 else m.reshape(())[()]
    return requantize(sums, m, y_zero_point, low, high, "fp32")


def positive(name: str, s: Any) -> np.ndarray:
    """Scales in binary32."""
    s = without_gradient(s)
    with np.errstate(over="ignore", under="ignore"):
        scales = np.asarray(s, np.float64).astype(np.float32)
    wrong = np.flatnonzero(~(np.isfinite(scales) & (scales > 0)))
    if wrong.size:
        raise ValueError(
            f"{name} = {np.asarray(s).reshape(-1)[wrong[0]]}: a scale is finite and above zero"
        )
    return scales


def code_range(zero: Any, a: np.ndarray, qmin: int | None, qmax: int | None) -> tuple[int, int]:
    own = zero.dtype if isinstance(zero, np.ndarray | np.generic) else a.dtype
    if own not in (np.int8, np.uint8):
        own = a.dtype
    info = np.iinfo(own)
    return info.min if qmin is None else qmin, info.max if qmax is None else qmax
