"""A trace beside a waveform: right hardware agrees in every wire, a fault shows at its stage."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import widthwise as ww
from exported_folders import make, needs, replace
from turns import LONG

ANY = {"vectors": 20}
RIGHT = {
    "fma(e4m6, sum=e4m6)": ANY,
    "mac(e4m3fn)": {**ANY, "pipeline": ["product", "join_align", "round"]},
    "dot(e4m3, lanes=4, align=8:rtz)": {**ANY, "pipeline": ["unpack", "group_sum", "group_sum"]},
    "tree(e5m10, fan=4)": ANY,
    "mac(e5m10, product=e5m10:rtz, sum=binary32)": {**ANY, "lanes": 3},
    "neumaier(e4m3)": {**ANY, "lanes": 2},
    "fma(bfloat16, promote=2:binary32, final=e5m10)": {**ANY, "lanes": 4},
    "kulisch(e4m3fn)": {**ANY, "lanes": 3},
    "hopper.e4m3.f32": {"vectors": 3},
    "mac(fixed8.4, product=fixed12.6:rdn)": {**ANY, "pipeline": ["product", "normalise", "round"]},
    "fixedacc(fixed8.4, width=13, frac=6, out=fixed8.4;overflow=wrap)": {**ANY, "lanes": 3},
    "kulisch(posit8es2)": {**ANY, "lanes": 3},
    "mac(takum8, sum=takum16)": {**ANY, "pipeline": ["normalise", "pattern"]},
}
OPERATIONS = {
    "add(e5m10)": {"pipeline": ["unpack", "exact", "round"]},
    "subtract(e5m2)": {},
    "fma(bfloat16)": {},
    "multiply(e4m3fnuz)": {},
    "add(fixed8.4)": {"pipeline": ["unpack", "round"]},
    "fma(posit16es2)": {"pipeline": ["exact", "pattern", "round"]},
}
FEW_STAGES = ("multiply(e4m3fnuz)", "add(fixed8.4)", "fma(posit16es2)")  # without subnormals


def vectors_of(folder):
    """Operands and results of the folder's vectors."""
    (path,) = folder.glob("vectors/*.hex")
    lines = path.read_text().splitlines()
    fields = next(line for line in lines if line.startswith("// FIELDS"))
    names = re.findall(r"(\w+)\[", fields)
    return [
        dict(zip(names, (int(x, 16) for x in line.split()), strict=True))
        for line in lines
        if line and not line.startswith("//")
    ]


def codes(code, f, count):
    return ww.from_bits([code >> i * f.width & (1 << f.width) - 1 for i in range(count)], f)


def trace_of(design, vector, lanes=None):
    if design in OPERATIONS:
        op, f = re.fullmatch(r"(\w+)\(([\w.]+)\)", design).groups()
        given = [ww.from_bits(vector[x], f) for x in "abc" if x in vector]
        return ww.trace_operation(op, *given, format=f)
    u = ww.Unit(design)
    k = lanes or u.lanes
    a, b = codes(vector["a"], u.a, k), codes(vector["b"], u.b, k)
    return ww.trace(u, a, b, ww.from_bits(vector["c"], u.c))


@pytest.mark.in_turn(4)
@pytest.mark.parametrize("design", [*RIGHT, *OPERATIONS])
def test_right_hardware_agrees_in_every_wire(tmp_path, design):
    needs("iverilog")
    options = {**ANY, **RIGHT.get(design, OPERATIONS.get(design))}
    ww.export(design, tmp_path / "hw", "dut", rtl=True, **options)
    assert make(tmp_path / "hw", "wave").returncode == 0
    vectors = [v for v in vectors_of(tmp_path / "hw") if not v.get("running")]
    stages = set()
    for i in np.random.default_rng(1).choice(len(vectors), 8, replace=False):
        beside = trace_of(design, vectors[i], options.get("lanes")).beside(
            tmp_path / "hw" / "build" / "dut.vcd"
        )
        assert beside.first is None, beside
        assert "as the simulator has them" in str(beside)
        assert beside.pairs[-1].hardware == f"0x{vectors[i]['y']:x}"
        stages |= {pair.stage for pair in beside}
    assert {"unpack", "pack"} <= stages and (len(stages) > 4 or design in FEW_STAGES)


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("nan", ["propagate", "x86", "negative"])
@pytest.mark.parametrize("pipeline", [None, ["unpack", "round", "pack"]])
def test_a_nan_that_is_handed_on_agrees_too(tmp_path, nan, pipeline):
    needs("iverilog")
    ww.export(f"fma(e5m2, nan={nan})", tmp_path / "hw", "dut", vectors=20, pipeline=pipeline)
    assert make(tmp_path / "hw", "wave").returncode == 0
    found = set()
    for vector in vectors_of(tmp_path / "hw"):
        if vector["y"] & 0x7F <= 0x7C or len(found) > (5 if LONG else 2):
            continue
        given = [ww.from_bits(vector[x], "e5m2") for x in "abc"]
        trace = ww.trace_operation("fma", *given, nan=nan)
        beside = trace.beside(tmp_path / "hw" / "build" / "dut.vcd")
        assert beside.first is None, beside
        found.add(vector["y"])
    assert found == {0xFE} if nan == "negative" else len(found) > 2


