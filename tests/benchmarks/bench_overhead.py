"""What Python adds to a call of the core: measured here, judged by tests/python/test_overhead.py.

Every figure is the least of many of this process's own time, the two that are compared by turns:
what else runs can only add.
"""

import time

import numpy as np
import widthwise as ww
from widthwise import _widthwise as core


def least_seconds(*works, calls, rounds):
    """Of one call of each work."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            begin = time.process_time_ns()
            for _ in range(calls):
                work()
            best[i] = min(best[i], time.process_time_ns() - begin)
    return [nanoseconds * 1e-9 / calls for nanoseconds in best]


def addition(count, calls, rounds):
    """Seconds of ww.add, of the core's own call with all prepared, and of np.add, on e5m10."""
    x = ww.array(np.random.default_rng(0).standard_normal(count), "e5m10")
    f, env, codes = x.format._core, core.Env(), x.bits
    pairs = [(f, codes), (f, codes)]
    return least_seconds(
        lambda: ww.add(x, x),
        lambda: core.elementwise("add", f, env, pairs, np.empty(count, np.uint16), None, 0),
        lambda: np.add(codes, codes),
        calls=calls,
        rounds=rounds,
    )


def main():
    whole, inner, numpy = addition(1, 200, 300)
    print(f"ww.add of one element: {(whole - inner) * 1e6:.2f} us beyond the core's", end=" ")
    print(f"{inner * 1e6:.2f}; np.add takes {numpy * 1e6:.2f}")
    whole, inner, _ = addition(1_000_000, 1, 300)
    print(f"ww.add of a million: {whole / inner - 1:+.1%} of the core's {inner * 1e3:.3f} ms")


if __name__ == "__main__":
    main()
