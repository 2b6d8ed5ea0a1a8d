"""Arrays from values and from codes."""

from __future__ import annotations

import re
import sys
from array import array as buffer
from decimal import Decimal
from numbers import Rational
from typing import Any

import numpy as np

from . import _codes, _mpfr, _types
from . import _widthwise as core
from ._array import Array
from ._code_array import CodeArray
from ._container import Container
from ._device import DeviceArray, Found, found_on_gpu
from ._format import Format, as_format
from ._format_texts import said
from ._missing import asks_for
from ._random import random_source
from ._settings import checked_seed, whole
from ._spelling import called

INVALID = 16
RAGGED = "x holds lists of unequal lengths; an array's rows are alike"
FLOATS = {2: "binary16", 4: "binary32", 8: "binary64"}
# As IEEE 754 has them: NaN has larger codes than infinity, infinity than all numbers.
GLANCED_AT = {"e5m10", "e8m7", "e8m23", "e11m52"}


@_types.from_values
@asks_for("ww.array(x, 'e5m10')")
def array(
    x: Any,
    format: str | Format,
    *,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str | None = None,
    flags: bool = False,
    seed: int = 0,
    random: Any = None,
) -> Any:
    """Round values to a format, each once and from its exact value.

    Args:
        x: numbers of any shape: floats of 16 to 80 bits, ml_dtypes' and torch's, integers of any
            size, Fractions, Decimals, gmpy2's numbers, texts ('-1.5e-3', '0x1.8p-7', '3p-40',
            '1/3', 'inf', 'nan'), or an Array. Floats and integers on a GPU (by DLPack or
            `__cuda_array_interface__`) are rounded there, to a DeviceArray.
        format: the result's, as 'e5m10'.
        rounding: rne rna rnz rnp rnm rno rtz rdn rup raz odd, or stochastic, sr8, with `seed`.
        tininess, seed, random: as in `ww.add`.
        nan: 'zero' puts +0 in place of NaN where the format has none.
        flags: deliver (array, uint8 flags: NX 1, UF 2, OF 4, DZ 8, NV 16) in place of the array.
    Returns:
        An Array of the format, or a DeviceArray, of x's shape; with `flags` a pair.
    Raises:
        ValueError: a NaN, and the format has none; a text that is no number, with the column.
        TypeError: something that is no number.

    >>> import widthwise as ww
    >>> ww.array([1, "1/3", 2.5], "e4m3fn")
    Array([1 0.34 2.5], e4m3fn)
    """
    if nan not in (None, "zero"):
        raise ValueError(f"nan = {nan!r}: it may be None or 'zero'")
    to = as_format(format)
    env = core.Env(rounding, tininess)
    how: dict[str, Any] = {"rounding": rounding, "tininess": tininess}
    how |= {"seed": checked_seed(seed), "random": random}
    x = x.numbers() if isinstance(x, Container) else x
    if is_tensor(x):
        from ._views import from_tensor

        x = from_tensor(x)
    if (there := on_gpu(x)) is not None:
        return array_there(there, to, nan, flags, how)
    x = as_numpy(x)
    source = x if isinstance(x, Array) else from_dtype(x)
    refuses_nan = nan is None and not to.has_nan
    if source is not None:
        bits = random_source(random, seed, env, rounding, source.shape)
        if refuses_nan and not flags and (held := round_held(source, to, env, bits)) is not None:
            return held
        result, raised = convert(source, to, env, bits, flags or refuses_nan)
    elif integral(x):
        from ._elementwise import from_integer

        result, raised = from_integer(whole_numbers(x), to, flags=True, **how)
    else:
        result, raised = from_texts(x, to, env, random, seed, rounding)
    if refuses_nan:
        refuse_nan(x, result, raised, to)
    return (result, raised) if flags else result


def as_numpy(x: Any) -> Any:
    """What other libraries hold as NumPy's arrays: pandas' columns, buffers; all else as it is."""
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray and np.any(getattr(x, "mask", False)):
            raise TypeError("x hides elements behind its mask; fill them, as x.filled(0)")
    elif isinstance(x, list | tuple) and x and all(isinstance(y, Array) for y in x):
        return np.stack(x)
    elif isinstance(x, memoryview | buffer) or hasattr(x, "__array__"):
        return x if isinstance(x, Array | np.generic) else np.asarray(x)
    return x


def on_gpu(x: Any) -> DeviceArray | Found | None:
    return x if isinstance(x, DeviceArray) else found_on_gpu(x)


