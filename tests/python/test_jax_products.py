"""widthwise.jax.matmul and conv: forward and both gradients have the bits of ww's products.

XLA compiles for each shape: --long takes more of them.
"""

import os

import jax_here
import numpy as np
import pytest
import widthwise as ww
from jax_here import jax, jnp, wj
from same_bits import drawn, same, whole

pytestmark = jax_here.NEEDED
way = jax_here.way

# The unit, and the one of gradients.
UNITS = [
    ("mac(e5m10)", "mac(e5m10)"),
    ("mac(e4m3fn, sum=e5m10)", "mac(e5m2, b=e4m3fn, sum=e5m10)"),
    ("hopper.e4m3.f32", "mac(e5m2, b=e4m3fn, sum=e8m23)"),
    ("hopper.f16.f32", "mac(bfloat16, sum=binary32)"),
    ("fma(e8m7)", "mac(e8m7)"),
    ("kulisch(e4m3fn)", "kulisch(e5m10)"),
    ("mac(fixed6.6)", "mac(e5m10)"),
    ("mac(posit8es2)", "mac(posit16es1)"),
    ("mac(binary32)", "mac(e6m9)"),
    ("mac(e4m3fn, sum=e4m3fn:rtz)", "mac(e5m2, sum=e5m2:rup)"),
]  # fmt: skip


LONG = "WIDTHWISE_LONG" in os.environ
SHAPES = [((3,), (3, 2)), ((4, 2, 3), (3,)), ((5, 1, 2, 3), (4, 3, 2))]
SHAPES += [((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3, 2)), ((0, 3), (3, 2))] if LONG else []


def operands(unit, a, b):
    u = ww.Unit(unit)
    return ww.array(a, u.a), ww.array(b, u.b)


def ours(unit, a, b, **how):
    x, y = operands(unit, np.asarray(a), np.asarray(b))
    return ww.matmul(x, y, unit=unit, **how)


@pytest.mark.parametrize("unit, backward", UNITS)
def test_jit_of_vmap_of_grad_is_ww(unit, backward):
    a, b, up = drawn(3, 4, 9), drawn(9, 5, seed=1), drawn(3, 4, 5, seed=2)

    def loss(a, b, g):
        z = wj.matmul(a, b, unit=unit, backward_unit=backward)
        return (z * g).sum(), z

    grads = jax.grad(loss, (0, 1), has_aux=True)
    (to_a, to_b), z = jax.jit(jax.vmap(grads, (0, None, 0)))(a, b, up)
    for i in range(3):
        same(z[i], ours(unit, a[i], b))
        same(to_a[i], ours(backward, up[i], b.T))
        same(to_b[i], ours(backward, up[i].T, a[i]).to_float64().T)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_both_ways_give_the_same_bits(way, dtype):
    a, b = jnp.asarray(drawn(3, 4, 9), dtype), jnp.asarray(drawn(9, 5, seed=1), dtype)
    unit = "mac(e4m3fn, sum=bfloat16:sr8)"
    z = jax.jit(jax.vmap(lambda a, s: wj.matmul(a, b, unit=unit, seed=s)))(a, jnp.arange(3))
    wide = [np.asarray(x.astype(jnp.float32)) for x in (a, b)]
    for i in range(3):
        same(z[i].astype(jnp.float32), ours(unit, wide[0][i], wide[1], seed=i))


def test_units_that_scale_blocks():
    a, b = drawn(4, 64), drawn(64, 3, seed=1)
    x, y = ww.blocks(a, "mxfp8_e4m3", axis=-1), ww.blocks(b, "mxfp8_e4m3", axis=0)
    unit = "blackwell.mxfp8"
    same(wj.matmul(a, b, unit=unit), ww.matmul(x, y, unit=unit))
    batch = jax.vmap(lambda v: wj.matmul(v, b, unit=unit))(np.stack([a, 2 * a]))
    same(batch[0], ww.matmul(x, y, unit=unit))
    assert wj.matmul(a[:, :0], b[:0], unit=unit).tolist() == np.zeros((4, 3)).tolist()


