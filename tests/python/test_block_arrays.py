"""Blocks as arrays: shapes, parts, axes, bytes, products, texts, and what is refused."""

from __future__ import annotations

import math
import pickle
import random
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import widthwise as ww


def codes(x: ww.Array) -> list[int]:
    return [int(code) for code in x.bits.reshape(-1)]


# --- Shapes --------------------------------------------------------------------------------------

SHAPES = [
    ("block(e4m3fn,32,e8m0fnu)", (3, 70), -1, (3, 3)),
    ("block(e4m3fn,32,e8m0fnu)", (3, 70, 4), 1, (3, 3, 4)),
    ("block(e4m3fn,5,e8m0fnu)", (7, 2), 0, (2, 2)),
    ("block(e4m3fn,1,e8m0fnu)", (3, 5), -1, (3, 5)),
    ("block(e4m3fn,0,binary32)", (3, 70, 4), 1, (3, 1, 4)),
    ("block(e4m3fn,all,binary32)", (3, 70), -1, (1, 1)),
    ("block(e4m3fn,16x2,binary32)", (2, 33, 5), -1, (2, 3, 3)),
    ("block(e4m3fn,3000,e8m0fnu)", (2, 9001), -1, (2, 4)),
    ("block(e4m3fn,128x128,binary32)", (200, 5000), -1, (2, 40)),
    ("nvfp4", (5, 40), -2, (1, 40)),
    ("block(int4,7,binary32)", (2, 9, 5), 1, (2, 2, 5)),
]


@pytest.mark.parametrize(("text", "shape", "axis", "scales"), SHAPES)
def test_each_block_is_quantised_by_itself(text: str, shape: Any, axis: int, scales: Any) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    z = ww.blocks(x, text, axis=axis)
    assert z.scales.shape == scales
    assert z.elements.shape == shape
    extents = z._layout.extents
    whole = np.full(shape, np.nan)
    for place in list(np.ndindex(*scales))[:200]:
        key = tuple(slice(p * b, (p + 1) * b) for p, b in zip(place, extents, strict=True))
        part = x[key].reshape(-1)
        alone = str(z.format.element), z.format.scale
        flat = f"block({alone[0]},all,{ {'e8m23': 'binary32'}.get(str(alone[1]), 'e8m0fnu') })"
        if z.tensor_scale is not None:
            one = ww.blocks(part, "block(e2m1fn,all,ue4m3fn)", tensor_scale=z.tensor_scale)
        else:
            one = ww.blocks(part, flat)
        assert codes(one.elements) == codes(z.elements[key]), place
        assert codes(one.scales) == codes(z.scales[place]), place
        whole[key] = one.to_float64().reshape(x[key].shape)
    known = ~np.isnan(whole)
    assert np.array_equal(z.to_float64()[known], whole[known])
    with np.errstate(over="ignore"):
        assert np.array_equal(z.to_float32(), z.to_float64().astype(np.float32))


def test_one_number_is_no_part() -> None:
    one = ww.blocks([[2.0]], "block(e4m3fn,all,e8m0fnu)")
    assert one[0].shape == (1,)
    with pytest.raises(IndexError, match=r"key \(0, 0\) is one number, and blocks have an axis"):
        one[0, 0]


def test_parts_begin_and_end_with_blocks() -> None:
    x = np.random.default_rng(2).standard_normal((4, 70, 6)).astype(np.float32)
    z = ww.blocks(x, "mxfp4", axis=1)
    for key in (np.s_[1:3, 32:64], np.s_[2], np.s_[..., 5], np.s_[:, 64:], np.s_[1, :, ::2]):
        assert np.array_equal(z[key].to_float64(), z.to_float64()[key])
    with pytest.raises(IndexError, match="axis 1 has blocks of 32"):
        z[:, 5:]
    with pytest.raises(IndexError, match="take a slice"):
        z[:, 5]
    tall = ww.blocks(np.ones((2, 64, 2), np.float32), "block(e4m3fn,64x1,e8m0fnu)")
    with pytest.raises(IndexError, match="axis 2 has blocks of 1"):
        tall[:, :, 0]
    assert tall[:, :, 1:].to_float64().tolist() == np.ones((2, 64, 1)).tolist()


