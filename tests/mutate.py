"""Change one token of the arithmetic at a time; a kill test must notice each change.

`./dev mutate` calls this. tests/mutate/kill_*.cpp are plain programs that exit with 0 when all is
right and with anything else at the first fault. Each names in its first lines what it guards, and
compiler flags of its own if it has any:

    // Kills: lib/widthwise/round.hpp lib/widthwise/op/*.hpp
    // Flags: build/sim/libwidthwise.a -lfmt
    // Reads: tests/oracle/dpu_blocks.py 3000 1

Paths under build/ are built first, and never from changed sources. What the Python script after
`Reads:` prints is in the file that is the program's argument. Where lines begin with `Each:`, there
is one program for each of them, and its words stand in the place of $1, $2 in the other lines.

A mutant is killed when it does not compile, exits with non-zero, crashes or runs out of time. Those
that cannot be killed, since they change no result, stand with the reason in
tests/mutate/equivalent.txt. When there are more mutants than the time holds, a sample is tried that
depends on the seed alone (and, in its length, on the machine), the same share of every file.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "mutate"))
from mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "mutate"
EQUIVALENT = TESTS / "equivalent.txt"
TARGETS = [
    *(f"lib/widthwise/{name}.hpp" for name in ("decide", "round", "rounder", "op/*", "datapath/*")),
    "sim/*/plan.cpp",  # the conditions of engines
    "sim/integers/*_plan.cpp",
    "sim/blocks/pairs.cpp",
    "sim/blocks/slots.cpp",
    "sim/blocks/twofold.cpp",
    "sim/elementwise/lane_plan.cpp",
    "cuda/chain_plan.cpp",
]
SEPARATOR = " @@ "  # between the fields of equivalent.txt; C++ has no such token
# Of a tree. What headers define is each object's own (-fno-weak): else the linker gives the build's
# libraries, which are asked for the right answers, what the mutated tree has of the same name.
COMPILER = f"{os.environ.get('CXX', 'g++')} -std=c++20 -O1 -w -fno-weak -Ilib -I.".split()
INCLUDES = [f"-I{ROOT}/sim/include", f"-I{ROOT}"]
MEMORY = 4 << 30  # bytes; a mutant may allocate or unroll without end
PATIENCE = 5  # a mutant may take this many times what the unchanged program takes, and a second


@dataclass
class Kill:
    """A kill test, and what it took unchanged."""

    name: str
    source: Path
    globs: list[str]
    flags: list[str]
    arguments: list[str]
    program: bytes = b""
    compile_seconds: float = 0.0
    run_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        return self.compile_seconds + self.run_seconds

    def guards(self, file: str) -> bool:
        return any(Path(file).match(glob) for glob in self.globs)


def main() -> int:
    options = parse_arguments()
    deadline = time.monotonic() + options.seconds
    files = target_files(options.only)
    mutants, explained = split_off_equivalents(files)
    with tempfile.TemporaryDirectory() as scratch:
        kills = [kill for source in sorted(TESTS.glob("kill_*.cpp")) for kill in read_kills(source)]
        check_coverage(files, kills)
        kills = [kill for kill in kills if any(map(kill.guards, files))]
        for kill in kills:
            make_ready(kill, Path(scratch))
        trees = [copy_of_rooms(Path(scratch) / str(i)) for i in range(options.jobs)]
        for kill in kills:
            measure(kill, trees[0])
        kills.sort(key=lambda kill: kill.seconds)
        fates = try_all(in_random_order(mutants, options.seed), kills, trees, deadline)
    return report(files, mutants, explained, fates, options.seed)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev mutate")
    parser.add_argument("only", nargs="*", help="files to mutate, or parts of their names")
    parser.add_argument("--seconds", type=float, default=570, help="start none after this")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    return parser.parse_args()


# --- What is mutated, and what should notice ------------------------------------------------------


def read_kills(source: Path) -> list[Kill]:
    text = source.read_text()
    each = re.findall(r"^// Each: (.+)$", text, re.MULTILINE)
    return [read_kill(source, text, words.split()) for words in each or [""]]


def read_kill(source: Path, text: str, each: list[str]) -> Kill:
    def words(key: str) -> list[str]:
        found = " ".join(re.findall(rf"^// {key}: (.+)$", text, re.MULTILINE))
        for place, word in enumerate(each, 1):
            found = found.replace(f"${place}", word)
        return found.split()

    if not words("Kills"):
        sys.exit(f"{source.relative_to(ROOT)} does not say what it guards: '// Kills: FILE...'")
    name = " ".join([source.stem, *each[:1]])
    return Kill(name, source, words("Kills"), words("Flags"), words("Reads"))


def make_ready(kill: Kill, scratch: Path) -> None:
    """Builds what it is linked with and writes what it reads."""
    built = [word.removeprefix("build/") for word in kill.flags if word.startswith("build/")]
    if built:
        subprocess.run(["ninja", "-C", "build", "--quiet", *built], cwd=ROOT, check=True)
    kill.flags = [f"{ROOT}/{word}" if word.startswith("build/") else word for word in kill.flags]
    kill.arguments = read_by(kill.arguments, kill.source.stem, scratch)


def read_by(script: list[str], name: str, scratch: Path) -> list[str]:
    """The program's argument: a file of what the script prints, or none."""
    if not script:
        return []
    with open(scratch / f"{name}.txt", "w") as file:
        subprocess.run([sys.executable, *script], cwd=ROOT, stdout=file, check=True)
    return [file.name]


