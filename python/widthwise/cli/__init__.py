"""The command line: widthwise COMMAND …"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from .._verify import MissingMpfr
from . import files, show, vectors

DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """One line for a wrong argument, not the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def parser() -> Parser:
    top = Parser(prog="widthwise", description="Bit-accurate arithmetic at any width.")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for module in (show, files, vectors):
        module.add_commands(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = parser().parse_args(arguments)
        return options.run(options)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("widthwise: interrupted", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, TypeError, KeyError, ArithmeticError, OSError, MissingMpfr) as why:
        print("widthwise:", one_line(why), file=sys.stderr)
        return BAD_INPUT


def one_line(why: Exception) -> str:
    text = str(why.args[0]) if isinstance(why, KeyError) and why.args else str(why)
    return " ".join(text.split())
