"""Convolutions against an explicit loop of dot products, one an output."""

import itertools

import numpy as np
import pytest
import widthwise as ww


def drawn(shape, format, seed=0):
    return ww.array(np.random.default_rng(seed).standard_normal(shape), format)


def loop(x, w, u, c, stride, padding, dilation, groups, seed=0):
    """Codes and flags of a convolution, window by window."""
    images, _, height, width = x.shape
    filters, own, kh, kw = w.shape
    spread = [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2]
    padded = np.pad(x.bits, spread)
    oh, ow = (
        (n + 2 * p - (k - 1) * d - 1) // s + 1
        for n, k, s, p, d in zip((height, width), (kh, kw), stride, padding, dilation, strict=True)
    )
    windows = np.empty((images, filters, oh, ow, own * kh * kw), padded.dtype)
    for i, f, y, z in itertools.product(range(images), range(filters), range(oh), range(ow)):
        first = f // (filters // groups) * own
        rows, columns = y * stride[0], z * stride[1]
        windows[i, f, y, z] = padded[
            i,
            first : first + own,
            rows : rows + (kh - 1) * dilation[0] + 1 : dilation[0],
            columns : columns + (kw - 1) * dilation[1] + 1 : dilation[1],
        ].ravel()
    weights = ww.from_bits(w.bits.reshape(filters, 1, 1, -1), w.format)
    if c is not None:
        shape = (images, filters, oh, ow)
        bits = c.bits[:, None, None] if c.ndim == 1 else c.bits
        c = ww.from_bits(np.broadcast_to(bits, shape).copy(), c.format)
    z, raised = ww.dot(
        ww.from_bits(windows, x.format), weights, unit=u, c=c, engine="reference", seed=seed,
        flags=True,
    )  # fmt: skip
    return z.bits, raised


def check(x, w, unit, c=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, **others):
    u = ww.Unit(unit)
    want, flags = loop(x, w, u, c, stride, padding, dilation, groups, others.get("seed", 0))
    steps = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    z = ww.conv2d(x, w, unit=u, c=c, **steps, **others)
    assert z.shape == want.shape and (z.bits == want).all()
    z, raised = ww.conv2d(x, w, unit=u, c=c, flags=True, **steps, seed=others.get("seed", 0))
    assert (z.bits == want).all() and (raised == flags).all()


def test_every_small_shape_is_its_loop():
    cases = 0
    shapes = itertools.product([3, 4], [4, 5], [1, 2, 3], [1, 3], [1, 2], [0, 1], [1, 2])
    for h, w, kh, kw, stride, padding, dilation in shapes:
        if (kh - 1) * dilation >= h + 2 * padding or (kw - 1) * dilation >= w + 2 * padding:
            continue
        x, weights = drawn((2, 4, h, w), "e5m10", cases), drawn((6, 2, kh, kw), "e5m10", cases + 1)
        z = ww.conv2d(
            x, weights, unit="mac(e5m10)", stride=stride, padding=padding, dilation=dilation,
            groups=2,
        )  # fmt: skip
        pairs = [(n, n) for n in (stride, padding, dilation)]
        want, _ = loop(x, weights, ww.Unit("mac(e5m10)"), None, *pairs, 2)
        assert z.shape == want.shape and (z.bits == want).all()
        cases += 1
    assert cases == 192 - (12 + 16 - 4)  # of which too wide, too high, both


@pytest.mark.parametrize(
    "unit",
    [
        "mac(e5m10)",
        "fma(e4m3fn, b=e5m2, sum=e8m7)",  # the operands are not alike
        "hopper.e4m3.f32",
        "kahan(e5m10)",
        "mac(e4m3fn, b=e5m10, sum=e5m10:sr9, final=e5m2:sr3)",
        "kulisch(e5m10)",
    ],
)
def test_units_steps_bias_and_threads(unit):
    u = ww.Unit(unit)
    x, w = drawn((2, 6, 9, 11), u.a, 1), drawn((9, 2, 3, 2), u.b, 2)
    how = {"stride": (2, 1), "padding": (1, 3), "dilation": (1, 2), "groups": 3}
    shape = ww.conv2d(x, w, unit=u, **how).shape
    assert shape == (2, 9, 5, 15)
    for c in (None, drawn(9, u.c, 3), drawn(shape, u.c, 3)):
        for threads in (1, 3):
            check(x, w, unit, c, **how, threads=threads, seed=5)