def target_files(only: list[str]) -> list[str]:
    found = sorted(str(path.relative_to(ROOT)) for glob in TARGETS for path in ROOT.glob(glob))
    files = [file for file in found if not only or any(part in file for part in only)]
    if not files:
        sys.exit(f"none of {found} contains any of {only}; name a part of one of them")
    return files


def check_coverage(files: list[str], kills: list[Kill]) -> None:
    targets = target_files([])
    for kill in kills:
        if not any(map(kill.guards, targets)):
            sys.exit(f"{kill.name} guards no target of mutants: {' '.join(kill.globs)}")
    for file in files:
        if not any(kill.guards(file) for kill in kills):
            sys.exit(f"no tests/mutate/kill_*.cpp guards {file}: name it in a '// Kills:' line")


def split_off_equivalents(files: list[str]) -> tuple[list[Mutant], int]:
    """The mutants to try, and how many others equivalent.txt explains. A stale entry is a fault."""
    mutants = [m for file in files for m in mutants_of(file, (ROOT / file).read_text())]
    known = read_equivalents()
    known = {entry for entry in known if entry[0] in files}
    stale = known - {mutant.key for mutant in mutants}
    if stale:
        entries = "\n".join(SEPARATOR.join(entry) for entry in sorted(stale))
        sys.exit(f"{EQUIVALENT.relative_to(ROOT)} explains mutants that do not exist:\n{entries}")
    rest = [mutant for mutant in mutants if mutant.key not in known]
    return rest, len(mutants) - len(rest)


def read_equivalents() -> set[tuple[str, str, str]]:
    entries = set()
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split(SEPARATOR)
        if len(fields) != 4 or not fields[3].strip():
            where = f"{EQUIVALENT.relative_to(ROOT)}:{number}"
            sys.exit(f"{where}: '{line}' is not FILE @@ LINE @@ CHANGE @@ REASON")
        entries.add((fields[0], fields[1], fields[2]))
    return entries