@pytest.mark.parametrize(("text", "shape", "axis", "scales"), SHAPES)
def test_axes_change_places_with_blocks(text: str, shape: Any, axis: int, scales: Any) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    z = ww.blocks(x, text, axis=axis)
    order = tuple(reversed(range(len(shape))))
    if isinstance(z.block, tuple):
        order = (*range(len(shape) - 2), -1, -2)
    assert np.array_equal(z.transpose(order).to_float64(), z.to_float64().transpose(order))
    again = pickle.loads(pickle.dumps(z.transpose(order)))
    assert np.array_equal(again.to_float64(), z.to_float64().transpose(order))


def test_requantised_along_another_axis() -> None:
    x = np.random.default_rng(4).standard_normal((64, 64)).astype(np.float32)
    z = ww.blocks(x, "mxfp4")
    assert codes(z.requantise(axis=0).elements) == codes(
        ww.blocks(z.to_float64(), "mxfp4", axis=0).elements
    )
    assert str(z.requantise("mxfp8_e4m3").format) == "block(e4m3fn,32,e8m0fnu)"


@pytest.mark.parametrize(
    "f", ["e2m1fn", "e2m3fn", "e4m3fn", "fixed3.0", "e5m10", "e4m6", "posit7", "e8m54"]
)
def test_packed_codes_come_back(f: str) -> None:
    width = ww.Format(f).width
    rng = random.Random(width)
    for n in (1, 2, 7, 8, 9, 33):
        rows = [[rng.getrandbits(width) for _ in range(n)] for _ in range(3)]
        x = ww.from_bits(np.array(rows, object), f)
        data = ww.pack(x)
        assert data.shape == (3, -(-n * width // 8))
        for row, packed in zip(rows, data, strict=True):
            in_one = sum(code << i * width for i, code in enumerate(row))
            assert int.from_bytes(packed.tobytes(), "little") == in_one
        assert np.array_equal(ww.unpack(data, f, n).bits, x.bits)
    with pytest.raises(ValueError, match="n = 99"):
        ww.unpack(data, f, 99)


# --- Products ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "text"),
    [("blackwell.mxfp8", "mxfp8_e4m3"), ("blackwell.mxfp4", "mxfp4"), ("blackwell.nvfp4", "nvfp4")],
)
def test_a_product_takes_the_scales_of_its_operands(unit: str, text: str) -> None:
    rng = np.random.default_rng(7)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((5, 128), (128, 3)))
    a, b = ww.blocks(x, text), ww.blocks(w, text, axis=0)
    beside = ww.matmul(a.elements, b.elements, unit=unit, scale_a=a.scales, scale_b=b.scales)
    z = ww.matmul(a, b, unit=unit)
    c = ww.array(rng.standard_normal((5, 3)), "binary32")
    with_c = ww.matmul(a, b, unit=unit, c=c)
    if a.tensor_scale is None:
        assert np.array_equal(z.bits, beside.bits)
        inside = ww.matmul(
            a.elements, b.elements, unit=unit, scale_a=a.scales, scale_b=b.scales, c=c
        )
        assert np.array_equal(with_c.bits, inside.bits)
    else:
        factor = ww.array(a.tensor_scale * b.tensor_scale, "binary32")
        assert np.array_equal(z.bits, ww.multiply(beside, factor).bits)
        assert np.array_equal(with_c.bits, ww.add(z, c).bits)
        flagged, flags = ww.matmul(a, b, unit=unit, c=c, flags=True)
        assert np.array_equal(flagged.bits, with_c.bits)
        assert flags.any()
    near = a.to_float64() @ b.to_float64()
    assert np.allclose(z.to_float64(), near, rtol=1e-5, atol=1e-5)
    rows = ww.dot(a, b.transpose()[0], unit=unit)
    assert np.array_equal(rows.bits, z[:, 0].bits)


