"""What `./dev test` leaves to `./dev test --long`; docs/evidence.md has the table.

A test that is marked `long` runs with --long alone. Of the cases of a test that is marked
`sample(n)` the first of each n run each time, and all with --long.
"""

import os
from collections import Counter

import pytest


def pytest_collection_modifyitems(items):
    if "WIDTHWISE_LONG" in os.environ:
        return
    later, cases = pytest.mark.skip(reason="--long was not given"), Counter()
    for item in items:
        sample = item.get_closest_marker("sample")
        case = cases[item.parent.nodeid, item.originalname]
        cases[item.parent.nodeid, item.originalname] += 1
        if item.get_closest_marker("long") or (sample and case % sample.args[0]):
            item.add_marker(later)
