"""Exports of quantisers whose scales divide, NVFP4's and tiles': each step again in fractions."""

import bisect
import ctypes
import math
import struct
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from exported_folders import check_that_a_change_is_seen, make, needs
from model_calls import LIB
from test_export_blocks import (
    check_in_verilator,
    constants,
    lanes,
    model_of,
    said_beside_the_model,
    vectors,
)
from turns import LONG

# e2m1's and e4m3fn's numbers from 0 on, in the order of their codes.
E2M1 = [Fraction(x) for x in ("0", "1/2", "1", "3/2", "2", "3", "4", "6")]
E4M3 = [
    Fraction(code & 7 | (8 if code >> 3 else 0)) * Fraction(2) ** (max(code >> 3, 1) - 10)
    for code in range(0x7F)
]


def nearest(x, numbers):
    """The code of a magnitude: to nearest, ties to even; past the largest it saturates."""
    at = bisect.bisect_left(numbers, min(x, numbers[-1]))
    codes = (at, max(at - 1, 0))
    return min(codes, key=lambda code: (abs(numbers[code] - min(x, numbers[-1])), code & 1))


def binary32(x):
    """A fraction rounded to binary32, to nearest, ties to even."""
    if x == 0:
        return Fraction(0)
    exponent = math.floor(math.log2(x)) - 1
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(x / unit) * unit


def nvfp4(numbers, tensor):
    """Codes of the scale and of elements, and whether all elements are exact."""
    amax = max(map(abs, numbers))
    scale = max(nearest(amax / (6 * tensor), E4M3), 1) if amax else 0
    quotients = [abs(x) / (E4M3[scale] * tensor) if scale else abs(x) for x in numbers]
    codes = [nearest(x, E2M1) for x in quotients]
    return scale, codes, all(E2M1[c] == x for c, x in zip(codes, quotients, strict=True))


def tile(numbers, _):
    scale = binary32(max(map(abs, numbers)) / 448) or Fraction(1)
    exact = [abs(x) / scale for x in numbers]
    codes = [nearest(binary32(x), E4M3) for x in exact]
    code = struct.unpack("<I", struct.pack("<f", float(scale)))[0]
    return code, codes, all(E4M3[c] == x for c, x in zip(codes, exact, strict=True))


LARGE, THIRD, SMALL = float(np.float32(1e30)), float(np.float32(1 / 3)), 2.0**-13
CASES = {
    "nvfp4": ("blocks(nvfp4)", nvfp4, 1, 4),
    "nvfp4_bfloat16": (f"blocks(nvfp4, a=bfloat16, tensor_scale={SMALL})", nvfp4, SMALL, 4),
    "nvfp4_third": (f"blocks(nvfp4, tensor_scale={THIRD!r})", nvfp4, THIRD, 4),
    "nvfp4_large": (f"blocks(nvfp4, tensor_scale={LARGE!r})", nvfp4, LARGE, 4),
    "tile": ("blocks(block(e4m3fn,1x16,binary32))", tile, 1, 8),
    "tile_bfloat16": ("blocks(block(e4m3fn,4x4,binary32), a=bfloat16)", tile, 1, 8),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("divided") / "x"
    ww.export(CASES[request.param][0], folder, "x", vectors=200)
    return folder, *CASES[request.param]


def numbers_of(a, source):
    codes = np.array(lanes(a, 16 if source == "bfloat16" else 32, 16), np.uint32)
    return (codes << 16 if source == "bfloat16" else codes).view(np.float32)


def test_vectors_are_the_definition(case):
    folder, text, quantised, tensor, width = case
    scales, saturated = set(), 0
    for a, y, scale, flags in vectors(folder, "x"):
        numbers = numbers_of(a, "bfloat16" if "bfloat16" in text else "binary32")
        codes = lanes(y, width, 16)
        if not np.isfinite(numbers).all():
            assert (scale, codes, flags) == ({4: 0x7F, 8: 2**32 - 1}[width], [0] * 16, 16)
            continue
        wanted = quantised([Fraction(float(x)) for x in numbers], Fraction(tensor))
        sign = 1 << width - 1
        assert (scale, [code & sign - 1 for code in codes]) == wanted[:2]
        assert [code >= sign for code in codes] == np.signbit(numbers).tolist()
        assert flags & 1 == (not wanted[2])
        scales.add(scale)
        saturated += flags & 4 > 0
    assert len(scales) > 30 and (quantised is tile or saturated)


@pytest.mark.in_turn(5)
def test_modules_pass_in_verilator(case):
    check_in_verilator(case[0])


def test_constants_say_what_is_divided(case):
    folder, text, quantised, tensor, _ = case
    table = constants(folder, "x")
    assert table["ELEMENT_MOST"] == {nvfp4: 7, tile: 0x7E}[quantised]
    bits = int(np.float32(tensor).view(np.uint32))
    assert table.get("TENSOR_SCALE") == (bits if quantised is nvfp4 else None)
    assert table["BLOCK_NUMBERS"] == 16 and "SCALE_UP" not in table


@pytest.mark.in_turn(6)
def test_icarus_headers_and_yosys(tmp_path):
    needs("iverilog")
    needs("yosys")
    text = "blocks(block(e2m1fn,2,ue4m3fn), a=bfloat16, tensor_scale=0.25)"
    ww.export(text, tmp_path / "x", "x", vectors=40, rounding_port=True)
    done = make(tmp_path / "x", "icarus", "headers", "yosys")
    assert done.returncode == 0, done.stdout
    readme = (tmp_path / "x" / "README.md").read_text()
    assert 'ww.blocks(x, "block(e2m1fn,2,ue4m3fn)", tensor_scale=0.25)' in readme


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("block(e2m1fn,3,ue4m3fn)", "unpack,largest,scale,divide,round"),
        ("block(e4m3fn,3,binary32)", "largest,scale,divide,divide_round,normalise"),
    ],
)
def test_registers(tmp_path, text, stages):
    needs("iverilog")
    ww.export(f"blocks({text}, a=bfloat16)", tmp_path / "x", "x", pipeline=stages, vectors=40)
    assert constants(tmp_path / "x", "x")["LATENCY"] == 5
    done = make(tmp_path / "x", "icarus")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("text", "file", "old", "new"),
    [
        ("nvfp4", "ww_divide.v", "left >= divisor", "left > divisor"),
        ("nvfp4", "ww_divide.v", "{digits, |left}", "{digits, 1'b0}"),
        ("nvfp4", "x.v", "wanted_code == 7'd0 ? 7'd1", "1'b0 ? 7'd1"),
        ("block(e4m3fn,4,binary32)", "ww_divide.v", "left >= divisor", "left > divisor"),
        ("block(e4m3fn,4,binary32)", "x.v", "? 32'h3f800000", "? 32'h00000000"),
    ],
)
def test_a_changed_module_fails(tmp_path, text, file, old, new):
    ww.export(f"blocks({text}, a=bfloat16)", tmp_path / "x", "x", vectors=40)
    check_that_a_change_is_seen(tmp_path / "x", file, old, new)