@pytest.mark.parametrize("of_a, of_b", SHAPES)
def test_shapes_are_those_of_jnp_matmul(of_a, of_b):
    a, b = np.ones(of_a, np.float32), np.ones(of_b, np.float32)

    def both(product):
        z = jax.eval_shape(product, a, b)
        up = np.arange(np.prod(z.shape), dtype=np.float32).reshape(z.shape)
        z, back = jax.vjp(product, a, b)
        return z, *back(up)

    ours = both(jax.jit(lambda a, b: wj.matmul(a, b, unit="mac(binary32)")))
    for got, true in zip(ours, both(jax.jit(jnp.matmul)), strict=True):
        same(got, true)


@pytest.mark.parametrize("of_c", [(5,), (4, 1), (3, 4, 5), ()])
def test_what_is_added_to(of_c):
    a, b, c = drawn(3, 4, 9), drawn(9, 5, seed=1), drawn(*of_c, seed=2)

    def z(c):
        return wj.matmul(a, b, c=c, unit="mac(e5m10)")

    same(z(c), ours("mac(e5m10)", a, b, c=ww.array(c, "e5m10")))
    grad = jax.grad(lambda c: z(c).sum())(c)
    same(grad, np.full(of_c, 60 / max(1, np.prod(of_c)), np.float32))
    each = jax.vmap(lambda a, c: wj.matmul(a, b, c=c, unit="mac(e5m10)"), (0, None))(a, drawn(5))
    same(each[2], ours("mac(e5m10)", a[2], b, c=ww.array(drawn(5), "e5m10")))


def test_units_that_draw_do_so_by_seed_and_example():
    unit = "mac(e4m3fn, sum=e5m4:sr8)"
    a, b = drawn(3, 4, 9), drawn(9, 5, seed=1)
    up = drawn(4, 5, seed=2)
    with pytest.raises(ValueError, match="draws; pass seed="):
        wj.matmul(a, b, unit=unit)
    same(wj.matmul(a, b, unit=unit, seed=5), ours(unit, a, b, seed=5))
    batch = jax.jit(jax.vmap(lambda v: wj.matmul(v, b, unit=unit, seed=5)))(a)
    for i in range(3):
        same(batch[i], ours(unit, a[i], b, seed=5))

    def loss(a, b):
        return (wj.matmul(a, b, unit=unit, seed=5) * up).sum()

    to_a, to_b = jax.grad(loss, (0, 1))(a[0], b)
    same(to_a, ours(unit, up, b.T, seed=6))
    same(to_b, ours(unit, up.T, a[0], seed=7).to_float64().T)


def test_only_the_gradient_that_is_asked_for_is_computed(monkeypatch):
    from widthwise import _host

    calls, product = [], _host.product
    monkeypatch.setattr(_host, "product", lambda *x: calls.append(1) or product(*x))
    a, b = drawn(4, 9), drawn(9, 5)
    jax.grad(lambda a: wj.matmul(a, b, unit="mac(e5m10)").sum())(a)
    assert len(calls) == 2


def test_derivatives_of_derivatives():
    a, b = drawn(3, 4), drawn(4, 2)

    def second(product):
        once = jax.grad(lambda a: (product(a, b) ** 2).sum())
        return jax.jit(jax.grad(lambda a: once(a).sum()))(a)

    ours = second(lambda a, b: wj.matmul(a, b, unit="mac(binary32)"))
    np.testing.assert_allclose(ours, second(jnp.matmul), rtol=1e-5)


CALLS = {
    "quantize": lambda x, w: wj.quantize(x, "e4m3fn", backward="e5m2") @ w,
    "of keys": lambda x, w: wj.quantize(x, "e4m3fn", "sr8", seed=3) @ w,
    "blocks": lambda x, w: wj.quantize(x, "mxfp8_e4m3") @ w,
    "matmul": lambda x, w: wj.matmul(x, w, c=w[0], unit="mac(e5m10)"),
    "conv": lambda x, w: wj.conv(x[:, None], w[:, None], w[0], unit="mac(e5m10)"),
}


