"""Operations element by element: any formats in, any out, one rounding, all flags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from inspect import Parameter, Signature
from inspect import signature as signature_of
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _types
from . import _widthwise as core
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._device import found_on_gpu
from ._format import Format, as_format, optional_format
from ._operands import common_shape, operands, result_format
from ._random import random_source
from ._settings import checked_seed
from ._workplace import Workplace, delivered

if TYPE_CHECKING:
    from ._types import Binary, ExactBinary, ExactUnary, Ternary, Unary

HOW = """
    Args:
        {names}: Arrays, or unsigned integers as codes; NumPy's broadcasting. DeviceArrays are
            computed where they lie.
        format: the result's; needed where the operands' differ, or all are codes.
        rounding: rne rna rnz rnp rnm rno rtz rdn rup raz odd, or stochastic, sr8, with `seed`.
        tininess: after or before rounding, or as delivered; decides the underflow flag, and what
            formats with ftz flush (docs/semantics.md, R3).
        nan: canonical; negative, its sign set, as x86 makes it; propagate, the first NaN operand's
            sign and payload; x86, which does both (docs/semantics.md, N1).
        flags: deliver (result, uint8 flags: NX 1, UF 2, OF 4, DZ 8, NV 16).
        seed: of stochastic rounding; the bits depend on it and an element's place alone.
        random: the bits themselves in place of a seed, of srK integers from 0 to 2^K - 1, one an
            element; NumPy's broadcasting (docs/semantics.md, R6).
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
    random: Any = None,
) -> Any:
    """The one way from operands to the core and back."""
    env = environment(rounding, tininess, nan)
    if format is None and random is None and alike(args):
        return computed_alike(op, args, env, flags, checked_seed(seed))
    wanted = optional_format(format)
    named = dict(zip(NAMES, args, strict=False))
    arrays = dict(zip(named, operands(named, wanted), strict=True))
    to, shape, where = result_format(arrays, wanted), common_shape(arrays), Workplace.of(arrays)
    pairs = [(x.format._core, where.codes(x, shape)) for x in arrays.values()]
    bits = random_source(random, seed, env, rounding, shape, where.gpu)
    z, raised = where.empty(shape, to), where.flags(shape, flags)
    where.run(
        "elementwise", op, to._core, env, pairs, z._for_core, raised and raised.for_core, bits
    )
    return delivered(z, raised)


def computed_alike(op: str, args: Sequence[Array], env: core.Env, flags: bool, seed: int) -> Any:
    """The shortest way, of small arrays."""
    format, like = args[0]._format, args[0]._bits
    bound, result = format._core, np.empty(like.shape, like.dtype)
    raised = np.empty(like.shape, np.uint8) if flags else None
    core.elementwise(op, bound, env, [(bound, x._bits) for x in args], result, raised, seed)
    z = Array._of(result, format)
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
    return format._limbs == 1


# Every setting of `compute`, and what it is if nothing is said.
SETTINGS = {name: p.default for name, p in list(signature_of(compute).parameters.items())[2:]}


def shown(call: str, result: str) -> str:
    """The example that ends a docstring."""
    return f"\n    >>> import widthwise as ww\n    >>> {call}\n    {result}\n    "


def rounding_operation(op: str, what: str, *example: str) -> Callable[..., Any]:
    """A function of as many arrays as the operation has operands, with every setting."""
    names = NAMES[: core.arity(op)]

    def function(*args: Any, **how: Any) -> Any:
        if len(args) != len(names) or (how and not how.keys() <= SETTINGS.keys()):
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


