"""What Python adds to a call of the core, counted: tests/benchmarks/bench_overhead.py times it."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import widthwise as ww
from calls import calls


def ones(count):
    return ww.array(np.ones(count), "e5m10")


def test_one_element_takes_few_calls_beyond_the_core():
    """Each is some 0.1 us, and 2 us are asked."""
    x = ones(1)
    names = calls(lambda: ww.add(x, x))
    assert names.count("elementwise") == 1 and len(names) <= 14


@pytest.mark.parametrize(
    "work",
    [lambda x: ww.add(x, x), lambda x: ww.sum(x, unit="mac(e5m10)"), lambda x: x * x + x],
    ids=["add", "sum", "operators"],
)
def test_a_million_elements_take_no_more_calls_than_one(work):
    few, many = ones(1), ones(1_000_000)
    assert calls(lambda: work(many)) == calls(lambda: work(few))


def test_a_million_elements_take_the_memory_of_their_result():
    x = ones(1_000_000)
    ww.add(x, x)
    tracemalloc.start()
    try:
        z = ww.add(x, x)
        assert tracemalloc.get_traced_memory()[1] < z.bits.nbytes + 10_000
    finally:
        tracemalloc.stop()


def test_an_import_brings_no_more_than_numpy():
    program = "import sys, numpy; before = set(sys.modules); import widthwise; print(before)"
    program += "; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    before, brought = map(eval, done.stdout.splitlines())
    heavy = {"pandas", "polars", "matplotlib", "torch", "scipy", "tqdm", "IPython"}
    assert "widthwise" in brought and "numpy" in before and not heavy & (before | brought)
    small = {"__future__", "_decimal", "array", "copy", "dataclasses", "decimal", "fractions"}
    assert {name for name in brought if name.partition(".")[0] != "widthwise"} <= small
