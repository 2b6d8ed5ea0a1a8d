"""What no list of cases thought of: random formats, units and operands, each way against an oracle.

    python tests/fuzz products --seconds 600          many cases, each time others
    python tests/fuzz products --seed 1 --cases 20    the same each time
    python tests/fuzz products --seed 1 --case 17     one of them again

Parts are modules beside this one; `case` of each draws one case, runs it, and yields a line for
each thing that is wrong. It returns how many things it compared. A case hangs on the part's name,
the seed and its number alone; a case that fails prints the line that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

PARTS = ("products", "dots", "elements", "conversions", "systems", "tables", "exports")
MOST_FAULTS = 10  # cases that are shown before the run ends
Case = Callable[[str], Iterator[str]]


def main() -> int:
    options = parse_arguments()
    sys.path.append(str(Path(__file__).parents[1] / "oracle"))
    case = import_module(options.part).case
    numbers = numbers_of(options)
    checks = cases = faulty = refused = 0  # refused: sums that no carrier has
    for number in numbers:
        compared, faults = run(case, f"{options.part} {options.seed} {number}")
        cases, checks = cases + 1, checks + compared
        refused += not compared and not faults
        if faults:
            faulty += 1
            print("\n".join(faults))
            print(f"again: python tests/fuzz {options.part} --seed {options.seed} --case {number}")
            sys.stdout.flush()
        if faulty == MOST_FAULTS:
            break
    of_cases = f"{faulty} failed, {refused} compared nothing"
    print(f"fuzz {options.part}: {cases} cases from seed {options.seed}, {of_cases}")
    print(f"CASES: {checks}")
    return 1 if faulty or checks == 0 else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--seed", type=int, help="of all cases; the clock's if none is given")
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--cases", type=int, help="how many")
    amount.add_argument(
        "--seconds", type=float, default=60.0, help="how long; 60 if nothing is said"
    )
    amount.add_argument("--case", type=int, help="this one alone")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = int(time.time())
    return options


def numbers_of(options: argparse.Namespace) -> Iterator[int]:
    if options.case is not None:
        yield options.case
    elif options.cases is not None:
        yield from range(options.cases)
    else:
        end, number = time.monotonic() + options.seconds, 0
        while time.monotonic() < end:
            yield number
            number += 1


def run(case: Case, name: str) -> tuple[int, list[str]]:
    """What a case compared, and what was wrong."""
    faults, steps = [], case(name)
    while True:
        try:
            faults.append(next(steps))
        except StopIteration as end:
            return end.value or 0, faults
        except ValueError as refused:  # a sum that wraps, of more digits than any carrier has
            if "keeps the low digits" in str(refused):
                return 0, faults
            return 0, [*faults, f"ValueError: {refused}"]
        except Exception as why:  # whatever the package raises of its own accord is a fault, too
            return 0, [*faults, f"{type(why).__name__}: {why}"]


if __name__ == "__main__":
    sys.exit(main())