def in_random_order(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """Shuffled so that any beginning holds about the same share of every file."""
    by_file = defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    placed = []
    for file, group in sorted(by_file.items()):
        random.Random(f"{seed} {file}").shuffle(group)
        placed += [((i + 0.5) / len(group), file, mutant) for i, mutant in enumerate(group)]
    return [mutant for _, _, mutant in sorted(placed, key=lambda p: p[:2])]


# --- One mutant -----------------------------------------------------------------------------------


def copy_of_rooms(tree: Path) -> Path:
    for room in ("lib", "sim", "cuda"):
        shutil.copytree(ROOT / room, tree / room)
    return tree


def run(command: list[str], folder: Path, seconds: float) -> int | None:
    """Exit status of a command, None when it ran out of time; leaves no child behind."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        start_new_session=True,
        preexec_fn=bound_memory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def compile_command(kill: Kill) -> list[str]:
    return [*COMPILER, *INCLUDES, str(kill.source), "-o", "program", *kill.flags]


def run_command(kill: Kill, tree: Path) -> list[str]:
    return [str(tree / "program"), *kill.arguments]


def measure(kill: Kill, tree: Path) -> None:
    """Times the unchanged program, which has to pass."""
    name = kill.name
    began = time.monotonic()
    built = subprocess.run(compile_command(kill), cwd=tree, capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"{name} does not compile:\n{built.stderr}")
    kill.compile_seconds = time.monotonic() - began
    kill.program = (tree / "program").read_bytes()
    began = time.monotonic()
    ran = subprocess.run(run_command(kill, tree), cwd=ROOT, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{name} fails on the unchanged sources:\n{ran.stdout}{ran.stderr}")
    kill.run_seconds = time.monotonic() - began
    times = f"compiles in {kill.compile_seconds:.1f} s, passes in {kill.run_seconds:.1f} s"
    print(f"{name}: {times}", flush=True)


def fate_against(kill: Kill, tree: Path) -> str:
    if run(compile_command(kill), tree, PATIENCE * kill.compile_seconds + 1) != 0:
        return "does not compile"
    if (tree / "program").read_bytes() == kill.program:
        return "unreached"  # the same program: this kill test never instantiates the line
    status = run(run_command(kill, tree), ROOT, PATIENCE * kill.run_seconds + 1)
    return "survived" if status == 0 else "killed"


def fate_of(mutant: Mutant, kills: list[Kill], tree: Path) -> str:
    place = tree / mutant.file
    source = (ROOT / mutant.file).read_text()
    place.write_text(mutant.applied(source))
    fates = []
    try:
        for kill in kills:
            if kill.guards(mutant.file):
                fates.append(fate_against(kill, tree))
                if fates[-1] in ("killed", "does not compile"):
                    return fates[-1]
    finally:
        place.write_text(source)
    return "survived" if "survived" in fates else "unreached"


def try_all(
    mutants: list[Mutant], kills: list[Kill], trees: list[Path], deadline: float
) -> dict[Mutant, str]:
    """The fate of each mutant that there was time for."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def attempt(mutant: Mutant) -> str | None:
        cost = sum(kill.seconds for kill in kills if kill.guards(mutant.file))
        if time.monotonic() + cost > deadline:
            return None
        tree = free.get()
        try:
            return fate_of(mutant, kills, tree)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        fates = zip(mutants, pool.map(attempt, mutants), strict=True)
        return {mutant: fate for mutant, fate in fates if fate}


# --- The account ----------------------------------------------------------------------------------


def report(
    files: list[str], mutants: list[Mutant], explained: int, fates: dict[Mutant, str], seed: int
) -> int:
    for file in files:
        tried = Counter(fate for mutant, fate in fates.items() if mutant.file == file)
        there = sum(mutant.file == file for mutant in mutants)
        lived = tried["survived"] + tried["unreached"]
        print(
            f"{file}: {tried.total()} of {there} tried, {tried['killed']} killed by a test,"
            f" {tried['does not compile']} by the compiler, {lived} survived"
        )
    survivors = [m for m, fate in fates.items() if fate in ("survived", "unreached")]
    if survivors:
        print(
            f"\nSurvivors. Strengthen a test, or say in {EQUIVALENT.relative_to(ROOT)} why nothing"
            " can tell them from the original:"
        )
    for mutant in sorted(survivors, key=lambda m: (m.file, m.number)):
        reached = "" if fates[mutant] == "survived" else "  (the kill test's program is the same)"
        print(SEPARATOR.join(mutant.key) + f"{SEPARATOR} line {mutant.number}{reached}")
    killed = len(fates) - len(survivors)
    print(
        f"\n{len(fates)} of {len(mutants)} mutants tried (seed {seed}): {killed} killed,"
        f" {len(survivors)} survived; {explained} more are explained as equivalent"
    )
    return 1 if survivors or not fates else 0


if __name__ == "__main__":
    sys.exit(main())