FAULTS = {
    "unpack": (
        "ww_unpack.v",
        "assign exp = counted - BIAS;",
        "assign exp = counted - BIAS - (counted == 9);",
    ),
    "product": ("ww_product.v", "a_exp + b_exp;", "a_exp + b_exp + (a_exp == b_exp);"),
    "group_sum": ("ww_add.v", "assign sum = low + high;", "assign sum = low | high;"),
    "normalise": ("ww_normalise.v", "- $signed(zeros);", "- $signed(zeros) - (zeros == 3);"),
    # A lost sticky bit: each step of the shifter forgets what the ones before it have lost.
    "denormalise": ("ww_shift_right.v", "lost = lost | |(kept", "lost = |(kept"),
    "round": ("ww_round.v", "= rounded[EXP+FRAC-1:0];", "= rounded[EXP+FRAC-1:0] ^ lossy;"),
    "pack": ("ww_pack.v", "zero ? zero_code : number;", "zero ? zero_code : number ^ lossy;"),
}


FAULTS_OF_SYSTEMS = {
    "fixed8.4": ("normalise", "ww_place.v", "= DOWN - exp;", "= DOWN - exp + sig[3];"),
    "posit8es2": ("pack", "ww_round_pattern.v", "{W{1'b0}}, away};", "{W{1'b0}}, away | lossy};"),
}


@pytest.mark.in_turn(2)
@pytest.mark.parametrize("f", FAULTS_OF_SYSTEMS)
def test_a_fault_in_another_number_system_shows_at_its_stage(tmp_path, f):
    needs("iverilog")
    stage, file, right, fault = FAULTS_OF_SYSTEMS[f]
    folder = tmp_path / "hw"
    ww.export(f"add({f}, b=e5m10)", folder, "dut", vectors=200)
    replace(folder / "rtl" / file, right, fault)
    said = make(folder, "wave").stdout
    assert re.search(r"^wave: build/dut.vcd, of \d+ vectors, [1-9]\d* errors$", said, re.M), said
    for vector in vectors_of(folder):
        a, b = ww.from_bits(vector["a"], f), ww.from_bits(vector["b"], "e5m10")
        beside = ww.trace_operation("add", a, b, format=f).beside(folder / "build" / "dut.vcd")
        if beside.first:
            break  # the bench stops after 20 errors
    assert beside.first and beside.first.stage == stage, beside


@pytest.mark.in_turn(6)
@pytest.mark.parametrize("pipeline", [None, ["product", "group_sum_align", "normalise", "round"]])
@pytest.mark.parametrize("stage", FAULTS)
def test_a_fault_shows_at_its_stage(tmp_path, stage, pipeline):
    needs("iverilog")
    file, right, fault = FAULTS[stage]
    folder = tmp_path / "hw"
    ww.export(ww.Unit("fma(e4m6)"), folder, "dut", vectors=50, pipeline=pipeline)
    replace(folder / "rtl" / file, right, fault)
    said = make(folder, "icarus").stdout
    line = r"vector \d+: a (\w+) b (\w+) c (\w+).*: y (\w+) flags \w+ instead of y (\w+)"
    wrong = [x for x in re.findall(line, said) if x[3] != x[4]]
    # A zero has no digits that tell of its exponent.
    a, b, c, *_ = next(x for x in wrong if all(int(code, 16) % 0x400 for code in x[:3]))
    make(folder, "wave")
    vector = {name: int(x, 16) for name, x in zip("abc", (a, b, c), strict=True)}
    beside = trace_of("fma(e4m6)", vector).beside(folder / "build" / "dut.vcd")
    assert beside.first and beside.first.stage == stage, beside
    assert beside.first.differs and f"wire that differs is {beside.first.wire}" in str(beside)
    table = beside.table()
    assert table["differs"].sum() == sum(pair.differs for pair in beside) > 0
    assert "#d6336c" in beside._repr_html_() and beside.first.wire in beside._repr_html_()