add: Binary = rounding_operation(
    "add",
    "x + y (IEEE 754-2019, 5.4.1).",
    'ww.add(ww.array(2048.0, "e5m10"), ww.array(1.0, "e5m10"), rounding="rup")',
    "Array(2050, e5m10)",
)
subtract: Binary = rounding_operation(
    "subtract",
    "x - y (IEEE 754-2019, 5.4.1).",
    'ww.subtract(ww.array(1.0, "e5m10"), ww.array(1.0, "e5m10"), rounding="rdn")',
    "Array(-0, e5m10)",
)
multiply: Binary = rounding_operation(
    "multiply",
    "x * y (IEEE 754-2019, 5.4.1).",
    'ww.multiply(ww.array(300.0, "e5m10"), ww.array(300.0, "e5m10"), format="e8m7")',
    "Array(90112, e8m7)",
)
divide: Binary = rounding_operation(
    "divide",
    "x / y (IEEE 754-2019, 5.4.1).",
    'ww.divide(ww.array([1.0, 0.0], "e5m10"), ww.array(0.0, "e5m10"), flags=True)',
    "(Array([inf nan], e5m10), array([ 8, 16], dtype=uint8))",
)
remainder: Binary = rounding_operation(
    "remainder",
    "x - y * n, n the integer nearest x / y, ties to even (IEEE 754-2019, 5.3.1).",
    'ww.remainder(ww.array(5.0, "e5m10"), ww.array(3.0, "e5m10"))',
    "Array(-1, e5m10)",
)
sqrt: Unary = rounding_operation(
    "sqrt",
    "The square root of x (IEEE 754-2019, 5.4.1).",
    'ww.sqrt(ww.array([2.0, -0.0], "e5m10"))',
    "Array([1.414 -0], e5m10)",
)
fma: Ternary = rounding_operation(
    "fma",
    "x * y + z with one rounding (IEEE 754-2019, 5.4.1).",
    'ww.fma(*ww.array([3.0, 683.0, 2.0**-14], "e5m10"))  # binary32 in between gives 2048',
    "Array(2050, e5m10)",
)
minimum: Binary = rounding_operation(
    "minimum",
    "The lesser; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).",
    'ww.minimum(ww.array([1.0, 0.0], "e5m10"), ww.array([float("nan"), -0.0], "e5m10"))',
    "Array([nan -0], e5m10)",
)
maximum: Binary = rounding_operation(
    "maximum",
    "The greater; NaN wins, -0 < +0 (IEEE 754-2019, 9.6).",
    'ww.maximum(ww.array([1.0, 0.0], "e5m10"), ww.array([float("nan"), -0.0], "e5m10"))',
    "Array([nan 0], e5m10)",
)
minimum_number: Binary = rounding_operation(
    "minimum_number",
    "The lesser; a number beats NaN (IEEE 754-2019, 9.6).",
    'ww.minimum_number(ww.array(1.0, "e5m10"), ww.array(float("nan"), "e5m10"))',
    "Array(1, e5m10)",
)
maximum_number: Binary = rounding_operation(
    "maximum_number",
    "The greater; a number beats NaN (IEEE 754-2019, 9.6).",
    'ww.maximum_number(ww.array(1.0, "e5m10"), ww.array(float("nan"), "e5m10"))',
    "Array(1, e5m10)",
)
min_num: Binary = rounding_operation(
    "min_num",
    "minNum of IEEE 754-2008, 5.3.1: as minimum_number, but a signalling NaN gives NaN.",
    'ww.min_num(ww.from_bits(0x7C01, "e5m10"), ww.array(1.0, "e5m10"), flags=True)',
    "(Array(nan, e5m10), array(16, dtype=uint8))",
)
max_num: Binary = rounding_operation(
    "max_num",
    "maxNum of IEEE 754-2008, 5.3.1: as maximum_number, but a signalling NaN gives NaN.",
    'ww.max_num(ww.array(float("nan"), "e5m10"), ww.array(1.0, "e5m10"))',
    "Array(1, e5m10)",
)
min_x86: Binary = rounding_operation(
    "min_x86",
    "x86's MINSS: x if it is less, else y, of two zeros and beside a NaN too; any NaN raises NV.",
    'ww.min_x86(ww.array([0.0, float("nan")], "e5m10"), ww.array([-0.0, 1.0], "e5m10"))',
    "Array([-0 1], e5m10)",
)
max_x86: Binary = rounding_operation(
    "max_x86",
    "x86's MAXSS: x if it is greater, else y, of two zeros and beside a NaN too (E3).",
    'ww.max_x86(ww.array([0.0, 1.0], "e5m10"), ww.array([-0.0, float("nan")], "e5m10"))',
    "Array([-0 nan], e5m10)",
)
logb: Unary = rounding_operation(
    "logb",
    "The exponent of x as a number; -inf and DZ for 0 (IEEE 754-2019, 5.3.3).",
    'ww.logb(ww.array([10.0, 0.0], "e5m10"), flags=True)',
    "(Array([3 -inf], e5m10), array([0, 8], dtype=uint8))",
)
next_up: ExactUnary = exact_operation(
    "next_up",
    "The least number above x (IEEE 754-2019, 5.3.1; docs/semantics.md, E9).",
    'ww.next_up(ww.array([1.0, -0.0], "e4m3fn"))',
    "Array([1.1 0.002], e4m3fn)",
)
next_down: ExactUnary = exact_operation(
    "next_down",
    "The greatest number below x (IEEE 754-2019, 5.3.1; docs/semantics.md, E9).",
    'ww.next_down(ww.array([1.0, 448.0], "e4m3fn"))',
    "Array([0.94 416], e4m3fn)",
)
copysign: ExactBinary = exact_operation(
    "copysign",
    "x with y's sign; NaN too (IEEE 754-2019, 5.5.1).",
    'ww.copysign(ww.array(1.0, "e5m10"), ww.array(-0.0, "e8m7"))',
    "Array(-1, e5m10)",
)
negate: ExactUnary = exact_operation(
    "negate",
    "x with its sign turned; NaN too, and no flags (IEEE 754-2019, 5.5.1).",
    'ww.negate(ww.array([1.0, 0.0], "e5m10"))',
    "Array([-1 -0], e5m10)",
)
abs: ExactUnary = exact_operation(
    "abs",
    "x with a plus sign; NaN too, and no flags (IEEE 754-2019, 5.5.1).",
    'ww.abs(ww.array([-1.5, -0.0], "e5m10"))',
    "Array([1.5 0], e5m10)",
)


