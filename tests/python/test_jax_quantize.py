"""widthwise.jax.quantize: bits are ww.array's, by XLA's own call and by callbacks alike."""

import subprocess
import sys

import jax_here
import numpy as np
import pytest
import widthwise as ww
from jax_here import _xla, jax, jnp, wj
from same_bits import drawn, same

pytestmark = jax_here.NEEDED
way = jax_here.way

FORMATS = ["e4m3fn", "e5m2", "e2m1fn", "posit8es2", "fixed4.4", "e4m3;overflow=satfinite", "int4"]
SPECIAL = np.array(
    [0.0, -0.0, 1e-9, -1e-9, 2**-9, 3 * 2**-11, 448, 464, 465, -6, 7, 1e30, -1e30, np.inf, -np.inf],
    np.float32,
)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rounding", ["rne", "rtz", "rup", "sr8"])
def test_values_are_those_of_ww_array(way, format, rounding):
    x = np.concatenate([SPECIAL, drawn(300) * 8])
    how = {"rounding": rounding, "seed": 7}
    want = ww.array(x, format, **how)
    same(wj.quantize(jnp.asarray(x), format, **how), want)
    same(jax.jit(lambda v: wj.quantize(v, format, **how))(x), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes_go_in_and_come_out(way, dtype):
    with jax.enable_x64(True):
        x = jnp.asarray(drawn(100) * 100, dtype)
        x = x.at[:4].set(jnp.array([np.inf, -np.inf, np.nan, -0.0], dtype))
        z = wj.quantize(x, "e4m3fn")
        assert z.dtype == x.dtype
        same(z, ww.array(np.asarray(x).astype(np.float64), "e4m3fn"))


def test_large_arrays_and_none(way):
    x = drawn(1 << 20)
    same(wj.quantize(jnp.asarray(x), "e5m10"), ww.array(x, "e5m10"))
    same(
        wj.quantize(jnp.asarray(x), "e5m2", "sr8", seed=3),
        ww.array(x, "e5m2", rounding="sr8", seed=3),
    )
    assert wj.quantize(jnp.ones((0, 3)), "e5m2", "sr8", seed=1).shape == (0, 3)
    assert wj.quantize(1.3, "e5m2").shape == ()


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "nvfp4", "affine(int8,symmetric)"])
@pytest.mark.parametrize("axis", [0, 1])
def test_numbers_that_share_scales_share_them_within_their_example(format, axis):
    x = drawn(3, 32, 64)
    if format.startswith("affine"):
        want = [ww.affine(one, format).dequantise() for one in x]
        axis = None
    else:
        want = [ww.blocks(one, format, axis=axis).to_float32() for one in x]
    got = jax.vmap(lambda v: wj.quantize(v, format, axis=axis))(x)
    same(got, np.stack(want))


SHARED = """
import threading
import jax, numpy as np, widthwise as ww, widthwise.jax as wj
x = np.random.default_rng(0).standard_normal((64, 4096)).astype(np.float32)
want = ww.blocks(x, "mxfp8_e4m3").to_float32()
rounded = jax.jit(lambda v: wj.quantize(v, "mxfp8_e4m3"))
right = []
def work():
    right.extend(np.array_equal(rounded(x), want) for _ in range(4))
threads = [threading.Thread(target=work) for _ in range(6)]
[t.start() for t in threads], [t.join() for t in threads]
assert right == [True] * 24
"""


def test_threads_with_large_arrays_do_not_wait_for_each_other_for_ever():
    if not _xla.usable():
        pytest.skip("the package was built without jaxlib's headers: ./dev build finds them")
    subprocess.run([sys.executable, "-c", SHARED], check=True, timeout=120)


# --- Gradients ------------------------------------------------------------------------------------


def test_jit_of_vmap_of_grad_is_ww(way):
    x, up = drawn(5, 16) * 300, drawn(5, 16, seed=1)

    def loss(v, g):
        return (wj.quantize(v, "e4m3fn", backward="e5m2") * g).sum()

    got = jax.jit(jax.vmap(jax.grad(loss)))(x, up)
    want = ww.array(np.where(abs(x) > 448, 0, up), "e5m2")
    assert (abs(x) > 448).any()
    same(got, want)


