"""Exported folders of running sums and of modules that make their random words themselves."""

import re
import shutil

import pytest
import widthwise as ww
from exported_folders import make, needs, replace

SUM = {"accumulate": True, "vectors": 60}
DESIGNS = {
    "codes": (
        "mac(e4m3fn, product=e5m7:rtz, sum=e8m13:sr8)",
        {**SUM, "pipeline": ["product", "round"]},
    ),
    "kulisch": (
        "kulisch(e5m2, c=e5m10, out=e8m23)",
        {**SUM, "lanes": 3, "pipeline": ["group_sum_align"]},
    ),
    "wrap": (
        "fixedacc(e4m3fn, width=14, frac=6, overflow=wrap, out=e5m4:sr12)",
        {**SUM, "lanes": 2, "generator": True},
    ),
    "saturate": (
        "fixedacc(e4m3fn, width=12, frac=4, overflow=saturate, out=e5m10)",
        {**SUM, "lanes": 1},
    ),
    "steps": ("mac(e4m3fn, sum=e8m13:sr40)", {**SUM, "generator": True}),
    "apart": ("mac(e4m3fn, product=e5m3:sr5, sum=e8m13:sr64)", {"generator": True}),
    "operation": (
        "add(bfloat16, out=bfloat16:sr8)",
        {"generator": True, "pipeline": ["exact_align"]},
    ),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    there = tmp_path_factory.mktemp("sums")
    for name, (design, options) in DESIGNS.items():
        ww.export(design, there / name, name=name, rtl=True, **options)
    return there


def lines_of(folder):
    text = (folder / "vectors" / f"{folder.name}.hex").read_text().splitlines()
    fields = next(line for line in text if line.startswith("// FIELDS"))
    names = re.findall(r"(\w+)\[", fields)
    return [
        dict(zip(names, line.split(), strict=True)) for line in text if not line.startswith("//")
    ]


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_folder_alone_passes_in_icarus(folders, name):
    needs("iverilog")
    done = make(folders / name, "icarus")
    assert done.stdout == f"icarus: {len(lines_of(folders / name))} vectors, 0 errors\n"


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", ["codes"])
def test_the_folder_alone_passes_in_cocotb(folders, name):
    needs("iverilog")
    done = make(folders / name, "cocotb")
    assert done.stdout == f"cocotb: {len(lines_of(folders / name))} vectors, 0 errors\n"


def test_the_readme_tells_how_blocks_are_given(folders):
    said = (folders / "codes" / "README.md").read_text()
    assert "| input `in_first` | 1 | 1: a sum begins with this block" in said
    assert "| input `c` | 22 | read with the first block of a sum |" in said
    assert "LATENCY is 3, II 3." in said and " PIPE_PRODUCT " in said
    assert "every II clocks" in said and "II = 3;" in (folders / "codes" / "codes.vh").read_text()
    said = (folders / "wrap" / "README.md").read_text()
    assert "| input `c` | 8 | read with the last block of a sum |" in said
    assert "| input `index` | 64 | the result's number" in said


def sums(folder):
    """Blocks from one that is first to one that is last."""
    blocks = []
    for line in lines_of(folder):
        assert (line["in_first"] == "1") == (blocks == [])
        blocks.append(line)
        if line["in_last"] == "1":
            yield blocks
            blocks = []
    assert blocks == []


def test_the_vectors_are_sums_of_several_lengths(folders):
    for name in ["codes", "kulisch", "steps"]:
        all_sums = list(sums(folders / name))
        assert {len(blocks) for blocks in all_sums} == {1, 2, 5}
        assert all(int(b["y"] + b["flags"], 16) == 0 for s in all_sums for b in s[:-1])
    steps = {tuple(int(b["step"], 16) for b in s) for s in sums(folders / "steps")}
    assert steps == {(0,), (0, 1), (0, 1, 2, 3, 4)}


def test_a_sum_of_the_vectors_is_what_dot_says(folders):
    unit = ww.Unit("kulisch(e5m2, c=e5m10, out=e8m23)")
    for blocks in list(sums(folders / "kulisch"))[::40]:
        a, b = (
            ww.from_bits(
                [int(x[port], 16) >> 8 * i & 255 for x in blocks for i in range(3)], "e5m2"
            )
            for port in "ab"
        )
        c = ww.from_bits(int(blocks[-1]["c"], 16), "e5m10")
        assert int(ww.dot(a, b, unit=unit, c=c).bits) == int(blocks[-1]["y"], 16)


def test_a_seed_and_an_index_meet_all_their_bits(folders):
    for name in ["apart", "operation", "wrap"]:
        for port in ["seed", "index"]:
            numbers = {int(line[port], 16) for line in lines_of(folders / name)}
            assert len(numbers) > 100
            assert min(numbers) < 2**58 and max(numbers) > 2**63


# --- What must be noticed -------------------------------------------------------------------------

FAULTS = {
    "C at every block": ("codes", "rtl/codes.v", "in_first ? c : ", "1'b1 ? c : "),
    "no wait for the block before": ("codes", "rtl/codes.v", "advance & !busy", "advance"),
    "a result at every block": (
        "codes",
        "rtl/codes.v",
        "result_valid & in_last",
        "result_valid | in_last",
    ),
    "no result": ("codes", "rtl/codes.v", "result_valid & in_last", "1'b0 & in_last"),
    "flags of the last block alone": (
        "codes",
        "rtl/codes.v",
        "? 5'd0 : flags_kept",
        "? 5'd0 : 5'd0",
    ),
    "a wrong II": ("codes", "codes.vh", "II = 3", "II = 4"),
    "C at the first block": (
        "kulisch",
        "rtl/kulisch.v",
        "assign last_c_sig = in_last",
        "assign last_c_sig = !in_last",
    ),
    "a register that is not cleared": (
        "kulisch",
        "rtl/ww_sum.v",
        "first_now ? {SW{1'b0}} : total",
        "total",
    ),
    "a register that wraps": ("saturate", "rtl/saturate.v", ".SATURATE(1'b1)", ".SATURATE(1'b0)"),
    "random words of the first block": (
        "steps",
        "rtl/ww_draw.v",
        "MOVES[call] ? step : 32'd0",
        "32'd0",
    ),
    "half a seed": (
        "apart",
        "rtl/ww_draw.v",
        "begins ? seed : key",
        "begins ? {32'd0, seed[31:0]} : key",
    ),
    "another generator": ("operation", "rtl/ww_philox.v", "d2511f53", "d2511f57"),
}


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("fault", FAULTS)
def test_icarus_notices(folders, tmp_path, fault):
    needs("iverilog")
    name, file, old, new = FAULTS[fault]
    folder = shutil.copytree(folders / name, tmp_path / name, ignore=lambda *_: ["build"])
    replace(folder / file, old, new)
    done = make(folder, "icarus")
    assert done.returncode != 0 and re.search("instead of|in_ready|out_valid", done.stdout), (
        done.stdout
    )
    assert re.search(r"^\d+ vectors, [1-9]\d* errors$", done.stdout, re.M), done.stdout


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A running sum of wide codes, with ports of random words, and the golden model beside it."""
    folder = tmp_path_factory.mktemp("judged") / "wide"
    unit = "mac(e20m49, product=e20m49:sr9, sum=e20m60:sr40:half)"
    ww.export(unit, folder, name="wide", model=True, vectors=0, accumulate=True)
    return folder


@pytest.mark.in_turn(3)
def test_the_golden_model_judges_sums_random_words_and_wide_codes(judged, tmp_path):
    needs("verilator")
    done = make(judged, "dpi", "CHECKS=20000")
    assert done.stdout == "dpi: 20478 vectors, 0 errors\n", done.stdout
    folder = shutil.copytree(judged, tmp_path / "wide", ignore=lambda *_: ["build"])
    replace(folder / "rtl" / "wide.v", "in_first ? c : ", "1'b1 ? c : ")
    done = make(folder, "dpi", "CHECKS=20000")
    assert done.returncode != 0 and "instead of" in done.stdout, done.stdout
    assert len(re.findall(r"^vector \d+: ", done.stdout, re.M)) == 20


def test_what_is_not_built_is_refused(tmp_path):
    for design, options, said in [
        ("add(e4m3fn)", {"accumulate": True}, "an operation keeps no sum; take a unit"),
        ("kulisch(e4m3fn)", {"accumulate": True}, "give the number of products as lanes"),
        ("neumaier(e5m10)", {"accumulate": True}, "a unit with a chain of its own"),
        ("mac(e5m10)", {"accumulate": True, "lanes": 4}, "leave lanes out"),
        ("mac(e5m10)", {"generator": True}, "leave generator out, or round by sr"),
        ("add(e4m3fn)", {"generator": True}, "leave it out, or round by sr"),
    ]:
        with pytest.raises(ValueError, match=said):
            ww.export(design, tmp_path / "hw", **options)
        assert list(tmp_path.iterdir()) == []


def test_the_command_line_takes_them(tmp_path, capsys):
    from widthwise.cli import main

    folder = str(tmp_path / "hw")
    options = ["--accumulate", "--generator", "--vectors", "1", "--name", "dut"]
    assert main(["export", "mac(e4m3fn, sum=e8m13:sr8)", folder, *options]) == 0
    capsys.readouterr()
    text = (tmp_path / "hw" / "rtl" / "dut.v").read_text()
    assert "in_first" in text and "ww_random" in text
