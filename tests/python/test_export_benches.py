"""What the benches of an exported folder put a module through, and what they say of it."""

import re
import shutil

import pytest
import widthwise as ww
from exported_folders import make, make_alone, needs, replace

DESIGNS = {
    "mul16": ("multiply(binary16)", {"vectors": 100}),
    "piped": ("add(bfloat16)", {"pipeline": ["unpack", "exact", "exact"], "vectors": 100}),
    "shallow": ("multiply(e5m2)", {"pipeline": ["exact"], "vectors": 20}),
    "sums": (
        "mac(e4m3fn, sum=e8m13)",
        {"accumulate": True, "pipeline": ["product", "round"], "vectors": 60},
    ),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    there = tmp_path_factory.mktemp("benches")
    for name, (design, options) in DESIGNS.items():
        ww.export(design, there / name, name=name, rtl=True, model=True, **options)
    return there


@pytest.fixture
def copied(folders, tmp_path):
    def copy(name):
        return shutil.copytree(folders / name, tmp_path / name, ignore=lambda *_: ["build"])

    return copy


def changed(path, pattern, text):
    """The one place where the file has the pattern, written anew."""
    old = path.read_text()
    assert len(re.findall(pattern, old)) == 1, f"{path.name} has not one {pattern}"
    path.write_text(re.sub(pattern, text, old))


def checked(folder, tool):
    needs("verilator" if tool in ("dpi", "verilator") else "iverilog")
    return make(folder, tool, "CHECKS=9000")


# --- Stalls ---------------------------------------------------------------------------------------

STALLS = {
    "goes on though nobody takes": (r"wire advance = [^;]*;", "wire advance = 1'b1;"),
    "takes what it has no room for": (r"assign in_ready = [^;]*;", "assign in_ready = 1'b1;"),
    "never takes": (r"assign in_ready = [^;]*;", "assign in_ready = 1'b0;"),
    "forgets to say": (r"assign out_valid = [^;]*;", "assign out_valid = 1'b0;"),
}


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("fault", "tool"),
    [
        *((fault, "icarus") for fault in STALLS),
        ("goes on though nobody takes", "cocotb"),
        ("takes what it has no room for", "cocotb"),
        ("goes on though nobody takes", "dpi"),
        ("takes what it has no room for", "dpi"),
    ],
)
def test_a_pipeline_that_cannot_wait_fails(copied, fault, tool):
    folder = copied("piped")
    changed(folder / "rtl" / "piped.v", *STALLS[fault])
    done = checked(folder, tool)
    assert done.returncode != 0 and "skipped" not in done.stdout, done.stdout
    told = r"^\d+ vectors, [1-9]\d* errors$" if tool != "cocotb" else "assert bench.errors == 0"
    assert re.search(told, done.stdout, re.M), done.stdout


@pytest.mark.parametrize("fault", ["goes on though nobody takes", "takes what it has no room for"])
@pytest.mark.parametrize("name", ["shallow", "sums"])
def test_so_do_a_register_alone_and_a_running_sum(copied, name, fault):
    folder = copied(name)
    changed(folder / "rtl" / f"{name}.v", *STALLS[fault])
    assert checked(folder, "icarus").returncode != 0


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("name", "tool"),
    [("piped", "icarus"), ("piped", "cocotb"), ("sums", "dpi")],
)
def test_one_that_can_passes(folders, name, tool):
    done = checked(folders / name, tool)
    assert re.fullmatch(rf"{tool}: \d+ vectors, 0 errors\n", done.stdout), done.stdout


# --- Flags ----------------------------------------------------------------------------------------


@pytest.fixture
def without_flags(copied):
    """A module of which the folder's own is the model, but for its flags."""
    folder = copied("mul16")
    top = folder / "rtl" / "mul16.v"
    replace(top, "y,\n  output wire [4:0] flags\n);", "y\n);")
    replace(top, "assign flags = out_flags;", "")
    return folder


@pytest.mark.in_turn(4)
@pytest.mark.parametrize("tool", ["icarus", "cocotb", "dpi"])
def test_a_module_without_flags_is_checked_when_that_is_said(without_flags, tool):
    needs("verilator" if tool == "dpi" else "iverilog")
    done = make(without_flags, tool, "FLAGS=0", "CHECKS=9000")
    told = rf"{tool}: \d+ vectors, 0 errors; flags are not compared\n"
    assert re.fullmatch(told, done.stdout), done.stdout
    assert make(without_flags, tool, "CHECKS=9000").returncode != 0
    replace(without_flags / "rtl" / "mul16.v", ".BIAS(8'h0f)", ".BIAS(8'h0e)")
    done = make(without_flags, tool, "FLAGS=0", "CHECKS=9000")
    assert done.returncode != 0 and "instead of" in done.stdout, done.stdout


