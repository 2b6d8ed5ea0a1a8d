"""The command `widthwise` in this process: to begin a Python takes longer than most of its work."""

import io
import subprocess
import sys
from unittest.mock import patch

from widthwise import cli


def widthwise(*arguments, stdin=""):
    """What it prints and its status, as subprocess.run has them."""
    texts = {name: text(errors="backslashreplace") for name in ("stdout", "stderr")}
    given = text(stdin)
    words = [*map(str, arguments)]
    with patch.multiple(sys, stdin=given, **texts):
        try:
            status = cli.main(words)
        except SystemExit as stopped:
            status = stopped.code or 0
    return subprocess.CompletedProcess(words, status, *map(written, texts.values()))


def text(holds="", **how):
    data = holds.encode() if isinstance(holds, str) else holds
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", **how)


def written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()
