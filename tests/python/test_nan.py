"""Which NaN is delivered, x86's minimum and maximum, and what judges them."""

import platform

import numpy as np
import pytest
import widthwise as ww
from commands import widthwise
from exported_folders import make, needs, replace
from widthwise import _widthwise as core

NV = 16
needs_mpfr = pytest.mark.skipif(core.mpfr_version is None, reason="MPFR was not found at the build")
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="NumPy's NaN is x86's there")
POLICIES = ["canonical", "negative", "propagate", "x86"]


@pytest.mark.parametrize(
    "nan, made, given",
    [
        ("canonical", 0x7FC00000, 0x7FC00000),
        ("negative", 0xFFC00000, 0xFFC00000),
        ("propagate", 0x7FC00000, 0x7FC12345),
        ("x86", 0xFFC00000, 0x7FC12345),
    ],
)
@pytest.mark.parametrize("n", [1, 300])  # one by one, and in bulk
def test_a_nan_that_is_made_and_one_that_is_given(nan, made, given, n):
    zero, one = ww.zeros(n, "binary32"), ww.ones(n, "binary32")
    inf, minus = ww.full(n, float("inf"), "binary32"), ww.full(n, -1.0, "binary32")
    loud = ww.from_bits(np.full(n, 0x7F812345, np.uint32), "binary32")
    how = {"nan": nan, "flags": True}
    for z, flags in (
        ww.divide(zero, zero, **how),
        ww.subtract(inf, inf, **how),
        ww.multiply(zero, inf, **how),
        ww.sqrt(minus, **how),
        ww.remainder(one, zero, **how),
        ww.fmod(inf, one, **how),
        ww.fma(zero, inf, one, **how),
    ):
        assert (z.bits == made).all() and (flags == NV).all()
    for z, flags in (
        ww.add(loud, one, **how),
        ww.minimum(one, loud, **how),
        ww.convert(loud, "binary32", **how),
        ww.scaleb(loud, 3, **how),
        ww.round_to_integral(loud, **how),
    ):
        assert (z.bits == given).all() and (flags == NV).all()


@pytest.mark.parametrize(
    "format, want",
    [
        ("binary16", 0xFE00),
        ("bfloat16", 0xFFC0),
        ("e4m3fn", 0xFF),
        ("e4m3fnuz", 0x80),
        ("ue4m3fn", 0x7F),
        ("e5m0;nan=ieee;inf=no", 0x3F),
        ("binary64", 0xFFF8000000000000),
    ],
)
@pytest.mark.parametrize("nan", ["negative", "x86"])
def test_the_sign_is_set_where_the_formats_nan_has_one(format, want, nan):
    x = ww.ones(3, format)
    assert (
        ww.convert(ww.full(3, float("nan"), "binary64"), format, nan="negative").bits == want
    ).all()
    assert (ww.divide(ww.subtract(x, x), ww.subtract(x, x), nan=nan).bits == want).all()
    assert ww.trace_operation("divide", *[ww.subtract(x, x)[0]] * 2, nan=nan).result.bits == want


def test_every_nan_of_a_result_has_the_sign_an_overflows_too():
    huge = ww.array([1e9, -1e9], "binary32")
    z, flags = ww.convert(huge, "e4m3fn", nan="negative", flags=True)
    assert z.bits.tolist() == [0xFF, 0xFF] and flags.tolist() == [5, 5]
    assert ww.convert(huge, "e4m3fn").bits.tolist() == [0x7F, 0x7F]


def test_zero_times_infinity_beside_a_nan_is_silent_on_x86_alone():
    x = ww.from_bits([0, 0x7F800000, 0x7FC00077], "binary32")
    assert {
        nan: tuple(int(v) for v in (z.bits, flags))
        for nan in POLICIES
        for z, flags in [ww.fma(*x, nan=nan, flags=True)]
    } == {
        "canonical": (0x7FC00000, NV),
        "negative": (0xFFC00000, NV),
        "propagate": (0x7FC00000, NV),
        "x86": (0x7FC00077, 0),
    }
    assert ww.fma(x[0], x[1], x[0], nan="x86").bits == 0xFFC00000


