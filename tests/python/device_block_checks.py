"""Blocks of numbers that lie on a GPU, run as device_checks.py is."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import widthwise as ww
from device_checks import Interface, same

MX = ["mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8"]
RULES = ["floor", "ceil", "rceil", "even", "midmax", "nearest"]
TILES = [
    "block(e4m3fn,1x128,binary32)",
    "block(e4m3fn,128x128,binary32)",
    "block(e4m3fn,1x128,binary32);scale=pow2",
    "block(e5m2,3x7,binary32)",
    "block(e4m3fn,all,binary32)",
    "block(int4,64,binary32)",
    "block(posit8es2,0,binary32)",
    "block(table(nf4),64,binary32)",
]
OTHERS = [
    "nvfp4",
    "block(e2m1fn,16x16,ue4m3fn)",
    "block(e5m10,16,ue4m3fn)",
    "bfp(8,32,e8)",
    "bfp(4,5,e3);carry=raise",
    "block(fixed9.3,0,e2m0fnu);clamp=full",
    "block(e5m2,all,e8m0fnu);flush=block",
    "block(e4m3fn,4x8,e5m0fnu);specials=element",
    "block(takum16,32,e8m0fnu)",
    "block(table(-2,-1,0,0.5,3),16,e8m0fnu)",
]


def sizes(shape, seed=0, spread=30):
    """Numbers of many sizes; some end a block's range, or lie between two elements."""
    random = np.random.default_rng(seed)
    x = np.ldexp(random.normal(size=shape), random.integers(-spread, spread, (*shape[:-1], 1)))
    ties = random.random(shape) < 0.3
    x[ties] = np.ldexp(random.integers(-31, 32, ties.sum()), random.integers(-6, 4, ties.sum()))
    return x


def alike(there, here):
    """Blocks on a GPU and on this machine: codes, scales, and what was counted."""
    assert there.device == "cuda" and here.device == "cpu"
    assert there.shape == here.shape and there.format == here.format and there.axis == here.axis
    assert same(there.elements, here.elements) and same(there.scales, here.scales)
    told = [(x.tensor_scale, x.clamped, x.nan_blocks) for x in (there, here)]
    assert told[0] == told[1]
    return True


def brought(x):
    return ww.view(x).to_device("cuda")


@pytest.mark.parametrize("format", [*(f"{f};scale={rule}" for f in MX for rule in RULES), *OTHERS])
def test_blocks_are_those_of_this_machine(format):
    axes = (-1, 0) if "," not in format or "x" not in format and "all" not in format else (-1,)
    for shape, axis, dtype in itertools.product(
        ((3, 70), (37, 2, 33)), axes, (np.float32, np.float64)
    ):
        x = sizes(shape).astype(dtype)
        for how in ({}, {"rounding": "rup"}, {"rounding": "sr5", "seed": 3}):
            here = ww.blocks(x, format, axis=axis, **how)
            assert alike(ww.blocks(brought(x), format, axis=axis, **how), here), (shape, how)


@pytest.mark.parametrize("format", TILES)
def test_tiles_are_those_of_this_machine(format):
    for shape, dtype in itertools.product(((2, 130, 257), (1, 5)), (np.float32, np.float64)):
        x = sizes(shape, spread=3).astype(dtype)
        for how in ({}, {"rounding": "rdn"}, {"rounding": "sr9", "seed": 5}):
            assert alike(ww.blocks(brought(x), format, **how), ww.blocks(x, format, **how))


def test_quotients_past_binary32_saturate():
    x = sizes((9, 64), spread=3).astype(np.float32) * np.float32(1e-6)
    format = "block(bfloat16,16,binary32)"
    assert alike(ww.blocks(brought(x), format), ww.blocks(x, format))
    assert ww.blocks(x, format).clamped > 0


def least_and_largest(dtype):
    """Blocks of 32 of zeros, subnormals, the largest numbers, and one magnitude each."""
    ends = np.finfo(dtype)
    tiny, most = ends.smallest_subnormal, ends.max
    x = np.zeros((40, 32), dtype)
    x[1, 5], x[2, 1], x[3], x[4, ::2] = tiny, -tiny, ends.tiny, -0.0
    x[5, 0], x[6, 31], x[7], x[8, 3] = most, -most, 1 - ends.epsneg, ends.tiny * 3
    powers = np.ldexp(dtype(1), np.linspace(ends.minexp - 5, ends.maxexp - 1, 31).astype(int))
    x[9:, 0] = powers
    x[9:, 1] = powers * dtype(0.7499)
    return x


