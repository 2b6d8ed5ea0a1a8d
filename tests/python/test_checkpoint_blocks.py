"""Checkpoints in formats that have scales of their own: blocks and affine integers."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import METADATA, f32, in_file, parts, quantize, refused, run, values, written
from widthwise.containers import chunks


@pytest.fixture
def checkpoint(tmp_path):
    return in_file(tmp_path)


# --- Blocks and affine integers -------------------------------------------------------------------

BLOCKS = [
    "mxfp8_e4m3",
    "mxfp6_e3m2",
    "mxfp4",
    "mxint8",
    "nvfp4",
    "bfp(5,4,e8)",
    "block(e4m3fn,2x3,binary32)",
    "block(int4,0,binary32)",
    "block(e2m3fn,all,e8m0fnu)",
    "block(e3m2fn,5,e4m0fnu);scale=rceil",
]
AFFINE = [
    "affine(uint8)",
    "affine(int8,symmetric,channel)",
    "affine(int4,symmetric,3)",
    "affine(uint4,asymmetric,channel)",
    "affine(int6,symmetric_full)",
    "affine(uint3,asymmetric,2x5)",
    "affine(int12,asymmetric,0)",
    "affine(int2,symmetric,all)",
]


def of_blocks(x, text, **how):
    z = ww.blocks(x, text, **how)
    return parts_of(z), z


def of_affine(x, text, **how):
    z = ww.affine(x, text, **how)
    return parts_of(z), z


def same_parts(a, b):
    return all(np.asarray(x).tolist() == np.asarray(y).tolist() for x, y in zip(a, b, strict=True))


def parts_of(z):
    if isinstance(z, ww.Blocks):
        scale = z.tensor_scale
        return [z.elements.bits, z.scales.bits, *([] if scale is None else [scale])]
    return [z.codes, z.scale, z.zero_point]


@pytest.mark.parametrize("piece", [1 << 17, 7, 1])
@pytest.mark.parametrize("format", BLOCKS + AFFINE)
def test_pieces_of_a_tensor_are_its_blocks(format, piece, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(chunks, "PIECE", piece)
    rng = np.random.default_rng(5)
    shapes = {"a": (7, 11), "b": (3, 5, 66), "c": (1, 130), "d": (64, 1), "e": (2, 3, 4, 5)}
    given = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    given["a"][3] = 0
    path, out, back = (tmp_path / f"{name}.safetensors" for name in ("in", "out", "back"))
    written(
        path, {name: f32(x) for name, x in given.items()} | {"i": ("U8", (2,), b"ab")}, METADATA
    )
    rows, facts = quantize(capsys, path, out, "--format", format)
    make = of_affine if format.startswith("affine") else of_blocks
    loaded = ww.load(out)
    assert set(loaded) == {*given, "i"}
    quantize(capsys, out, back, "--dequantize")
    returned = ww.load(back)
    for name, x in given.items():
        wanted, whole = make(x, format)
        assert type(loaded[name]) is type(whole)
        assert str(loaded[name].format) == str(whole.format) and loaded[name].shape == x.shape
        assert same_parts(parts_of(loaded[name]), wanted)
        values = whole.to_float64()
        assert (loaded[name].to_float64() == values).all()
        assert (returned[name].to_float64() == values.astype(np.float32)).all()
        error = np.abs(values - x)
        assert rows[name]["largest_error"] == pytest.approx(error.max(), rel=1e-12)
        assert rows[name]["mean_error"] == pytest.approx(error.mean(), rel=1e-9)
        assert rows[name]["saturated"] == whole.clamped and rows[name]["scale"] == scaled_by(format)
        assert rows[name]["zero"] == np.count_nonzero((values == 0) & (x != 0))
    header, metadata, found = parts(out)
    assert {h["dtype"] for h in header.values()} <= {"U8", "I8", "U16", "F32", "F8_E4M3", "F8_E8M0"}
    assert parts(back)[1] == METADATA and parts(back)[2]["i"] == b"ab" == found["i"]


def scaled_by(format):
    """What the report's column is to say."""
    last = format.removesuffix(")").split(",")[-1]
    if not format.startswith("affine"):
        return "tensor" if ",all," in format else "block"
    return (
        "channel"
        if last == "channel"
        else "block"
        if last[-1].isdigit() and "," in format
        else "tensor"
    )