@needs_x86
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nans_are_those_that_numpy_meets_on_x86(dtype):
    f = f"binary{8 * np.dtype(dtype).itemsize}"
    special = np.array([0, -0.0, 1, -2.5, np.inf, -np.inf], dtype)
    x, y = (a.ravel().copy() for a in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        for op in ("add", "subtract", "multiply", "divide"):
            theirs = getattr(np, op)(x, y)
            ours = getattr(ww, op)(ww.array(x, f), ww.array(y, f), nan="x86")
            assert (ours.bits == theirs.view(ours.bits.dtype)).all(), op
            assert np.isnan(theirs).any()
        theirs = np.sqrt(x)
        assert (ww.sqrt(ww.array(x, f), nan="x86").bits == theirs.view(ours.bits.dtype)).all()


def test_x86s_minimum_and_maximum_give_the_second_operand():
    plus, minus, one, two = 0x0000, 0x8000, 0x3C00, 0x4000
    quiet, loud = 0xFE05, 0x7C01
    cases = [
        (one, two, one, two, 0),
        (two, one, one, two, 0),
        (plus, minus, minus, minus, 0),
        (minus, plus, plus, plus, 0),
        (quiet, one, one, one, NV),
        (one, quiet, quiet, quiet, NV),
        (loud, one, one, one, NV),
        (one, loud, loud, loud, NV),  # as it is, signalling
        (quiet, loud, loud, loud, NV),
        (0x7C00, 0xFC00, 0xFC00, 0x7C00, 0),
    ]
    x, y, least, most, flags = (np.array(column, np.uint16) for column in zip(*cases, strict=True))
    for function, want in ((ww.min_x86, least), (ww.max_x86, most)):
        for nan in POLICIES:
            z, raised = function(x, y, format="e5m10", nan=nan, flags=True)
            assert z.bits.tolist() == want.tolist() and raised.tolist() == flags.tolist()


def test_x86s_minimum_keeps_subnormals_that_are_not_read_as_zero():
    least = ww.from_bits([1, 0x8001], "binary32")
    one = ww.ones(2, "binary32")
    assert ww.min_x86(least, one, format="binary32;ftz").bits.tolist() == [1, 0x8001]
    flushed = ww.from_bits([1, 0x80000001], "binary32;daz")
    assert ww.min_x86(flushed, ww.ones(2, "binary32;daz")).bits.tolist() == [0, 0x80000000]
    assert ww.minimum(ww.from_bits([1], "binary32;ftz"), one[:1], format="binary32;ftz").bits == 0


def test_x86s_minimum_in_another_format_is_converted():
    x, y = ww.array([3.3, 1.0], "binary32"), ww.from_bits([0x40800000, 0x7F812345], "binary32")
    z, flags = ww.min_x86(x, y, format="e5m2", nan="propagate", flags=True)
    assert z.bits.tolist() == [0x43, 0x7E] and flags.tolist() == [1, NV]
    assert ww.max_x86(x, y, format="e2m1fn", flags=True)[1].tolist() == [0, NV]


@needs_mpfr
@pytest.mark.parametrize("nan", POLICIES)
@pytest.mark.parametrize(
    "op", ["add", "subtract", "multiply", "divide", "remainder", "sqrt", "fma"]
)
def test_nans_of_every_policy_agree_with_mpfr(op, nan):
    for format, to in [
        ("e4m3", None),
        ("e5m10", "e4m3fn"),
        ("e4m3fn", "binary32"),
        ("e4m3fnuz", "e3m3"),
    ]:
        verdict = ww.verify(op, format=format, to=to, n=1500, nan=nan, seed=5)
        assert verdict, str(verdict)


@needs_mpfr
def test_mpfr_would_notice_another_policy():
    x = ww.from_bits([0x7E05, 0xFE05, 0x0000], "e5m10")
    for op in ("convert", "round_to_integral"):
        assert ww.verify(op, x, nan="x86") and ww.verify(op, x, nan="canonical")
    ours = ww.convert(x, "e5m10", nan="x86").bits
    assert ours.tolist() == [0x7E05, 0xFE05, 0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("op", ["add", "mulAdd", "min_x86", "max_x86", "convert", "sqrt"])
@pytest.mark.parametrize("nan", POLICIES)
def test_vectors_of_every_policy_are_verified_bit_by_bit(op, nan):
    lines = widthwise("vectors", "--op", op, "--format", "e5m2", "-n", "2000", "--nan", nan).stdout
    task = ("verify", "--op", op, "--format", "e5m2")
    assert "2000 vectors, 0 errors" in widthwise(*task, "--nan", nan, stdin=lines).stdout
    others = [x for x in POLICIES if x != nan and op[:3] not in ("min", "max")]
    if op == "convert" and nan in ("propagate", "x86"):  # which makes none
        others = ["canonical", "negative"]
    for other in others:  # another policy's NaN is found, unless nobody looks at it
        assert widthwise(*task, "--nan", other, stdin=lines).returncode == 1
    if nan != "x86" or op != "mulAdd":  # which raises less
        assert widthwise(*task, stdin=lines).returncode == 0


def test_a_designs_own_nan_is_verified_bit_by_bit():
    design = "fma(e5m2, c=binary16, nan=x86)"
    lines = widthwise("vectors", "--op", design, "-n", "3000").stdout
    assert "3000 vectors, 0 errors" in widthwise("verify", "--op", design, stdin=lines).stdout
    other = design.replace("x86", "canonical")
    assert widthwise("verify", "--op", other, "--nan-bits", stdin=lines).returncode == 1
    told = widthwise("vectors", "--op", design, "--nan", "x86").stderr
    assert "fma(e5m2, c=binary16, nan=x86) says its own" in told and "take none" in told


def test_the_command_op_takes_it_and_shows_it():
    shown = widthwise("op", "divide", "binary32", "0", "0", "--nan", "x86").stdout
    assert "0xffc00000" in shown and "NV" in shown
    assert (
        "0xffc00000"
        in widthwise("op", "scaleb", "binary32", "nan", "1", "--nan", "negative").stdout
    )
    assert "0x80000000" in widthwise("op", "min_x86", "binary32", "0", "-0").stdout
    told = widthwise("op", "add", "binary32", "1", "2", "--nan", "first").stderr
    assert "nan 'first'" in told and "canonical, negative, propagate or x86" in told


def test_a_file_of_vectors_is_held_to_the_policy_too(tmp_path):
    file = tmp_path / "add.txt"
    file.write_text("7FC12345 3F800000 7FC12345 00\n7F800000 FF800000 FFC00000 10\n")
    told = {n: ww.verify("add", format="binary32", vectors=file, nan=n).errors for n in POLICIES}
    assert told == {"canonical": 0, "negative": 1, "propagate": 1, "x86": 0}


HANDED_ON = "32'h7fc00000 | {a[31], 8'd0, a[22:0]}"
FAULTS = {
    "no payload": (HANDED_ON, "32'h7fc00000 | {a[31], 31'd0}"),
    "no sign": (HANDED_ON, "32'h7fc00000 | {9'd0, a[22:0]}"),
    "not quiet": (HANDED_ON, "32'h7f800000 | {a[31], 8'd0, a[22:0]}"),
    "the last NaN first": (
        "a_nan ? a_carried : b_nan ? b_carried : c_carried",
        "c_nan ? c_carried : b_nan ? b_carried : a_carried",
    ),
    "0 * infinity + NaN raises": ("(product_created & ~c_nan)", "product_created"),
    "one that is made is positive": (".NAN(32'hffc00000)", ".NAN(32'h7fc00000)"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_an_exports_vectors_find_every_wrong_nan(tmp_path, fault):
    needs("iverilog")
    ww.export("fma(binary32, nan=x86)", tmp_path / "hw", name="dut", vectors=3000, rtl=True)
    if fault:
        replace(tmp_path / "hw" / "rtl" / "dut.v", *FAULTS[fault])
    done = make(tmp_path / "hw", "icarus")
    assert (done.returncode == 0) == (fault is None), done.stdout