@pytest.mark.parametrize("kind", CALLS)
def test_shard_map_knows_what_varies_over_its_devices(kind, way):
    """An axis of one device: JAX looks at types, and sums the weights' gradient over the axis."""
    if not hasattr(jax, "shard_map"):
        pytest.skip("jax.shard_map is not in this JAX; a later one has it")
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    rows, alone, call = jax.P("d"), jax.P(), CALLS[kind]

    def apart(out):
        return jax.shard_map(call, mesh=mesh, in_specs=(rows, alone), out_specs=out)

    def loss(f):
        return jax.jit(jax.grad(lambda x, w: (f(x, w) ** 2).sum(), (0, 1)))

    x, w = drawn(4, 8), drawn(8, 8, seed=1)
    same(jax.jit(apart(rows))(x, w), np.asarray(call(x, w)))
    for got, true in zip(loss(apart(rows))(x, w), loss(call)(x, w), strict=True):
        same(got, np.asarray(true))
    with pytest.raises(ValueError, match="out_specs which require replication"):
        jax.jit(apart(alone))(x, w)


# --- Convolutions ---------------------------------------------------------------------------------

STEPS = [
    {},
    {"stride": 2, "padding": 1},
    {"stride": (2, 1), "padding": "SAME", "dilation": (1, 2), "groups": 2},
    {"stride": 3, "padding": ((0, 2), (1, 0))},
    {"padding": (2, 1), "groups": 4},
][None if LONG else 2 : None if LONG else 4]


def of_lax(x, w, stride=1, padding=0, dilation=1, groups=1):
    pair = lambda n: (n, n) if isinstance(n, int) else n  # noqa: E731
    ends = padding if isinstance(padding, str) else [pair(n) for n in pair(padding)]
    how = {"rhs_dilation": pair(dilation), "feature_group_count": groups}
    return jax.lax.conv_general_dilated(x, w, pair(stride), ends, **how)


@pytest.mark.parametrize("how", STEPS)
def test_exact_sums_are_those_of_lax_forward_and_backward(how):
    x, w = whole(2, 4, 7, 8, seed=0), whole(8, 4 // how.get("groups", 1), 3, 2, seed=1)
    z, back = jax.vjp(jax.jit(lambda x, w: wj.conv(x, w, unit="mac(binary32)", **how)), x, w)
    true, true_back = jax.vjp(lambda x, w: of_lax(x, w, **how), x, w)
    same(z, true)
    up = whole(*z.shape, seed=2)
    for got, want in zip(back(up), true_back(up), strict=True):
        np.testing.assert_array_equal(got, want)


def test_bits_are_the_units_in_its_order():
    """Windows written out by hand, each gradient a dot product of the backward unit."""
    unit, backward = "mac(e4m3fn, sum=e5m10)", "mac(e5m2, b=e4m3fn, sum=e5m10)"
    x, w, up = drawn(2, 3, 5, 6), drawn(4, 3, 2, 3, seed=1), drawn(2, 4, 4, 4, seed=2)

    def conv(x, w):
        return wj.conv(x, w, unit=unit, backward_unit=backward)

    z, back = jax.vjp(jax.jit(conv), x, w)
    to_x, to_w = back(up)
    same(z, ww.conv2d(*operands(unit, x, w), unit=unit))
    seen = np.stack([x[:, :, i : i + 2, j : j + 3] for i in range(4) for j in range(4)], 1)
    seen = seen.reshape(2 * 16, -1)
    rows = up.transpose(1, 0, 2, 3).reshape(4, -1)
    same(to_w, ours(backward, rows, seen).to_float64().reshape(w.shape))
    around = np.pad(up, ((0, 0), (0, 0), (1, 1), (2, 2)))
    turned = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    same(to_x, ww.conv2d(*operands(backward, around, turned.copy()), unit=backward))


def test_layouts_and_one_axis():
    x, w, bias = drawn(2, 3, 5, 6), drawn(4, 3, 2, 3, seed=1), drawn(4, seed=2)
    z = wj.conv(x, w, bias, 2, 1, unit="mac(e5m10)")
    flax = {"dimension_numbers": ("NHWC", "HWIO", "NHWC"), "unit": "mac(e5m10)"}
    last = wj.conv(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), bias, 2, 1, **flax)
    same(np.transpose(last, (0, 3, 1, 2)), z)
    line = wj.conv(x[:, :, 0], w[:, :, 0], bias, padding=1, unit="mac(e5m10)")
    with_height = wj.conv(x[:, :, :1], w[:, :, :1], bias, padding=(0, 1), unit="mac(e5m10)")
    same(line, with_height[:, :, 0])
    to_bias = jax.grad(lambda b: wj.conv(x, w, b, unit="mac(e5m10)").sum())(bias)
    same(to_bias, np.full(4, 2 * 4 * 4, np.float32))


