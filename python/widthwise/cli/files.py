"""Commands on files: dot, matmul, export."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import Array
from .._create import array, from_bits
from .._dot import dot, matmul
from .._export import Exported, in_words, written
from .._format import Format
from .._format_texts import said
from .._spelling import as_option
from .._unit import Unit, titled
from .output import add_command, add_json, add_rounding, add_seed, show, whole_number
from .store import check_other, load_array, save
from .terminal import complain

MOST_PRINTED = 1000  # results


def add_commands(commands: Any) -> None:
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
        "widthwise export 'requantize(ruy, multiplier=port)' out/sums --name sums --vectors 10",
    )
    command.add_argument(
        "unit",
        metavar="UNIT",
        help="or an operation, as 'add(e4m3fn)'; the unit fma is 'fma(binary16, sum=binary16)'; or "
        "a block's quantiser, as 'blocks(nvfp4, tensor_scale=0.25)', or "
        "'requantize(ruy, multiplier=0.25)', where port may stand for a number",
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
        "--lanes",
        type=whole_number,
        metavar="K",
        help="products of a whole dot product, not of a block",
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
        "--vectors", type=whole_number, default=1000, metavar="N", help="at random; default: 1000"
    )
    command.add_argument(
        "--model", action="store_true", help="copy the golden model's library, too"
    )
    command.add_argument(
        "--force", action="store_true", help="write anew what you have changed in DIR"
    )
    command.set_defaults(run=run_export)
    for add in (add_seed, add_json):
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


def operand(
    argument: str, path: str | None, format: Format | None, options: argparse.Namespace
) -> Array | None:
    """Codes, or values rounded to the format the unit wants, by random bits of their own."""
    if path is None or format is None:
        return None
    a = load_array(argument, path)
    codes = isinstance(a, np.ndarray) and a.dtype.kind == "u"
    if codes and a.dtype != format.dtype:
        raise ValueError(
            f"{argument} = {path}: it holds {a.dtype}; codes of {said(format)} are {format.dtype}"
        )
    try:
        return from_bits(a, format) if codes else array(a, format, **rounding_of(argument, options))
    except (ValueError, TypeError) as why:
        raise ValueError(f"{argument} = {path}: {why}") from None


def rounding_of(argument: str, options: argparse.Namespace) -> dict[str, Any]:
    place = ("A", "B", "--c", "--scale-a", "--scale-b").index(argument)
    return {"rounding": options.rounding, "seed": (options.seed + place) % 2**64}


def inputs_of(options: argparse.Namespace) -> dict[str, str]:
    """The files that are read, by the arguments that name them."""
    named = {"A": options.a, "B": options.b, "--c": options.c}
    named |= {"--scale-a": options.scale_a, "--scale-b": options.scale_b}
    return {argument: path for argument, path in named.items() if path is not None}


def run_product(options: argparse.Namespace, compute: Callable[..., Any]) -> int:
    u = Unit(options.unit)
    if options.out:
        check_other("--out", options.out, inputs_of(options))
    settings = {
        "c": operand("--c", options.c, u.c, options),
        "scale_a": operand("--scale-a", options.scale_a, u.scale_format, options),
        "scale_b": operand("--scale-b", options.scale_b, u.scale_format, options),
    }
    a = operand("A", options.a, u.a, options)
    b = operand("B", options.b, u.b, options)
    z = compute(a, b, unit=u, seed=options.seed, **settings)
    if options.out:
        save("--out", options.out, z.to_float64() if options.values else z)
    facts = {"unit": u.text, "canonical": str(u), "format": str(z.format), "shape": list(z.shape)}
    text = f"{tuple(z.shape)} of {z.format}, {titled(u)}"
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
        made = in_words(as_option, lambda: exported(options))
    except OSError as why:
        raise ValueError(f"DIR = {options.directory}: {why.strerror or why}") from None
    left_out = made.no_rtl if options.rtl is None else ""
    for path in made.kept:
        complain(f"kept: {path}, which was changed since the last export (--force writes it anew)")
    if left_out:
        complain(f"left out: RTL, its benches and vectors; {left_out}")
    kept = [str(path) for path in made.kept]
    facts = {"files": [str(path) for path in made], "kept": kept, "no_rtl": made.no_rtl}
    show(options, facts, "\n".join(map(str, made)))
    return 0


def exported(options: argparse.Namespace) -> Exported:
    return written(
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
        force=options.force,
    )