def test_a_panel_at_a_time_gives_the_same_bits():
    # One image's windows take more than a panel: e5m10 2 MB, binary128 more than that.
    x, w = drawn((1, 16, 80, 80), "e5m10", 1), drawn((5, 16, 3, 3), "e5m10", 2)
    for unit in ("mac(e5m10)", "mac(e5m10, sum=e5m10:sr7)"):
        check(x, w, unit, drawn(5, "e5m10", 3), padding=(1, 1), seed=9, threads=2)
    x, w = drawn((1, 8, 40, 40), "binary128", 1), drawn((2, 8, 5, 5), "binary128", 2)
    z = ww.conv2d(x, w, unit="fma(binary128)")
    windows = np.lib.stride_tricks.sliding_window_view(x.bits, (5, 5), axis=(2, 3))
    window = ww.from_bits(np.moveaxis(windows[0, :, 17, 20], 1, -1).copy(), "binary128")
    assert (ww.sum(window.ravel()[:0], unit="fma(binary128)").bits == 0).all()
    want = ww.dot(window.ravel(), w[1].ravel(), unit="fma(binary128)")
    assert (z[0, 1, 17, 20].bits == want.bits).all()


def test_any_strides_of_x_and_one_image():
    x, w = drawn((3, 2, 7, 8), "e5m10", 1), drawn((4, 2, 2, 3), "e5m10", 2)
    turned = x[:, :, ::-1, ::2]
    copied = ww.from_bits(np.ascontiguousarray(turned.bits), "e5m10")
    z = ww.conv2d(turned, w, unit="mac(e5m10)", padding=1)
    assert (z.bits == ww.conv2d(copied, w, unit="mac(e5m10)", padding=1).bits).all()
    one = ww.conv2d(turned[1], w, unit="mac(e5m10)", padding=1, c=z[1])
    assert one.shape == z.shape[1:]
    want = ww.conv2d(turned[1:2], w, unit="mac(e5m10)", padding=1, c=z[1:2])
    assert (one.bits == want.bits[0]).all()


def test_a_kernel_of_one_is_a_matrix_product():
    x, w = drawn((2, 5, 4, 6), "e5m10", 1), drawn((3, 5, 1, 1), "e5m10", 2)
    z = ww.conv2d(x, w, unit="mac(e5m10)")
    want = ww.matmul(w.reshape(3, 5), x.reshape(2, 5, 24), unit="mac(e5m10)")
    assert (z.bits.reshape(2, 3, 24) == want.bits).all()


def test_conv1d_is_conv2d_of_height_one():
    x, w, c = drawn((3, 4, 20), "e5m10", 1), drawn((6, 2, 5), "e5m10", 2), drawn(6, "e5m10", 3)
    how = {"unit": "mac(e5m10)", "stride": 3, "padding": 4, "dilation": 2, "groups": 2}
    z, raised = ww.conv1d(x, w, c=c, flags=True, **how)
    assert z.shape == raised.shape == (3, 6, 7)
    wide = {**how, "stride": (1, 3), "padding": (0, 4), "dilation": (1, 2)}
    want, flags = ww.conv2d(x.reshape(3, 4, 1, 20), w.reshape(6, 2, 1, 5), c=c, flags=True, **wide)
    assert (z.bits == want.bits[:, :, 0]).all() and (raised == flags[:, :, 0]).all()
    assert (ww.conv1d(x[1], w, c=z[1], **how).bits == ww.conv1d(x, w, c=z, **how).bits[1]).all()


def test_an_own_multiplier_gets_its_operands_in_order():
    x, w = drawn((1, 2, 5, 5), "e5m10", 1), drawn((2, 2, 2, 2), "e5m10", 2)
    seen = []

    def first_only(a, b):
        seen.append((a, b))
        return a << 10

    z = ww.conv2d(x, w, unit="mac(e5m10)", multiplier=first_only)
    window = ww.from_bits(x.bits[0, :, :2, :2].ravel(), "e5m10")
    want = ww.dot(window, w[0].ravel(), unit="mac(e5m10)", multiplier=lambda a, b: a << 10)
    assert z[0, 0, 0, 0].bits == want.bits and seen