def test_flags_are_compared_unless_that_is_said(copied):
    needs("iverilog")
    folder = copied("mul16")
    replace(folder / "rtl" / "mul16.v", "= out_flags;", "= out_flags ^ 5'd1;")
    assert make(folder, "icarus").returncode != 0
    assert make(folder, "icarus", "FLAGS=0").returncode == 0


# --- Verilator's own library ----------------------------------------------------------------------


@pytest.mark.in_turn(3)
def test_verilators_library_is_compiled_once_for_all_benches_by_the_same_options(copied):
    needs("verilator")
    folder = copied("mul16")
    library = folder / "build" / "verilated" / "verilated.o"
    verdicts, times = [], []
    for by, *words in (
        (make, "verilator"),
        (make_alone, "dpi", "CHECKS=9000"),
        (make_alone, "verilator", "OPT=-g0"),
    ):
        verdicts.append(by(folder, *words).stdout)
        times.append(library.stat().st_mtime_ns)
    assert all(" 0 errors\n" in verdict for verdict in verdicts), verdicts
    assert times[0] == times[1] < times[2]


# --- What a failure says, and its replay ----------------------------------------------------------


def said_wrong(told):
    """The operands of a failure that a bench tells of, whose right result it tells, too."""
    vector, a, b, wanted = re.search(
        r"(vector \d+: a ([0-9a-f]+) b ([0-9a-f]+): .* instead of (.*))", told
    ).groups()
    right = int(ww.multiply(*(ww.from_bits(int(x, 16), "binary16") for x in (a, b))).bits)
    assert f"{right:04x}" in wanted or f"{right:016b}" in wanted
    return vector


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("tool", ["icarus", "cocotb"])
def test_a_failure_has_its_operands(copied, tool):
    folder = copied("mul16")
    replace(folder / "rtl" / "mul16.v", ".BIAS(8'h0f)", ".BIAS(8'h0e)")
    assert said_wrong(checked(folder, tool).stdout)


def test_a_vector_is_replayed_by_its_number(folders):
    needs("iverilog")
    folder = folders / "mul16"
    lines = [x for x in (folder / "vectors/mul16.hex").read_text().splitlines() if x[0] != "/"]
    for i in (0, 17, len(lines) - 1):
        done = make(folder, "replay", f"VECTOR={i}")
        a, b, y, flags = lines[i].split()
        told = f"vector 0: a {a} b {b}: y {y} flags {flags}\nreplay: 1 vectors, 0 errors\n"
        assert done.stdout == told
    assert "$var" in (folder / "build" / "replay.vcd").read_text()
    done = make(folder, "replay", f"VECTOR={len(lines)}")
    assert done.returncode != 0 and f"there are {len(lines)} vectors, 0 to" in done.stdout
    done = make(folder, "replay")
    assert done.returncode != 0 and "say which vector, as VECTOR=17" in done.stdout


@pytest.mark.in_turn(3)
def test_a_failure_of_dpi_is_replayed_by_its_line(copied):
    folder = copied("mul16")
    replace(folder / "rtl" / "mul16.v", ".BIAS(8'h0f)", ".BIAS(8'h0e)")
    done = checked(folder, "dpi")
    vector = said_wrong(done.stdout).split(": ", 1)[1]
    line = re.search(r"make replay VECTOR='(.*)'", done.stdout)[1]
    replayed = make(folder, "replay", f"VECTOR={line}")
    assert replayed.returncode != 0 and f"vector 0: {vector}\n" in replayed.stdout
    replace(folder / "rtl" / "mul16.v", ".BIAS(8'h0e)", ".BIAS(8'h0f)")
    assert make(folder, "replay", f"VECTOR={line}").returncode == 0


@pytest.mark.in_turn(3)
def test_a_block_of_a_sum_is_replayed_with_the_sum(copied):
    folder = copied("sums")
    assert "5 vectors, 0 errors" in make(folder, "replay", "VECTOR=4799").stdout
    changed(folder / "rtl" / "sums.v", r"\.code\(a\)", ".code(a ^ 8'h40)")
    done = checked(folder, "dpi")
    vector, line = re.search(r"vector \d+: (.*)\n  make replay VECTOR='(.*)'", done.stdout).groups()
    replayed = make(folder, "replay", f"VECTOR={line}")
    assert f": {vector}\n" in replayed.stdout and replayed.returncode != 0
