"""Run every suite, print each one's counts and time, and the totals in the last line.

`./dev test` calls this. The suites are the doctest executables Meson lists, those of `lib` and
`sim` again under AddressSanitizer and UBSan (kernels for this machine's widest vectors and a few
carriers, with --long all), the files of pytest (short ones together), and with --long the fuzzers,
of parsers and of arithmetic (tests/fuzz), and the suites of `lib` and `sim` once more, built for
64-bit Arm and run under qemu. docs/evidence.md has the table of what runs each time and what with
--long.

A C++ test case that lacks something prints `SKIPPED: <reason>` on a line of its own and returns.
Cases in TEST_SUITE("exhaustive"), and suites of nothing else, are not repeated under the
sanitizers; those in "unsanitized" are with --long. A suite that ran no case has failed. With CI=1
so has a skip for anything that could be installed. --long sets WIDTHWISE_LONG=1 for all of them:
tests that sample then take all, or far more.

Of some tests each run takes one of n parts: which, hangs on the turn, the number of commits so far,
so that n commits, tested one by one, have run them all. WIDTHWISE_TURN=N repeats another run's.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fuzz.__main__ import PARTS
from reach import reached
from schedule import Outcome, Schedule, Suite, measured, record

ROOT = Path(__file__).resolve().parent.parent
PLAIN, SANITIZED, FUZZ = ROOT / "build", ROOT / "build-sanitize", ROOT / "build-fuzz"
ARM = ROOT / "build-aarch64"
PRETEND_GPU = "tests/cuda/libcuda.so.1"
NEED_PRETEND_GPU = {"test_cli_bench.py", "test_device.py", "test_device_torch.py"}
TIMED = "test_interrupt.py"  # measures time: nothing else may run beside it
SHORT = 3.0  # seconds, of a file of pytest
INSIDE_TORCH = re.compile(r"python/(torch_\w+|qtorch|qtorch_scripts)")
ALL_INSIDE_TORCH = "python inside PyTorch"
SOME = "python, "  # begins the names of files together, now these, now those
REPEATED_ROOMS = {"lib", "sim"}
# Sanitized with --long alone: others go through the same code, the reference as their rival.
SANITIZED_LATER = {"datapath", "every_field", "mpfr", "small_others"}
SANITIZER_SLOWDOWN = 4  # of the time limit; measured 3 on integer code at -O1
ARM_SLOWDOWN = 10  # measured 3 to 8
LONG_SLOWDOWN = 20
LAST_CASE = 120  # seconds that a case of tests/fuzz may take when its time is up
NOT_EXHAUSTIVE = ["-tse=*exhaustive*"]
# Cases of this suite repeat, over and over, steps that others take under the sanitizers too.
NOT_OVER_AND_OVER = ["-tse=*exhaustive*,*unsanitized*"]
PYTEST_LIMIT = 1800  # seconds
# What no package manager can add to a machine, or a run has not asked for.
NOT_INSTALLABLE = re.compile(r"\b(GPU|CUDA|CPU)\b|--long\b")


def main() -> int:
    options = parse_arguments()
    os.chdir(ROOT)
    if options.long:
        os.environ["WIDTHWISE_LONG"] = "1"
    os.environ.setdefault("WIDTHWISE_TURN", commits_so_far())
    suites = chosen(all_suites(options), options.suites)
    if options.changed:
        suites = reached(suites, package_targets(), options.changed)
        if not suites:
            print(f"nothing that has changed since {options.changed} reaches a suite")
            return 0
    schedule = Schedule(together(suites), options.jobs)
    began = time.monotonic()
    print(f"turn {os.environ['WIDTHWISE_TURN']} of tests that run part by part")
    outcomes, seconds = [], {}
    with verilators_library_kept():
        for suite, outcome in schedule.run():
            report(suite.name, judged(outcome))
            outcomes.append(outcome)
            if not suite.name.startswith(SOME):
                seconds[suite.name] = outcome.processor
    outcomes += [Outcome(failed=1) for build in schedule.builds.values() if not build.good]
    if options.measure:
        record(seconds)
    return total(outcomes, time.monotonic() - began)


@contextmanager
def verilators_library_kept() -> Iterator[None]:
    """Compiled once a run and not for each bench, unless a compiler's cache is set already."""
    with tempfile.TemporaryDirectory() as objects:
        os.environ["WIDTHWISE_OBJECTS"] = objects
        os.environ.setdefault("OBJCACHE", str(ROOT / "tests/verilated.sh"))
        yield