def test_nothing_gives_nothing():
    x, w = ww.zeros((0, 2, 5, 5), "e5m10"), ww.zeros((3, 2, 2, 2), "e5m10")
    assert ww.conv2d(x, w, unit="mac(e5m10)").shape == (0, 3, 4, 4)
    x, w = ww.zeros((1, 2, 5, 5), "e5m10"), ww.zeros((0, 2, 2, 2), "e5m10")
    assert ww.conv2d(x, w, unit="mac(e5m10)").shape == (1, 0, 4, 4)
    x, w = ww.zeros((1, 0, 2, 2), "e5m10"), ww.zeros((2, 0, 1, 1), "e5m10")
    c = drawn(2, "e5m10")
    z = ww.conv2d(x, w, unit="mac(e5m10)", c=c)
    assert (z.bits == np.broadcast_to(c.bits[None, :, None, None], (1, 2, 2, 2))).all()


X, W = np.zeros((1, 4, 5, 5), np.uint16), np.zeros((6, 4, 3, 3), np.uint16)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: {"stride": 0}, r"stride = 0 along the height: it may be 1 to 2\^31 - 1"),
        (lambda: {"stride": (1, 2**31)}, "stride = 2147483648 along the width: it may be 1 to"),
        (lambda: {"padding": -1}, "padding = -1: it may be 0 to"),
        (lambda: {"padding": (1, 2, 3)}, "padding = .1, 2, 3.: one integer is wanted, or two"),
        (lambda: {"dilation": 0}, "dilation = 0 along the height: it may be 1 to"),
        (lambda: {"dilation": 3}, "w has a height of 3, which reaches over 7 with dilation = 3; x "
         "has a height of 5, 5 with padding = 0: pad more, or take a smaller kernel or dilation"),
        (lambda: {"groups": 0}, "groups = 0: it has to divide x's 4 channels and w's 6 filters"),
        (lambda: {"groups": 2}, "x has 4 channels, w takes 4 and groups = 2: w's second axis has "),
        (lambda: {"padding": 2**31 - 1}, "the result would have 1 x 6 x 42949672.. x 42949672.. "
         r"codes; 2\^60 are the most"),
        (lambda: {"c": np.zeros(5, np.uint16)}, r"c has shape .5,.; it wants .6,., a number for "
         r"each filter, or the result's, .1, 6, 3, 3."),
        (lambda: {"w": W[0]}, r"w has shape .4, 3, 3.; it wants 4 axes"),
        (lambda: {"x": X[0, 0]}, r"x has shape .5, 5.; it wants 4 axes, or 3 for one alone"),
        (lambda: {"w": np.zeros((4, 4, 6, 1), np.uint16)}, "w has a height of 6, which reaches "
         "over 6 with dilation = 1; x has a height of 5"),
        (lambda: {"engine": "gpu"}, "there is no such engine here"),
        (lambda: {"threads": 0}, "threads = 0"),
        (lambda: {"unit": "fma(e5m10, scale=e8m0fnu:32:term)"}, "convolutions have no scales"),
        (lambda: {"unit": "fma(e5m10, sum=e8m23)", "engine": "tensor"}, "'tensor' does not take"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, text):
    given = {"x": X, "w": W, "unit": "mac(e5m10)"} | call()
    with pytest.raises(ValueError, match=text):
        ww.conv2d(given.pop("x"), given.pop("w"), **given)


def test_padding_needs_a_zero():
    x, w = ww.from_bits(np.uint8([[[[127, 128]]]]), "e8m0fnu"), drawn((1, 1, 1, 2), "e5m10")
    unit = "mac(e8m0fnu, b=e5m10, c=e5m10, product=e8m23, sum=e8m23)"
    assert ww.conv2d(x, w, unit=unit).shape == (1, 1, 1, 1)
    with pytest.raises(ValueError, match="padding = 1: x is e8m0fnu, whose code 0 is no zero"):
        ww.conv2d(x, w, unit=unit, padding=(0, 1))


def test_steps_are_integers():
    with pytest.raises(TypeError, match="stride = 1.5: an integer is wanted"):
        ww.conv2d(X, W, unit="mac(e5m10)", stride=1.5)
