"""Comparisons and classes. Operands may be of different formats: values are compared, exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _codes
from . import _widthwise as core
from ._device import DeviceArray, queue
from ._format import Format, optional_format
from ._operands import common_shape, operand, operands
from ._workplace import Workplace, delivered

if TYPE_CHECKING:
    from ._types import Comparison


def compute(
    how: str,
    x: Any,
    y: Any,
    format: str | Format | None = None,
    flags: bool = False,
    swapped: bool = False,
) -> Any:
    arrays = operands({"x": x, "y": y}, optional_format(format))
    named = dict(zip("xy", arrays, strict=True))
    where, shape = Workplace.of(named), common_shape(named)
    truths, raised = where.numbers(shape, np.bool_), where.flags(shape, flags)
    a, b = (
        (operand.format._core, where.codes(operand, shape))
        for operand in arrays[:: -1 if swapped else 1]
    )
    where.run("compare", how, *a, *b, truths.for_core, raised and raised.for_core)
    return delivered(truths.here(), raised)


HOW = """
    Args:
        x, y: Arrays of any formats, or unsigned integers as codes; NumPy's broadcasting.
        format: of operands that are codes.
        flags: deliver (truths, uint8 flags), NV being 16.
    Returns:
        Booleans of the common shape; with `flags` a pair.
    Raises:
        TypeError: an operand is floats, or codes without a format.
        ValueError: shapes that do not broadcast, or a total order of two formats.
    """
EXAMPLE = """
    >>> import widthwise as ww
    >>> x, y = ww.array([[1.0, 2.0, -0.0, float("nan")], [2.0, 2.0, 0.0, 1.0]], "e5m10")
    >>> ww.{name}(x, y)
    {result}
    """


def comparison(name: str, how: str, what: str, result: str, *, swapped: bool = False) -> Comparison:
    """A function of two arrays that delivers truths. Swapped: x > y is y < x.

    result: of its docstring's example.
    """

    def function(x: Any, y: Any, *, format: str | Format | None = None, flags: bool = False) -> Any:
        return compute(how, x, y, format, flags, swapped)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n{HOW}{EXAMPLE.format(name=name, result=result)}"
    return function


QUIET = "A quiet NaN raises nothing (IEEE 754-2019, 5.11)."
LOUD = "Any NaN raises NV (IEEE 754-2019, 5.11)."
equal = comparison("equal", "equal", f"x = y. {QUIET}", "array([False,  True,  True, False])")
less = comparison("less", "less", f"x < y. {QUIET}", "array([ True, False, False, False])")
less_equal = comparison(
    "less_equal", "less_equal", f"x <= y. {QUIET}", "array([ True,  True,  True, False])"
)
greater = comparison(
    "greater", "less", f"x > y. {QUIET}", "array([False, False, False, False])", swapped=True
)
greater_equal = comparison(
    "greater_equal",
    "less_equal",
    f"x >= y. {QUIET}",
    "array([False,  True,  True, False])",
    swapped=True,
)
unordered = comparison(
    "unordered", "unordered", f"x or y is NaN. {QUIET}", "array([False, False, False,  True])"
)
equal_signaling = comparison(
    "equal_signaling", "equal_signaling", f"x = y. {LOUD}", "array([False,  True,  True, False])"
)
less_signaling = comparison(
    "less_signaling", "less_signaling", f"x < y. {LOUD}", "array([ True, False, False, False])"
)
less_equal_signaling = comparison(
    "less_equal_signaling",
    "less_equal_signaling",
    f"x <= y. {LOUD}",
    "array([ True,  True,  True, False])",
)
greater_signaling = comparison(
    "greater_signaling",
    "less_signaling",
    f"x > y. {LOUD}",
    "array([False, False, False, False])",
    swapped=True,
)
greater_equal_signaling = comparison(
    "greater_equal_signaling",
    "less_equal_signaling",
    f"x >= y. {LOUD}",
    "array([False,  True,  True, False])",
    swapped=True,
)
total_order = comparison(
    "total_order",
    "total_order",
    "x before y or the same in the total order (IEEE 754-2019, 5.10).",
    "array([ True,  True,  True, False])",
)
total_order_magnitude = comparison(
    "total_order_magnitude",
    "total_order_magnitude",
    "The total order of |x| and |y| (IEEE 754-2019, 5.10).",
    "array([ True,  True,  True, False])",
)


def not_equal(x: Any, y: Any, *, format: str | Format | None = None, flags: bool = False) -> Any:
    """x and y differ, or one is NaN. A quiet NaN raises nothing (IEEE 754-2019, 5.11).

    Args:
        x, y, format, flags: as in `ww.equal`.
    Returns:
        Booleans of the common shape; with `flags` a pair.
    Raises:
        TypeError: an operand is floats, or codes without a format.
        ValueError: shapes that do not broadcast.

    >>> import widthwise as ww
    >>> ww.not_equal(ww.array([1.0, float("nan")], "e5m10"), ww.array(1.0, "e8m7"))
    array([False,  True])
    """
    same, raised = compute("equal", x, y, format, True)
    return (~same, raised) if flags else ~same


CLASSES = np.array(core.number_classes())
NANS, INFINITIES = 2, (2, 9)  # positions in CLASSES, IEEE 754-2019's order


def asked_there(ask: Callable[..., None], x: DeviceArray) -> np.ndarray:
    """A byte for each number, found on the GPU whose memory they are in."""
    answers = Workplace(x._place.gpu).numbers(x.shape)
    ask(queue(x._place.gpu), x.format._core, x.contiguous()._for_core, answers.for_core)
    return answers.here()


def class_numbers(given: Any, format: str | Format | None = None) -> np.ndarray:
    x = operand("x", given, optional_format(format))
    if isinstance(x, DeviceArray):
        return asked_there(core.device_classify, x)
    return core.classify(x.format._core, np.ascontiguousarray(x.bits)).reshape(x.shape)


def classify(x: Any, *, format: str | Format | None = None) -> np.ndarray:
    """The class of each number, as text of x's shape (IEEE 754-2019, 5.7.2).

    Args:
        x: an Array, a DeviceArray, or unsigned integers as codes of `format`.
    Returns:
        Names of 5.7.2's ten classes, as str.
    Raises:
        TypeError: x is floats, or codes without a format.

    >>> import widthwise as ww
    >>> list(map(str, ww.classify(ww.array([0.0, -1.0, float("inf")], "e5m10"))))
    ['positive_zero', 'negative_normal', 'positive_infinity']
    """
    return CLASSES[class_numbers(x, format)]


ZEROS = np.array([name.endswith("_zero") for name in CLASSES])


def iszero(x: Any) -> np.ndarray:
    """Whether each is +0 or -0: booleans of x's shape (isZero, IEEE 754-2019, 5.7.2)."""
    return ZEROS[class_numbers(x)]


