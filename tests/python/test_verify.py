"""ww.verify: MPFR and vector files as judges, and whether they can find a fault at all."""

import re

import numpy as np
import pytest
import widthwise as ww
from oracle.format_cover import FIELDS, chosen, format_cover, is_format, pairs, text_of
from widthwise import _widthwise as core
from widthwise._dot import Operands
from widthwise._verify import judge_unit, random_codes

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


@needs_mpfr
@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("what", ["add", "mac(e5m10)"])
def test_operands_that_are_too_many_or_too_few_are_counted(what, count):
    told = f"{what} takes 2 operands, {count} {'was' if count == 1 else 'were'} given"
    with pytest.raises(TypeError, match=re.escape(told)):
        ww.verify(what, *[ww.array([[1.0]], "e5m10")] * count)


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


# --- Fixed point, posits, takums ------------------------------------------------------------------

SYSTEMS = ["fixed8.4", "ufixed8.4", "fixed1.0", "fixed4.-2", "fixed4.6", "fixed100.50"]
SYSTEMS += [f"fixed9.3;overflow={x}" for x in ("symmetric", "zero", "wrap", "wrap_sm", "keep_sign")]
SYSTEMS += [f"ufixed9.3;overflow={x}" for x in ("symmetric", "zero", "wrap", "keep_sign")]
SYSTEMS += [f"posit{n}es{es}" for n, es in ((3, 0), (3, 4), (5, 1), (8, 2), (16, 1), (64, 4))]
SYSTEMS += ["posit32es2", "takum3", "takum8", "takum11", "takum12", "takum16", "takum64"]
MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
MODES += ["sr5", "sr9:half", "sr3:even"]


@needs_mpfr
@pytest.mark.parametrize("format", SYSTEMS)
def test_other_number_systems_agree_with_mpfr(format):
    for op in [*OPERATIONS, "round_to_integral", "round_to_integral_exact"]:
        for mode in MODES:
            verdict = ww.verify(op, format=format, n=150, rounding=mode, seed=MODES.index(mode))
            assert verdict and "against MPFR" in str(verdict), str(verdict)


@needs_mpfr
@pytest.mark.parametrize("format", [*SYSTEMS, "e5m10", "e4m3fnuz", "e8m0fnu", "ue5m3", "binary64"])
def test_conversions_between_number_systems_agree_with_mpfr(format):
    for number, to in enumerate([*SYSTEMS, "e5m10", "e2m1fn", "e4m3fnuz", "e8m0fnu", "binary32"]):
        for op in ("convert", "multiply", "divide"):
            mode = MODES[number % len(MODES)]
            verdict = ww.verify(op, format=format, to=to, n=80, rounding=mode)
            assert verdict, str(verdict)


@needs_mpfr
@pytest.mark.parametrize("kind", ["mac", "fma", "kulisch", "dot", "tree", "kahan", "neumaier"])
def test_units_of_number_systems_agree_with_mpfr(kind):
    rng = np.random.default_rng(len(kind))
    signed = [f for f in SYSTEMS if not f.startswith("u")] + ["e5m10", "e4m3fn", "binary32"]
    for draw in range(40):
        a, b, c, node, to, last = (str(f) for f in rng.choice(signed, 6))
        modes = [f":{rng.choice(MODES)}" for _ in range(3)]
        sums = f"sum={to}{modes[0]}"
        said = {
            "mac": f"b={b}, c={c}, product={node}{modes[1]}, {sums}, final={last}{modes[2]}",
            "fma": f"b={b}, c={c}, {sums}, promote=8:{last}{modes[2]}",
            "kulisch": f"b={b}, c={c}, out={to}{modes[0]}",
            "dot": f"b={b}, c={c}, out={to}{modes[0]}, lanes={2 ** (draw % 4)}",
            "tree": f"b={b}, fan=4, node={node}{modes[1]}, {sums}",
            "kahan": f"b={b}, product={to}{modes[1]}, {sums}",
            "neumaier": f"b={b}, product={to}{modes[1]}, {sums}",
        }[kind]
        verdict = ww.verify(f"{kind}({a}, {said})", n=20, k=9, seed=draw)
        assert verdict and verdict.vectors == 20, str(verdict)


