"""What frameworks let the host compute: NumPy's floats in, the same floats out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, MappingView, Set
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import _codes, _convolution, _dot
from . import _widthwise as core
from ._array import Array
from ._block_format import BlockFormat, is_container
from ._create import array, reach
from ._format import Format
from ._format_facts import highest, lowest
from ._format_texts import said
from ._machine import by_usual_arithmetic
from ._settings import checked_seed
from ._unit import Unit
from ._views import name_of
from .containers.affine import Affine, affine
from .containers.blocks import Blocks
from .containers.quantise import blocks
from .containers.scheme import is_affine, parsed

WRAPPING = ("wrap", "wrap_sm", "keep_sign")  # of fixed point: overflows without ends
TURNING = (*WRAPPING, "zero")  # those that turn infinities into 0, which is invalid
OVERFLOW = 4
SEEDS = (1 << 64) - 1
LONG = 256  # products that reach every step of a unit
NEAREST = core.Env("rne")
NO_BLOCKS = "unit {} scales blocks, which convolutions have not; take matmul"
# What is done about numbers that a format has not, as a framework without a word for it says it.
WAYS = {"NaN": "put a number in its place", "infinities": "put numbers in their place"}
env_of = lru_cache(maxsize=64)(core.Env)
unit_of = lru_cache(maxsize=256)(Unit)
block_format_of = lru_cache(maxsize=64)(BlockFormat)


class Floats(NamedTuple):
    """A framework's dtype: its format, and NumPy's integers of its width."""

    format: Format
    codes: Any


FLOATS = {
    "float16": Floats(Format("binary16"), np.uint16),
    "bfloat16": Floats(Format("bfloat16"), np.uint16),
    "float32": Floats(Format("binary32"), np.uint32),
    "float64": Floats(Format("binary64"), np.uint64),
}


# --- What can be told before there are numbers ----------------------------------------------------


def text(x: Any) -> Any:
    """A format or unit as text; None stays None."""
    return x if x is None or isinstance(x, str) else str(x)


def format_text(format: Any) -> str:
    """The same of a format that is to be there."""
    if format is None:
        raise TypeError("format = None: a format is wanted, as 'e4m3fn' or ww.Format('e4m3fn')")
    return text(format)


def check_format(format: str) -> str:
    """A format's text as it prints, whatever kind it is: what is wrong fails here."""
    if is_affine(format):
        rule, groups = parsed(format)
        return rule.text(groups)
    return str(block_format_of(format) if is_container(format) else Format(format))


def known(name: str, dtype: str, way: str = "") -> Floats:
    """Of a dtype as the framework calls it: float32, torch.float32."""
    short = name_of(dtype)
    if short not in FLOATS:
        listed = ", ".join(dtype.removesuffix(short) + each for each in FLOATS)
        raise TypeError(f"{name} holds {dtype}; {listed} are taken{way}")
    return FLOATS[short]


def one_dtype(**arrays: Any) -> None:
    """Of operands of a product, as far as they are there."""
    named = {k: getattr(x.dtype, "name", x.dtype) for k, x in arrays.items() if x is not None}
    if len(set(named.values())) > 1:
        listed = ", ".join(f"{name} is {dtype}" for name, dtype in named.items())
        raise TypeError(f"{listed}; one dtype is wanted, which the result has too")


@lru_cache(maxsize=256)
def held_format(format: str, dtype: str, way: Callable[[str | None], str]) -> Format:
    """The format of single numbers, all of which the dtype holds.

    `way` words how the framework comes to a wider dtype, or what is to be done where none holds it.
    """
    f = Format(format)
    known("x", dtype)
    if not fits_in(f, dtype):
        wider = next((d for d in ("float32", "float64") if fits_in(f, d)), None)
        raise ValueError(f"{said(f)} has numbers that {dtype} does not hold; {way(wider)}")
    return f


def fits_in(f: Format, dtype: str) -> bool:
    """Whether a framework's dtype has all finite numbers of a format."""
    held = FLOATS[name_of(dtype)].format
    return (
        f._core.digits <= held._core.digits
        and f.least_digit >= held.least_digit
        and f.emax <= held.emax  # of fixed point that of the least number, too
    )


@lru_cache(maxsize=256)
def straight_range(format: str) -> tuple[float, float] | None:
    """The least and the largest number, past which gradients end.

    None where nothing saturates, for what is too large wraps.
    """
    f = Format(format)
    if f._core.overflow in WRAPPING:
        return None
    return lowest(f), highest(f)


