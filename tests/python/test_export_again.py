"""An exported folder in use: exported again, made and cleaned, moved about, its depth believed."""

import json
import os
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
import widthwise as ww
from commands import widthwise
from exported_folders import make, needs

SUM = ["group_sum_align", "group_sum"]


def export(*words):
    return widthwise("export", *words)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# --- Exporting again ------------------------------------------------------------------------------


def test_what_was_changed_is_kept_and_named_and_force_writes_it_anew(tmp_path):
    folder = tmp_path / "hw"
    words = ["add(e4m3fn)", folder, "--name", "adder", "--vectors", 5]
    assert export(*words).stderr == ""
    before = contents(folder)
    own = "module adder(input [7:0] a, b, output [7:0] y, output [4:0] flags); endmodule\n"
    (folder / "rtl" / "adder.v").write_text(own)
    (folder / "results.xml").write_text("cocotb's")
    again = export(*words)
    assert again.returncode == 0 and again.stderr == (
        f"widthwise: kept: {folder}/rtl/adder.v, which was changed since the last export "
        "(--force writes it anew)\n"
    )
    assert (folder / "rtl" / "adder.v").read_text() == own
    facts = json.loads(export(*words, "--json").stdout)
    assert facts["kept"] == [f"{folder}/rtl/adder.v"]
    with pytest.warns(UserWarning, match=r"kept as .*: rtl/adder\.v \(force=True") as told:
        made = ww.export("add(e4m3fn)", folder, "adder", vectors=5)
    assert made.kept == [folder / "rtl" / "adder.v"] and told[0].filename == __file__
    assert export(*words, "--force").stderr == ""
    assert contents(folder) == before | {"results.xml": b"cocotb's"}
    assert os.listdir(tmp_path) == ["hw"]


@pytest.mark.in_turn(3)
def test_what_make_leaves_does_not_stop_the_next_export_and_make_clean_takes_it_away(tmp_path):
    needs("yosys")
    ww.export("add(e2m1fn)", tmp_path / "hw", "adder", vectors=5)
    before = contents(tmp_path / "hw")
    done = make(tmp_path / "hw", "icarus", "cocotb", "yosys", "headers", "ghdl")
    assert done.returncode == 0 and "Area: 4" not in before["README.md"].decode()
    assert "LUT4" in (tmp_path / "hw" / "README.md").read_text()
    assert ww.export("add(e2m1fn)", tmp_path / "hw", "adder", vectors=5).kept == []
    assert (tmp_path / "hw" / "build" / "depth.txt").exists()
    make(tmp_path / "hw", "yosys")
    assert make(tmp_path / "hw", "clean").returncode == 0
    assert contents(tmp_path / "hw") == before
    assert make(tmp_path / "hw", "clean").returncode == 0


# --- What the terminal says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "why"),
    [
        ("kulisch(e5m10)", "give the number of products as --lanes"),
        ("divide(e4m3fn)", "divide is not built"),
    ],
)
def test_what_is_left_out_is_said_in_the_commands_words(tmp_path, design, why):
    done = export(design, tmp_path / "hw")
    assert done.returncode == 0
    assert done.stderr.startswith("widthwise: left out: RTL, its benches and vectors; rtl: ")
    assert done.stderr.endswith(why + "\n") or why in done.stderr
    assert why in (tmp_path / "hw" / "README.md").read_text()
    assert "options." not in done.stderr + (tmp_path / "hw" / "README.md").read_text()
    assert export(design, tmp_path / "hw", "--no-rtl").stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kulisch(e5m10)", "--rtl"], "give the number of products as --lanes"),
        (["mac(e5m10)", "--lanes", "0"], "--lanes = 0: take a number from 1"),
        (["mac(e5m10)", "--accumulate", "--lanes", "4"], "leave --lanes out"),
        (["hopper.e4m3.f32", "--lanes", "48"], "and --lanes = 48; give a multiple"),
        (["add(e5m10)", "--lanes", "4"], "--lanes = 4 of add(e5m10)"),
        (["add(e5m10, out=e5m10:sr4)", "--rounding-port"], "leave --rounding-port out"),
        (["add(e5m10)", "--generator"], "--generator is set"),
        (["mac(e5m10)", "--generator"], "leave --generator out"),
        (["add(e5m10)", "--accumulate"], "--accumulate of add(e5m10)"),
        (["add(e5m10)", "--multiplier", "drum4"], "--multiplier of add(e5m10)"),
        (["add(e5m10)", "--pipeline", "product"], "--pipeline names product"),
        (["add(e5m10)", "--vectors", "-1"], "--vectors = -1"),
        (["add(e5m10)", "--seed", "-1"], "--seed = -1"),
        (["add(e5m10)", "--name", "ww_round"], "is taken: modules here begin with ww_"),
    ],
)
def test_errors_speak_as_the_command_does(tmp_path, words, said):
    done = export(words[0], tmp_path / "hw", *words[1:])
    assert done.returncode != 0 and said in done.stderr, done.stderr
    assert "options." not in done.stderr and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_pythons_errors_speak_python(tmp_path):
    for design, settings, said in [
        ("mac(e5m10)", {"accumulate": True, "lanes": 4}, "leave lanes out"),
        ("add(e5m10, out=e5m10:sr4)", {"rounding_port": True}, "leave rounding_port out"),
    ]:
        with pytest.raises(ValueError, match=said) as why:
            ww.export(design, tmp_path / "hw", **settings)
        assert "options" not in str(why.value)


