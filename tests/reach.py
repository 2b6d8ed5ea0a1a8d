"""What a change can reach: which suites `./dev test --changed` runs.

Ninja knows which sources and headers a program is made of. Python's tests call the package, so they
are reached by all that it is made of; a file of tests alone reaches itself. Whatever nobody can
place (data, the build's own description) reaches everything.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from schedule import NINJA, Suite

ROOT = Path(__file__).resolve().parent.parent
# What no compiler reads, but Python's tests do: the package, themselves, documentation. Data and
# oracles are read by all.
OF_PYTHON = re.compile(
    r"(?!tests/(data|oracle)/)((python|docs|notebooks|tests/python)/|.*\.(md|py|toml)$)"
)


def changed_files(since: str) -> set[Path]:
    """Those that differ from a commit, and those that Git does not know yet."""
    differ = git("diff", "--name-only", since)
    return {ROOT / name for name in differ + git("ls-files", "--others", "--exclude-standard")}


def git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"./dev test --changed: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


@cache
def headers(folder: Path) -> dict[Path, set[Path]]:
    """By what is made: all that was read for it, as of the last time."""
    read: dict[Path, set[Path]] = {}
    made = Path()
    for line in ninja(folder, "deps"):
        if head := re.match(r"(\S.*): #deps \d+", line):
            made = folder / head[1]
            read[made] = set()
        elif line.strip():
            read[made].add((folder / line.strip()).resolve())
    return read


@cache
def made_of(folder: Path, target: str) -> set[Path] | None:
    """Every file that a target is made of; None where it was never made, and nobody knows."""
    if not (folder / target).exists():
        return None
    inputs = {folder / line for line in ninja(folder, "inputs", target)}
    read = set().union(*(headers(folder).get(file, set()) for file in inputs))
    return {file.resolve() for file in inputs} | read


def ninja(folder: Path, tool: str, *arguments: str) -> list[str]:
    command = [str(NINJA), "-C", str(folder), "-t", tool, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def reached(suites: list[Suite], package: Iterable[tuple[Path, str]], since: str) -> list[Suite]:
    """Those that what has changed since a commit can reach; `package`: what Ninja makes for it."""
    changed = changed_files(since)
    targets = {suite.target for suite in suites if suite.target} | set(package)
    made = {target: made_of(*target) for target in targets}
    known = set().union(*(files or () for files in made.values()))
    strays = {file for file in changed - known if not of_python(file)}
    if strays:
        print(f"{min(strays).relative_to(ROOT)} has changed, which may reach everything")
        return suites
    parts = [made[target] for target in package]
    whole = any(part is None or part & changed for part in parts)
    whole = whole or any(of_python(file) and not is_test_file(file) for file in changed)

    def is_reached(suite: Suite) -> bool:
        if suite.files:
            return whole or not changed.isdisjoint(suite.files)
        files = made[suite.target] if suite.target else set()
        return files is None or not changed.isdisjoint(files)

    return [suite for suite in suites if is_reached(suite)]


def of_python(file: Path) -> bool:
    return bool(OF_PYTHON.match(str(file.relative_to(ROOT))))


def is_test_file(file: Path) -> bool:
    return file.parent == ROOT / "tests/python" and file.name.startswith("test_")
