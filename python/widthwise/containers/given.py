"""What a user gives of affine integers, checked: values, scales, zero points, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _create
from .._array import Array
from .._container import Container
from .._format import Format
from .grouping import Grouping, grouping_of
from .integer_codes import as_integers
from .numbers import numbers_there, without_gradient
from .parameters import scale_dtype
from .scheme import Scheme, parsed, scheme_of

FOUND = "leave scale out, and it is found from x"
ARITHMETICS = ("exact", "onnx", "torch", "torch_legacy")


def refuse_both(name: str, **others: Any) -> None:
    for other, value in others.items():
        if value is not None:
            way = "pass scale= too" if " without " in name else "leave one out"
            raise ValueError(f"{name} and {other} are given; {way}")


def checked_dtype(scale_format: str, arithmetic: str) -> Any:
    if arithmetic not in ARITHMETICS:
        raise ValueError(
            f"arithmetic = {arithmetic!r}: it may be {', '.join(map(repr, ARITHMETICS))}"
        )
    dtype = scale_dtype(scale_format)
    if arithmetic != "exact" and dtype is not np.float32:
        raise ValueError(
            f"arithmetic = {arithmetic!r} computes in binary32, and scale_format = "
            f"{scale_format!r}; leave it out"
        )
    return dtype


def settings(
    shape: tuple[int, ...], bits: Any, symmetric: Any, signed: Any, scheme: Any, axis: Any,
    block: Any,
) -> tuple[Scheme, Grouping]:  # fmt: skip
    """A scheme and its groups, from arguments or from a text."""
    if not isinstance(bits, str):
        return scheme_of(bits, symmetric, signed, scheme), grouping_of(shape, axis, block)
    rule, groups = parsed(bits)
    for name, value in (("symmetric", symmetric or None), ("signed", signed),
                        ("scheme", scheme), ("block", block)):  # fmt: skip
        if value is not None:
            raise ValueError(f"'{bits}' is the whole of it, and {name} = {value!r}; leave one out")
    if groups == "channel":
        return rule, grouping_of(shape, 0 if axis is None else axis, None)
    if not groups and axis is not None:
        raise ValueError(
            f"axis = {axis}, and '{bits}' has one scale; write '{rule.text('channel')}'"
        )
    return rule, grouping_of(shape, axis, groups or None)


def numbers(x: Any) -> Any:
    """Values as float32 or float64 in one piece, exactly; of an array on a GPU a DeviceArray."""
    x = x.numbers() if isinstance(x, Container) else x
    if _create.is_tensor(x):
        from .._views import from_tensor

        x = from_tensor(x)
    if (there := _create.on_gpu(x)) is not None:
        return numbers_there(there, single=False)
    if isinstance(x, Array):
        native = x.format == Format("binary32")
        x = np.asarray(x.bits).view(np.float32) if native else x.to_float64()
    a = np.asarray(_create.as_numpy(x))
    if a.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(a).reshape(a.shape)
    if a.dtype.name in ("bfloat16", "float16") or "float8" in a.dtype.name:
        return np.ascontiguousarray(a, np.float32).reshape(a.shape)
    if a.dtype.kind in "biu":
        return whole(a)
    if a.dtype.kind == "V" and (narrow := _create.from_dtype(a)) is not None:
        return numbers(narrow)
    if a.dtype.kind != "f" or a.itemsize not in (4, 8):
        raise TypeError(
            f"x holds {a.dtype}; floats of 16 to 64 bits and integers are taken. ww.array(x, "
            "'binary64') rounds other numbers"
        )
    kind = np.float32 if a.itemsize == 4 else np.float64
    return np.ascontiguousarray(a, kind).reshape(a.shape)


def whole(a: np.ndarray) -> np.ndarray:
    if a.dtype.itemsize <= 2:
        return np.ascontiguousarray(a, np.float32).reshape(a.shape)
    if a.size and max(abs(int(a.min())), abs(int(a.max()))) > 1 << 53:
        raise ValueError("x holds integers past 2^53, which float64 rounds; round them first")
    return np.ascontiguousarray(a, np.float64).reshape(a.shape)


def given(
    scale: Any, zero_point: Any, rule: Scheme, shape: tuple[int, ...], dtype: Any, way: str
) -> tuple[np.ndarray, np.ndarray]:
    """A user's scales and zero points, as many as there are groups; `way` as of `given_scales`."""
    scales = given_scales(scale, shape, dtype, way)
    own = 0 if rule.name == "asymmetric" else rule.zero
    zeros = as_integers(own if zero_point is None else zero_point, "zero_point")[0]
    if zeros.dtype.kind not in "iu":
        raise TypeError(f"zero_point holds {zeros.dtype}; zero points are integers")
    zeros = of_shape("zero_point", zeros.astype(np.int64), shape)
    check_range("zero_point", zeros, rule)
    if rule.name != "asymmetric" and (zeros != own).any():
        wrong = np.flatnonzero(zeros != own)[0]
        raise ValueError(
            f"zero_point{subscript(wrong, shape)} = {zeros.reshape(-1)[wrong]}: that of "
            f"{rule.text()} is {own}; scheme='asymmetric' has others"
            + ", with signed=True of such codes"
            * rule.signed
        )
    return scales, zeros


