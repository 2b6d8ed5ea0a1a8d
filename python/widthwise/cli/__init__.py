"""The command line: widthwise COMMAND …"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NoReturn

from .. import __version__ as version
from .._spelling import told_as_options
from .._unit import RenamedWarning
from .._verify import MissingMpfr
from . import bench, completion, files, measure, quantize, show, vectors
from .output import add_command
from .terminal import complain

BAD = (ValueError, TypeError, KeyError, ArithmeticError, ImportError, OSError, MissingMpfr)
# Arguments of Python's that nothing else bears the name of: no key of a text, no field of a line.
SAME = ("device", "engine", "latency", "random", "rounding", "seed", "threads", "tininess")
DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """One line for a wrong argument, not the whole usage. -0x1p-7 and -inf are numbers to it."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

    def error(self, message: str) -> NoReturn:
        if message.startswith("the following arguments are required"):
            message += self.call()
        raise ValueError(f"{message} (see {self.prog} --help)")

    def call(self) -> str:
        """The first of a command's examples."""
        _, _, examples = (self.epilog or "").partition("examples:\n  ")
        return f"; a call is {examples.splitlines()[0]}" if examples else ""


def parser() -> Parser:
    top = Parser(
        prog="widthwise",
        description="Bit-accurate arithmetic at any width.",
        epilog="widthwise help COMMAND shows a command's arguments and examples.",
    )
    top.add_argument("--version", action="version", version=f"widthwise {version}")
    top.set_defaults(run=lambda options: run_help(top), parser=None)
    commands = top.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for module in (show, quantize, files, vectors, measure, bench, completion):
        module.add_commands(commands)
    add_help(commands, top)
    return top


def add_help(commands: Any, top: Parser) -> None:
    command = add_command(
        commands,
        "help",
        "this list, or a command's arguments and examples",
        "widthwise help",
        "widthwise help op",
    )
    command.add_argument("command", metavar="COMMAND", nargs="?")
    command.set_defaults(run=lambda options: run_help(top, commands.choices, options.command))


def run_help(top: Parser, commands: Mapping[str, Parser] = {}, name: str | None = None) -> int:
    if name is not None and name not in commands:
        raise ValueError(f"there is no command {name!r}; there are {', '.join(commands)}")
    print((top if name is None else commands[name]).format_help(), end="")
    return DONE


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.Namespace(parser=None)
    try:
        with new_names_told():
            top = parser()
            options, unknown = top.parse_known_args(arguments)
            if unknown:
                refuse(unknown, options.parser or top)
            return options.run(options)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BAD as why:
        complain(in_options(one_line(why), options.parser))
        return BAD_INPUT


@contextmanager
def new_names_told() -> Iterator[None]:
    """A line on stderr where something has another name now, and not a line of the source."""
    with warnings.catch_warnings(record=False):
        warnings.simplefilter("always", RenamedWarning)
        show_others = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if issubclass(category, RenamedWarning):
                complain(str(message))
            else:
                show_others(message, category, *where)

        warnings.showwarning = tell  # type: ignore[assignment]
        yield


def refuse(unknown: Sequence[str], command: Parser) -> NoReturn:
    """What is no argument of a command, and what there is."""
    names = [name for x in command._actions for name in x.option_strings if name.startswith("--")]
    near = get_close_matches(unknown[0], names, 1, 0.75)
    there = f"; the nearest is {near[0]}" if near else f"; there are {', '.join(sorted(names))}"
    if not unknown[0].startswith("-"):  # one operand too many
        there = command.call() or there
    command.error(f"unrecognized arguments: {' '.join(unknown)}{there}")


def in_options(text: str, command: Parser | None) -> str:
    """What Python's functions say of their arguments, of a command's options by the same names."""
    options = {x.dest for x in command._actions} if command else set()
    return told_as_options(text, [name for name in SAME if name in options])


def one_line(why: Exception) -> str:
    text = str(why.args[0]) if isinstance(why, KeyError) and why.args else str(why)
    return " ".join(text.split())
