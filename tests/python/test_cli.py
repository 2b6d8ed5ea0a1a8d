"""The command line: what it prints, its exit status, its one line on a wrong argument."""

import json
import subprocess
import sys

import numpy as np
import pytest
import widthwise as ww
from commands import widthwise


@pytest.fixture
def command():
    """Runs a command: (status, stdout, stderr)."""

    def run(*arguments, stdin=b""):
        done = widthwise(*arguments, stdin=stdin)
        return done.returncode, done.stdout, done.stderr

    return run


def test_the_module_is_the_command():
    for arguments in (["-m", "widthwise", "info", "e5m10"], ["-m", "widthwise.cli.none"]):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
        if arguments[1] == "widthwise":
            assert done.returncode == 0 and "65504" in done.stdout and done.stderr == ""
        else:
            assert done.returncode == 1


# --- Tables --------------------------------------------------------------------------------------


def test_info_shows_formats_and_units(command):
    status, out, _ = command("info", "e4m3fn")
    assert status == 0 and "448" in out and "0x7e" in out
    status, out, _ = command("info", "hopper.e4m3.f32")
    assert status == 0 and "checked on silicon" in out and "accumulator_width" in out
    facts = json.loads(command("info", "e5m10", "--json")[1])
    assert facts["codes"]["max_finite"] == "0x7bff" and facts["values"]["max_finite"] == "65504"
    facts = json.loads(command("info", "mac(e5m10)", "--json")[1])
    assert facts["fields"]["lanes"] == 1 and facts["widths"]["product_significand"] == 22


@pytest.mark.parametrize("text", ["mxfp4", "nvfp4", "bfp(8,32,e8)", "block(e4m3fn,8x8,binary32)"])
def test_info_shows_formats_of_blocks(command, text):
    status, out, _ = command("info", text)
    f = ww.BlockFormat(text)
    assert status == 0 and str(f.element) in out and str(f.scale) in out
    facts = json.loads(command("info", text, "--json")[1])
    assert ww.BlockFormat(facts["format"]) == f and facts["bits a number"] == f.bits


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("hopper", "there are hopper.e4m3.f32"),
        ("b200", "B200 is blackwell; there are blackwell"),
        ("posit(16,2)", "here it is posit16es2"),
        ("torch.float16", "here it is float16"),
        ("h100.f16.f32", "take hopper.f16.f32"),
        ("binry32", "nearest name: 'binary32'"),
        ("mac(e5m10", "the text ends"),
        ("affine(int8)", "quantize --format takes it"),
        ("affine(int4,symmetric,32)", "quantize --format takes it"),
    ],
)
def test_info_of_half_a_name_leads_on(command, text, way):
    status, _, err = command("info", text)
    assert status == 2 and way in err


def test_registries_are_tables(command):
    status, out, _ = command("formats")
    assert status == 0 and "bfloat16" in out
    rows = json.loads(command("units", "--json")[1])
    assert len(rows) == len(ww.units) and rows[0]["evidence"]


def test_doctor_says_what_it_found(command):
    status, out, _ = command("doctor")
    assert status == 0
    assert all(word in out for word in ("compiler", "mpfr", "CPU", "GPU", "verilator"))
    assert json.loads(command("doctor", "--json")[1])["version"] == ww.__version__


# --- op and trace --------------------------------------------------------------------------------


ROOT_OF_TWO = "0x3fff6a09e667f3bcc908b2fb1366ea95"


@pytest.mark.parametrize(
    "arguments, value, code, flags",
    [
        (["add", "e5m10", "0x3c00", "0x4000"], "3", "0x4200", "none"),
        (["fma", "e5m10", "3", "683", "1p-14"], "2050", "0x6801", "NX"),
        (["divide", "e5m10", "1", "0"], "inf", "0x7c00", "DZ"),
        (["div", "e5m10", "1", "3", "--rounding", "rup"], "0.33349609375", "0x3556", "NX"),
        (["convert", "binary32", "1e6", "--to", "e4m3fn"], "nan", "0x7f", "OF NX"),
        (["sqrt", "e15m112", "2"], "1.414213562373095048801688724209698", ROOT_OF_TWO, "NX"),
        (["scaleb", "e5m10", "1.5", "4"], "24", "0x4e00", "none"),
        (["scaleb", "e5m10", "1.5", "004"], "24", "0x4e00", "none"),
        (["classify", "e5m10", "-0"], "negative_zero", "", "none"),
        (["add", "e5m10", "-inf", "-0x1p-7"], "-inf", "0xfc00", "none"),
        (["less", "e5m10", "1", "2"], "True", "", "none"),
        (["less_signaling", "e5m10", "1", "nan"], "False", "", "NV"),
        (["lt", "e5m10", "1", "nan"], "False", "", "NV"),
        (["lt_quiet", "e5m10", "1", "nan"], "False", "", "none"),
        (["to_integer", "e5m10", "2.5"], "2", "", "NX"),
        (["to_integer", "e5m10", "300", "--to", "int8"], "127", "", "NV"),
        (["to_integer", "e5m10", "300", "--to", "int8", "--invalid", "x86"], "-128", "", "NV"),
        (["to_integer", "e5m10", "nan", "--to", "uint16", "--invalid", "arm"], "0", "", "NV"),
        (["to_integer", "e5m10", "2.5", "--rounding", "sr1", "--random", "1"], "3", "", "NX"),
        (["add", "e5m10", "-1", "1", "--rounding", "rdn"], "-0", "0x8000", "none"),
    ],
)  # fmt: skip
def test_op_prints_value_code_and_flags(command, arguments, value, code, flags):
    facts = json.loads(command("op", *arguments, "--json")[1])
    assert (facts["value"], facts["code"], facts["flags"]) == (value, code, flags)
    status, out, _ = command("op", *arguments)
    assert status == 0 and value in out and code in out


