"""Affine integers of numbers that lie on a GPU, run as device_checks.py is."""

import itertools

import numpy as np
import pytest
import widthwise as ww
from device_checks import Interface, same

GROUPS = [
    {},
    {"axis": 0},
    {"axis": 1},
    {"axis": -1},
    {"block": 8},
    {"block": 5, "axis": 0},
    {"block": 0, "axis": 1},
    {"block": "2x5"},
]
CODES = [
    {},
    {"bits": 4, "symmetric": True},
    {"bits": 1},
    {"bits": 12, "scheme": "symmetric_full"},
    {"bits": 8, "signed": True},
    {"bits": 32},
]
MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd", "sr8", "sr40"]


def numbers(shape=(7, 5, 34), dtype=np.float32, seed=0):
    """Of many sizes, zeros of both signs and subnormals among them."""
    random = np.random.default_rng(seed)
    x = (random.normal(size=shape) * np.exp(random.normal(size=shape) * 3)).astype(dtype)
    x[0, 0, :4] = 0, -0.0, np.finfo(dtype).smallest_subnormal, -np.finfo(dtype).tiny
    x[1, 1] = np.round(x[1, 1] * 2) / 2  # ties of a scale of 1
    return x


def brought(x):
    return ww.view(x).to_device("cuda")


def alike(there, here):
    """Codes, scales, counts, and what they stand for."""
    assert there.device == "cuda" and here.device == "cpu" and there.format == here.format
    codes, spelled = there.to_device("cpu").codes, there.codes.to_device("cpu").bits
    assert np.array_equal(spelled, here.codes.astype(np.int64) & (1 << here.bits) - 1)
    assert codes.dtype == here.codes.dtype and np.array_equal(codes, here.codes)
    assert np.array_equal(there.scale, here.scale) and there.scale.dtype == here.scale.dtype
    assert np.array_equal(there.zero_point, here.zero_point)
    assert (there.clamped, there.nan) == (here.clamped, here.nan)
    for dtype in (np.float32, np.float64):
        assert same(there.dequantise(dtype), ww.view(here.dequantise(dtype)))
    return True


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("codes", CODES)
def test_codes_and_found_scales_are_those_of_this_machine(groups, codes):
    for dtype, scales in itertools.product((np.float32, np.float64), ("binary32", "binary64")):
        x, how = numbers(dtype=dtype), groups | codes | {"scale_format": scales}
        assert alike(ww.affine(brought(x), **how), ww.affine(x, **how))


@pytest.mark.parametrize("rounding", MODES)
def test_given_scales_and_all_modes_with_flags(rounding):
    x = numbers(dtype=np.float64)
    x[2, 0, :4] = np.nan, np.inf, -np.inf, 1e300
    for scale, zero in ((1, 3), (0.3, 255), (np.float32(1e-38), 0), (1e38, 128)):
        how = {"scale": scale, "zero_point": zero, "rounding": rounding, "seed": 7, "flags": True}
        (there, raised), (here, flags) = ww.affine(brought(x), **how), ww.affine(x, **how)
        assert alike(there, here) and np.array_equal(raised, flags)


@pytest.mark.parametrize("arithmetic", ["onnx", "torch", "torch_legacy"])
def test_the_orders_of_operations_of_engines(arithmetic):
    x = numbers()
    x[3, 1, :3] = np.nan, np.inf, -np.inf
    for how in ({"scale": 0.1, "zero_point": 9}, {"axis": 1, "scale": [0.1, 1e-40, 3, 4, 3e38]}):
        for dtype in (np.float32, np.float64):
            wide = x.astype(dtype)
            here = ww.affine(wide, arithmetic=arithmetic, **how)
            assert alike(ww.affine(brought(wide), arithmetic=arithmetic, **how), here)


def test_what_all_codes_stand_for():
    codes = np.arange(-128, 128).astype(np.int8)[:, None].repeat(9, 1)
    scales = np.float64([1e-45, 3e-39, 0.1, 1, 1 / 3, 7, 1e30, 3e38, 2.0**-126])
    for scale_format in ("binary32", "binary64"):
        here = ww.Affine(codes, scales, np.arange(9) * 11, axis=1, scale_format=scale_format)
        assert alike(here.to_device("cuda"), here)
    wide = np.int32([-(2**31), 2**31 - 1, 12345678, -87654321])
    here = ww.Affine(wide, 1 / 3, 2**31 - 1, scheme="asymmetric")
    assert alike(here.to_device("cuda"), here)


def test_parts_views_and_what_is_shown():
    x = numbers()
    there, here = ww.affine(brought(x), axis=1), ww.affine(x, axis=1)
    assert same(there[2:4, 1].dequantise(), ww.view(here[2:4, 1].dequantise()))
    assert same(there.T.dequantise(), ww.view(np.ascontiguousarray(here.T.dequantise())))
    assert repr(there).startswith("Affine(DeviceArray((7, 5, 34), uint8, cuda), affine(uint8")
    assert str(there.card()) == str(here.card()) and there.nbytes == here.nbytes
    assert np.array_equal(there.packed().to_device("cpu").bits, here.packed())
    assert (there == here).all()
    assert np.array_equal(there.to_float64(), here.to_float64())
    assert (there.to_fractions() == here.to_fractions()).all()
    assert alike(here.to_device("cuda"), here)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_of_other_libraries_are_quantised_where_they_lie(dtype):
    x = np.random.default_rng(2).normal(size=(8, 6)).astype(dtype)
    for view in (np.s_[:], np.s_[::-2, 1::3], np.s_[3]):
        assert alike(ww.affine(Interface(x[view]), axis=0), ww.affine(x[view], axis=0))
    other = ww.array(x, "posit16es2")
    assert alike(ww.affine(other.to_device("cuda")), ww.affine(other))
    blocks = ww.blocks(x, "mxfp8_e4m3")
    assert alike(ww.affine(blocks.to_device("cuda")), ww.affine(blocks))


def test_what_has_no_range_or_is_for_this_machine_is_said():
    x = np.ones((2, 3), np.float32)
    for wrong in (np.nan, np.inf, -np.inf):
        x[1, 1] = wrong
        for how in ({}, {"axis": 0}, {"block": "1x2"}):
            said = []
            for numbers_given in (x, brought(x)):
                with pytest.raises(ValueError, match="which no range from data has") as why:
                    ww.affine(numbers_given, **how)
                said.append(str(why.value))
            assert said[0] == said[1]
    z, drawn = ww.affine(brought(x), scale=1), {"rounding": "sr4", "random": 1}
    for words, kind, wrong in (
        (r"'cpu'\) brings it", ValueError, lambda: ww.affine(brought(x), calibrate="mse")),
        ("bring them here", ValueError, lambda: ww.affine(brought(x), scale=1, **drawn)),
        (r"a lies on cuda.*a.to_device\('cpu'\)", TypeError, lambda: ww.integer_matmul(z, z)),
        (r"codes lie on cuda.*codes.to_device", TypeError, lambda: ww.Affine(z.codes, 1)),
        (
            "calibration is for numbers of this machine",
            ValueError,
            lambda: ww.calibrate(brought(x)),
        ),
        ("x.codes its codes", TypeError, lambda: np.asarray(z)),
        ("x lies on cuda, and layers", TypeError, lambda: ww.affine_linear(z, z, scale=1)),
    ):
        with pytest.raises(kind, match=words):
            wrong()
