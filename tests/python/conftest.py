"""What `./dev test` leaves to `./dev test --long`; docs/evidence.md has the table.

A test that is marked `long` runs with --long alone. Of the cases of a test that is marked
`sample(n)` each n-th runs, and all with --long; which of n is the first hangs on the turn.
"""

from collections import Counter

import pytest
from turns import LONG, TURN


def pytest_collection_modifyitems(items):
    if LONG:
        return
    later, cases = pytest.mark.skip(reason="--long was not given"), Counter()
    for item in items:
        sample = item.get_closest_marker("sample")
        case = cases[item.parent.nodeid, item.originalname]
        cases[item.parent.nodeid, item.originalname] += 1
        if item.get_closest_marker("long") or (sample and (case - TURN) % sample.args[0]):
            item.add_marker(later)
