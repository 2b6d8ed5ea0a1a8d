"""Commands on files: quantize, dot, matmul, export."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import Array
from .._create import array, from_bits
from .._dot import dot, matmul
from .._export import export
from .._format import Format
from .._unit import Unit
from .output import add_command, add_json, add_rounding, add_seed, show
from .store import load, load_array, save
from .terminal import progress

MOST_PRINTED = 1000  # results


def add_commands(commands: Any) -> None:
    add_quantize(commands)
    add_product(commands, "dot", dot, "along the last axis")
    add_product(commands, "matmul", matmul, "of matrices")
    add_export(commands)


def add_export(commands: Any) -> None:
    command = add_command(
        commands,
        "export",
        "headers, RTL, test benches and vectors of a unit or operation",
        "widthwise export hopper.e4m3.f32 out/dot --name dot --vectors 10",
        "widthwise export 'multiply(e4m3fn)' out/mul --name mul_e4m3 --vectors 10 --json",
    )
    command.add_argument(
        "unit",
        metavar="UNIT",
        help="or an operation, as 'add(e4m3fn)'; the unit fma is 'fma(binary16, sum=binary16)'",
    )
    command.add_argument("directory", metavar="DIR")
    command.add_argument("--name", help="of the module; default: from UNIT's text")
    command.add_argument(
        "--rtl",
        action=argparse.BooleanOptionalAction,
        help="RTL or an error, or none; default: where it is built",
    )
    command.add_argument(
        "--rounding-port", action="store_true", help="round as a port says, not as UNIT does"
    )
    command.add_argument(
        "--lanes", type=int, metavar="K", help="products of a whole dot product, not of a block"
    )
    command.add_argument(
        "--multiplier", metavar="NAME", help="in place of a unit's exact product, as drum6"
    )
    command.add_argument(
        "--pipeline",
        type=lambda text: text.split(","),
        metavar="STAGES",
        help="registers behind these, as product,round; default: no clock",
    )
    command.add_argument(
        "--accumulate", action="store_true", help="keep a running sum, a block after the other"
    )
    command.add_argument(
        "--generator", action="store_true", help="make random words in the module, as the simulator"
    )
    command.add_argument(
        "--vectors", type=int, default=1000, metavar="N", help="at random; default: 1000"
    )
    command.add_argument(
        "--model", action="store_true", help="copy the golden model's library, too"
    )
    command.set_defaults(run=run_export)
    for add in (add_seed, add_json):
        add(command)


def add_quantize(commands: Any) -> None:
    command = add_command(
        commands,
        "quantize",
        "numbers of a file to codes of a format",
        "widthwise quantize a.npy codes.npy --format e4m3fn",
        "widthwise quantize x.npz values.npz --format e5m10 --values --rounding rtz",
        "echo 0.1 1/3 0x1.8p-7 | widthwise quantize - codes.npy --format bfloat16 --json",
    )
    command.add_argument(
        "source", metavar="IN", help=".npy, .npz, .safetensors; - is stdin: .npy, .npz, or numbers"
    )
    command.add_argument(
        "target", metavar="OUT", help=".npy; of several arrays .npz or .safetensors"
    )
    command.add_argument("--format", required=True, metavar="F")
    command.add_argument("--nan", choices=["zero"], help="zero: NaN becomes +0 where F has no NaN")
    command.add_argument(
        "--values", action="store_true", help="write the rounded values as float64"
    )
    command.set_defaults(run=run_quantize)
    for add in (add_rounding, add_seed, add_json):
        add(command)


def add_product(commands: Any, name: str, compute: Callable[..., Any], what: str) -> None:
    command = add_command(
        commands,
        name,
        f"a product {what}, as a unit computes it",
        f"widthwise {name} a.npy b.npy --unit 'mac(e5m10)'",
        f"widthwise {name} a.npy b.npy --unit hopper.e4m3.f32 --out z.npy --json",
    )
    command.add_argument(
        "a", metavar="A", help=".npy: codes (unsigned) or values, which are rounded"
    )
    command.add_argument("b", metavar="B")
    command.add_argument("--unit", required=True, metavar="U")
    for option in ("--c", "--scale-a", "--scale-b"):
        command.add_argument(option, metavar="FILE")
    command.add_argument("--out", metavar="FILE", help=".npy for the codes; else they are printed")
    command.add_argument("--values", action="store_true", help="write or print values, not codes")
    command.set_defaults(run=lambda options: run_product(options, compute))
    for add in (add_rounding, add_seed, add_json):
        add(command)


# --- Running -------------------------------------------------------------------------------------


def quantized(options: argparse.Namespace, f: Format, name: str, x: Any) -> tuple[Any, Any]:
    """The codes, or their values, and a row of what rounding did."""
    try:
        z, flags = array(
            x, f, rounding=options.rounding, nan=options.nan, flags=True, seed=options.seed
        )
    except (ValueError, TypeError) as why:
        raise ValueError(f"IN = {options.source}{name and f', {name}'}: {why}") from None
    counts = [int(np.count_nonzero(flags & bit)) for bit in (1, 2, 4)]
    return (z.to_float64() if options.values else z), (name or "-", z.size, *counts)


def run_quantize(options: argparse.Namespace) -> int:
    f = Format(options.format)
    source = load("IN", options.source)

    named = source if isinstance(source, dict) else {"": source}
    done: dict[str, Any] = {}
    with progress("quantize") as tell:
        for name, x in named.items():
            done[name] = quantized(options, f, name, x)
            tell(len(done), len(named))
    results = {name: content for name, (content, _) in done.items()}
    save("OUT", options.target, results if isinstance(source, dict) else results[""])
    rows = [row for _, row in done.values()]
    columns = ["array", "numbers", "inexact", "underflow", "overflow"]
    facts = {"format": str(f), "arrays": [dict(zip(columns, row, strict=True)) for row in rows]}
    lines = [
        f"{name}: {n} numbers as {f}; {x} inexact, {u} underflow, {o} overflow"
        for name, n, x, u, o in rows
    ]
    show(options, facts, "\n".join(lines))
    return 0


def operand(argument: str, path: str | None, format: Format | None, rounding: str) -> Array | None:
    """Codes, or values rounded to the format the unit wants."""
    if path is None or format is None:
        return None
    a = load_array(argument, path)
    codes = isinstance(a, np.ndarray) and a.dtype.kind == "u"
    if codes and a.dtype != format.dtype:
        raise ValueError(
            f"{argument} = {path}: it holds {a.dtype}; codes of {format} are {format.dtype}"
        )
    try:
        return from_bits(a, format) if codes else array(a, format, rounding=rounding)
    except (ValueError, TypeError) as why:
        raise ValueError(f"{argument} = {path}: {why}") from None


def run_product(options: argparse.Namespace, compute: Callable[..., Any]) -> int:
    u = Unit(options.unit)
    settings = {
        "c": operand("--c", options.c, u.c, options.rounding),
        "scale_a": operand("--scale-a", options.scale_a, u.scale_format, options.rounding),
        "scale_b": operand("--scale-b", options.scale_b, u.scale_format, options.rounding),
    }
    a = operand("A", options.a, u.a, options.rounding)
    b = operand("B", options.b, u.b, options.rounding)
    z = compute(a, b, unit=u, seed=options.seed, **settings)
    if options.out:
        save("--out", options.out, z.to_float64() if options.values else z)
    facts = {"unit": str(u), "format": str(z.format), "shape": list(z.shape)}
    text = f"{tuple(z.shape)} of {z.format}, {u}"
    if not options.out:
        if z.size > MOST_PRINTED:
            raise ValueError(f"--out: {z.size} results are too many to print; name a .npy file")
        content = z.to_float64() if options.values else z.bits
        facts["values" if options.values else "codes"] = content.tolist()
        text += f"\n{z if options.values else content}"
    show(options, facts, text)
    return 0


def run_export(options: argparse.Namespace) -> int:
    try:
        paths = export(
            options.unit,
            options.directory,
            options.name,
            rtl=options.rtl,
            rounding_port=options.rounding_port,
            lanes=options.lanes,
            multiplier=options.multiplier,
            pipeline=options.pipeline,
            accumulate=options.accumulate,
            generator=options.generator,
            vectors=options.vectors,
            seed=options.seed,
            model=options.model,
        )
    except OSError as why:
        raise ValueError(f"DIR = {options.directory}: {why.strerror or why}") from None
    show(options, {"files": [str(path) for path in paths]}, "\n".join(map(str, paths)))
    return 0
