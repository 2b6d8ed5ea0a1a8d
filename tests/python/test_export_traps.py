"""Each trap that headers for several tools fall into, by name."""

import re
import shutil
import subprocess

import pytest
import widthwise as ww

WIDE = "fma(e62m1, sum=e62m1)"  # exponents past 32 bits
VERILOG = [".vh", "_params.vh", "_defs.vh", "_hardfloat.vh"]
PACKAGES = ["_pkg.sv", "_fpnew_pkg.sv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("hw") / "wide"
    ww.export(WIDE, path, name="wide")
    return path


def read(folder, endings):
    return "".join((folder / f"wide{ending}").read_text() for ending in endings)


def icarus(folder, source, standard="2005"):
    """What a bench prints, compiled without a word."""
    if not shutil.which("iverilog"):
        pytest.skip("iverilog is not installed")
    (folder / "bench.v").write_text(source)
    command = f"iverilog -Wall -g{standard} -o sim bench.v && ./sim"
    done = subprocess.run(
        command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.stdout


LEAST = -(2**61) + 2  # the least exponent of e62m1


def test_a_fragment_serves_two_modules_of_one_file(folder):
    module = (
        'module {0};\n  `include "wide.vh"\n  initial $display("{0} %0d", Y_EMIN);\nendmodule\n'
    )
    told = icarus(folder, "".join(module.format(name) for name in "ab"))
    assert sorted(told.splitlines()) == [f"a {LEAST}", f"b {LEAST}"]


def test_macros_and_packages_may_be_included_twice(folder):
    for ending in ["_defs.vh", "_pkg.sv", "_fpnew_pkg.sv"]:
        twice = f'`include "wide{ending}"\n' * 2
        assert icarus(folder, twice + "module m;\nendmodule\n", "2012") == ""


def test_parameters_size_the_ports_that_follow_them(folder):
    bench = """module wide_unit #(
      `include "wide_params.vh"
    ) (input wire [A_WIDTH-1:0] a);
      initial #1 $display("%b", a);
    endmodule
    module bench;
      wide_unit u(.a(64'hf00000000000000f));
    endmodule
    """
    assert icarus(folder, bench).splitlines() == ["1111" + "0" * 56 + "1111"]


def test_integers_past_32_bits_keep_their_values_in_every_form(folder):
    bench = """`include "wide_defs.vh"
    `include "wide_pkg.sv"
    module m #(
      `include "wide_params.vh"
    ) ();
      initial $display("%0d %0d %0d", Y_EMIN, `WIDE_Y_EMIN, wide_pkg::Y_EMIN);
    endmodule
    """
    assert icarus(folder, bench, "2012").split() == [str(LEAST)] * 3
    assert f'constant Y_EMIN : std_logic_vector(63 downto 0) := x"{LEAST % 2**64:016x}"' in read(
        folder, ["_pkg.vhd"]
    )
    assert f"#define WIDE_Y_EMIN (INT64_C({LEAST}))" in read(folder, [".h"])
    integers = r"(?:integer|int) \w+ = (-?\d+)|: integer := (-?\d+)|32'sd(\d+)"
    found = re.findall(integers, read(folder, [*VERILOG, *PACKAGES, "_pkg.vhd"]))
    assert len(found) >= 150
    assert all(abs(int("".join(one))) < 2**31 for one in found)


def test_every_literal_has_a_size_so_that_it_can_be_a_part_of_a_vector(folder):
    values = re.findall(r"^`define \w+ (?!\")(\S+)", read(folder, ["_defs.vh"]), re.MULTILINE)
    assert len(values) > 150
    assert all(re.fullmatch(r"\(-32'sd\d+\)|\d+'s?[dbh][0-9a-f]+", value) for value in values)
    bench = """`include "wide_defs.vh"
    module m; initial $display("%b", {`WIDE_FLAG_OF, `WIDE_RM_RUP, `WIDE_A_HAS_INF}); endmodule
    """
    assert icarus(folder, bench).strip() == "10".zfill(32) + "011" + "1"


def test_a_macro_below_zero_can_be_subtracted(tmp_path):
    ww.export("add(e4m3fn)", tmp_path / "hw", name="fp8")
    bench = '`include "fp8_defs.vh"\nmodule m; initial $display("%0d", 1-`FP8_Y_EMIN); endmodule\n'
    assert icarus(tmp_path / "hw", bench).split() == ["7"]


def test_only_the_forms_that_all_tools_take(folder):
    text = re.sub(r"//.*", "", read(folder, [*VERILOG, *PACKAGES]))
    for word in ["unsigned", "string", "real", "import", "function", "automatic", "struct"]:
        assert not re.search(rf"\b{word}\b", text)
    kinds = set(re.findall(r"(?:localparam|parameter) (.*?) ?\w+ =", text))
    widths = {re.sub(r"\d+", "n", kind) for kind in kinds}
    verilog = {"integer", "", "[n:n]", "signed [n:n]"}
    assert widths == verilog | {"int", "bit", "logic [n:n]", "logic signed [n:n]"}


def test_constants_are_scalars(folder):
    text = re.sub(r"//.*", "", read(folder, [*VERILOG, *PACKAGES]))
    assert "'{" not in text
    assert not re.search(r"\w+ *\[[^]]+\] *=", text)  # an array has a range behind its name


def test_typedefs_have_literal_ranges_and_the_widths_of_their_ports(folder):
    text = read(folder, ["_pkg.sv"])
    types = re.findall(r"typedef (?:enum )?logic (?:signed )?\[(\d+):0\] .*?(\w+);", text)
    assert types == [("63", "a_t"), ("63", "b_t"), ("63", "c_t"), ("63", "y_t"), ("2", "rm_e")]
    assert text.count("typedef") == len(types)
    bench = """`include "wide_pkg.sv"
    module m;
      wide_pkg::a_t a;
      initial begin
        a = wide_pkg::A_MAX_FINITE;
        $display("%0d %0d", $bits(a), wide_pkg::RUP);
      end
    endmodule
    """
    assert icarus(folder, bench, "2012").split() == ["64", "3"]


def test_linters_are_told_that_constants_may_stay_unused(folder):
    for ending in [*VERILOG, *PACKAGES, "_dpi_pkg.sv"]:
        text = read(folder, [ending])
        wrapped = "lint_off UNUSEDPARAM" in text and "lint_on UNUSEDPARAM" in text
        assert wrapped or ending == "_defs.vh"  # macros are no parameters
