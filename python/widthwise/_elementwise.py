"""Operations element by element: any formats in, any out, one rounding, all flags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import Parameter, Signature
from inspect import signature as signature_of
from typing import Any

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._device import DeviceArray, DeviceBytes, copied_in, empty, gpu_of_all, queue, spread_there
from ._format import Format, as_format, optional_format
from ._operands import broadcast, common_shape, operands, result_format
from ._settings import checked_seed

HOW = """
    Args:
        {names}: Arrays, or unsigned integers as codes; NumPy's broadcasting. DeviceArrays are
            computed where they lie.
        format: the result's; needed where the operands' differ, or all are codes.
        rounding: rne rna rnz rnp rnm rno rtz rdn rup raz odd, or stochastic, sr8, with `seed`.
        tininess: after or before rounding; decides the underflow flag alone.
        nan: canonical, or propagate the first NaN operand's sign and payload.
        flags: deliver (result, uint8 flags: NX 1, UF 2, OF 4, DZ 8, NV 16).
        seed: of stochastic rounding; the bits depend on it and an element's place alone.
    Returns:
        An Array of the operands' common shape; with `flags` a pair.
    Raises:
        TypeError: an operand is floats, or formats differ and none is named.
        ValueError: shapes that do not broadcast, or a setting that there is not.
    """
EXACT = """
    Args:
        {names}: Arrays, or unsigned integers as codes; of any shape, by NumPy's broadcasting.
        format: of operands that are codes; those of Arrays may differ.
        flags: deliver (result, uint8 flags).
    Returns:
        An Array of x's format and the common shape, exact; with `flags` a pair.
    Raises:
        TypeError: an operand is floats, or codes without a format.
        ValueError: shapes that do not broadcast.
    """
NAMES = "xyz"


def compute(
    op: str,
    args: Sequence[Any],
    format: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    flags: bool = False,
    seed: int = 0,
) -> Any:
    """The one way from operands to the core and back."""
    env, seed = environment(rounding, tininess, nan), checked_seed(seed)
    if format is None and alike(args):
        to, shape = args[0]._format, args[0]._bits.shape
        result = np.empty(shape, args[0]._bits.dtype)
        pairs = [(to._core, x._bits) for x in args]
    else:
        wanted = optional_format(format)
        named = dict(zip(NAMES, args, strict=False))
        arrays = dict(zip(named, operands(named, wanted), strict=True))
        to = result_format(arrays, wanted)
        if (gpu := gpu_of_all(arrays)) is not None:
            return computed_there(gpu, op, arrays, to, env, flags, seed)
        codes, shape = broadcast(arrays)
        result = _codes.empty(shape, to)
        pairs = [(x.format._core, bits) for x, bits in zip(arrays.values(), codes, strict=True)]
    raised = np.empty(shape, np.uint8) if flags else None
    core.elementwise(op, to._core, env, pairs, result, raised, seed)
    z = Array._of(result, to)
    return (z, raised) if flags else z


environment = lru_cache(maxsize=256)(core.Env)


def alike(args: Sequence[Any]) -> bool:
    """Whether all are Arrays of one format and shape, contiguous: nothing needs preparing then."""
    first = args[0]
    if type(first) is not Array:
        return False
    format, shape = first._format, first._bits.shape
    for x in args:
        if (
            type(x) is not Array
            or (x._format is not format and x._format._text != format._text)
            or x._bits.shape != shape
            or not x._bits.flags.c_contiguous
        ):
            return False
    return format._core.limbs == 1


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


# Every setting of `compute`, and what it is if nothing is said.
SETTINGS = {name: p.default for name, p in list(signature_of(compute).parameters.items())[2:]}


def shown(call: str, result: str) -> str:
    """The example that ends a docstring."""
    return f"\n    >>> import widthwise as ww\n    >>> {call}\n    {result}\n    "


def rounding_operation(op: str, what: str, *example: str) -> Callable[..., Any]:
    """A function of as many arrays as the operation has operands, with every setting."""
    names = NAMES[: core.arity(op)]

    def function(*args: Any, **how: Any) -> Any:
        if len(args) != len(names) or not how.keys() <= SETTINGS.keys():
            signature.bind(*args, **how)  # says what is wrong
        return compute(op, args, **how)

    text = f"{what}\n{HOW.format(names=', '.join(names))}{shown(*example)}"
    signature = described(function, op, text, names, SETTINGS)
    return function


def exact_operation(op: str, what: str, *example: str) -> Callable[..., Any]:
    """A function whose result is a code of its first operand's format, unrounded."""
    names = NAMES[: core.arity(op)]

    def function(*args: Any, format: str | Format | None = None, flags: bool = False) -> Any:
        if len(args) != len(names):
            signature.bind(*args)
        if alike(args):
            return compute(op, args, flags=flags)
        named = dict(zip(names, args, strict=True))
        arrays = operands(named, optional_format(format))
        return compute(op, arrays, arrays[0].format, flags=flags)

    text = f"{what}\n{EXACT.format(names=', '.join(names))}{shown(*example)}"
    signature = described(function, op, text, names, {"format": None, "flags": False})
    return function


