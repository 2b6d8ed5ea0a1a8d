"""What the tests of exported folders do with them."""

import os
import shutil
import subprocess
import sys

import pytest


def alone():
    """The environment without this package: a folder must not need it."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


def make(folder, *targets):
    return subprocess.run(
        ["make", f"PYTHON={sys.executable}", *targets],
        cwd=folder,
        env=alone(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=-2,
    )


def needs(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def replace(path, old, new):
    text = path.read_text()
    assert old in text, f"{path.name} has no {old}"
    path.write_text(text.replace(old, new, 1))