@pytest.mark.parametrize(
    ("unit", "of_a", "of_b"),
    [
        ("blackwell.nvfp4", "nvfp4", "block(e2m1fn,16x16,ue4m3fn)"),
        ("blackwell.nvfp4", "block(e2m1fn,32,ue4m3fn)", "block(e2m1fn,all,ue4m3fn)"),
        ("blackwell.mxfp8", "block(e4m3fn,64x32,e8m0fnu)", "block(e4m3fn,0,e8m0fnu)"),
        ("TILES", "block(e4m3fn,1x128,binary32)", "block(e4m3fn,128x128,binary32)"),
        ("TILES", "block(e4m3fn,3x256,binary32)", "block(e4m3fn,0,binary32)"),
    ],
)
@pytest.mark.parametrize("k", [64, 40, 288])
def test_parts_of_larger_blocks_have_their_wholes_scale(
    unit: str, of_a: str, of_b: str, k: int
) -> None:
    tiles = "dot(e4m3fn, lanes=32, scale=binary32:128:term, out=binary32)"
    unit = tiles if unit == "TILES" else unit
    rng = np.random.default_rng(k)
    x, w = rng.standard_normal((5, k)), rng.standard_normal((k, 35))
    a, b = ww.blocks(x, of_a), ww.blocks(w, of_b, axis=-1 if "x" in of_b.split(",")[1] else 0)
    n, scale = int(ww.Unit(unit).scale_block or 0), a.format.scale
    by_place = (a._layout.spread(a.scales.bits), b._layout.spread(b.scales.bits))
    scale_a, scale_b = by_place[0][:, ::n], by_place[1][::n]
    beside = ww.matmul(
        a.elements, b.elements, unit=unit,
        scale_a=ww.from_bits(scale_a, scale), scale_b=ww.from_bits(scale_b, scale),
    )  # fmt: skip
    if a.tensor_scale is not None:
        beside = ww.multiply(beside, ww.array(a.tensor_scale * b.tensor_scale, "binary32"))
    z = ww.matmul(a, b, unit=unit)
    assert np.array_equal(z.bits, beside.bits)
    exact = a.to_float64() @ b.to_float64()
    found = ww.sweep([unit], a, b, metrics=["max_abs"]).best("max_abs")["max_abs"][0]
    assert found == pytest.approx(np.abs(z.to_float64() - exact).max(), abs=1e-12)


def test_blocks_that_straddle_a_unit_s_are_refused() -> None:
    a = ww.blocks(np.ones((4, 96)), "block(e4m3fn,48,e8m0fnu)")
    with pytest.raises(ValueError, match=r"takes block\(e4m3fn,32,e8m0fnu\): a.requantise"):
        ww.matmul(a, a.T, unit="blackwell.mxfp8")


def test_one_column_and_traces_take_blocks() -> None:
    rng = np.random.default_rng(3)
    a, b = (ww.blocks(rng.standard_normal((2, 64)), "mxfp8_e4m3") for _ in range(2))
    unit = "blackwell.mxfp8"
    z = ww.matmul(a, b[0], unit=unit)
    assert np.array_equal(z.bits, ww.matmul(a, b.T, unit=unit)[:, 0].bits)
    assert ww.trace(unit, a[1], b[0]).result.bits == z[1].bits
    few = ww.blocks(rng.standard_normal(64), "nvfp4")
    with pytest.raises(ValueError, match="a has a tensor scale"):
        ww.trace("blackwell.nvfp4", few, few)


@pytest.mark.parametrize("bits", range(2, 9))
def test_units_have_scales_of_every_width(bits: int) -> None:
    scale = f"e{bits}m0fnu"
    f = f"block(e2m1fn,4,{scale})"
    a, b = ww.blocks(np.float32([[6, 1, -0.5, 3]]), f), ww.blocks(np.ones((4, 1)), f, axis=0)
    z = ww.matmul(a, b, unit=f"kulisch(e2m1fn, scale={scale}:4:term, out=binary32)")
    assert z.to_float64().tolist() == (a.to_float64() @ b.to_float64()).tolist()
    assert ww.Format(scale) == a.format.scale


def test_a_product_says_which_blocks_it_takes() -> None:
    x = np.ones((64, 64), np.float32)
    a = ww.blocks(x, "mxfp8_e4m3")
    b = ww.blocks(x, "mxfp8_e4m3", axis=0)
    for wrong, said in (
        ((a, a, "blackwell.mxfp8"), r"b has its blocks along axis 1.*requantise\(axis=-2\)"),
        ((a, b, "mac(e4m3fn)"), "scales nothing"),
        ((ww.blocks(x, "mxfp8_e5m2"), b, "blackwell.mxfp8"), r"takes block\(e4m3fn,32,e8m0fnu\)"),
    ):
        with pytest.raises(ValueError, match=said):
            ww.matmul(*wrong[:2], unit=wrong[2])
    with pytest.raises(ValueError, match="scale_a is given"):
        ww.matmul(a, b, unit="blackwell.mxfp8", scale_a=a.scales)


