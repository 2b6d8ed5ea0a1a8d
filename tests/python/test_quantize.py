"""widthwise quantize: what passes untouched, what is told of the rest, and what is read back."""

import io
import json
import math
import os
import struct
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import parts, written
from widthwise import cli

KINDS = {
    "F64": "binary64",
    "F32": "binary32",
    "F16": "binary16",
    "BF16": "bfloat16",
    "F8_E4M3": "e4m3fn",
    "F8_E5M2": "e5m2",
    "F8_E8M0": "e8m0fnu",
}


def quantize(capsys, *arguments):
    status = cli.main(["quantize", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def told(capsys, *arguments):
    status, out, err = quantize(capsys, *arguments, "--json")
    assert status == 0, err
    facts = json.loads(out)
    return {row["array"]: row for row in facts["arrays"]}, facts["untouched"]


@pytest.fixture
def checkpoint(tmp_path):
    x = np.float32([[1, -0.1, np.inf, 500], [0, -0.0, 3e-4, np.nan]])
    tensors = {
        "layer.weight": ("F32", (2, 4), x.tobytes()),
        "layer.bias": ("BF16", (2,), ww.array([0.1, -3], "bfloat16").bits.tobytes()),
        "norm": ("F16", (3,), np.ones(3, np.float16).tobytes()),
        "ids": ("I64", (2,), np.int64([1000, -1]).tobytes()),
        "mask": ("BOOL", (3,), bytes([1, 0, 1])),
        "count": ("U8", (), b"\x07"),
        "phase": ("C64", (1,), np.complex64([1 + 2j]).tobytes()),
        "packed": ("F4", (2, 3), b"\x12\x34\x56"),
        "empty": ("F32", (0, 3), b""),
    }
    path = tmp_path / "in.safetensors"
    written(path, tensors, {"format": "pt", "layer.weight": "mine"})
    return path, x, tensors


@pytest.mark.parametrize("format", ["e4m3fn", "e5m10", "e3m2fn", "e20m64", "e4m3fn;overflow=max"])
def test_what_is_no_float_passes_and_codes_keep_their_format(checkpoint, format, tmp_path, capsys):
    path, x, tensors = checkpoint
    out = tmp_path / "out.safetensors"
    rows, untouched = told(capsys, path, out, "--format", format, "--nan", "zero")
    assert list(rows) == ["layer.weight", "layer.bias", "norm", "empty"]
    assert [(row["array"], row["holds"], row["why"]) for row in untouched] == [
        ("ids", "int64", "no float"),
        ("mask", "bool", "no float"),
        ("count", "uint8", "no float"),
        ("phase", "complex64", "no float"),
        ("packed", "F4", "no float"),
    ]
    header, metadata, found = parts(out)
    for name in ("ids", "mask", "count", "phase", "packed"):
        assert header[name]["dtype"] == tensors[name][0] and found[name] == tensors[name][2]
        assert header[name]["shape"] == list(tensors[name][1])
    assert metadata["format"] == "pt" and metadata["layer.weight"] == "mine"
    kind = {"e4m3fn": "F8_E4M3", "e5m10": "F16", "e3m2fn": "U8", "e20m64": "U64"}
    assert header["layer.weight"]["dtype"] == kind[format.split(";")[0]]
    loaded = ww.load(out)
    assert list(loaded["ids"]) == [1000, -1] and loaded["mask"].dtype == bool
    for name, values in (("layer.weight", x), ("norm", np.ones(3)), ("empty", x[:0, :3])):
        assert loaded[name].format == ww.Format(format) and loaded[name].shape == values.shape
        assert (loaded[name].bits == ww.array(values, format, nan="zero").bits).all()
    # The command reads them as what they are, too.
    again = told(capsys, out, tmp_path / "again.npz", "--format", "binary32")[0]
    assert again["layer.bias"]["holds"] == str(ww.Format(format))
    back = ww.load(tmp_path / "again.npz")
    assert (back["norm"].to_float64() == 1).all() and back["mask"].tolist() == [True, False, True]
    assert back["packed"].tolist() == [0x12, 0x34, 0x56]
    with open(out, "rb") as file:
        assert (ww.load(file)["norm"].bits == loaded["norm"].bits).all()


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_read_by_their_own_values(kind, tmp_path, capsys):
    f = ww.Format(KINDS[kind])
    x = ww.from_bits(np.arange(min(1 << f.width, 5000)).astype(f.dtype) * f.dtype.type(13), f)
    written(tmp_path / "in.safetensors", {"x": (kind, x.shape, x.bits.tobytes())})
    told(capsys, tmp_path / "in.safetensors", tmp_path / "out.safetensors", "--format", "e5m3")
    assert (ww.load(tmp_path / "out.safetensors")["x"].bits == x.astype("e5m3").bits).all()


def test_the_library_reads_what_is_written(tmp_path, capsys):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    x = np.float32([1, 2, 3])
    given = {"b": np.int8([1]), "w": x, "odd": np.int8([1, 2, 3])}
    library.save_file(given, tmp_path / "in.safetensors", metadata={"k": "v"})
    told(capsys, tmp_path / "in.safetensors", tmp_path / "out.safetensors", "--format", "binary16")
    back = library.load_file(tmp_path / "out.safetensors")
    assert (back["w"] == x).all() and back["w"].dtype == np.float16
    assert back["odd"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_globs_choose_by_name(checkpoint, ending, tmp_path, capsys):
    path, x, _ = checkpoint
    out = tmp_path / f"out.{ending}"
    task = [path, out, "--format", "e4m3fn"]
    rows, untouched = told(capsys, *task, "--include", "layer.*", "--exclude", "*.bias")
    assert list(rows) == ["layer.weight"]
    why = {row["array"]: row["why"] for row in untouched}
    assert (why["norm"], why["layer.bias"], why["ids"]) == ("not included", "excluded", "no float")
    loaded = ww.load(out)
    assert loaded["norm"].format == ww.Format("e5m10") and (loaded["norm"].to_float64() == 1).all()
    assert loaded["layer.bias"].format == ww.Format("bfloat16")
    rows, _ = told(capsys, *task, "--include", "norm", "--include", "*bias")
    assert list(rows) == ["layer.bias", "norm"]
    status, _, err = quantize(capsys, *task, "--exclude", "*.weights")
    assert status == 2 and "--exclude = *.weights: IN holds no array of such a name: layer" in err
    np.save(tmp_path / "x.npy", x)
    status, _, err = quantize(
        capsys, tmp_path / "x.npy", "y.npy", "--format", "e5m2", "--include=a"
    )
    assert status == 2 and "--include = a: IN holds one array, which has no name" in err


def expected(values, f, rounding="rne"):
    """Counts and errors by Fractions, of values given as floats."""
    z, flags = ww.array(values, f, rounding=rounding, flags=True, nan="zero")
    kinds = ww.classify(z)
    counts = dict.fromkeys(["zero", "subnormal", "saturated", "infinite", "nan"], 0)
    errors, signal = [], Fraction(0)
    for v, number, kind, raised in zip(values, z.to_float64("rne"), kinds, flags, strict=True):
        counts["zero"] += "zero" in kind and v != 0
        counts["subnormal"] += "subnormal" in kind
        counts["infinite"] += "infinity" in kind and not math.isinf(v)
        counts["nan"] += "nan" in kind and v == v
        past = v == v and abs(v) > ww.Format(f).max_finite
        counts["saturated"] += bool(past and raised & 4 and math.isfinite(number))
        if math.isfinite(v):
            signal += Fraction(v) ** 2
            finite = math.isfinite(number)
            errors.append(abs(Fraction(v) - Fraction(number)) if finite else math.inf)
        elif math.isinf(v) and number != v:
            errors.append(math.inf)
    largest, mean = max(errors), sum(errors) / len(errors)
    noise = sum(e * e for e in errors)
    snr = -math.inf if math.isinf(noise) else 10 * math.log10(signal / noise) if noise else math.inf
    return counts | {"largest_error": float(largest), "mean_error": float(mean), "snr_db": snr}


@pytest.mark.parametrize(
    "format", ["e4m3fn", "e5m2", "e4m3fn;overflow=max", "e2m1fn", "e5m10", "ue5m3", "e4m3;ftz"]
)
@pytest.mark.parametrize("rounding", ["rne", "rtz", "raz"])
@pytest.mark.parametrize("scale", [1.0, 300.0, 1e-3])
@pytest.mark.parametrize("infinities", [[], [np.inf, -np.inf]])
def test_each_is_told_by_its_right_name(format, rounding, scale, infinities, tmp_path, capsys):
    rng = np.random.default_rng(int(scale))
    values = np.concatenate([rng.standard_normal(300) * scale, [0, -0.0, 1e9], infinities])
    values = np.append(values, [-1e9, 448, 449, 464.1, 6.1, 65520, 2**-9.5, 2**-30])
    if ww.Format(format).has_nan:
        values = np.append(values, np.nan)
    values = values.astype(np.float64)
    np.save(tmp_path / "x.npy", values)
    task = ["--format", format, "--rounding", rounding]
    (row,) = told(capsys, tmp_path / "x.npy", tmp_path / "y.npy", *task)[0].values()
    for key, wanted in expected(values.tolist(), format, rounding).items():
        assert float(row[key]) == pytest.approx(wanted, rel=1e-12), key  # "inf" is a text in JSON
    assert row["numbers"] == values.size


@pytest.mark.parametrize(
    ("format", "name"), [("e5m2;overflow=satfinite", "saturated"), ("posit8", "nan"), ("e5m2", "")]
)
def test_an_infinity_that_becomes_a_number_is_no_error_of_zero(format, name, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.array([np.inf, -np.inf, 1.0]))
    task = [tmp_path / "x.npy", tmp_path / "y.npy", "--format", format]
    (row,) = told(capsys, *task)[0].values()
    assert {key: row[key] for key in ("saturated", "infinite", "nan")} == dict.fromkeys(
        ("saturated", "infinite", "nan"), 0
    ) | ({name: 2} if name else {})
    wanted = ("inf", "-inf") if name else (0, "inf")
    assert (row["largest_error"], row["snr_db"]) == wanted


def test_what_was_so_before_is_not_counted(tmp_path, capsys):
    f = ww.Format("e4m3fn")
    x = ww.from_bits(np.arange(256).astype(np.uint8), f)
    np.savez(tmp_path / "x.npz", x=x, y=x.astype("binary32"))
    rows, _ = told(capsys, tmp_path / "x.npz", tmp_path / "y.npz", "--format", "e4m3fn")
    quiet = dict.fromkeys(["zero", "saturated", "infinite", "nan", "largest_error", "inexact"], 0)
    assert quiet.items() <= rows["x"].items() and quiet.items() <= rows["y"].items()
    # As binary32 they were normal numbers; as e4m3fn they were subnormal before.
    assert (rows["x"]["subnormal"], rows["y"]["subnormal"]) == (0, 14)
    assert rows["x"]["snr_db"] == "inf"


def test_errors_of_numbers_whose_squares_pass_a_double(tmp_path, capsys):
    for at in (2.0**-990, 2.0**990):
        np.save(tmp_path / "x.npy", np.array([1.03, -2.01, 3.3]) * at)
        (row,) = told(capsys, tmp_path / "x.npy", tmp_path / "y.npy", "--format", "e11m3")[
            0
        ].values()
        small = expected([1.03, -2.01, 3.3], "e11m3")
        assert row["snr_db"] == pytest.approx(small["snr_db"], rel=1e-12)


def test_pieces_add_up(tmp_path, capsys, monkeypatch):
    from widthwise.cli import quantize as module

    x = np.random.default_rng(0).standard_normal((70, 9)) * 100
    x[3, 3] = 1e9
    np.savez(tmp_path / "x.npz", a=x, b=x.astype(np.float32).T, c=np.float16(3.3))
    first = told(capsys, tmp_path / "x.npz", tmp_path / "one.npz", "--format", "e4m3fn")[0]
    monkeypatch.setattr(module, "PIECE", 100)
    for ending in ("npz", "safetensors"):
        out = tmp_path / f"two.{ending}"
        again = told(capsys, tmp_path / "x.npz", out, "--format", "e4m3fn")[0]
        for name, row in first.items():
            for key, value in row.items():
                close = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
                assert again[name][key] == close
            assert (ww.load(out)[name].bits == ww.load(tmp_path / "one.npz")[name].bits).all()
    task = ["--format", "e4m3fn", "--rounding", "sr8", "--seed", "5"]
    told(capsys, tmp_path / "x.npz", tmp_path / "sr.npz", *task)
    wanted = ww.array(x, "e4m3fn", rounding="sr8", seed=5)
    assert (ww.load(tmp_path / "sr.npz")["a"].bits == wanted.bits).all()
    x[69, 8] = np.nan
    np.save(tmp_path / "x.npy", x)
    status, _, err = quantize(capsys, tmp_path / "x.npy", tmp_path / "y.npy", "--format", "e2m1fn")
    assert status == 2 and "x: element [69, 8] is NaN and e2m1fn has no NaN; --nan zero puts" in err
    assert not (tmp_path / "y.npy").exists()


def test_memory_does_not_grow_with_the_checkpoint(tmp_path, capsys):
    n = 12 << 20
    x = np.ones(n, np.float32)
    written(tmp_path / "in.safetensors", {"w": ("F32", (n,), x.tobytes())})
    del x
    tracemalloc.start()
    told(capsys, tmp_path / "in.safetensors", tmp_path / "out.safetensors", "--format", "e4m3fn")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20 < 4 * n
    assert (tmp_path / "out.safetensors").stat().st_size < n + 1000


def test_nothing_is_half_written(checkpoint, tmp_path, capsys):
    path, x, _ = checkpoint
    out = tmp_path / "out.safetensors"
    out.write_text("old")
    before = sorted(os.listdir(tmp_path))
    status, _, err = quantize(capsys, path, out, "--format", "e2m1fn")  # a NaN of the first tensor
    assert status == 2 and "IN = " in err and "layer.weight: x: element [1, 3] is NaN" in err
    assert out.read_text() == "old" and sorted(os.listdir(tmp_path)) == before
    # Into itself.
    told(capsys, path, path, "--format", "e5m2", "--force")
    assert ww.load(path)["norm"].format == ww.Format("e5m2")
    link = tmp_path / "link.safetensors"
    link.symlink_to(path)
    told(capsys, link, link, "--format", "e4m3fn", "--force")
    assert link.is_symlink() and ww.load(path)["norm"].format == ww.Format("e4m3fn")
    folder = tmp_path / "folder.npz"
    folder.mkdir()
    assert quantize(capsys, path, folder, "--format", "e5m2")[0] == 2


def test_values_and_strings(checkpoint, tmp_path, capsys):
    path, x, _ = checkpoint
    told(capsys, path, tmp_path / "v.safetensors", "--format", "e4m3fn", "--values")
    assert parts(tmp_path / "v.safetensors")[0]["layer.weight"]["dtype"] == "F64"
    np.testing.assert_array_equal(
        ww.load(tmp_path / "v.safetensors")["layer.weight"].to_float64(),
        ww.array(x, "e4m3fn").to_float64(),
    )
    np.savez(tmp_path / "s.npz", s=np.array(["a"]), w=x)
    status, _, err = quantize(
        capsys, tmp_path / "s.npz", tmp_path / "s.safetensors", "--format=e5m2"
    )
    assert status == 2 and "s holds <U1, which a safetensors file does not; name a .npz" in err


@pytest.mark.parametrize(
    "facts, message",
    [
        ({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}, "w is F32 of shape .* cut short"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}, "w is F32 of shape .* cut short"),
        ({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}, "its header is not whole"),
        ({"dtype": "F32", "shape": [2]}, "its header is not whole"),
    ],
)
def test_a_checkpoint_whose_header_is_wrong_is_named(facts, message, tmp_path, capsys):
    text = json.dumps({"w": facts}).encode()
    (tmp_path / "w.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))
    with pytest.raises(ValueError, match=message):
        ww.load(tmp_path / "w.safetensors")
    status, _, err = quantize(capsys, tmp_path / "w.safetensors", "q.npz", "--format", "e5m2")
    assert status == 2 and "IN = " in err
    (tmp_path / "w.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(ValueError, match="its header is not whole"):
        ww.load(tmp_path / "w.safetensors")


def test_the_report_is_a_table(checkpoint, tmp_path, capsys):
    path, _, _ = checkpoint
    out = quantize(capsys, path, tmp_path / "o.npz", "--format", "e4m3fn")[1]
    first = out.splitlines()[0]
    for column in ("array", "largest error", "mean error", "SNR, dB", "zero", "saturated", "NaN"):
        assert column in first
    assert "13 numbers as e4m3fn; 5 inexact, " in out
    assert "untouched" in out and "ids" in out and "no float" in out


def test_the_command_itself(checkpoint, tmp_path):
    path, _, _ = checkpoint
    task = ["quantize", str(path), str(tmp_path / "o.safetensors"), "--format", "e4m3fn"]
    done = subprocess.run([sys.executable, "-m", "widthwise", *task], capture_output=True)
    assert done.returncode == 0 and b"layer.weight" in done.stdout


def test_pieces_draw_as_the_whole_however_the_mode_is_written(tmp_path):
    x = np.random.default_rng(0).normal(size=300_000)
    np.save(tmp_path / "x.npy", x)
    for rounding in ("SR8", " sr8"):
        task = ["--format", "e4m3fn", "--rounding", rounding]
        assert cli.main(["quantize", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), *task]) == 0
        wanted = ww.array(x, "e4m3fn", rounding="sr8").bits
        assert (np.load(tmp_path / "y.npy").view(np.uint8) == wanted).all()


def test_an_error_names_the_element_in_its_array(tmp_path, capsys):
    x = np.zeros((300_000, 2))
    x[299_999, 1] = np.nan
    np.save(tmp_path / "x.npy", x)
    task = ["quantize", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--format", "e2m1fn"]
    assert cli.main(task) == 2 and "element [299999, 1] is NaN" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_a_file_of_which_nothing_is_rounded_is_refused(ending, tmp_path, capsys):
    path, out = tmp_path / "x.npz", tmp_path / f"out{ending}"
    np.savez(path, ids=np.arange(3), w=np.ones(2))
    task = [path, out, "--format", "e5m2"]
    status, _, said = quantize(capsys, *task, "--include", "w", "--exclude", "w")
    assert status == 2 and not out.exists()
    assert said.endswith("x.npz: no array of it is to be rounded: 1 no float, 1 excluded\n")
    assert quantize(capsys, *task)[0] == 0


def test_what_is_no_array_of_numbers_passes_or_is_told(tmp_path, capsys, monkeypatch):
    blocks, record = ww.blocks([1.0, 2.0], "mxfp4"), np.zeros(2, [("a", "i4"), ("b", "f8")])
    np.savez(tmp_path / "x.npz", w=np.float32([1.1]), blocks=blocks, record=record)
    task = [tmp_path / "x.npz", tmp_path / "out.npz", "--format", "e4m3fn"]
    _, untouched = told(capsys, *task)
    assert [(x["array"], x["holds"]) for x in untouched][0] == ("blocks", "Blocks")
    found = ww.load(tmp_path / "out.npz")
    assert (found["blocks"] == blocks).all() and (found["record"] == record).all()
    np.save(tmp_path / "blocks.npy", blocks)
    np.save(tmp_path / "complex.npy", [1j])
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    for name, out, message in (
        ("blocks.npy", "o.npy", "blocks.npy: it holds Blocks, numbers with scales; ww.load(IN)"),
        ("complex.npy", "o.npy", "complex.npy: x holds a complex, 1j"),
        ("cut.npz", "o.npz", "cut.npz: this is no array of numbers"),
        ("x.npz", "o.safetensors", "blocks holds Blocks, which a safetensors file does not"),
    ):
        status, _, said = quantize(capsys, tmp_path / name, tmp_path / out, "--format", "e5m2")
        assert status == 2 and message in said and said.count("\n") == 1, said
    status, _, said = quantize(capsys, *task[:2], "--format", "binary128", "--values")
    assert status == 2 and "--values: float64 has not all numbers of e15m112; leave it" in said


@pytest.mark.parametrize("text, status", [("1, 1/3,0.1\n2", 0), (" \n", 2), ("", 2)])
def test_numbers_come_by_blanks_and_commas(text, status, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    out = tmp_path / "o.npy"
    found, _, said = quantize(capsys, "-", out, "--format", "e5m10")
    assert found == status and ("IN = -: no number came" in said) == bool(status)
    assert status or ww.load(out).size == 4