def test_steps_are_integers_of_any_kind():
    x, w = drawn(1, 2, 5, 5), drawn(2, 1, 2, 2, seed=1)
    eight, how = np.int64, {"groups": 2, "unit": "mac(e5m10)"}
    got = wj.conv(x, w, None, eight(2), eight(1), np.array([1, 2]), **how | {"groups": eight(2)})
    same(got, wj.conv(x, w, None, 2, 1, (1, 2), **how))
    for wrong, words in (
        ({"stride": 1.5}, "stride = 1.5: an integer or a pair of 1 or more is wanted"),
        ({"stride": {2, 1}}, "stride = {1, 2}: an integer or a pair of 1 or more is wanted"),
        ({"padding": (1, 2, 3)}, "padding = .1, 2, 3.: an integer of 0 or more"),
        ({"padding": {2: 0, 1: 0}.keys()}, "padding = dict_keys.*: an integer of 0 or more"),
        ({"padding": [{0, 1}, (0, 1)]}, "padding = .{0, 1}, .0, 1..: an integer of 0 or more"),
        ({"groups": 2.0}, "groups = 2.0: a filter's channels"),
    ):
        with pytest.raises(ValueError, match=words):
            wj.conv(x, w, **how | wrong)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)] if LONG else [(0, None)])
def test_vmap_of_convolutions(axes):
    x, w = drawn(3, 2, 2, 5, 5), drawn(3, 4, 2, 3, 3, seed=1)
    x, w = x if axes[0] == 0 else x[0], w if axes[1] == 0 else w[0]

    def grads(x, w):
        return jax.grad(lambda x, w: (wj.conv(x, w, unit="mac(e5m10)") ** 2).sum(), (0, 1))(x, w)

    batch, grads = jax.jit(jax.vmap(grads, axes))(x, w), jax.jit(grads)
    for i in range(3):
        alone = grads(x[i] if axes[0] == 0 else x, w[i] if axes[1] == 0 else w)
        for got, want in zip(batch, alone, strict=True):
            same(got[i], want)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda a: wj.matmul(a, a, unit="mac(e5m10)"), ValueError, "a's last axis and b's last"),
        (lambda a: wj.matmul(a, a.astype(jnp.float16).T, unit="mac(e5m10)"), TypeError,
         "a is float32, b is float16; one dtype"),
        (lambda a: wj.matmul(a, a.T, unit="mac(e11m52)"), ValueError, "pass operands of float64"),
        (lambda a: wj.matmul(a, a.T, unit="mac(e5m10)", backward_unit="mac(e11m52)"), ValueError,
         "e11m52 has numbers that float32 does not hold"),
        (lambda a: wj.matmul(a, a.T, unit="mac(e5m1"), ValueError, "unit 'mac"),
        (lambda a: wj.matmul(a, a.T, c=jnp.ones(3), unit="mac(e5m10)"), ValueError, "c is"),
        (lambda a: wj.matmul(jnp.ones((2, 2, 3)), jnp.ones((3, 3, 2)), unit="mac(e5m10)"),
         ValueError, "leading axes do not broadcast"),
        (lambda a: wj.conv(a, a, unit="mac(e5m10)"), ValueError, "both want 3 axes, or both 4"),
        (lambda a: wj.conv(a[None, None], a[None, None, :1], unit="blackwell.mxfp8"), ValueError,
         "scales blocks, which convolutions have not"),
        (lambda a: wj.conv(a[None, None], jnp.ones((1, 2, 1, 1)), unit="mac(e5m10)"), ValueError,
         "x has 1 channels, w has 1 filters of 2"),
        (lambda a: wj.conv(a[None, None], jnp.ones((1, 1, 5, 1)), unit="mac(e5m10)"), ValueError,
         "larger than the image"),
        (lambda a: wj.conv(a[None, None], a[None, None], padding="FULL", unit="mac(e5m10)"),
         ValueError, "padding = 'FULL': 'SAME', 'VALID'"),
        (lambda a: wj.conv(a[None, None], a[None, None], stride=0, unit="mac(e5m10)"),
         ValueError, "stride = 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_while_it_is_traced(call, kind, words):
    with pytest.raises(kind, match=words):
        jax.eval_shape(call, jnp.ones((2, 3)))