@lru_cache(maxsize=256)
def draws(unit: str) -> bool:
    """Whether a unit rounds stochastically anywhere."""
    return bool(unit_of(unit).random_ports(LONG))


@lru_cache(maxsize=256)
def scales_blocks(unit: str) -> bool:
    return unit_of(unit).scale_format is not None


def no_blocks(*units: str) -> None:
    for unit in units:
        if scales_blocks(unit):
            raise ValueError(NO_BLOCKS.format(unit))


def units(
    unit: Any, backward: Any, dtype: str, way: Callable[[str | None], str]
) -> tuple[str, str]:
    """As texts, read here; the gradients' unit is the forward one where none is named."""
    forward = text(unit)
    of = forward, forward if backward is None else text(backward)
    for told in of:
        held_format(str(unit_of(told).result_format), dtype, way)
    return of


def is_truth(n: Any) -> bool:
    """True, False, or what holds one of them: an array of NumPy or a tensor of a framework."""
    return isinstance(n, bool) or name_of(getattr(n, "dtype", "")) == "bool"


def whole(n: Any) -> int | None:
    """Any integer, NumPy's too, or None of what is none."""
    try:
        return None if is_truth(n) else operator.index(n)
    except TypeError:
        return None


def in_order(given: Any) -> list[Any] | None:
    """Several things one after the other; None of one thing, of texts, and of what has no order:
    sets, dicts and their views."""
    if isinstance(given, str | bytes | bytearray | Set | Mapping | MappingView):
        return None
    one = not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    return None if one else [*given]


def step_of_each(name: str, given: Any, axes: int, least: int = 1) -> tuple[int, ...]:
    """A whole number for each axis, of one each, or one for all, also in a list."""
    one = whole(given)
    each = [one] if one is not None else [whole(n) for n in in_order(given) or ()]
    each = each * axes if len(each) == 1 else each
    found = tuple(n for n in each if n is not None and n >= least)
    if len(found) != axes or len(each) != axes:
        wanted = ("an integer", "an integer or a pair", "an integer or three")[axes - 1]
        raise ValueError(f"{name} = {given!r}: {wanted} of {least} or more is wanted")
    return found


def refuse_idle_axis(axis: int | None, format: str, backward: str | None = None) -> None:
    if axis is not None and (why := why_idle(format, backward)):
        raise ValueError(idle_axis(axis, why))


def why_idle(format: str, backward: str | None) -> str | None:
    """Why an axis says nothing: no number has a scale that lies along one."""
    if is_container(format) or (backward and is_container(backward)):
        return None
    return f"numbers of {said(Format(format))} have no scales, which an axis is of"


def idle_axis(axis: int, why: str) -> str:
    return (
        f"axis = {axis}: {why}; leave it out, or take a format that has: 'mxfp8_e4m3' or "
        "'affine(int8,symmetric,channel)'"
    )


def signed_seed(seed: Any) -> int:
    """A seed's 64 bits as frameworks hold them: an integer with a sign."""
    integer = whole(seed)
    bits = checked_seed(seed if integer is None else integer)
    return bits - (bits >> 63 << 64)


def whole_seed(seed: Any) -> int:
    """The seed again, and 0 where nobody draws."""
    return 0 if seed is None else int(seed) & SEEDS


# --- Values to values -----------------------------------------------------------------------------


def rounded(x: np.ndarray, to: Format, rounding: str = "rne", seed: int = 0) -> Array:
    """Each number rounded once."""
    of = known("x", x.dtype.name)
    refuse_what_it_has_not(x, to)
    words = np.asarray(x, order="C").view(of.codes)
    return coded(words, of.format, to, env_of(rounding), seed)


def coded(words: np.ndarray, of: Format, to: Format, env: core.Env, seed: int = 0) -> Array:
    """Codes of one format rounded to those of another."""
    result = _codes.empty(words.shape, to)
    core.elementwise("convert", to._core, env, [(of._core, words)], result, None, seed)
    return Array._of(result, to)


def refuse_what_it_has_not(
    x: Any, to: Format, reach: Callable[[Any], Any] = reach, ways: Mapping[str, str] = WAYS
) -> None:
    """As ww.array does: NaN, and infinities in fixed point that does not saturate.

    `reach` is that of _create.py for x's kind of array.
    """
    if to._core.has_nan:
        return
    furthest = reach(x)
    if furthest != furthest:
        refuse("NaN", to, ways)
    if to.system == "fixed" and to._core.overflow in TURNING and furthest == float("inf"):
        refuse("infinities", to, ways)