# --- Texts and bad input -------------------------------------------------------------------------

TEXTS = {
    "mxfp8_e4m3": "block(e4m3fn,32,e8m0fnu)",
    "MXINT8": "block(fixed8.6,32,e8m0fnu)",
    "nvfp4": "nvfp4",
    "block(e2m1fn,16,ue4m3fn)": "nvfp4",
    "block(e4m3fn,16,ue4m3fn)": "block(e4m3fn,16,ue4m3fn)",
    "BLOCK(int4,1x8,UE4M3FN)": "block(int4,8,ue4m3fn)",
    "block(e4m3fn,1x128,binary32)": "block(e4m3fn,128,binary32)",
    "block(e4m3fn, 128x128, binary32);scale=pow2": "block(e4m3fn,128x128,binary32);scale=pow2",
    "block(int4,0,e5m0fnu);scale=floor": "block(int4,0,e5m0fnu)",
    "block(e3m4;bias=2,all,e8m0fnu);flush=block": "block(e3m4;bias=2,all,e8m0fnu);flush=block",
    "bfp(8,32,e8);carry=raise;clamp=full": "bfp(8,32,e8);clamp=full;carry=raise",
    "block(table(nf4),64,binary32)": "block(table(nf4),64,binary32)",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_print_as_one(text: str) -> None:
    f = ww.BlockFormat(text)
    assert str(f) == TEXTS[text]
    assert ww.BlockFormat(str(f)) == f == ww.Format(text)
    assert pickle.loads(pickle.dumps(f)) == f


WRONG_TEXTS = {
    "mxfp3": "nearest name: 'mxfp4'",
    "block(e4m3fn,32)": "scale's format",
    "block(e4m3fn,-1,e8m0fnu)": "block = -1",
    "block(e4m3fn,0x4,e8m0fnu)": "both are 1 or more",
    "block(e4m3fn,32,e5m10)": "e2m0fnu to e8m0fnu, ue4m3fn or binary32",
    "block(e4m3fn,32,e9m0fnu)": "e2m0fnu to e8m0fnu",
    "block(e4m3fn;overflow=inf,32,e8m0fnu)": "elements of a block saturate",
    "mxfp4;scale=best": "scale = 'best'",
    "mxfp4;scale=amax": "no rule for scales in e8m0fnu",
    "nvfp4;scale=floor": "there is amax alone",
    "block(e4m3fn,32,binary32);scale=ceil": "there are amax and pow2",
    "nvfp4;specials=element": "scales that are powers of two",
    "mxfp4;clamp=full": "integer elements",
    "mxfp4;carry=raise": "is for bfp",
    "mxfp4;flush=block;flush=no": "given twice",
    "mxfp4;depth=3": "there are scale=, specials=",
    "bfp(1,32,e8)": "mantissa bits = 1",
    "bfp(8,32,e11)": "exponent bits = 11",
    "block(int1,4,e8m0fnu)": "no number above zero",
    "block(table(-1,0),4,binary32)": "no number above zero",
    "block(ue4m3fn,4,e8m0fnu)": "have a sign",
    "block(e20m40,32,e8m0fnu)": "between 2\\^-400 and 2\\^400",
}


@pytest.mark.parametrize("text", WRONG_TEXTS)
def test_a_wrong_text_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG_TEXTS[text]) as wrong:
        ww.BlockFormat(text)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "kind", [Decimal, Fraction, np.float32, np.float64, np.atleast_1d, ml_dtypes.bfloat16]
)
def test_a_tensor_scale_is_any_number_of_binary32(kind):
    x = np.linspace(-3, 3, 32, dtype=np.float32)
    wanted = ww.blocks(x, "nvfp4", tensor_scale=0.375)
    found = ww.blocks(x, "nvfp4", tensor_scale=kind(0.375))
    assert (found == wanted).all() and found.tensor_scale == np.float32(0.375)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ww.blocks([], "mxfp4"), "an empty block has no scale"),
        (lambda: ww.blocks(1.0, "mxfp4"), "x is one number"),
        (lambda: ww.blocks([1.0, math.nan], "nvfp4"), r"x: element 1 is nan.*nvfp4"),
        (lambda: ww.blocks([[1.0, -math.inf]], "bfp(8,32,e8)"), r"element \[0, 1\] is -inf"),
        (lambda: ww.blocks([1e39], "block(e4m3fn,128,binary32)"), "element 0 is inf"),
        (lambda: ww.blocks([1.0], "mxfp4", axis=1), "axis = 1"),
        (lambda: ww.blocks([1.0], "block(e4m3fn,2x2,binary32)"), "tiles of two axes"),
        (lambda: ww.blocks([1.0], "mxfp4", tensor_scale=2), "has none"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=0), "positive number of binary32"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=math.nan), "positive number"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=0.1), "np.float32"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale="1"), "tensor_scale = '1': a finite"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=True), "tensor_scale = True: a finite"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=[1, 2]), r"tensor_scale = \[1, 2\]: a fin"),
        (lambda: ww.blocks([1.0], "nvfp4", tensor_scale=np.ones(2)), "positive number of binary32"),
        (lambda: ww.blocks([1.0], "mxfp4", scale="rceil"), r"scale = 'rceil'.*'mxfp4;scale=rceil'"),
        (lambda: ww.blocks([1.0], "mxfp4", block_size=16), r"block_size = 16: format says it"),
        (lambda: ww.blocks([1.0], "nvfp4", arithmetic="f16"), "exact or f32"),
        (lambda: ww.blocks([1.0], "mxfp4", arithmetic="f32"), "scales in ue4m3fn"),
        (lambda: ww.blocks([1.0], "nvfp4", rounding="sr60"), "random bits"),
        (lambda: ww.blocks([1.0], "mxfp4", padding="refuse"), "no multiple of 32"),
        (lambda: ww.blocks([1.0], "mxfp4", like="qtorch"), "does not act here"),
        (lambda: ww.blocks([2**60 + 1], "mxfp4"), "53 digits"),
        (
            lambda: ww.blocks([1.0], "block(posit8es2,4,e8m0fnu)", like="microxcaling"),
            "microxcaling has floats and integers",
        ),
        (lambda: ww.blocks([1e308, 1], "nvfp4"), "tensor scale past binary32's range"),
        (
            lambda: ww.blocks(np.float32([3e38]), "block(int2,32,binary32);scale=pow2"),
            "takes a scale past binary32's range",
        ),
        (
            lambda: ww.Blocks.of(np.uint8([1]), np.float32([0]), "block(e4m3fn,128,binary32)"),
            r"scales: element 0 is 0.0; a scale is finite and above zero",
        ),
        (lambda: ww.blocks(np.ones((2, 2)), "mxfp4").transpose(2, 1), r"axes = \(2, 1\)"),
        (lambda: ww.array([1.0], "mxfp4"), "ww.blocks"),
        (
            lambda: ww.Blocks.of(np.zeros(33, np.uint8), np.zeros(1, np.uint8), "mxfp4"),
            r"scales is \(1,\); elements of shape \(33,\).*\(2,\)",
        ),
    ],
)
def test_bad_input_is_one_line(make: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said) as wrong:
        make()
    assert "\n" not in str(wrong.value)