@pytest.mark.parametrize("format", [*(f"{f};scale={rule}" for f in MX for rule in RULES), *OTHERS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_subnormals_and_the_largest_numbers(format, dtype):
    x = least_and_largest(dtype)
    given = {"tensor_scale": 1} if "ue4m3" in format or format == "nvfp4" else {}
    assert alike(ww.blocks(brought(x), format, **given), ww.blocks(x, format, **given))
    near = x[np.abs(x).max(1) < 1e30]
    assert alike(ww.blocks(brought(near), format), ww.blocks(near, format))


@pytest.mark.parametrize(
    "format", [*MX, *(f"{f};specials=element" for f in MX), "block(e5m2,3x8,e8m0fnu);flush=block"]
)
def test_nan_and_infinity_are_their_blocks_or_their_elements(format):
    x = sizes((4, 96), spread=3).astype(np.float32)
    x[0, 3], x[0, 40], x[1, :2], x[2, 64:] = np.nan, np.inf, (-np.inf, -np.nan), np.nan
    there, here = ww.blocks(brought(x), format), ww.blocks(x, format)
    assert alike(there, here)
    for to in ("binary32", "binary64"):
        assert same(there.dequantise(to), here.dequantise(to))


@pytest.mark.parametrize("format", ["nvfp4", "bfp(8,32,e8)", "block(e4m3fn,2x16,binary32)"])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_the_first_number_without_a_code_is_named(format, wrong):
    x = np.ones((5, 70), np.float32)
    x[2, 3] = x[1, 66] = x[4, 1] = wrong
    said = rf"x: element \[1, 66\] is {wrong}, which (nvfp4|block|bfp)"
    for numbers in (x, brought(x)):
        with pytest.raises(ValueError, match=said):
            ww.blocks(numbers, format)


def test_a_scale_of_the_tensor_is_found_or_given():
    x = sizes((6, 64), spread=4).astype(np.float32)
    for how in ({}, {"tensor_scale": np.float32(0.1)}, {"tensor_scale": 3, "rounding": "rtz"}):
        for arithmetic in ("exact", "f32"):
            there = ww.blocks(brought(x), "nvfp4", arithmetic=arithmetic, **how)
            here = ww.blocks(x, "nvfp4", arithmetic=arithmetic, **how)
            assert alike(there, here) and same(there.dequantise(), here.dequantise())
    assert alike(ww.blocks(brought(x * 0), "nvfp4"), ww.blocks(x * 0, "nvfp4"))
    with pytest.raises(ValueError, match="takes a tensor scale past binary32's range"):
        ww.blocks(brought(np.full((1, 16), 1e300)), "nvfp4")
    with pytest.raises(ValueError, match="takes a scale past binary32's range"):
        ww.blocks(brought(np.full((1, 16), 3.4e38, np.float32)), "block(fixed8.7,16,binary32)")


@pytest.mark.parametrize("format", [*MX, "nvfp4", "block(e5m2,16,ue4m3fn)"])
def test_all_codes_under_all_scales_are_read_as_on_this_machine(format):
    f = ww.BlockFormat(format)
    scales = np.arange(0x7F if f._core.takes_tensor_scale else 256, dtype=np.uint8)[:, None]
    codes = np.arange(1 << f.element.width, dtype=np.uint8)
    elements = np.broadcast_to(np.resize(codes, 256), (len(scales), 256))
    given = {"tensor_scale": np.float32(1.7e-38)} if f._core.takes_tensor_scale else {}
    here = ww.Blocks.of(elements, np.repeat(scales, 256 // f.block, 1), f, **given)
    there = here.to_device("cuda")
    assert there.to_device("cpu").elements.bits is not here.elements.bits
    for to in ("binary32", "binary64"):
        assert same(there.dequantise(to), here.dequantise(to))
    assert np.array_equal(there.to_float64(), here.to_float64(), equal_nan=True)
    assert np.array_equal(there.T.to_float32(), here.T.to_float32(), equal_nan=True)


@pytest.mark.parametrize("unit", ["blackwell.mxfp8", "blackwell.mxfp4", "blackwell.nvfp4"])
def test_products_take_the_scales_of_blocks_there(unit):
    u = ww.Unit(unit)
    format = ww.BlockFormat.of(u.a, u.scale_block, u.scale_format)
    a, b = sizes((5, 128), 1, 2).astype(np.float32), sizes((128, 3), 2, 2).astype(np.float32)
    c = ww.array(sizes((5, 3), 3, 2), u.c)
    here = ww.blocks(a, format), ww.blocks(b, format, axis=0)
    there = ww.blocks(brought(a), format), ww.blocks(brought(b), format, axis=0)
    for how in ({}, {"flags": True}):
        wanted, got = ww.matmul(*here, unit=u, **how), ww.matmul(*there, unit=u, **how)
        if how:
            assert np.array_equal(got[1], wanted[1])
            wanted, got = wanted[0], got[0]
        assert same(got, wanted)
    assert same(ww.matmul(*there, c=c.to_device("cuda"), unit=u), ww.matmul(*here, c=c, unit=u))
    assert same(ww.matmul(there[1].T, there[0].T, unit=u), ww.matmul(here[1].T, here[0].T, unit=u))
    assert same(ww.dot(there[0], there[1].T[1], unit=u), ww.dot(here[0], here[1].T[1], unit=u)) or (
        unit == "blackwell.nvfp4"
    )
    with pytest.raises(TypeError, match="a lies on cuda and b on cpu"):
        ww.matmul(there[0], here[1], unit=u)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_of_other_libraries_are_quantised_where_they_lie(dtype):
    x = sizes((8, 96), spread=2).astype(dtype)
    for view in (np.s_[:], np.s_[::-2, 1::3], np.s_[3]):
        there = ww.blocks(Interface(x[view]), "mxfp4")
        assert alike(there, ww.blocks(x[view], "mxfp4"))
        tiles = ww.blocks(Interface(x[:, 1:]), "block(e4m3fn,2x8,binary32)")
        assert alike(tiles, ww.blocks(x[:, 1:], "block(e4m3fn,2x8,binary32)"))


@pytest.mark.parametrize("format", ["bfloat16", "e4m3fn", "posit16es2", "fixed12.4"])
def test_numbers_of_any_format_that_binary64_holds(format):
    x = ww.array(sizes((5, 64), spread=2), format)
    assert alike(ww.blocks(x.to_device("cuda"), "mxfp8_e4m3"), ww.blocks(x, "mxfp8_e4m3"))


def test_blocks_of_codes_parts_and_other_formats():
    x = sizes((6, 64), spread=3).astype(np.float32)
    here, there = ww.blocks(x, "mxfp8_e4m3"), ww.blocks(brought(x), "mxfp8_e4m3")
    made = ww.Blocks.of(Interface(here.elements.bits), Interface(here.scales.bits), "mxfp8_e4m3")
    assert same(made.elements, here.elements) and same(made.scales, here.scales)
    assert same(made[2:4, 32:].dequantise(), here[2:4, 32:].dequantise())
    assert alike(there.requantise("nvfp4", axis=0), here.requantise("nvfp4", axis=0))
    assert same(ww.array(there, "e5m10"), ww.array(here, "e5m10"))
    assert there.nbytes == here.nbytes and repr(there) == repr(here)
    assert str(there.card()) == str(here.card()) and (there == here).all()
    small = ww.blocks(x, "nvfp4")
    signed = ww.array(small.scales.to_float64(), "e4m3fn").to_device("cuda")
    again = ww.Blocks.of(small.elements.to_device("cuda"), signed, "nvfp4")
    assert same(again.scales, small.scales)
    assert alike(here.to_device("cuda"), here) and alike(there, there.to_device("cpu"))
    for copied in (pickle.loads(pickle.dumps(there)), copy.deepcopy(there)):
        assert copied.device == "cuda" and alike(copied, here)


@pytest.mark.parametrize("f", ["e2m1fn", "e2m3fn", "e4m3fn", "fixed3.0", "e5m10", "e4m6", "e8m54"])
def test_packed_codes_are_those_of_this_machine_and_come_back(f):
    for shape in ((3, 1), (33,), (2, 3, 8), (2, 0)):
        here = ww.array(np.linspace(-3, 3, int(np.prod(shape))).reshape(shape), f)
        there, packed = ww.pack(here.to_device("cuda")), ww.pack(here)
        assert there.device == "cuda" and np.array_equal(there.to_device("cpu").bits, packed)
        for given in (there, Interface(packed)):
            assert same(ww.unpack(given, f, shape[-1]), here)
    turned = ww.array(np.eye(9, 5), f)
    assert np.array_equal(
        ww.pack(turned.to_device("cuda").T).to_device("cpu").bits, ww.pack(turned.T)
    )
    with pytest.raises(ValueError, match="n = 99: so many codes"):
        ww.unpack(there, f, 99)
    with pytest.raises(TypeError, match="data holds e4m3fn, shape .* wanted"):
        ww.unpack(ww.array([1.0], "e4m3fn").to_device("cuda"), f)


def test_what_a_gpu_does_not_take_is_said_with_the_way_out():
    x = brought(np.ones((2, 64), np.float32))
    for wrong, words in (
        (lambda: ww.blocks(x, "mxfp4", like="microxcaling"), r"x.to_device\('cpu'\) brings it"),
        (lambda: ww.blocks(x.astype("e15m112"), "mxfp4"), r"x.to_device\('cpu'\) brings them here"),
        (lambda: ww.blocks(x[:, :0], "mxfp4"), "an empty block has no scale"),
        (lambda: ww.blocks(x[0, 0], "mxfp4"), "a scale is shared along an axis"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
    there, here = ww.blocks(x, "mxfp4"), ww.blocks(np.ones((2, 64)), "mxfp4")
    with pytest.raises(TypeError, match=r"on cpu; scales.to_device\('cuda'\) brings it there"):
        ww.Blocks.of(there.elements, here.scales, "mxfp4")
