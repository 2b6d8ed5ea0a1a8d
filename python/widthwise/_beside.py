"""A trace beside a waveform: what each wire should carry, what it does, and where they part."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._format import Format
from ._table import Findings
from ._trace import Trace, Wire, rounding_of_slot
from ._waveform import Reading, read_taps, read_waveform
from ._wires import Dyadic, wire_number

if TYPE_CHECKING:
    from .display.style import Card

BLOCK = re.compile(r"(?:block(\d+)_)?(.*)")
SUMS = ("group_sum", "block_sum", "join")


class Pair(NamedTuple):
    """What a trace has and what a waveform has of one wire."""

    wire: str  # its name below the module
    stage: str
    slot: str
    lane: int
    exponent: int | None  # the power of two of the last digit; None of a code
    simulator: str  # digits, hexadecimal ones of a code
    hardware: str

    @property
    def differs(self) -> bool:
        return self.simulator != self.hardware


class Beside:
    """The wires of exported hardware beside a trace's, in the order of the module's stages.

    Attributes:
        module: the hardware's name.
        pairs: what each has, a `Pair` a wire.
        first: the first that differs; None where all are alike.

    Digits are those of the hardware's wire. The last one may stand for all below it, and the
    trace's number is written so, too.
    """

    def __init__(self, trace: Trace, module: str, pairs: list[Pair]) -> None:
        self.title = f"{trace.title}, and module {module}"
        self.module = module
        self.pairs = pairs
        self.first = next((pair for pair in pairs if pair.differs), None)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def table(self) -> Findings:
        """A row a wire, with the fields of a `Pair`, and whether it differs."""
        rows = [(*pair, pair.differs) for pair in self.pairs]
        return Findings([*Pair._fields, "differs"], rows)

    def verdict(self) -> str:
        if self.first is None:
            return f"all {len(self)} wires that a trace has, too, are as the simulator has them"
        where = f", lane {self.first.lane}" if self.first.lane > 0 else ""
        count = sum(pair.differs for pair in self.pairs)
        return (
            f"the first wire that differs is {self.first.wire}, at {self.first.stage}{where} "
            f"({count} of {len(self)} do)"
        )

    def near(self) -> list[Pair]:
        """The wires around the first that differs; the last ones where none does."""
        at = self.pairs.index(self.first) if self.first else len(self.pairs)
        return self.pairs[max(0, at - 6) : at + 10]

    def __repr__(self) -> str:
        from .display.beside import beside_table

        return f"{self.title}\n{beside_table(self.near())}\n{self.verdict()}"

    def card(self) -> Card:
        """What a notebook shows: the wires around the first that differs, its digits marked."""
        from .display.beside import beside_card

        return beside_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def beside(
    trace: Trace, vcd: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None
) -> Beside:
    """`Trace.beside`."""
    path = Path(vcd)
    taps = read_taps(path, folder)
    reading = read_waveform(path, taps, trace._operands())
    if any("in_first" in stage for stage in reading.stages):
        raise ValueError(
            f"vcd = {vcd}: module {taps['module']} keeps a running sum, whose blocks come one "
            "after the other; a trace stands beside a module that was exported without accumulate"
        )
    pairs = [*term_pairs(trace, taps, reading), *rounding_pairs(trace, taps, reading)]
    pairs.sort(key=lambda pair: pair[0])  # in one stage as they are written
    return Beside(trace, taps["module"], [pair for _, pair in pairs])


# --- Terms: (-1)^sign * sig * 2^(exp - fraction) --------------------------------------------------


def term_pairs(trace: Trace, taps: Any, reading: Reading) -> Iterator[tuple[int, Pair]]:
    blocks = 1 + max(int(BLOCK.match(term["name"])[1] or 0) for term in taps["terms"])  # type: ignore[index]
    looks = sum_format(trace).precision + 2  # digits of a sum, by its rounding
    for term in taps["terms"]:
        wires = wires_of_term(trace, term["name"], blocks, reading.stages[term["stage"]])
        if len(wires) != term["lanes"]:
            continue  # no trace has it
        for i, wire in enumerate(wires):
            pair = term_pair(term, i, wire, reading, looks)
            if pair:
                yield term["stage"], pair


def sum_format(trace: Trace) -> Format:
    return (
        trace.result.format
        if trace.unit is None
        else Format(rounding_of_slot(trace.unit, "out")["fmt"])
    )


def wires_of_term(trace: Trace, name: str, blocks: int, now: dict[str, str]) -> list[Wire]:
    """A trace's wires that a term carries, lane by lane."""
    block, base = BLOCK.match(name).groups()  # type: ignore[union-attr]
    if base in ("c_first", "c_running"):
        base = "c" if (now.get("running") == "1") == (base == "c_running") else ""
    if base in ("a", "b", "c"):
        return [wire for wire in trace if (wire.stage, wire.slot) == ("unpack", base)]
    if base in ("product", "exact", "scale"):
        return [wire for wire in trace if wire.stage == base]
    if base not in SUMS:
        return []
    k = 1 + max(wire.lane for wire in trace)
    first, last = int(block or 0) * k // blocks, (int(block or 0) + 1) * k // blocks
    return [wire for wire in trace if wire.stage == base and first <= wire.lane < last]


