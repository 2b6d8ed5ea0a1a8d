"""The command line's help: every example runs. And what only a terminal gets, and completion."""

import io
import json
import os
import pty
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import f32, run, written
from widthwise import cli
from widthwise.cli import terminal


def commands():
    top = cli.parser()
    (choices,) = (action.choices for action in top._actions if action.choices)
    return choices


def examples():
    for name, command in commands().items():
        lines = (command.epilog or "").splitlines()
        for line in lines[1:]:
            yield pytest.param(line.strip(), id=f"{name}: {line.strip()[:40]}")


def test_every_command_of_the_interface_is_there_with_examples():
    named = "info formats units quantize op trace dot matmul verify vectors export sweep bench"
    assert {"doctor", "completion", "help", *named.split()} == set(commands())
    for name, command in commands().items():
        assert "examples:\n  widthwise" in command.format_help() or "echo" in command.epilog, name


@pytest.fixture
def files(tmp_path, monkeypatch):
    """What the examples read, in the folder they run in."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("a.npy", rng.standard_normal((8, 8)))
    np.save("b.npy", rng.standard_normal((8, 8)))
    written(Path("model.safetensors"), {"fc.weight": f32(rng.standard_normal((4, 6)))})
    Path("rules.toml").write_text('[[rule]]\nmatch = "fc.*"\nscale = "channel"\n')
    np.savez("x.npz", x=rng.standard_normal(5), y=rng.standard_normal((2, 3)))
    return tmp_path


@pytest.mark.parametrize("example", list(examples()))
def test_an_example_of_the_help_runs(example, files, monkeypatch, capsys):
    if example == "widthwise bench --json":
        example += " --size 16 --seconds 0.001"  # the same, sooner
    said = b""
    for part in example.split(" | "):
        words = shlex.split(part)
        if words[0] == "echo":
            said = " ".join(words[1:]).encode()
            continue
        assert words[0] == "widthwise"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said)))
        assert cli.main(words[1:]) == 0, capsys.readouterr().err
        out, err = capsys.readouterr()
        assert out and err == ""
        said = out.encode()
    if "--json" in example:
        json.loads(said)


# --- sweep ---------------------------------------------------------------------------------------


def test_sweep_prints_what_ww_sweep_finds(files, capsys):
    options = ["--over", "m=2:4", "--a", "a.npy", "--b", "b.npy", "--csv", "found.csv", "--json"]
    status, out, _ = run(capsys, "sweep", "mac(e5m{m})", *options, "--sort", "rel_norm")
    units = ww.grid("mac(e5m{m})", m=[2, 3, 4])
    found = ww.sweep(units, np.load("a.npy"), np.load("b.npy"))
    assert status == 0 and json.loads(out) == found.best("rel_norm", 3).records()
    lines = (files / "found.csv").read_text().splitlines()
    assert lines[0] == ",".join(f'"{name}"' for name in found.columns) and len(lines) == 4
    assert found.columns[-1] == "not_finite" and {*found["not_finite"].tolist()} == {0}


def test_sweep_tells_how_many_results_are_no_numbers_unasked(files, capsys):
    status, out, _ = run(capsys, "sweep", "mac(e2m3)", "--random", "16,64,16", "--json")
    (row,) = json.loads(out)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((16, 64)), rng.standard_normal((64, 16))
    z = ww.matmul(*(ww.array(x, "e2m3") for x in (a, b)), unit="mac(e2m3)")
    lost = int(np.count_nonzero(~ww.isfinite(z)))
    assert status == 0 and row["not_finite"] == lost > 200 and isinstance(row["not_finite"], int)
    assert row["max_abs"] == row["rel_norm"] == "inf"  # which JSON has no number for
    _, text, _ = run(capsys, "sweep", "mac(e2m3)", "--random", "16,64,16")
    assert text.split()[-1] == str(lost)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["sweep", "mac(e5m10)"], "--a and --b, or --random M,K,N alone, name what is multiplied"),
        (["sweep", "mac(e5m10)", "--random", "4,4"], "--random = 4,4: three sizes are wanted, as"),
        (["sweep", "mac(e5m10)", "--over", "m", "--random", "4,4,4"], "--over m: NAME=VALUES is"),
        (
            ["sweep", "mac(e5m10)", "fma(e5m10)", "--over", "m=1", "--random", "4,4,4"],
            "--over fills one UNIT, as 'mac(e{e}m{m})'; 2 were given",
        ),
        (
            ["sweep", "mac(e5m10)", "--random", "4,4,4", "--sort", "max_rel"],
            "--sort = max_rel: it may be one of max_abs, rel_norm, of_operands",
        ),
        (
            ["sweep", "mac(e5m10)", "--over", "m=1:3", "--random", "4,4,4"],
            "--over m=…: mac(e5m10) has no {m}; write it where the values go",
        ),
        (
            ["sweep", "mac(e{e}m3)", "--random", "2,2,2"],
            "mac(e{e}m3) has {e}, and no --over fills it; add --over e=4,5",
        ),
        (
            ["sweep", "mac(e{e}m{m})", "--over", "m=1:3", "--random", "4,4,4"],
            "mac(e{e}m{m}) has {e}, and no --over fills it; add --over e=4,5",
        ),
        (
            ["sweep", "mac(e5m{m})", "--over", "m=3:1", "--random", "4,4,4"],
            "--over m=3:1: the least comes first, as m=1:3",
        ),
        (
            ["sweep", "mac(e5m{m})", "--over", "m=3", "--over", "m=4", "--random", "4,4,4"],
            "--over: m is given twice; list its values, as m=4,5,8",
        ),
        (["export", "mac(e5m10)", "x", "--lanes", "0"], "--lanes = 0: take a number from 1 to"),
        (["export", "mac(e5m10)", "x", "--lanes", "two"], "argument --lanes: 'two' is no whole"),
        (
            ["export", "hopper.f16.f32", "x", "--lanes", "3"],
            "takes 16 products a block and --lanes = 3; give a multiple, or none for one block",
        ),
        (
            ["export", "add(e5m10)", "x", "--lanes", "3"],
            "--lanes = 3 of add(e5m10): an operation has none; leave --lanes out",
        ),
        (["op", "add", "e5m10", "-x", "1"], "unrecognized arguments: -x"),
        (
            ["verify"],
            "required: --op; a call is widthwise vectors --op add --format e5m2 -n 99 | w",
        ),
        (
            ["verify", "--op", "add", "v.txt"],
            "v.txt; a call is widthwise vectors --op add --format e5m2 -n 99 | widthwise verify",
        ),
        (
            ["quantize", "x.npy", "e4m3fn", "y.npy"],
            "arguments: y.npy; a call is widthwise quantize a.npy codes.npy --format e4m3fn (see",
        ),
        (
            ["sweep"],
            "required: UNIT; a call is widthwise sweep 'mac(e5m10)' hopper.f16.f32 --random",
        ),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
    ],
)
def test_a_wrong_argument_is_one_line_and_status_2(arguments, message, capsys):
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and err.count("\n") == 1 and message in err


# --- .safetensors --------------------------------------------------------------------------------


@pytest.mark.parametrize("format, kind", [("e4m3fn", "F8_E4M3"), ("e5m10", "F16"), ("e4m4", "U16")])
def test_quantize_takes_and_makes_safetensors(format, kind, files, capsys):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    values = np.float32([[1.0, -0.1, np.inf], [0.0, -0.0, 3e-8]])
    library.save_file({"w": values, "n": np.arange(3)}, "w.safetensors")
    status, out, _ = run(
        capsys, "quantize", "w.safetensors", "q.safetensors", "--format", format, "--json"
    )
    assert status == 0 and [row["array"] for row in json.loads(out)["arrays"]] == ["w"]
    assert [row["array"] for row in json.loads(out)["untouched"]] == ["n"]
    data = (files / "q.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    first, last = header["w"]["data_offsets"]
    assert header["w"]["dtype"] == kind and header["w"]["shape"] == [2, 3]
    assert data[8 + length :][first:last] == ww.array(values, format).bits.tobytes()
    told = {"widthwise.formats": json.dumps({"w": "e4m4"})} if kind == "U16" else None
    assert header.get("__metadata__") == told
    if kind == "F16":
        assert (library.load_file("q.safetensors")["w"] == values.astype(np.float16)).all()
    again = ["quantize", "q.safetensors", "back.npz", "--format", format]
    assert run(capsys, *again)[0] == 0
    assert (ww.load("back.npz")["w"].bits == ww.array(values, format).bits).all()


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "this is no safetensors file: its header is not whole"),
        (struct.pack("<Q", 2) + b"[]", "this is no safetensors file: its header is not whole"),
        (
            struct.pack("<Q", 53) + b'{"w":{"dtype":"F32","shape":[],"data_offsets":[0,1]}}1',
            "w is F32 of shape () at bytes 0 to 1 of 1; the file is cut short",
        ),
    ],
)
def test_a_broken_safetensors_file_is_named(data, message, files, capsys):
    (files / "w.safetensors").write_bytes(data)
    status, _, err = run(capsys, "quantize", "w.safetensors", "q.npz", "--format", "e5m10")
    assert status == 2 and f"IN = w.safetensors: {message}" in err and err.count("\n") == 1


def test_arrays_that_np_save_kept_with_their_format_are_taken(files, capsys):
    x = ww.array([0.1, np.inf], "bfloat16")
    np.save("x.npy", x)
    assert run(capsys, "quantize", "x.npy", "y.npy", "--format", "e5m10")[0] == 0
    assert (ww.load("y.npy").bits == x.astype("e5m10").bits).all()


# --- A terminal ----------------------------------------------------------------------------------


def on_a_terminal(arguments, **variables):
    """What a command writes to a terminal: stdout and stderr are one there."""
    mother, daughter = pty.openpty()
    termios.tcsetwinsize(daughter, (24, 80))
    environment = {**os.environ, "TERM": "xterm", **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "widthwise", *arguments],
        stdout=daughter,
        stderr=daughter,
        env=environment,
    )
    os.close(daughter)
    parts = []
    while True:
        try:
            part = os.read(mother, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    os.close(mother)
    return b"".join(parts).decode()


def test_a_terminal_gets_colours_and_progress_unless_it_asks_for_none():
    table = on_a_terminal(["formats"])
    assert terminal.BOLD in table.splitlines()[0] and terminal.BOLD not in table.splitlines()[2]
    assert "\x1b" not in on_a_terminal(["formats"], NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(["formats"], TERM="dumb")
    assert terminal.RED in on_a_terminal(["info", "e5mx"])
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    arguments = ["sweep", "mac(e5m{m})", "--over", "m=2:9", "--random", "40,40,40"]
    assert "sweep:" in on_a_terminal(arguments)


def test_a_pipe_gets_neither(capsys):
    status, out, err = run(capsys, "sweep", "mac(e5m10)", "--random", "4,4,4")
    assert status == 0 and "\x1b" not in out and err == ""


# --- Completion ----------------------------------------------------------------------------------


def completed(capsys, *words):
    """What bash offers for the last of the words."""
    script = run(capsys, "completion", "bash")[1]
    line = " ".join(shlex.quote(word) for word in ("widthwise", *words))
    program = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _widthwise"
    program += '\nprintf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_options_and_names(capsys):
    assert completed(capsys, "qu") == ["quantize"]
    assert set(completed(capsys, "")) == set(commands())
    assert completed(capsys, "op", "--round") == ["--rounding"]
    assert "hopper.e4m3.f32" in completed(capsys, "trace", "hopper.e4m3")
    assert completed(capsys, "info", "bfl") == ["bfloat16"]
    assert "e4m3fn" in completed(capsys, "quantize", "e4m3")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_scripts_of_their_shell(shell, capsys):
    script = run(capsys, "completion", shell)[1]
    assert "quantize" in script and "hopper.e4m3.f32" in script
    if shutil.which(shell):
        options = ["-n"] if shell != "zsh" else ["-n", "-f"]
        done = subprocess.run([shell, *options], input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
