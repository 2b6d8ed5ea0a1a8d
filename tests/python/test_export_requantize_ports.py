"""Exports of requantisation by ports, multiplier and zero point: one module for all channels."""

import ctypes
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from exported_folders import check_that_a_change_is_seen, make, needs
from model_calls import LIB
from test_export_blocks import constants, model_of, vectors
from test_export_requantize import away, up

SHIFTS = ("gemmlowp", "ruy", "single", "q31")
VARIANTS = (*SHIFTS, "exact", "rndnu", "fp32")


def text(variant, qmin=-128, qmax=127, multiplier="port", zero_point="port"):
    return (
        f"requantize({variant}, multiplier={multiplier}, zero_point={zero_point}, "
        f"qmin={qmin}, qmax={qmax})"
    )


def signed(code, width):
    return code - (code >> width - 1 << width)


def binary32(x):
    """A fraction rounded to binary32 without its largest exponent, to nearest, ties to even."""
    if x == 0:
        return x
    exponent = abs(x).numerator.bit_length() - abs(x).denominator.bit_length() - 1
    while Fraction(2) ** (exponent + 1) <= abs(x):
        exponent += 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(x / unit) * unit


def rounded(acc, b, variant):
    """acc times the multiplier of that code, as the formula of the runtime has it."""
    if variant in SHIFTS:
        q, h = b & 2**32 - 1, signed(b >> 32, 6)
        if variant == "single":
            return up(acc * q * Fraction(2) ** (h - 31))
        high = up(Fraction(signed(acc << max(h, 0) & 2**32 - 1, 32) * q, 2**31))
        return (up if variant == "ruy" else away)(Fraction(high, 2 ** max(-h, 0)))
    field, fraction = b >> 23, b & 2**23 - 1
    m = (fraction + (2**23 if field else 0)) * Fraction(2) ** (max(field, 1) - 150)
    if variant == "fp32":
        return round(binary32(binary32(Fraction(acc)) * m))
    return (round if variant == "exact" else up)(acc * m)


RANGES = {"gemmlowp": (0, 255), "rndnu": (-32768, 32767), "q31": (-8, 7), "single": (0, 65535)}


@pytest.fixture(scope="module", params=VARIANTS)
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ports") / "x"
    qmin, qmax = RANGES.get(request.param, (-128, 127))
    ww.export(text(request.param, qmin, qmax), folder, "x", vectors=2000)
    return folder, request.param, qmin, qmax


def test_vectors_are_the_formulas(case):
    folder, variant, qmin, qmax = case
    lines = vectors(folder, "x")
    width = constants(folder, "x")["Y_WIDTH"]
    clamped, multipliers = 0, set()
    for a, b, c, y, flags in lines:
        z = signed(c, width) if qmin < 0 else c
        exact = rounded(signed(a, 32), b, variant) + z
        wanted = min(max(exact, qmin), qmax)
        assert (y, flags) == (wanted & (1 << width) - 1, 5 * (wanted != exact)), (a, b, c)
        clamped += wanted != exact
        multipliers.add(b)
    assert len(lines) > 4000 and len(multipliers) > 1500
    assert len(lines) // 8 < clamped < len(lines) * 7 // 8


def test_vectors_meet_ties_and_the_fields_ends(case):
    folder, variant, *_ = case
    lines = vectors(folder, "x")
    if variant in SHIFTS:
        assert {b >> 32 for _, b, *_ in lines} == set(range(64))
        assert {0, 1, 2**30, 2**31 - 1, 2**31, 2**32 - 1} <= {b & 2**32 - 1 for _, b, *_ in lines}
        power = [(a, b) for a, b, *_ in lines if b & 2**32 - 1 == 2**30 and b >> 32 >= 34]
        ties = [a for a, b in power if a % 2 ** (65 - (b >> 32)) == 2 ** (64 - (b >> 32))]
    else:
        assert {0, 1, 149, 150, 189, 190, 254, 255} <= {b >> 23 for _, b, *_ in lines}
        power = [(a, b) for a, b, *_ in lines if b % 2**23 == 0 and 95 <= b >> 23 < 127]
        ties = [a for a, b in power if a % 2 ** (127 - (b >> 23)) == 2 ** (126 - (b >> 23))]
    assert len(ties) > 10