def test_what_was_clamped_is_said() -> None:
    x = ww.blocks([7.9, 1.0, -7.9], "mxfp4")
    assert x.clamped == 2
    assert "2 clamped" in repr(x)
    assert "2 of 3 elements clamped" in str(x.card())
    assert ww.blocks([1.0, -2, 0.3], "block(uint4,4,e8m0fnu)").clamped == 1
    assert ww.blocks([-1.9999, 1], "block(fixed8.6,2,e8m0fnu);clamp=full").clamped == 0
    assert ww.blocks([-1.9999, 1], "block(fixed8.6,2,e8m0fnu)").clamped == 1
    y = ww.blocks([1.0, math.nan], "mxfp4")
    assert "1 block of NaN" in repr(y)


def test_other_libraries_arrays_are_codes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    e = np.array([6, 3, -0.5, 1]).astype(ml_dtypes.float4_e2m1fn)
    s = np.array([2.0]).astype(ml_dtypes.float8_e8m0fnu)
    assert list(ww.Blocks.of(e, s, "mxfp4").to_float64()) == [12, 6, -1, 2]
    i = ww.Blocks.of(np.int8([64, -128]), np.uint8([127]), "mxint8")
    assert list(i.to_float64()) == [1, -2]


def test_each_recipe_of_the_guide_runs() -> None:
    guide = Path(__file__).resolve().parents[2] / "docs" / "guides" / "blocks.md"
    rows = re.findall(r"^\| .* \| `(ww\.blocks\(x.*\))` \|$", guide.read_text(), re.MULTILINE)
    assert len(rows) > 12
    x = np.random.default_rng(5).standard_normal((256, 256)).astype(np.float32)
    for row in rows:
        z = eval(row, {"ww": ww, "x": x})
        near = z.to_float64().reshape(x.shape)
        assert np.linalg.norm(near - x) < 0.2 * np.linalg.norm(x), row


