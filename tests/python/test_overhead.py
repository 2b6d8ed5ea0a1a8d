"""What a call costs beyond the C++ that it leads to."""

from bench_overhead import addition


def test_one_element_costs_less_than_two_microseconds_beyond_the_core():
    """Or than five of NumPy's calls, on a slower machine."""
    whole, inner, numpy = addition(1, calls=200, rounds=300)
    assert whole - inner < max(2e-6, 5 * numpy)


def test_a_million_elements_cost_what_the_core_takes():
    """Within 5 % on a quiet machine, as the benchmark prints; others share the caches here."""
    whole, inner, _ = addition(1_000_000, calls=1, rounds=200)
    assert whole < 1.1 * inner
