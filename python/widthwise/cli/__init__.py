"""The command line: widthwise COMMAND …"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from .._verify import MissingMpfr
from . import completion, files, measure, quantize, show, vectors
from .terminal import complain

BAD = (ValueError, TypeError, KeyError, ArithmeticError, ImportError, OSError, MissingMpfr)
DONE, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """One line for a wrong argument, not the whole usage. -0x1p-7 and -inf are numbers to it."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def parser() -> Parser:
    top = Parser(prog="widthwise", description="Bit-accurate arithmetic at any width.")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for module in (show, quantize, files, vectors, measure, completion):
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
        complain("interrupted")
        return INTERRUPTED
    except BAD as why:
        complain(one_line(why))
        return BAD_INPUT


def one_line(why: Exception) -> str:
    text = str(why.args[0]) if isinstance(why, KeyError) and why.args else str(why)
    return " ".join(text.split())
