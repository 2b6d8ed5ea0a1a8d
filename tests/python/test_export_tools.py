"""Exported headers as their readers read them: compilers and simulators have nothing to say.

All designs go through a tool in one run, each under a name of its own.
"""

import re
import shutil
import subprocess

import pytest
import widthwise as ww

DESIGNS = [
    "fma(e4m3fn)",
    "fma(e5m2)",
    "add(bfloat16)",
    "multiply(binary16, out=binary16:raz)",
    "fma(binary32)",
    "add(e6m9)",
    "fma(e8m15)",
    "multiply(e15m112)",
    "fma(e20m49)",
    "add(e62m4095)",
    "convert(binary32, out=e4m3fn:sr8:half)",
    "fma(e62m1, sum=e62m1)",
    "fix24.sat",
    "kulisch.f32",
    "hopper.e4m3.f32",
    "cdna3.fp8",
    "blackwell.nvfp4",
    "mac(e5m10, sum=e8m13:sr8:half)",
    "neumaier(e5m10)",
    # A text with quotes in it.
    '{a.fmt = "e5m10", b.fmt = "e5m10", c.fmt = "e5m10", lanes = 1, c_level = "group", '
    'out.fmt = "e5m10", out.nan_bits = 0x7e01}',
]
KINDS = ["pkg", "flopoco_pkg", "vhpi_pkg"]  # of VHDL
NAMES = [f"u{i}" for i in range(len(DESIGNS))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All headers of all designs in one folder."""
    everything = tmp_path_factory.mktemp("all")
    for name, design in zip(NAMES, DESIGNS, strict=True):
        for path in ww.export(design, tmp_path_factory.mktemp("hw") / name, name=name):
            shutil.copy(path, everything)
    return everything


def run(folder, command):
    program = command.split()[0]
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    return subprocess.run(
        command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def silent(folder, command):
    done = run(folder, command)
    assert (done.stdout, done.returncode) == ("", 0)


def top(modules, names):
    instances = "".join(f"  {name} i_{name}();\n" for name in names)
    return f"// verilator lint_off DECLFILENAME\n{modules}module top;\n{instances}endmodule\n"


# Two modules of one file with each fragment, and ports that the parameters size.
FRAGMENTS = """module {0}_a;
  `include "{0}.vh"
  `include "{0}_hardfloat.vh"
endmodule
module {0}_b;
  `include "{0}.vh"
endmodule
module {0}_c #(
  `include "{0}_params.vh"
) (input wire [A_WIDTH-1:0] a, output wire [A_WIDTH+Y_WIDTH-1:0] y);
  assign y = {{a, Y_MAX_FINITE}};