def commits_so_far() -> str:
    """In a clone that knows few of them a number made of the last; 0 where nobody knows."""
    if git("rev-parse", "--is-shallow-repository") == "true":
        return str(int(git("rev-parse", "HEAD")[:6], 16))
    return git("rev-list", "--count", "HEAD") or "0"


def git(*arguments: str) -> str:
    """What it says; nothing without it, and in an archive of the files."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__)
    parser.add_argument("suites", nargs="*", help="names, or beginnings of names, of suites to run")
    parser.add_argument("--long", action="store_true", help="exhaustive tests, and the fuzzers")
    parser.add_argument(
        "--fuzz-seconds", type=float, default=300, help="of each of tests/fuzz, with --long; 300"
    )
    parser.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="COMMIT",
        help="only suites that what has changed since a commit (HEAD) can reach",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="keep the processors' seconds of each suite, for their order",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    return parser.parse_args()


# --- Which suites there are -----------------------------------------------------------------------


def all_suites(options: argparse.Namespace) -> list[Suite]:
    long = options.long
    plain = [doctest_suite(PLAIN, test, 1) for test in meson_tests(PLAIN)]
    sanitized = [
        doctest_suite(
            SANITIZED,
            test,
            SANITIZER_SLOWDOWN,
            "sanitized/",
            NOT_EXHAUSTIVE if long else NOT_OVER_AND_OVER,
        )
        for test in (repeated_tests(SANITIZED) if long or options.suites else sanitized_in_turn())
    ]
    fuzz_tests = meson_tests(FUZZ) if long else []
    fuzzers = [fuzz_suite(test) for test in fuzz_tests if "fuzz" in rooms(test)]
    fuzzers += [drawn_suite(part, options.fuzz_seconds) for part in PARTS] if long else []
    return python_suites() + sanitized + plain + fuzzers + (arm_suites() if long else [])


def package_targets() -> list[tuple[Path, str]]:
    """What Ninja makes of the package."""
    installed = json.loads((PLAIN / "meson-info/intro-installed.json").read_text())
    made = [Path(file) for file in installed if "/python/" in file]
    return [(PLAIN, str(file.relative_to(PLAIN))) for file in made if file.is_relative_to(PLAIN)]


def python_suites() -> list[Suite]:
    return [
        pytest_suite(
            f"python/{file.stem.removeprefix('test_')}",
            [file],
            (PLAIN, PRETEND_GPU) if file.name in NEED_PRETEND_GPU else None,
            alone=file.name == TIMED,
        )
        for file in sorted((ROOT / "tests/python").glob("test_*.py"))
    ]


def together(suites: list[Suite]) -> list[Suite]:
    """Files of Python's tests that take less than Python, or PyTorch, to begin, in one process."""
    inside = inside_torch(suites)
    if len(inside) > 1:
        suites = [suite for suite in suites if suite not in inside]
        files = [file for suite in inside for file in suite.files]
        whole = len(inside) == len(inside_torch(python_suites()))
        name = ALL_INSIDE_TORCH if whole else f"{SOME}{len(inside)} inside PyTorch"
        suites.append(pytest_suite(name, files))
    table = measured()
    short = [
        s
        for s in suites
        if s.files and not (s.target or s.alone) and table.get(s.name, SHORT) < SHORT
    ]
    if len(short) < 2:
        return suites
    rest = [suite for suite in suites if suite not in short]
    name = f"{SOME}{len(short)} short files"
    return [*rest, pytest_suite(name, [file for suite in short for file in suite.files])]


def inside_torch(suites: list[Suite]) -> list[Suite]:
    return [suite for suite in suites if INSIDE_TORCH.fullmatch(suite.name)]


def repeated_tests(folder: Path) -> list[dict]:
    return [
        test
        for test in meson_tests(folder)
        if REPEATED_ROOMS & rooms(test) and "exhaustive" not in rooms(test)
    ]


def sanitized_in_turn() -> list[dict]:
    """A third of them, as long as the others; whoever names some gets them."""
    table = measured()
    tests = [test for test in repeated_tests(SANITIZED) if test["name"] not in SANITIZED_LATER]
    tests.sort(key=lambda test: -table.get(f"sanitized/{test['name']}", 0))
    return tests[int(os.environ["WIDTHWISE_TURN"]) % 3 :: 3]