def described(function: Any, op: str, what: str, names: str, settings: dict[str, Any]) -> Signature:
    """Gives a function its name, text and signature, and returns the last to bind calls to."""
    operand_names = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names]
    keywords = [Parameter(key, Parameter.KEYWORD_ONLY, default=x) for key, x in settings.items()]
    function.__name__ = function.__qualname__ = op
    function.__doc__ = what
    function.__signature__ = Signature(operand_names + keywords)
    return function.__signature__


add = rounding_operation(
    "add",
    "x + y (IEEE 754-2019, 5.4.1).",
    'ww.add(ww.array(2048.0, "e5m10"), ww.array(1.0, "e5m10"), rounding="rup")',
    "Array(2050, e5m10)",
)
subtract = rounding_operation(
    "subtract",
    "x - y (IEEE 754-2019, 5.4.1).",
    'ww.subtract(ww.array(1.0, "e5m10"), ww.array(1.0, "e5m10"), rounding="rdn")',
    "Array(-0, e5m10)",
)
multiply = rounding_operation(
    "multiply",
    "x * y (IEEE 754-2019, 5.4.1).",
    'ww.multiply(ww.array(300.0, "e5m10"), ww.array(300.0, "e5m10"), format="e8m7")',
    "Array(90000, e8m7)",
)
divide = rounding_operation(
    "divide",
    "x / y (IEEE 754-2019, 5.4.1).",
    'ww.divide(ww.array([1.0, 0.0], "e5m10"), ww.array(0.0, "e5m10"), flags=True)',
    "(Array([inf nan], e5m10), array([ 8, 16], dtype=uint8))",
)
remainder = rounding_operation(
    "remainder",
    "x - y * n, n the integer nearest x / y, ties to even (IEEE 754-2019, 5.3.1).",
    'ww.remainder(ww.array(5.0, "e5m10"), ww.array(3.0, "e5m10"))',
    "Array(-1, e5m10)",
)
sqrt = rounding_operation(
    "sqrt",
    "The square root of x (IEEE 754-2019, 5.4.1).",
    'ww.sqrt(ww.array([2.0, -0.0], "e5m10"))',
    "Array([1.414 -0], e5m10)",
)
fma = rounding_operation(
    "fma",
    "x * y + z with one rounding (IEEE 754-2019, 5.4.1).",
    'ww.fma(*ww.array([3.0, 683.0, 2.0**-14], "e5m10"))  # binary32 in between gives 2048',
    "Array(2050, e5m10)",
)
minimum = rounding_operation(
    "minimum",
    "The lesser; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).",
    'ww.minimum(ww.array([1.0, 0.0], "e5m10"), ww.array([float("nan"), -0.0], "e5m10"))',
    "Array([nan -0], e5m10)",
)
maximum = rounding_operation(
    "maximum",
    "The greater; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).",
    'ww.maximum(ww.array([1.0, 0.0], "e5m10"), ww.array([float("nan"), -0.0], "e5m10"))',
    "Array([nan 0], e5m10)",
)
minimum_number = rounding_operation(
    "minimum_number",
    "The lesser; a number beats NaN (IEEE 754-2019, 9.6).",
    'ww.minimum_number(ww.array(1.0, "e5m10"), ww.array(float("nan"), "e5m10"))',
    "Array(1, e5m10)",
)
maximum_number = rounding_operation(
    "maximum_number",
    "The greater; a number beats NaN (IEEE 754-2019, 9.6).",
    'ww.maximum_number(ww.array(1.0, "e5m10"), ww.array(float("nan"), "e5m10"))',
    "Array(1, e5m10)",
)
min_num = rounding_operation(
    "min_num",
    "minNum of IEEE 754-2008, 5.3.1: as minimum_number, but a signalling NaN gives NaN.",
    'ww.min_num(ww.from_bits(0x7C01, "e5m10"), ww.array(1.0, "e5m10"), flags=True)',
    "(Array(nan, e5m10), array(16, dtype=uint8))",
)
max_num = rounding_operation(
    "max_num",
    "maxNum of IEEE 754-2008, 5.3.1: as maximum_number, but a signalling NaN gives NaN.",
    'ww.max_num(ww.array(float("nan"), "e5m10"), ww.array(1.0, "e5m10"))',
    "Array(1, e5m10)",
)
logb = rounding_operation(
    "logb",
    "The exponent of x as a number; -inf and DZ for 0 (IEEE 754-2019, 5.3.3).",
    'ww.logb(ww.array([10.0, 0.0], "e5m10"), flags=True)',
    "(Array([3 -inf], e5m10), array([0, 8], dtype=uint8))",
)
next_up = exact_operation(
    "next_up",
    "The least number above x (IEEE 754-2019, 5.3.1; docs/semantics.md, E9).",
    'ww.next_up(ww.array([1.0, -0.0], "e4m3fn"))',
    "Array([1.1 0.002], e4m3fn)",
)
next_down = exact_operation(
    "next_down",
    "The greatest number below x (IEEE 754-2019, 5.3.1; docs/semantics.md, E9).",
    'ww.next_down(ww.array([1.0, 448.0], "e4m3fn"))',
    "Array([0.94 420], e4m3fn)",
)
copysign = exact_operation(
    "copysign",
    "x with y's sign; NaN too (IEEE 754-2019, 5.5.1).",
    'ww.copysign(ww.array(1.0, "e5m10"), ww.array(-0.0, "e8m7"))',
    "Array(-1, e5m10)",
)
negate = exact_operation(
    "negate",
    "x with its sign turned; NaN too, and no flags (IEEE 754-2019, 5.5.1).",
    'ww.negate(ww.array([1.0, 0.0], "e5m10"))',
    "Array([-1 -0], e5m10)",
)
abs = exact_operation(
    "abs",
    "x with a plus sign; NaN too, and no flags (IEEE 754-2019, 5.5.1).",
    'ww.abs(ww.array([-1.5, -0.0], "e5m10"))',
    "Array([1.5 0], e5m10)",
)