def test_a_gradient_without_format_passes_where_nothing_saturates(way):
    x = np.array([0.3, 6.0, 6.1, -9.0, 0.0, -4.0], np.float32)
    up = drawn(6)

    def grad(**how):
        return jax.grad(lambda v: (wj.quantize(v, "e2m1fn", **how) * up).sum())(x)

    same(grad(), np.where(abs(x) > 6, np.float32(0), up))
    same(grad(clamp=False), up)
    zeros = jax.grad(lambda v: (wj.quantize(v, "fixed5.2;overflow=zero") * up).sum())(x)
    same(zeros, np.where((x < -4) | (x > 3.75), np.float32(0), up))
    wraps = jax.grad(lambda v: (wj.quantize(v, "fixed3.2;overflow=wrap") * up).sum())(x)
    same(wraps, up)


def test_gradients_draw_by_the_next_seed(way):
    up = drawn(64)

    def loss(v):
        rounded = wj.quantize(v, "e5m10", backward="e5m2", backward_rounding="sr8", seed=41)
        return (rounded * up).sum()

    same(jax.grad(loss)(jnp.ones(64)), ww.array(up, "e5m2", rounding="sr8", seed=42))


def test_the_next_seed_carries_into_the_high_word(way):
    last, up = (1 << 32) - 1, drawn(64)

    def loss(v):
        return (wj.quantize(v, "e5m2", "sr8", "e5m2", seed=last) * up).sum()

    same(jax.grad(loss)(jnp.ones(64)), ww.array(up, "e5m2", rounding="sr8", seed=last + 1))


def test_gradients_of_blocks_pass_within_what_the_scale_reaches():
    x = drawn(2, 64) * np.float32(3)
    loss = jax.grad(lambda v: wj.quantize(v, "mxfp4").sum())
    found = ww.blocks(x, "mxfp4")
    reach = 6 * np.repeat(found.scales.to_float64(), 32, axis=-1)
    same(loss(jnp.asarray(x)), (abs(x) <= reach).astype(np.float32))
    assert (abs(x) > reach).any()


def test_forward_mode_and_both_of_both(way):
    x = jnp.asarray([0.3, 9.0, -1.0])
    want = np.diag([1.0, 0.0, 1.0]).astype(np.float32)
    for jacobian in (jax.jacfwd, jax.jacrev):
        same(jacobian(lambda v: wj.quantize(v, "e2m1fn"))(x), want)
    second = jax.jit(jax.hessian(lambda v: (wj.quantize(v, "e2m1fn") ** 2).sum()))(x)
    same(second, 2 * want)
    once = jax.grad(lambda v: (wj.quantize(v, "e5m2", "rne", "e5m2") ** 2).sum())
    same(jax.jit(jax.grad(lambda v: once(v).sum()))(x), np.full(3, 2, np.float32))


def test_scan_and_remat(way):
    x = drawn(6, 8)
    same(jax.lax.scan(lambda c, r: (c, wj.quantize(r, "e4m3fn")), 0, x)[1], ww.array(x, "e4m3fn"))

    def layer(v):
        return (wj.quantize(jnp.sin(v), "e4m3fn", "sr8", "e5m2", seed=9) ** 2).sum()

    same(jax.grad(jax.checkpoint(layer))(x), jax.grad(layer)(x))


# --- Seeds ----------------------------------------------------------------------------------------


def test_keys_repeat_under_jit_and_differ(way):
    x = drawn(256)

    def rounded(key):
        return wj.quantize(x, "e4m3fn", "sr8", seed=key)

    for key in (jax.random.key(0), jax.random.PRNGKey(0)):
        one, other = jax.random.split(key)
        same(rounded(one), jax.jit(rounded)(one))
        assert not np.array_equal(rounded(one), rounded(other))
    low, high = (int(w) for w in jax.random.bits(jax.random.key(0), (2,), jnp.uint32))
    want = ww.array(x, "e4m3fn", rounding="sr8", seed=low | high << 32)
    same(rounded(jax.random.key(0)), want)


def test_a_traced_seed_compiles_once_and_gives_the_bits_of_its_number(way):
    x, traced = drawn(64), []

    @jax.jit
    def rounded(seed):
        traced.append(seed)
        return wj.quantize(x, "e5m2", "sr8", seed=seed)

    for seed in range(12):
        same(rounded(seed), ww.array(x, "e5m2", rounding="sr8", seed=seed))
    assert len(traced) == 1
    with jax.enable_x64(True):
        large = (5 << 32) + 3
        want = ww.array(x, "e5m2", rounding="sr8", seed=large)
        same(wj.quantize(x, "e5m2", "sr8", seed=jnp.int64(large)), want)
        same(wj.quantize(x, "e5m2", "sr8", seed=large), want)


