"""What a sweep multiplies, and how it measures: values in each unit's formats, or as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from . import _widthwise as core
from ._array import Array
from ._block_format import BlockFormat
from ._compare import isfinite
from ._create import array
from ._device import gpu_of
from ._dot import matmul
from ._elementwise import divide, subtract
from ._metrics import (
    METRICS,
    PARTS,
    Errors,
    as_metrics,
    magnitude,
    norm,
    norm_of_error,
    norm_of_numbers,
    over,
)
from ._reading import shortened
from ._spelling import called
from ._unit import Unit, as_unit
from .containers.blocks import Blocks
from .containers.numbers import in_machine_floats
from .containers.quantise import blocks

# Of exact double operands: binary64's own products fill 106 digits, which this register holds.
EXACT = "kulisch(binary64)"


def doubles(name: str, x: Any) -> np.ndarray:
    """Numbers as binary64 holds them; what it does not is no data that results are held against."""
    with called(name):
        return in_machine_floats(x).astype(np.float64, copy=False)


def block_formats(unit: Unit) -> tuple[BlockFormat, BlockFormat]:
    """Of a's rows and b's columns, where the unit scales its blocks."""
    x, y = (BlockFormat.of(f, unit.scale_block, unit.scale_format) for f in (unit.a, unit.b))
    return x, y


def exact_product(x: Array, y: Array, options: dict[str, Any]) -> np.ndarray:
    """Of arrays, rounded once to binary64: by a register of their formats where that is short."""
    if max(x.format.exponent_bits, y.format.exponent_bits) <= SHORT_EXPONENT:
        unit = as_unit(f"kulisch({x.format}, b={y.format}, out=binary64)")
        return np.asarray(matmul(x, y, unit=unit, **options).to_float64())
    return exact_of(x.to_float64("rne"), y.to_float64("rne"), options)


def exact_of(a: np.ndarray, b: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Of doubles, rounded once to binary64; NaN for a number that is past its range, which no
    infinity is the same as, or that vanishes below it, as no zero is."""
    exact = product_of(as_unit(EXACT), a, b, "rne", "auto", options)
    if np.isinf(exact).any():
        rows, columns = np.isfinite(a).all(axis=-1), np.isfinite(b).all(axis=0)
        of_numbers = np.logical_and.outer(rows, columns)
        exact = np.where(np.isinf(exact) & of_numbers, np.nan, exact)
    if not exact.all() and last_digit(a) + last_digit(b) < LAST_DIGIT:
        x, y = rounded_pair(as_unit(EXACT), a, b, "rne", options["seed"])
        _, raised = matmul(x, y, unit=EXACT, flags=True, **options)
        exact = np.where((exact == 0) & (raised & UNDERFLOW != 0), np.nan, exact)
    return exact


LAST_DIGIT, LARGEST_EXPONENT, UNDERFLOW = -1074, 1023, 2


def last_digit(x: np.ndarray) -> int:
    """A power of two that all numbers of an array are multiples of, in a double's 53 digits."""
    there = x[np.isfinite(x) & (x != 0)]
    least = np.abs(there).min(initial=1.0)
    return max(LAST_DIGIT, int(np.frexp(least)[1]) - 53)


SHORT_EXPONENT = 8  # bits