@pytest.fixture(scope="module")
def adder(tmp_path_factory):
    needs("iverilog")
    folder = tmp_path_factory.mktemp("here") / "hw"
    ww.export("fma(e4m3)", folder, "dut", vectors=10)
    make(folder, "wave")
    return folder


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "widthwise", "trace", "fma(e4m3)", *map(str, words)],
        text=True,
        capture_output=True,
    )


def test_the_command_sets_a_trace_beside_a_waveform(adder, tmp_path):
    vector = vectors_of(adder)[-1]
    operands = [f"0x{vector[x]:x}" for x in "abc"]
    done = command(*operands, "--vcd", adder / "build" / "dut.vcd")
    assert done.returncode == 0 and "wires that a trace has, too, are as" in done.stdout
    moved = shutil.copy(adder / "build" / "dut.vcd", tmp_path / "wave.vcd")
    done = command(*operands, "--vcd", moved)
    assert done.returncode != 0 and "no NAME_taps.json is there" in done.stderr
    done = command(*operands, "--vcd", moved, "--folder", adder, "--json")
    facts = json.loads(done.stdout)
    assert facts["first"] is None and facts["module"] == "dut"
    text = moved.read_text()
    key = re.search(r"\$var wire 8 (\S+) out_code ", text)[1]
    moved.write_text(re.sub(rf"^b\w+ {re.escape(key)}$", f"bx {key}", text, flags=re.M))
    done = command(*operands, "--vcd", moved, "--folder", adder)
    assert done.returncode == 1 and "the first wire that differs is out_code" in done.stdout
    assert "xxxxxxxx" in done.stdout
    done = command(*operands, "--vcd", tmp_path / "none.vcd", "--folder", adder)
    assert done.returncode == 2 and "none.vcd: No such file" in done.stderr


def test_a_waveform_of_something_else_is_refused(adder, tmp_path):
    x = ww.array([1.0625, 1.0], "e4m6")
    with pytest.raises(ValueError, match="its ports never have the trace's operands, a = 0x"):
        ww.trace("fma(e4m6)", x, x).beside(adder / "build" / "dut.vcd")
    other = tmp_path / "other.vcd"
    other.write_text(
        "$scope module x $end $var wire 1 ! y $end $upscope $end $enddefinitions $end\n#0\n1!\n"
    )
    with pytest.raises(ValueError, match=r"no scope in it has wires a_sig and y, as module dut"):
        ww.trace("fma(e4m6)", x, x).beside(other, adder)
    ww.export("mac(e4m3)", tmp_path / "sum", "sum_unit", vectors=5, accumulate=True)
    make(tmp_path / "sum", "wave")
    vector = vectors_of(tmp_path / "sum")[0]
    with pytest.raises(ValueError, match="keeps a running sum"):
        trace_of("mac(e4m3)", vector).beside(tmp_path / "sum" / "build" / "sum_unit.vcd")


def test_a_waveform_is_words_in_any_lines(tmp_path):
    needs("iverilog")
    ww.export("add(e5m10)", tmp_path / "hw", "dut", vectors=5, pipeline=["round"])
    assert make(tmp_path / "hw", "wave").returncode == 0
    vcd = tmp_path / "hw" / "build" / "dut.vcd"
    trace = trace_of("add(e5m10)", vectors_of(tmp_path / "hw")[3])
    wanted = trace.beside(vcd).pairs
    words = vcd.read_text().split()
    others = ["$comment", "0 is no change", "$end", "r1.5", "real", "sidle", "state"]
    begin = words.index("$enddefinitions") + 2
    for between in (" ", "\n"):
        vcd.write_text(between.join([*words[:begin], *others, *words[begin:]]))
        assert trace.beside(vcd).pairs == wanted
    for data in (b"", b"\x00\x01FST\xff" * 99):
        vcd.write_bytes(data)
        with pytest.raises(ValueError, match="it declares no wire; a value change dump is wanted"):
            trace.beside(vcd)
