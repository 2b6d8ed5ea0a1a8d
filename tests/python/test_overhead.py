"""What a call costs beyond the C++ that it leads to."""

import subprocess
import sys

from bench_overhead import addition, import_seconds, summation


def test_one_element_costs_less_than_two_microseconds_beyond_the_core():
    """Or than five of NumPy's calls, on a slower machine."""
    whole, inner, numpy = addition(1, calls=200, rounds=300)
    assert whole - inner < max(2e-6, 5 * numpy)


def test_a_million_elements_cost_what_the_core_takes():
    """Within 5 % on a quiet machine, as the benchmark prints; others share the caches here."""
    whole, inner, _ = addition(1_000_000, calls=1, rounds=200)
    assert whole < 1.1 * inner
    whole, inner = summation(1_000_000, calls=1, rounds=20)
    assert whole < 1.1 * inner


def test_an_import_takes_less_than_0_15_seconds():
    """Of its process's own time, and the least of several: whatever else runs can only add."""
    assert import_seconds(15) < 0.15


def test_an_import_brings_no_more_than_numpy():
    program = "import sys, widthwise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert {"widthwise", "numpy"} <= loaded
    assert not {"pandas", "polars", "matplotlib", "torch", "scipy", "tqdm", "IPython"} & loaded