@_types.conversion
def convert(x: Any, format: str | Format, **how: Any) -> Any:
    """x in another format, rounded once (IEEE 754-2019, 5.4.2).

    Args:
        x: an Array or DeviceArray.
        format: the result's.
        how: rounding, tininess, nan, flags, seed, random, as in `ww.add`.
    Returns:
        An Array of x's shape; with flags=True a pair.
    Raises:
        TypeError: x is no array.

    >>> import widthwise as ww
    >>> ww.convert(ww.array([1.0, 3.3], "binary32"), "e4m3fn", rounding="rup")
    Array([1 3.5], e4m3fn)
    """
    if not isinstance(x, CodeArray):
        raise TypeError(
            f"x is {kind_of(x)}; an Array is wanted: ww.array rounds values, ww.from_bits has codes"
        )
    return compute("convert", (x,), format, **how)


@_types.to_integral
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


@_types.scaling
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
    random: Any = None,
) -> Any:
    """x * 2**n, with one rounding (scaleB, IEEE 754-2019, 5.3.3).

    Args:
        x: an Array, or codes with `format`.
        n: integers of any dtype; NumPy's broadcasting.
        format, rounding, tininess, nan, flags, seed, random: as in `ww.add`.
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
    if powers.dtype.kind == "u":  # as far as the core counts, and past every format
        powers = np.minimum(powers, np.uint64(2**63 - 1))
    steps = np.ascontiguousarray(np.broadcast_to(powers, shape), np.int64).reshape(shape)
    env, where = core.Env(rounding, tininess, nan), Workplace.of({"x": a})
    bits = random_source(random, seed, env, rounding, shape, where.gpu)
    z, raised = where.empty(shape, to), where.flags(shape, flags)
    factors = (a.format._core, where.codes(a, shape), where.integers(steps))
    where.run("scaleb", to._core, env, *factors, z._for_core, raised and raised.for_core, bits)
    return delivered(z, raised)


INTEGERS = {
    f"{sign}int{width}": (width, not sign) for width in (8, 16, 32, 64) for sign in ("", "u")
}


@_types.to_integers
def to_integer(
    x: Any,
    dtype: Any = "int64",
    *,
    format: str | Format | None = None,
    rounding: str = "rne",
    invalid: str = "riscv",
    flags: bool = False,
    seed: int = 0,
    random: Any = None,
) -> Any:
    """x as an integer of 8, 16, 32 or 64 bits, signed or not (IEEE 754-2019, 5.8).

    A value past the range raises NV alone; any other that is no integer raises NX.

    Args:
        x: an Array, a DeviceArray, or codes with `format`.
        dtype: of the result.
        invalid: what a value past the range gives. riscv: the end of the range on its side, NaN
            the upper end; arm: the same, but NaN 0; x86: always the one code, the least signed
            number or all ones (docs/semantics.md, E6).
        rounding, flags, seed, random: as in `ww.add`.
    Returns:
        A NumPy array of x's shape, on this machine; with `flags` a pair.
    Raises:
        ValueError: a dtype that is none of the eight.

    >>> import widthwise as ww
    >>> ww.to_integer(ww.array([2.5, -1.0], "e5m10"), "uint32", flags=True)
    (array([2, 0], dtype=uint32), array([ 1, 16], dtype=uint8))
    """
    (a,) = operands({"x": x}, optional_format(format))
    (width, signed), env, where = integer_type(dtype), core.Env(rounding), Workplace.of({"x": a})
    bits = random_source(random, seed, env, rounding, a.shape, where.gpu)
    words, raised = where.numbers(a.shape, np.uint64), where.flags(a.shape, flags)
    codes = (a.format._core, where.codes(a, a.shape))
    results = (words.for_core, raised and raised.for_core)
    where.run("to_integers", width, signed, invalid, env, *codes, *results, bits)
    return delivered(words.here().view(np.int64 if signed else np.uint64).astype(dtype), raised)


@_types.from_integers
def from_integer(
    n: Any,
    format: str | Format,
    *,
    rounding: str = "rne",
    tininess: str = "after",
    flags: bool = False,
    seed: int = 0,
    random: Any = None,
) -> Any:
    """Integers of up to 64 bits in a format, rounded once. `ww.array` takes larger ones, too.

    Args:
        n: integers of any NumPy dtype, or another library's array of them on a GPU, where they
            are rounded to a DeviceArray.
        format: the result's.
        rounding, tininess, flags, seed, random: as in `ww.add`.
    Returns:
        An Array of n's shape; with `flags` a pair.
    Raises:
        TypeError: n holds no integers.

    >>> import widthwise as ww
    >>> ww.from_integer([2049, -3], "e5m10", flags=True)
    (Array([2048 -3], e5m10), array([1, 0], dtype=uint8))
    """
    to, env = as_format(format), core.Env(rounding, tininess)
    gpu, integers = integers_of(n)
    where, shape, bytes = Workplace(gpu), integers.shape, integers.itemsize
    bits = random_source(random, seed, env, rounding, shape, gpu)
    z, raised = where.empty(shape, to), where.flags(shape, flags)
    kind = (8 * bytes, integers.dtype.kind == "i")
    results = (z._for_core, raised and raised.for_core)
    where.run("from_integers", *kind, to._core, env, integers.view(f"u{bytes}"), *results, bits)
    return delivered(z, raised)


def integers_of(n: Any) -> tuple[int | None, np.ndarray]:
    """The GPU that they lie on, if any, and integers as the core takes them: here of 64 bits."""
    found = found_on_gpu(n)
    if found is not None:
        return found.gpu, found.as_integers("n")
    integers = np.asarray(n)
    if integers.dtype.kind not in "iu":
        raise TypeError(f"n holds {integers.dtype}; integers of up to 64 bits are wanted")
    return None, np.asarray(integers, f"{integers.dtype.kind}8", order="C")


def integer_type(dtype: Any) -> tuple[int, bool]:
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = repr(dtype)
    if name not in INTEGERS:
        raise ValueError(f"dtype = {name}: it may be {', '.join(INTEGERS)}")
    return INTEGERS[name]