# --- Names ----------------------------------------------------------------------------------------


def test_a_name_that_is_taken_is_refused_with_the_way_out(tmp_path):
    for name in [
        "ww_round",
        "ww_delay",
        "widthwise_model",
        "y",
        "flags",
        "entity",
        "lambda",
        "int",
    ]:
        with pytest.raises(
            ValueError, match=f"'?\"?{name}'?\"? is.*(reserved|take another, as my_)"
        ):
            ww.export("mac(e5m10)", tmp_path / "hw", name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["dut", "x", "clock", "errors", "product_sig", "pack"])
def test_a_name_that_is_taken_elsewhere_alone_works(tmp_path, name):
    needs("verilator")
    folder = tmp_path / "hw"
    ww.export("mac(e2m1fn)", folder, name, vectors=5, pipeline=["product"])
    done = make(folder, "icarus", "headers", "ghdl")
    assert done.returncode == 0, done.stdout
    lint = f"verilator --lint-only -Wall -Wno-VARHIDDEN --top-module {name} rtl/*.v"
    done = subprocess.run(lint, shell=True, cwd=folder, text=True, capture_output=True)
    assert done.returncode == 0 and done.stderr == ""


# --- Depth ----------------------------------------------------------------------------------------


def depth_between_registers(folder, name):
    """The longest chain of cells that hold nothing, in the netlist that `make yosys` left."""
    cells = json.loads((folder / "build" / "netlist.json").read_text())["modules"][name]["cells"]
    reads, driver = {}, {}
    for cell, it in cells.items():
        if not it["type"].startswith("SB_DFF"):
            ways = it["port_directions"]
            reads[cell] = [
                bit
                for port, bits in it["connections"].items()
                if ways[port] == "input"
                for bit in bits
            ]
            for port, bits in it["connections"].items():
                driver.update({bit: cell for bit in bits if ways[port] == "output"})
    depths = {}
    stack = list(reads)
    while stack:
        cell = stack[-1]
        before = {driver[bit] for bit in reads[cell] if bit in driver}
        missing = [other for other in before if other not in depths]
        stack.extend(missing)
        if not missing:
            depths[cell] = 1 + max((depths[other] for other in before), default=0)
            stack.pop()
    return max(depths.values())


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("design", "pipeline"),
    [
        ("multiply(e4m3fn)", None),
        ("multiply(e4m3fn)", ["unpack", "exact", "normalise", "denormalise", "round"]),
        ("add(e5m2)", ["exact", "exact", "round"]),
        (
            "dot(e3m4, lanes=5, align=10:rtz, out=e5m8)",
            ["unpack", "product", *SUM, "normalise", "denormalise", "round"],
        ),
    ],
)
def test_the_readme_gives_the_depth_from_register_to_register(tmp_path, design, pipeline):
    needs("yosys")
    folder = tmp_path / "hw"
    ww.export(design, folder, "x", rtl=True, vectors=0, pipeline=pipeline)
    assert make(folder, "yosys").returncode == 0
    said = int(re.search(r"LUT4, (\d+) cells deep", (folder / "README.md").read_text())[1])
    right = depth_between_registers(folder, "x")
    assert said == right
    if pipeline and len(pipeline) == 7:
        assert 45 <= right <= 60


@pytest.mark.in_turn(3)
def test_a_generator_of_random_words_is_shared_and_costs_what_the_readme_says(tmp_path):
    needs("yosys")
    luts = {}
    for generator in (False, True):
        folder = tmp_path / str(generator)
        ww.export("convert(e5m10, out=e4m3:sr8)", folder, "x", vectors=0, generator=generator)
        luts[generator] = int(re.search(r"(\d+) LUT4", make(folder, "yosys").stdout)[1])
    assert 2500 < luts[True] - luts[False] < 3500
    assert "about 3,200 LUT4" in (tmp_path / "True" / "README.md").read_text()
    assert "10 clocks in all" in (tmp_path / "True" / "README.md").read_text()
    many = "tree(e4m3fn, fan=6, product=e5m7:sr16, node=e5m10:sr16, sum=e8m7:sr16)"
    ww.export(many, tmp_path / "many", "x", vectors=0, generator=True)
    top = (tmp_path / "many" / "rtl" / "x.v").read_text()
    assert top.count("ww_draw #(") == 1 and top.count("ww_random #(") == 6 + 5 + 1


