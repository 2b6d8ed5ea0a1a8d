"""Whole quantised layers against loops over the oracle."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import affine_ref as page  # noqa: E402

VARIANTS = ("exact", "gemmlowp", "ruy", "single", "q31", "rndnu", "fp32")


def layer(rng, shape_x, shape_w, per_channel, symmetric=True):
    x = ww.affine(rng.standard_normal(shape_x).astype(np.float32), range=(-2, 2.5))
    axis = 0 if per_channel else None
    w = ww.affine(rng.standard_normal(shape_w).astype(np.float32), 8, symmetric, axis)
    return x, w, rng.standard_normal(shape_w[0])


def outputs(x, w, bias, rows, columns, variant, scale, zero, span):
    """Of lists of codes: a row of x's and a row of w's for each output channel."""
    sx, sy = Fraction(float(x.scale)), Fraction(float(scale))
    scales = np.broadcast_to(w.scale, w.shape[0]).tolist()
    zeros = np.broadcast_to(w.zero_point, w.shape[0]).tolist()
    steps = [round(Fraction(b) / (sx * Fraction(s))) for b, s in zip(bias, scales, strict=True)]
    results = []
    for row in rows:
        results.append([])
        for j, column in enumerate(columns):
            acc = page.igemm([row], [[c] for c in column], int(x.zero_point), zeros[j], [steps[j]])[
                0
            ][0]
            sw = Fraction(scales[j])
            m = page.f32_div(page.f32(sx * sw), sy) if variant == "fp32" else sx * sw / sy
            results[-1].append(page.requantize(acc, m, zero, *span, variant))
    return results


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("per_channel", [False, True])
def test_a_linear_layer_is_its_steps(variant, per_channel):
    rng = np.random.default_rng(VARIANTS.index(variant))
    x, w, bias = layer(rng, (5, 12), (6, 12), per_channel)
    got = ww.affine_linear(x, w, bias, scale=0.05, zero_point=130, variant=variant)
    scale = np.float32(0.05)
    want = outputs(x, w, bias, x.codes.tolist(), w.codes.tolist(), variant, scale, 130, (0, 255))
    assert got.codes.tolist() == want and got.codes.dtype == np.uint8
    assert got.scale == scale and got.zero_point == 130 and got.format == "affine(uint8)"
    near = x.to_float64() @ w.to_float64().T + bias
    inside = (got.codes > 0) & (got.codes < 255)
    assert inside.mean() > 0.5 and np.abs(got.to_float64() - near)[inside].max() < 0.06


def test_fp32_rounds_the_product_of_the_scales_first():
    """M is f32(f32(sx sw) / sy): sums that tell it from sx sw / sy rounded once."""
    rng, told = np.random.default_rng(9), 0
    rows, columns = [[255, 254]], [[127, 126]]
    for _ in range(60):
        sx, sw = rng.random(2).astype(np.float32)
        x = ww.affine([[255 * sx, 254 * sx]], scale=sx)
        w = ww.affine([[127 * sw, 126 * sw]], 8, True, scale=sw)
        sy = np.float32(sx * sw / 2**10 * rng.random())
        how = {"scale": sy, "bits": 32, "signed": True, "zero_point": 0}
        got = ww.affine_linear(x, w, variant="fp32", **how)
        ends = (-(2**31), 2**31 - 1)
        assert got.codes.tolist() == outputs(x, w, [0], rows, columns, "fp32", sy, 0, ends)
        once = Fraction(float(sx)) * Fraction(float(sw)) / Fraction(float(sy))
        told += got.codes[0, 0] != ww.requantize(255 * 127 + 254 * 126, once, 0, *ends, "fp32")
    assert told > 5


def test_a_linear_layer_takes_leading_axes_and_other_codes():
    rng = np.random.default_rng(3)
    x, w, bias = layer(rng, (2, 3, 8), (4, 8), True, symmetric=False)
    got = ww.affine_linear(x, w, bias, scale=0.1, bits=4, scheme="symmetric")
    rows = x.codes.reshape(6, 8).tolist()
    want = outputs(x, w, bias, rows, w.codes.tolist(), "exact", np.float32(0.1), 0, (-7, 7))
    assert got.codes.reshape(6, 4).tolist() == want and got.format == "affine(int4,symmetric)"
    given = np.int32([1, -2, 3, 4])
    steps = np.array([Fraction(int(b)) * Fraction(float(x.scale)) * Fraction(float(s))
                      for b, s in zip(given, w.scale, strict=True)], object)  # fmt: skip
    as_steps = ww.affine_linear(x, w, given, scale=0.1, zero_point=9)
    as_numbers = ww.affine_linear(x, w, steps, scale=0.1, zero_point=9)
    assert (as_steps.codes == as_numbers.codes).all()
    saturated = ww.affine_linear(x, w, bias, scale=0.1, zero_point=9, overflow="saturate")
    assert (saturated.codes == ww.affine_linear(x, w, bias, scale=0.1, zero_point=9).codes).all()


@pytest.mark.parametrize("stride, padding, groups", [(1, 0, 1), (2, 1, 1), ((1, 2), (2, 1), 2)])
@pytest.mark.parametrize("variant", ["exact", "ruy", "fp32"])
def test_a_convolution_is_its_windows(stride, padding, groups, variant):
    rng = np.random.default_rng(groups)
    x, w, bias = layer(rng, (2, 4, 6, 7), (6, 4 // groups, 3, 2), True, symmetric=False)
    got = ww.affine_conv2d(
        x, w, bias, scale=0.07, zero_point=100, stride=stride, padding=padding, groups=groups,
        variant=variant,
    )  # fmt: skip
    (down, along) = stride if isinstance(stride, tuple) else (stride, stride)
    (above, beside) = padding if isinstance(padding, tuple) else (padding, padding)
    zero = int(x.zero_point)
    height, width = (6 + 2 * above - 3) // down + 1, (7 + 2 * beside - 2) // along + 1
    assert got.shape == (2, 6, height, width)

    def code(n, c, i, j):
        inside = 0 <= i < 6 and 0 <= j < 7
        return int(x.codes[n, c, i, j]) if inside else zero

    per_group = 6 // groups
    for n in range(2):
        for g in range(groups):
            mine = range(g * per_group, (g + 1) * per_group)
            rows = [
                [code(n, g * (4 // groups) + c, i * down + r - above, j * along + s - beside)
                 for c in range(4 // groups) for r in range(3) for s in range(2)]
                for i in range(height) for j in range(width)
            ]  # fmt: skip
            columns = [w.codes[f].reshape(-1).tolist() for f in range(6)]
            want = outputs(x, w, bias, rows, columns, variant, np.float32(0.07), 100, (0, 255))
            part = got.codes[n, list(mine)].reshape(per_group, -1).T
            assert part.tolist() == [[row[f] for f in mine] for row in want]


X = ww.affine(np.ones((2, 3)), scale=1.0)
W = ww.affine(np.ones((4, 3)), 8, True, scale=1.0)
BAD = [
    ({"w": ww.affine(np.ones((4, 2)), 8, True)}, r"x has shape \(2, 3\) and w \(4, 2\)"),
    (
        {"w": ww.affine(np.ones((4, 3)), 8, True, axis=1)},
        "sums of products need one scale of w, or",
    ),
    ({"x": ww.affine(np.ones((2, 3)), axis=0)}, "sums of products need one scale of x"),
    ({"scale": 0.0}, "scale = 0.0: a scale is finite and above zero"),
    ({"zero_point": 300}, "zero_point = 300: codes of affine"),
    ({"bias": [1.0]}, r"bias has shape \(1,\); one for each output is wanted, \(4,\)"),
    ({"bias": [1e20] * 4}, "past 32 bits; take larger scales"),
    ({"bias": [float("nan")] * 4}, "bias holds what is no finite number"),
    ({"variant": "tf"}, "variant = 'tf': it may be 'exact'"),
    ({"w": ww.affine(np.ones((4, 3, 1)), 8, True)}, "2 axes are wanted"),
]


@pytest.mark.parametrize("how, message", BAD)
def test_bad_layers_are_named(how, message):
    given = {"x": X, "w": W, "scale": 1.0} | how
    with pytest.raises(ValueError, match=message):
        ww.affine_linear(given.pop("x"), given.pop("w"), given.pop("bias", None), **given)


IMAGES = ww.affine(np.ones((1, 2, 4, 4)), scale=1.0)
FILTERS = ww.affine(np.ones((4, 2, 3, 3)), 8, True, scale=1.0)
BAD_WINDOWS = [
    ({"groups": 2}, "x has 2 channels and w 2 in 4 filters; with groups = 2 x has 4 channels"),
    ({"groups": 0}, "groups = 0: it may be 1 or more"),
    ({"stride": 0}, "stride = 0: an integer from 1 is wanted, or two"),
    ({"padding": -1}, "padding = -1: an integer from 0"),
    ({"stride": (1, 2, 3)}, r"stride = \(1, 2, 3\)"),
]


@pytest.mark.parametrize("how, message", BAD_WINDOWS)
def test_bad_convolutions_are_named(how, message):
    with pytest.raises(ValueError, match=message):
        ww.affine_conv2d(IMAGES, FILTERS, scale=1.0, **how)
    with pytest.raises(ValueError, match="a filter is no larger than x with its padding"):
        small = ww.affine(np.ones((1, 2, 2, 2)), scale=1.0)
        ww.affine_conv2d(small, FILTERS, scale=1.0)
    with pytest.raises(TypeError, match="x is ndarray; an Affine is wanted"):
        ww.affine_linear(np.ones((2, 3)), W, scale=1.0)


def test_a_layer_says_what_it_clamped():
    x = ww.affine([[1.0, -1.0]], scale=1 / 64, zero_point=128)
    w = ww.affine([[1.0, 0.0], [0.0, 1.0]], symmetric=True)
    assert ww.affine_linear(x, w, scale=1 / 64, zero_point=128).clamped == 0
    z = ww.affine_linear(x, w, scale=1 / 1024, zero_point=0)
    assert (z.codes.tolist(), z.clamped) == ([[255, 0]], 2)


def test_a_bias_is_steps_or_numbers():
    x, w = ww.affine([[1.0]], scale=0.5, zero_point=0), ww.affine([[1.0]], symmetric=True)
    for bias in ([1], np.int64([1]), np.uint8([1])):
        with pytest.raises(TypeError, match=r"bias holds u?int\d+: .*np.int32\(bias\)"):
            ww.affine_linear(x, w, bias, scale=1.0)
