"""Test benches of a folder that was exported, and of nothing else, get the simulator's answers."""

import shutil
import subprocess

import numpy as np
import pytest
import widthwise as ww
from model_calls import all_pairs, packed, unit_operands


def run(folder, command):
    program = command.split()[0]
    if not program.startswith("./") and not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    done = subprocess.run(
        command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def exported(tmp_path):
    def export(spec, name):
        ww.export(spec, tmp_path / "hw", name=name, model=True)
        return tmp_path / "hw"

    return export


PROGRAM = """
#include <inttypes.h>
#include <stdio.h>
#include "fp8_mul.h"
#include "widthwise_model.h"

int main(void) {
  widthwise_model *model = widthwise_model_open(FP8_MUL_SPEC);
  uint32_t sum = 0, flags = 0, raised = 0;
  uint64_t y = 0, a, b;
  if (widthwise_model_hash(model) != FP8_MUL_MODEL_HASH) return 1;
  if (widthwise_model_abi() != FP8_MUL_MODEL_ABI) return 2;
  for (a = 0; a < 256; ++a)
    for (b = 0; b < 256; ++b) {
      if (widthwise_model_op64(model, FP8_MUL_RM_RUP, 0, 0, a, b, 0, &y, &flags)) return 3;
      sum = sum * 31 + (uint32_t)y;
      raised |= flags;
    }
  widthwise_model_close(model);
  printf("%" PRIu32 " %" PRIu32 "\\n", sum, raised);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -std=c99 -x c", "g++ -std=c++11 -x c++"])
def test_a_c_program_of_an_exported_folder(exported, compiler):
    folder = exported("multiply(e4m3fn)", "fp8_mul")
    (folder / "program.c").write_text(PROGRAM)
    run(
        folder,
        f"{compiler} -pedantic -Wall -Wextra -Werror program.c -x none -o program "
        "libwidthwise_model.so -Wl,-rpath,'$ORIGIN'",
    )
    a, b = all_pairs(ww.Format("e4m3fn"))
    want, raised = ww.multiply(a, b, rounding="rup", flags=True)
    total = 0
    for code in want.bits.tolist():
        total = (total * 31 + code) % 2**32
    assert run(folder, "./program").split() == [str(total), str(np.bitwise_or.reduce(raised))]


# What all benches compute: a bit of everything, told as one number a line.
def unit_lines(unit, n):
    a, b, c, _ = unit_operands(ww.Unit(unit), n, 32)
    want, raised = ww.dot(a, b, unit=unit, c=c, flags=True)
    vectors = [
        f"{packed(a[i]):064x}{packed(b[i]):064x}{packed(c[i : i + 1]):08x}" for i in range(n)
    ]
    return vectors, [
        f"{code:08x} {flags:02x}" for code, flags in zip(want.bits, raised, strict=True)
    ]


DPI_BENCH = """
module bench;
  import dot32_dpi_pkg::*;
  bit [543:0] memory[0:19];
  bit [255:0] a, b;
  bit [31:0] c, y, z;
  int unsigned flags, raised;
  chandle model, trace, accumulator;
  string code;
  initial begin
    model = model_open(SPEC);
    if (model_hash(model) != MODEL_HASH || model_error(model) != "") $fatal(1, "another model");
    accumulator = accumulator_open(model, 1, 0, 0);
    $readmemh("vectors.hex", memory);
    for (int i = 0; i < 20; ++i) begin
      {a, b, c} = memory[i];
      if (model_words(model, 1, 0, 0, 32, a, b, c, null, null, y, flags) != 0) $fatal(1, "words");
      void'(accumulator_reset(accumulator, c));
      void'(accumulator_step(accumulator, 32, a, b, null, null));
      if (accumulator_read(accumulator, z, raised) != 0 || z != y || raised != flags)
        $fatal(1, "accumulator");
      trace = model_trace(model, 1, 0, 0, 32, a, b, c, null, null);
      code = trace_significand(trace, trace_rows(trace) - 1);
      if (code.atohex() != int'(y)) $fatal(1, "trace");
      trace_close(trace);
      $display("%08x %02x", y, flags);
    end
    {y, flags} = {32'd5, 32'd6};
    if (model_words(model, 1, 0, 0, 33, a, b, c, null, null, y, flags) != 9) $fatal(1, "k");
    if (model_words(model, 1, 0, 0, 100000, a, b, c, null, null, y, flags) != 9) $fatal(1, "k");
    if (model_words(model, 5, 0, 0, 32, a, b, c, null, null, y, flags) != 2) $fatal(1, "rm");
    if (accumulator_step(accumulator, 64'd1 << 63, a, b, null, null) != 9) $fatal(1, "k");
    if (model_trace(model, 1, 0, 0, 33, a, b, c, null, null) != null) $fatal(1, "trace");
    if (y != 5 || flags != 6) $fatal(1, "written all the same");
    accumulator_close(accumulator);
    model_close(model);
    $finish;
  end
endmodule
"""


def test_dpi_in_verilator(exported):
    folder = exported("hopper.e4m3.f32", "dot32")
    vectors, want = unit_lines("hopper.e4m3.f32", 20)
    (folder / "vectors.hex").write_text("\n".join([*vectors, ""]))
    (folder / "bench.sv").write_text(DPI_BENCH)
    run(
        folder,
        "verilator --cc --exe --build --main -Wall --top-module bench "
        "-O0 -MAKEFLAGS 'OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0' "
        "dot32_dpi_pkg.sv bench.sv -LDFLAGS '-L.. -lwidthwise_model'",
    )
    lines = run(folder, "env LD_LIBRARY_PATH=. ./obj_dir/Vbench").splitlines()
    assert [line for line in lines if not line.startswith("- ")] == want


VPI_BENCH = """
module bench;
  reg [63:0] model, hash;
  reg [543:0] memory[0:19];
  reg [255:0] a, b;
  reg [31:0] c, y;
  reg [4:0] flags;
  integer i;
  `include "dot32.vh"
  initial begin
    if ($widthwise_open(model, "hopper.e4m3.f32") != 0) $finish;
    $widthwise_hash(model, hash);
    if (hash !== MODEL_HASH) $finish;
    $readmemh("vectors.hex", memory);
    for (i = 0; i < 20; i = i + 1) begin
      {a, b, c} = memory[i];
      if ($widthwise_words(model, RM_DEFAULT, NUM_TERMS, a, b, c, 1'b0, 1'b0, y, flags) != 0)
        $display("no answer");
      $display("%h %h", y, {3'b000, flags});
    end
    if ($widthwise_words(model, 5, 32, a, b, c, 1'b0, 1'b0, y, flags) == 2) $display("no rounding");
    a[0] = 1'bx;
    if ($widthwise_words(model, 1, 32, a, b, c, 1'b0, 1'b0, y, flags) == 6) $display("no code");
    $widthwise_close(model);
    if ($widthwise_open(model, "mac(e99m3)") == 1) $display("not open");
  end
endmodule
"""


def test_vpi_in_icarus(exported):
    folder = exported("hopper.e4m3.f32", "dot32")
    vectors, want = unit_lines("hopper.e4m3.f32", 20)
    (folder / "vectors.hex").write_text("\n".join([*vectors, ""]))
    (folder / "bench.v").write_text(VPI_BENCH)
    run(
        folder,
        "iverilog-vpi -Wall -Wextra -Werror --name=widthwise widthwise_vpi.c -L. -lwidthwise_model",
    )
    run(folder, "iverilog -Wall -g2005 -o sim bench.v")
    lines = run(folder, "env LD_LIBRARY_PATH=. vvp -n -M. -mwidthwise sim").splitlines()
    assert lines[:20] == want and lines[20:22] == ["no rounding", "no code"]
    assert "e99m3" in lines[22] and lines[23] == "not open"


VPI_LENGTHS = """
module bench;
  reg [63:0] model, other;
  reg [31:0] cut;
  reg [255:0] a, b;
  reg [127:0] short;
  reg [511:0] long;
  reg [31:0] c, y;
  reg [30:0] narrow;
  reg [63:0] wide;
  reg [4:0] flags;
  reg [3:0] four;
  integer i, unknown;
  initial begin
    if ($widthwise_open(model, "hopper.e4m3.f32") != 0) $finish;
    {y, narrow, flags, four} = 0;
    for (i = 0; i < 8; i = i + 1) begin a[32*i +: 32] = 32'h3c383a39; b[32*i +: 32] = 32'h38; end
    {short, long, c} = {a[127:0], 256'd0, a, 32'h3f800000};
    for (i = 0; i < 3; i = i + 1) begin
      $display("%0d", $widthwise_words(model, 0, 64, a, b, c, 1'b0, 1'b0, y, flags));
      $display("%0d", $widthwise_words(model, 0, 100000, a, b, c, 1'b0, 1'b0, y, flags));
      $display("%0d", $widthwise_words(model, 0, 64'd1 << 63, a, b, c, 1'b0, 1'b0, y, flags));
    end
    $display("%0d", $widthwise_words(model, 0, 32, short, b, c, 1'b0, 1'b0, y, flags));
    $display("%0d", $widthwise_words(model, 0, 32, a, short, c, 1'b0, 1'b0, y, flags));
    $display("%0d", $widthwise_words(model, 0, 32, a, b, 1'b0, 1'b0, 1'b0, y, flags));
    $display("%0d", $widthwise_words(model, 0, 32, a, b, c, 1'b0, 1'b0, narrow, flags));
    $display("%0d", $widthwise_words(model, 0, 32, a, b, c, 1'b0, 1'b0, y, four));
    $display("%0d", $widthwise_words(model, 0, unknown, a, b, c, 1'b0, 1'b0, y, flags));
    $display("%0d", $widthwise_words(model, unknown, 32, a, b, c, 1'b0, 1'b0, y, flags));
    other = 0;
    $display("%0d", $widthwise_words(other, 0, 32, a, b, c, 1'b0, 1'b0, y, flags));
    $display("%0d", $widthwise_open(cut, "hopper.e4m3.f32"));
    $display("%h %h %h %h", y, narrow, flags, four);
    $display("%0d", $widthwise_words(model, 0, 32, a, b, c, 1'b0, 1'b0, y, 0));
    $display("%0d", $widthwise_words(model, 0, 32, long, b, c, 1'b0, 1'b0, wide, flags));
    $display("%h %h", y, wide);
    $widthwise_close(model);
    if ($widthwise_open(model, "add(e4m3fn)") != 0) $finish;
    $display("%0d", $widthwise_words(model, 0, 2, a, b, c, 1'b0, 1'b0, y, flags));
    $widthwise_close(model);
    if ($widthwise_open(model, "blackwell.mxfp8") != 0) $finish;
    $display("%0d", $widthwise_words(model, 0, 32, a, b, c, 7'd0, 8'd0, y, flags));
    $display("%0d", $widthwise_words(model, 0, 32, a, b, c, 8'd0, 8'd0, y, flags));
    $widthwise_close(model);
  end
endmodule
"""


def test_vpi_looks_at_lengths_before_it_reads(exported):
    folder = exported("hopper.e4m3.f32", "dot32")
    (folder / "bench.v").write_text(VPI_LENGTHS)
    run(folder, "iverilog-vpi --name=widthwise widthwise_vpi.c -L. -lwidthwise_model")
    run(folder, "iverilog -g2005 -o sim bench.v")
    lines = run(folder, "env LD_LIBRARY_PATH=. vvp -n -M. -mwidthwise sim").splitlines()
    no_room, no_code, not_open, no_length = "9", "6", "1", "4"
    assert lines[:14] == [no_room] * 14
    assert lines[14:18] == [no_code, no_code, not_open, no_room]
    assert lines[18] == "00000000 00000000 00 0"  # nothing was written
    a = ww.from_bits(np.uint8([0x39, 0x3A, 0x38, 0x3C] * 8), "e4m3fn")
    b = ww.from_bits(np.uint8([0x38, 0, 0, 0] * 8), "e4m3fn")
    c = ww.from_bits(np.uint32(0x3F800000), "binary32")
    y = int(ww.dot(a, b, unit="hopper.e4m3.f32", c=c).bits)
    assert lines[19:] == ["0", "0", f"{y:08x} {y:016x}", no_length, no_room, "0"]


VHDL_BENCH = """
use work.dot32_vhpi_pkg.all;
use std.textio.all;
entity bench is end entity;
architecture test of bench is
begin
  process
    file vectors : text open read_mode is "vectors.txt";
    variable text_line, told : line;
    variable a : a_words;
    variable b : b_words;
    variable c : c_words;
    variable none : scale_words;
    variable y, z : y_words;
    variable flags, raised : flag_word;
    variable model, accumulator : handle;
    variable status : integer;
    variable k : number;
  begin
    model := model_open(DESIGN);
    assert model_abi(0) = 1 and model_hash(model) = DESIGN_HASH severity failure;
    accumulator := accumulator_open(model, 1, 0 fs, 0 fs);
    while not endfile(vectors) loop
      readline(vectors, text_line);
      for i in a'range loop read(text_line, a(i)); end loop;
      for i in b'range loop read(text_line, b(i)); end loop;
      read(text_line, c(0));
      flags(0) := -1;
      model_words(model, 1, 0 fs, 0 fs, 32 fs, a, b, c, none, none, y, flags);
      accumulator_reset(accumulator, c);
      accumulator_step(accumulator, 32 fs, a, b, none, none);
      accumulator_read(accumulator, z, raised);
      assert z(0) = y(0) and raised(0) = flags(0) severity failure;
      write(told, integer'image(y(0)) & " " & integer'image(flags(0)));
      writeline(output, told);
    end loop;
    y(0) := 5;
    for i in 0 to 2 loop
      k := 100000 fs * i + 33 fs;
      model_words(model, 1, 0 fs, 0 fs, k, a, b, c, none, none, y, flags, status);
      assert status = 9 and y(0) = 5 severity failure;
    end loop;
    model_words(model, 5, 0 fs, 0 fs, 32 fs, a, b, c, none, none, y, flags, status);
    assert status = 2 and y(0) = 5 severity failure;
    accumulator_step(accumulator, 33 fs, a, b, none, none, status);
    assert status = 9 severity failure;
    accumulator_step(accumulator, 32 fs, a, b, none, none, status);
    assert status = 0 severity failure;
    accumulator_reset(accumulator, c, status);
    assert status = 0 severity failure;
    accumulator_read(accumulator, z, raised, status);
    assert status = 0 severity failure;
    accumulator_close(accumulator);
    model_close(model);
    wait;
  end process;
end architecture;
"""


def signed_words(vector):
    """The words of a port's hexadecimal digits as VHDL's integers, the lowest first."""
    words = [int(vector[max(end - 8, 0) : end], 16) for end in range(len(vector), 0, -8)]
    return " ".join(str(w - 2**32 if w >> 31 else w) for w in words)


@pytest.mark.parametrize("standard", ["93", "08"])
def test_vhpidirect_in_ghdl(exported, standard):
    folder = exported("hopper.e4m3.f32", "dot32")
    vectors, want = unit_lines("hopper.e4m3.f32", 20)
    ports = [(v[:64], v[64:128], v[128:]) for v in vectors if v[128:] != "80000000"]
    lines = [" ".join(map(signed_words, port)) for port in ports]
    (folder / "vectors.txt").write_text("\n".join([*lines, ""]))
    (folder / "bench.vhd").write_text(VHDL_BENCH)
    run(folder, f"ghdl -a --std={standard} dot32_vhpi_pkg.vhd bench.vhd")
    told = run(folder, f"env LD_LIBRARY_PATH=. ghdl -r --std={standard} bench").splitlines()
    codes = [f"{signed_words(line[:8])} {int(line[9:], 16)}" for line in want]
    assert told == codes