def draws(rounding: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """How a and b are rounded, each by random bits of its own."""
    return {"rounding": rounding, "seed": seed}, {"rounding": rounding, "seed": (seed + 1) % 2**64}


def rounded_pair(
    unit: Unit, a: np.ndarray, b: np.ndarray, rounding: str, seed: int
) -> tuple[Array, Array]:
    """In the unit's formats."""
    of_a, of_b = draws(rounding, seed)
    return array(a, unit.a, **of_a), array(b, unit.b, **of_b)


def product_of(
    unit: Unit, a: np.ndarray, b: np.ndarray, rounding: str, engine: str, options: dict[str, Any]
) -> np.ndarray:
    x, y = rounded_pair(unit, a, b, rounding, options["seed"])
    return computed(unit, x, y, engine, options).doubles


class Results(NamedTuple):
    """A unit's, in binary64; a number past its range is its largest there, and no infinity."""

    doubles: np.ndarray
    past: np.ndarray  # where there is one
    numbers: Array  # those

    def distances(self, exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the numbers past the range are from exact results, and that over these."""
        held = array(exact[self.past], "binary64")
        far = subtract(self.numbers, held, format=WIDE)
        apart, ratio = far.to_float64("rne"), divide(far, held, format=WIDE).to_float64("rne")
        return magnitude(apart), magnitude(ratio)


WIDE = "e62m52"


def computed(unit: Unit, x: Any, y: Any, engine: str, options: dict[str, Any]) -> Results:
    z = matmul(x, y, unit=unit, engine=engine, **options)
    doubles = np.asarray(z.to_float64(rounding="rne"))
    past = np.isinf(doubles)
    if past.any():
        past &= isfinite(z)
        largest = np.copysign(np.finfo(np.float64).max, doubles)
        doubles = np.where(past, largest, doubles)
    return Results(doubles, past, z.reshape(-1)[past.reshape(-1)])


TOGETHER = 64  # units on a GPU: what one launch takes


class Request:
    """What is computed of every unit."""

    def __init__(
        self,
        a: np.ndarray,
        b: np.ndarray,
        given: tuple[Blocks | None, ...],
        exact: np.ndarray,
        rounding: str,
        engine: str,
        options: dict[str, Any],
        progress: Callable[[int, int], object],
    ) -> None:
        self.a, self.b, self.given, self.exact = a, b, given, exact
        self.rounding, self.engine, self.options = rounding, engine, options
        self.progress = progress
        self.last_operands: tuple[Any, np.ndarray] | None = None
        self.past = 0  # results that are numbers past binary64's range

    def measured(
        self, units: list[Unit], metrics: Sequence[str], against: str
    ) -> list[dict[str, float]]:
        """The metrics of each unit: on a GPU many together, and elsewhere one by one."""
        self.apart = against == "operands" or bool({*PARTS} & {*metrics})
        self.against = against
        found: dict[int, dict[str, float]] = {}
        gpus = {i: gpu for i, unit in enumerate(units) if (gpu := self.gpu(unit)) is not None}
        for together in self.alike(units, gpus):
            part = [units[i] for i in together]
            rows = self.measured_there(gpus[together[0]], part)
            found |= zip(together, rows, strict=True)
            self.progress(len(found), len(units))
        for i, unit in enumerate(units):
            if i not in found:
                found[i] = self.measured_here(unit, metrics)
                self.progress(len(found), len(units))
        return [found[i] for i in range(len(units))]

    def alike(self, units: list[Unit], chosen: Iterable[int]) -> Iterator[list[int]]:
        """Those that go to a GPU together: of one exact product."""
        groups: dict[Any, list[int]] = {}
        for i in chosen:
            formats = self.operand_formats(units[i]) if self.apart else None
            groups.setdefault(formats, []).append(i)
        for group in groups.values():
            yield from batched(group, TOGETHER)

    def operand_formats(self, unit: Unit) -> tuple[Any, ...]:
        of_blocks = block_formats(unit) if unit.scale_format else None
        return unit.a, unit.b, unit._core.a_keeps, unit._core.b_keeps, of_blocks

    def measured_here(self, unit: Unit, metrics: Sequence[str]) -> dict[str, float]:
        results = self.product(unit)
        self.past += int(np.count_nonzero(results.past))
        of_operands = self.of_operands(unit) if self.apart else self.exact
        seen = self.exact if self.against == "given" else of_operands
        errors = Errors(results.doubles, seen, results)
        row = {name: METRICS[name](errors) for name in metrics if name in METRICS}
        if self.against == "given" and self.apart:
            row |= self.parts(of_operands, norm_of_error(results.doubles, of_operands, results))
        return row

    def measured_there(self, gpu: int, units: list[Unit]) -> list[dict[str, float]]:
        """The same on a GPU, of units that have one exact product."""
        cores = [unit._core for unit in units]
        of_operands = self.of_operands(units[0]) if self.apart else self.exact
        split = self.apart and self.against == "given"
        if split and not (np.isfinite(of_operands).all() and norm(of_operands) > 0):
            return [self.measured_here(unit, [*METRICS]) for unit in units]
        seen = of_operands if self.against == "operands" else self.exact
        rows = [as_metrics(values) for values in self.sweep_on(gpu, seen).run(cores, self.seed)]
        if split:
            again = self.sweep_on(gpu, of_operands).run(cores, self.seed)
            for row, values in zip(rows, again, strict=True):
                accumulated = as_metrics(values)["rel_norm"] * norm(of_operands)
                row |= self.parts(of_operands, accumulated)
        return rows

    def parts(self, of_operands: np.ndarray, accumulated: float) -> dict[str, float]:
        """Both over the norm of the exact product; of_accumulation from the norm of its errors."""
        whole = norm_of_numbers(self.exact)
        rounded = norm_of_error(of_operands, self.exact)
        return dict(zip(PARTS, (over(rounded, whole), over(accumulated, whole)), strict=True))

    @property
    def seed(self) -> int:
        return self.options["seed"]

    def of_operands(self, unit: Unit) -> np.ndarray:
        """The exact product of what the unit reads, kept while units read the same."""
        formats = self.operand_formats(unit)
        if self.last_operands is None or self.last_operands[0] != formats:
            a_keeps, b_keeps, of_blocks = formats[2:]
            x, y = self.operands(unit)
            if of_blocks:
                exact = exact_of(x.to_float64(), y.to_float64(), self.options)
            else:
                exact = exact_product(shortened(x, a_keeps), shortened(y, b_keeps), self.options)
            self.last_operands = formats, exact
        return self.last_operands[1]

    def operands(self, unit: Unit) -> tuple[Any, Any]:
        """In the unit's formats: Arrays, or Blocks."""
        if not unit.scale_format:
            return rounded_pair(unit, self.a, self.b, self.rounding, self.seed)
        x, y = (
            g if g is not None and g.fits(f, axis) else blocks(v, f, axis=axis, **how)
            for g, v, f, axis, how in zip(
                self.given,
                (self.a, self.b),
                block_formats(unit),
                (-1, 0),
                draws(self.rounding, self.seed),
                strict=True,
            )
        )
        return x, y

    def product(self, unit: Unit) -> Results:
        return computed(unit, *self.operands(unit), self.engine, self.options)

    def gpu(self, unit: Unit) -> int | None:
        """The GPU that measures a unit; None where an engine computes its product."""
        k = self.a.shape[-1]
        wide = unit.result_format.emax > LARGEST_EXPONENT
        if core.Env(self.rounding).stochastic or unit.scale_format or wide:
            return None  # there operands draw no random bits, have no scales, and doubles hold all
        if self.engine == "auto":
            best = core.PreparedUnit(unit._core, k, None).opinions(False, self.exact.size)[0][0]
        else:
            best = self.engine
        if not best.startswith("cuda") or best not in core.engine_names() or self.has_nan:
            return None
        return None if core.why_no_sweep(unit._core, k) else gpu_of(best)

    @cached_property
    def has_nan(self) -> bool:
        """Then `array` has to say what a format does with it."""
        return bool(np.isnan(self.a).any() or np.isnan(self.b).any())

    def sweep_on(self, gpu: int, exact: np.ndarray) -> core.DeviceSweep:
        """The values, on a GPU, and what results are held against; vectors as matrices."""
        a, b = np.atleast_2d(self.a), self.b.reshape(self.b.shape[0], -1)
        exact = exact.reshape(a.shape[0], b.shape[1])
        x, y, z = (np.ascontiguousarray(values) for values in (a, b, exact))
        return core.DeviceSweep(gpu, x, y, z, self.rounding)


def batched(items: list[int], most: int) -> Iterator[list[int]]:
    return (items[first : first + most] for first in range(0, len(items), most))
