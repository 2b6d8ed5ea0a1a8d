"""Operations element by element: any formats in, any out, one rounding, all flags."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._device import DeviceArray, DeviceBytes, copied_in, empty, gpu_of_all, queue, spread_there
from ._format import Format, as_format, optional_format
from ._operands import broadcast, common_shape, operands, result_format

HOW = """
    Args:
        x, y, z: Arrays, or unsigned integers as codes; NumPy's broadcasting. DeviceArrays are
            computed where they lie.
        format: the result's; needed where the operands' differ, or all are codes.
        rounding: rne rna rnz rnp rnm rno rtz rdn rup raz odd, or stochastic, sr8, with `seed`.
        tininess: after or before rounding; decides the underflow flag alone.
        nan: canonical, or propagate the first NaN operand's sign and payload.
        flags: deliver (result, uint8 flags: NX 1, UF 2, OF 4, DZ 8, NV 16).
    """
NAMES = "xyz"


def compute(
    op: str,
    named: dict[str, Any],
    format: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    flags: bool = False,
    seed: int = 0,
) -> Any:
    """The one way from operands to the core and back."""
    wanted = optional_format(format)
    arrays = dict(zip(named, operands(named, wanted), strict=True))
    to = result_format(arrays, wanted)
    env = core.Env(rounding, tininess, nan)
    if (gpu := gpu_of_all(arrays)) is not None:
        return computed_there(gpu, op, arrays, to, env, flags, seed)
    codes, shape = broadcast(arrays)
    result = _codes.empty(shape, to)
    raised = np.empty(shape, np.uint8) if flags else None
    pairs = [(x.format._core, bits) for x, bits in zip(arrays.values(), codes, strict=True)]
    core.elementwise(op, to._core, env, pairs, result, raised, seed)
    z = Array._of(result, to)
    return (z, raised) if flags else z


def computed_there(
    gpu: int,
    op: str,
    arrays: dict[str, DeviceArray],
    to: Format,
    env: core.Env,
    flags: bool,
    seed: int,
) -> Any:
    """On the GPU whose memory the operands are in; flags come here."""
    shape = common_shape(arrays)
    pairs = [(x.format._core, spread_there(x, shape)._there) for x in arrays.values()]
    z = empty(gpu, shape, to)
    raised = DeviceBytes(gpu, shape) if flags else None
    at = (z._there, raised and raised.there)
    core.device_elementwise(queue(gpu), op, to._core, env, pairs, *at, seed)
    return (z, raised.here()) if raised else z


def rounding_operation(op: str, what: str) -> Callable:
    """A function of as many arrays as the operation has operands, with every setting."""
    names = NAMES[: core.arity(op)]

    def function(*args: Any, **how: Any) -> Any:
        signature.bind(*args, **how)
        return compute(op, dict(zip(names, args, strict=True)), **how)

    signature = described(function, op, f"{what}\n{HOW}", names, SETTINGS)
    return function


def exact_operation(op: str, what: str) -> Callable:
    """A function whose result is a code of its first operand's format, unrounded."""
    names = NAMES[: core.arity(op)]

    def function(*args: Any, format: str | Format | None = None, flags: bool = False) -> Any:
        signature.bind(*args)
        arrays = operands(dict(zip(names, args, strict=True)), optional_format(format))
        return compute(op, dict(zip(names, arrays, strict=True)), arrays[0].format, flags=flags)

    signature = described(function, op, what, names, {"format": None, "flags": False})
    return function


SETTINGS = {
    "format": None,
    "rounding": "rne",
    "tininess": "after",
    "nan": "canonical",
    "flags": False,
    "seed": 0,
}


def described(function: Any, op: str, what: str, names: str, settings: dict[str, Any]) -> Signature:
    """Gives a function its name, text and signature, and returns the last to bind calls to."""
    operand_names = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    keywords = [Parameter(key, Parameter.KEYWORD_ONLY, default=x) for key, x in settings.items()]
    function.__name__ = function.__qualname__ = op
    function.__doc__ = what
    function.__signature__ = Signature(operand_names + keywords)
    return function.__signature__


add = rounding_operation("add", "x + y.")
subtract = rounding_operation("subtract", "x - y.")
multiply = rounding_operation("multiply", "x * y.")
divide = rounding_operation("divide", "x / y.")
remainder = rounding_operation(
    "remainder", "x - y * n, n the integer nearest x / y, ties to even (IEEE 754-2019, 5.3.1)."
)
sqrt = rounding_operation("sqrt", "The square root of x.")
fma = rounding_operation("fma", "x * y + z with one rounding.")
minimum = rounding_operation("minimum", "The lesser; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).")
maximum = rounding_operation("maximum", "The greater; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).")
minimum_number = rounding_operation("minimum_number", "The lesser; a number beats NaN (9.6).")
maximum_number = rounding_operation("maximum_number", "The greater; a number beats NaN (9.6).")
min_num = rounding_operation("min_num", "minNum of IEEE 754-2008: a signalling NaN is invalid.")
max_num = rounding_operation("max_num", "maxNum of IEEE 754-2008: a signalling NaN is invalid.")
logb = rounding_operation("logb", "The exponent of x as a number; -inf and DZ for 0.")
next_up = exact_operation("next_up", "The least number above x.")
next_down = exact_operation("next_down", "The greatest number below x.")
copysign = exact_operation("copysign", "x with y's sign.")
negate = exact_operation("negate", "x with its sign turned; NaN too, and no flags.")
abs = exact_operation("abs", "x with a plus sign; NaN too, and no flags.")


