"""Checkpoints quantised by rules, in one file and in several, and what is left when it fails."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import (
    KEPT,
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
from turns import in_turn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import scaled_ref as page  # noqa: E402
from number_systems_ref import rint  # noqa: E402


@pytest.fixture
def checkpoint(tmp_path):
    return in_file(tmp_path)


# --- The numbers ----------------------------------------------------------------------------------

FP4 = [s * v for s in (1, -1) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
LARGEST = {"e4m3fn": 448, "e5m2": 57344, "e2m1fn": 6, "int8": 127, "int4": 7, "int3": 3}


def element(format, x):
    """A binary32 number as an element's value, saturated."""
    if format.startswith("int"):
        top = LARGEST[format]
        return min(max(rint(Fraction(x)), -top - 1), top)
    if format == "e2m1fn":  # the even code of two that are as near
        return min(FP4, key=lambda v: (abs(Fraction(v) - Fraction(x)), FP4.index(v) % 2))
    y = page.f8(format, x)
    return Fraction(y) if y not in (page.INF, page.NINF) else LARGEST[format] * (1 if x > 0 else -1)


def by_hand(format, rows):
    """The page's tiles: s = f32(amax / max), q = element(f32(x / s)), in one row a scale."""
    found = []
    for row in rows:
        row = [page.f32(float(v)) for v in row]
        s = page.f32(Fraction(max(map(abs, row))) / LARGEST[format]) or 1.0
        found.append((s, [element(format, page.f32_div(v, s)) for v in row]))
    return found


@pytest.mark.parametrize("scale", ["tensor", "channel"])
@pytest.mark.parametrize("format", LARGEST)
def test_codes_and_scales_are_what_the_page_says(checkpoint, format, scale, tmp_path, capsys):
    path, tensors = checkpoint
    out = tmp_path / "out.safetensors"
    rows, facts = quantize(capsys, path, out, "--format", format, "--scale", scale)
    assert {row["array"]: row["why"] for row in facts["untouched"]} == KEPT
    assert set(rows) | set(KEPT) == set(tensors)
    loaded = ww.load(out)
    assert set(loaded) == set(tensors)
    for name, row in rows.items():
        given = values(tensors, name)
        flat = given.reshape(given.shape[0] if scale == "channel" else 1, -1)
        want = by_hand(format, flat)
        got = loaded[name]
        assert got.format == ww.Format(format) and got.shape == given.shape
        assert got.scale.reshape(-1).tolist() == [s for s, _ in want]
        assert got.scale.shape == (
            (len(given),) + (1,) * (given.ndim - 1) if scale == "channel" else ()
        )
        codes = got.codes.to_float64().reshape(flat.shape).tolist()
        assert codes == [[float(v) for v in elements] for _, elements in want]
        exact = [[Fraction(v) * Fraction(s) for v in elements] for s, elements in want]
        assert got.to_float64().reshape(flat.shape).tolist() == [
            [float(v) for v in r] for r in exact
        ]
        assert (got.to_float32() == got.to_float64().astype(np.float32)).all()
        check_row(row, flat, exact, name, scale, format)


def check_row(row, given, exact, name, scale, format):
    flat = [z for zs in exact for z in zs]
    pairs = zip(given.reshape(-1).tolist(), flat, strict=True)
    errors = [abs(Fraction(v) - z) for v, z in pairs]
    signal = sum(Fraction(v) ** 2 for v in given.reshape(-1).tolist())
    noise = sum(e * e for e in errors)
    assert row["largest_error"] == pytest.approx(float(max(errors)), rel=1e-9)
    assert row["mean_error"] == pytest.approx(float(sum(errors) / len(errors)), rel=1e-9)
    assert row["snr_db"] == pytest.approx(10 * math.log10(signal / noise), rel=1e-9)
    zeros = sum(z == 0 for zs in exact for z in zs) - np.count_nonzero(given == 0)
    assert (row["zero"], row["saturated"], row["infinite"], row["nan"]) == (zeros, 0, 0, 0)
    assert (row["format"], row["scale"], row["numbers"]) == (format, scale, given.size)


