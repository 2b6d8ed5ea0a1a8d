"""Every stage of one computation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array
from ._codes import integers
from ._container import without_tensor_scale
from ._device import queue
from ._dot import Operands, prepared
from ._elementwise import compute
from ._format import Format, optional_format
from ._missing import asks_for
from ._operands import check_count, operands, result_format
from ._product import Multiplier, bound_multiplier
from ._random import random_source, random_words
from ._settings import checked_seed, whole
from ._table import Findings, Table
from ._unit import Unit, as_unit, titled

if TYPE_CHECKING:
    from ._beside import Beside
    from ._losses import Loss
    from .display.style import Card

FURTHEST = 1 << 17  # as a power of two; beyond it no fraction is written out


class Wire(NamedTuple):
    """What stood on one wire: (-1)^negative * significand * 2^exponent."""

    stage: str
    slot: str  # the operand at unpack; the rounding that a later row belongs to
    lane: int  # position along k; -1 is c
    kind: str  # zero finite infinite nan
    negative: bool
    significand: int  # at pack the code
    exponent: int
    value: str  # in decimal, to 12 digits; empty at pack


class Trace:
    """The stages of one computation: iterate, index, print, or take a data frame.

    Of a long one `print` shows the rows that lost most; `table()` has all.

    >>> import widthwise as ww
    >>> x = ww.array([1.0, 2.0], "e4m3fn")
    >>> trace = ww.trace("mac(e4m3fn)", x, x)
    >>> trace.result, trace[0].stage, trace[-1].stage
    (Array(5, e4m3fn), 'unpack', 'pack')
    """

    def __init__(
        self,
        title: str,
        wires: list[tuple[Any, ...]],
        result: Array,
        unit: Unit | None = None,
        given: Mapping[str, Array | None] | None = None,
    ) -> None:
        self.title = title
        self._given = dict(given or {})
        self.result = result
        self.unit = unit
        self._formats: dict[str, Format] = {}
        self.wires = [Wire._make((*row[:5], int(row[5], 16), *row[6:])) for row in wires]

    def __len__(self) -> int:
        return len(self.wires)

    def __iter__(self) -> Iterator[Wire]:
        return iter(self.wires)

    def __getitem__(self, i: Any) -> Any:
        return self.wires[i]

    def format_of(self, wire: Wire) -> Format:
        """Of a wire's code, at a `pack`: that of the rounding which its slot names.

        >>> import widthwise as ww
        >>> x = ww.array([1.0], "e4m3fn")
        >>> trace = ww.trace("mac(e4m3fn, sum=e5m10)", x, x)
        >>> [str(trace.format_of(wire)) for wire in trace if wire.stage == "pack"]
        ['e4m3fn', 'e5m10']
        """
        if self.unit is None:
            return self.result.format
        if wire.slot not in self._formats:
            rounding = rounding_of_slot(self.unit, wire.slot)
            self._formats[wire.slot] = Format(rounding["fmt"])
        return self._formats[wire.slot]

    @cached_property
    def _losses(self) -> list[Loss | None]:
        from ._losses import losses

        return losses(self)

    @property
    def lost(self) -> list[Fraction | None]:
        """What each wire's step lost, exactly: the number before it less the one after.

        0 where nothing was lost; None where something was that has no figure: an overflow, or the
        last digit of an operation's exact result, which may stand for many.

        >>> import widthwise as ww
        >>> x = ww.array([1.125, 1.0], "e4m3fn")
        >>> trace = ww.trace("mac(e4m3fn)", x, ww.array([1.125, 0.0], "e4m3fn"))
        >>> [(wire.stage, lost) for wire, lost in zip(trace, trace.lost) if lost]
        [('round', Fraction(1, 64))]
        """
        return [figure(gone) for gone in self._losses]

    def select(
        self,
        stage: str | None = None,
        *,
        slot: str | None = None,
        lane: int | None = None,
        lost: bool | None = None,
    ) -> Findings:
        """The wires of one stage, slot or lane; with lost=True those alone that lost something.

        Returns:
            A row a wire, with the fields of a `Wire`, and `lost` as `trace.lost` has it.
        Raises:
            ValueError: no wire of the trace has that stage, slot or lane.

        >>> import widthwise as ww
        >>> x = ww.array([1.125, 1.0], "e4m3fn")
        >>> ww.trace("mac(e4m3fn)", x, x).select("round", lost=True)["lost"].tolist()
        [Fraction(1, 64)]
        """
        for name, wanted in (("stage", stage), ("slot", slot), ("lane", lane)):
            there = list(dict.fromkeys(getattr(wire, name) for wire in self.wires))
            if wanted is not None and wanted not in there:
                names = [str(x) for x in there if x != ""]
                shown = ", ".join([*names[:MOST_NAMED], *["…"] * (len(names) > MOST_NAMED)])
                raise ValueError(f"{name} = {wanted!r}: the trace has {shown}")
        rows = [
            (*wire, amount)
            for wire, amount in zip(self.wires, self.lost, strict=True)
            if stage in (None, wire.stage)
            and slot in (None, wire.slot)
            and lane in (None, wire.lane)
            and lost in (None, amount != 0)
        ]
        return Findings([*Wire._fields, "lost"], rows)

    def _operands(self) -> dict[str, int]:
        """What hardware has at its ports: of each operand its codes, the first one lowest."""
        ports = {}
        for name, x in self._given.items():
            codes = [] if x is None else integers(np.asarray(x.bits), x.format)
            width = 0 if x is None else x.format.width
            ports[name] = sum(code << i * width for i, code in enumerate(codes))
        return ports

    def beside(
        self, vcd: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None
    ) -> Beside:
        """A simulator's waveform of exported hardware beside this trace.

        Args:
            vcd: a VCD file with all wires below the module, as `make wave` in the exported folder
                writes it. Of the computations in it the first one with these operands is taken.
            folder: the exported folder; None: the one that the file lies in.
        Returns:
            A `Beside`: a table of wires in the order of the module's stages, and the first one
            that differs.
        Raises:
            ValueError: the file has no such module or never these operands, or the folder holds
                no NAME_taps.json.    OSError: the file cannot be read.

        >>> import tempfile, subprocess, shutil
        >>> import widthwise as ww
        >>> x = ww.array([1.5], "e4m3fn")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = ww.export("mac(e4m3fn)", folder, "mac", vectors=0)
        ...     if shutil.which("iverilog"):
        ...         done = subprocess.run(["make", "wave"], cwd=folder, capture_output=True)
        ...         trace = ww.trace("mac(e4m3fn)", x * 0, x * 0)
        ...         assert trace.beside(f"{folder}/build/mac.vcd").first is None
        """
        from ._beside import beside

        return beside(self, vcd, folder)

    def table(self) -> Table:
        """A row a wire: its number in decimal, its significand and exponent, and what it lost.

        >>> import widthwise as ww
        >>> x = ww.array([1.5, 2.0], "e4m3fn")
        >>> ww.trace_operation("multiply", *x).table().records()[2]["value"]
        '3'
        """
        columns = ["stage", "slot", "lane", "value", "significand", "exponent", "lost"]
        pairs = zip(self.wires, self._losses, strict=True)
        return Table(columns, [(*shown(wire), loss_text(gone)) for wire, gone in pairs])

    def __repr__(self) -> str:
        from .display.stages import trace_text

        return trace_text(self)

    def card(self) -> Card:
        """What a notebook shows: every stage, and what it lost; zeros beside each other in one row.

        Of a trace that is longer than a screen the rows that lost most, the others folded.

        >>> import widthwise as ww
        >>> x = ww.array([3.0, 1.0], "e2m1fn")
        >>> print(ww.trace("mac(e2m1fn)", x, x).card())  # doctest: +ELLIPSIS
        mac(e2m1fn), k = 2...
        """
        from .display.stages import trace_card

        return trace_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row a wire, `lost` as a float (NaN without a figure). Needs pandas.

        >>> import widthwise as ww
        >>> x = ww.array([1.5, 2.0], "e4m3fn")
        >>> ww.trace_operation("multiply", *x).to_dataframe()["stage"].tolist()[:3]
        ['unpack', 'unpack', 'exact']
        """
        import pandas as pd

        frame = pd.DataFrame(self.wires, columns=Wire._fields)
        frame["lost"] = [as_float(amount) for amount in self.lost]
        return frame


