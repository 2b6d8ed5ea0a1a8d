"""Blocks against the executable form of their specification: every rule, mode and kind of scale."""

from __future__ import annotations

import math
import pickle
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import blocks_ref as page  # noqa: E402
from number_systems_ref import NAN, Q  # noqa: E402

# The page's names of elements, and ours.
ELEMENTS = {name: name for name in ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")}
ELEMENTS |= {"int8": "fixed8.6", "int4": "fixed4.2", "int2": "fixed2.0"}
RULES = ("floor", "ceil", "rceil", "even", "midmax", "nearest")
MODES = ("rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd")
TYPES = (np.float32, np.float64)
DRAWS = 400


def codes(x: ww.Array) -> list[int]:
    return [int(code) for code in x.bits.reshape(-1)]


def mx(
    element: str,
    xs: Any,
    scale: str = "floor",
    rounding: str = "rne",
    specials: str = "block",
    scale_bits: int = 8,
    flush: bool = False,
    dtype: Any = np.float64,
) -> tuple[int, list[int]]:
    """One block, by this package under the page's name and arguments."""
    text = f"block({ELEMENTS[element]},{len(xs)},e{scale_bits}m0fnu);scale={scale}"
    text += f";specials={specials}" + (";flush=block" if flush else "")
    x = ww.blocks(np.array(xs, dtype), text, rounding=rounding)
    return int(x.scales.bits[0]), codes(x.elements)


def mx_values(element: str, scale: int, of: list[int]) -> list[float]:
    f = f"block({ELEMENTS[element]},{len(of)},e8m0fnu)"
    return list(ww.Blocks.of(np.uint8(of), np.uint8([scale]), f).to_float64())


def microxcaling(
    element: str, xs: Any, rounding: str = "nearest", scale_bits: int = 8, flush: bool = False
) -> list[float]:
    text = f"block({ELEMENTS[element]},{len(xs)},e{scale_bits}m0fnu)" + ";flush=block" * flush
    mode = {"nearest": "rna", "even": "rne", "floor": "rtz"}[rounding]
    return list(ww.blocks(np.float32(xs), text, rounding=mode, like="microxcaling").to_float64())


def nvfp4(xs: Any, tensor_scale: Any = None, arithmetic: str = "exact", dtype: Any = np.float64):
    x = ww.blocks(np.array(xs, dtype), "nvfp4", tensor_scale=tensor_scale, arithmetic=arithmetic)
    return Q(float(x.tensor_scale)), codes(x.scales), codes(x.elements)


def bfp(
    xs: Any,
    width: int,
    exponent: int = 8,
    rounding: str = "rne",
    clamp: str = "symmetric",
    carry: str = "saturate",
    dtype: Any = np.float64,
) -> tuple[int, list[int]]:
    text = f"bfp({width},{len(xs)},e{exponent});clamp={clamp};carry={carry}"
    x = ww.blocks(np.array(xs, dtype), text, rounding=rounding)
    signed = [page.int_wrap(code, width) for code in codes(x.elements)]
    return int(x.scales.bits[0]) - (2 ** (exponent - 1) - 1), signed


def tile(xs: Any, element: str = "e4m3fn", scale: str = "f32") -> tuple[Q, list[int]]:
    rule = ";scale=pow2" if scale == "pow2" else ""
    x = ww.blocks(np.float32(xs), f"block({element},1x{len(xs)},binary32){rule}")
    return Q(float(x.scales.to_float64()[0])), codes(x.elements)


# --- The page's own lines ------------------------------------------------------------------------


def test_the_pages_vectors_of_mx() -> None:
    nan, inf = math.nan, math.inf
    assert mx("e2m1fn", [6, 3, -0.25, 0.75]) == (127, [7, 5, 8, 2])
    by_rule = [mx("e4m3fn", [480, 1], s) for s in ("floor", "ceil", "rceil", "even")]
    assert by_rule == [(127, [0x7E, 0x38]), (128, [0x77, 0x30]), (128, [0x77, 0x30])] + by_rule[:1]
    limits = (
        ("e4m3fn", 480, "midmax"),
        ("e4m3fn", 481, "midmax"),
        ("e2m1fn", 7, "midmax"),
        ("e2m1fn", 7.01, "midmax"),
        ("e4m3fn", 633.5, "nearest"),
        ("e4m3fn", 633.6, "nearest"),
    )
    assert [mx(f, [v], s)[0] for f, v, s in limits] == [127, 128] * 3
    assert mx("e4m3fn", [0.0, -0.0]) == (0, [0, 0x80])
    assert mx("e4m3fn", [1, nan]) == (255, [0, 0]) == mx("e4m3fn", [1, inf])
    assert mx("e5m2", [4, inf, nan], specials="element") == (114, [0x78, 0x7C, 0x7F])
    assert mx("int8", [1, -1, 1.9999, -1.9999]) == (127, [64, 0xC0, 127, 0x81])
    assert mx_values("int8", 127, [0x80]) == [-2]
    few = [mx(f, [1.9, -1.9, 0.375, 0.6]) for f in ("int4", "int2")]
    assert few == [(127, [7, 9, 2, 2]), (127, [1, 3, 0, 1])]


def test_the_pages_vectors_of_other_scales() -> None:
    assert mx("e4m3fn", [2.0**30, 1], scale_bits=5) == (30, [0x7E, 0])
    assert mx("e4m3fn", [2.0**-21, 2.0**-25], scale_bits=5) == (0, [8, 0])
    assert mx("e4m3fn", [math.nan], scale_bits=5) == (31, [0])
    flushed = [mx("e5m2", [2.0**-127, 2.0**-130], flush=f) for f in (False, True)]
    assert flushed == [(0, [60, 48]), (0, [0, 0])]


def test_the_pages_vectors_of_microxcaling() -> None:
    below = 8 * (1 - 2.0**-24)
    assert microxcaling("e4m3fn", [below, 1]) == [8, 1]
    assert mx_values("e4m3fn", *mx("e4m3fn", [below, 1])) == [7, 1]
    assert microxcaling("int8", [1, 2.0**-7 * (1 - 2.0**-24)], "even") == [1, 2.0**-6]
    assert all(map(math.isnan, microxcaling("e4m3fn", [2.0**24, 1], scale_bits=5)))


def test_the_pages_vectors_of_nvfp4_bfp_and_tiles() -> None:
    x = [1.0] * 16 + [1e-6] * 16
    both = [nvfp4(x, arithmetic=a)[1:] for a in ("exact", "f32")]
    assert both == [([0x7E, 1], [7] * 16 + [3] * 16), ([0x7E, 8], [7] * 16 + [0] * 16)]
    assert bfp([1, 0.5, -1.9], 4) == (0, [4, 2, -7])
    assert bfp([1, 0.5, -1.9], 4, carry="raise") == (1, [2, 1, -4])
    assert bfp([0, 0], 8) == (-127, [0, 0])
    assert tile([1.0, 0.5, -0.0]) == (Q(page.f32(Q(1, 448))), [0x7E, 0x76, 0x80])
    assert tile([1.0], scale="pow2") == (Q(1, 256), [0x78])
    assert tile([0.0]) == (1, [0])


# --- Exhaustive at the borders -------------------------------------------------------------------


def borders(element: str) -> list[float]:
    """Around every number of an element and every middle of two: what binary32 has there."""
    e = page.ELEM[element]
    wide = range(1 << 7) if element[0] == "e" else range(1 << e.w - 1)
    values = {v for v in map(e.value, wide) if not isinstance(v, str)}
    values = sorted(v for v in values if v >= 0)
    middles = [(a + b) / 2 for a, b in zip(values, values[1:], strict=False)]
    at = np.float32([float(v) for v in [*values, *middles]])
    beside = [np.nextafter(at, np.float32(end)) for end in (0, 9e9)]
    return [float(v) for v in np.unique(np.concatenate([at, *beside]))]


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_border_of_an_element_under_every_mode(element: str) -> None:
    anchor = float(page.ELEM[element].max)  # keeps the scale at 1
    xs = [v for v in borders(element) if v <= anchor]
    for mode in MODES:
        block = [anchor, *xs, *(-v for v in xs)]
        assert mx(element, block, rounding=mode, dtype=np.float32) == page.mx(
            element, block, rounding=mode
        ), mode


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("element", ELEMENTS)
def test_every_border_of_a_rule(element: str, rule: str) -> None:
    """Largest numbers around all that an element's significand may turn at, in three binades."""
    steps = np.float32(1) + np.arange(0, 129, dtype=np.float32) / 128
    beside = [np.nextafter(steps, np.float32(end)) for end in (0, 9)]
    root = math.sqrt(2) * float(page.ELEM[element].max)
    root /= 2.0 ** math.floor(math.log2(root))
    near = np.concatenate(
        [steps, *beside, np.float32(root) * np.float32([1 - 2**-23, 1, 1 + 2**-22])]
    )
    for binade in (-131, -1, 118):
        xs = np.ldexp(near, binade).astype(np.float32)
        x = ww.blocks(xs, f"block({ELEMENTS[element]},1,e8m0fnu);scale={rule}")
        for v, *got in zip(xs, codes(x.scales), codes(x.elements), strict=True):
            scale, elements = page.mx(element, [float(v)], rule)
            assert got == [scale, *elements], v


# --- Differential --------------------------------------------------------------------------------


def draw_number(rng: random.Random) -> float:
    if rng.random() < 0.1:
        return rng.choice([0.0, -0.0])
    exponent = rng.choice([rng.randint(-3, 3), rng.randint(-30, 30), rng.randint(-149, 120)])
    edges = [rng.getrandbits(24), rng.getrandbits(5) << 19, (1 << 24) - 1 - rng.getrandbits(2)]
    edges += [1 << 23, rng.getrandbits(6) << 18 | rng.getrandbits(2)]
    v = float(np.float32(rng.choice(edges) * 2.0 ** (exponent - 23)))
    return -v if rng.random() < 0.5 else v


def drawn(
    seed: int, count: int, lengths: tuple[int, ...]
) -> Iterator[tuple[random.Random, list[float]]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield rng, [draw_number(rng) for _ in range(rng.choice(lengths))]


@pytest.mark.parametrize("element", ELEMENTS)
def test_mx_of_drawn_blocks(element: str) -> None:
    for rng, xs in drawn(11, DRAWS, (1, 3, 8)):
        how: dict[str, Any] = {"scale": rng.choice(RULES), "rounding": rng.choice(MODES)}
        how |= {"scale_bits": rng.choice([8, 8, 8, 5, 2]), "flush": rng.random() < 0.1}
        if rng.random() < 0.1:
            xs[0] = rng.choice([math.nan, math.inf, -math.inf])
            how["specials"] = rng.choice(["block", "element"])
        want = page.mx(element, xs, **how)
        for dtype in TYPES:
            assert mx(element, xs, **how, dtype=dtype) == want, (xs, how, dtype)


def test_nvfp4_of_drawn_tensors() -> None:
    for rng, xs in drawn(12, DRAWS, (1, 16, 17, 40)):
        xs = [float(v) for v in np.clip(xs, -1e38, 1e38).astype(np.float32)]
        power = np.float32(rng.random() * 2.0 ** rng.randint(-20, 20))
        given = rng.choice([None, None, float(power)])
        middling = 2**-90 < max(map(abs, xs)) < 2**90  # no step of binary32 overflows
        arithmetic = rng.choice(["exact", "exact", "f32"]) if middling else "exact"
        want = page.nvfp4(xs, None if given is None else Q(given), 16, arithmetic)
        for dtype in TYPES:
            assert nvfp4(xs, given, arithmetic, dtype) == want, (xs, given, arithmetic)


def test_block_floating_point_of_drawn_blocks() -> None:
    for rng, xs in drawn(13, DRAWS, (1, 5, 8)):
        how: Any = (rng.choice([2, 3, 4, 8, 12, 16]), rng.choice([8, 8, 5, 3]), rng.choice(MODES))
        how += (rng.choice(["symmetric", "full"]), rng.choice(["saturate", "raise"]))
        want = page.bfp(xs, *how)
        for dtype in TYPES:
            assert bfp(xs, *how, dtype=dtype) == want, (xs, how)


def test_tiles_of_drawn_blocks() -> None:
    for rng, xs in drawn(14, DRAWS, (1, 5, 8)):
        how = (rng.choice(["e4m3fn", "e5m2", "e2m1fn"]), rng.choice(["f32", "pow2"]))
        assert tile(xs, *how) == page.tile(xs, *how), (xs, how)


def test_microxcaling_of_drawn_blocks() -> None:
    for rng, xs in drawn(15, 4 * DRAWS, (1, 3, 8)):
        if rng.random() < 0.3:  # just below a power of two, where its logarithm errs
            below = 1 - 2**-24 * rng.randint(0, 9)
            xs[0] = float(np.float32(2.0 ** rng.randint(-126, 120) * below))
        if rng.random() < 0.03:
            xs[-1] = rng.choice([math.nan, math.inf])
        how = (rng.choice(list(ELEMENTS)), xs, rng.choice(["nearest", "even", "floor"]))
        how += (rng.choice([8, 8, 5, 3]), rng.random() < 0.2)
        got, want = microxcaling(*how), page.microxcaling(*how)
        assert np.array_equal(got, want, equal_nan=True), how


def test_numbers_of_binary64_that_binary32_has_not() -> None:
    rng = random.Random(16)
    for _ in range(DRAWS):
        scale = 2.0 ** rng.choice([0, -200, -1000, -1060, 100, 1000])
        xs = [rng.uniform(-1, 1) * scale * 2.0 ** rng.randint(-8, 8) for _ in range(4)]
        mode = rng.choice(MODES)
        assert mx("e4m3fn", xs, rounding=mode) == page.mx("e4m3fn", xs, rounding=mode), xs
        assert bfp(xs, 8, rounding=mode) == page.bfp(xs, 8, rounding=mode), xs
        if abs(scale) < 2**100:
            assert nvfp4(xs) == page.nvfp4(xs), xs


def test_many_digits_go_by_doubles() -> None:
    """Elements of more digits than a float has beside its own: each is rounded by itself."""
    rng = random.Random(17)
    for element in ("e5m10", "e8m23", "fixed32.30", "posit16es2", "posit32es2", "table(nf4)"):
        xs = [rng.uniform(-1, 1) for _ in range(64)]
        x = ww.blocks(xs, f"block({element},64,e8m0fnu)")
        by = float(x.scales.to_float64()[0])
        overflow = {"e": ";overflow=max", "f": ";overflow=symmetric"}.get(element[0], "")
        each = ww.array(np.array(xs) / by, element + overflow)
        assert codes(x.elements) == codes(each), element


def test_stochastic_rounding_draws_by_an_elements_place() -> None:
    x = np.random.default_rng(3).standard_normal((37, 64)).astype(np.float32)
    z = ww.blocks(x, "mxfp8_e4m3", rounding="sr8", seed=5)
    by = np.repeat(z.scales.to_float64(), 32, axis=1)
    for dtype in TYPES:
        each = ww.array((x / by).astype(dtype), "e4m3fn;overflow=max", rounding="sr8", seed=5)
        assert np.array_equal(z.elements.bits, each.bits)
    other = ww.blocks(x, "mxfp8_e4m3", rounding="sr8", seed=6)
    assert not np.array_equal(z.elements.bits, other.elements.bits)


def test_scaled_dot_of_the_page() -> None:
    one, half = np.full(32, 0x38, np.uint8), np.full(32, 0x3C, np.uint8)
    a = ww.Blocks.of(one, np.uint8([128]), "mxfp8_e4m3")
    b = ww.Blocks.of(half, np.uint8([126]), "mxfp8_e4m3")
    assert ww.dot(a, b, unit="blackwell.mxfp8").to_float64() == 48
    nan = ww.Blocks.of(one, np.uint8([255]), "mxfp8_e4m3")
    assert np.isnan(ww.dot(nan, b, unit="blackwell.mxfp8").to_float64())
    assert page.scaled_dot([0], [0], "e4m3fn", "e4m3fn", [255], [0], 32) == NAN


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


def test_parts_begin_and_end_with_blocks() -> None:
    x = np.random.default_rng(2).standard_normal((4, 70, 6)).astype(np.float32)
    z = ww.blocks(x, "mxfp4", axis=1)
    for key in (np.s_[1:3, 32:64], np.s_[2], np.s_[..., 5], np.s_[:, 64:], np.s_[1, :, ::2]):
        assert np.array_equal(z[key].to_float64(), z.to_float64()[key])
    with pytest.raises(IndexError, match="axis 1 has blocks of 32"):
        z[:, 5:]
    with pytest.raises(IndexError, match="take a slice"):
        z[:, 5]


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
    "nvfp4;scale=floor": "there are amax and pow2",
    "nvfp4;specials=element": "scales that are powers of two",
    "mxfp4;clamp=full": "integer elements",
    "mxfp4;carry=raise": "is for bfp",
    "mxfp4;flush=block;flush=no": "given twice",
    "mxfp4;depth=3": "there are scale=, specials=",
    "bfp(1,32,e8)": "mantissa bits = 1",
    "bfp(8,32,e11)": "exponent bits = 11",
    "block(e20m40,32,e8m0fnu)": "between 2\\^-400 and 2\\^400",
}


@pytest.mark.parametrize("text", WRONG_TEXTS)
def test_a_wrong_text_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG_TEXTS[text]) as wrong:
        ww.BlockFormat(text)
    assert "\n" not in str(wrong.value)


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
        (lambda: ww.blocks([1.0], "nvfp4", arithmetic="f16"), "exact or f32"),
        (lambda: ww.blocks([1.0], "mxfp4", arithmetic="f32"), "scales in ue4m3fn"),
        (lambda: ww.blocks([1.0], "nvfp4", rounding="sr60"), "random bits"),
        (lambda: ww.blocks([1.0], "mxfp4", padding="refuse"), "no multiple of 32"),
        (lambda: ww.blocks([1.0], "mxfp4", like="qtorch"), "does not act here"),
        (lambda: ww.blocks([2**60 + 1], "mxfp4"), "53 digits"),
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
    y = ww.blocks([1.0, math.nan], "mxfp4")
    assert "1 blocks of NaN" in repr(y)


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