def array_there(
    x: DeviceArray | Found, to: Format, nan: str | None, flags: bool, how: dict[str, Any]
) -> Any:
    """The same on a GPU, whose memory the values are in."""
    from ._elementwise import convert, from_integer

    if isinstance(x, Found) and x.integral:
        return from_integer(x, to, flags=flags, **how)
    watched = nan is None and not to.has_nan
    z = convert(x.as_values("x") if isinstance(x, Found) else x, to, flags=flags or watched, **how)
    if watched and (z[1] & INVALID).any():
        i = int(np.flatnonzero(z[1] & INVALID)[0])
        raise ValueError(
            f"x: {_codes.element(i, z[1].shape)} is NaN or below zero, and {said(to)} has no such "
            "number; pass nan='zero' for +0, or take a format that has one"
        )
    return z if flags or not watched else z[0]


def from_dtype(x: Any) -> Array | None:
    """An Array of the very format a NumPy array is of; None where there is none."""
    if not isinstance(x, np.ndarray | np.generic):
        if not all_of(x, float):
            return None
        x = rows(x, np.float64)
    a = np.asarray(x)
    if a.dtype.kind == "f" and a.dtype.itemsize in FLOATS and a.dtype.isbuiltin == 1:
        name = FLOATS[a.dtype.itemsize]
    elif a.dtype.isbuiltin != 1 and a.dtype.names is None and a.dtype.kind in "fV":
        name = a.dtype.name  # ml_dtypes' names are formats here
    else:
        return None
    try:
        format = Format(name)
    except ValueError:
        raise TypeError(
            f"x holds {a.dtype}, which is no format known here; convert it to float64"
        ) from None
    native = a.astype(a.dtype.newbyteorder("="), copy=False)
    return Array._of(native.view(format.dtype), format)


def is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")  # no tensor is made before somebody imports it
    return torch is not None and isinstance(x, torch.Tensor)


def all_of(x: Any, kind: type) -> bool:
    """Whether a number or nested lists of numbers are all of one plain type."""
    if isinstance(x, list | tuple):
        return bool(x) and all(all_of(element, kind) for element in x)
    return type(x) is kind


def whole_numbers(x: Any) -> np.ndarray:
    n = np.asarray(x)
    return n.view(np.uint8) if n.dtype.kind == "b" else n


def integral(x: Any) -> bool:
    """Whether 64-bit integers hold x."""
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x).dtype.kind in "iub"
    return all_of(x, int) and rows(x).dtype.kind in "iu"


def rows(x: Any, dtype: Any = None) -> np.ndarray:
    """A number or nested lists of numbers as NumPy has them."""
    try:
        return np.asarray(x, dtype)
    except ValueError:
        raise ValueError(RAGGED) from None


def convert(x: Array, to: Format, env: core.Env, bits: Any, flags: bool) -> tuple[Array, Any]:
    """The array, and its flags or None: without them it is faster."""
    result = _codes.empty(x.shape, to)
    raised = np.empty(x.shape, np.uint8) if flags else None
    operand = (x.format._core, np.ascontiguousarray(x.bits))
    core.elementwise("convert", to._core, env, [operand], result, raised, bits)
    return Array._of(result, to), raised


def round_held(x: Array, to: Format, env: core.Env, bits: Any) -> Array | None:
    """The array where a glance shows no NaN, and no infinity that becomes 0; flags take longer."""
    if str(x.format) not in GLANCED_AT:
        return None
    result = _codes.empty(x.shape, to)
    numbers = np.ascontiguousarray(x.bits)
    held = core.round_held(x.format._core, numbers, to._core, env, result, bits)
    return Array._of(result, to) if held else None


def from_texts(
    x: Any, to: Format, env: core.Env, random: Any, seed: int, rounding: str
) -> tuple[Array, np.ndarray]:
    values = np.array(x, dtype=object)
    bits = random_source(random, seed, env, rounding, values.shape)
    texts = [literal(value) for value in values.reshape(-1)]
    result = _codes.empty(values.shape, to)
    raised = np.empty(values.shape, np.uint8)
    try:
        core.round_literals(to._core, env, texts, result, raised, bits)
    except ValueError as why:
        raise ValueError(with_subscript(str(why), values.shape)) from None
    return Array._of(result, to), raised


def with_subscript(message: str, shape: tuple[int, ...]) -> str:
    """A message about x[5], of the core, which sees no shape."""
    return re.sub(r"^x\[(\d+)\]", lambda at: f"x[{_codes.place(int(at[1]), shape)}]", message)