def refuse(lacking: str, to: Format, ways: Mapping[str, str] = WAYS) -> NoReturn:
    way = ways[lacking]
    if lacking == "NaN":
        raise ValueError(
            f"x has NaN among its numbers, and {said(to)} has none; {way}, or take a format that "
            "has one"
        )
    raise ValueError(
        f"x has infinities among its numbers, and {said(to)} has none and does not saturate; take "
        f"overflow=saturate, or {way}"
    )


def values_of(codes: Array, dtype: np.dtype) -> np.ndarray:
    """Codes as numbers of a dtype that holds their format."""
    return words_of(codes, FLOATS[dtype.name]).view(dtype)


def words_of(codes: Array, of: Floats) -> np.ndarray:
    """The same as a dtype's codes."""
    words = np.empty(codes.shape, of.codes)
    operand = (codes.format._core, np.asarray(codes._bits, order="C"))
    core.elementwise("convert", of.format._core, NEAREST, [operand], words, None, 0)
    return words


@lru_cache(maxsize=256)
def values_by(
    format: str, dtype: str, rounding: str, way: Callable[[str | None], str] | None = None
) -> core.RoundedValues:
    """The core's one pass from numbers of a dtype to numbers of a format in that dtype, which holds
    them all; `way` as in `held_format`, None where that was asked before."""
    if way is not None:
        held_format(format, dtype, way)
    own = FLOATS[name_of(dtype)].format
    low, high = straight_range(format) or (0.0, 0.0)
    low, high = (-0.0 if low == 0 else low), high + 0.0  # both zeros lie inside
    ends = (int(array(end, own).bits) for end in (low, high))
    return core.RoundedValues(own._core, Format(format)._core, env_of(rounding), *ends)


def quantized(x: np.ndarray, format: str, rounding: str, axis: int | None, seed: int) -> np.ndarray:
    """x rounded to a format, or to one whose numbers share scales."""
    if is_container(format):
        if not x.size:
            return x.copy()
        return container_values(contained(x, format, rounding, axis, seed), x.dtype)
    x = np.asarray(x, order="C")
    y = np.empty_like(x)
    by = values_by(format, x.dtype.name, rounding)
    lacking = by.round(x.ctypes.data, y.ctypes.data, x.size, seed)
    if lacking:
        refuse(lacking, Format(format))
    return y


@by_usual_arithmetic
def within(x: np.ndarray, format: str, axis: int | None) -> np.ndarray:
    """Which numbers the codes of a format that shares scales reach, by the scales that it finds."""
    if not x.size:
        return np.ones(x.shape, bool)
    if is_affine(format):
        return unclamped(exact_numbers(x), format, axis)
    found = contained(x, format, "rne", axis, 0)
    high = at_most(found, found.format.element.codes["max_finite"])
    return ~(np.abs(x.astype(np.float64)) > np.abs(high))


def unclamped(x: Any, format: str, axis: int | None) -> np.ndarray:
    """Which numbers affine codes reach."""
    _, flags = affine(x, format, axis=axis, flags=True)
    return (np.asarray(flags) & OVERFLOW) == 0


def contained(x: Any, format: str, rounding: str, axis: int | None, seed: int) -> Any:
    """Numbers as Blocks, or as Affine."""
    numbers = exact_numbers(x)
    if is_affine(format):
        return affine(numbers, format, axis=axis, rounding=rounding, seed=seed)
    along = -1 if axis is None else axis
    return blocks(numbers, block_format_of(format), axis=along, rounding=rounding, seed=seed)


def exact_numbers(x: Any) -> Any:
    """NumPy itself has no bfloat16, whose numbers binary32 has all; a GPU has them as they are."""
    brain = isinstance(x, np.ndarray) and x.dtype.name == "bfloat16"
    return x.astype(np.float32) if brain else x


@by_usual_arithmetic
def container_values(x: Any, dtype: np.dtype) -> np.ndarray:
    """The numbers, rounded once where binary32 or binary64 does not have them."""
    values = wide_values(x, dtype.name == "float64")
    narrow = values.astype(dtype)
    lost = (narrow.astype(values.dtype) != values) & ~np.isnan(values)
    if lost.any():
        raise ValueError(
            f"{said(x.format)} has {int(lost.sum())} numbers here that {dtype.name} does not hold; "
            "pass float32"
        )
    return narrow