def figure(gone: Loss | None) -> Fraction | None:
    if gone is None:
        return Fraction()
    near = gone.lost is not None and max(abs(gone.lost.q), abs(gone.lost.top)) <= FURTHEST
    return gone.lost.fraction if gone.lost and near else None


def as_float(amount: Fraction | None) -> float:
    if amount is None:
        return math.nan
    try:
        return float(amount)
    except OverflowError:
        return math.copysign(math.inf, amount)


def loss_text(gone: Loss | None) -> str:
    """To six digits; "?" where there is no figure."""
    from .display.stages import number_text

    return "" if gone is None else number_text(gone.lost) if gone.lost else "?"


def rounding_of_slot(u: Unit, slot: str) -> dict[str, Any]:
    """The fields of the rounding that a slot names."""
    fields: Any = u.fields
    out: dict[str, Any] = fields["out"]  # which a compensated sum's other roundings take too
    for key in slot.split("."):
        fields = fields.get(key, {}) if isinstance(fields, dict) else {}
    return fields if "fmt" in fields else out


MOST_DIGITS = 21  # of a number in decimal
MOST_NAMED = 12  # stages, slots or lanes in an error
MOST_BITS = 2000  # between a number's digits and the point; further apart it is told to 12 digits


def in_decimal(wire: Wire) -> str:
    """All digits where 21 hold them, else so many, and an ellipsis."""
    zeros = (wire.significand & -wire.significand).bit_length() - 1
    m, q = wire.significand >> max(0, zeros), wire.exponent + zeros
    if wire.kind != "finite" or wire.stage == "pack" or abs(q) + m.bit_length() > MOST_BITS:
        return wire.value
    exact = Decimal(m << q) if q >= 0 else Decimal(f"{m * 5**-q}e{q}")
    if Decimal(wire.value).copy_abs() == exact:
        return wire.value
    sign = "-" if wire.negative else ""
    shown = Context(prec=MOST_DIGITS, rounding=ROUND_DOWN).plus(exact)
    return f"{sign}{shown:.{MOST_DIGITS}g}" + ("" if shown == exact else "…")