def test_packed_size_is_what_the_bits_say(tmp_path, capsys):
    x = np.random.default_rng(0).standard_normal((64, 96)).astype(np.float32)
    path, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    written(path, {"w": f32(x)})
    for format, bits in (
        ("mxfp4", 4.25),
        ("mxfp6_e2m3", 6.25),
        ("mxfp8_e4m3", 8.25),
        ("nvfp4", 4.5 + 32 / x.size),
        ("block(e4m3fn,1x32,binary32)", 9),
        ("affine(int4,symmetric,32)", 5),
        ("affine(uint4,asymmetric,32)", 5.125),
        ("affine(int8,symmetric,channel)", 8 + 32 / 96),
    ):
        rows, _ = quantize(capsys, path, out, "--format", format)
        assert 8 * rows["w"]["bytes"] / x.size == pytest.approx(bits)
        facts = json.loads(run(capsys, "info", out, "--json")[1])["tensors"]
        assert facts[0]["bits"] == round(bits, 3) and facts[0]["scale"] == scaled_by(format)
    quantize(capsys, path, out, "--format", "nvfp4")
    header = parts(out)[0]
    assert {n: h["dtype"] for n, h in header.items()} == {
        "w": "U8",
        "w_scale": "F8_E4M3",
        "w_scale_2": "F32",
    }
    assert header["w"]["shape"] == [64, 48] and header["w_scale"]["shape"] == [64, 6]


def test_rules_mix_blocks_affine_and_bare_formats(checkpoint, tmp_path, capsys):
    path, tensors = checkpoint
    out, rules = tmp_path / "out.safetensors", tmp_path / "rules.toml"
    rules.write_text("""
[[rule]]
match = "*.q.weight"
format = "nvfp4"
[[rule]]
match = "*.conv.weight"
format = "affine(int8,symmetric,channel)"
axis = 1
[[rule]]
match = "*.half.*"
format = "mxfp8_e4m3"
axis = 0
""")
    task = [path, out, "--format", "e4m3fn", "--scale", "channel", "--rules", rules]
    rows, _ = quantize(capsys, *task)
    assert rows["model.layers.0.attn.q.weight"]["scale"] == "block"
    loaded = ww.load(out)
    conv = values(tensors, "model.layers.0.conv.weight")
    wanted = of_affine(np.float32(conv), "affine(int8,symmetric,channel)", axis=1)[0]
    assert same_parts(parts_of(loaded["model.layers.0.conv.weight"]), wanted)
    half = values(tensors, "model.layers.1.half.weight")
    assert same_parts(
        parts_of(loaded["model.layers.1.half.weight"]), of_blocks(half, "mxfp8_e4m3", axis=0)[0]
    )
    assert loaded["odd"].format == ww.Format("e4m3fn")
    back = tmp_path / "back.safetensors"
    quantize(capsys, out, back, "--dequantize")
    for name in rows:
        wanted = ww.array(loaded[name].to_float64(), ww.load(path)[name].format)
        assert (ww.load(back)[name].bits == wanted.bits).all()
    rules.write_text("[[rule]]\nmatch='odd'\nformat='mxfp4'\nscale='tensor'\n")
    assert "rule 1: scale = tensor: mxfp4 says itself" in refused(capsys, *task)


@pytest.mark.parametrize(
    "format", ["nvfp4", "bfp(5,4,e8)", "affine(uint8)", "affine(int4,symmetric,2)"]
)
@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_the_place_of_a_number_without_a_code(format, number, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(chunks, "PIECE", 8)
    x = np.ones((9, 4), np.float32)
    x[7, 2] = number
    path, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    written(path, {"w": f32(x)})
    error = refused(capsys, path, out, "--format", format)
    assert f"w: element [7, 2] is {number}" in error and not out.exists()
    assert ("--nan zero puts" in error) == math.isnan(number)
    if math.isnan(number):
        quantize(capsys, path, out, "--format", format, "--nan", "zero")
        assert ww.load(out)["w"].to_float64()[7, 2] == pytest.approx(0, abs=1e-6)


def test_an_mx_block_of_nan_is_nan_and_counted(tmp_path, capsys):
    x = np.ones((2, 64), np.float32)
    x[1, 40] = math.nan
    path, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    written(path, {"w": f32(x)})
    rows, _ = quantize(capsys, path, out, "--format", "mxfp4")
    assert rows["w"]["nan"] == 31
    assert np.isnan(ww.load(out)["w"].to_float64()).sum() == 32
