"""An exported folder holds each constant of each header: a changed one fails it by its name."""

import re

import pytest
import widthwise as ww
from exported_folders import make, needs

LOCALPARAM = r"^ *localparam .*?(\w+) = (.+?);"
MACRO = r"define HW_(?:AP_FLOAT_)?(\w+) (\S.*?)(?:  //.*)?$"
# Of each header: what a constant looks like, its name and its value; who reads it in `make`.
HEADERS = {
    ".vh": (LOCALPARAM, "headers"),
    "_params.vh": (r"^parameter .*?(\w+) = ([^,\n ]+)", "headers"),
    "_defs.vh": (MACRO, "headers"),
    "_hardfloat.vh": (LOCALPARAM, "headers"),
    "_pkg.sv": (LOCALPARAM, "headers"),
    "_fpnew_pkg.sv": (LOCALPARAM, "headers"),
    "_pkg.vhd": (r"constant (\w+) : .* := (.*?);", "ghdl"),
    "_flopoco_pkg.vhd": (r"constant (\w+) : .* := (.*?);", "ghdl"),
    ".h": (MACRO, "headers"),  # a C++ compiler reads them, too
    "_ap_float.h": (MACRO, "headers"),
    ".json": (r'"name": "(\w+)", .*?"value": (.*?), "section"', "headers"),
    "_vivado.tcl": (r"CONFIG.(C_\w+) {(\d+)}", "headers"),
    ".smt2": (
        r"define-fun hw_(\w+) .*#b(\d+)|define-(sort hw_\w) .* (\d+)\)\)|(rm) .*Mode (\w+)",
        "headers",
    ),
    "_dpi_pkg.sv": (r"localparam .*?(\w+) = (.*?);", "headers"),
    "_vhpi_pkg.vhd": (r"constant (\w+) : \w+ := (.*?)(?= & nul| fs)", "headers"),
}
READERS = {"headers": "iverilog", "ghdl": "ghdl"}
NO_COMPILER = ["CC=none", "CXX=none"]  # where none is wanted: they take longest
# Everything a table may have: a rounding's random bits, scales, sums, codes past 64 bits.
DESIGNS = {
    "e15m112": ("multiply(e15m112)", {}),
    "e62m1": ("fma(e62m1, sum=e62m1)", {}),
    "nvfp4": ("blackwell.nvfp4", {"rtl": False}),
    "kulisch": ("kulisch.f32", {}),
    "random": ("mac(e5m10, sum=e8m13:sr8:half)", {"vectors": 0}),
    "neumaier": ("neumaier(e5m10)", {"rtl": False}),
    "divide": ("divide(e2m1fn)", {}),
    "fixed": ("fixedacc(fixed8.4, frac=7, out=ufixed70.3;overflow=zero)", {}),
    "posit": ("mac(posit8es2, sum=takum12)", {}),
}


def exported(path, design, **options):
    ww.export(design, path, name="hw", **options)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("hw") / "hw", "convert(e4m3, out=e3m2)", vectors=0)


def constants(text, pattern):
    """Each one's name, and where its value stands."""
    found = list(re.finditer(pattern, text, re.MULTILINE))
    return [(x[x.lastindex - 1], x.span(x.lastindex)) for x in found]


def changed(text, span):
    """With another digit, or letter, at the end of a value."""
    value = text[span[0] : span[1]]
    if re.fullmatch("true|false", value):
        other = {"true": "false", "false": "true"}[value]
    else:
        last = max(i for i, c in enumerate(value) if c.isalnum())
        swapped = value[last].translate(str.maketrans("0123456789abcdef", "1032547698badcfe"))
        other = value[:last] + (swapped if swapped != value[last] else "z") + value[last + 1 :]
    return text[: span[0]] + other + text[span[1] :]


def all_changed(text, found):
    for _, span in reversed(found):
        text = changed(text, span)
    return text


def unseen(found, told):
    return [(name, span) for name, span in found if not re.search(rf": {name}\b", told)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("ending", HEADERS)
def test_no_constant_can_be_changed_unseen(folder, ending):
    """All at once, as a run takes its time; and alone those that are not named beside others."""
    pattern, target = HEADERS[ending]
    needs(READERS[target])
    path = folder / f"hw{ending}"
    text = path.read_text()
    found = constants(text, pattern)
    assert len(found) >= 2
    options = NO_COMPILER[1:] if ending.endswith(".h") else NO_COMPILER
    path.write_text(all_changed(text, found))
    for name, span in unseen(found, make(folder, target, *options).stdout):
        path.write_text(changed(text, span))
        done = make(folder, target, *options)
        told = done.stdout.replace("sort ", "sort hw_")
        assert done.returncode != 0 and path.stem in told and name in told, (name, told)
    path.write_text(text)
    assert make(folder, target).returncode == 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_constant_of_every_design_is_held(tmp_path, design):
    """All changed at once, so that one run names them all."""
    needs("iverilog")
    text, options = DESIGNS[design]
    there = exported(tmp_path / "hw", text, **options)
    assert make(there, "headers", "ghdl").returncode == 0
    for ending in (".vh", "_pkg.sv", ".h", ".json"):
        path, pattern = there / f"hw{ending}", HEADERS[ending][0]
        right = path.read_text()
        found = constants(right, pattern)
        path.write_text(all_changed(right, found))
        silent = unseen(found, make(there, "headers").stdout)
        path.write_text(right)
        assert len(found) > 60 and not silent, (ending, silent)


def test_the_table_of_dialects_is_whole(folder):
    """Files with constants that are in no list above would be held by nobody."""
    others = {"widthwise_model.h", "widthwise_vpi.c", "hw_taps.json"}  # of no design's constants
    top = {p.name for p in folder.iterdir() if p.is_file()}
    plain = {"README.md", "Makefile", "widthwise_export.txt"}
    assert top - others - plain == {f"hw{ending}" for ending in HEADERS}


@pytest.mark.parametrize(
    ("target", "ending", "name"),
    [
        ("icarus", ".vh", "Y_BIAS"),
        ("icarus", "_hardfloat.vh", "A_sigWidth"),
        ("cocotb", ".json", "Y_BIAS"),
    ],
)
def test_benches_of_vectors_hold_their_headers(tmp_path, target, ending, name):
    needs("iverilog")
    if target == "cocotb":
        pytest.importorskip("cocotb_tools", reason="cocotb is not installed")
    there = exported(tmp_path / "hw", "add(e5m2)", vectors=0)
    done = make(there, target)
    assert re.fullmatch(rf"{target}: \d+ vectors, 0 errors\n", done.stdout), done.stdout
    path = there / f"hw{ending}"
    [span] = [span for x, span in constants(path.read_text(), HEADERS[ending][0]) if x == name]
    path.write_text(changed(path.read_text(), span))
    done = make(there, target)
    assert done.returncode != 0 and f": {name} is " in done.stdout, done.stdout