def term_pair(term: Any, i: int, wire: Wire, reading: Reading, looks: int) -> Pair | None:
    name, stage, n = term["name"], term["stage"], term["lanes"]
    field = {x: lane(reading.digits(stage, f"{name}_{x}"), i, n) for x in FIELDS}
    said = (wire.stage, wire.slot, wire.lane)
    if wire.kind in ("nan", "infinite"):
        kind = "nan" if wire.kind == "nan" else "inf"
        return Pair(f"{name}_{kind}", *said, None, "1", field[kind])
    if field["nan"] == "1" or field["inf"] == "1":
        if wire.stage == "exact":
            return None  # a trace has no digits of what the operands' classes decide
        kind = "nan" if field["nan"] == "1" else "inf"
        return Pair(f"{name}_{kind}", *said, None, "0", field[kind])
    number = wire_number(wire)
    if number is None or not number.m:
        is_zero = field["zero"] == "1" or "1" not in field["sig"]
        return Pair(f"{name}_sig", *said, None, "0", "0" if is_zero else field["sig"])
    sign = "" if wire.stage == "unpack" else "-" if field["sign"] == "1" else "+"
    if not is_binary(field["exp"]):
        return Pair(f"{name}_exp", *said, None, "known", field["exp"])
    last = signed(field["exp"]) - term["fraction"]
    digits = as_digits(number, len(field["sig"]), last)
    sent = "" if wire.stage == "unpack" else "-" if number.m < 0 else "+"
    if same_further_down(number, field["sig"], last, looks):
        digits = field["sig"]
    return Pair(f"{name}_sig", *said, last, sent + digits, sign + field["sig"])


FIELDS = ("nan", "inf", "zero", "sign", "exp", "sig")


def lane(digits: str | None, i: int, lanes: int) -> str:
    """Of several side by side, of which the first is the lowest."""
    if digits is None:
        return "x"
    width = len(digits) // lanes
    return digits[len(digits) - (i + 1) * width : len(digits) - i * width]


def is_binary(digits: str) -> bool:
    return bool(digits) and set(digits) <= {"0", "1"}


def signed(digits: str) -> int:
    return int(digits, 2) - (int(digits[0]) << len(digits))


def as_digits(number: Dyadic, width: int, last: int) -> str:
    """A number's magnitude in so many digits; what is below 2**last is ORed into the last one."""
    return f"{jammed(Dyadic(abs(number.m), number.q), last):0{width}b}"


def jammed(x: Dyadic, last: int) -> int:
    up = x.q - last
    if up >= 0:
        return x.m << up
    kept = x.m >> -up
    return kept | (kept << -up != x.m)


def same_further_down(number: Dyadic, digits: str, last: int, looks: int) -> bool:
    """Whether hardware has the sum of terms far apart, whose trace ends in such a digit, too, below
    those that a rounding looks at."""
    if not is_binary(digits) or number.q <= last:
        return False
    hardware = Dyadic(int(digits, 2), last)
    odd = number.m & 1 == 1
    return (
        odd and abs(number.m).bit_length() > looks and jammed(hardware, number.q) == abs(number.m)
    )


# --- Roundings: normalise, denormalise, round, pack -----------------------------------------------


