"""What the command of checkpoints says to whoever uses it wrongly, and what it overwrites."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import METADATA, f32, in_file, quantize, refused, run, sharded, split, written
from peak_memory import printed_by

INDEX = "model.safetensors.index.json"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a model in one file and in three; the command runs there."""
    _, tensors = in_file(tmp_path)
    sharded(tmp_path / "parts", split(tensors), METADATA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words):
    """One line, and nothing changed."""
    before = everything()
    error = refused(capsys, *words)
    assert everything() == before
    return error


def everything():
    return {os.path.join(folder, f): open(os.path.join(folder, f), "rb").read()
            for folder, _, files in os.walk(".") for f in files}  # fmt: skip


# --- What is overwritten --------------------------------------------------------------------------


TASKS = (["--format", "mxfp4"], ["--format", "e4m3fn"], ["--format", "int8", "--scale", "tensor"])


@pytest.mark.parametrize("task", TASKS)
def test_a_model_is_not_overwritten_in_silence(here, capsys, task):
    os.symlink("in.safetensors", "link.safetensors")
    os.link("in.safetensors", "hard.safetensors")
    for source, out in (
        ("in.safetensors", "in.safetensors"),
        ("in.safetensors", "./in.safetensors"),
        ("in.safetensors", str(here / "in.safetensors")),
        ("in.safetensors", "parts/../in.safetensors"),
        ("in.safetensors", "link.safetensors"),
        ("link.safetensors", "in.safetensors"),
        ("in.safetensors", "hard.safetensors"),
    ):
        error = said(capsys, source, out, *task)
        assert f"OUT = {out}: that is IN" in error and "or pass --force" in error
    quantize(capsys, "in.safetensors", "link.safetensors", *task, "--force")
    assert os.path.islink("link.safetensors")
    assert isinstance(ww.load("in.safetensors")["odd"], ww.Array | ww.Blocks) or "scale" in str(
        task
    )


def test_neither_is_a_part_of_one_nor_what_is_read_beside_it(here, capsys):
    index, task = f"parts/{INDEX}", ("--format", "mxfp4")
    part = "parts/model-00002-of-00003.safetensors"
    for out in (index, "parts", "parts/", part):
        assert "would be overwritten" in said(capsys, index, out, *task)
    assert f"OUT = {part}: that is of IN, {part}" in said(capsys, index, part, *task)
    assert "--html = in.safetensors: that is IN," in said(
        capsys, "in.safetensors", "o.safetensors", *task, "--html", "in.safetensors"
    )
    assert "that is OUT = o.safetensors," in said(
        capsys, "in.safetensors", "o.safetensors", *task, "--html", "./o.safetensors"
    )
    os.rename("in.safetensors", "model.safetensors")
    with open("r.safetensors", "w") as file:
        file.write("defaults = false")
    rules = (*task, "--rules", "r.safetensors", "--force")
    assert "that is --rules" in said(capsys, "model.safetensors", "r.safetensors", *rules)
    quantize(capsys, "model.safetensors", "o.safetensors", *task)
    assert "that is IN" in said(capsys, "o.safetensors", "o.safetensors", "--dequantize")
    quantize(capsys, "o.safetensors", "o.safetensors", "--dequantize", "--force")


