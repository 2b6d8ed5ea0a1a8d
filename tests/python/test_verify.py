"""ww.verify: MPFR and vector files as judges, and whether they can find a fault at all."""

import numpy as np
import pytest
import widthwise as ww
from oracle.format_cover import FIELDS, chosen, format_cover, is_format, pairs, text_of
from widthwise import _widthwise as core
from widthwise._dot import Operands
from widthwise._verify import judge_unit

needs_mpfr = pytest.mark.skipif(core.mpfr_version is None, reason="MPFR was not found at the build")
OPERATIONS = ["add", "subtract", "multiply", "divide", "remainder", "sqrt", "fma"]


@needs_mpfr
@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "binary64", "e20m64", "e9m6", "binary8p3uf"])
@pytest.mark.parametrize("op", OPERATIONS)
def test_operations_agree_with_mpfr(op, format):
    verdict = ww.verify(op, format=format, n=1500, rounding="rup" if op == "fma" else "rne", seed=3)
    assert verdict, str(verdict)
    assert verdict.vectors == 1500 and verdict.against.startswith("MPFR")


@needs_mpfr
@pytest.mark.parametrize(
    "rounding", ["rna", "rnz", "rno", "rtz", "rdn", "raz", "odd", "sr8", "sr64:half"]
)
@pytest.mark.parametrize("tininess", ["before", "after"])
def test_conversions_agree_with_mpfr_in_every_mode(rounding, tininess):
    verdict = ww.verify(
        "convert", format="binary32", to="e5m2", n=3000, rounding=rounding, tininess=tininess
    )
    assert verdict, str(verdict)


@needs_mpfr
@pytest.mark.parametrize(
    "unit",
    [
        "mac(e5m10)",
        "fma(e9m6)",
        "hopper.e4m3.f32",
        "kulisch(e5m10)",
        "mac(e4m3fn, sum=e5m10:sr8)",
        "kahan(e5m10)",
        "neumaier(e4m3fn, product=e5m2:rtz, sum=e8m7:rup)",
        "kahan(e5m2, sum=e5m10:sr5, promote=8:e8m23)",
        "neumaier(bfloat16, sum=e4m3fn:sr20:half)",
    ],
)
def test_units_agree_with_mpfr(unit):
    verdict = ww.verify(unit, n=200, k=24)
    assert verdict and verdict.vectors == 200, str(verdict)


@needs_mpfr
def test_a_scaled_unit_agrees_with_mpfr():
    name = next(name for name, u in ww.units.items() if u.scale_format)
    assert ww.verify(name, n=50, k=3 * ww.units[name].scale_block + 5)


@needs_mpfr
def test_operands_of_ones_own_are_judged():
    x = ww.array([0.1, 0.2, 0.3], "e5m10")
    verdict = ww.verify("add", x, x)
    assert verdict and verdict.vectors == 3
    a = ww.array(np.random.default_rng(0).standard_normal((4, 30)), "e5m10")
    assert ww.verify(ww.Unit("mac(e5m10)"), a, a, c=x[0]).vectors == 4


@needs_mpfr
def test_a_wrong_result_is_found_and_shown():
    u = ww.Unit("mac(e5m10)")
    a = ww.array(np.random.default_rng(0).standard_normal((30, 9)), u.a)
    x = Operands.of_dots(u, a, a, None, None, None)
    result = ww.dot(a, a, unit=u).bits.copy()
    result[[3, 17]] ^= 1
    verdict = judge_unit(u, x, result, 0, [])
    assert not verdict and verdict.errors == 2
    assert verdict.failures[0] == f"output 3: MPFR has {result[3] ^ 1:#x}, this is {result[3]:#x}"
    assert "30 vectors, 2 errors" in str(verdict)


def test_without_operands_a_format_is_needed():
    if core.mpfr_version is None:
        with pytest.raises(RuntimeError, match="this build has no MPFR: install libmpfr-dev"):
            ww.verify("add", format="e5m10")
        return
    with pytest.raises(TypeError, match="format: without operands it is needed"):
        ww.verify("add")
    with pytest.raises(ValueError, match=r"n = -1: it may be 0 to 2\^63 - 1"):
        ww.verify("add", format="e5m10", n=-1)
    with pytest.raises(ValueError, match=r"operation 'ad' is not known; nearest name: 'add'"):
        ww.verify("ad", format="e5m10")


def test_a_vector_file_is_a_judge(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("// three sums\n3C00 3C00 4000 00\n3C00 0001 3C00 01\n\n7C00 FC00 FE00 10\n")
    verdict = ww.verify("add", format="binary16", vectors=path)
    assert verdict and verdict.vectors == 3
    path.write_text("3C00 3C00 4001 00\n")
    verdict = ww.verify("add", format="binary16", vectors=path)
    assert not verdict
    assert verdict.failures == ["line 1: 3C00 3C00: the vector has 4001 00, this is 4000 00"]
    path.write_text("")
    assert not ww.verify("add", format="binary16", vectors=path)  # nothing was checked


def test_the_cover_has_every_two_values_of_two_fields_that_may_meet():
    assert all(map(is_format, format_cover())) and len(format_cover()) < 70
    some = list(np.ndindex(*map(len, FIELDS)))[::37]
    may_meet = set().union(*(pairs(choice) for choice in some if is_format(text_of(choice))))
    assert len(may_meet) > 400
    assert may_meet <= set().union(*map(pairs, chosen()))


@needs_mpfr
@pytest.mark.parametrize("format", format_cover())
def test_corners_of_formats_agree_with_mpfr(format):
    rng = np.random.default_rng(format_cover().index(format))
    modes = ["rne", "rna", "rnz", "rup", "rdn", "rtz", "raz", "odd", "sr3", "sr5:even"]
    for op in [*OPERATIONS, "convert", "round_to_integral_exact"]:
        how = {"rounding": str(rng.choice(modes))}
        how["tininess"] = str(rng.choice(["after", "before", "delivered"]))
        verdict = ww.verify(op, format=format, n=400, **how)
        assert verdict, str(verdict)
    for to in rng.choice(format_cover(), 3):
        verdict = ww.verify("convert", format=format, to=str(to), n=300)
        assert verdict, str(verdict)


@needs_mpfr
def test_a_format_whose_only_special_code_is_infinity():
    assert ww.verify("multiply", format="e5m0;nan=ieee", n=5000).errors == 0
