"""Whose turn it is among tests of which each run takes a part.

`./dev test` counts the commits and hands the number on, so that n commits after another have run
all of n parts; WIDTHWISE_TURN=N repeats what a run printed.
"""

import os

LONG = "WIDTHWISE_LONG" in os.environ
TURN = int(os.environ.get("WIDTHWISE_TURN", "0"))


def in_turn(things, n):
    """Each n-th; all with --long, or of fewer than n, as where a test is asked for by name."""
    return things if LONG or len(things) < n else things[TURN % n :: n]