def rounding_pairs(trace: Trace, taps: Any, reading: Reading) -> Iterator[tuple[int, Pair]]:
    events: dict[tuple[str, int], dict[str, Wire]] = {}
    for wire in trace:
        if wire.stage in ("normalise", "denormalise", "round", "pack"):
            events.setdefault((wire.slot, wire.lane), {}).setdefault(wire.stage, wire)
    cut = {term["name"] for term in taps["terms"]}
    for place in taps["roundings"]:
        for i in range(place["lanes"]):
            event = events.get((place["slot"], place["step"] + i), {})
            rounding = rounding_of(place, i, reading)
            for stage, wire in event.items():
                if f"{place['name']}_cut" in cut and stage == "normalise":
                    continue  # what is normalised there has been cut before
                pair = getattr(rounding, stage)(wire)
                if pair:
                    yield place[stage], pair


def rounding_of(place: Any, i: int, reading: Reading) -> Rounding:
    if "format" not in place:
        return Rounding(place, i, reading)
    kind = FixedRounding if Format(place["format"]).system == "fixed" else PatternRounding
    return kind(place, i, reading)


class Rounding:
    """The wires of one lane of a place that rounds."""

    def __init__(self, place: Any, i: int, reading: Reading) -> None:
        self.place, self.i, self.reading = place, i, reading
        name = place["name"]
        self.scope = name if place["lanes"] == 1 else f"{name}_lane[{i}].{name}"

    def digits(self, stage: str, wire: str) -> str:
        return self.reading.digits(self.place[stage], f"{self.scope}.{wire}") or "x"

    def leading(self) -> int | None:
        exponent = self.digits("normalise", "normal_exp")
        return signed(exponent) if is_binary(exponent) else None

    def compared(self, wire: Wire, name: str, digits: str, last: int | None) -> Pair | None:
        number = wire_number(wire)
        if number is None or not number.m:
            return None
        said = (f"{self.scope}.{name}", wire.stage, wire.slot, wire.lane)
        if last is None or not is_binary(digits):
            return Pair(*said, last, "known", digits)
        return Pair(*said, last, as_digits(number, len(digits), last), digits)

    def normalise(self, wire: Wire) -> Pair | None:
        digits, top = self.digits("normalise", "normal"), self.leading()
        last = None if top is None else top - len(digits) + 1
        return self.compared(wire, "normal", digits, last)

    def denormalise(self, wire: Wire) -> Pair | None:
        digits, top = self.digits("denormalise", "placed"), self.leading()
        if top is not None and self.digits("denormalise", "subnormal") == "1":
            top = max(top, self.place["emin"])
        last = None if top is None else top - len(digits) + 1
        return self.compared(wire, "placed", digits, last)

    def round(self, wire: Wire) -> Pair | None:
        """The code's magnitude, whose exponent field counts from emin."""
        digits, fraction = self.digits("round", "magnitude"), self.place["frac_bits"]
        if not is_binary(digits):
            return self.compared(wire, "magnitude", digits, None)
        if self.is_past(wire, len(digits) - fraction):
            return None
        field = int(digits[: len(digits) - fraction] or "0", 2)
        normal = self.place["all_normal"] or field > 0
        above = field if self.place["all_normal"] else max(field - 1, 0)
        rounded = f"{int(normal)}{digits[len(digits) - fraction :] if fraction else ''}"
        return self.compared(wire, "magnitude", rounded, self.place["emin"] + above - fraction)

    def is_past(self, wire: Wire, field_bits: int) -> bool:
        """Whether the exponent field has no room for a rounded number, which overflows."""
        number = wire_number(wire)
        return number is not None and number.top - self.place["emin"] >= 1 << field_bits

    def pack(self, wire: Wire) -> Pair:
        name = self.place["code"]
        digits = lane(self.reading.digits(self.place["pack"], name), self.i, self.place["lanes"])
        hardware = f"0x{int(digits, 2):x}" if is_binary(digits) else digits
        return Pair(
            name, wire.stage, wire.slot, wire.lane, None, f"0x{wire.significand:x}", hardware
        )


class PatternRounding(Rounding):
    """Of posits and takums: a rounded pattern is a code, which is compared when it is packed."""

    def round(self, wire: Wire) -> Pair | None:
        return None


class FixedRounding(PatternRounding):
    """Of fixed point: a number in units of the last digit, and what is below."""

    def normalise(self, wire: Wire) -> Pair | None:
        rest = self.digits("normalise", "rest")
        digits = self.digits("normalise", "kept") + rest
        last = Format(self.place["format"]).least_digit - len(rest)
        pair = self.compared(wire, "kept", digits, last)
        # An integer out of range has more digits than are kept.
        return pair and pair._replace(simulator=pair.simulator[-len(digits) :])
