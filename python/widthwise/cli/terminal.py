"""What only a terminal gets: colours (NO_COLOR turns them off) and progress bars."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

BOLD, RED, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[0m"


def has_colours(stream: TextIO) -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"  # no-color.org
    return stream.isatty() and not plain


def emphasised(text: str) -> str:
    """The heads of its tables bold: lines that a line of dashes follows."""
    if not has_colours(sys.stdout):
        return text
    return re.sub(r"(?m)^(.+)\n(-[- ]*)$", rf"{BOLD}\1{PLAIN}\n\2", text)


def complain(message: str) -> None:
    """One line on stderr."""
    name = f"{RED}widthwise:{PLAIN}" if has_colours(sys.stderr) else "widthwise:"
    print(name, message, file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar to be told (done, of how many), on a terminal where tqdm is installed."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda done, of: None
        return
    with tqdm(desc=what, leave=False, file=sys.stderr) as bar:

        def tell(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield tell
