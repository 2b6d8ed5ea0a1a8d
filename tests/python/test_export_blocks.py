"""Exports of a block's quantiser: constants, vectors, benches, golden model, what is refused."""

import bisect
import ctypes
import json
import math
import subprocess
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from exported_folders import check_that_a_change_is_seen, make, needs
from model_calls import LIB

MODES = {"rne": 0, "rtz": 1, "rdn": 2, "rup": 3}


def constants(folder, name):
    rows = json.loads((folder / f"{name}.json").read_text())["constants"]
    return {
        row["name"]: int(row["value"], 16) if row["kind"] == "pattern" else row["value"]
        for row in rows
    }


def vectors(folder, name):
    lines = (folder / "vectors" / f"{name}.hex").read_text().splitlines()
    return [[int(x, 16) for x in line.split()] for line in lines if not line.startswith("//")]


def check_in_verilator(folder):
    """All vectors of module x pass."""
    needs("verilator")
    done = make(folder, "verilator")
    assert done.returncode == 0, done.stdout
    assert f"{len(vectors(folder, 'x'))} vectors, 0 errors" in done.stdout


def lanes(bus, width, count):
    return [bus >> width * i & (1 << width) - 1 for i in range(count)]


# OCP MX 1.0, 5.3.1 and 6.3: e4m3's numbers in the order of their codes, up to 448.
E4M3 = [
    Fraction(code & 7 | (8 if code >> 3 else 0)) * Fraction(2) ** (max(code >> 3, 1) - 10)
    for code in range(0x7F)
]


def e4m3_code(x):
    """To nearest, ties to even; past the largest it saturates."""
    magnitude = min(abs(x), E4M3[-1])
    at = bisect.bisect_left(E4M3, magnitude)
    codes = (at, max(at - 1, 0))
    return min(codes, key=lambda code: (abs(E4M3[code] - magnitude), code & 1))


def mxfp8_e4m3(numbers):
    """OCP's algorithm, in fractions."""
    if not np.isfinite(numbers).all():
        return 255, [0] * len(numbers)
    amax = max(abs(float(x)) for x in numbers)
    exponent = max(min(math.frexp(amax)[1] - 1 - 8, 127), -127) if amax else -127
    quotients = [Fraction(float(x)) / Fraction(2) ** exponent for x in numbers]
    signs = np.signbit(numbers)
    codes = [e4m3_code(x) | 128 * int(sign) for x, sign in zip(quotients, signs, strict=True)]
    return exponent + 127, codes


