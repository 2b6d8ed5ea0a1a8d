"""What `./dev test` leaves to `./dev test --long`; docs/evidence.md has the table.

A test that is marked `long` runs with --long alone. Of the cases of a test that is marked
`sample(n)` each n-th runs, and all with --long; which of n is the first hangs on the turn. Of
decorators of several parameters the uppermost one varies fastest: a sample that always met the same
value of one is an error. Cases of tests that are marked `in_turn(n)` run each n-th time, those of a
file dealt out over the n. WIDTHWISE_LONG=1 runs all of them in pytest itself.
"""

from collections import Counter, defaultdict

import pytest
from turns import LONG, TURN, in_turn

LATER = pytest.mark.skip(reason="--long was not given")


def pytest_collection_modifyitems(items):
    if LONG:
        return
    cases = defaultdict(list)
    for item in items:
        cases[item.parent.nodeid, item.originalname].append(item)
    leave_to_others(items)
    for test in cases.values():
        sample = test[0].get_closest_marker("sample")
        kept = in_turn(test, sample.args[0]) if sample else test
        check_values(test, kept)
        taken = set(kept)
        for item in test:
            if item.get_closest_marker("long") or item not in taken:
                item.add_marker(LATER)


def leave_to_others(items):
    """What is marked `in_turn`, but for its turn."""
    seen = Counter()
    for item in items:
        if mark := item.get_closest_marker("in_turn"):
            (n,) = mark.args
            if (seen[item.path] + TURN) % n:
                item.add_marker(LATER)
            seen[item.path] += 1


def check_values(test, kept):
    """No parameter of several values is to have one alone in the sample."""
    for name in test[0].callspec.params if 1 < len(kept) < len(test) else ():
        there, taken = ({id(item.callspec.params[name]) for item in of} for of in (test, kept))
        if len(taken) == 1 < len(there):
            raise pytest.UsageError(
                f"{test[0].nodeid}: of {name} the sample takes one value alone; put its decorator "
                "under another one, or take another number"
            )