@pytest.mark.parametrize(
    "line, message",
    [
        ("op add e5m10 1 2 --random 3", "--random is given and --rounding = rne takes no random"),
        ("op add e5m10 1 2 --random 3", "a stochastic rounding, as --rounding sr8"),
        (
            "op add e5m10 1 2 --rounding sr8 --random 300",
            "--random = 300: --rounding = sr8 takes 8",
        ),
        (
            "op add e5m10 1 2 --rounding sr8 --random 3 --seed 5",
            "--random and --seed = 5 are given",
        ),
        ("op add e5m10 1 2 --rounding sr8 --random 1,2", "--random = 1,2: an integer is wanted"),
        ("op add e5m10 1 2 --seed -3", "--seed = -3: it may be 0 to 2^64 - 1"),
        ("op add e5m10 1 2 --tininess never", "--tininess = never: it may be before, after"),
        ("op add e5m10 1 2 --nan zero", "nan = 'zero': it may be canonical, negative"),
        ("op abs e5m10 1 --rounding sr8 --random 2", "--random = 2: abs rounds nothing"),
        ("op less e5m10 1 2 --to e5m2", "--to = e5m2: less rounds nothing; leave it out"),
        ("op classify e5m10 1 --to e5m2", "--to = e5m2: classify rounds nothing"),
        ("op max e5m10 1 2", "'max' is not known"),
        ("op max e5m10 1 2", ", less_equal, "),
        ("op max e5m10 1 2", ", classify, scaleb, to_integer"),
        ("op to_integer e5m10 1 --to int7", "--to = 'int7': it may be int8, uint8"),
        ("op add e5m10 1 2 3 4 5 6 7 8 9 10", "10 were given"),
        ("op add e5m10 1 2 --invalid arm", "--invalid = arm: it is of to_integer; leave it out"),
        ("op less e5m10 1", "less takes 2 operands, 1 was given"),
        ("op classify e5m10 1 2", "classify takes 1 operand, 2 were given"),
        ("op add e5m10 1 two", "B 'two', column 1: found 't'; wanted a number"),
        ("op add e5m10 0x10000 2", "A = 0x10000 is no code of e5m10"),
        ("op add e2m1fn nan 1", "A = nan: e2m1fn has no such number, and no NaN; take a format"),
        ("op add fixed8.4;overflow=wrap 1 inf", "B = inf: fixed8.4;overflow=wrap has no such"),
        ("op scaleb e5m10 1 1.5", "B = 1.5: scaleb's is an integer"),
        ("op less e5m10 1 2 --invalid arm", "--invalid = arm: less rounds nothing"),
        ("op to_integer e5m10 1 --tininess never", "--tininess = never: it may be before, after"),
        ("op scaleb e5m10 1 2 --invalid arm", "--invalid = arm: it is of to_integer; leave it out"),
        ("quantize runs/seed=3/x.npy y.npy --format e5m2", "IN = runs/seed=3/x.npy: "),
        ("op scaleb e5m10 1 99999999999999999999", "B = 99999999999999999999: scaleb's has up to"),
        ("trace mac(e2m1fn) nan 1", "A = nan: e2m1fn has no such number"),
        ("trace mac(e2m1fn) 1,2 1,nan", "B[1] = nan: e2m1fn has no such number"),
        ("trace mac(e2m1fn) 1 1 nan", "C = nan: e2m1fn has no such number"),
        ("trace mac(e4m3fn) 1,x 1,2", "A[1] 'x', column 1: found 'x'"),
        ("trace mac(e4m3fn) 1,0x388 1,2", "A[1] = 0x388 is no code of e4m3fn"),
        ("trace mac(e4m3fn) 1,2 1", "A has 2 and B 1 numbers, which are multiplied in pairs"),
        (
            "op add e5m10 1 2 --rm rtz",
            "unrecognized arguments: --rm rtz; there are --help, --invalid",
        ),
        ("quantize a.npy b.npy --frmat e5m2", "--frmat e5m2; the nearest is --format (see widthw"),
        ("trace mac(e4m3fn) -k 1000000000", "-k = 1000000000: it may be 0 to 100,000"),
    ],
)
def test_errors_name_what_was_typed(command, line, message):
    status, out, err = command(*line.split())
    assert status == 2 and out == "" and message in err and len(err.splitlines()) == 1