def test_arrays_are_not_overwritten_either(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        np.save(name, np.float32([[1, 2], [3, 4]]))
    np.savez("x", a=np.ones(3))
    before = everything()
    assert "OUT = a.npy: that is IN," in refused(capsys, "a.npy", "a.npy", "--format", "e4m3fn")
    assert "OUT = x.npz: that is IN," in refused(capsys, "x.npz", "x.npz", "--format", "e4m3fn")
    for out, name in (("a.npy", "A"), ("./b.npy", "B = b.npy")):
        status, _, err = run(
            capsys, "matmul", "a.npy", "b.npy", "--unit", "mac(e5m10)", "--out", out
        )
        assert status == 2 and f"--out = {out}: that is {name}" in err
    assert everything() == before
    assert run(capsys, "quantize", "a.npy", "a.npy", "--format", "e4m3fn", "--force")[0] == 0


# --- What is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("no.safetensors o.safetensors --format mxfp4", "IN = no.safetensors: No such file"),
        ("in.safetensors o.bin --format mxfp4", "OUT = o.bin: a name that ends in .safetensors"),
        (
            "in.safetensors no/o.safetensors --format mxfp4",
            "OUT = no/o.safetensors: there is no folder no",
        ),
        ("in.safetensors no/o.safetensors --format e4m3fn", "there is no folder no"),
        ("parts o --format mxfp4", "IN = parts: this is a folder; name the .safetensors or *.safe"),
        (
            "parts o.npy --format e4m3fn",
            "IN = parts: Is a directory; name a .npy, .npz or .safetensors file in",
        ),
        (
            "in.npy o.safetensors --format mxfp4",
            "scales, rules and --dequantize are of checkpoints",
        ),
        (
            "in.safetensors o.safetensors --format mxfp8",
            "nearest names: 'mxfp8_e4m3', 'mxfp8_e5m2'",
        ),
        (
            "in.safetensors o.safetensors --format affine(int99)",
            "'affine(int99)': bits = 99: codes have",
        ),
        (
            "in.safetensors o.safetensors --format mxfp4 --scale tensor",
            "--scale = tensor: mxfp4 says itself what its scales are of; leave --scale out",
        ),
        (
            "in.safetensors o.safetensors --format int8 --scale block",
            "--scale = block: int8 has no blocks",
        ),
        (
            "in.safetensors o.safetensors --format nf4 --scale block",
            "no format 'nf4'; here it is table(nf4)",
        ),
        (
            "in.safetensors o.safetensors --format int8 --scale tensor --scale channel",
            "--scale = tensor and --scale = channel: give one",
        ),
        (
            "in.safetensors o.safetensors --format int8 --format int4",
            "--format = int8 and --format = int4: give one",
        ),
        (
            "in.safetensors o.safetensors --format mxfp4 --rounding up",
            "widthwise: rounding 'up', column 1",
        ),
        (
            "in.safetensors o.safetensors --format mxfp4 --include ids",
            "is to be quantised: 12 not included, 4 no float, 1 empty",
        ),
        (
            "in.safetensors o.safetensors --format mxfp4 --exclude *",
            "is to be quantised: 12 excluded",
        ),
    ],
)  # fmt: skip
def test_one_line_names_the_way_out(here, capsys, words, wanted):
    assert wanted in said(capsys, *words.split())


def test_what_is_quantised_already_is_said_so(here, capsys):
    quantize(capsys, "in.safetensors", "o.safetensors", "--format", "mxfp4")
    error = said(capsys, "o.safetensors", "b.safetensors", "--format", "mxfp4")
    assert "quantised already" in error and "4 no float" in error


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rule = [3]", "each rule begins with [[rule]]"),
        ("rule = 3", "each rule begins with [[rule]]"),
        ("[rule]\nmatch = 'odd'", "each rule begins with [[rule]], in double brackets"),
        ("[[rule]]\nmatch = ''", "rule 1: match = '*.weight', or a list of such globs, is wanted"),
        ("[[rule]]\nmatch = 'odd'\nformt = 'int8'", "formt is no key of a rule"),
        (
            "[[rule]]\nmatch = 'odd'\nscale = 'tensor'\nformat = 'mxfp4'",
            "rule 1: scale = tensor: mxfp4 says itself what its scales are of; leave scale out",
        ),
        (
            "[[rule]]\nmatch = 'odd'\nscale = 'tensor'\nformat = 'e15m2'",
            "rule 1: e15m2 under a scale: its largest number is zero, or past binary32's; "
            "scale = 'none' rounds to it",
        ),
        (
            "[[rule]]\nmatch = 'odd'\nscale = 'tensor'\naxis = 1",
            "rule 1: axis = 1, and scale is tensor, which has no axis",
        ),
        ("[[rule]]\nmatch = 'odd'\naxis = 1", "rule 1: axis = 1, and scale is none"),
        (
            "[[rule]]\nmatch = ['ids', 'm*k']\nformat = 'int8'",
            "rule 1, match = ids: none of its tensors is quantised: ids (no "
            "float), mask (no float); leave the rule out",
        ),
        (
            "[[rule]]\nmatch = 'fp8.weight'\nkeep = true\n[[rule]]\nmatch = "
            "'none'\nformat = 'mxfp4'",
            "rule 2, match = none: none of its tensors is quantised: none (empty)",
        ),
        (
            "[[rule]]\nmatch = 'odd'\nformat = 'mxfp4'\naxis = 5",
            "and it may be -2 to 1; --exclude 'odd' leaves it as it is",
        ),
    ],
)  # fmt: skip
def test_rules_that_are_wrong(here, capsys, text, wanted):
    (here / "r.toml").write_text(text)
    task = ("in.safetensors", "o.safetensors", "--format", "e4m3fn", "--rules", "r.toml")
    assert wanted in said(capsys, *task)