def arm_suites() -> list[Suite]:
    if not (ARM / "build.ninja").exists():
        why = "Debian's libraries for 64-bit Arm, which need a network"
        return [Suite("aarch64", lambda: Outcome(skips=[why]))]
    cross = ConfigParser()
    cross.read(ARM / "cross.ini")
    wrapper = ast.literal_eval(cross["binaries"]["exe_wrapper"])
    return [
        doctest_suite(ARM, test, ARM_SLOWDOWN, "aarch64/", NOT_EXHAUSTIVE, wrapper)
        for test in repeated_tests(ARM)
    ]


def meson_tests(folder: Path) -> list[dict]:
    return json.loads((folder / "meson-info/intro-tests.json").read_text())


def rooms(test: dict) -> set[str]:
    return {suite.removeprefix("widthwise:") for suite in test["suite"]}


def chosen(suites: list[Suite], names: list[str]) -> list[Suite]:
    """The suites whose name begins with one of `names`, or all of them."""
    for name in names:
        if not any(suite.name.startswith(name) for suite in suites):
            there = ", ".join(suite.name for suite in suites)
            sys.exit(f"./dev test: no suite begins with '{name}'; there are {there}")
    return [s for s in suites if not names or s.name.startswith(tuple(names))]


# --- Running --------------------------------------------------------------------------------------


@dataclass
class Ran:
    """Exit status of a program, everything it printed, and the processors' seconds it took."""

    status: int
    output: str
    processor: float


