"""Commands on TestFloat's lines: verify, vectors."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .. import _widthwise as core
from .._design_vectors import DesignVectors, is_design
from .._flopoco import FlopocoVectors
from .._format_texts import said
from .._settings import checked_seed
from .._vector_lines import VectorLines
from .._verify import Verdict, check_vectors
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

BATCH = 20_000  # vectors written at a time


def add_commands(commands: Any) -> None:
    verify = add_command(
        commands,
        "verify",
        "check vectors from stdin: hexadecimal operands, result, flags a line; of stochastic "
        "rounding its random bits before the result; a design draws them by --seed",
        "widthwise vectors --op add --format e5m2 -n 99 | widthwise verify --op add --format e5m2",
    )
    add_task(verify)
    verify.add_argument(
        "--nan-bits",
        action="store_true",
        help="NaN results must agree in every bit; they must where --nan is given",
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
        type=whole_number,
        default=0,
        metavar="N",
        help="clocks: a line's result and flags are those of the operands N lines before it",
    )
    verify.set_defaults(run=run_verify)
    add_seed(verify)
    add_json(verify)

    vectors = add_command(
        commands,
        "vectors",
        "write vectors, random and directed, to stdout",
        "widthwise vectors --op mulAdd --format e4m3fn -n 5",
        "widthwise vectors --op convert --format e5m10 --to i32 --rounding rtz -n 5 --seed 1",
        "widthwise vectors --op add --format e5m10 --rounding sr8 -n 5",
        "widthwise vectors --op mul --format e8m23 --words flopoco -n 5",
    )
    add_task(vectors)
    vectors.add_argument("-n", type=whole_number, default=1000, help="how many; default 1000")
    vectors.set_defaults(run=run_vectors)
    add_seed(vectors)


def add_task(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--op",
        required=True,
        help="add sub mul div rem sqrt mulAdd eq le lt roundToInt convert …; or a whole design: a "
        "unit, as hopper.e4m3.f32, or an operation of mixed formats, as 'add(e4m3fn, b=e5m2)'",
    )
    command.add_argument(
        "--format",
        default="",
        metavar="F",
        help="of operands, where OP does not tell; convert: or i32 ui32 i64 ui64",
    )
    command.add_argument(
        "-k",
        type=whole_number,
        metavar="K",
        help="products a line, of a unit; default: its lanes, or 16",
    )
    command.add_argument(
        "--to", default="", metavar="G", help="of results, if not F; convert: or i32 …"
    )
    command.add_argument(
        "--words",
        default="ieee",
        choices=["ieee", "flopoco"],
        help="flopoco: lines have FloPoCo's words, of the wE and wF of F, and no flags",
    )
    add_rounding(command)
    add_tininess(command)
    add_nan(command)
    command.set_defaults(rounding=None, tininess=None, nan=None)  # a design says them itself


def environment(options: argparse.Namespace) -> tuple[str, str, str]:
    return options.rounding or "rne", options.tininess or "after", options.nan or "canonical"


def lines_of(options: argparse.Namespace) -> DesignVectors | FlopocoVectors | None:
    """What --op names by itself, or what words are of; None of codes of --format."""
    if is_design(options.op):
        if options.words != "ieee":
            raise ValueError(
                f"--words = {options.words}: {said(options.op)} is a design, of codes; take an "
                "operation"
            )
        if options.k is not None and options.k < 1:
            raise ValueError(f"-k = {options.k}: it may be 1 or more")
        for name in ("format", "to"):
            if text := getattr(options, name):
                raise ValueError(
                    f"--{name} = {said(text)}: {said(options.op)} has its formats; take none"
                )
        for name in ("rounding", "tininess", "nan"):
            if text := getattr(options, name):
                raise ValueError(
                    f"--{name} = {text}: {said(options.op)} says its own, as 'add(e5m10, "
                    "out=e5m2:rtz, tininess=before, nan=x86)'; take none"
                )
        return DesignVectors(options.op, options.k, getattr(options, "nan_bits", False))
    if options.k is not None:
        raise ValueError(f"-k = {options.k}: {said(options.op)} is an operation; take none")
    if not options.format:
        raise ValueError(
            f"--format: what are the operands of {said(options.op)}? Give one, as e5m10"
        )
    if options.words == "ieee":
        return None
    for name in ("tininess", "nan"):
        if text := getattr(options, name):
            raise ValueError(f"--{name} = {said(text)}: FloPoCo's words leave no choice; take none")
    return FlopocoVectors(options.op, options.format, options.to, options.rounding or "rne")


def verdict_of(options: argparse.Namespace) -> Verdict:
    lines, flags = sys.stdin.buffer, options.flags == "yes"
    nan_bits = options.nan_bits or options.nan is not None
    found: VectorLines | None = lines_of(options)
    if found:
        if options.int_bits or options.inexact != "either":
            raise ValueError(
                f"--int-bits and --inexact are of integers, and {said(found.text)} has none"
            )
        flags = flags and options.words == "ieee"
        return found.check(lines, "stdin", flags, options.latency, checked_seed(options.seed))
    task = (options.op, options.format, options.to, *environment(options))
    rules = (nan_bits, options.int_bits, options.inexact)
    return check_vectors(task, lines, "stdin", *rules, flags=flags, latency=options.latency)


def run_verify(options: argparse.Namespace) -> int:
    if options.latency < 0:
        raise ValueError(f"--latency = {options.latency}: it may be 0 or more")
    verdict = verdict_of(options)
    for failure in verdict.failures:
        print(failure, file=sys.stderr)
    if verdict.errors > len(verdict.failures):
        print(f"… {verdict.errors - len(verdict.failures)} more", file=sys.stderr)
    facts = {"vectors": verdict.vectors, "errors": verdict.errors, "failures": verdict.failures}
    told = "" if options.flags == "yes" and options.words == "ieee" else "; flags are not compared"
    show(options, facts, f"{verdict.vectors} vectors, {verdict.errors} errors{told}")
    return 0 if verdict else 1


def run_vectors(options: argparse.Namespace) -> int:
    if options.n < 0:
        raise ValueError(f"-n = {options.n}: it may be 0 or more")
    found, seed = lines_of(options), checked_seed(options.seed)
    if found:
        sys.stdout.writelines(found.made(options.n, seed))
    else:
        env = core.Env(*environment(options))
        task = core.VectorTask(options.op, options.format, options.to, env)
        for first in range(0, options.n, BATCH):
            count = min(BATCH, options.n - first)
            sys.stdout.write(core.make_vectors(task, seed, first, count))
    sys.stdout.flush()
    return 0