def signbit(x: Any) -> np.ndarray:
    """Whether each has a minus sign, zeros and NaN too (isSignMinus, IEEE 754-2019, 5.7.2)."""
    if isinstance(x, DeviceArray):
        return asked_there(core.device_signs, x).view(np.bool_)
    if x.format.system == "table":
        return minus_signs(x.format)[x.bits]
    top = x.bits if x.format.limbs == 1 else x.bits[..., -1]
    return (top & _codes.sign_bit(x.format)) != 0


def minus_signs(f: Format) -> np.ndarray:
    """Whether each code of a table is below zero, or its second zero."""
    values = np.array(f.values)
    signs = np.zeros(1 << f.width, np.bool_)
    signs[: len(values)] = np.signbit(values) & ~np.isnan(values)
    return signs


def isnan(x: Any, *, format: str | Format | None = None) -> np.ndarray:
    """Whether each is NaN (IEEE 754-2019, 5.7.2).

    Args:
        x, format: as in `ww.classify`.
    Returns:
        Booleans of x's shape.
    Raises:
        TypeError: x is floats, or codes without a format.

    >>> import widthwise as ww
    >>> ww.isnan(ww.array([1.0, float("nan")], "e5m10"))
    array([False,  True])
    """
    return class_numbers(x, format) < NANS


def isinf(x: Any, *, format: str | Format | None = None) -> np.ndarray:
    """Whether each is an infinity (IEEE 754-2019, 5.7.2).

    Args:
        x, format: as in `ww.classify`.
    Returns:
        Booleans of x's shape.
    Raises:
        TypeError: x is floats, or codes without a format.

    >>> import widthwise as ww
    >>> ww.isinf(ww.array([1.0, float("-inf")], "e5m10"))
    array([False,  True])
    """
    return np.isin(class_numbers(x, format), INFINITIES)


def isfinite(x: Any, *, format: str | Format | None = None) -> np.ndarray:
    """Whether each is neither an infinity nor NaN (IEEE 754-2019, 5.7.2).

    Args:
        x, format: as in `ww.classify`.
    Returns:
        Booleans of x's shape.
    Raises:
        TypeError: x is floats, or codes without a format.

    >>> import widthwise as ww
    >>> ww.isfinite(ww.array([1.0, float("nan")], "e5m10"))
    array([ True, False])
    """
    return ~(isnan(x, format=format) | isinf(x, format=format))
