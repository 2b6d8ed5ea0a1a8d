"""Commands on TestFloat's lines: verify, vectors."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .. import _widthwise as core
from .._verify import check_vectors
from .output import add_command, add_json, add_rounding, add_seed, add_tininess, show

BATCH = 20_000  # vectors written at a time


def add_commands(commands: Any) -> None:
    verify = add_command(
        commands,
        "verify",
        "check vectors from stdin: hexadecimal operands, result, flags a line",
        "widthwise vectors --op add --format e5m2 -n 99 | widthwise verify --op add --format e5m2",
    )
    add_task(verify)
    verify.add_argument(
        "--nan-bits", action="store_true", help="NaN results must agree in every bit"
    )
    verify.add_argument(
        "--int-bits", action="store_true", help="so must the integers of invalid conversions"
    )
    verify.add_argument(
        "--inexact",
        default="either",
        choices=["either", "raised", "never"],
        help="whether rounding to an integer raises NX; default: as most of the vectors have it",
    )
    verify.add_argument(
        "--flags",
        default="yes",
        choices=["yes", "no"],
        help="no: lines have no flags, and none are compared",
    )
    verify.add_argument(
        "--latency",
        type=int,
        default=0,
        metavar="N",
        help="clocks: a line's result and flags are those of the operands N lines before it",
    )
    verify.set_defaults(run=run_verify)
    add_json(verify)

    vectors = add_command(
        commands,
        "vectors",
        "write vectors, random and directed, to stdout",
        "widthwise vectors --op mulAdd --format e4m3fn -n 5",
        "widthwise vectors --op convert --format e5m10 --to i32 --rounding rtz -n 5 --seed 1",
    )
    add_task(vectors)
    vectors.add_argument("-n", type=int, default=1000, help="how many; default 1000")
    vectors.set_defaults(run=run_vectors)
    add_seed(vectors)


def add_task(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--op", required=True, help="add sub mul div rem sqrt mulAdd eq le lt roundToInt convert …"
    )
    command.add_argument(
        "--format", required=True, metavar="F", help="of operands; convert: or i32 ui32 i64 ui64"
    )
    command.add_argument(
        "--to", default="", metavar="G", help="of results, if not F; convert: or i32 …"
    )
    add_rounding(command)
    add_tininess(command)


def run_verify(options: argparse.Namespace) -> int:
    task = (options.op, options.format, options.to, options.rounding, options.tininess)
    if options.latency < 0:
        raise ValueError(f"--latency = {options.latency}: it may be 0 or more")
    rules = (options.nan_bits, options.int_bits, options.inexact)
    flags = options.flags == "yes"
    verdict = check_vectors(
        task, sys.stdin.buffer, "stdin", *rules, flags=flags, latency=options.latency
    )
    for failure in verdict.failures:
        print(failure, file=sys.stderr)
    if verdict.errors > len(verdict.failures):
        print(f"… {verdict.errors - len(verdict.failures)} more", file=sys.stderr)
    facts = {"vectors": verdict.vectors, "errors": verdict.errors, "failures": verdict.failures}
    told = "" if flags else "; flags are not compared"
    show(options, facts, f"{verdict.vectors} vectors, {verdict.errors} errors{told}")
    return 0 if verdict else 1


def run_vectors(options: argparse.Namespace) -> int:
    env = core.Env(options.rounding, options.tininess)
    task = core.VectorTask(options.op, options.format, options.to, env)
    if options.n < 0:
        raise ValueError(f"-n = {options.n}: it may be 0 or more")
    for first in range(0, options.n, BATCH):
        count = min(BATCH, options.n - first)
        sys.stdout.write(core.make_vectors(task, options.seed, first, count))
    sys.stdout.flush()
    return 0
