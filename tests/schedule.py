"""Runs suites side by side, the longest first, while what they are built from still compiles.

How many of the processors' seconds each takes, whatever else ran, is in tests/seconds.json, as
`./dev test --measure` writes it; it decides the order and nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "seconds.json"
UNKNOWN = 20.0  # seconds, of a suite that was never measured
NINJA = Path(sys.executable).parent / "ninja"


@dataclass
class Outcome:
    """What a suite did: cases by fate, checks inside them, and the text worth showing."""

    passed: int = 0
    failed: int = 0
    skips: list[str] = field(default_factory=list)
    checks: int = 0
    output: str = ""
    seconds: float = 0.0
    processor: float = 0.0  # seconds of all processors together


@dataclass
class Suite:
    name: str
    run: Callable[[], Outcome]
    target: tuple[Path, str] | None = None  # what Ninja has to build first: folder, target
    alone: bool = False  # nothing else may run beside it: it measures time
    files: tuple[Path, ...] = ()  # of Python's tests


@dataclass
class Build:
    """One call of Ninja, for all that is wanted of a folder."""

    folder: Path
    targets: list[str] = field(default_factory=list)
    good: bool | None = None  # not tried yet

    def run(self, jobs: int) -> None:
        began = time.monotonic()
        command = [NINJA, "-C", self.folder, "--quiet", "-j", str(jobs), *self.targets]
        self.good = subprocess.run([*map(str, command)]).returncode == 0
        what = f"compile {self.folder.name}{'' if self.good else ': FAILED'}"
        print(f"{what:<44}{time.monotonic() - began:>40.1f} s", flush=True)


def measured() -> dict[str, float]:
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}


def record(seconds: dict[str, float]) -> None:
    """What was measured now, beside what was not run."""
    table = measured() | {name: round(s, 1) for name, s in seconds.items()}
    TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


def timed(suite: Suite) -> Outcome:
    began = time.monotonic()
    outcome = suite.run()
    outcome.seconds = time.monotonic() - began
    return outcome


def builds_of(suites: list[Suite]) -> dict[Path, Build]:
    builds: dict[Path, Build] = {}
    for suite in suites:
        if suite.target:
            folder, target = suite.target
            builds.setdefault(folder, Build(folder)).targets.append(target)
    return builds


class Schedule:
    """Builds, one after the other on half of the processors, and suites on the rest.

    A suite begins when what it is built from stands, and never if that failed.
    """

    def __init__(self, suites: list[Suite], jobs: int) -> None:
        table = measured()
        self.builds = builds_of(suites)
        self.waiting = sorted(suites, key=lambda suite: -table.get(suite.name, UNKNOWN))
        self.running: dict[Future, tuple[Build | Suite, int]] = {}  # and on how many processors
        self.jobs = self.free = jobs

    def run(self) -> Iterator[tuple[Suite, Outcome]]:
        """Each suite with its outcome, as they end; those that measure time last, one by one."""
        with ThreadPoolExecutor(self.jobs) as pool:
            while self.begin(pool):
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    what, processors = self.running.pop(future)
                    self.free += processors
                    outcome = future.result()
                    if isinstance(what, Suite):
                        yield what, outcome
        for suite in self.waiting:
            if suite.alone and self.is_built(suite):
                yield suite, timed(suite)

    def is_built(self, suite: Suite) -> bool:
        return suite.target is None or bool(self.builds[suite.target[0]].good)

    def begin(self, pool: ThreadPoolExecutor) -> bool:
        """Whether anything is running now."""
        ready = [suite for suite in self.waiting if self.is_built(suite) and not suite.alone]
        next_build = next((b for b in self.builds.values() if b.good is None), None)
        compiling = any(isinstance(what, Build) for what, _ in self.running.values())
        if next_build and not compiling and self.free:
            jobs = max(1, min(self.free, self.jobs // 2 if ready else self.jobs))
            self.start(next_build, jobs, pool.submit(next_build.run, jobs))
        for suite in ready[: self.free]:
            self.waiting.remove(suite)
            self.start(suite, 1, pool.submit(timed, suite))
        return bool(self.running)

    def start(self, what: Build | Suite, processors: int, future: Future) -> None:
        self.running[future] = what, processors
        self.free -= processors
