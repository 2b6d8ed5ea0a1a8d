"""Dot products and matrix products, bit for bit as one unit computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import numpy as np

from . import _codes, _engines, _types
from . import _widthwise as core
from ._array import Array, kind_of
from ._code_array import CodeArray
from ._container import as_operand, told_apart
from ._create import array, code_array
from ._device import name_of, stream
from ._elementwise import add, multiply
from ._format import Format
from ._format_texts import said
from ._machine import by_usual_arithmetic
from ._missing import asks_for
from ._product import Multiplier, bound_multiplier
from ._random import random_words
from ._settings import INTEGERS, How, checked_seed, checked_threads
from ._unit import Unit, as_unit
from ._workplace import HERE, Workplace, delivered


@_types.dots
@asks_for("ww.dot(a, b, unit='mac(e5m10)')")
def dot(
    a: Any,
    b: Any,
    *,
    unit: str | Unit,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
    multiplier: Multiplier = None,
) -> Any:
    """c + sum of a * b along the last axis, as the unit computes it.

    Args:
        a, b: Arrays of the unit's operand formats, or codes, (..., k); leading axes broadcast.
            DeviceArrays are computed where they lie, and so is what comes of them. Blocks bring
            their scales; those of whole tensors multiply the unit's result, before c is added.
        unit: a ww.Unit or its text, as 'mac(e5m10)'.
        c: of the unit's format, of the leading axes' shape; None is +0.
        scale_a, scale_b: (..., k / block rounded up), where the unit scales its blocks.
        engine: 'auto', or one of ww.engines(). No choice changes a bit.
        threads: at most so many; None is one a core. Results do not depend on it.
        seed: of stochastic rounding.
        random: the random bits themselves in place of a seed: integers of the leading axes' shape
            and one axis more, a word a rounding, in the order of the exported module's port; of a
            unit with several such ports a dict of them by name (`unit.random_ports(k)`).
        flags: deliver (result, uint8 flags); all that was raised on an output's way.
        multiplier: in place of the exact product of two significands: 'mitchell', 'drum6',
            'truncated_array8', 'truncated_operands4', C++ text (ww.product), or a function
            (ma, mb) -> m of integers, of the two alone: it may be asked once for each pair.
    Returns:
        An Array of unit.result_format, of the leading axes' shape.
    Raises:
        ValueError: shapes do not fit.
        TypeError: an operand is not what the unit takes.

    >>> import widthwise as ww
    >>> ones = ww.array([1.0] * 16, "e5m2")
    >>> ww.dot(ones, ones, unit="mac(e5m2)"), ww.dot(ones, ones, unit="kulisch(e5m2)")
    (Array(8, e5m2), Array(16, e5m2))
    """
    u = as_unit(unit)
    a, scale_a, of_a = told_apart("a", a, scale_a, u, -1)
    b, scale_b, of_b = told_apart("b", b, scale_b, u, -1)
    how = How(engine, threads, seed, flags, multiplier, random)

    def sums(c: Any) -> Any:
        return computed(u, Operands.of_dots(u, a, b, c, scale_a, scale_b), how)

    return rescaled(sums, u, (of_a, of_b), c, flags)


@_types.dots
@asks_for("ww.matmul(a, b, unit='mac(e5m10)')")
def matmul(
    a: Any,
    b: Any,
    *,
    unit: str | Unit,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
    multiplier: Multiplier = None,
) -> Any:
    """c + a @ b as the unit computes it.

    Args:
        a, b: (..., m, k) and (..., k, n), as in `ww.dot`; one axis alone is k.
        unit: a ww.Unit or its text.
        c: broadcasts to (..., m, n).
        scale_a, scale_b: (..., m, blocks) and (..., blocks, n).
        engine, threads, seed, random, flags, multiplier: as in `ww.dot`.
    Returns:
        An Array of the unit's result format, shape (..., m, n); with `flags` a pair.
    Raises:
        ValueError: k differs, or what `ww.dot` refuses.

    >>> import widthwise as ww
    >>> a = ww.array([[1.0, 2.0], [3.0, 4.0]], "e4m3fn")
    >>> ww.matmul(a, a.T, unit="hopper.e4m3.f32")
    Array([[5 11]
     [11 25]], e8m23)
    """
    u = as_unit(unit)
    a, scale_a, of_a = told_apart("a", a, scale_a, u, -1)
    b, scale_b, of_b = told_apart("b", b, scale_b, u, -min(len(shape_of(b)), 2))
    x = operand("a", a, u.a, u._core.a_keeps, u)
    y = operand("b", b, u.b, u._core.b_keeps, u)
    row, column = x.ndim == 1, y.ndim == 1
    x = x.reshape(1, -1) if row else x
    if column:
        y, scale_b = y.reshape(-1, 1), in_a_column(scale_b)
    if min(x.ndim, y.ndim) < 2 or x.shape[-1] != y.shape[-2]:
        raise ValueError(
            f"a is {shape_of(a)} and b is {shape_of(b)}; a's last axis and b's last but one "
            "(or only one) must match"
        )
    how = How(engine, threads, seed, flags, multiplier, random)

    def sums(c: Any) -> Any:
        return computed(u, Products(u, x, y, c, scale_a, scale_b, row, column), how)

    return rescaled(sums, u, (of_a, of_b), c, flags)


def in_a_column(scales: Any) -> Any:
    """Those of an operand that has one axis alone."""
    return scales.reshape(-1, 1) if getattr(scales, "ndim", 0) == 1 else scales


def rescaled(
    sums: Callable[[Any], Any], u: Unit, tensor_scales: tuple[Any, Any], c: Any, flags: bool
) -> Any:
    """What a unit sums, times the scales of whole tensors, plus c: one rounding each, to nearest.
    Without such scales c goes into the unit."""
    given = [s for s in tensor_scales if s is not None and s != 1]
    if not given:
        return sums(c)
    factor = of_both(given)
    z = sums(None)
    raised = np.uint8(0)
    for step, x in ((multiply, factor), (add, c)):
        if x is not None:
            z, before = z if flags else (z, np.uint8(0))
            x = x.to_device(z.device) if x is factor else x
            z = step(z, x, format=u.result_format, flags=flags)
            raised = raised | before
    return (z[0], z[1] | raised) if flags else z


@by_usual_arithmetic
def of_both(tensor_scales: list[Any]) -> Array:
    """Their product, rounded to binary32."""
    return array(np.prod(tensor_scales, dtype=np.float32), "binary32")


def matmul_in_order(x: Array, y: Array) -> Array:
    """x @ y: the loop of * and + that it stands for."""
    return matmul(x, y, unit=f"mac({x.format})")


@_types.sums
@asks_for("ww.sum(x, unit='mac(e5m10)')")
def sum(
    x: Any,
    *,
    unit: str | Unit,
    axis: int = -1,
    c: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    random: Any = None,
    flags: bool = False,
) -> Any:
    """The sum along an axis as the unit computes it: products with one, in order.

    Args:
        x: an Array of the unit's a, or codes of it.
        unit: as `ww.Unit` takes it; its b must hold 1.
        c: what is added to, of the shape without the axis; None: +0.
        engine, threads, seed, random, flags: as in `ww.dot`.
    Returns:
        An Array of the unit's result format, of x's shape without the axis; with `flags` a pair.
    Raises:
        ValueError: the unit's b has no 1, an axis that x has not, a c of another shape.
        TypeError: x or c is not what the unit takes.

    >>> import widthwise as ww
    >>> ww.sum(ww.array([1.0] * 300, "bfloat16"), unit="mac(bfloat16)")
    Array(256, e8m7)
    """
    u = as_unit(unit)
    terms, ones = summands(u, x, axis)
    x = Operands.of_dots(u, terms, ones, c, None, None)
    return computed(u, x, How(engine, threads, seed, flags, random=random))


def summands(u: Unit, x: Any, axis: int) -> tuple[Any, Any]:
    """x with the axis last, and as many ones."""
    if (one := u.b.codes.get("one")) is None:
        raise ValueError(
            f"unit {said(u)}: its b is {said(u.b)}, which has no 1 to multiply with; let the unit "
            "have a b that has, as in 'mac(fixed8.8, b=e4m3fn)'"
        )
    terms = operand("x", x, u.a, u._core.a_keeps, u)
    if terms.ndim == 0:
        raise ValueError("x has shape (); a sum needs an axis")
    if not isinstance(axis, INTEGERS):
        raise TypeError(f"axis = {axis!r}: one integer is wanted; x.ravel() has all in one axis")
    if not -terms.ndim <= axis < terms.ndim:
        ends = f"{-terms.ndim} to {terms.ndim - 1}"
        raise ValueError(f"axis = {axis}: x has shape {terms.shape}, and it may be {ends}")
    moved = with_axis_moved(terms, axis, -1)
    ones = np.repeat(_codes.from_integers([one], u.b), moved.shape[-1], axis=0)
    return moved, Array._of(ones, u.b).to_device(moved.device)


def with_axis_moved(x: Any, source: int, to: int) -> Any:
    return x._from_items(np.moveaxis(x._items, source, to))


# --- Operands ------------------------------------------------------------------------------------


def operand(name: str, x: Any, format: Format, keeps: int | None, unit: Unit) -> Any:
    """An array of the format the unit wants there, or codes of it."""
    if isinstance(x, CodeArray):
        return adapted(name, x, format, keeps, unit)
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "u":
        raise TypeError(
            f"{name} is {kind_of(x)}; unit {said(unit)} takes an Array of {said(format)} there, or "
            f"its codes. Values are taken by {as_operand(name, x, format, unit)}"
        )
    return code_array(name, np.asarray(x), format)


def adapted(name: str, x: Any, format: Format, keeps: int | None, unit: Unit) -> Any:
    """x itself, or a TF32 array in the binary32 registers of a unit that reads 10 of 23 bits."""
    if x.format == format:
        return x
    if keeps == 10 and str(format) == "e8m23" and str(x.format) == "e8m10":
        return x.astype(format)
    raise TypeError(
        f"{name} is {said(x.format)}; unit {said(unit)} takes {said(format)} there. "
        f"Convert with {name}.astype('{said(format)}')"
    )


def shape_of(x: Any) -> tuple[int, ...]:
    return x.shape if hasattr(x, "shape") else np.shape(x)


def leading_axes(a: Array, b: Array, last: int) -> tuple[int, ...]:
    """What the axes before the last ones broadcast to."""
    of_a, of_b = a.shape[:-last], b.shape[:-last]
    if of_a == of_b:
        return of_a
    pairs = [*zip_longest(of_a[::-1], of_b[::-1], fillvalue=1)][::-1]
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise ValueError(f"a is {a.shape} and b is {b.shape}; leading axes do not broadcast")
    shape = tuple(n if m == 1 else m for m, n in pairs)
    count_of(shape)
    return shape


def count_of(shape: tuple[int, ...]) -> int:
    n = math.prod(shape)
    if n > 1 << 60:
        raise ValueError(f"the result would be {shape}, {n} numbers; 2^60 are the most")
    return n


def blocks_of(unit: Unit, k: int) -> int:
    return -(-k // unit.scale_block) if unit.scale_block else 0


def scales(unit: Unit, scale_a: Any, scale_b: Any) -> list[Array | None]:
    """Both where the unit scales its blocks, neither where it does not."""
    both = [("scale_a", scale_a), ("scale_b", scale_b)]
    given = [name for name, x in both if x is not None]
    if unit.scale_format is None:
        if given:
            raise ValueError(f"{given[0]} is given; unit {said(unit)} scales nothing, leave it out")
        return [None, None]
    if len(given) < 2:
        raise ValueError(
            f"unit {said(unit)} scales each {unit.scale_block} elements of a and b; "
            "give both scale_a and scale_b"
        )
    return [operand(name, x, unit.scale_format, None, unit) for name, x in both]


def spread(name: str, x: CodeArray | None, shape: tuple[int, ...]) -> Any:
    """x broadcast to a shape, without a copy."""
    if x is None or x.shape == shape:
        return x
    limbs = x._bits.shape[x.ndim :]
    try:
        return x._with(np.broadcast_to(x._bits, (*shape, *limbs)))
    except ValueError:
        raise ValueError(f"{name} is {x.shape}; it does not broadcast to {shape}") from None


NAMES = ("a", "b", "c", "scale_a", "scale_b")


class Operands:
    """A batch of dot products: leading axes alike, by strides, and a last one to sum along."""

    def __init__(self, arrays: list[Array | None], shape: tuple[int, ...], k: int) -> None:
        self.arrays = arrays
        self.shape = shape
        self.k = k
        self.count = count_of(shape)

    @classmethod
    def of_dots(cls, u: Unit, a: Any, b: Any, c: Any, scale_a: Any, scale_b: Any) -> Operands:
        x = operand("a", a, u.a, u._core.a_keeps, u)
        y = operand("b", b, u.b, u._core.b_keeps, u)
        if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != y.shape[-1]:
            rows = y.ndim > 1 and x.shape[-1:] == y.shape[-2:-1]
            raise ValueError(
                f"a is {x.shape} and b is {y.shape}; their last axes must match"
                + ("; matrices go to ww.matmul or ww.study.dots_of_matmul" if rows else "")
            )
        shape = leading_axes(x, y, 1)
        k = x.shape[-1]
        addend = None if c is None else operand("c", c, u.c, u._core.c_keeps, u)
        column = None if addend is None else addend.reshape(*addend.shape, 1)
        if addend is not None:
            spread("c", addend, shape)  # or an error that speaks of c's own shape
        arrays = [
            spread("a", x, (*shape, k)),
            spread("b", y, (*shape, k)),
            spread("c", column, (*shape, 1)),
        ]
        for name, scale in zip(("scale_a", "scale_b"), scales(u, scale_a, scale_b), strict=True):
            arrays.append(spread(name, scale, (*shape, blocks_of(u, k))))
        return cls(arrays, shape, k)

    def workplace(self) -> Workplace:
        return Workplace.of(dict(zip(NAMES, self.arrays, strict=True)))

    def bound(self) -> core.Operands:
        """Each as a product of one row and one column."""
        row, column = len(self.shape), len(self.shape) + 1
        places = (row, column, row, row, column)
        return core.Operands(
            *(
                None if x is None else np.expand_dims(x._for_core, at)
                for x, at in zip(self.arrays, places, strict=True)
            )
        )


class Products:
    """Matrix products over leading axes."""

    def __init__(
        self,
        u: Unit,
        a: Array,
        b: Array,
        c: Any,
        scale_a: Any,
        scale_b: Any,
        row: bool,
        column: bool,
    ) -> None:
        self.unit = u
        self.m, self.k, self.n = a.shape[-2], a.shape[-1], b.shape[-1]
        lead = leading_axes(a, b, 2)
        self.shape = (*lead, *(() if row else (self.m,)), *(() if column else (self.n,)))
        out = (*lead, self.m, self.n)
        self.count = count_of(out)
        addend = None if c is None else operand("c", c, u.c, u._core.c_keeps, u)
        if addend is not None and (row or column):
            addend = spread("c", addend, self.shape).reshape(*out)
        self.arrays = [
            spread("a", a, (*lead, self.m, self.k)),
            spread("b", b, (*lead, self.k, self.n)),
            spread("c", addend, out),
        ]
        sa, sb = scales(u, scale_a, scale_b)
        blocks = blocks_of(u, self.k)
        self.arrays.append(spread("scale_a", sa, (*lead, self.m, blocks)))
        self.arrays.append(spread("scale_b", sb, (*lead, blocks, self.n)))

    def workplace(self) -> Workplace:
        return Workplace.of(dict(zip(NAMES, self.arrays, strict=True)))

    def bound(self) -> core.Operands:
        return core.Operands(*(None if x is None else x._for_core for x in self.arrays))


@lru_cache(maxsize=32)
def kept(u: Unit, k: int, flags: bool, engine: str, outputs: int) -> core.PreparedProducts:
    """An engine made ready once: to ask all of them takes as long as a small product."""
    return core.PreparedProducts(u._core, k, None, flags, engine, outputs)


def ready(u: Unit, k: int, outputs: int, how: How) -> core.PreparedProducts:
    """A GPU is asked each time: it may have failed since, and a child process has none."""
    product = bound_multiplier(how.multiplier)
    if product is None and not [name for name in core.engine_names() if name[:4] == "cuda"]:
        return kept(u, k, how.flags, how.engine, outputs)
    return core.PreparedProducts(u._core, k, product, how.flags, how.engine, outputs)


class Work:
    """An engine made ready for products of one unit and length."""

    def __init__(self, u: Unit, k: int, outputs: int, how: How) -> None:
        _engines.check(how.engine)
        self.unit = u
        self.threads = checked_threads(how.threads)
        self.seed = checked_seed(how.seed)
        self.flags = how.flags
        self.products = ready(u, k, outputs, how)

    def run(self, operands: core.Operands, shape: tuple[int, ...]) -> Any:
        """Outputs of that shape."""
        z, raised = HERE.empty(shape, self.unit.result_format), HERE.flags(shape, self.flags)
        results = (z.bits, raised and raised.for_core)
        self.products.run(operands, *results, self.seed, self.threads)
        return delivered(z, raised)


def computed(u: Unit, x: Operands | Products, how: How) -> Any:
    """Where the operands lie."""
    where = x.workplace()
    if how.random is not None:
        return computed_by(u, x, how, where)
    if where.gpu is None:
        return Work(u, x.k, x.count, how).run(x.bound(), x.shape)
    checked_threads(how.threads)
    check_engine_there(how.engine, where)
    product = bound_multiplier(how.multiplier)
    products = core.DeviceProducts(where.gpu, u._core, x.k, product, how.flags)
    z, raised = where.empty(x.shape, u.result_format), where.flags(x.shape, how.flags)
    results = (z._for_core, raised and raised.for_core)
    products.run(x.bound(), *results, checked_seed(how.seed), stream())
    return delivered(z, raised)


def computed_by(u: Unit, x: Operands | Products, how: How, where: Workplace) -> Any:
    """By the user's random bits."""
    bits = given_words(u, x.k, how, x.shape, where)
    z, raised = HERE.empty(x.shape, u.result_format), HERE.flags(x.shape, how.flags)
    product, threads = bound_multiplier(how.multiplier), checked_threads(how.threads)
    results = (z.bits, raised and raised.for_core)
    core.run_supplied(u._core, x.k, product, x.bound(), *results, bits, threads)
    return delivered(z, raised)


def given_words(
    u: Unit, k: int, how: How, shape: tuple[int, ...], where: Workplace
) -> list[np.ndarray]:
    """The user's random bits for each output: the reference alone takes them."""
    if how.engine not in ("auto", "reference"):
        raise ValueError(
            f"random is given and engine = {how.engine!r}; the reference alone takes the user's "
            "bits, leave it 'auto'"
        )
    return random_words(u, k, how.random, how.seed, shape, where.gpu)


def check_engine_there(engine: str, where: Workplace) -> None:
    if where.gpu is not None and engine not in ("auto", name_of(where.gpu)):
        raise ValueError(
            f"engine = {engine!r}, and the operands lie on {name_of(where.gpu)}, whose engine "
            "computes there; leave it 'auto', or bring them here with .to_device('cpu')"
        )


def prepared(unit: Unit, k: int, multiplier: Multiplier) -> core.PreparedUnit:
    return core.PreparedUnit(unit._core, k, bound_multiplier(multiplier))
