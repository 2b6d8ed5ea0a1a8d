"""What the tests of exported folders do with them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Verilator's own library as the first bench left it: compiling it takes longer than most benches.
VERILATED = Path(__file__).resolve().parents[2] / "build" / "tests" / "verilated"


def alone():
    """The environment without this package: a folder must not need it."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}


def make(folder, *targets):
    compiles = {"verilator", "dpi"} & set(targets)
    if compiles:
        bring(VERILATED, folder / "build" / "verilated")
    done = make_alone(folder, *targets)
    if compiles:
        bring(folder / "build" / "verilated", VERILATED)
    return done


def make_alone(folder, *targets):
    return subprocess.run(
        ["make", f"PYTHON={sys.executable}", *targets],
        cwd=folder,
        env=alone(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=-2,
    )


def bring(source, to):
    """The library's objects, and what they were made by; whole ones, whoever else brings them."""
    by = source / "library"
    if not by.exists():
        return
    to.mkdir(parents=True, exist_ok=True)
    same = (to / "library").exists() and (to / "library").read_text() == by.read_text()
    for file in (*source.glob("verilated*.o"), by):
        if not (same and (to / file.name).exists()):
            whole = to / f"{file.name}.{os.getpid()}"
            shutil.copy2(file, whole)
            whole.replace(to / file.name)


def needs(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


def replace(path, old, new):
    text = path.read_text()
    assert old in text, f"{path.name} has no {old}"
    path.write_text(text.replace(old, new, 1))


def check_that_a_change_is_seen(folder, file, old, new):
    """A module that is changed still compiles, and vectors find that it computes something else."""
    needs("iverilog")
    replace(folder / "rtl" / file, old, new)
    done = make(folder, "icarus")
    assert done.returncode != 0 and "instead of" in done.stdout, done.stdout
