"""The command sweep: errors of many units."""

from __future__ import annotations

import argparse
import re
from collections.abc import Container
from typing import Any

import numpy as np

from .._metrics import ALL_METRICS, USUAL
from .._sweep import Grid, grid, sweep
from .output import add_command, add_json, add_rounding, add_seed, show
from .store import load_array, write
from .terminal import progress


def add_commands(commands: Any) -> None:
    command = add_command(
        commands,
        "sweep",
        "one matrix product by many units, against the exact one",
        "widthwise sweep 'mac(e5m10)' hopper.f16.f32 --random 16,64,16",
        "widthwise sweep 'mac(e{e}m{m})' --over e=4,5 --over m=3:10 --random 8,64,8 --sort exact",
        "widthwise sweep 'mac(e5m{m})' --over m=2:10 --a a.npy --b b.npy --csv found.csv",
    )
    command.add_argument("units", metavar="UNIT", nargs="+", help="one with {names} to be filled")
    command.add_argument(
        "--over", metavar="NAME=VALUES", action="append", default=[], help="e=4,5 or m=2:10"
    )
    command.add_argument("--a", metavar="FILE", help=".npy of values, (m, k)")
    command.add_argument("--b", metavar="FILE", help=".npy of values, (k, n)")
    command.add_argument("--random", metavar="M,K,N", help="random numbers of these shapes instead")
    command.add_argument(
        "--metric",
        "--metrics",
        action="append",
        choices=list(ALL_METRICS),
        help=f"default: {' '.join(USUAL)}",
    )
    command.add_argument("--sort", metavar="METRIC", help="the least first; of exact the greatest")
    command.add_argument("--csv", metavar="FILE", help="write the table there, too")
    command.add_argument("--engine", default="auto", help="default: auto, the fastest")
    command.set_defaults(run=run_sweep)
    for option in (add_rounding, add_seed, add_json):
        option(command)


# --- Running -------------------------------------------------------------------------------------


def run_sweep(options: argparse.Namespace) -> int:
    metrics = options.metric or list(USUAL)
    if options.sort and options.sort not in metrics:
        raise ValueError(f"--sort = {options.sort}: it may be one of {', '.join(metrics)}")
    units = swept_units(options)
    a, b = swept_values(options)
    with progress("sweep") as tell:
        found = sweep(
            units,
            a,
            b,
            metrics=metrics,
            rounding=options.rounding,
            engine=options.engine,
            seed=options.seed,
            progress=tell,
        )
    if options.sort:
        found = found.ordered(options.sort)
    if options.csv:
        lines = [",".join(f'"{cell}"' for cell in row) for row in (found.columns, *found.rows)]
        write("--csv", options.csv, ("\n".join(lines) + "\n").encode())
    show(options, found)
    return 0


def swept_units(options: argparse.Namespace) -> list[str] | Grid:
    if not options.over:
        for text in options.units:
            check_filled(text, {})
        return list(options.units)
    if len(options.units) != 1:
        raise ValueError(
            f"--over fills one UNIT, as 'mac(e{{e}}m{{m}})'; {len(options.units)} were given"
        )
    text, filled = options.units[0], [filling(given) for given in options.over]
    values = dict(filled)
    for name, _ in filled:
        if [other for other, _ in filled].count(name) > 1:
            raise ValueError(f"--over: {name} is given twice; list its values, as {name}=4,5,8")
        if "{" + name not in text:
            raise ValueError(
                f"--over {name}=…: {text} has no {{{name}}}; write it where the values go"
            )
    check_filled(text, values)
    return grid(text, **values)


def check_filled(text: str, values: Container[str]) -> None:
    if missing := [name for name in re.findall(r"{(\w+)", text) if name not in values]:
        raise ValueError(
            f"{text} has {{{missing[0]}}}, and no --over fills it; add --over {missing[0]}=4,5"
        )


def filling(text: str) -> tuple[str, list[Any]]:
    """e=4,5 or m=2:10, both ends included, or r=rne,rtz."""
    name, equals, values = text.partition("=")
    first, colon, last = values.partition(":")
    if colon and first.isdigit() and last.isdigit():
        if int(first) > int(last):
            raise ValueError(f"--over {text}: the least comes first, as {name}={last}:{first}")
        listed: list[Any] = list(range(int(first), int(last) + 1))
    else:
        listed = [value for value in values.split(",") if value]
    if not (name.isidentifier() and equals and listed):
        raise ValueError(f"--over {text}: NAME=VALUES is wanted, as e=4,5 or m=2:10")
    return name, listed


def swept_values(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    files = (options.a, options.b)
    if options.random is None and None not in files:
        return load_array("--a", options.a), load_array("--b", options.b)
    if options.random is None or files != (None, None):
        raise ValueError("--a and --b, or --random M,K,N alone, name what is multiplied")
    sizes = [int(size) if size.isdigit() else 0 for size in options.random.split(",")]
    if len(sizes) != 3 or min(sizes) < 1:
        raise ValueError(f"--random = {options.random}: three sizes are wanted, as 16,64,16")
    m, k, n = sizes
    rng = np.random.default_rng(options.seed)
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))