@pytest.mark.parametrize(
    "text", ["mxfp8_e4m3", "nvfp4", "block(e5m10,2x3,binary32)", "bfp(12,0,e8)"]
)
def test_numpys_files_keep_codes_and_scales(text: str, tmp_path: Path) -> None:
    x = np.random.default_rng(6).standard_normal((40, 7)).astype(np.float32)
    z = ww.blocks(x, text, axis=-1 if "2x3" in text else 0)
    np.save(tmp_path / "z.npy", z)
    np.savez(tmp_path / "z.npz", w=z, a=ww.array(x, "e5m10"))
    for found in (ww.load(tmp_path / "z.npy"), ww.load(tmp_path / "z.npz")["w"]):
        assert (found.format, found.axis, found.tensor_scale) == (z.format, z.axis, z.tensor_scale)
        assert codes(found.elements) == codes(z.elements)
        assert codes(found.scales) == codes(z.scales)
    anybody = np.load(tmp_path / "z.npy")[f"{z.format} axis={z.axis}"]
    assert np.array_equal(anybody["elements"], z.elements.bits)


def test_numpys_functions_see_the_numbers() -> None:
    z = ww.blocks([[6.0, 3.0], [1.0, 0.5]], "mxfp4")
    assert np.sum(z) == 10.5
    assert np.concatenate([z, z]).shape == (4, 2)
    assert np.max(z, axis=0).tolist() == [6, 3]


def test_what_is_no_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.npy").write_bytes(b"")
    with pytest.raises(ValueError, match="empty.npy'.*: it is empty, cut short"):
        ww.load(tmp_path / "empty.npy")
    with pytest.raises(TypeError, match="file = 3: a path is wanted"):
        ww.load(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "axis"), [("mxfp8_e4m3", 0), ("block(e4m3fn,2x2,binary32)", -1), ("bfp(8,0,e8)", 0)]
)
def test_going_through_an_axis_of_blocks_is_no_empty_sequence(text: str, axis: int) -> None:
    x = ww.blocks(np.ones((4, 6)), text, axis=axis)
    for walk in (list, sum, all, lambda z: 1.0 in z, lambda z: dict(enumerate(z))):
        with pytest.raises(IndexError, match="axis 0 has blocks of .*; take a slice of them"):
            walk(x)


def test_rows_of_blocks_are_gone_through() -> None:
    x = ww.blocks(np.arange(8.0).reshape(2, 4), "mxfp8_e4m3")
    assert [row.to_float64().tolist() for row in x] == x.to_float64().tolist()


def test_a_block_format_in_a_single_number_s_place_is_told_what_makes_blocks() -> None:
    for format in ("mxfp4", ww.BlockFormat("mxfp4")):
        for call in (lambda f: ww.array([1.0], f), lambda f: ww.zeros(2, f)):
            with pytest.raises(ValueError, match="blocks, numbers with a scale, which ww.blocks"):
                call(format)
    f = ww.BlockFormat("nvfp4")
    assert ww.Format(f) == f  # type: ignore[arg-type]