def literal(x: Any) -> str:
    """A number as text, exact."""
    if isinstance(x, str):
        return x
    if isinstance(x, np.longdouble):
        return extended(x)
    if isinstance(x, float | np.floating):
        return float(x).hex()
    if isinstance(x, Rational):
        return f"{int(x.numerator):#x}/{int(x.denominator):#x}"
    if isinstance(x, np.bool_):
        return str(int(x))
    if isinstance(x, Decimal):
        return str(x)
    if _mpfr.is_mpfr(x):
        return _mpfr.text(x)
    if isinstance(x, list | tuple):
        raise ValueError(RAGGED)
    raise TypeError(
        f"x holds a {type(x).__name__}, {x!r}; numbers, Fractions, Decimals and texts as '1/3' "
        "are taken"
    )


def extended(x: np.longdouble) -> str:
    sign = "-" if np.signbit(x) else ""
    if not np.isfinite(x):
        return sign + ("nan" if np.isnan(x) else "inf")
    numerator, denominator = abs(x).as_integer_ratio()
    return f"{sign}{numerator:#x}/{denominator:#x}"


def reach(x: np.ndarray) -> float:
    """NaN if one is among the numbers, else infinity if one is, else a finite number."""
    if x.dtype in (np.float32, np.float64) and x.flags.c_contiguous:
        return core.largest_magnitude(x)
    if np.isnan(x).any():
        return np.nan
    return np.inf if np.isinf(x).any() else 0.0


def refuse_nan(x: Any, result: Array, raised: np.ndarray, to: Format) -> None:
    """NaN became +0 and invalid; so did a negative number of an unsigned float, and an infinity
    in fixed point that does not saturate."""
    suspects = np.flatnonzero(raised & INVALID)
    if suspects.size == 0:
        return
    if to.system == "fixed" and not nan_among(x, suspects[:1])[0]:
        raise ValueError(
            f"x: {_codes.element(int(suspects[0]), raised.shape)} is infinite, which {said(to)} "
            "has no number for; pass nan='zero' for 0, or take overflow=saturate"
        )
    for i in suspects[nan_among(x, suspects)][:1]:
        raise ValueError(
            f"x: {_codes.element(int(i), raised.shape)} is NaN and {said(to)} has no NaN; "
            "pass nan='zero' for +0, or take a format that has one"
        )


def nan_among(x: Any, places: np.ndarray) -> np.ndarray:
    """Which of the elements at those places are NaN."""
    if isinstance(x, Array):
        from ._compare import isnan

        return isnan(x.ravel()[places])
    elements = np.array(x, dtype=object).reshape(-1)[places]
    return np.array(["nan" in literal(element).lower() for element in elements], bool)


@_types.from_codes
@asks_for("ww.from_bits(bits, 'e5m10')")
def from_bits(bits: Any, format: str | Format, *, copy: bool = False) -> Any:
    """Take codes as they are, without a copy where they are of the format's dtype.

    Args:
        bits: unsigned integers of the format's width, rounded up to 8, 16, 32 or 64 bits; past 64
            bits uint64 limbs on a last axis, least significant first. Other integers, Python's too,
            are copied. An array of another library on a GPU (by DLPack or
            `__cuda_array_interface__`) becomes a DeviceArray, which shares its memory; its codes
            are not looked at.
        format: of the codes.
        copy: share no memory with bits, whatever they are.
    Returns:
        An Array of bits' shape, without the axis of limbs; of codes on a GPU a DeviceArray.
    Raises:
        ValueError: a code has bits past the format's width.
        TypeError: the integers are of another width, or no integers.

    >>> import numpy as np, widthwise as ww
    >>> ww.from_bits(np.uint16([0x3c00, 0x7bff]), "e5m10")
    Array([1 65504], e5m10)
    """
    f = as_format(format)
    if isinstance(bits, CodeArray):
        raise TypeError(f"bits is an Array of {said(bits.format)}; its codes are its .bits")
    if is_tensor(bits):
        from ._views import codes_of_tensor

        bits = codes_of_tensor(bits)
    if (there := found_on_gpu(bits)) is not None:
        return there.as_codes("bits", f)
    given = bits if isinstance(bits, np.ndarray | np.generic) else np.array(bits, dtype=object)
    if given.dtype.kind == "O" or (given.dtype.kind in "iu" and given.dtype != f.dtype):
        return Array._of(copied_codes(np.asarray(given), f), f)
    a = np.asarray(given)
    return code_array("bits", a.copy() if copy else a, f)


