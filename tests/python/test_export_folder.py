"""An exported folder, moved away and alone, proves its hardware; and notices whatever is wrong."""

import re
import shutil

import pytest
import widthwise as ww
from exported_folders import make, needs, replace

DESIGNS = {
    "mul16": ("multiply(binary16)", {}),
    "fma8": ("fma(e4m3fn)", {"rounding_port": True, "vectors": 200}),
    "piped": ("add(bfloat16)", {"pipeline": ["unpack", "exact", "exact"], "vectors": 100}),
    "chance": ("mac(e4m3fn, product=e5m7:sr4, sum=e8m13:sr8)", {"vectors": 100}),
    "dot32": ("hopper.e4m3.f32", {"vectors": 20}),
    "drum": ("mac(e5m10)", {"multiplier": "drum4", "vectors": 100}),
    # Twelve sums in a row, whose glitches an event-driven simulator would multiply.
    "deep": ("kahan(e2m1fn, product=e5m2, sum=e4m3)", {"lanes": 3, "vectors": 10}),
    "own": ("mac(e4m3fn)", {"multiplier": lambda a, b: (a * b) >> 2 << 2, "vectors": 100}),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Each design's folder, exported to one place and moved to another."""
    there = tmp_path_factory.mktemp("elsewhere")
    for name, (design, options) in DESIGNS.items():
        made = tmp_path_factory.mktemp("made") / name
        ww.export(design, made, name=name, rtl=True, **options)
        shutil.move(made, there / name)
    return there


@pytest.fixture
def mul16(folders, tmp_path):
    """A copy of the multiplier's folder, to be damaged."""
    return shutil.copytree(folders / "mul16", tmp_path / "mul16", ignore=lambda *_: ["build"])


def test_a_multiplier_is_a_units_and_is_not_the_golden_models(folders, tmp_path):
    assert (folders / "own" / "rtl" / "own_multiplier.v").exists()
    assert not (folders / "own" / "bench" / "own_dpi_bench.sv").exists()
    assert "the golden model multiplies exactly" in (folders / "own" / "README.md").read_text()
    with pytest.raises(ValueError, match=r"multiplier of multiply\(.*take a unit, as mac"):
        ww.export("multiply(e4m3fn)", tmp_path / "x", multiplier="mitchell")
    assert not (tmp_path / "x").exists()


@pytest.mark.in_turn(2)
@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("mul16", "icarus"),
        ("mul16", "cocotb"),
        ("mul16", "ghdl"),
        ("fma8", "icarus"),
        ("piped", "icarus"),
        ("piped", "cocotb"),
        ("chance", "icarus"),
        ("drum", "icarus"),
        ("own", "icarus"),
        ("deep", "icarus"),
    ],
)
def test_the_folder_alone_passes(folders, name, tool):
    needs("ghdl" if tool == "ghdl" else "iverilog")
    done = make(folders / name, tool)
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout
    if tool != "ghdl":
        count = len((folders / name / "vectors" / f"{name}.hex").read_text().splitlines()) - 7
        assert done.stdout == f"{tool}: {count} vectors, 0 errors\n"


