"""Checkpoints in several files, what is wrong with them, and what is left where work stops."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import (
    INDEX,
    METADATA,
    f32,
    in_file,
    parts,
    quantize,
    refused,
    run,
    sharded,
    split,
    tensors_of,
    values,
    written,
)
from peak_memory import printed_by


@pytest.fixture
def checkpoint(tmp_path):
    return in_file(tmp_path)


# --- Several files --------------------------------------------------------------------------------


def test_files_of_an_index_become_files_of_an_index(tmp_path, capsys):
    tensors = tensors_of()
    index = sharded(tmp_path / "in", split(tensors), METADATA, {"total_size": 1, "made": "here"})
    whole = tmp_path / "in.safetensors"
    written(whole, tensors, METADATA)
    task = ["--format", "int4", "--scale", "channel"]
    rows, facts = quantize(capsys, index, tmp_path / "out", *task)
    assert len(facts["files"]) == 3 and "no_longer_named" not in facts
    want, _ = quantize(capsys, whole, tmp_path / "one.safetensors", *task)
    assert rows == want
    out = tmp_path / "out" / INDEX
    told = json.loads(out.read_text())
    assert told["metadata"]["made"] == "here"
    sizes = [len(x) for f in facts["files"] for x in parts(tmp_path / "out" / f)[2].values()]
    assert told["metadata"]["total_size"] == sum(sizes)
    assert told["weight_map"]["odd"] == told["weight_map"]["odd_scale"] in facts["files"]
    loaded, one = ww.load(out), ww.load(tmp_path / "one.safetensors")
    assert set(loaded) == set(one) == set(tensors)
    assert all(str(loaded[n]) == str(one[n]) for n in loaded)
    # Back: into several files by an index's name, and into one.
    quantize(capsys, out, tmp_path / "back" / INDEX, "--dequantize")
    quantize(capsys, out, tmp_path / "merged.safetensors", "--dequantize")
    back, merged = ww.load(tmp_path / "back" / INDEX), ww.load(tmp_path / "merged.safetensors")
    assert set(back) == set(merged) == set(tensors)
    assert all(np.asarray(back[n]).tobytes() == np.asarray(merged[n]).tobytes() for n in back)
    library = pytest.importorskip("safetensors", reason="safetensors is not installed")
    for file in facts["files"]:
        with library.safe_open(tmp_path / "out" / file, "np") as opened:
            assert set(opened.keys()) == {n for n, f in told["weight_map"].items() if f == file}


def test_an_index_is_replaced_when_its_files_are_whole(tmp_path, capsys):
    first, second = tensors_of(1), tensors_of(2)
    a = sharded(tmp_path / "a", split(first), METADATA)
    b = sharded(tmp_path / "b", split(second), METADATA)
    task = ["--format", "e4m3fn", "--scale", "tensor"]
    _, before = quantize(capsys, a, tmp_path / "out", *task)
    old = {f: (tmp_path / "out" / f).read_bytes() for f in before["files"]}
    _, after = quantize(capsys, b, tmp_path / "out", *task)
    assert set(after["files"]).isdisjoint(before["files"])
    assert after["no_longer_named"] == before["files"]
    assert all((tmp_path / "out" / f).read_bytes() == data for f, data in old.items())
    assert (ww.load(tmp_path / "out" / INDEX)["odd"].to_float64().std()) > 0
    # In the very place that it comes from, which has to be asked for; where it fails in its last
    # file nothing is left of that.
    index = sharded(tmp_path / "c", split(first), METADATA)
    assert "that is IN, which would be overwritten" in refused(capsys, index, index, *task)
    quantize(capsys, index, index, *task, "--force")
    assert ww.load(index)["odd"].format == ww.Format("e4m3fn")
    bad = dict(first) | {"zz": f32([[1, math.inf]])}
    index = sharded(tmp_path / "d", [*split(first), {"zz": bad["zz"]}], METADATA)
    names = sorted(os.listdir(tmp_path / "d"))
    assert "zz: element [0, 1] is inf" in refused(capsys, index, index, *task, "--force")
    assert sorted(os.listdir(tmp_path / "d")) == names


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda x: x | {"weight_map": {"odd": "../in.safetensors"}},
            "'../in.safetensors', which is",
        ),
        (lambda x: x | {"weight_map": x["weight_map"] | {"odd": "no.safetensors"}}, "No such file"),
        (
            lambda x: x | {"weight_map": x["weight_map"] | {"new": x["weight_map"]["odd"]}},
            "it is not",
        ),
        (
            lambda x: x | {"weight_map": {k: v for k, v in x["weight_map"].items() if k != "odd"}},
            "holds odd, which the index does not say of it",
        ),
        (lambda x: {"metadata": {}}, "this is no index of a checkpoint"),
        (lambda x: [1], "this is no index of a checkpoint"),
        (lambda x: x | {"weight_map": 3}, "this is no index of a checkpoint"),
    ],
)
def test_an_index_that_is_wrong_is_one_line(tmp_path, capsys, change, said):
    index = sharded(tmp_path / "in", split(tensors_of()), METADATA)
    index.write_text(json.dumps(change(json.loads(index.read_text()))))
    with pytest.raises(ValueError, match="file = "):
        ww.load(index)
    error = refused(capsys, index, tmp_path / "out", "--format", "int8", "--scale", "tensor")
    assert said in error and "IN = " in error and not (tmp_path / "out").exists()
    index.write_text("{")
    assert "this is no index" in refused(capsys, index, tmp_path / "out", "--format", "int8")


# --- Bad input, and what is left ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (["--format", "e99", "--scale", "tensor"], "e99"),
        (["--scale", "tensor"], "--format is missing: name one"),
        ([], "--format is missing: name one"),
        (
            ["--format", "int1", "--scale", "tensor"],
            "int1 under a scale: its largest number is zero",
        ),
        (
            ["--format", "e15m2", "--scale", "tensor"],
            "or past binary32's; --scale none rounds to it",
        ),
        (
            ["--format", "e4m3fn", "--scale", "block"],
            "e4m3fn has no blocks; take tensor or channel",
        ),
        (["--format", "mxfp4", "--scale", "tensor"], "mxfp4 says itself what its scales are of"),
        (["--format", "e4m3fn", "--rules", "absent.toml"], "--rules = absent.toml: No such file"),
        (
            ["--format", "int8", "--scale", "tensor", "--values"],
            "--values: a checkpoint's values are",
        ),
        (
            ["--format", "int8", "--scale", "tensor", "--html", "no/x.html"],
            "--html = no/x.html: there",
        ),
        (["--dequantize"], "is quantised; floats of its own types, FP8 too, are rounded to"),
        (["--dequantize", "--scale", "tensor"], "--scale: --dequantize undoes all"),
        (["--format", "e4m3fn", "--scale", "tensor", "--exclude", "*"], "no tensor of it is to be"),
    ],
)
def test_a_wrong_option_is_one_line(checkpoint, task, said, tmp_path, capsys):
    path, _ = checkpoint
    out = tmp_path / "out.safetensors"
    assert said in refused(capsys, path, out, *task)
    assert sorted(os.listdir(tmp_path)) == ["in.safetensors"]


def test_files_of_the_wrong_kind_are_one_line(checkpoint, tmp_path, capsys):
    path, _ = checkpoint
    task = ["--format", "int8", "--scale", "tensor"]
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    assert "are of checkpoints" in refused(capsys, tmp_path / "x.npy", tmp_path / "y.npy", *task)
    assert "a name that ends in .safetensors" in refused(capsys, path, tmp_path / "o.npz", *task)
    assert "IN is one file" in refused(capsys, path, tmp_path / INDEX, *task)
    absent = refused(capsys, tmp_path / "absent.safetensors", tmp_path / "o.safetensors", *task)
    assert "IN = " in absent and "No such file" in absent
    clash = {"w": f32(np.ones((2, 2))), "w_scale": f32(np.ones((2, 2)))}
    written(tmp_path / "clash.safetensors", clash)
    error = refused(capsys, tmp_path / "clash.safetensors", tmp_path / "o.safetensors", *task)
    assert "w is to be written with w_scale, and there is a tensor of that name" in error


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_no_scale_is_made_of_what_is_not_finite(tmp_path, capsys, number):
    x = np.ones((30, 4), np.float32)
    x[17, 2] = number
    written(tmp_path / "in.safetensors", {"a": f32(x[:2]), "w": f32(x)})
    out = tmp_path / "out.safetensors"
    out.write_text("old")
    task = [tmp_path / "in.safetensors", out, "--format", "e4m3fn", "--scale", "channel"]
    error = refused(capsys, *task)
    assert f"w: element [17, 2] is {abs(number)} in binary32" in error and out.read_text() == "old"
    assert ("--nan zero puts +0 there; or keep the tensor" in error) == math.isnan(number)
    if math.isnan(number):
        quantize(capsys, *task, "--nan", "zero")
        assert ww.load(out)["w"].to_float64()[17].tolist() == pytest.approx([1, 1, 0, 1])
    assert sorted(os.listdir(tmp_path)) == ["in.safetensors", "out.safetensors"]


def test_a_file_that_is_cut_short_is_named(checkpoint, tmp_path, capsys):
    path, _ = checkpoint
    out, bad = tmp_path / "out.safetensors", tmp_path / "bad.safetensors"
    quantize(capsys, path, out, "--format", "int4", "--scale", "channel")
    for whole in (path.read_bytes(), out.read_bytes()):
        for n in (0, 3, 8, 50, len(whole) // 2, len(whole) - 1):
            bad.write_bytes(whole[:n])
            for task in (["--format", "int8", "--scale", "tensor"], ["--dequantize"]):
                error = refused(capsys, bad, tmp_path / "o.safetensors", *task)
                assert "IN = " in error and ("cut short" in error or "not whole" in error)
            assert run(capsys, "info", bad)[0] == 2
            with pytest.raises(ValueError, match="file = "):
                ww.load(bad)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x["odd"].pop("parts"),
        lambda x: x["odd"].update(parts={"scale": "odd_scale"}),
        lambda x: x["odd"].update(parts={"codes": "odd", "scale": "absent"}),
        lambda x: x["odd"].update(shape=[3, 8]),
        lambda x: x["odd"].update(shape=[-3, 8]),
        lambda x: x["odd"].update(shape=[0, 8]),
        lambda x: x["odd"].update(shape=[1 << 50, 8]),
        lambda x: x["odd"].update(shape=[1 << 70, 7]),
        lambda x: x["odd"].update(shape="all"),
        lambda x: x["odd"].update(format="e99m0"),
        lambda x: x["odd"].update(format="int5"),
        lambda x: x["odd"].update(scale="channel", axis=9),
        lambda x: x["odd"].update(scale="channel", axis=0),
        lambda x: x.update(odd=3),
    ],
)
def test_metadata_that_do_not_fit_are_one_line(checkpoint, tmp_path, capsys, change):
    path, _ = checkpoint
    out, bad = tmp_path / "out.safetensors", tmp_path / "bad.safetensors"
    quantize(capsys, path, out, "--format", "int4", "--scale", "tensor")
    header, metadata, found = parts(out)
    told = json.loads(metadata["widthwise.quantized"])
    change(told)
    tensors = {n: (header[n]["dtype"], header[n]["shape"], data) for n, data in found.items()}
    written(bad, tensors, metadata | {"widthwise.quantized": json.dumps(told)})
    refused(capsys, bad, tmp_path / "o.safetensors", "--dequantize")
    with pytest.raises(ValueError, match="file = "):
        ww.load(bad)


def test_what_is_quantised_already_stays(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    once, twice = tmp_path / "once.safetensors", tmp_path / "twice.safetensors"
    quantize(capsys, path, once, "--format", "int4", "--scale", "channel", "--include", "odd")
    rows, facts = quantize(capsys, once, twice, "--format", "e4m3fn", "--scale", "tensor")
    why = {x["array"]: x["why"] for x in facts["untouched"]}
    assert why["odd"] == why["odd_scale"] == "quantised already" and "odd" not in rows
    a, b = ww.load(once), ww.load(twice)
    assert str(a["odd"]) == str(b["odd"]) and len(b) == len(tensors)
    assert b["model.layers.0.attn.q.weight"].format == ww.Format("e4m3fn")
    # Plain rounding of such a file would take its scales for weights.
    rows, _ = quantize(capsys, once, twice, "--format", "e5m2", "--include", "model.layers.1.*")
    assert str(ww.load(twice)["odd"]) == str(a["odd"])


def test_codes_of_plain_rounding_are_undone_too(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out, back = tmp_path / "out.safetensors", tmp_path / "back.safetensors"
    for format in ("e3m2fn", "int8", "e9m40"):
        quantize(capsys, path, out, "--format", format, "--include", "odd")
        quantize(capsys, out, back, "--dequantize")
        kind = "F64" if format == "e9m40" else "F32"
        assert parts(back)[0]["odd"]["dtype"] == kind and parts(back)[1] == METADATA
        wanted = ww.array(values(tensors, "odd"), format).to_float64()
        assert (ww.load(back)["odd"].to_float64() == wanted).all()


@pytest.mark.parametrize("format", ["e9m6", "takum8", "posit16es4", "e8m3"])
def test_codes_come_back_in_a_type_that_has_their_numbers(format, tmp_path, capsys):
    path, out, back = (tmp_path / f"{name}.safetensors" for name in ("in", "out", "back"))
    x = np.array([[1e60, -1e66, 1e-60], [1e30, -1e-30, 1.0]])
    written(path, {"w": ("F64", x.shape, x.tobytes())})
    quantize(capsys, path, out, "--format", format)
    quantize(capsys, out, back, "--dequantize")
    assert (ww.load(back)["w"].to_float64() == ww.array(x, format).to_float64()).all()
    assert parts(back)[0]["w"]["dtype"] == ("F32" if format == "e8m3" else "F64")


@pytest.mark.parametrize("format", ["binary128", "e8m60", "fixed100.50", "posit64es4"])
def test_numbers_that_no_type_has_are_refused_or_rounded_once(format, tmp_path, capsys):
    path, out, back = (tmp_path / f"{name}.safetensors" for name in ("in", "out", "back"))
    written(path, {"w": ("F64", (2, 2), np.ones((2, 2)).tobytes())})
    wide = ww.array([["1.000000059604644775390625001", "-1/3"], ["2/3", 1]], format)
    quantize(capsys, path, out, "--format", format)
    data = wide.bits.tobytes()
    out.write_bytes(out.read_bytes()[: -len(data)] + data)
    assert (ww.load(out)["w"].bits == wide.bits).all()
    said = refused(capsys, out, back, "--dequantize")
    assert (
        "w: " in said and "has numbers that no type of a checkpoint has; --format binary64" in said
    )
    for text in ("binary64", "binary32"):
        for rounding in ("rne", "rtz"):
            how = ["--rounding", rounding]
            quantize(capsys, out, back, "--dequantize", "--format", text, *how)
            assert (ww.load(back)["w"].bits == ww.array(wide, text, rounding=rounding).bits).all()


def test_what_dequantising_does_not_look_at_is_refused(checkpoint, tmp_path, capsys):
    out, back = tmp_path / "out.safetensors", tmp_path / "back.safetensors"
    quantize(capsys, checkpoint[0], out, "--format", "e4m3fn", "--scale", "tensor")
    for option, value in (("--nan", "zero"), ("--rounding", "sr8")):
        assert option in refused(capsys, out, back, "--dequantize", option, value)


def test_a_type_for_all_or_the_type_that_each_had(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out, back = tmp_path / "out.safetensors", tmp_path / "back.safetensors"
    rows, _ = quantize(capsys, path, out, "--format", "e4m3fn", "--scale", "channel")
    quantize(capsys, out, back, "--dequantize")
    assert {n: parts(back)[0][n]["dtype"] for n in rows} == {n: tensors[n][0] for n in rows}
    loaded = ww.load(out)
    for text, kind in (("binary32", "F32"), ("bfloat16", "BF16"), ("half", "F16")):
        quantize(capsys, out, back, "--dequantize", "--format", text)
        assert {parts(back)[0][n]["dtype"] for n in rows} == {kind}
        for n in rows:
            wanted = ww.array(loaded[n].to_float64(), text)
            assert (ww.load(back)[n].bits == wanted.bits).all()
    assert "back to one of binary64" in refused(
        capsys, out, back, "--dequantize", "--format", "e5m6"
    )


SCRIPT = """
import os, sys, time
from widthwise import cli
print("ready", flush=True)
sys.stdin.readline()
sys.exit(cli.main(sys.argv[1:]))
"""


def killed_runs(command, state, times, seed):
    """Runs a command until it is killed at random moments; the states that were seen."""
    rng, seen, longest = random.Random(seed), [], 0.5
    for _ in range(times):
        p = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert p.stdout.readline() == b"ready\n"
        begun = time.perf_counter()
        p.stdin.write(b"\n")
        p.stdin.flush()
        try:
            p.wait(rng.uniform(0, longest))
            longest = min(longest, time.perf_counter() - begun)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            p.wait()
        p.stdin.close()
        p.stdout.close()
        seen.append(state())
    return seen


def large(seed):
    rng = np.random.default_rng(seed)
    return {f"layer.{i}.weight": f32(rng.standard_normal((300, 400))) for i in range(9)}


def test_kill_9_leaves_the_old_file_or_the_new_one(tmp_path, capsys):
    written(tmp_path / "in.safetensors", large(0))
    out = tmp_path / "out.safetensors"
    task = ["quantize", tmp_path / "in.safetensors", out, "--format", "int4", "--scale", "channel"]
    assert run(capsys, *task)[0] == 0
    new, old = out.read_bytes(), b"old"
    out.write_bytes(old)

    def state():
        found = out.read_bytes()
        assert found in (new, old)
        if found == new:
            out.write_bytes(old)
        return found == old

    seen = killed_runs(task, state, 12, 1)
    assert any(seen)


def test_kill_9_leaves_the_old_index_or_the_new_one(tmp_path, capsys):
    first, second = (split(large(i)) for i in (1, 2))
    old_in = sharded(tmp_path / "a", first, METADATA)
    index = sharded(tmp_path / "b", second, METADATA)
    out = tmp_path / "out" / INDEX
    task = ["--format", "int4", "--scale", "channel"]
    assert run(capsys, "quantize", old_in, tmp_path / "out", *task)[0] == 0
    assert run(capsys, "quantize", index, tmp_path / "new", *task)[0] == 0
    old, new = contents(out), contents(tmp_path / "new" / INDEX)
    assert old != new
    saved = out.read_bytes()

    def state():
        found = contents(out)
        assert found in (old, new)
        out.write_bytes(saved)
        return found == old

    seen = killed_runs(["quantize", index, tmp_path / "out", *task], state, 12, 2)
    assert any(seen)


def contents(index):
    return {name: (x.codes.bits.tobytes(), x.scale.tobytes()) for name, x in ww.load(index).items()}


@pytest.mark.parametrize("several", [False, True])
def test_a_disk_that_fills_leaves_what_was_there(tmp_path, capsys, several):
    """A limit on a file's size stands for the disk: writing past it fails as there."""
    tensors = large(0)
    task = ["--format", "int8", "--scale", "tensor"]
    if several:
        source = sharded(tmp_path / "in", [*split(tensors_of()), tensors], METADATA)
        target = tmp_path / "out" / INDEX
        assert run(capsys, "quantize", source, target.parent, *task)[0] == 0
    else:
        source, target = tmp_path / "in.safetensors", tmp_path / "out" / "out.safetensors"
        written(source, tensors)
        target.parent.mkdir()
        target.write_text("old")
    before = {p.name: p.read_bytes() for p in target.parent.iterdir()}
    program = (
        "import resource, sys; from widthwise import cli;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000));"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    command = ["quantize", source, target, *task]
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, command)], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "OUT = " in done.stderr and "whatever stood there is unchanged" in done.stderr
    assert {p.name: p.read_bytes() for p in target.parent.iterdir()} == before


def test_memory_is_a_tensor_s_and_not_the_file_s(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1 << 10, 1 << 11)).astype(np.float32)  # 8 MB
    written(tmp_path / "in.safetensors", {f"layer.{i}.weight": f32(x) for i in range(16)})
    tasks = ["--format=e4m3fn", "--format=e2m1fn --scale=channel"]
    tasks += ["--format=nvfp4", "--format=affine(uint4)"]
    for task in (*tasks, "--dequantize"):
        source = "in" if "format" in task else "out"
        (grown,) = printed_by(
            """
            import sys, io, contextlib
            from widthwise import cli
            before = peak()
            with contextlib.redirect_stdout(io.StringIO()):
                assert cli.main(["quantize", *sys.argv[1:]]) == 0
            print(peak() - before)
            """,
            str(tmp_path / f"{source}.safetensors"),
            str(tmp_path / ("out.safetensors" if source == "in" else "back.safetensors")),
            *task.split(),
        )
        assert grown < 2 * x.nbytes + (20 << 20), task