@pytest.mark.parametrize("batched", ["x", "seed", "both"])
def test_under_vmap_each_example_draws_as_it_would_alone(way, batched):
    x, seeds = drawn(4, 3, 5), jnp.arange(4)
    axes = (0 if batched != "seed" else None, 0 if batched != "x" else None)
    arguments = (x if axes[0] == 0 else x[0], seeds if axes[1] == 0 else 2)
    got = jax.vmap(lambda v, s: wj.quantize(v, "e4m3fn", "sr8", seed=s), axes)(*arguments)
    for i in range(4):
        alone = x[i if axes[0] == 0 else 0]
        seed = i if axes[1] == 0 else 2
        same(got[i], ww.array(alone, "e4m3fn", rounding="sr8", seed=seed))
    nested = jax.vmap(jax.vmap(lambda v: wj.quantize(v, "e4m3fn", "sr8", seed=2)))(x)
    same(nested[1, 2], ww.array(x[1, 2], "e4m3fn", rounding="sr8", seed=2))


# --- Codes, export, errors ------------------------------------------------------------------------


def test_codes_and_back():
    x = drawn(40)
    for format, kind in (("e4m3fn", np.uint8), ("e6m9", np.uint16), ("e8m23", np.uint32)):
        codes = jax.jit(lambda v, f=format: wj.encode(v, f))(x)
        assert codes.dtype == kind
        np.testing.assert_array_equal(codes, ww.array(x, format).bits)
        same(wj.decode(codes, format), ww.array(x, format))
    drawn_codes = jax.vmap(lambda v: wj.encode(v, "e5m2", "sr4", seed=6))(x.reshape(4, 10))
    want = ww.array(x.reshape(4, 10)[3], "e5m2", rounding="sr4", seed=6).bits
    np.testing.assert_array_equal(drawn_codes[3], want)
    with jax.enable_x64(True):
        wide = wj.encode(x, "e9m30")
        np.testing.assert_array_equal(wide, ww.array(x, "e9m30").bits)
        same(wj.decode(wide, "e9m30", jnp.float64), ww.array(x, "e9m30"))
    same(jax.grad(lambda v: wj.decode(wj.encode(v, "e5m2"), "e5m2").sum())(x), np.zeros_like(x))