def convert(x: Any, format: str | Format, **how: Any) -> Any:
    """x in another format, rounded once (IEEE 754-2019, 5.4.2).

    Args:
        x: an Array or DeviceArray.
        format: the result's.
        how: rounding, tininess, nan, flags, seed, as in `ww.add`.
    Returns:
        An Array of x's shape; with flags=True a pair.
    Raises:
        TypeError: x is no array.

    >>> import widthwise as ww
    >>> ww.convert(ww.array([1.0, 3.3], "binary32"), "e4m3fn", rounding="rup")
    Array([1 3.5], e4m3fn)
    """
    if not isinstance(x, CodeArray):
        raise TypeError(f"x is {kind_of(x)}; an Array is wanted: ww.from_bits(x, its format)")
    return compute("convert", (x,), format, **how)


def round_to_integral(x: Any, *, exact: bool = False, **how: Any) -> Any:
    """The integer next to x in the rounding's direction, in x's format (IEEE 754-2019, 5.9).

    Args:
        x: an Array, or codes with `format`.
        exact: raise inexact where x was no integer (roundToIntegralExact).
        how: settings as in `ww.add`.
    Returns:
        An Array of x's shape; with flags=True a pair.
    Raises:
        TypeError: x is floats, or codes without a format.
        ValueError: a setting that there is not.

    >>> import widthwise as ww
    >>> ww.round_to_integral(ww.array([0.5, 1.5, -0.4], "e5m10"))
    Array([0 2 -0], e5m10)
    """
    return compute("round_to_integral_exact" if exact else "round_to_integral", (x,), **how)


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
    """x * 2**n, with one rounding (scaleB, IEEE 754-2019, 5.3.3).

    Args:
        x: an Array, or codes with `format`.
        n: integers of any dtype; NumPy's broadcasting.
        format, rounding, tininess, nan, flags, seed: as in `ww.add`.
    Returns:
        An Array of the common shape; with `flags` a pair.
    Raises:
        TypeError: n holds no integers.    ValueError: shapes that do not broadcast.

    >>> import widthwise as ww
    >>> ww.scaleb(ww.array(1.5, "e5m10"), [3, -25], flags=True)
    (Array([12 6e-08], e5m10), array([0, 3], dtype=uint8))
    """
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
    env, seed = core.Env(rounding, tininess, nan), checked_seed(seed)
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
    """x as int32, uint32, int64 or uint64 (IEEE 754-2019, 5.8).

    A value past the range gives RISC-V's: the end of the range on its side, NaN the upper end, and
    NV alone; any other that is no integer raises NX.

    Args:
        x: an Array, or codes with `format`.
        dtype: of the result.
        rounding, flags, seed: as in `ww.add`.
    Returns:
        A NumPy array of x's shape; with `flags` a pair.
    Raises:
        ValueError: a dtype that is none of the four.

    >>> import widthwise as ww
    >>> ww.to_integer(ww.array([2.5, -1.0], "e5m10"), "uint32", flags=True)
    (array([2, 0], dtype=uint32), array([ 1, 16], dtype=uint8))
    """
    (a,) = operands({"x": x}, optional_format(format))
    width, signed = integer_type(dtype)
    words = np.empty(a.shape, np.uint64)
    raised = np.empty(a.shape, np.uint8) if flags else None
    bits = np.ascontiguousarray(a.bits)
    env = core.Env(rounding)
    core.to_integers(width, signed, env, a.format._core, bits, words, raised, checked_seed(seed))
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
    """Integers of up to 64 bits in a format, rounded once. `ww.array` takes larger ones, too.

    Args:
        n: integers of any NumPy dtype.
        format: the result's.
        rounding, tininess, flags, seed: as in `ww.add`.
    Returns:
        An Array of n's shape; with `flags` a pair.
    Raises:
        TypeError: n holds no integers.

    >>> import widthwise as ww
    >>> ww.from_integer([2049, -3], "e5m10", flags=True)
    (Array([2048 -3], e5m10), array([1, 0], dtype=uint8))
    """
    from ._create import from_integers

    integers = np.asarray(n)
    if integers.dtype.kind not in "iu":
        raise TypeError(f"n holds {integers.dtype}; integers of up to 64 bits are wanted")
    to = as_format(format)
    result, raised = from_integers(integers, to, core.Env(rounding, tininess), checked_seed(seed))
    return (result, raised) if flags else result


def integer_type(dtype: Any) -> tuple[int, bool]:
    name = np.dtype(dtype).name
    if name not in INTEGERS:
        raise ValueError(f"dtype = {name}: it may be {', '.join(INTEGERS)}")
    return INTEGERS[name]