def wide_values(x: Any, wide: bool) -> Any:
    """The numbers of a container in binary64, or binary32; of one on a GPU a DeviceArray."""
    if isinstance(x, Affine):
        return x.dequantise(np.float64 if wide else np.float32)
    if x.device != "cpu":
        return x.dequantise("binary64" if wide else "binary32")
    return x.to_float64() if wide else x.to_float32()


def at_most(x: Blocks, code: int) -> np.ndarray:
    """What blocks would hold if all their elements had one code."""
    element = x.format.element
    codes = np.full(x.shape, code, element.dtype)
    return with_elements(x, Array._of(codes, element)).to_float64()


def with_elements(x: Blocks, elements: Any) -> Blocks:
    """Other elements under the same scales."""
    return Blocks._of(elements, x.scales, x.format, x.axis, x.tensor_scale)


# --- Products -------------------------------------------------------------------------------------


def product(a: np.ndarray, b: np.ndarray, c: Any, unit: str, seed: int) -> np.ndarray:
    """c + a @ b, operands rounded to what the unit takes, the result in a's dtype."""
    u = unit_of(unit)
    if u.scale_format is not None and not (a.size and b.size):
        return of_nothing(a, b, c, u)
    z = _dot.matmul(
        operand(a, u, "a", -1),
        operand(b, u, "b", -2),
        unit=u,
        c=None if c is None else rounded(c, u.c),
        seed=seed,
    )
    return values_of(z, a.dtype)


def of_nothing(a: np.ndarray, b: np.ndarray, c: Any, u: Unit) -> np.ndarray:
    """What sums of no products are, for no number gives a block its scale."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*lead, a.shape[-2], b.shape[-1])
    if c is None:
        return np.zeros(shape, a.dtype)
    begun = values_of(rounded(c, u.c).astype(u.result_format), a.dtype)
    return np.ascontiguousarray(np.broadcast_to(begun, shape))


def operand(x: np.ndarray, u: Unit, name: str, axis: int) -> Any:
    """Numbers rounded to what the unit takes: codes, or blocks along the axis that it sums."""
    to = u.a if name == "a" else u.b
    return rounded(x, to) if u.scale_format is None else in_blocks(x, to, u, axis)


def in_blocks(x: Any, to: Format, u: Unit, axis: int) -> Blocks:
    """Numbers in blocks as a unit scales them."""
    assert u.scale_block is not None and u.scale_format is not None
    return blocks(exact_numbers(x), BlockFormat.of(to, u.scale_block, u.scale_format), axis=axis)


class Steps(NamedTuple):
    """How a convolution walks, of height and width; padding is alike on both sides."""

    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    groups: int


def convolution(
    x: np.ndarray, w: np.ndarray, c: Any, steps: Steps, unit: str, seed: int
) -> np.ndarray:
    """ww.conv2d of values: (images, channels, height, width) and (filters, …)."""
    u = unit_of(unit)
    z = _convolution.conv2d(
        rounded(x, u.a),
        rounded(w, u.b),
        unit=u,
        c=None if c is None else rounded(c, u.c),
        stride=steps.stride,
        padding=steps.padding,
        dilation=steps.dilation,
        groups=steps.groups,
        seed=seed,
    )
    return values_of(z, x.dtype)


def sizes(image: Any, kernel: Any, steps: Steps) -> tuple[int, int]:
    """Height and width of what comes out."""
    high, wide = (
        (image[i] + 2 * steps.padding[i] - steps.dilation[i] * (kernel[i] - 1) - 1)
        // steps.stride[i]
        + 1
        for i in (0, 1)
    )
    return high, wide


def check_channels(x: Any, w: Any, groups: int, bias: Any) -> None:
    """Of shapes: (images, channels, …) and (filters, channels / groups, …)."""
    if whole(groups) is None or groups < 1 or w[1] * groups != x[1] or w[0] % groups:
        raise ValueError(
            f"x has {x[1]} channels, w has {w[0]} filters of {w[1]} and groups = {groups}: a "
            "filter's channels have to be x's channels / groups, and filters a multiple of groups"
        )
    if bias is not None and tuple(bias) != (w[0],):
        raise ValueError(f"bias is {tuple(bias)}; ({w[0]},) is wanted, a number a filter")