def test_what_xla_calls_itself_exports():
    if not _xla.usable():
        pytest.skip("the package was built without jaxlib's headers: ./dev build finds them")
    x = drawn(8)
    safe = [jax.export.DisabledSafetyCheck.custom_call("widthwise_quantize")]
    sent = jax.export.export(jax.jit(lambda v: wj.quantize(v, "e5m2")), disabled_checks=safe)(x)
    back = jax.export.deserialize(sent.serialize())
    same(back.call(x), ww.array(x, "e5m2"))


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: wj.quantize(x, "e4m3fn", "sr8"), ValueError, "'sr8' draws; pass seed="),
        (lambda x: wj.quantize(x.astype(jnp.bfloat16), "e5m10"), ValueError,
         r"bfloat16 does not hold; pass x.astype\('float32'\)"),
        (lambda x: wj.quantize(x, "e11m52"), ValueError, "jax_enable_x64"),
        (lambda x: wj.quantize(x, "e5m2", backward="e11m52"), ValueError, "jax_enable_x64"),
        (lambda x: wj.quantize(x, None), TypeError, "format = None: a format is wanted"),
        (lambda x: wj.quantize(x.astype(jnp.int32), "e5m2"), TypeError, "x holds int32; float16"),
        (lambda x: wj.quantize(x, "e5mx"), ValueError, "format 'e5mx', column 4"),
        (lambda x: wj.quantize(x, "e5m2", "up"), ValueError, "'up'"),
        (lambda x: wj.quantize(x, "affine(int99)"), ValueError, "bits = 99"),
        (lambda x: wj.quantize(x, "e5m2", "sr8", seed=jnp.ones(3)), TypeError, "one integer or"),
        (lambda x: wj.quantize(x, "e5m2", "sr8", seed=-1), ValueError, r"0 to 2\^64 - 1"),
        (lambda x: wj.encode(x, "mxfp4"), ValueError, "share scales"),
        (lambda x: wj.encode(x, "e9m30"), ValueError, "39|40 bits"),
        (lambda x: wj.decode(x, "e5m2"), TypeError, "codes are float32; those of e5m2 are uint8"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_while_it_is_traced(call, kind, words):
    with pytest.raises(kind, match=words):
        jax.eval_shape(call, jnp.ones(8))


@pytest.mark.parametrize(
    "shape, words, rank, rounding, said",
    [
        ((2, 3), (2,), 3, "rne", "rank = 3: x has 2 axes; pass how many of the last"),
        ((2, 3), (2,), -2, "rne", "rank = -2: x has 2 axes"),
        ((), (2,), 1, "sr8", "rank = 1: x has 0 axes"),
        ((2, 3), (2,), -1, "sr8", "rank = -1, and rounding = sr8 draws"),
        ((2, 3), (2,), 1, "sr8", "seeds has 2 words, and x 2 examples; each takes two"),
        ((2, 3), (3, 2), 1, "sr8", "seeds has 6 words, and x 2 examples"),
        ((2, 3), (0,), 2, "sr8", "seeds has 0 words, and x 1 examples"),
    ],
)
def test_xla_is_told_which_axes_and_seeds_do_not_go_together(shape, words, rank, rounding, said):
    if not _xla.usable():
        pytest.skip("the package was built without jaxlib's headers: ./dev build finds them")
    x = jnp.ones(shape, jnp.float32)
    call = jax.ffi.ffi_call("widthwise_quantize", jax.ShapeDtypeStruct(x.shape, x.dtype))
    seeds = jnp.zeros(words, jnp.uint32)
    with pytest.raises(Exception, match=said):
        call(x, seeds, format="e5m2", rounding=rounding, rank=np.int64(rank)).block_until_ready()


def test_examples_without_numbers_take_no_seeds(way):
    seeds = jnp.arange(4, dtype=jnp.uint32)
    empty = jax.vmap(lambda v, s: wj.quantize(v, "e5m2", "sr8", seed=s))
    assert empty(jnp.ones((4, 0)), seeds).shape == (4, 0)


@pytest.mark.parametrize(
    "format", ["fixed8.4", "fixed12.140", "posit8es2", "e8m7", "e5m2;bias=140"]
)
@pytest.mark.parametrize("rounding", ["rup", "raz", "rne", "sr8"])
def test_subnormals_are_numbers_on_xlas_threads(way, format, rounding):
    x = np.array([1e-40, -1e-40, 1e-45, 2e-39, 1.1e-38, 1e-30, 1.5], np.float32)
    want = ww.array(x, format, rounding=rounding, seed=2)
    same(jax.jit(lambda v: wj.quantize(v, format, rounding, seed=2))(x), want)


@pytest.mark.parametrize("format", ["nvfp4", "mxfp4", "affine(int8,symmetric)", "affine(uint8)"])
def test_scales_of_subnormals_on_xlas_threads(way, format):
    x = np.array([1e-40, -1e-40, 1e-45, 2e-39, 1.1e-38, 0, 3e-39, -1e-38], np.float32)
    if "affine" in format:
        want = ww.affine(x, format).dequantise()
    else:
        want = ww.blocks(x, format).to_float32()
    assert want.any()
    same(jax.jit(lambda v: wj.quantize(v, format))(x), want)


def test_nan_where_the_format_has_none_is_told(way):
    x = jnp.array([1.0, jnp.nan])
    with pytest.raises(ValueError, match="x has NaN among its numbers, and e2m1fn has none"):
        wj.quantize(x, "e2m1fn")
    with pytest.raises(Exception, match="x has NaN among its numbers, and e2m1fn has none"):
        jax.jit(lambda v: wj.quantize(v, "e2m1fn"))(x).block_until_ready()


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
@pytest.mark.parametrize("overflow", ["zero", "wrap", "wrap_sm", "keep_sign"])
def test_infinities_where_fixed_point_does_not_saturate_are_told(way, overflow, endless):
    x, to = jnp.array([1.0, endless]), f"fixed4.4;overflow={overflow}"
    with pytest.raises(ValueError, match="does not saturate; take overflow=saturate"):
        wj.quantize(x, to)
    with pytest.raises(Exception, match="does not saturate; take overflow=saturate"):
        wj.encode(x, to)
    with pytest.raises(Exception, match="does not saturate; take overflow=saturate"):
        jax.jit(lambda v: wj.quantize(v, to))(x).block_until_ready()


def test_an_axis_of_numbers_without_scales_is_refused():
    with pytest.raises(ValueError, match=r"axis = 0: numbers of e4m3fn have no scales"):
        wj.quantize(jnp.ones((2, 32)), "e4m3fn", axis=0)