@pytest.mark.in_turn(5)
def test_modules_pass_in_verilator_beside_the_model(case, tmp_path):
    needs("verilator")
    folder, variant, qmin, qmax = case
    done = make(folder, "verilator")
    assert done.returncode == 0, done.stdout
    ww.export(text(variant, qmin, qmax), tmp_path / "x", "x", vectors=10, model=True)
    done = make(tmp_path / "x", "dpi")
    assert done.returncode == 0, done.stdout
    assert " vectors, 0 errors" in done.stdout


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("spec", "there", "others"),
    [
        (
            text("ruy", zero_point=3),
            {"B_WIDTH": 38, "B_Q_WIDTH": 32, "B_H_WIDTH": 6, "ZERO_POINT": 3},
            {"MULTIPLIER"},
        ),
        (text("exact", multiplier=0.5), {"C_WIDTH": 8}, {"ZERO_POINT", "B_WIDTH"}),
        (text("fp32", 0, 255, zero_point=128), {"B_WIDTH": 31}, set()),
    ],
)
def test_a_port_alone_in_icarus_with_headers_and_yosys(tmp_path, spec, there, others):
    needs("iverilog")
    needs("yosys")
    ww.export(spec, tmp_path / "x", "x", vectors=40)
    done = make(tmp_path / "x", "icarus", "headers", "yosys")
    assert done.returncode == 0, done.stdout
    table = constants(tmp_path / "x", "x")
    assert table.items() >= there.items() and not table.keys() & others


@pytest.mark.in_turn(3)
def test_registers(tmp_path):
    needs("iverilog")
    for variant, stages in (
        ("gemmlowp", "product,round,pack"),
        ("rndnu", "product,round"),
        ("fp32", "unpack,sum_round,product,product_round,round,pack"),
    ):
        there = tmp_path / variant
        ww.export(text(variant), there, "x", pipeline=stages, vectors=60)
        assert constants(there, "x")["LATENCY"] == len(stages.split(","))
        done = make(there, "icarus")
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("variant", "file", "old", "new"),
    [
        ("gemmlowp", "x.v", "b[37] ? 6'd0 : b[37:32]", "b[37:32]"),
        ("gemmlowp", "x.v", "7'd0 - {b[37], b[37:32]}", "{2'd0, ~b[36:32]}"),
        ("single", "x.v", "7'd31 - {b[37], b[37:32]}", "7'd31 - {1'b0, b[37:32]}"),
        ("ruy", "x.v", "b[31:0]", "{1'b0, b[30:0]}"),
        ("exact", "x.v", "|b[30:23], b[22:0]", "1'b0, b[22:0]"),
        ("exact", "x.v", "above > 8'd40 ? 6'd40 : ", ""),
        ("rndnu", "x.v", "below > 8'd105 ? 7'd105 : ", ""),
        ("rndnu", "ww_round_shift.v", "TIES == 1 ||", "TIES == 2 ||"),
        ("exact", "ww_round_shift.v", "|(lost & ~half) || ", ""),
        ("q31", "x.v", "{99{c[7]}}", "{99{1'b0}}"),
    ],
)
def test_a_changed_module_fails(tmp_path, variant, file, old, new):
    ww.export(text(variant), tmp_path / "x", "x", vectors=100)
    check_that_a_change_is_seen(tmp_path / "x", file, old, new)


@pytest.mark.parametrize("end", ["(x > 65535 ? 65535 : x)", "(x < -65535 ? -65535 : x)"])
def test_a_sum_cut_to_17_bits_before_its_zero_point_fails(tmp_path, end):
    """Only zero points at an end of their 16 bits tell."""
    ww.export(text("exact", -32768, 32767, multiplier=2.0), tmp_path / "x", "x", vectors=100)
    check_that_a_change_is_seen(tmp_path / "x", "ww_clamp.v", "x + zero", f"{end} + zero")


def test_a_port_says_what_a_constant_says():
    """Multipliers as runtimes keep them, in the model of one design for all channels."""
    rng = np.random.default_rng(4)
    sums = rng.integers(-(2**31), 2**31, 2000) >> rng.integers(0, 28, 2000)
    sums = sums.astype(np.int32)
    for variant in VARIANTS:
        for m in (0.0123, 0.75, 2.0**-20, 1.75 * 2.0**-9):
            m = float(np.float32(m))
            fraction, h = np.frexp(m)
            q = round(Fraction(float(fraction)) * 2**31)
            b = (int(h) % 64 << 32 | q) if variant in SHIFTS else int(np.float32(m).view(np.uint32))
            codes = np.full(sums.size, b, np.uint64 if variant in SHIFTS else np.uint32)
            zero_points = np.full(sums.size, 3, np.int8)
            model = model_of(text(variant))
            y, flags = np.zeros(sums.size, np.int8), np.zeros(sums.size, np.uint8)
            pointers = [ctypes.c_void_p(each.ctypes.data) for each in (sums, codes, zero_points)]
            outputs = [ctypes.c_void_p(each.ctypes.data) for each in (y, flags)]
            status = LIB.widthwise_model_batch(
                model, ctypes.c_uint32(LIB.widthwise_model_rounding(model)), ctypes.c_uint64(0),
                ctypes.c_uint64(0), ctypes.c_uint64(sums.size), ctypes.c_uint64(1),
                *pointers, None, None, *outputs,
            )  # fmt: skip
            assert status == 0
            assert np.array_equal(y, ww.requantize(sums, m, 3, -128, 127, variant)), (variant, m)
            LIB.widthwise_model_close(model)