def shown(wire: Wire) -> tuple[Any, ...]:
    lane = "c" if wire.lane < 0 else str(wire.lane)
    sign = "-" if wire.negative and wire.stage != "pack" else ""
    if wire.kind in ("infinite", "nan"):
        return wire.stage, wire.slot, lane, wire.value, "", ""
    exponent = "" if wire.stage == "pack" else f"2^{wire.exponent}"
    return wire.stage, wire.slot, lane, in_decimal(wire), f"{sign}0x{wire.significand:x}", exponent


@asks_for("ww.trace('mac(e5m10)', a, b)")
def trace(
    unit: str | Unit,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    scale_a: Any = None,
    scale_b: Any = None,
    seed: int = 0,
    random: Any = None,
    index: int = 0,
    multiplier: Multiplier = None,
) -> Trace:
    """Every stage of one dot product.

    Args:
        unit: as `ww.Unit` takes it.
        a, b: Arrays, codes or Blocks, of shape (k,).    c: a single one, or None for +0.
            Of DeviceArrays it is computed where they lie, and the records come here.
        scale_a, scale_b, seed, random, multiplier: as in `ww.dot`.
        index: the flat position of the output that is traced, which stochastic rounding draws by.
    Returns:
        A Trace, whose result is the one of `ww.dot` to the bit.
    Raises:
        ValueError: a and b make more than one dot product.

    >>> import widthwise as ww
    >>> x = ww.array([3.0, 0.5], "e4m3fn")
    >>> [wire.value for wire in ww.trace("fma(e4m3fn)", x, x) if wire.stage == "product"]
    ['9', '0.25']
    """
    u = as_unit(unit)
    a, scale_a = without_tensor_scale("a", a, scale_a, u)
    b, scale_b = without_tensor_scale("b", b, scale_b, u)
    x = Operands.of_dots(u, a, b, c, scale_a, scale_b)
    if x.shape != ():
        raise ValueError(
            f"a and b make {x.count} dot products, of shape {x.shape}; one is traced: "
            "pass one row of each"
        )
    where, of_output = x.workplace(), (x.bound(), checked_seed(seed), whole("index", index))
    if random is not None:
        words = random_words(u, x.k, random, seed, (), where.gpu)
        wires = prepared(u, x.k, multiplier).trace_supplied(x.bound(), words)
    elif where.gpu is None:
        wires = prepared(u, x.k, multiplier).trace(*of_output)
    else:
        product = bound_multiplier(multiplier)
        wires = core.device_trace(queue(where.gpu), u._core, *of_output, product)
    code = _codes.from_integers([int(wires[-1][5], 16)], u.result_format)
    shape = () if u.result_format.limbs == 1 else (u.result_format.limbs,)
    result = Array._of(code.reshape(shape), u.result_format)
    given = dict(zip(("a", "b", "c", "scale_a", "scale_b"), x.arrays, strict=True))
    if not u.scale_format:
        del given["scale_a"], given["scale_b"]
    return Trace(f"{titled(u)}, k = {x.k}", wires, result, u, given)


@asks_for("ww.trace_operation('add', x, y)")
def trace_operation(
    op: str,
    *args: Any,
    format: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    seed: int = 0,
    random: Any = None,
) -> Trace:
    """Every stage of one operation on single numbers.

    Args:
        op: its name, as 'fma'.
        args: as many Arrays of shape (), or codes, as it has operands.
        format, rounding, tininess, nan, seed, random: as in `ww.add`.
    Returns:
        A Trace, whose result is the operation's.
    Raises:
        TypeError: not so many operands.    ValueError: an operand is an array of several.

    >>> import widthwise as ww
    >>> trace = ww.trace_operation("add", *ww.array([1.0, 0.07], "e4m3fn"))
    >>> [wire.stage for wire in trace]
    ['unpack', 'unpack', 'exact', 'normalise', 'denormalise', 'round', 'pack']
    """
    check_count(op, core.arity(op), args)
    wanted = optional_format(format)
    named = dict(zip("xyz", args, strict=False))
    arrays = dict(zip(named, operands(named, wanted), strict=True))
    for name, x in arrays.items():
        if x.shape != ():
            raise ValueError(f"{name} has shape {x.shape}; one number is traced, as {name}[0]")
    to = result_format(arrays, wanted)
    pairs = [(x.format._core, np.ascontiguousarray(x.bits)) for x in arrays.values()]
    env = core.Env(rounding, tininess, nan)
    bits = random_source(random, seed, env, rounding, ())
    wires = core.trace_operation(op, to._core, env, pairs, bits)
    how = {"seed": seed, "random": random}
    result = compute(op, list(arrays.values()), to, rounding, tininess, nan, **how)
    given = dict(zip("abc", arrays.values(), strict=False))
    return Trace(f"{op} in {to}, {rounding}", wires, result, given=given)
