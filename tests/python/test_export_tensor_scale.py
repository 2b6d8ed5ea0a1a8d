"""Exports of quantisers whose tensor scale is a port: NVFP4's, found while hardware runs."""

import ctypes
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
from test_export_divided import numbers_of, nvfp4

TEXT = "blocks(nvfp4, a={}, tensor_scale=port)"
# Zeros, negative numbers, infinities, NaN: no scales.
NONE = [0, 0x80000000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001]
ENDS = [0x00000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF]


def tensor_scale(code):
    """The number of a code of binary32, or None where it is no scale."""
    x = float(np.uint32(code).view(np.float32))
    return Fraction(x) if 0 < x < float("inf") else None


@pytest.fixture(scope="module", params=["binary32", "bfloat16"])
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("port") / "x"
    ww.export(TEXT.format(request.param), folder, "x", vectors=400)
    return folder, request.param


def test_vectors_are_the_definition(case):
    folder, source = case
    met, scales, saturated, elements = set(), set(), 0, set()
    for a, b, y, scale, flags in vectors(folder, "x"):
        numbers, tensor = numbers_of(a, source), tensor_scale(b)
        codes = lanes(y, 4, 16)
        met.add(b)
        if tensor is None or not np.isfinite(numbers).all():
            assert (scale, codes, flags) == (0x7F, [0] * 16, 16)
            continue
        wanted = nvfp4([Fraction(float(x)) for x in numbers], tensor)
        assert (scale, [code & 7 for code in codes]) == wanted[:2]
        assert [code >= 8 for code in codes] == np.signbit(numbers).tolist()
        assert flags & 1 == (not wanted[2])
        scales.add(scale)
        elements.update(codes)
        saturated += flags & 4 > 0
    assert {*NONE, *ENDS} <= met and len(met) > 60
    assert len(scales) > 100 and len(elements) == 16 and saturated > 10


def test_constants_have_the_port(case):
    table = constants(case[0], "x")
    assert (table["B_WIDTH"], table["B_FRAC_WIDTH"], table["B_BIAS"]) == (32, 23, 127)
    assert "TENSOR_SCALE" not in table and table["ELEMENT_MOST"] == 7
    readme = (case[0] / "README.md").read_text()
    assert 'ww.blocks(x, "nvfp4", tensor_scale=b)' in readme and "| `divide_round`" not in readme


@pytest.mark.in_turn(2)
def test_modules_pass_in_verilator(case):
    check_in_verilator(case[0])


def small(tmp_path, **how):
    text = "blocks(block(e2m1fn,2,ue4m3fn), a=bfloat16, tensor_scale=port)"
    ww.export(text, tmp_path / "x", "x", **how)
    return tmp_path / "x"


@pytest.mark.in_turn(3)
def test_icarus_headers_and_yosys(tmp_path):
    needs("iverilog")
    needs("yosys")
    done = make(small(tmp_path, vectors=40), "icarus", "headers", "yosys")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(3)
def test_registers(tmp_path):
    needs("iverilog")
    there = small(tmp_path, vectors=40, pipeline="unpack,largest,scale,divide,round")
    assert constants(there, "x")["LATENCY"] == 5
    done = make(there, "icarus")
    assert done.returncode == 0, done.stdout


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| b[31] ", "| 1'b0 "),
        ("(&b[30:23])", "1'b0"),
        ("~(|b[30:0])", "1'b0"),
        ("~(|b[30:0])", "~(|b[30:23])"),
        ("tensor_scale_code = b;", "tensor_scale_code = {b[31:1], 1'b0};"),
    ],
)
def test_a_changed_module_fails(tmp_path, old, new):
    check_that_a_change_is_seen(small(tmp_path, vectors=100), "x.v", old, new)


BENCH = """
module bench;
  import x_dpi_pkg::*;
  bit [31:0] a, b;
  bit [7:0] y;
  bit [6:0] scale;
  int unsigned flags;
  wire [7:0] dut_y;
  wire [6:0] dut_scale;
  wire [4:0] dut_flags;
  x dut (.a(a), .b(b), .y(dut_y), .scale(dut_scale), .flags(dut_flags));
  initial begin
    automatic chandle model = model_open(SPEC);
    automatic int errors = 0;
    for (int i = 0; i < 20000; ++i) begin
      a = $urandom;
      b = $urandom;
      // Near one another, in three of four.
      if (i % 4 != 0) begin
        a[30:26] = a[14:10];
        b[31:27] = {1'b0, a[14:11]};
      end
      if (model_block(model, 0, a, b, y, scale, flags) != 0) $fatal;
      #1 if ({y, scale, flags[4:0]} !== {dut_y, dut_scale, dut_flags}) ++errors;
    end
    $display("%0d errors", errors);
    $finish;
  end
endmodule
"""


@pytest.mark.in_turn(3)
def test_the_golden_model_beside_the_module_through_dpi(tmp_path):
    needs("verilator")
    assert "\n0 errors" in said_beside_the_model(small(tmp_path, vectors=10, model=True), BENCH)


def test_the_golden_model_is_ww_blocks():
    rng = np.random.default_rng(6)
    x = (rng.standard_normal((200, 16)) * 2.0 ** rng.integers(-30, 20, (200, 1))).astype(np.float32)
    tensor = (np.abs(x).max(1) / np.float32(2688)).astype(np.float32)
    tensor[7], tensor[8], tensor[9], x[10, 3] = 0, -1, np.nan, np.inf
    model = model_of(TEXT.format("binary32"))
    assert [LIB.widthwise_model_width(model, port) for port in range(5)] == [32, 32, 0, 4, 7]
    y, scale = np.zeros((200, 16), np.uint8), np.zeros(200, np.uint8)
    flags = np.zeros(200, np.uint8)
    at, given, *outputs = (
        ctypes.c_void_p(each.ctypes.data) for each in (x, tensor, y, scale, flags)
    )
    rm, count = ctypes.c_uint32(0), ctypes.c_uint64(200)
    assert LIB.widthwise_model_blocks(model, rm, count, at, None, *outputs) == 5
    assert LIB.widthwise_model_blocks(model, rm, count, at, given, *outputs) == 0
    assert (flags == 16).nonzero()[0].tolist() == [7, 8, 9, 10]
    for i in set(range(200)) - {7, 8, 9, 10}:
        wanted = ww.blocks(x[i], "nvfp4", tensor_scale=tensor[i])
        assert np.array_equal(y[i], wanted.elements.bits) and scale[i] == wanted.scales.bits[0]
    LIB.widthwise_model_close(model)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("blocks(mxfp4, tensor_scale=port)", "tensor_scale = port: there is none; nvfp4 and other"),
        ("blocks(nvfp4, tensor_scale=ports)", "tensor_scale = 'ports': a number, or port, is want"),
    ],
)
def test_where_there_is_no_such_port(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        ww.export(text, tmp_path / "x", "x")