def test_op_shows_the_stages(command):
    facts = json.loads(command("op", "fma", "e5m10", "3", "683", "1p-14", "--json")[1])
    stages = [row["stage"] for row in facts["stages"]]
    assert stages == ["unpack"] * 3 + ["exact", "normalise", "denormalise", "round", "pack"]


def test_trace_takes_numbers_codes_or_draws(command):
    status, out, _ = command("trace", "mac(e4m3fn)", "1.5,2", "3,0x38", "0.5")
    assert status == 0 and "result: 7" in out
    status, out, _ = command("trace", "hopper.f16.f32", "-k", "3")
    assert status == 0 and out.count("unpack") >= 6
    facts = json.loads(command("trace", "mac(e5m10)", "1,2", "3,4", "--json")[1])
    assert facts["result"] == {"value": "11", "code": "0x4980"}
    scaled = next(name for name, u in ww.units.items() if u.scale_format)
    assert command("trace", scaled, "1,1", "1,1")[0] == 0


# --- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["info", "e5mx"], "format 'e5mx', column 4"),
        (["info", "mac(e5m10"], "unit 'mac(e5m10', column"),
        (["op", "add", "mxfp4", "1", "2"], "format = 'mxfp4': blocks, numbers with a scale"),
        (["op", "add", "nvfp4", "1", "2"], "format = 'nvfp4': blocks, numbers with a scale"),
        (["bench", "gemm", "--format", "mxfp4"], "format = 'mxfp4': blocks, numbers with a"),
        (["trace", "mac(e5m10)", "-k", "-1"], "-k = -1: it may be 0 to 100,000"),
        (["trace", "mac(e5m10)", "--vcd", "no.vcd"], "--vcd = no.vcd: No such file"),
        (["op", "ad", "e5m10", "1", "2"], "operation 'ad' is not known; nearest name: 'add'"),
        (["op", "add", "e5m10", "1"], "add takes 2 operands, 1 was given"),
        (["op", "add", "e5m10", "1", "0x12345"], "B = 0x12345 is no code of e5m10"),
        (["op", "add", "e5m10", "1", "2", "--rounding", "up"], "rounding 'up'"),
        (["trace", "mac(e5m10)", "1,2"], "B is missing; give A and B"),
        (["trace", "mac(e5m10)", "1,2", "1"], "A has 2 and B 1 numbers, which are multiplied"),
        (["verify", "--op", "add"], "--format: what are the operands of add? Give one, as e5m10"),
        (
            ["vectors", "--op", "add", "--format", "i32"],
            "integers are converted only; take op = convert",
        ),
        (
            ["vectors", "--op", "convert", "--format", "i32", "--to", "i64"],
            "one of the two has to be a format",
        ),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["quantize", "none.npy", "out.npy", "--format", "e5m10"], "IN = none.npy: No such file"),
        (["dot", "none.npy", "b.npy", "--unit", "mac(e5m10)"], "A = none.npy: No such file"),
    ],
)
def test_a_wrong_argument_is_one_line_and_status_2(command, arguments, message):
    status, out, err = command(*arguments)
    assert status == 2 and out == ""
    assert err.startswith("widthwise: ") and err.count("\n") == 1
    assert message in err


def test_codes_of_another_width_are_refused(command, tmp_path):
    np.save(tmp_path / "q8.npy", np.uint8([0x38]))
    np.save(tmp_path / "v.npy", np.ones(1))
    pair = tmp_path / "q8.npy", tmp_path / "v.npy"
    status, out, err = command("dot", *pair, "--unit", "mac(e5m10)")
    assert status == 2 and out == ""
    assert "q8.npy: it holds uint8; codes of e5m10 are uint16" in err


