"""Tables on standard output, as text or as JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from typing import Any

from .._table import Table
from .terminal import emphasised


def add_command(commands: Any, name: str, what: str, *examples: str) -> Any:
    """A command whose help ends in examples. Tests run them, beside a.npy, b.npy and x.npz."""
    command = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(parser=command)
    return command


def whole_number(text: str) -> int:
    """An option's value."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number; write one, as 16") from None


def number(text: str) -> float:
    """An option's value."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number; write one, as 0.5") from None


class Once(argparse.Action):
    """An option that has one value: the second is not taken in silence."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest)
        if before is not None:
            parser.error(f"{option} = {before} and {option} = {values}: give one")
        setattr(namespace, self.dest, values)


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")


def show(options: argparse.Namespace, content: Table | Mapping[str, Any], text: str = "") -> None:
    """A table; or facts, which without JSON print as `text`, or a line each."""
    if isinstance(content, Table):
        print(as_json(content.records()) if options.json else emphasised(str(content)))
    elif options.json:
        print(as_json(content))
    else:
        print(emphasised(text) or Table(["", ""], [(key, value) for key, value in content.items()]))


def as_json(content: Any) -> str:
    """JSON has no infinity and no NaN; they are texts there, 'inf' and 'nan'."""
    return json.dumps(spelled(content), indent=1, allow_nan=False)


def spelled(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: spelled(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [spelled(value) for value in content]
    unwritten = isinstance(content, float) and not math.isfinite(content)
    return str(content) if unwritten else content


def add_rounding(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rounding", default="rne", metavar="R", help="rne (default), rtz, sr8, …"
    )


def add_tininess(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tininess", default="after", metavar="T", help="after (default), before or delivered"
    )


def add_nan(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--nan",
        default="canonical",
        metavar="N",
        help="canonical (default), negative, propagate, x86",
    )


def add_seed(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed", type=whole_number, default=0, help="of random numbers; default 0"
    )
