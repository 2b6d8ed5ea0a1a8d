"""Blocks against the executable form of their specification: every rule, mode and kind of scale."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import widthwise as ww
from widthwise._format_facts import highest

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
        alone = ww.blocks(xs, f"block({ELEMENTS[element]},1,e8m0fnu);scale={rule}")
        beside = np.zeros((xs.size, 32), np.float32)  # whole vectors of zeros and one number
        beside[:, 5] = xs
        among = ww.blocks(beside, f"block({ELEMENTS[element]},32,e8m0fnu);scale={rule}")
        for i, v in enumerate(xs):
            scale, (code,) = page.mx(element, [float(v)], rule)
            for x, place in ((alone, (i,)), (among, (i, 5))):
                got = int(x.scales.bits.reshape(-1)[i]), int(x.elements.bits[place])
                assert got == (scale, code), v


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


@pytest.mark.parametrize(
    ("element", "x"),
    [
        *[("bfloat16", x) for x in (1e-6, -1e-6)],
        *[(e, x) for e in ("posit32es3", "takum8", "takum16") for x in (3e38, -3e38)],
        ("e5m2;bias=-200", -3e38),
        ("fixed8.-140", 3e38),
    ],
)
def test_a_quotient_past_binary32_saturates(element: str, x: float) -> None:
    blocks = ww.blocks(np.full(16, x, np.float32), f"block({element},16,binary32)")
    ends = highest(ww.Format(element)), -highest(ww.Format(element))
    with np.errstate(over="ignore"):
        quotient = np.float32(x) / np.float32(blocks.scales.to_float64()[0])
    assert math.isinf(quotient)
    assert float(blocks.elements.to_float64()[0]) == ends[x < 0]
    assert blocks.clamped == 16


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
    pair = [0x38] * 32, [0x3C] * 32, "e4m3fn", "e4m3fn"
    assert page.scaled_dot(*pair, [128], [126], 32) == 48
    assert page.scaled_dot(*pair, [255], [126], 32) == NAN


def test_an_infinite_element_under_a_scale_of_zero_is_the_positive_nan():
    codes = np.uint8([0x7C, 0xFC, 0x3C, 0xFF])  # both infinities, 1, NaN
    x = ww.Blocks.of(codes, np.uint8([0]), "block(e5m2,4,ue4m3fn)")
    for numbers in (x.to_float32(), x.to_float64()):
        assert np.isnan(numbers).tolist() == [True, True, False, True]
        assert not np.signbit(numbers).any()