def ran(command: list[str], seconds: float, **options) -> Ran:
    """A program that runs out of time fails."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, **options)
        end = threading.Timer(seconds, child.kill)
        end.start()
        began = time.monotonic()
        _, status, used = os.wait4(child.pid, 0)  # alone says what the program and its own took
        late = time.monotonic() - began >= seconds
        end.cancel()
        child.returncode = -1 if late else os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read().decode(errors="replace")
    output += f"\nstopped after {seconds:.0f} s" if late else ""
    return Ran(child.returncode, output, used.ru_utime + used.ru_stime)


def limit(test: dict, slowdown: int) -> int:
    return test["timeout"] * slowdown * (LONG_SLOWDOWN if "WIDTHWISE_LONG" in os.environ else 1)


def doctest_suite(
    folder: Path,
    test: dict,
    slowdown: int,
    prefix: str = "",
    arguments: Iterable[str] = (),
    wrapper: Iterable[str] = (),
) -> Suite:
    program = Path(test["cmd"][0])
    ours = program.is_relative_to(folder)  # or a command that only says why it is skipped

    def run() -> Outcome:
        extra = ["--no-colors", *arguments] if ours else []
        environment = os.environ | test["env"] | {"UBSAN_OPTIONS": "print_stacktrace=1"}
        if wrapper:  # an emulator; what it runs takes its time without sampling more
            environment.pop("WIDTHWISE_LONG", None)
        command = [*wrapper, *test["cmd"], *extra]
        seconds = limit(test, slowdown)
        return doctest_outcome(ran(command, seconds, cwd=test["workdir"], env=environment))

    target = (folder, str(program.relative_to(folder))) if ours else None
    return Suite(prefix + test["name"], run, target)


def doctest_outcome(done: Ran) -> Outcome:
    """Reads doctest's summary: `test cases: 3 | 2 passed | 1 failed | 0 skipped` and the like.

    A loop that checks in silence prints `CASES: <number>` when it is through.
    """
    text = done.output
    skips = re.findall(r"^SKIPPED: (.*)$", text, re.MULTILINE)
    cases = re.search(r"test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", text)
    checks = re.search(r"assertions: +(\d+) \|", text)
    outcome = Outcome(skips=skips, output=text, processor=done.processor)
    if cases and checks:
        outcome.passed = max(0, int(cases[1]) - len(skips))
        outcome.failed = int(cases[2])
        loops = re.findall(r"^CASES: (\d+)$", text, re.MULTILINE)
        outcome.checks = int(checks[1]) + sum(map(int, loops))
    if done.status != 0 and outcome.failed == 0:
        outcome.failed = 1
        outcome.output += f"\nexit status {done.status}, though no case failed"
    return outcome


def pytest_suite(
    name: str, files: list[Path], target: tuple[Path, str] | None = None, alone: bool = False
) -> Suite:
    return Suite(name, lambda: run_pytest(files), target, alone, tuple(files))


def run_pytest(files: list[Path]) -> Outcome:
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "pytest.xml"
        options = ["-q", "-p", "no:cacheprovider", f"--junitxml={record}"]
        command = [sys.executable, "-m", "pytest", *options, *map(str, files)]
        slowdown = LONG_SLOWDOWN if "WIDTHWISE_LONG" in os.environ else 1
        # Others' plugins take longer to begin than pytest does, and no test asks for one.
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = ran(command, PYTEST_LIMIT * slowdown, env=environment)
        cases = list(ElementTree.parse(record).iter("testcase")) if record.exists() else []
    bad = [case for case in cases if {fate.tag for fate in case} & {"failure", "error"}]
    skips = [skip.get("message", "") for case in cases for skip in case.iter("skipped")]
    failed = len(bad) or int(done.status != 0)
    passed = len(cases) - len(bad) - len(skips)
    return Outcome(passed, failed, skips, output=done.output, processor=done.processor)


def fuzz_suite(test: dict) -> Suite:
    name = test["name"].removeprefix("fuzz_")
    seeds = ROOT / "tests" / "fuzz" / "corpus" / name
    target = (FUZZ, str(Path(test["cmd"][0]).relative_to(FUZZ)))

    def run() -> Outcome:
        with tempfile.TemporaryDirectory() as found:  # libFuzzer adds inputs to its first folder
            command = [*test["cmd"], f"-artifact_prefix={FUZZ}/", found]
            done = ran(command + [str(seeds)] * seeds.is_dir(), test["timeout"])
        inputs = re.search(r"stat::number_of_executed_units: +(\d+)", done.output)
        tried = int(inputs[1]) if inputs else 0
        good = done.status == 0 and tried > 0
        return Outcome(passed=int(good), failed=int(not good), checks=tried, output=done.output)

    return Suite(f"fuzz/{name}", run, target)


def drawn_suite(part: str, seconds: float) -> Suite:
    def run() -> Outcome:
        command = [sys.executable, "tests/fuzz", part, "--seconds", str(seconds)]
        done = ran(command, seconds + LAST_CASE)
        skips = re.findall(r"^SKIPPED: (.*)$", done.output, re.MULTILINE)
        compared = re.search(r"^CASES: (\d+)$", done.output, re.MULTILINE)
        good = done.status == 0
        failed = int(not good and not skips)
        checks = int(compared[1]) if compared else 0
        return Outcome(int(good), failed, skips, checks, done.output)

    return Suite(f"fuzz/{part}", run)


# --- Judging and printing -------------------------------------------------------------------------


def judged(outcome: Outcome) -> Outcome:
    """The house's rules on top of a suite's own opinion."""
    if outcome.passed + outcome.failed + len(outcome.skips) == 0:
        outcome.failed = 1
        outcome.output += "\nno case ran"
    if os.environ.get("CI") == "1":
        forbidden = [reason for reason in outcome.skips if not NOT_INSTALLABLE.search(reason)]
        for reason in forbidden:
            outcome.skips.remove(reason)
            outcome.failed += 1
            outcome.output += f"\nskipped, which CI=1 forbids: {reason}"
    return outcome


def counts(passed: int, failed: int, skipped: int) -> str:
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def report(name: str, outcome: Outcome) -> None:
    if outcome.failed:
        print(f"--- {name}\n{outcome.output.strip()}\n---")
    fate = counts(outcome.passed, outcome.failed, len(outcome.skips))
    checks = f"{outcome.checks:,} checks" if outcome.checks else ""
    print(f"{name:<26}{fate:<36}{checks:>22}{outcome.seconds:>10.1f} s")
    for reason, times in Counter(outcome.skips).items():
        print(f"    skipped, {times} x: {reason}")
    sys.stdout.flush()


def total(outcomes: list[Outcome], seconds: float) -> int:
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(len(outcome.skips) for outcome in outcomes)
    print(f"\n{sum(outcome.checks for outcome in outcomes):,} checks in {seconds:.0f} s")
    print(counts(passed, failed, skipped))
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