def convert(x: Any, format: str | Format, **how: Any) -> Any:
    """x in another format, rounded once. `how`: as in `ww.add`.

    >>> import widthwise as ww
    >>> ww.convert(ww.array([1.0, 3.3], "binary32"), "e4m3fn", rounding="rup")
    Array([1 3.5], e4m3fn)
    """
    if not isinstance(x, CodeArray):
        raise TypeError(f"x is {kind_of(x)}; an Array is wanted: ww.from_bits(x, its format)")
    return compute("convert", {"x": x}, format, **how)


def round_to_integral(x: Any, *, exact: bool = False, **how: Any) -> Any:
    """The integer next to x in the rounding's direction, in x's format. `how`: as in `ww.add`.

    exact: raise inexact where x was no integer (roundToIntegralExact).
    """
    return compute("round_to_integral_exact" if exact else "round_to_integral", {"x": x}, **how)


def scaleb(
    x: Any,
    n: Any,
    *,
    format: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    flags: bool = False,
    seed: int = 0,
) -> Any:
    """x * 2**n for integers n, with one rounding. Settings: as in `ww.add`."""
    wanted = optional_format(format)
    (a,) = operands({"x": x}, wanted)
    to = wanted or a.format
    powers = np.asarray(n)
    if powers.dtype.kind not in "iu":
        raise TypeError(f"n holds {powers.dtype}; integers are wanted")
    try:
        shape = np.broadcast_shapes(a.shape, powers.shape)
    except ValueError:
        raise ValueError(
            f"x has shape {a.shape} and n has shape {powers.shape}; they do not broadcast to one"
        ) from None
    steps = np.ascontiguousarray(np.broadcast_to(powers, shape), np.int64).reshape(shape)
    env = core.Env(rounding, tininess, nan)
    if (gpu := gpu_of_all({"x": a})) is not None:
        return scaled_there(gpu, a, steps, to, env, flags, seed)
    spread = Array._of(
        _codes.bits(np.broadcast_to(_codes.items(a.bits, a.format), shape).copy(), a.format),
        a.format,
    )
    result = _codes.empty(shape, to)
    raised = np.empty(shape, np.uint8) if flags else None
    core.scaleb(to._core, env, a.format._core, spread.bits, steps, result, raised, seed)
    z = Array._of(result, to)
    return (z, raised) if flags else z


def scaled_there(
    gpu: int, x: DeviceArray, n: np.ndarray, to: Format, env: core.Env, flags: bool, seed: int
) -> Any:
    """On the GPU whose memory x is in, to which n is copied; flags come here."""
    codes = spread_there(x, n.shape)
    z = empty(gpu, n.shape, to)
    raised = DeviceBytes(gpu, n.shape) if flags else None
    at = (z._there, raised and raised.there)
    powers = copied_in(gpu, n)
    core.device_scaleb(queue(gpu), to._core, env, x.format._core, codes._there, powers, *at, seed)
    return (z, raised.here()) if raised else z


INTEGERS = {"int32": (32, True), "uint32": (32, False), "int64": (64, True), "uint64": (64, False)}


def to_integer(
    x: Any,
    dtype: Any = "int64",
    *,
    format: str | Format | None = None,
    rounding: str = "rne",
    flags: bool = False,
    seed: int = 0,
) -> Any:
    """x as int32, uint32, int64 or uint64.

    A value past the range gives RISC-V's: the end of the range on its side, NaN the upper end, and
    NV alone; any other that is no integer raises NX.
    """
    (a,) = operands({"x": x}, optional_format(format))
    width, signed = integer_type(dtype)
    words = np.empty(a.shape, np.uint64)
    raised = np.empty(a.shape, np.uint8) if flags else None
    bits = np.ascontiguousarray(a.bits)
    core.to_integers(width, signed, core.Env(rounding), a.format._core, bits, words, raised, seed)
    result = words.view(np.int64).astype(dtype) if signed else words.astype(dtype)
    return (result, raised) if flags else result


def from_integer(
    n: Any,
    format: str | Format,
    *,
    rounding: str = "rne",
    tininess: str = "after",
    flags: bool = False,
    seed: int = 0,
) -> Any:
    """Integers of up to 64 bits in a format, rounded once. `ww.array` takes larger ones, too."""
    from ._create import from_integers

    integers = np.asarray(n)
    if integers.dtype.kind not in "iu":
        raise TypeError(f"n holds {integers.dtype}; integers of up to 64 bits are wanted")
    to = as_format(format)
    result, raised = from_integers(integers, to, core.Env(rounding, tininess), seed)
    return (result, raised) if flags else result


def integer_type(dtype: Any) -> tuple[int, bool]:
    name = np.dtype(dtype).name
    if name not in INTEGERS:
        raise ValueError(f"dtype = {name}: it may be {', '.join(INTEGERS)}")
    return INTEGERS[name]