@pytest.fixture(scope="module")
def mxfp8(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mxfp8") / "mx"
    ww.export("blocks(mxfp8_e4m3)", folder, "mx", vectors=300)
    return folder


def test_constants_say_how_the_scale_is_found(mxfp8):
    table = constants(mxfp8, "mx")
    assert table["SPEC"] == "blocks(mxfp8_e4m3)"
    assert table["CANONICAL"] == "blocks(block(e4m3fn,32,e8m0fnu))"
    assert (table["BLOCK_NUMBERS"], table["ELEMENT_EMAX"], table["SCALE_EXP_MAX"]) == (32, 8, 127)
    assert (table["SCALE_WIDTH"], table["SCALE_OF_SPECIALS"], table["Y_WIDTH"]) == (8, 255, 8)
    assert (table["SCALE_UP"], table["SCALE_DOWN"]) == (1 << 24, 1 << 23)  # floor never turns


@pytest.mark.parametrize(
    ("rule", "element", "up", "down"),
    [
        # from amax / 2^floor(log2 amax), in units of 2^-7, bfloat16's last place
        ("ceil", "e4m3fn", 0x81, 0x80),
        ("rceil", "e4m3fn", 0xE1, 0x80),  # past 448 = 1.75 * 2^8
        ("even", "e4m3fn", 0xF8, 0x80),  # 1.9375 rounds to 2 in three fraction bits
        ("midmax", "e2m1fn", 0xE1, 0x80),  # past 1.75, the middle of 1.5 and 2
        ("nearest", "e2m1fn", 0x100, 0x88),  # below 1.5 / sqrt 2 = 1.0607
        ("nearest", "e5m2", 0x100, 0x9F),  # below 1.75 / sqrt 2 = 1.2374
    ],
)
def test_thresholds_are_the_rules(tmp_path, rule, element, up, down):
    text = f"blocks(block({element},2,e8m0fnu);scale={rule}, a=bfloat16)"
    ww.export(text, tmp_path / "x", "x", rtl=False)
    table = constants(tmp_path / "x", "x")
    assert (table["SCALE_UP"], table["SCALE_DOWN"]) == (up, down)


def test_vectors_are_as_ocp_defines_them(mxfp8):
    met = set()
    for a, y, scale, _ in vectors(mxfp8, "mx"):
        numbers = np.array(lanes(a, 32, 32), np.uint32).view(np.float32)
        assert (scale, lanes(y, 8, 32)) == mxfp8_e4m3(numbers)
        met.add(scale)
    assert {0, 246, 255} <= met and len(met) > 50


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("tool", ["icarus", "verilator", "cocotb"])
def test_benches_pass(mxfp8, tool):
    needs({"icarus": "iverilog", "cocotb": "iverilog"}.get(tool, tool))
    if tool == "cocotb":
        pytest.importorskip("cocotb")
    done = make(mxfp8, tool)
    assert done.returncode == 0, done.stdout
    assert f"{len(vectors(mxfp8, 'mx'))} vectors, 0 errors" in done.stdout


@pytest.mark.in_turn(3)
def test_yosys_takes_it(tmp_path):
    needs("yosys")
    text = "blocks(block(e2m1fn,4,e8m0fnu);scale=even, a=bfloat16)"
    ww.export(text, tmp_path / "x", "x", vectors=10)
    done = make(tmp_path / "x", "yosys")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(3)
def test_headers_and_registers(tmp_path):
    needs("iverilog")
    stages = "unpack,largest,scale,align,round"
    ww.export(
        "blocks(mxint8;scale=ceil, a=bfloat16)", tmp_path / "x", "x",
        pipeline=stages, rounding_port=True, vectors=40,
    )  # fmt: skip
    assert constants(tmp_path / "x", "x")["LATENCY"] == 5
    done = make(tmp_path / "x", "icarus", "headers")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(3)
def test_a_changed_module_fails(tmp_path):
    ww.export("blocks(mxfp4;scale=rceil, a=bfloat16)", tmp_path / "x", "x", vectors=40)
    check_that_a_change_is_seen(tmp_path / "x", "ww_block_scale.v", ">= UP", "> UP")


def model_of(spec):
    handle = LIB.widthwise_model_open(spec.encode())
    assert not LIB.widthwise_model_error(handle)
    return ctypes.c_void_p(handle)


@pytest.mark.parametrize("mode", MODES)
def test_the_golden_model_is_ww_blocks(mode):
    model = model_of("blocks(mxfp6_e3m2;scale=even, a=bfloat16)")
    LIB.widthwise_model_block_numbers.restype = ctypes.c_int64
    assert LIB.widthwise_model_block_numbers(model) == 32
    assert [LIB.widthwise_model_width(model, port) for port in range(5)] == [16, 0, 0, 6, 8]
    rng = np.random.default_rng(3)
    x = (rng.standard_normal((50, 32)) * 2.0 ** rng.integers(-140, 120, (50, 1))).astype(np.float32)
    x[7, 3], x[8, 4] = np.nan, np.inf
    a = ww.array(x, "bfloat16")
    bits = np.ascontiguousarray(a.bits)
    y, scale = np.zeros((50, 32), np.uint8), np.zeros(50, np.uint8)
    flags = np.zeros(50, np.uint8)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (bits, y, scale, flags)]
    rm = ctypes.c_uint32(MODES[mode])
    at, *outputs = pointers
    assert LIB.widthwise_model_blocks(model, rm, ctypes.c_uint64(50), at, None, *outputs) == 0
    wanted = ww.blocks(a.to_float64(), "mxfp6_e3m2;scale=even", rounding=mode)
    assert np.array_equal(y, wanted.elements.bits)
    assert np.array_equal(scale, wanted.scales.bits.reshape(-1))
    assert (flags == 16).nonzero()[0].tolist() == [7, 8]
    words, code, flag = np.zeros(6, np.uint32), np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    for i in range(50):
        at, *ports = [ctypes.c_void_p(each.ctypes.data) for each in (bits[i], words, code, flag)]
        assert LIB.widthwise_model_block(model, rm, at, None, *ports) == 0
        packed = int.from_bytes(words.tobytes(), "little")
        assert (lanes(packed, 6, 32), code[0], flag[0]) == (y[i].tolist(), scale[i], flags[i])
    other = LIB.widthwise_model_words(
        model, rm, ctypes.c_uint64(0), ctypes.c_uint64(0), ctypes.c_uint64(1),
        pointers[0], None, None, None, None, pointers[1], pointers[3],
    )  # fmt: skip
    assert other == 10
    LIB.widthwise_model_close(model)


