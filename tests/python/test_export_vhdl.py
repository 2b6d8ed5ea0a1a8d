"""The bench of VHDL: an entity that is written by hand, from a table, and what is wrong with it."""

import re

import numpy as np
import pytest
import widthwise as ww
from exported_folders import make, needs, replace

TABLE = """library ieee;
use ieee.std_logic_1164.all;

entity {name} is
  port (
{clock}    a : in std_logic_vector(3 downto 0);
    b : in std_logic_vector(3 downto 0);
    y : out std_logic_vector(3 downto 0){flag_port});
end entity {name};

architecture table of {name} is
  type codes is array (0 to 255) of std_logic_vector(8 downto 0);
  constant RESULTS : codes := (
{rows});
  signal found : std_logic_vector(8 downto 0);
  signal picked : std_logic_vector(7 downto 0);
  function number(bits : std_logic_vector(7 downto 0)) return natural is
    variable n : natural := 0;
  begin
    for i in 7 downto 0 loop
      n := 2 * n;
      if bits(i) = '1' then
        n := n + 1;
      end if;
    end loop;
    return n;
  end;
begin
  picked <= a & b;
  found <= RESULTS(number(picked));
{body}
end architecture table;
"""
CLOCK = """    clk, rst, in_valid : in std_logic;
    in_ready, out_valid : out std_logic;
    out_ready : in std_logic;
"""
PIPELINE = """  process (clk)
  begin
    if rising_edge(clk) then
      if rst = '1' then
        valid <= "00";
      elsif advance = '1' then
        valid <= valid(0) & in_valid;
        first <= found;
        last <= first;
      end if;
    end if;
  end process;
  advance <= out_ready or not valid(1);
  in_ready <= advance;
  out_valid <= valid(1);
  y <= last(8 downto 5);
  flags <= last(4 downto 0);"""
WIRES = """  signal first, last : std_logic_vector(8 downto 0);
  signal valid : std_logic_vector(1 downto 0) := "00";
  signal advance : std_logic;
"""


def rows():
    codes = np.arange(16, dtype=np.uint8)
    a, b = (ww.from_bits(x, "e2m1fn") for x in (codes[:, None], codes[None, :]))
    y, flags = ww.multiply(a, b, flags=True)
    found = [f"{int(z):04b}{int(f):05b}" for z, f in zip(y.bits.flat, flags.flat, strict=True)]
    return ",\n".join(f'    "{bits}"' for bits in found)


def entity(name, clocked, flags=True):
    body = PIPELINE if clocked else "  y <= found(8 downto 5);\n  flags <= found(4 downto 0);"
    if not flags:
        body = body.replace("  flags <= found(4 downto 0);", "")
    port = ";\n    flags : out std_logic_vector(4 downto 0)" if flags else ""
    text = TABLE.format(
        name=name, clock=CLOCK if clocked else "", flag_port=port, rows=rows(), body=body
    )
    return text.replace("  signal found", WIRES + "  signal found") if clocked else text


@pytest.fixture
def folder(tmp_path):
    def export(name, clocked=False, flags=True):
        needs("ghdl")
        options = {"pipeline": ["exact", "exact"]} if clocked else {}
        ww.export("multiply(e2m1fn)", tmp_path / name, name=name, rtl=True, vectors=400, **options)
        (tmp_path / name / "rtl" / f"{name}.vhd").write_text(entity(name, clocked, flags))
        return tmp_path / name

    return export


@pytest.mark.parametrize("clocked", [False, True])
def test_an_entity_that_is_right_passes(folder, clocked):
    here = folder("fp4", clocked)
    count = re.search(r"COUNT (\d+)", (here / "vectors" / "fp4.hex").read_text())[1]
    assert make(here, "vhdl").stdout == f"vhdl: {count} vectors, 0 errors\n"


def test_a_wrong_result_is_told_with_its_operands(folder):
    here = folder("fp4")
    bits = rows().splitlines()[0x23].strip(' ",')
    lines = (here / "rtl" / "fp4.vhd").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if "RESULTS : codes" in line) + 1 + 0x23
    lines[at] = lines[at].replace(bits, f"{int(bits, 2) ^ 32:09b}")
    (here / "rtl" / "fp4.vhd").write_text("\n".join(lines))
    done = make(here, "vhdl")
    assert done.returncode != 0
    told = (
        rf"vector \d+: a 2 b 3: y \w flags {int(bits[4:], 2):02x} instead of y {int(bits[:4], 2):x}"
    )
    assert re.search(told, done.stdout), done.stdout
    assert re.search(r"^\d+ vectors, [1-9]\d* errors$", done.stdout, re.M)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("advance <= out_ready or not valid(1);", "advance <= '1';"),
        ("in_ready <= advance;", "in_ready <= '1';"),
        ("in_ready <= advance;", "in_ready <= '0';"),
        ("out_valid <= valid(1);", "out_valid <= valid(0);"),
        ("y <= last(8 downto 5);", "y <= first(8 downto 5);"),
    ],
)
def test_a_pipeline_that_cannot_wait_fails(folder, old, new):
    here = folder("fp4", clocked=True)
    replace(here / "rtl" / "fp4.vhd", old, new)
    done = make(here, "vhdl")
    assert done.returncode != 0
    assert re.search(r"^\d+ vectors, [1-9]\d* errors$", done.stdout, re.M), done.stdout


def test_flags_are_left_out_where_that_is_said(folder):
    here = folder("fp4", flags=False)
    assert make(here, "vhdl").returncode != 0
    done = make(here, "vhdl", "FLAGS=0")
    assert re.fullmatch(r"vhdl: \d+ vectors, 0 errors; flags are not compared\n", done.stdout)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("MODEL_HASH ", "MODEL_HASH 1", "MODEL_HASH is another unit's"),
        ("COUNT ", "COUNT 1", "there are not as many vectors as COUNT says"),
        ("// CHECK ", "// CHECK 1", "it is damaged"),
        ("\n0 0 ", "\n0 ", "a line is no vector"),
    ],
)
def test_a_damaged_file_fails(folder, old, new, told):
    here = folder("fp4")
    replace(here / "vectors" / "fp4.hex", old, new)
    done = make(here, "vhdl")
    assert done.returncode != 0 and told in done.stdout, done.stdout


def test_without_an_entity_it_is_skipped(folder):
    here = folder("fp4")
    (here / "rtl" / "fp4.vhd").unlink()
    assert make(here, "vhdl").stdout == "vhdl: skipped, no rtl/*.vhd has an entity fp4\n"


@pytest.mark.parametrize("standard", ["93", "08"])
@pytest.mark.parametrize("design", ["mac(e4m3fn, sum=e8m13:sr8)", "hopper.e4m3.f32"])
def test_every_bench_is_vhdl(tmp_path, design, standard):
    needs("ghdl")
    options = {"accumulate": True} if "mac" in design else {"pipeline": ["product"]}
    ww.export(design, tmp_path / "x", name="x", rtl=True, vectors=5, **options)
    makefile = tmp_path / "x" / "GNUmakefile"
    makefile.write_text(
        "include Makefile\nanalysed:\n\t@mkdir -p build\n\tghdl -a --std="
        f"{standard} --workdir=build x_pkg.vhd bench/x_bench.vhd\n"
    )
    done = make(tmp_path / "x", "analysed")
    assert done.returncode == 0 and "warning" not in done.stdout, done.stdout