def test_rules_that_are_no_text(here, capsys):
    (here / "r.toml").write_bytes(b"\xff\xfe")
    task = ("in.safetensors", "o.safetensors", "--format", "e4m3fn", "--rules", "r.toml")
    assert "--rules = r.toml: this is no text" in said(capsys, *task)
    (here / "r.toml").write_text("[[rule]]\nmatch = ['ids', 'odd']\nformat = 'int8'")  # odd is one
    rows, _ = quantize(capsys, *task)
    assert rows["odd"]["format"] == "int8"
    (here / "r.toml").write_text("[[rule]]\nmatch = 'ids'\nkeep = true")
    quantize(capsys, *task)


def test_info_of_what_is_no_checkpoint(here, capsys):
    (here / "x.bin").write_bytes(b"1")
    for name in ("parts", "x.bin"):
        status, _, err = run(capsys, "info", name)
        assert status == 2 and f"FILE = {name}: a .safetensors file is wanted" in err


# --- What is told ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "wanted"),
    [
        ("affine(uint8)", "tensor"),
        ("affine(int4,symmetric,all)", "tensor"),
        ("affine(int8,symmetric,channel)", "channel"),
        ("affine(int4,symmetric,4)", "block"),
        ("affine(int4,symmetric,2x2)", "block"),
        ("block(e4m3fn,all,binary32)", "tensor"),
        ("nvfp4", "block"),
    ],
)
def test_reports_say_what_has_a_scale(here, capsys, format, wanted):
    rows, _ = quantize(capsys, "in.safetensors", "o.safetensors", "--format", format)
    assert {row["scale"] for row in rows.values()} == {wanted}
    told = json.loads(run(capsys, "info", "o.safetensors", "--json")[1])["tensors"]
    assert {row["scale"] for row in told} == {wanted, ""}
    back = json.loads(
        run(capsys, "quantize", "o.safetensors", "b.safetensors", "--dequantize", "--json")[1]
    )
    assert {row["scale"] for row in back["arrays"]} == {wanted}


# --- Blocks down the columns ----------------------------------------------------------------------


@pytest.mark.parametrize("piece", [64, 1])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize(
    "format",
    [
        "mxfp4",
        "nvfp4",
        "block(int4,3,binary32)",
        "bfp(6,0,e8)",
        "affine(uint4,asymmetric,3)",
        "affine(int8,symmetric,0)",
    ],
)
def test_pieces_of_blocks_along_any_axis(tmp_path, capsys, monkeypatch, format, axis, piece):
    from widthwise.containers import chunks

    monkeypatch.setattr(chunks, "PIECE", piece)
    x = np.random.default_rng(1).standard_normal((35, 7, 5)).astype(np.float32)
    path, out, rules = (tmp_path / name for name in ("a.safetensors", "o.safetensors", "r.toml"))
    written(path, {"w": f32(x)})
    rules.write_text(f'[[rule]]\nmatch = "w"\nformat = "{format}"\naxis = {axis}')
    quantize(capsys, path, out, "--format", "e4m3fn", "--rules", rules)
    found, make = ww.load(out)["w"], ww.affine if format.startswith("affine") else ww.blocks
    whole = make(x, format, axis=axis)
    assert (found == whole).all() and str(found.format) == str(whole.format)
    back = tmp_path / "b.safetensors"
    quantize(capsys, out, back, "--dequantize")
    assert (ww.load(back)["w"].to_float64() == whole.to_float64().astype(np.float32)).all()


def test_blocks_down_the_columns_take_a_piece_of_memory(tmp_path):
    x = np.random.default_rng(0).standard_normal((1 << 11, 1 << 13)).astype(np.float32)  # 64 MB
    written(tmp_path / "in.safetensors", {"w": f32(x)})
    for format in ("mxfp4", "affine(int4,symmetric,32)"):
        text = f'[[rule]]\nmatch = "w"\nformat = "{format}"\naxis = 0'
        (tmp_path / "r.toml").write_text(text)
        (grown,) = printed_by(
            """
            import sys, io, contextlib
            from widthwise import cli
            before = peak()
            with contextlib.redirect_stdout(io.StringIO()):
                assert cli.main(["quantize", *sys.argv[1:]]) == 0
            print(peak() - before)
            """,
            str(tmp_path / "in.safetensors"), str(tmp_path / "out.safetensors"),
            "--format=e4m3fn", "--rules", str(tmp_path / "r.toml"),
        )  # fmt: skip
        assert grown < x.nbytes + (30 << 20), (format, grown)  # the file's own pages among them
