"""Commands that measure: sweep (errors of many units), bench (rates of this machine)."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._create import array
from .._dot import matmul
from .._elementwise import add
from .._engines import explain
from .._metrics import ALL_METRICS, USUAL
from .._sweep import Grid, grid, sweep
from .._table import Table
from .._unit import Unit
from .output import add_command, add_json, add_rounding, add_seed, number, show, whole_number
from .store import load_array, write
from .terminal import progress

UNITS = ["mac(e5m10)", "mac(e8m7)", "mac(binary32)", "fma(e5m10)", "kulisch(e5m10)"]
UNITS += ["hopper.e4m3.f32", "hopper.f16.f32"]
ELEMENTS = 1 << 20


def add_commands(commands: Any) -> None:
    add_sweep(commands)
    add_bench(commands)


def add_sweep(commands: Any) -> None:
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
        "--metric", action="append", choices=list(ALL_METRICS), help=f"default: {' '.join(USUAL)}"
    )
    command.add_argument("--sort", metavar="METRIC", help="the least first; of exact the greatest")
    command.add_argument("--csv", metavar="FILE", help="write the table there, too")
    command.add_argument("--engine", default="auto", help="default: auto, the fastest")
    command.set_defaults(run=run_sweep)
    for option in (add_rounding, add_seed, add_json):
        option(command)


def add_bench(commands: Any) -> None:
    command = add_command(
        commands,
        "bench",
        "how fast this machine computes, and with which engine",
        "widthwise bench 'mac(e4m3fn)' 'kulisch(e4m3fn)' --size 32 --seconds 0.01",
        "widthwise bench --json",
    )
    command.add_argument("units", metavar="UNIT", nargs="*", help="default: some of each kind")
    command.add_argument(
        "--size", type=whole_number, default=256, help="of square matrices; default 256"
    )
    command.add_argument("--seconds", type=number, default=0.3, help="a figure; default 0.3")
    command.add_argument("--threads", type=whole_number, help="default: all of the machine's")
    command.set_defaults(run=run_bench)
    add_json(command)


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
        found = found.best(options.sort, len(found))
    if options.csv:
        lines = [",".join(f'"{cell}"' for cell in row) for row in (found.columns, *found.rows)]
        write("--csv", options.csv, ("\n".join(lines) + "\n").encode())
    show(options, found)
    return 0


def swept_units(options: argparse.Namespace) -> list[str] | Grid:
    if not options.over:
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
    if missing := [name for name in re.findall(r"{(\w+)", text) if name not in values]:
        raise ValueError(
            f"{text} has {{{missing[0]}}}, and no --over fills it; add --over {missing[0]}=4,5"
        )
    return grid(text, **values)


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


def run_bench(options: argparse.Namespace) -> int:
    if options.size < 1 or not options.seconds > 0:
        name = "--size" if options.size < 1 else "--seconds"
        raise ValueError(f"{name}: more than 0 is wanted")
    units = [Unit(text) for text in options.units or UNITS]
    rows = []
    with progress("bench") as tell:
        for i, unit in enumerate(units):
            rows.append(rate_of_unit(unit, options))
            tell(i + 1, len(units) + 2)
        rows += rates_of_elements(options.seconds)
    show(options, Table(["work", "engine", "rate", "of"], rows))
    return 0


def rate_of_unit(unit: Unit, options: argparse.Namespace) -> tuple[str, str, float, str]:
    n = options.size
    draw = np.random.default_rng(0).standard_normal((2, n, n))
    a, b = array(draw[0], unit.a), array(draw[1], unit.b)
    scales: dict[str, Any] = {}
    if unit.scale_format and unit.scale_block:
        blocks = -(-n // unit.scale_block)
        scales = {
            "scale_a": array(np.ones((n, blocks)), unit.scale_format),
            "scale_b": array(np.ones((blocks, n)), unit.scale_format),
        }
    seconds = least_seconds(
        lambda: matmul(a, b, unit=unit, threads=options.threads, **scales), options.seconds
    )
    engine = explain(unit, n, n, n).engine
    return f"{unit.text}, {n} x {n} x {n}", engine, n**3 / seconds / 1e6, "million products/s"


def rates_of_elements(seconds: float) -> list[tuple[str, str, float, str]]:
    numbers = np.random.default_rng(0).standard_normal(ELEMENTS).astype(np.float32)
    x = array(numbers, "e5m10")
    works = {
        "binary32 to e5m10": lambda: array(numbers, "e5m10"),
        "e5m10 + e5m10": lambda: add(x, x),
    }
    return [
        (name, "-", ELEMENTS / least_seconds(work, seconds) / 1e6, "million elements/s")
        for name, work in works.items()
    ]


def least_seconds(work: Callable[[], object], budget: float) -> float:
    """The least of as many runs as fit the budget; one at least."""
    best, end = float("inf"), time.perf_counter() + budget
    while best == float("inf") or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best