# --- HardFloat's adder ----------------------------------------------------------------------------


def addrawfn_is_right(digits):
    """HardFloat's AddRawFN (its far path) on significands, read from its source."""
    width = (digits - 1).bit_length()
    least = 1 << digits - 1
    for distance in range(2 * digits + 8):
        for larger in (least, least + 1, 2 * least - 1):
            for smaller in (least, least + 1, 2 * least - 1):
                shift = min(distance, (1 << width) - 1)
                shifted = (smaller << 5) >> shift
                lost = smaller << 5 & (1 << shift) - 1
                aligned = shifted >> 3 << 1 | (shifted & 7 != 0 or lost != 0)
                for sign in (1, -1) if distance > 1 else (1,):
                    total = Fraction((larger << 3) + sign * aligned, 8)
                    exact = larger + sign * Fraction(smaller, 1 << distance)
                    if nearest_even(total, digits) != nearest_even(exact, digits):
                        return False
    return True


def nearest_even(x, digits):
    unit = Fraction(2) ** ((x.numerator // x.denominator).bit_length() - digits)
    return round(x / unit) * unit


@pytest.mark.parametrize("fraction", [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 23, 29, 31, 52])
def test_the_readme_says_where_hardfloats_adder_is_wrong(tmp_path, fraction):
    ww.export(f"add(e8m{fraction})", tmp_path / "hw", "adder", rtl=False)
    text = (tmp_path / "hw" / "README.md").read_text()
    assert ("`addRecFN` is wrong" in text) == (not addrawfn_is_right(fraction + 1))
    ww.export(f"multiply(e8m{fraction})", tmp_path / "hw", "product", rtl=False)
    assert "addRecFN" not in (tmp_path / "hw" / "README.md").read_text()


# --- make -----------------------------------------------------------------------------------------


@pytest.mark.in_turn(6)
def test_a_blank_in_the_path_is_no_matter(tmp_path):
    needs("verilator")
    folder = tmp_path / "my hard ware" / "an adder"
    ww.export("add(e2m1fn)", folder, "adder", vectors=5, model=True)
    before = contents(folder)
    done = make(folder, "verilator", "dpi", "icarus", "cocotb", "CHECKS=100")
    assert done.returncode == 0 and done.stdout.count(" 0 errors") == 4, done.stdout
    make(folder, "clean")
    assert contents(folder) == before


@pytest.mark.in_turn(3)
def test_rtl_with_warnings_runs_without_the_lint(tmp_path):
    needs("verilator")
    folder = tmp_path / "hw"
    ww.export("add(e2m1fn)", folder, "adder", vectors=5)
    top = folder / "rtl" / "adder.v"
    text = top.read_text().replace("endmodule", "  wire [7:0] idle = a; // never read\nendmodule")
    top.write_text(text.replace("// verilator lint_o", "// left out"))
    done = make(folder, "verilator")
    assert done.returncode != 0 and "LINT=0 runs the bench in spite of them" in done.stdout
    done = make(folder, "verilator", "LINT=0")
    assert re.fullmatch(r"verilator: \d+ vectors, 0 errors\n", done.stdout), done.stdout


def test_plain_make_takes_a_minute_at_most_and_says_what_it_has_left(tmp_path):
    folder = tmp_path / "hw"
    ww.export("add(e2m1fn)", folder, "adder", vectors=5)
    tools = tmp_path / "tools"
    tools.mkdir()
    yosys = tools / "yosys"
    yosys.write_text(f"#!/bin/sh\nsleep 300 &\necho $! >{tmp_path}/pid\nwait\n")
    yosys.chmod(0o755)
    path = f"PATH={tools}:{os.environ['PATH']}"
    assert re.search(r"^LIMIT = 60$", (folder / "Makefile").read_text(), re.M)
    done = make(folder, path, "LIMIT=2", "TOOLS=yosys icarus")
    left = re.findall(r"^(\w+): not finished in the 2 seconds", done.stdout, re.M)
    assert done.returncode == 0 and left == ["yosys", "icarus"], done.stdout
    process = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/stat")
    assert not process.exists() or process.read_text().split()[2] == "Z"


def test_no_path_is_no_folder():
    with pytest.raises(ValueError, match="directory = '': a folder's path is wanted, as 'out/mac'"):
        ww.export("add(e2m1fn)", "")