def given_scales(scale: Any, shape: tuple[int, ...], dtype: Any, way: str) -> np.ndarray:
    """A user's scales alone; `way` is what else there is to do."""
    scale = without_gradient(scale)
    with np.errstate(over="ignore", under="ignore"):
        scales = of_shape("scale", np.asarray(scale, np.float64).astype(dtype), shape)
    wrong = np.flatnonzero(~(np.isfinite(scales) & (scales > 0)))
    if wrong.size:
        asked = np.broadcast_to(np.asarray(scale, np.float64), shape).reshape(-1)[wrong[0]]
        became = scales.reshape(-1)[wrong[0]]
        rounded = f", which is {became} in {np.dtype(dtype)}" if became != asked == asked else ""
        raise ValueError(
            f"scale{subscript(wrong[0], shape)} = {asked}{rounded}: a scale is finite and above "
            f"zero; {way}"
        )
    return scales


def of_shape(name: str, a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if a.ndim != 0 and a.shape != shape:
        one = (
            f"one for each channel or block, shape {shape}, or one number"
            if shape
            else "one number"
        )
        raise ValueError(f"{name} has shape {a.shape}; {one} is wanted")
    return np.array(np.broadcast_to(a, shape))


def subscript(i: Any, shape: tuple[int, ...]) -> str:
    return str([int(n) for n in np.unravel_index(int(i), shape)]) if shape else ""


def check_range(name: str, a: np.ndarray, rule: Scheme) -> None:
    wrong = np.flatnonzero((a < rule.qmin) | (a > rule.qmax))
    if wrong.size:
        raise ValueError(
            f"{name}{subscript(wrong[0], a.shape)} = {a.reshape(-1)[wrong[0]]}: codes of "
            f"{rule.text()} are {rule.qmin} to {rule.qmax}, its zero points too; pass bits= or "
            "signed= of other codes"
        )


def check_codes(codes: np.ndarray, rule: Scheme) -> None:
    if codes.size and not rule.qmin <= int(codes.min()) <= int(codes.max()) <= rule.qmax:
        check_range("codes", codes.astype(object), rule)


def covered(range: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A user's range, exactly."""
    try:
        lo, hi = range
    except (TypeError, ValueError):
        raise ValueError(f"range = {range!r}: (lo, hi) is wanted") from None
    sides = [of_shape("range", np.asarray(without_gradient(side)), shape) for side in (lo, hi)]
    if any(side.dtype.kind not in "iufO" for side in sides):
        raise TypeError(f"range = {range!r}: two numbers are wanted")
    lo, hi = (side if side.dtype.kind == "O" else side.astype(np.float64) for side in sides)
    if (lo.dtype.kind == "O") != (hi.dtype.kind == "O"):
        lo, hi = lo.astype(object), hi.astype(object)
    wrong = np.flatnonzero(~((-np.inf < lo) & (hi < np.inf)))
    if wrong.size:
        raise ValueError(
            f"range{subscript(wrong[0], shape)} = ({lo.reshape(-1)[wrong[0]]}, "
            f"{hi.reshape(-1)[wrong[0]]}): both are finite; scale= and zero_point= take "
            "infinities, which clamp"
        )
    wrong = np.flatnonzero(lo > hi)
    if wrong.size:
        raise ValueError(
            f"range{subscript(wrong[0], shape)} = ({lo.reshape(-1)[wrong[0]]}, "
            f"{hi.reshape(-1)[wrong[0]]}): lo is above hi; swap them"
        )
    return lo, hi