BENCH = """
module bench;
  import x_dpi_pkg::*;
  bit [63:0] a;
  bit [15:0] y;
  bit [7:0] scale;
  int unsigned flags;
  wire [15:0] dut_y;
  wire [7:0] dut_scale;
  wire [4:0] dut_flags;
  x dut (.a(a), .y(dut_y), .scale(dut_scale), .flags(dut_flags));
  initial begin
    automatic chandle model = model_open(SPEC);
    automatic int errors = 0;
    for (int i = 0; i < 20000; ++i) begin
      a = {$urandom, $urandom};
      if (model_block(model, 0, a, null, y, scale, flags) != 0) $fatal;
      #1 if ({y, scale, flags[4:0]} !== {dut_y, dut_scale, dut_flags}) ++errors;
    end
    $display("%0d errors", errors);
    $finish;
  end
endmodule
"""


def said_beside_the_model(there, bench):
    """What a bench of the export x says that calls the model."""
    (there / "bench.sv").write_text(bench)
    build = (
        "verilator --binary -Wno-fatal --timescale 1ns/1ps --top-module bench "
        "-MAKEFLAGS OPT_FAST=-O0 -LDFLAGS '-L.. -lwidthwise_model -Wl,-rpath,..' "
        "x_dpi_pkg.sv bench.sv rtl/*.v"
    )
    subprocess.run(build, shell=True, cwd=there, check=True, capture_output=True)
    ran = subprocess.run(
        ["./Vbench"], cwd=there / "obj_dir", capture_output=True, text=True, check=True
    )
    return "\n" + ran.stdout


@pytest.mark.in_turn(3)
def test_the_golden_model_beside_the_module_through_dpi(tmp_path):
    needs("verilator")
    there = tmp_path / "x"
    text = "blocks(block(e2m1fn,4,e8m0fnu);scale=rceil, a=bfloat16)"
    ww.export(text, there, "x", vectors=10, model=True)
    assert "\n0 errors" in said_beside_the_model(there, BENCH)


def test_bfp_has_a_scale_for_what_it_refuses(tmp_path):
    ww.export("blocks(bfp(8,4,e8);clamp=full)", tmp_path / "x", "x", vectors=40)
    special = [v for v in vectors(tmp_path / "x", "x") if v[2] == 255]
    assert special and all(v[1] == 0 and v[3] == 16 for v in special)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("blocks(block(e4m3fn,1x128,binary32);scale=pow2)", "scale=pow2 rounds a quotient twice"),
        ("blocks(nvfp4, arithmetic=f32)", "its steps in binary32 are not built"),
        ("blocks(nvfp4, tensor_scale=0.1)", "binary32 is wanted, as 0.10000000149011612"),
        ("blocks(nvfp4, tensor_scale=0)", "a finite, positive number"),
        ("blocks(nvfp4, tensor_scale=1e-50)", "which ends at 1.4e-45 and 3.4e\\+38"),
        ("blocks(nvfp4, tensor_scale=1e50)", "which ends at 1.4e-45 and 3.4e\\+38"),
        ("blocks(mxfp4, tensor_scale=2)", "there is none; nvfp4"),
        ("blocks(mxfp4, rounding=sr8)", "it takes random bits"),
        ("blocks(mxfp4, b=bfloat16)", "there are a=, rounding= and tensor_scale="),
        ("blocks(e4m3fn)", "no block format 'e4m3fn'"),
    ],
)
def test_what_is_refused_says_why_and_writes_nothing(tmp_path, text, why):
    with pytest.raises(ValueError, match=why):
        ww.export(text, tmp_path / "x", "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("mxfp4, rounding=rtz", 'ww.blocks(x, "block(e2m1fn,32,e8m0fnu)", rounding="rtz")'),
        ("nvfp4, tensor_scale=0.5", 'ww.blocks(x, "nvfp4", tensor_scale=0.5)'),
    ],
)
def test_the_readme_has_the_call_that_does_the_same(tmp_path, text, call):
    ww.export(f"blocks({text})", tmp_path / "x", "x", rtl=False)
    readme = (tmp_path / "x" / "README.md").read_text()
    assert f"what `{call}` does" in readme and "(docs/semantics.md, B)" in readme
    eval(call, {"ww": ww, "x": np.ones(32, np.float32)})


def test_options_of_units_are_refused(tmp_path):
    with pytest.raises(ValueError, match="generator of blocks.*no random bits"):
        ww.export("blocks(mxfp4)", tmp_path / "x", "x", generator=True)