endmodule
module {0}_d #(
  `include "{0}_params.vh"
) (input wire [RM_WIDTH-1:0] rm, output wire equal);
  assign equal = rm == RM_DEFAULT;
endmodule
module {0};
  wire [`{1}_A_WIDTH-1:0] a = `{1}_A_MAX_FINITE;
  wire [`{1}_A_WIDTH+`{1}_Y_WIDTH-1:0] y;
  wire [`{1}_RM_WIDTH-1:0] rm = `{1}_RM_DEFAULT;
  wire equal;
  {0}_a i_a();
  {0}_b i_b();
  {0}_c i_c(.a(a), .y(y));
  {0}_d i_d(.rm(rm), .equal(equal));
  // Less a number below zero, and as a part of a vector: brackets and sizes are needed for both.
  wire above = 1-`{1}_Y_EMIN > 0;
  wire [95:0] both = {{64'd1, `{1}_FLAG_NX}};
  wire unused = &{{1'b0, y, equal, above, both}};
endmodule
"""


@pytest.fixture(scope="module")
def verilog(folder):
    text = "".join(f'`include "{name}_defs.vh"\n' * 2 for name in NAMES)
    text += "".join(FRAGMENTS.format(name, name.upper()) for name in NAMES)
    (folder / "top.v").write_text(top(text, NAMES))
    return "top.v"


# A module may name what it wants of a package; Yosys takes no more than that.
PACKAGES = """module p_{0} (input wire {0}_pkg::a_t a, output wire {0}_pkg::y_t y, output wire e);
  wire [{0}_pkg::A_WIDTH-1:0] b = a;
  assign y = {0}_pkg::Y_MAX_FINITE;
  assign e = b == {0}_pkg::A_MAX_FINITE && {0}_fpnew_pkg::A_EXP_BITS == {0}_pkg::A_EXP_WIDTH;
endmodule
"""


@pytest.fixture(scope="module")
def systemverilog(folder):
    text = "".join(
        f'`include "{name}_pkg.sv"\n`include "{name}_fpnew_pkg.sv"\n' * 2 for name in NAMES
    )
    text += "".join(PACKAGES.format(name) for name in NAMES)
    (folder / "packages.sv").write_text("// verilator lint_off DECLFILENAME\n" + text)
    return "packages.sv"


def test_verilator_says_nothing(folder, verilog, systemverilog):
    silent(folder, f"verilator --lint-only -Wall --top-module top {verilog}")
    silent(folder, f"verilator --lint-only -Wall -Wno-MULTITOP {systemverilog}")


def test_icarus_says_nothing(folder, verilog, systemverilog):
    silent(folder, f"iverilog -Wall -g2005 -s top -o top {verilog}")
    silent(folder, f"iverilog -Wall -g2012 -o packages {systemverilog}")


def test_yosys_says_nothing(folder, verilog, systemverilog):
    silent(folder, f"yosys -q -p 'read_verilog {verilog}; hierarchy -check -top top; proc'")
    silent(folder, f"yosys -q -p 'read_verilog -sv {systemverilog}; hierarchy -check; proc'")


def test_verilator_says_nothing_of_the_golden_models_packages(folder):
    includes = "".join(f'`include "{name}_dpi_pkg.sv"\n' * 2 for name in NAMES)
    text = f"// verilator lint_off DECLFILENAME\n{includes}module dpi;\nendmodule\n"
    (folder / "dpi.sv").write_text(text)
    silent(folder, "verilator --lint-only -Wall dpi.sv")


@pytest.mark.parametrize("standard", ["93", "08"])
def test_ghdl_says_nothing(folder, standard):
    use = "".join(
        f"library ieee; use ieee.std_logic_1164.all; use work.{name}_pkg.all;\n"
        f"entity {name} is port (a : in std_logic_vector(A_WIDTH-1 downto 0);\n"
        f"  y : out std_logic_vector(Y_WIDTH-1 downto 0)); end entity;\n"
        f"architecture rtl of {name} is begin y <= Y_MAX_FINITE; end architecture;\n"
        for name in NAMES
    )
    (folder / "use.vhd").write_text(use)
    packages = " ".join(f"{name}_{kind}.vhd" for name in NAMES for kind in KINDS)
    (folder / standard).mkdir()
    silent(folder, f"ghdl -a --std={standard} --workdir={standard} {packages} use.vhd")


@pytest.mark.parametrize("compiler", ["gcc -std=c99 -x c", "g++ -std=c++11 -x c++"])
def test_c_and_cpp_compilers_say_nothing(folder, compiler):
    text = "".join(f'#include "{name}.h"\n#include "{name}_ap_float.h"\n' * 2 for name in NAMES)
    for name in NAMES:
        prefix = name.upper()
        width = re.search(r"_Y_WIDTH \((\d+)\)", (folder / f"{name}.h").read_text())[1]
        code = f"{prefix}_Y_MAX_FINITE"  # past 64 bits it has brackets of its own
        text += f"const uint64_t {name}[] = {code if int(width) > 64 else f'{{{code}}}'};\n"
        text += f"const char *{name}_spec = {prefix}_SPEC;\n"
        text += f"int64_t {name}_least = 1-{prefix}_Y_EMIN + {prefix}_AP_FLOAT_A_W;\n"
    (folder / "all.c").write_text(text + "int main(void) { return 0; }\n")
    silent(folder, f"{compiler} -pedantic -Wall -Wextra -Werror all.c -o all")


def test_cvc5_agrees_that_the_codes_are_what_their_names_say(folder):
    """SMT-LIB's own floating point as a second opinion; no answer but unsat is one fault."""
    claims = ""
    for name, design in zip(NAMES, DESIGNS, strict=True):
        definitions = (folder / f"{name}.smt2").read_text()
        if f"define-sort {name}_Y" not in definitions or "e62" in design:
            continue
        y = f"{name}_Y"
        claims += definitions + (
            f"(push) (assert (not (and (fp.isInfinite {y}_POS_INF) (fp.isNegative {y}_NEG_ZERO)\n"
            f"  (fp.isZero {y}_POS_ZERO) (fp.isSubnormal {y}_MAX_SUBNORMAL)\n"
            f"  (fp.isNormal {y}_MIN_NORMAL) (fp.isNormal {y}_MAX_FINITE)\n"
            f"  (= {y}_MIN_NORMAL (fp.add RNE {y}_MAX_SUBNORMAL {y}_MIN_SUBNORMAL))\n"
            f"  (= {y}_ONE (fp.mul RNE {y}_ONE {y}_ONE)) (fp.gt {y}_ONE {y}_POS_ZERO)\n"
            f"  (fp.isInfinite (fp.add RNE {y}_MAX_FINITE {y}_MAX_FINITE))))) (check-sat) (pop)\n"
        )
    (folder / "all.smt2").write_text("(set-logic ALL)\n" + claims)
    done = run(folder, "cvc5 --incremental --fp-exp all.smt2")
    answers = done.stdout.split()
    assert len(answers) >= 8 and set(answers) == {"unsat"}


def test_tcl_reads_the_properties(folder):
    script = "".join(
        f"source {name}_vivado.tcl\nputs [dict size ${name}_floating_point]\n" for name in NAMES
    )
    (folder / "all.tcl").write_text(script)
    assert run(folder, "tclsh all.tcl").stdout.split() == ["6"] * len(NAMES)
