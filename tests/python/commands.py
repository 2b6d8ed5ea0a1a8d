"""The command `widthwise` in this process: to begin a Python takes longer than most of its work."""

import io
import subprocess
import sys
from unittest.mock import patch

from widthwise import cli


def widthwise(*arguments, stdin=""):
    """What it prints and its status, as subprocess.run has them."""
    texts = {name: io.TextIOWrapper(io.BytesIO()) for name in ("stdout", "stderr")}
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    words = [*map(str, arguments)]
    with patch.multiple(sys, stdin=given, **texts):
        try:
            status = cli.main(words)
        except SystemExit as stopped:
            status = stopped.code
    return subprocess.CompletedProcess(words, status, *map(written, texts.values()))


def written(text):
    text.flush()
    return text.buffer.getvalue().decode()