TABLES = ["table(nf4)", "table(-1,0,1)", "table(1,2,5,-7)", "table(0.1,0.3,-0.7,nan)"]


@needs_mpfr
@pytest.mark.parametrize("format", TABLES)
def test_tables_agree_with_mpfr(format):
    modes = [mode for mode in MODES if mode != "odd"]
    for mode in modes:
        for given in (format, "binary64", "posit16es2", "fixed8.4"):
            verdict = ww.verify("convert", format=given, to=format, n=300, rounding=mode)
            assert verdict, str(verdict)
        for op in ("add", "multiply"):
            verdict = ww.verify(op, format=format, n=300, rounding=mode)
            assert verdict, str(verdict)
    for unit in (f"kulisch({format}, out=e5m10)", f"mac(e4m3fn, b={format}, sum=e8m23)"):
        verdict = ww.verify(unit, n=100, k=9)
        assert verdict, str(verdict)


@needs_mpfr
@pytest.mark.parametrize("op", ["minimum", "abs", "next_up", "logb"])
def test_an_operation_that_mpfr_does_not_check_is_told_what_checks_it(op, tmp_path):
    way = rf"what = '{op}': MPFR checks add, .*; a file's lines .* ww.verify\(…, vectors="
    with pytest.raises(ValueError, match=way):
        ww.verify(op, format="e5m2", n=9)
    (tmp_path / "lines.txt").write_text("")
    assert ww.verify(op, format="e5m2", vectors=tmp_path / "lines.txt").errors == 0


@needs_mpfr
@pytest.mark.parametrize("format", ["posit16es2", "takum16", "fixed16.8;overflow=wrap"])
def test_a_wrong_code_of_a_number_system_is_found(format):
    u = ww.Unit(f"mac({format})")
    a = ww.array(np.random.default_rng(0).standard_normal((30, 9)), u.a)
    x = Operands.of_dots(u, a, a, None, None, None)
    result = ww.dot(a, a, unit=u).bits.copy()
    assert judge_unit(u, x, result, 0, [])
    result[[3, 17]] ^= 1
    verdict = judge_unit(u, x, result, 0, [])
    assert verdict.errors == 2
    assert verdict.failures[0] == f"output 3: MPFR has {result[3] ^ 1:#x}, this is {result[3]:#x}"


def test_operands_meet_what_number_systems_get_wrong():
    marks = {v for j in range(16) for v in (1 << j, 0x8000 - (1 << j))} | {0}
    borders = sorted({s * (v + d) % 65536 for v in marks for d in (-1, 0, 1) for s in (1, -1)})
    for format in ("posit16es2", "takum16", "fixed16.8", "int16"):
        (x,) = random_codes(1, (8000,), ww.Format(format), 1)
        counts = np.bincount(x.bits, minlength=65536)
        assert counts[borders].min() > 0, format
        assert 0.3 < counts[borders].sum() / 8000 < 0.6
        for code in (0, 1, 0x7FFF, 0x8000, 0xFFFF):
            assert counts[code] > 50, (format, hex(code))
        assert np.unique(x.bits).size > 2000
    (x,) = random_codes(1, (4000,), ww.Format("binary32"), 1)
    to, between = ww.Format("posit8es2"), ww.Format("posit9es2")
    core.operands_to_borders(x.format._core, to._core, 1, x.bits)
    wider, inexact = ww.convert(x, between, flags=True)
    on_a_border = (inexact == 0) & (wider.bits % 2 == 1)
    beside = ww.convert(ww.next_up(x), between, flags=True)
    assert on_a_border.sum() > 100
    assert ((beside[1] == 0) & (beside[0].bits % 2 == 1)).sum() > 100


@needs_mpfr
def test_a_format_whose_only_special_code_is_infinity():
    assert ww.verify("multiply", format="e5m0;nan=ieee", n=5000).errors == 0
