"""Exports of requantisation: each variant as its runtime's formula has it, benches, the model."""

import math
import subprocess
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from exported_folders import check_that_a_change_is_seen, make, needs
from test_export_blocks import constants, vectors

# variant, multiplier, zero point, range
CASES = [
    ("exact", 0.5, 0, -128, 127),
    ("exact", 0.01171875, 7, 0, 255),
    ("exact", 3 * 2.0**-140, -3, -128, 127),
    ("exact", 3 * 2.0**60, 1, -128, 127),
    ("gemmlowp", 0.016251842738900624, -5, -128, 127),
    ("gemmlowp", 5.3, 0, -128, 127),
    ("ruy", 0.25, 3, 0, 255),
    ("ruy", 3.1e-9, 3, 0, 255),
    ("single", 0.3141592653589793, 0, -128, 127),
    ("single", 2.0**29, 0, -8, 7),
    ("q31", 0.0625, 128, 0, 255),
    ("q31", 2.0**-32, 0, -128, 127),
    ("rndnu", 0.0078125, 0, -128, 127),
    ("rndnu", 1e-20, 0, -32768, 32767),
    ("fp32", 0.0123, -128, -128, 127),
    ("fp32", 1e-7, 0, -128, 127),
    ("fp32", 3e38, 100, 0, 65535),
]


def text(variant, m, z, qmin, qmax):
    return f"requantize({variant}, multiplier={m!r}, zero_point={z}, qmin={qmin}, qmax={qmax})"


def up(x):
    return math.floor(x + Fraction(1, 2))


def away(x):
    return up(x) if x >= 0 else -up(-x)


def rounded(acc, m, variant):
    """acc M as the formula of the runtime has it, in integers and fractions."""
    if variant == "exact":
        return round(acc * Fraction(m))
    single = np.float32(m)
    if variant == "rndnu":
        return up(acc * Fraction(float(single)))
    if variant == "fp32":
        with np.errstate(over="ignore"):
            product = float(np.float32(acc) * single)
        return round(product) if math.isfinite(product) else int(math.copysign(2**99, acc))
    fraction, h = math.frexp(float(single) if variant == "q31" else m)
    q = away(Fraction(fraction) * 2**31)
    if q == 2**31:
        q, h = q >> 1, h + 1
    if variant == "single":
        return up(Fraction(acc * q) * Fraction(2) ** (h - 31))
    shifted = acc << max(h, 0) & 2**32 - 1
    shifted -= (shifted >> 31) << 32
    high = up(Fraction(shifted * q, 2**31))
    return (up if variant == "ruy" else away)(Fraction(high, 2 ** max(-h, 0)))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]:g}")
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sum") / "x"
    ww.export(text(*request.param), folder, "x", vectors=300)
    return folder, request.param


def test_vectors_are_the_formulas_and_the_simulators(case):
    folder, (variant, m, z, qmin, qmax) = case
    lines = vectors(folder, "x")
    sums = np.array([a for a, _, _ in lines], np.uint32).view(np.int32)
    codes = ww.requantize(sums, m, z, qmin, qmax, variant)
    width = constants(folder, "x")["Y_WIDTH"]
    clamped = 0
    for acc, (_, y, flags), code in zip(sums.tolist(), lines, codes.tolist(), strict=True):
        exact = rounded(acc, m, variant) + z
        wanted = min(max(exact, qmin), qmax)
        assert (y, flags) == (wanted & (1 << width) - 1, 5 * (wanted != exact)), acc
        assert code == wanted
        clamped += wanted != exact
    assert len(lines) > 450 and clamped < len(lines)


@pytest.mark.in_turn(2)
def test_modules_pass_in_icarus(case):
    needs("iverilog")
    folder, _ = case
    done = make(folder, "icarus")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(3)
def test_a_bench_in_verilator_beside_the_model_and_yosys(tmp_path):
    needs("verilator")
    needs("yosys")
    there = tmp_path / "x"
    ww.export(text("gemmlowp", 0.0123, 3, 0, 255), there, "x", vectors=50, model=True)
    done = make(there, "verilator", "dpi", "yosys", "headers")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(3)
def test_registers(tmp_path):
    needs("iverilog")
    for variant, stages in (
        ("single", "product,round,pack"),
        ("fp32", "unpack,sum_round,product,product_round,round,pack"),
    ):
        there = tmp_path / variant
        ww.export(text(variant, 0.0123, 3, 0, 255), there, "x", pipeline=stages, vectors=60)
        assert constants(there, "x")["LATENCY"] == len(stages.split(","))
        done = make(there, "icarus")
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("variant", "m", "file", "old", "new"),
    [
        ("exact", 0.5, "ww_round_shift.v", "TIES == 1 ||", "TIES == 0 ||"),
        ("ruy", 0.25, "ww_round_shift.v", "TIES == 1 ||", "TIES == 2 ||"),
        ("gemmlowp", 0.25, "ww_round_shift.v", ": !x[W-1]", ": x[W-1]"),
        ("gemmlowp", 5.3, "ww_scale_sum.v", "sum << left", "sum"),
        ("exact", 0.01171875, "ww_round_shift.v", "|(lost & ~half) || ", ""),
        ("rndnu", 0.3, "ww_clamp.v", "moved > MOST ? MOST", "moved >= MOST ? MOST - 1"),
        ("rndnu", 0.3, "ww_clamp.v", "moved < LEAST || ", ""),
        ("rndnu", 0.3, "ww_clamp.v", "x + zero", "x"),
    ],
)
def test_a_changed_module_fails(tmp_path, variant, m, file, old, new):
    ww.export(text(variant, m, 3, -128, 127), tmp_path / "x", "x", vectors=100)
    check_that_a_change_is_seen(tmp_path / "x", file, old, new)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("exact, multiplier=0.1", "built for multipliers of binary32, as 0.10000000149"),
        ("exact, multiplier=0", "finite and above zero"),
        ("q31, multiplier=1.5", "q31 takes multipliers of 2\\^-32 and more, below 1"),
        ("single, multiplier=3e9", "single rounding takes multipliers below 2\\^30"),
        ("rndnu, multiplier=1e39", "takes it in binary32, where it is inf"),
        ("tflite, multiplier=0.5", "there are exact, gemmlowp, ruy"),
        ("exact, multiplier=0.5, qmax=70000", "codes have up to 16 bits|65536"),
        ("exact, multiplier=0.5, zero_point=200", "in this order"),
        ("exact, multiplier=1e-60", "takes it in binary32, where it is 0"),
        ("exact, multiplier=ports", "multiplier = 'ports': a number, or port, is wanted"),
        ("exact, multiplier=port, zero_point=prt", "zero_point = 'prt': a number, or port"),
        ("exact, multiplier=port, zero_point=port, qmin=5, qmax=3", "qmin = 5, qmax = 3: they are"),
        ("exact, multiplier=port, zero_point=200", "in this order"),
        ("exact, scale=0.5", "there are multiplier=, zero_point=, qmin= and qmax="),
    ],
)
def test_what_is_refused_says_why_and_writes_nothing(tmp_path, given, why):
    with pytest.raises(ValueError, match=why):
        ww.export(f"requantize({given})", tmp_path / "x", "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("multiplier", ["0.25", "port"])
def test_the_command_takes_it(tmp_path, multiplier):
    done = subprocess.run(
        ["widthwise", "export", f"requantize(ruy, multiplier={multiplier})", tmp_path / "x"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x" / "rtl" / "ww_clamp.v").exists()