def test_help_is_there():
    done = subprocess.run(
        [sys.executable, "-m", "widthwise", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    for name in [
        "info",
        "formats",
        "units",
        "quantize",
        "op",
        "trace",
        "dot",
        "matmul",
        "verify",
        "vectors",
        "export",
        "doctor",
    ]:
        assert name in done.stdout


# --- Files ---------------------------------------------------------------------------------------


def test_quantize_writes_codes_or_values(command, tmp_path):
    x = np.array([0.1, 1 / 3, 1e9])
    np.save(tmp_path / "x.npy", x)
    status, out, _ = command(
        "quantize", tmp_path / "x.npy", tmp_path / "y.npy", "--format", "e5m10"
    )
    assert status == 0 and "3 numbers as e5m10; 3 inexact, 0 underflow, 1 overflow" in out
    assert (np.load(tmp_path / "y.npy")["e5m10"] == ww.array(x, "e5m10").bits).all()
    command(
        "quantize",
        tmp_path / "x.npy",
        tmp_path / "v.npy",
        "--format",
        "e5m10",
        "--values",
        "--rounding",
        "rtz",
    )
    assert np.load(tmp_path / "v.npy")[2] == 65504
    np.savez(tmp_path / "x.npz", a=x, b=x[:2])
    facts = json.loads(
        command("quantize", tmp_path / "x.npz", tmp_path / "y.npz", "--format", "e4m3fn", "--json")[
            1
        ]
    )
    assert [row["array"] for row in facts["arrays"]] == ["a", "b"]
    assert ww.load(tmp_path / "y.npz")["b"].format == ww.Format("e4m3fn")
    status, out, _ = command(
        "quantize", "-", tmp_path / "z.npy", "--format", "e5m10", stdin=b"0.1 1/3\n0x1.8p-7\n"
    )
    assert status == 0 and ww.load(tmp_path / "z.npy").bits.tolist() == [0x2E66, 0x3555, 0x2200]


def test_products_of_files_are_those_of_arrays(command, tmp_path):
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 8)), rng.standard_normal((8, 2)), rng.standard_normal(2)
    for name, x in (("a", a), ("b", b), ("c", c)):
        np.save(tmp_path / f"{name}.npy", x)
    u = "hopper.f16.f32"
    wanted = ww.matmul(ww.array(a, "e5m10"), ww.array(b, "e5m10"), unit=u, c=ww.array(c, "e8m23"))
    files = [tmp_path / "a.npy", tmp_path / "b.npy", "--c", tmp_path / "c.npy", "--unit", u]
    assert command("matmul", *files, "--out", tmp_path / "z.npy")[0] == 0
    assert (np.load(tmp_path / "z.npy")["e8m23"] == wanted.bits).all()
    facts = json.loads(command("matmul", *files, "--values", "--json")[1])
    assert facts["values"] == wanted.to_float64().tolist()
    np.save(tmp_path / "a.npy", ww.array(a, "e5m10").bits)  # codes are taken as they are
    np.save(tmp_path / "b.npy", b.T[:1])
    status, out, _ = command("dot", tmp_path / "a.npy", tmp_path / "b.npy", "--unit", u)
    assert status == 0 and "(3,) of e8m23, hopper.f16.f32" in out


@pytest.mark.parametrize(
    "content, target, message",
    [
        (
            np.array([{}], dtype=object),
            "y.npy",
            "this is no array of numbers; write it with np.save",
        ),
        (np.array([1.0, np.nan]), "y.npy", "x: element 1 is NaN and e2m1fn has no NaN"),
        (np.array([1.0]), "y.txt", "OUT = {}/y.txt: a name that ends in .npy is wanted"),
        (np.array([1.0]), "none/y.npy", "OUT = {}/none/y.npy: "),
    ],
)
def test_files_that_cannot_be_used_are_named(command, tmp_path, content, target, message):
    np.save(tmp_path / "x.npy", content)
    status, _, err = command(
        "quantize", tmp_path / "x.npy", tmp_path / target, "--format", "e2m1fn"
    )
    assert status == 2 and message.format(tmp_path) in err and err.count("\n") == 1
    assert not (tmp_path / target).exists()


def test_export_writes_headers(command, tmp_path):
    status, out, _ = command("export", "hopper.e4m3.f32", tmp_path / "hw", "--name", "mac_unit")
    assert status == 0 and out.split()[0] == str(tmp_path / "hw" / "mac_unit.vh")
    assert "ACC_WIDTH" in (tmp_path / "hw" / "mac_unit.vh").read_text()
    for design, name in [("mac(e5m10)", "mac_e5m10"), ("add(e4m3fn)", "add_e4m3fn")]:
        assert command("export", design, tmp_path / name)[1].split()[0].endswith(f"{name}.vh")
    assert "libwidthwise_model.so" in command("export", "add(e5m2)", tmp_path / "m", "--model")[1]
    status, _, err = command("export", "mac(e5m10)", tmp_path)
    assert status == 2 and "it holds " in err and "name another folder" in err
    status, _, err = command("export", "mac(e5m10)", tmp_path / "new", "--name", "3x")
    assert status == 2 and "3x" in err
    (tmp_path / "file").write_text("")
    status, _, err = command("export", "mac(e5m10)", tmp_path / "file" / "x")
    assert status == 2 and "DIR = " in err