def test_registers_are_in_the_headers_and_an_unknown_stage_is_refused(folders, tmp_path):
    assert "LATENCY = 3;" in (folders / "piped" / "piped.vh").read_text()
    with pytest.raises(ValueError, match="pipeline names product, and x has no such stage"):
        ww.export("add(bfloat16)", tmp_path / "x", name="x", pipeline=["product"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.in_turn(3)
def test_a_tensor_core_passes_in_verilator(folders):
    needs("verilator")
    done = make(folders / "dot32", "verilator")
    assert re.fullmatch(r"verilator: \d+ vectors, 0 errors\n", done.stdout), done.stdout


@pytest.mark.in_turn(3)
def test_synthesis_tells_area_and_depth(folders):
    needs("yosys")
    done = make(folders / "fma8", "yosys")
    found = re.fullmatch(r"yosys: (\d+ LUT4, \d+ cells deep) \(iCE40\)\n", done.stdout)
    assert found, done.stdout
    readme = (folders / "fma8" / "README.md").read_text()
    assert re.search(rf"^Area: {found[1]} \(iCE40, Yosys [\d.]+\)\.$", readme, re.MULTILINE)


def test_what_is_not_there_is_skipped_and_said_to_be(folders, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    for program in ("make", "date", "timeout"):
        (few / program).symlink_to(shutil.which(program))
    programs = {"icarus": "iverilog", "dpi": "verilator", "cocotb": "iverilog"}
    skipped = {
        f"{tool}: skipped, {programs.get(tool, tool)} is not installed"
        for tool in ["icarus", "verilator", "dpi", "cocotb", "yosys", "ghdl"]
    } | {
        f"headers: skipped for {program}, which is not installed"
        for program in ["iverilog", "cc", "g++", "python3"]
    }
    for target in ("all", "everything"):
        done = make(folders / "mul16", f"PATH={few}", "PYTHON=python3", target)
        assert done.returncode == 0 and set(done.stdout.splitlines()) == skipped, done.stdout
    done = make(folders / "mul16", "cocotb", "PYTHON=false")
    assert done.stdout == "cocotb: skipped, false has no cocotb 2\n"
    needs("verilator")
    done = make(folders / "mul16", "dpi")
    assert done.stdout.startswith("dpi: skipped, libwidthwise_model.so is not here: export with")


# --- What must be noticed -------------------------------------------------------------------------


def vector_lines(folder):
    path = folder / "vectors" / "mul16.hex"
    return path, path.read_text().splitlines(keepends=True)


def damage_digit(folder):
    path, lines = vector_lines(folder)
    # An operand of a product that is NaN whatever it is: no result tells.
    i = next(i for i, line in enumerate(lines) if line.startswith("7e00 3c00"))
    lines[i] = lines[i].replace("3c00", "3c01", 1)
    path.write_text("".join(lines))


def damage_result(folder):
    path, lines = vector_lines(folder)
    lines[-1] = lines[-1][:-2] + ("1" if lines[-1][-2] == "0" else "0") + "\n"
    path.write_text("".join(lines))


def shorten(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join(lines[:-1]))


def cut_a_line(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join(lines)[:-8])


def lengthen(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join([*lines, lines[-1]]))


def swap(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join([*lines[:-2], lines[-1], lines[-2]]))


def no_vectors(folder):
    path, lines = vector_lines(folder)
    comments = "".join(line for line in lines if line.startswith("//"))
    path.write_text(re.sub("COUNT .*", "COUNT 0", comments))


def no_comments(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join(line for line in lines if not line.startswith("//")))


def wrong_hash(folder):
    path, lines = vector_lines(folder)
    path.write_text("".join(lines).replace("MODEL_HASH ", "MODEL_HASH 1", 1))


FAULTS = {
    "a missing file": (
        lambda folder: (folder / "vectors" / "mul16.hex").unlink(),
        "there is no such file",
    ),
    "an operand that no result tells of": (damage_digit, "it is damaged"),
    "a wrong result": (damage_result, "instead of"),
    "a file that is too short": (shorten, "not as many vectors as COUNT says"),
    "a line that is cut": (cut_a_line, "a line is no vector"),
    "a file that is too long": (lengthen, "not as many vectors as COUNT says"),
    "lines in another order": (swap, "it is damaged"),
    "no vectors": (no_vectors, "there are no vectors"),
    "no comments": (no_comments, "are not those of vectors"),
    "another unit's vectors": (wrong_hash, "MODEL_HASH is another unit's"),
    "another unit's header": (
        lambda f: replace(f / "mul16.vh", "MODEL_HASH = 64'h", "MODEL_HASH = ~64'h"),
        "MODEL_HASH is another unit's",
    ),
    "another constant": (
        lambda f: replace(f / "mul16.vh", "LATENCY = 0", "LATENCY = 1"),
        "instead of",
    ),
    "another width": (
        lambda f: replace(f / "mul16.vh", "Y_WIDTH = 16", "Y_WIDTH = 17"),
        "Y_WIDTH of the header is not port y's",
    ),
    "another parameter in the RTL": (
        lambda f: replace(f / "rtl" / "mul16.v", ".BIAS(8'h0f)", ".BIAS(8'h0e)"),
        "instead of",
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("fault", FAULTS)
def test_icarus_notices(mul16, fault):
    needs("iverilog")
    damage, said = FAULTS[fault]
    damage(mul16)
    done = make(mul16, "icarus")
    assert done.returncode != 0 and said in done.stdout, done.stdout
    assert re.search(r"^\d+ vectors, [1-9]\d* errors$", done.stdout, re.M), done.stdout
    errors = re.findall(r"^vector \d+: ", done.stdout, re.M)
    assert len(errors) <= 20


@pytest.mark.in_turn(3)
def test_dpi_passes_and_notices(tmp_path):
    """The golden model judges the RTL in Verilator; a constant that is wrong shows at once."""
    needs("verilator")
    ww.export("dot(e4m3fn, c=e5m10, out=e5m10, lanes=2)", tmp_path / "hw", name="dot", model=True)
    folder = shutil.move(tmp_path / "hw", tmp_path / "moved")
    done = make(folder, "dpi", "CHECKS=20000")
    assert done.stdout == "dpi: 20480 vectors, 0 errors\n"
    replace(folder / "dot_pkg.sv", " Y_BIAS = 15;", " Y_BIAS = 14;")
    done = make(folder, "dpi", "CHECKS=20000")
    assert done.returncode != 0 and "dot_pkg.sv: Y_BIAS is " in done.stdout, done.stdout
    replace(folder / "rtl" / "dot.v", ".BIAS(", ".BIAS(1 ^ ")
    done = make(folder, "dpi", "CHECKS=20000")
    assert done.returncode != 0 and "instead of" in done.stdout, done.stdout
    assert len(re.findall(r"^vector \d+: ", done.stdout, re.M)) == 20


# --- The folder itself ----------------------------------------------------------------------------


def test_two_runs_give_the_same_bytes_and_another_seed_other_vectors(tmp_path):
    def vectors(where, **options):
        ww.export("mac(e5m10)", tmp_path / where, name="mac", model=True, **options)
        return {p.relative_to(tmp_path / where): p.read_bytes() for p in files(tmp_path / where)}

    one, two, three = vectors("one"), vectors("two"), vectors("three", seed=5)
    assert one == two and {str(p) for p in one if one[p] != three[p]} == {
        "vectors/mac.hex",
        "widthwise_export.txt",
    }
    more = vectors("four", vectors=1010)
    assert more[next(p for p in more if p.suffix == ".hex")].count(b"\n") == 10 + one[
        next(p for p in one if p.suffix == ".hex")
    ].count(b"\n")


def files(folder):
    return [p for p in folder.rglob("*") if p.is_file()]


def test_what_is_asked_for_and_not_built_leaves_nothing(tmp_path):
    for design, options, said in [
        ("add(e4m3fn)", {"lanes": 4}, "an operation has none"),
        ("add(e4m3fn, out=e4m3fn:sr8)", {"rounding_port": True}, "need no random bits"),
        ("kulisch(e4m3fn)", {"rtl": True}, "lanes"),
        ("divide(e4m3fn)", {"rtl": True}, "divide is not built"),
        ("add(e4m3fn)", {"vectors": -1}, "vectors = -1"),
        ("add(e4m3fn)", {"name": "3x"}, "3x"),
    ]:
        with pytest.raises(ValueError, match=said):
            ww.export(design, tmp_path / "hw", **options)
        assert list(tmp_path.iterdir()) == []


def test_where_no_rtl_is_built_the_readme_says_why(tmp_path):
    paths = ww.export("divide(e4m3fn)", tmp_path / "hw")
    text = (tmp_path / "hw" / "README.md").read_text()
    assert "divide is not built" in text and "divide_e4m3fn.vh" in text
    assert not any(p.parent.name == "rtl" for p in paths)
    ww.export("add(e4m3fn)", tmp_path / "hw", rtl=False)
    assert "it was not asked for" in (tmp_path / "hw" / "README.md").read_text()


def test_the_readme_tells_the_unit_fma_from_the_operation(tmp_path):
    """docs/semantics.md, T7 and D9: inf * 0 is NaN in both, and invalid in one."""
    said = {}
    for design in ("fma(e4m3, sum=e4m3)", "fma(e4m3)"):
        ww.export(design, tmp_path / design, name="dut", vectors=0)
        lines = (tmp_path / design / "vectors" / "dut.hex").read_text().splitlines()
        said[design] = {line[9:] for line in lines if line.startswith("78 00")}
    assert said == {"fma(e4m3, sum=e4m3)": {"7c 00"}, "fma(e4m3)": {"7c 10"}}
    unit, operation = ((tmp_path / d / "README.md").read_text() for d in said)
    assert "`fma(e4m3)`, IEEE 754's fusedMultiplyAdd" in unit
    assert "as IEEE 754 has it" in operation and "fusedMultiplyAdd" not in operation


# --- What the vectors meet ------------------------------------------------------------------------


def results(tmp_path, design, **options):
    """Fields of each vector, as numbers."""
    paths = ww.export(design, tmp_path / "hw", rtl=True, vectors=0, **options)
    text = next(p for p in paths if p.suffix == ".hex").read_text()
    return [
        [int(x, 16) for x in line.split()] for line in text.splitlines() if not line.startswith("/")
    ]


@pytest.mark.parametrize(
    ("design", "exp_bits", "frac_bits"),
    [
        ("multiply(binary16)", 5, 10),
        ("add(bfloat16)", 8, 7),
        ("fma(e5m2)", 5, 2),
        ("convert(binary32, out=e4m3)", 4, 3),
    ],
)
def test_directed_vectors_meet_what_random_ones_do_not(tmp_path, design, exp_bits, frac_bits):
    vectors = results(tmp_path, design)
    magnitude = (1 << exp_bits + frac_bits) - 1
    codes, flags = [v[-2] & magnitude for v in vectors], [v[-1] for v in vectors]
    least_normal = 1 << frac_bits
    largest = ((1 << exp_bits) - 1 << frac_bits) - 1
    for code in (least_normal - 1, least_normal, largest):
        assert codes.count(code) >= 4, hex(code)
    assert flags.count(0b00101) >= 4  # overflow
    assert design.startswith("add") or flags.count(0b00011) >= 8  # underflow
    assert codes.count(0) >= 4


def test_directed_vectors_meet_ties(tmp_path):
    ties = 0
    for a, b, _, flags in results(tmp_path, "multiply(binary16)"):
        product = (a & 0x3FF | 0x400) * (b & 0x3FF | 0x400)
        low = product.bit_length() - 11
        normal = all(0 < x >> 10 & 31 < 31 for x in (a, b)) and flags == 1
        ties += normal and product & (1 << low) - 1 == 1 << low - 1
    assert ties >= 20


def test_all_named_codes_are_squared(tmp_path):
    pairs = {(a, b) for a, b, _, _ in results(tmp_path, "add(binary16)")}
    named = [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7E00]
    codes = named + [code | 1 << 15 for code in named]
    assert pairs >= {(a, b) for a in codes for b in codes}
