"""What engines must not do besides giving the right codes: hang, or take memory."""

import os

import numpy as np
import pytest
import widthwise as ww
from peak_memory import printed_by

UNITS = ["mac(e5m10)", "mac(binary64)", "hopper.f16.f32", "mac(e5m10, sum=e5m10:rtz)"]


def operands(unit, m, k, n):
    u, rng = ww.Unit(unit), np.random.default_rng(1)
    return ww.array(rng.normal(size=(m, k)), u.a), ww.array(rng.normal(size=(k, n)), u.b)


@pytest.mark.parametrize("unit", UNITS)
def test_a_child_process_multiplies_as_its_parent_did(unit):
    a, b = operands(unit, 96, 64, 96)
    want = ww.matmul(a, b, unit=unit, threads=3).bits
    child = os.fork()
    if child == 0:
        same = np.array_equal(ww.matmul(a, b, unit=unit, threads=3).bits, want)
        os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("unit", UNITS)
def test_no_number_of_threads_changes_a_bit(unit):
    a, b = operands(unit, 70, 33, 130)
    one = ww.matmul(a, b, unit=unit, threads=1).bits
    for threads in (2, 3, 16):
        np.testing.assert_array_equal(ww.matmul(a, b, unit=unit, threads=threads).bits, one)


@pytest.mark.parametrize("unit", UNITS[:3])
def test_a_product_takes_no_more_memory_than_its_result_and_32_mb(unit):
    program = f"""
        import widthwise as ww
        u = ww.Unit({unit!r})
        a, b = ww.zeros((1500, 1200), u.a), ww.zeros((1200, 1300), u.b)
        ww.matmul(a[:8, :8], b[:8, :8], unit=u, threads=1)
        before = peak()
        result = ww.matmul(a, b, unit=u, threads=1)
        print(peak() - before - result.bits.nbytes)
        """
    (more,) = printed_by(program)
    assert more < 32e6


@pytest.mark.skipif("cuda" in ww.engines(), reason="there is a GPU")
def test_an_engine_without_its_machine_says_what_is_missing():
    why = ww.engines().unusable["cuda"]
    assert "NVIDIA driver" in why or "nvcc" in why or "GPU" in why
    assert f"not cuda: {why}" in repr(ww.engines())
    assert f"cuda       does not: {why}" in ww.explain("mac(e5m10)", 2, 2, 2)
    a, b = operands("mac(e5m10)", 2, 2, 2)
    with pytest.raises(ValueError, match="engine = 'cuda' cannot be used here: .*'auto' computes"):
        ww.matmul(a, b, unit="mac(e5m10)", engine="cuda")


def test_a_size_below_zero_is_told():
    with pytest.raises(ValueError, match=r"k = -1: it may be 0 to 2\^63 - 1"):
        ww.explain("mac(e5m10)", 1, 1, -1)


@pytest.mark.parametrize("unit", [*ww.units, *UNITS, "kulisch(e5m10)", "dot(e4m3fn, out=e5m10)"])
def test_a_product_that_no_memory_holds_is_explained(unit):
    said = ww.explain(unit, 1 << 40, 1 << 30, 1 << 40)
    assert "1,298,074,214,633,706,907,132,624,082,305,024 products" in said
    assert said.engine in ww.engines()