def copied_codes(codes: np.ndarray, f: Format) -> np.ndarray:
    """Codes out of integers of another dtype, or of Python's own."""
    if codes.dtype.kind == "O" or f.limbs > 1:
        return listed_codes(np.asarray(codes, dtype=object), f)
    if codes.dtype.kind == "i" and codes.itemsize == f.dtype.itemsize and (codes < 0).any():
        raise ValueError(
            f"bits holds {codes.dtype} below 0; codes of {said(f)} are unsigned: pass "
            f"bits.view('{f.dtype}')"
        )
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < 1 << f.width:
        return listed_codes(codes.astype(object), f)  # which says where and how far
    return codes.astype(f.dtype)


def listed_codes(codes: np.ndarray, f: Format) -> np.ndarray:
    flat = codes.reshape(-1).tolist()
    wrong = next((code for code in flat if not isinstance(code, int | np.integer)), None)
    if wrong is not None:
        raise TypeError(
            f"bits holds {wrong!r}; codes of {said(f)} are integers of {f.width} bits. "
            f"Values are taken by ww.array(x, '{said(f)}')"
        )
    limbs = () if f.limbs == 1 else (f.limbs,)
    return _codes.from_integers([int(code) for code in flat], f, codes.shape).reshape(
        codes.shape + limbs
    )


def code_array(name: str, a: np.ndarray, f: Format) -> Array:
    """An array of codes as an Array; its dtype has to be the format's."""
    if a.dtype != f.dtype:
        raise TypeError(
            f"{name} holds {a.dtype}; codes of {said(f)} are {f.dtype}"
            f"{f' with a last axis of {f.limbs} limbs' if f.limbs > 1 else ''}. "
            f"Values are taken by ww.array({name}, '{said(f)}')"
        )
    if f.limbs > 1 and (a.ndim == 0 or a.shape[-1] != f.limbs):
        raise ValueError(
            f"{name} has shape {a.shape}; codes of {said(f)} have {f.limbs} limbs on a last axis"
        )
    if f.limbs > 1 and a.strides[-1] != a.itemsize:
        a = np.ascontiguousarray(a)
    _codes.check_fit(name, a, f)
    return Array._of(a, f)


@asks_for("ww.zeros((2, 3), 'e5m10')")
def zeros(shape: int | tuple[int, ...], format: str | Format) -> Array:
    """An array of +0.

    Args:
        shape: an integer or several.    format: of its codes.
    Returns:
        An Array of that shape and format.
    Raises:
        ValueError: the format has no zero, as e8m0fnu.

    >>> zeros((2, 3), "e5m10").shape
    (2, 3)
    """
    f = as_format(format)
    if "zero" not in f.codes:
        raise ValueError(f"{said(f)} has no zero; its least number is {f.min_normal}")
    return filled(shape, f, f.codes["zero"])


@asks_for("ww.ones((2, 3), 'e5m10')")
def ones(shape: int | tuple[int, ...], format: str | Format) -> Array:
    """An array of 1, rounded as `ww.array` does where the format has none.

    Args:
        shape: an integer or several.    format: of its codes.
    Returns:
        An Array of that shape and format.
    Raises:
        TypeError: no format is given.

    >>> ones((2, 2), "e5m10")
    Array([[1 1]
     [1 1]], e5m10)
    """
    return full(shape, 1, format)


@asks_for("ww.full((2, 3), 0.5, 'e5m10')")
def full(shape: int | tuple[int, ...], value: Any, format: str | Format) -> Array:
    """An array of one value, rounded once.

    Args:
        shape: an integer or several.
        value: a number as `ww.array` takes it, or an Array of one.
        format: of its codes.
    Returns:
        An Array of that shape and format.
    Raises:
        ValueError: the value is no number, or several.

    >>> full(3, "1/3", "e4m3fn")
    Array([0.34 0.34 0.34], e4m3fn)
    """
    f = as_format(format)
    with called("value"):
        one = array(value, f)
    if one.shape != ():
        raise ValueError(f"value has shape {one.shape}; one number is wanted")
    return filled(shape, f, one.bits)


def filled(shape: int | tuple[int, ...], f: Format, bits: Any) -> Array:
    axes = shape if isinstance(shape, list | tuple) else [shape]
    codes = _codes.empty(tuple(whole("shape", n) for n in axes), f)
    codes[...] = bits
    return Array._of(codes, f)
