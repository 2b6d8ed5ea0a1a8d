"""Commands that print: info, formats, units, op, trace, doctor."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

import numpy as np

from .. import _compare, _elementwise
from .. import _widthwise as core
from .._array import Array
from .._block_format import BlockFormat
from .._codes import flag_names, integers, readable
from .._create import INVALID, array, from_bits
from .._files import INDEX
from .._format import Format, as_format
from .._format_texts import said
from .._formats import formats
from .._info import findings
from .._operands import check_count
from .._spelling import called
from .._table import Table
from .._trace import Trace, trace, trace_operation
from .._unit import RENAMED, Unit, units
from ..containers.scheme import is_affine
from . import checkpoint_info
from .output import (
    add_command,
    add_json,
    add_nan,
    add_rounding,
    add_seed,
    add_tininess,
    show,
    whole_number,
)

MOST_TRACED = 100_000  # products drawn at random


def add_commands(commands: Any) -> None:
    add_info(commands)
    add_registries(commands)
    add_op(commands)
    add_trace(commands)
    doctor = add_command(
        commands,
        "doctor",
        "what was found here: compiler, MPFR, GPU, tools",
        "widthwise doctor",
        "widthwise doctor --json",
    )
    doctor.set_defaults(run=run_doctor)
    add_json(doctor)


def add_info(commands: Any) -> None:
    info = add_command(
        commands,
        "info",
        "everything about a format, a unit or a checkpoint",
        "widthwise info e5m10",
        "widthwise info 'e4m3fn;overflow=max'",
        "widthwise info hopper.f16.f32 --json",
        "widthwise info model.safetensors",
    )
    info.add_argument(
        "text",
        metavar="FORMAT|UNIT|FILE",
        help="e5m10, 'e4m3fn;overflow=max', hopper.f16.f32, model.safetensors",
    )
    info.set_defaults(run=run_info)
    add_json(info)


def add_registries(commands: Any) -> None:
    for name, registry in (("formats", formats), ("units", units)):
        command = add_command(
            commands,
            name,
            f"the {name} that have names",
            f"widthwise {name}",
            f"widthwise {name} --json",
        )
        command.set_defaults(run=run_registry, registry=registry)
        add_json(command)


def add_op(commands: Any) -> None:
    op = add_command(
        commands,
        "op",
        "one operation: value, code, flags, stages",
        "widthwise op add e5m10 0x3c00 0x4000",
        "widthwise op fma e4m3fn 1.5 1/3 -0x1p-7 --rounding rtz",
        "widthwise op convert binary32 1e6 --to e4m3fn --json",
        "widthwise op add e5m10 1 0x0c00 --rounding sr8 --random 0xff",
        "widthwise op to_integer e5m10 300 --to int8 --invalid x86",
    )
    op.add_argument(
        "name", metavar="NAME", help="add, fma, sqrt, convert, to_integer, less, classify, …"
    )
    op.add_argument("format", metavar="FORMAT")
    op.add_argument(
        "operands", metavar="A", nargs="+", help="a code (0x3c00) or a value (-1.5, 1/3, 0x1p-7)"
    )
    op.add_argument(
        "--to", metavar="G", help="the result's format, if not FORMAT; of to_integer int8 … uint64"
    )
    op.set_defaults(run=run_op)
    op.add_argument(
        "--invalid", choices=["riscv", "x86", "arm"], help="of to_integer: whose, past the range"
    )
    op.add_argument(
        "--random", metavar="R", help="the random bits of a stochastic rounding, in place of a seed"
    )
    for add in (add_rounding, add_tininess, add_nan, add_seed, add_json):
        add(op)


def add_trace(commands: Any) -> None:
    command = add_command(
        commands,
        "trace",
        "every stage of one dot product of a unit",
        "widthwise trace 'mac(e4m3fn)' 1.5,0x38 3,2 0.5",
        "widthwise trace hopper.e4m3.f32 -k 32 --json",
    )
    command.add_argument("unit", metavar="UNIT")
    command.add_argument(
        "a", nargs="?", metavar="A", help="codes or values, commas between: 1.5,0x3c00"
    )
    command.add_argument("b", nargs="?", metavar="B")
    command.add_argument("c", nargs="?", metavar="C")
    command.add_argument(
        "-k", type=whole_number, default=4, help="random products, without A and B; default 4"
    )
    command.add_argument("--all", action="store_true", help="every row of a long trace")
    command.add_argument(
        "--vcd", metavar="FILE", help="a waveform of exported hardware to set beside the trace"
    )
    command.add_argument(
        "--folder", metavar="DIR", help="the export FILE is of; default: the one it lies in"
    )
    command.set_defaults(run=run_trace)
    add_seed(command)
    add_json(command)


# --- Running -------------------------------------------------------------------------------------


def run_registry(options: argparse.Namespace) -> int:
    show(options, options.registry.table())
    return 0


def run_info(options: argparse.Namespace) -> int:
    if checkpoint_info.is_checkpoint(options.text):
        return checkpoint_info.run(options)
    if os.path.exists(options.text):
        raise ValueError(
            f"FILE = {options.text}: a .safetensors file is wanted, or the *{INDEX} of several"
        )
    if is_affine(options.text):
        raise ValueError(
            f"FORMAT = {options.text}: integers with a scale, of which there are no facts but "
            "these; quantize --format takes it, and in Python ww.affine"
        )
    what = format_or_unit(options.text)
    if isinstance(what, BlockFormat):
        facts = what.facts()
        rows = [(key, str(value)) for key, value in facts.items()]
        show(options, facts, str(Table(["", "value"], rows)))
        return 0
    if isinstance(what, Format):
        show(options, what.facts(), str(what.table()))
        return 0
    name = preset_name(options.text, what)
    facts = {"unit": name or options.text, "canonical": str(what), **of_preset(name)}
    lines = [f"{key}: {value}" for key, value in facts.items() if key not in ("unit", "same as")]
    if "same as" in facts:
        lines.append(f"same as: {', '.join(facts['same as'])}")
    text = "\n".join([facts["unit"], str(what.table()), *lines])
    show(options, facts | {"fields": what.fields, "widths": what.widths()}, text)
    return 0


def preset_name(text: str, what: Unit) -> str:
    """The preset that was asked for, or, by another text, the first that is this unit."""
    asked = text.strip().lower()
    asked = RENAMED.get(asked, asked)
    return asked if asked in units else str(what) if str(what) in units else ""


def of_preset(name: str) -> dict[str, Any]:
    """How a preset is known, and which others are the same unit."""
    if not name:
        return {}
    others = [other for other, unit in units.items() if other != name and unit == units[name]]
    facts: dict[str, Any] = {"evidence": units.evidence(name), "source": units.source(name)}
    return facts | ({"same as": others} if others else {})


def format_or_unit(text: str) -> Format | BlockFormat | Unit:
    try:
        return Format(text)
    except ValueError as no_format:
        try:
            return Unit(text)
        except ValueError as no_unit:
            is_unit = re.search(r"[({.]", text) and not text.strip().lower().startswith("table(")
            if leads_on(no_unit) != leads_on(no_format):
                is_unit = leads_on(no_unit)
            raise (no_unit if is_unit else no_format) from None


def leads_on(why: ValueError) -> bool:
    """Whether an error knows more of a name than that there is none, and what there is."""
    return not re.search(r": no (format|unit) '.*'; write a |: no kind '.*'; there are ", str(why))


def operand(text: str, format: Format, name: str) -> Array:
    """A code in hexadecimal, or any other number as a value."""
    try:
        if re.fullmatch(r"0x[0-9a-f]+", text, re.IGNORECASE):
            return from_bits(int(text, 16), format)
        z, raised = array(text, format, nan="zero", flags=True)
    except ValueError as why:
        raise ValueError(re.sub(r"^(x|bits\[0\])", name, str(why))) from None
    if raised & INVALID and not format.has_nan:
        raise ValueError(
            f"{name} = {text}: {said(format)} has no such number, and no NaN; take a format "
            "that has one"
        )
    return z


def operands_of(options: argparse.Namespace, f: Format, count: int | None = None) -> list[Array]:
    """As many as the operation takes, where that is known here."""
    texts = options.operands
    if count is not None:
        check_count(options.name, count, texts)
    return [operand(text, f, chr(ord("A") + i)) for i, text in enumerate(texts)]


def refuse(options: argparse.Namespace, *names: str) -> None:
    """Options that the operation does not look at."""
    for name in names:
        if (value := getattr(options, name)) is not None:
            raise ValueError(f"--{name} = {value}: {options.name} rounds nothing; leave it out")


def refuse_invalid(options: argparse.Namespace) -> None:
    if options.invalid is not None:
        raise ValueError(f"--invalid = {options.invalid}: it is of to_integer; leave it out")


def value_and_code(x: Any) -> tuple[str, str]:
    if not isinstance(x, Array):
        return str(x), ""
    (code,) = integers(x.bits, x.format)
    return readable(code, x.format), f"0x{code:0{-(-x.format.width // 4)}x}"


def run_op(options: argparse.Namespace) -> int:
    f = as_format(options.format)
    name = options.name.lower()
    if name in OTHERS:
        return OTHERS[name](options, f)
    if name == "classify":
        refuse(options, "random", "to", "invalid")
        (x,) = operands_of(options, f, 1)
        return show_op(options, [x], _compare.classify(x), 0, None)
    if name in COMPARISONS:
        refuse(options, "random", "to", "invalid")
        operands = operands_of(options, f, 2)
        truth, flags = COMPARISONS[name](*operands, flags=True)
        return show_op(options, operands, truth, flags, None)
    check_known(name)
    if name in EXACT:
        refuse(options, "random")
    return run_rounding_op(options, operands_of(options, f))


EXACT = ("abs", "copysign", "negate", "next_down", "next_up")


def check_known(name: str) -> None:
    try:
        core.arity(name)
    except ValueError as why:
        raise ValueError(
            f"{why}, {', '.join(COMPARISONS)}, classify, {', '.join(OTHERS)}"
        ) from None


def given_bits(options: argparse.Namespace) -> int | None:
    """Of --random, an integer as Python writes it: 255, 0xff, 0b11."""
    if options.random is None:
        return None
    try:
        return int(options.random, 0)
    except ValueError:
        raise ValueError(
            f"--random = {options.random}: an integer is wanted, as 255, 0xff or 0b11111111"
        ) from None


def run_scaleb(options: argparse.Namespace, f: Format) -> int:
    if len(options.operands) != 2:
        raise ValueError(
            f"scaleb takes a number and an integer, {len(options.operands)} were given"
        )
    refuse_invalid(options)
    x, n = operand(options.operands[0], f, "A"), power(options.operands[1])
    how = {"rounding": options.rounding, "tininess": options.tininess, "nan": options.nan}
    how |= {"seed": options.seed, "random": given_bits(options)}
    result, flags = _elementwise.scaleb(x, n, format=options.to, flags=True, **how)
    return show_op(options, [x], result, flags, None)


def power(text: str) -> int:
    """Of two, an integer of 64 bits as Python writes it."""
    try:
        n = int(text) if text.strip("+-").isdecimal() else int(text, 0)
    except ValueError:
        raise ValueError(f"B = {text}: scaleb's is an integer, as -3 or 0x10") from None
    if not -(2**63) <= n < 2**63:
        raise ValueError(f"B = {text}: scaleb's has up to 64 bits")
    return n


COMPARISONS = {
    name: getattr(_compare, name)
    for name in dir(_compare)
    if re.fullmatch(r"(equal|less|greater|not_equal|unordered|total_order)\w*", name)
}
# TestFloat's names, of which le and lt signal.
COMPARISONS |= {
    "eq": _compare.equal,
    "le": _compare.less_equal_signaling,
    "lt": _compare.less_signaling,
    "eq_signaling": _compare.equal_signaling,
    "le_quiet": _compare.less_equal,
    "lt_quiet": _compare.less,
}


def run_to_integer(options: argparse.Namespace, f: Format) -> int:
    core.Env(options.rounding, options.tininess, options.nan)  # refuses words that are none
    (x,) = operands_of(options, f, 1)
    how = {"rounding": options.rounding, "seed": options.seed, "random": given_bits(options)}
    how["invalid"] = options.invalid or "riscv"
    with called("--to", within="dtype"):
        n, flags = _elementwise.to_integer(x, options.to or "int64", flags=True, **how)
    return show_op(options, [x], n, flags, None)


OTHERS = {"scaleb": run_scaleb, "to_integer": run_to_integer}


def run_rounding_op(options: argparse.Namespace, operands: list[Array]) -> int:
    refuse_invalid(options)
    how = {"rounding": options.rounding, "tininess": options.tininess, "nan": options.nan}
    how |= {"seed": options.seed, "random": given_bits(options)}
    to = options.to
    stages = trace_operation(options.name, *operands, format=to, **how)
    z, flags = _elementwise.compute(options.name, operands, to, flags=True, **how)
    return show_op(options, operands, z, flags, stages)


def show_op(
    options: argparse.Namespace,
    operands: list[Array],
    result: Any,
    flags: Any,
    stages: Trace | None,
) -> int:
    rows = [(name, *value_and_code(x)) for name, x in zip("abc", operands, strict=False)]
    rows.append(("result", *value_and_code(result)))
    facts = {
        "operation": options.name,
        "format": str(Format(options.format)),
        "rounding": options.rounding,
        "operands": [{"value": value, "code": c} for _, value, c in rows[:-1]],
        "value": rows[-1][1],
        "code": rows[-1][2],
        "flags": flag_names(flags),
        "stages": stages.table().records() if stages else [],
    }
    text = f"{Table(['', 'value', 'code'], [*rows, ('flags', flag_names(flags), '')])}"
    show(options, facts, f"{text}\n\n{stages.table()}" if stages else text)
    return 0


def run_trace(options: argparse.Namespace) -> int:
    u = Unit(options.unit)
    if (options.a is None) != (options.b is None):
        raise ValueError("B is missing; give A and B, or neither for random numbers")
    if not 0 <= options.k <= MOST_TRACED:
        raise ValueError(f"-k = {options.k}: it may be 0 to {MOST_TRACED:,}")
    if options.a is None:
        draw = np.random.default_rng(options.seed).standard_normal((2, options.k))
        a, b = array(draw[0], u.a), array(draw[1], u.b)
    else:
        a, b = listed(options.a, u.a, "A"), listed(options.b, u.b, "B")
        if len(a) != len(b):
            raise ValueError(
                f"A has {len(a)} and B {len(b)} numbers, which are multiplied in pairs"
            )
    c = None if options.c is None else operand(options.c, u.c, "C")
    scales: dict[str, Any] = {}
    if u.scale_format and u.scale_block:
        ones = array(np.ones(-(-len(a) // u.scale_block)), u.scale_format)
        scales = {"scale_a": ones, "scale_b": ones}
    stages = trace(u, a, b, c, seed=options.seed, **scales)
    if options.vcd is not None:
        return run_beside(options, stages)
    value, code = value_and_code(stages.result)
    result = {"value": value, "code": code}
    facts = {"unit": u.text, "canonical": str(u), "k": len(a), "result": result}
    facts["stages"] = stages.table().records()
    whole = f"{stages.title}\n{stages.table()}"
    show(options, facts, f"{whole if options.all else stages}\nresult: {value}  {code}")
    return 0


def run_beside(options: argparse.Namespace, stages: Trace) -> int:
    """Fails where a wire differs, as a bench does."""
    if not os.path.isfile(options.vcd):
        raise ValueError(f"--vcd = {options.vcd}: No such file; a simulator writes one")
    try:
        found = stages.beside(options.vcd, options.folder)
    except OSError as why:
        raise ValueError(f"--vcd = {options.vcd}: {why.strerror or why}") from None
    first = found.first and found.first._asdict()
    facts = {"module": found.module, "wires": found.table().records(), "first": first}
    show(options, facts, f"{found}")
    return 0 if found.first is None else 1


def listed(text: str, format: Format, name: str) -> Array:
    parts = text.split(",")
    places = [name] if len(parts) == 1 else [f"{name}[{i}]" for i in range(len(parts))]
    numbers = [operand(x.strip(), format, at) for x, at in zip(parts, places, strict=True)]
    return from_bits(np.stack([x.bits for x in numbers]), format)


def run_doctor(options: argparse.Namespace) -> int:
    facts = dict(findings())
    show(options, facts)
    return 0