@pytest.mark.parametrize(
    "format", ["e4m3fn", "e5m10", "e3m2fn", "posit6es1", "table(nf4)", "uint5"]
)
def test_without_a_scale_a_rule_rounds_as_ww_array_does(checkpoint, format, tmp_path, capsys):
    path, tensors = checkpoint
    out, rules = tmp_path / "out.safetensors", tmp_path / "rules.toml"
    rules.write_text("[[rule]]\nmatch = 'odd'\n[[rule]]\nmatch = '*.weight'\nkeep = true\n")
    task = ["--format", format, "--rules", rules, "--rounding", "rtz"]
    rows, facts = quantize(capsys, path, out, *task)
    assert list(rows) == ["odd"] and rows["odd"]["scale"] == "none"
    assert {x["why"] for x in facts["untouched"]} >= {"rule 2", "vector", "bias"}
    given = values(tensors, "odd")
    wanted = ww.array(given, format, rounding="rtz")
    assert (ww.load(out)["odd"].bits == wanted.bits).all()
    width = ww.Format(format).width
    assert rows["odd"]["bytes"] == (-(-21 * width // 8) if width < 8 else 21 * width // 8)
    if format == "uint5":
        assert rows["odd"]["saturated"] == np.count_nonzero(given < -0.5)


def test_what_stays_is_equal_byte_for_byte(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    for format in ("e4m3fn", "int4", "e3m2fn"):
        out, back = tmp_path / "out.safetensors", tmp_path / "back.safetensors"
        quantize(capsys, path, out, "--format", format, "--scale", "channel")
        header, metadata, found = parts(out)
        assert METADATA.items() <= metadata.items()
        assert metadata.keys() - METADATA == {"widthwise.quantized"}
        quantize(capsys, out, back, "--dequantize")
        header_back, metadata_back, found_back = parts(back)
        assert metadata_back == METADATA and list(found_back.keys()) != []
        assert set(found_back) == set(tensors)
        for name in KEPT:
            kind, shape, data = tensors[name]
            for h, f in ((header, found), (header_back, found_back)):
                assert (h[name]["dtype"], h[name]["shape"], f[name]) == (kind, list(shape), data)


def test_codes_of_few_bits_lie_without_gaps(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    for format, width in (("e2m1fn", 4), ("e3m2fn", 6), ("int3", 3), ("int7", 7), ("uint1", 1)):
        out = tmp_path / "out.safetensors"
        rows, _ = quantize(capsys, path, out, "--format", format, "--scale", "tensor")
        header, metadata, found = parts(out)
        for name in rows:
            size = math.prod(tensors[name][1])
            assert header[name]["dtype"] == "U8" and len(found[name]) == -(-size * width // 8)
            assert header[name + "_scale"]["dtype"] == "F32" and len(found[name + "_scale"]) == 4
            bits = "".join(f"{byte:08b}"[::-1] for byte in found[name])
            codes = [int(bits[i * width : (i + 1) * width][::-1], 2) for i in range(size)]
            assert ww.load(out)[name].codes.bits.reshape(-1).tolist() == codes
        q = "model.layers.0.attn.q.weight"
        by_row = 12 * width % 8 == 0
        assert header[q]["shape"] == ([8, 12 * width // 8] if by_row else [12 * width])
        told = json.loads(metadata["widthwise.quantized"])[q]
        assert told["format"] == format and told["shape"] == [8, 12] and told["dtype"] == "F32"


def test_types_that_others_know_hold_the_codes(checkpoint, tmp_path, capsys):
    path, _ = checkpoint
    for format, kind in (
        ("e4m3fn", "F8_E4M3"),
        ("e5m2", "F8_E5M2"),
        ("int8", "I8"),
        ("e5m10", "F16"),
    ):
        out = tmp_path / "out.safetensors"
        quantize(capsys, path, out, "--format", format, "--scale", "channel")
        assert parts(out)[0]["odd"]["dtype"] == kind
        library = pytest.importorskip("safetensors", reason="safetensors is not installed")
        with library.safe_open(out, "np") as file:
            scale = file.get_tensor("odd_scale")
            assert scale.shape == (3, 1) and scale.dtype == np.float32
            if kind in ("I8", "F16"):
                codes = file.get_tensor("odd")
                assert (codes * scale.astype(np.float64) == ww.load(out)["odd"].to_float64()).all()


@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "int8", "bfloat16"])
def test_torch_reads_codes_and_scales(format, tmp_path, capsys):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    library = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    path, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    tensors = {name: x for name, x in tensors_of().items() if x[0] in ("F32", "F16", "BF16")}
    written(path, tensors, METADATA)
    rows, _ = quantize(capsys, path, out, "--format", format, "--scale", "channel")
    there, ours = library.load_file(out), ww.load(out)
    for name in rows:
        numbers = there[name].to(torch.float64) * there[name + "_scale"].to(torch.float64)
        assert (numbers.numpy() == ours[name].to_float64()).all()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_channel_is_along_any_axis(checkpoint, axis, tmp_path, capsys):
    path, tensors = checkpoint
    out, rules = tmp_path / "out.safetensors", tmp_path / "rules.toml"
    rules.write_text(
        f"[[rule]]\nmatch = '*conv*'\nscale = 'channel'\naxis = {axis}\nformat = 'int8'\n"
    )
    quantize(capsys, path, out, "--format", "e4m3fn", "--scale", "tensor", "--rules", rules)
    got, given = (
        ww.load(out)["model.layers.0.conv.weight"],
        values(tensors, "model.layers.0.conv.weight"),
    )
    want = by_hand("int8", np.moveaxis(given, axis, 0).reshape(given.shape[axis], -1))
    assert got.scale.reshape(-1).tolist() == [s for s, _ in want]
    codes = np.moveaxis(got.codes.to_float64(), axis, 0).reshape(given.shape[axis], -1)
    assert codes.tolist() == [[float(v) for v in row] for _, row in want]
    back = tmp_path / "back.safetensors"
    quantize(capsys, out, back, "--dequantize")
    assert (ww.load(back)["model.layers.0.conv.weight"].to_float64() == got.to_float32()).all()


def test_pieces_are_the_whole(tmp_path, capsys, monkeypatch):
    from widthwise.containers import chunks

    rng = np.random.default_rng(3)
    shapes = {"a": (7, 11, 13), "b": (1, 1001), "c": (1001, 1), "d": (3, 5, 7, 11), "e": (2, 500)}
    given = {name: f32(rng.standard_normal(shape)) for name, shape in shapes.items()}
    written(tmp_path / "in.safetensors", given)
    for format in in_turn(("e4m3fn", "int4", "e3m2fn", "int5"), 2):
        found = []
        for piece in (1 << 17, 64, 1):
            monkeypatch.setattr(chunks, "PIECE", piece)
            for scale in ("tensor", "channel"):
                out, back = (
                    tmp_path / f"{scale}.safetensors",
                    tmp_path / f"{scale}.back.safetensors",
                )
                quantize(
                    capsys, tmp_path / "in.safetensors", out, "--format", format, "--scale", scale
                )
                quantize(capsys, out, back, "--dequantize")
                found.append((out.read_bytes(), back.read_bytes()))
        assert found[:2] == found[2:4] == found[4:]


def test_stochastic_rounding_goes_by_a_number_s_place_in_its_tensor(tmp_path, capsys, monkeypatch):
    from widthwise.containers import chunks

    x = np.random.default_rng(0).standard_normal((40, 9)).astype(np.float32)
    written(tmp_path / "in.safetensors", {"w": f32(x)})
    monkeypatch.setattr(chunks, "PIECE", 16)
    out = tmp_path / "out.safetensors"
    task = ["--format", "e4m3fn", "--scale", "tensor", "--rounding", "sr8", "--seed", 5]
    quantize(capsys, tmp_path / "in.safetensors", out, *task)
    s = np.float32(np.abs(x).max() / np.float32(448))
    wanted = ww.array(x / s, "e4m3fn;overflow=satfinite", rounding="sr8", seed=5)
    assert (ww.load(out)["w"].codes.bits == wanted.bits).all()


def test_a_tensor_of_zeros_has_the_scale_one(tmp_path, capsys):
    x = np.float32([[0, -0.0, 0], [1, 2, 3], [1e-45, 0, 0]])
    written(tmp_path / "in.safetensors", {"w": f32(x), "z": f32(np.zeros((2, 2)))})
    out = tmp_path / "out.safetensors"
    quantize(capsys, tmp_path / "in.safetensors", out, "--format", "e4m3fn", "--scale", "channel")
    got = ww.load(out)
    assert got["w"].scale.reshape(-1).tolist() == [1, np.float32(3) / np.float32(448), 1]
    assert got["w"].codes.bits[0].tolist() == [0, 0x80, 0] and got["z"].scale.max() == 1


def test_under_a_scale_nothing_saturates_however_large(tmp_path, capsys):
    x = np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
    for by in (1e-30, 1.0, 1e6, 1e30):
        written(tmp_path / "in.safetensors", {"w": f32(x * np.float32(by)), "v": f32(-np.abs(x))})
        for scale in ("tensor", "channel"):
            task = [tmp_path / "in.safetensors", tmp_path / "out.safetensors", "--scale", scale]
            rows, _ = quantize(capsys, *task, "--format", "e4m3fn")
            assert [row["saturated"] for row in rows.values()] == [0, 0]
            assert all(row["snr_db"] > 30 for row in rows.values())


def test_past_the_largest_number_is_counted_as_saturated(tmp_path, capsys):
    x = np.float32([[448, 464, 464.1, 500], [-448, -464, -470, -1e9], [1, 0, 449, -0.1]])
    path, out, rules = (tmp_path / name for name in ("in.safetensors", "out.safetensors", "r.toml"))
    written(path, {"w": f32(x)})
    rules.write_text("[[rule]]\nmatch = 'w'\n")
    task = [path, out, "--rules", rules]
    rows, _ = quantize(capsys, *task, "--format", "e4m3fn;overflow=max")
    assert (rows["w"]["saturated"], rows["w"]["nan"]) == (4, 0)
    rows, _ = quantize(capsys, *task, "--format", "e4m3fn")
    assert (rows["w"]["saturated"], rows["w"]["nan"]) == (0, 4)
    rows, _ = quantize(capsys, *task, "--format", "int9")
    assert rows["w"]["saturated"] == 9 and rows["w"]["zero"] == 1


# --- Rules ----------------------------------------------------------------------------------------


def test_the_first_rule_that_covers_a_tensor_decides(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out, rules = tmp_path / "out.safetensors", tmp_path / "rules.toml"
    rules.write_text("""
[[rule]]
match = ["*.attn.*.weight", "*.norm.weight"]
format = "int4"
scale = "channel"
[[rule]]
match = "*layers.0*"
keep = true
[[rule]]
match = "fp8.*"
format = "e2m1fn"
[[rule]]
match = "ids"
keep = true
""")
    rows, facts = quantize(
        capsys, path, out, "--format", "e4m3fn", "--scale", "tensor", "--rules", rules
    )
    said = {name: (row["format"], row["scale"]) for name, row in rows.items()}
    assert said["model.layers.0.attn.q.weight"] == ("int4", "channel") == said["model.norm.weight"]
    assert said["fp8.weight"] == ("e2m1fn", "tensor") and said["odd"] == ("e4m3fn", "tensor")
    why = {x["array"]: x["why"] for x in facts["untouched"]}
    assert why["model.layers.0.conv.weight"] == "rule 2" == why["model.layers.0.ln_1.weight"]
    assert why["ids"] == "no float" and why["model.embed_tokens.weight"] == "embedding"
    got = ww.load(out)["fp8.weight"]
    assert got.format == ww.Format("e2m1fn") and got.scale == np.float32(1.125) / np.float32(6)
    rules.write_text("defaults = false\n")
    rows, _ = quantize(
        capsys, path, out, "--format", "e4m3fn", "--scale", "tensor", "--rules", rules
    )
    assert {"model.norm.weight", "model.embed_tokens.weight", "scalar"} <= set(rows)
    assert ww.load(out)["scalar"].to_float64() == pytest.approx(0.5)


def test_include_and_exclude_are_before_rules(checkpoint, tmp_path, capsys):
    path, _ = checkpoint
    out = tmp_path / "out.safetensors"
    task = [path, out, "--format", "int8", "--scale", "tensor"]
    rows, facts = quantize(capsys, *task, "--include", "*norm*", "--include", "odd")
    assert set(rows) == {"model.norm.weight", "odd"}
    assert {x["why"] for x in facts["untouched"]} == {"not included", "no float", "empty"}
    rows, _ = quantize(capsys, *task, "--exclude", "model.*")
    assert set(rows) == {"odd"}
    assert "--include = nothing: IN holds no array" in refused(
        capsys, *task, "--include", "nothing"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]]\nmatch='*.absent'", "rule 1, match = *.absent: no tensor has such a name"),
        (
            "[[rule]]\nmatch=['odd','x']",
            "rule 1, match = x: no tensor has such a name: model.embed",
        ),
        (
            "[[rule]]\nmatch='*'\nkeep=true\n[[rule]]\nmatch='odd'",
            "rule 2, match = odd: an earlier rule takes all of its tensors",
        ),
        ("[[rule]]\nkeep=true", "rule 1: match = '*.weight', or a list of such globs, is wanted"),
        ("[[rule]]\nmatch=3", "rule 1"),
        ("[[rule]]\nmatch=[]", "rule 1: match ="),
        ("[[rule]]\nmatch='*'\nfmt='int8'", "rule 1: fmt is no key of a rule; there are match"),
        ("[[rule]]\nmatch='*'\nkeep=1", "rule 1: keep = 1: true or false is wanted"),
        ("[[rule]]\nmatch='*'\nkeep=true\nscale='tensor'", "rule 1: it keeps its tensors, and has"),
        ("[[rule]]\nmatch='*'\nscale='row'", "rule 1: scale = 'row': it may be none, tensor"),
        ("[[rule]]\nmatch='*'\nscale=1", "rule 1: scale = 1: it is of the wrong type"),
        ("[[rule]]\nmatch='*'\nformat='e99'", "rule 1: "),
        (
            "[[rule]]\nmatch='odd'\nscale='channel'\naxis=2",
            "odd: axis = 2: a tensor of shape (3, 7)",
        ),
        ("[[rule]]\nmatch='odd'\nscale='block'", "rule 1: scale = block: e4m3fn has no blocks"),
        ("[[rule", "this is no TOML"),
        ("rules = 3", "rules is no key of it; there are [[rule]] and defaults"),
        ("rule = 3", "each rule begins with [[rule]], in double brackets"),
        ("defaults = 'no'", "defaults = 'no': true or false is wanted"),
    ],
)
def test_a_wrong_rule_is_one_line(checkpoint, text, said, tmp_path, capsys):
    path, _ = checkpoint
    rules = tmp_path / "rules.toml"
    rules.write_text(text)
    out = tmp_path / "out.safetensors"
    assert said in refused(capsys, path, out, "--format", "e4m3fn", "--rules", rules)
    assert not out.exists()


# --- What is told ---------------------------------------------------------------------------------


def test_info_tells_what_a_file_holds(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out = tmp_path / "out.safetensors"
    quantize(capsys, path, out, "--format", "int4", "--scale", "channel")
    status, text, _ = run(capsys, "info", out)
    assert status == 0 and "odd" in text and "odd_scale" not in text and "format: pt" in text
    assert "6 of them quantised: 333 numbers, " in text
    facts = json.loads(run(capsys, "info", out, "--json")[1])
    rows = {row["array"]: row for row in facts["tensors"]}
    assert set(rows) == set(tensors) and facts["metadata"] == METADATA
    q = rows["model.layers.0.attn.q.weight"]
    assert (q["holds"], q["scale"], q["was"], q["shape"]) == ("int4", "channel", "F32", [8, 12])
    assert (q["bytes"], q["bits"]) == (48 + 32, 6.667)
    assert rows["ids"]["holds"] == "int64" and rows["packed"]["holds"] == "F4"
    assert facts["bytes"] == sum(map(len, parts(out)[2].values()))
    index = sharded(tmp_path / "in", split(tensors), METADATA)
    assert len(json.loads(run(capsys, "info", index, "--json")[1])["files"]) == 3
    assert "No such file" in run(capsys, "info", tmp_path / "no.safetensors")[2]


def test_the_report_is_a_table_and_a_page(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out, html = tmp_path / "out.safetensors", tmp_path / "report.html"
    task = ["--format", "int4", "--scale", "tensor", "--html", html]
    status, text, _ = run(capsys, "quantize", path, out, *task)
    assert status == 0
    for column in ("array", "format", "bytes", "largest error", "SNR, dB", "zero", "saturated"):
        assert column in text.splitlines()[0]
    assert "untouched" in text and "embedding" in text
    assert "333 numbers of 6 tensors, 4.61 bits" in text and "bytes became" in text
    page_text = html.read_text()
    assert page_text.count("<svg") == 2 and "<!doctype html>" in page_text
    assert all(name in page_text for name in tensors) and "http" not in page_text
    assert "color-scheme:light dark" in page_text