@pytest.mark.in_turn(4)
@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (f"block(e4m3fn,{20 if LONG else 5},binary32)", "single_flags"),
        (f"block(e4m3fn,{20 if LONG else 5},binary32)", "out_flags"),
        ("block(e2m1fn,20,e8m0fnu), a=bfloat16", "out_flags"),
    ],
)
def test_a_lane_whose_flags_are_left_out_is_missed(tmp_path, text, flags):
    ww.export(f"blocks({text})", tmp_path / "x", "x", vectors=0)
    check_that_a_change_is_seen(tmp_path / "x", "x.v", f"{flags}[0 +: 5]", "5'd0")


BENCH = """
module bench;
  import x_dpi_pkg::*;
  localparam int BITS = {bits};
  bit [2*BITS-1:0] a;
  bit [{y}:0] y;
  bit [{scale}:0] scale;
  int unsigned flags;
  wire [{y}:0] dut_y;
  wire [{scale}:0] dut_scale;
  wire [4:0] dut_flags;
  x dut (.a(a), .y(dut_y), .scale(dut_scale), .flags(dut_flags));
  initial begin
    automatic chandle model = model_open(SPEC);
    automatic int errors = 0;
    for (int i = 0; i < 65536; ++i) begin
      a = BITS == 8 ? i : {{$urandom, $urandom}};
      // Near one another, in all but one of four.
      if (BITS == 32 && i % 4 != 0) a[62:57] = a[30:25];
      if (model_block(model, 0, a, null, y, scale, flags) != 0) $fatal;
      #1 if ({{y, scale, flags[4:0]}} !== {{dut_y, dut_scale, dut_flags}}) ++errors;
    end
    $display("%0d errors", errors);
    $finish;
  end
endmodule
"""


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("source", ["e5m2", "binary32"])
@pytest.mark.parametrize(
    ("block", "widths"),
    [
        ("block(e2m1fn,2,ue4m3fn){}, tensor_scale=0.1875", (8, 7)),
        ("block(e3m2fn,2,ue4m3fn){}, tensor_scale=2.1262879371643066", (12, 7)),
        ("block(e4m3fn,2,binary32){}", (16, 32)),
    ],
)
def test_all_blocks_of_two_small_numbers_and_many_others(tmp_path, source, block, widths):
    needs("verilator")
    there = tmp_path / "x"
    text = f"blocks({block})".format(f", a={source}")
    ww.export(text, there, "x", vectors=10, model=True)
    fields = {"bits": 32 if source == "binary32" else 8, "y": widths[0] - 1, "scale": widths[1] - 1}
    assert "\n0 errors" in said_beside_the_model(there, BENCH.format(**fields))


def test_the_golden_model_is_ww_blocks():
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((400, 16)) * 2.0 ** rng.integers(-30, 20, (400, 1))).astype(np.float32)
    for format, tensor, item in (
        ("nvfp4", 2.0**-7, np.uint8),
        ("block(e4m3fn,1x16,binary32)", None, np.uint32),
    ):
        given = "" if tensor is None else f", tensor_scale={tensor}"
        model = model_of(f"blocks({format}{given})")
        y, scale = np.zeros((400, 16), np.uint8), np.zeros(400, item)
        flags = np.zeros(400, np.uint8)
        at, *outputs = [ctypes.c_void_p(each.ctypes.data) for each in (x, y, scale, flags)]
        rm, count = ctypes.c_uint32(0), ctypes.c_uint64(400)
        assert LIB.widthwise_model_blocks(model, rm, count, at, None, *outputs) == 0
        wanted = ww.blocks(x, format, tensor_scale=tensor)
        assert np.array_equal(y, wanted.elements.bits)
        assert np.array_equal(scale, wanted.scales.bits.reshape(-1))
        LIB.widthwise_model_close(model)
