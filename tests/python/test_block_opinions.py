"""Blocks beside packages of others that make them too: gfloat, torchao, bitsandbytes.

Where a package computes otherwise, the guide (docs/guides/blocks.md) says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import widthwise as ww

BLOCKS = 1500


def data(seed: int = 0, blocks: int = BLOCKS) -> np.ndarray:
    """Blocks of 32 in many binades, a third of them full of ties."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((blocks, 32)).astype(np.float32)
    x *= np.exp2(rng.integers(-30, 30, (blocks, 1))).astype(np.float32)
    x[: blocks // 3] = np.round(x[: blocks // 3] * 8) / 8
    x[0] = 0
    return x


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("mxfp8_e4m3", "mxfp8_e4m3"),
        ("mxfp8_e5m2", "mxfp8_e5m2"),
        ("mxfp6_e2m3", "mxfp6_e2m3"),
        ("mxfp6_e3m2", "mxfp6_e3m2"),
        ("mxfp4_e2m1", "mxfp4"),
    ],
)
def test_mx_is_gfloats(theirs: str, ours: str) -> None:
    gfloat = pytest.importorskip("gfloat")
    formats = pytest.importorskip("gfloat.formats")
    info = getattr(formats, f"format_info_{theirs}")
    for xs in data(1, 150).astype(np.float64):
        scale = gfloat.compute_scale_amax(info.etype.emax, xs)
        codes = list(gfloat.encode_block(info, scale, xs / scale))
        x = ww.blocks(xs, ours)
        assert [int(x.scales.bits[0]), *map(int, x.elements.bits)] == codes


def torchao() -> Any:
    why = "torchao needs torch: pip install torchao"
    pytest.importorskip("torch", reason=why)
    return pytest.importorskip("torchao.prototype.mx_formats.mx_tensor", reason=why)


TORCH_ELEMENTS = {
    "mxfp8_e4m3": "float8_e4m3fn",
    "mxfp8_e5m2": "float8_e5m2",
    "mxfp4": "float4_e2m1fn_x2",
}


@pytest.mark.parametrize("text", TORCH_ELEMENTS)
@pytest.mark.parametrize("rule", ["floor", "ceil", "rceil", "even"])
def test_mx_is_torchaos(text: str, rule: str) -> None:
    mx = torchao()
    import torch

    x = data(2)
    element = getattr(torch, TORCH_ELEMENTS[text])
    mode = getattr(mx.ScaleCalculationMode, rule.upper())
    t = mx.MXTensor.to_mx(torch.from_numpy(x), element, 32, mode)
    elements = ww.unpack(t.qdata, "e2m1fn") if text == "mxfp4" else t.qdata
    theirs = ww.Blocks.of(elements, t.scale.reshape(-1, 1), text)
    ours = ww.blocks(x, f"{text};scale={rule}")
    assert np.array_equal(ours.scales.bits, theirs.scales.bits)
    assert np.array_equal(ours.elements.bits, theirs.elements.bits)
    assert np.array_equal(theirs.to_float32(), t.dequantize(torch.float32).numpy())
    if text != "mxfp4":
        assert np.shares_memory(theirs.elements.bits, t.qdata.view(torch.uint8).numpy())
        back = torch.from_numpy(ours.elements.bits).view(element)
        assert torch.equal(back.view(torch.uint8), t.qdata.view(torch.uint8))


@pytest.mark.parametrize("given", [False, True])
def test_nvfp4_is_torchaos(given: bool) -> None:
    torchao()
    import torch
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor

    for seed in range(5):
        x = data(seed).reshape(-1, 64) / 2.0**30
        ours = ww.blocks(x, "nvfp4", tensor_scale=None if given else 1, arithmetic="f32")
        scale = torch.tensor(float(ours.tensor_scale)) if given else None
        t = NVFP4Tensor.to_nvfp4(torch.from_numpy(x), per_tensor_scale=scale)
        theirs = ww.Blocks.of(
            ww.unpack(t.qdata, "e2m1fn"), t.scale, "nvfp4", tensor_scale=ours.tensor_scale
        )
        assert np.array_equal(ours.scales.bits, theirs.scales.bits)
        assert np.array_equal(ours.elements.bits, theirs.elements.bits)


def test_nf4_blocks_are_bitsandbytes_but_for_its_reciprocal() -> None:
    functional = pytest.importorskip(
        "bitsandbytes.functional", reason="bitsandbytes needs torch: pip install bitsandbytes"
    )
    import torch

    x = np.random.default_rng(3).standard_normal(64 * 200).astype(np.float32)
    packed, state = functional.quantize_4bit(torch.from_numpy(x), blocksize=64, quant_type="nf4")
    codes = np.stack([packed.numpy().reshape(-1) >> 4, packed.numpy().reshape(-1) & 15], 1)
    ours = ww.blocks(x, "block(table(nf4),64,binary32)")
    assert np.array_equal(ours.scales.to_float64(), state.absmax.double().numpy())
    assert (ours.elements.bits != codes.reshape(-1)).mean() < 1e-3
