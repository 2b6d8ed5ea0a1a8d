"""widthwise.tensorflow: bits are ww's, eagerly and in graphs; layers train, save, load and clone.

One file, for TensorFlow takes seconds to import.
"""

import os

import numpy as np
import pytest
import widthwise as ww
from same_bits import drawn, same, whole

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
try:
    import keras
    import tensorflow as tf
    import widthwise.tensorflow as wt
except ImportError:
    keras = tf = wt = None

pytestmark = pytest.mark.skipif(tf is None, reason="tensorflow is large: --long installs it")

SPECIAL = [0.0, -0.0, 1e-9, -(2**-9), 3 * 2**-11, 448, 464, 465, -6, 1e30, -1e30, np.inf, -np.inf]
UNIT, BACKWARD = "mac(e4m3fn, sum=e5m10)", "mac(e5m2, b=e4m3fn, sum=e5m10)"


def ours(unit, a, b, **how):
    u = ww.Unit(unit)
    return ww.matmul(ww.array(a, u.a), ww.array(b, u.b), unit=unit, **how)


def both(call, *args):
    """The result, and its gradients for what comes back, eagerly."""
    given = [tf.constant(x) for x in args]
    with tf.GradientTape() as tape:
        tape.watch(given)
        z = call(*given)
        up = drawn(*z.shape, seed=9)
        total = tf.reduce_sum(z * up)
    return z, up, tape.gradient(total, given)


# --- Values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "format", ["e4m3fn", "e2m1fn", "posit8es2", "fixed4.4", "e4m3;overflow=satfinite"]
)
@pytest.mark.parametrize("rounding", ["rne", "rup", "sr8"])
def test_values_are_those_of_ww_array(format, rounding):
    x = np.concatenate([np.float32(SPECIAL), drawn(300) * 8])
    want = ww.array(x, format, rounding=rounding, seed=7)
    same(wt.quantize(x, format, rounding, seed=7), want)
    graph = tf.function(lambda v, s: wt.tf_quantize(v, format, rounding, seed=s))
    same(graph(x, tf.constant(7)), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes_go_in_and_come_out(dtype):
    x = tf.cast([*SPECIAL, np.nan, 0.3], dtype)
    z = wt.quantize(x, "e4m3fn")
    assert z.dtype == x.dtype
    same(z, ww.array(tf.cast(x, tf.float64).numpy(), "e4m3fn"))


def test_any_shape_and_batches_of_any_size():
    @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32)])
    def rounded(x):
        z = wt.quantize(x, "e5m2")
        assert z.shape.as_list() == [None, 3]
        return z

    for n in (0, 1, 5):
        same(rounded(drawn(n, 3)), ww.array(drawn(n, 3), "e5m2"))
    assert wt.quantize(1.3, "e5m2").shape == ()


def test_seeds_come_from_tensorflow_or_are_given():
    x, way = drawn(300), ("e4m3fn", "sr8")

    def after(seed):
        tf.random.set_seed(seed)
        return wt.quantize(x, *way)

    same(after(3), after(3))
    assert not np.array_equal(after(3), after(4))
    graph = tf.function(lambda v: wt.quantize(v, *way))
    assert not np.array_equal(graph(x), graph(x))
    large = (1 << 64) - 3
    same(wt.quantize(x, *way, seed=large), ww.array(x, way[0], rounding=way[1], seed=large))


@pytest.mark.parametrize(
    "seed, kind, words",
    [
        (0.5, TypeError, "seed = 0.5: an integer is wanted"),
        (1 << 64, ValueError, "it may be 0 to"),
        ([1.0], TypeError, r"seed is float32, \(1,\); one integer is wanted"),
        ([1, 2], TypeError, r"seed is int32, \(2,\); one integer is wanted"),
        ([True], TypeError, r"seed is bool, \(1,\); one integer is wanted"),
        (True, TypeError, "seed = True: an integer is wanted"),
    ],
)
def test_what_is_no_seed_is_told(seed, kind, words):
    given = tf.constant(seed) if isinstance(seed, list) else seed
    with pytest.raises(kind, match=words):
        wt.quantize([1.0], "e5m2", "sr8", seed=given)


def test_gradients_pass_straight_and_are_rounded():
    x = np.float32([0.3, 6.0, 6.1, -9.0, 0.0, -4.0])
    z, up, (back,) = both(lambda v: wt.quantize(v, "e2m1fn"), x)
    same(back, np.where(abs(x) > 6, np.float32(0), up))
    _, up, (back,) = both(lambda v: wt.quantize(v, "fixed5.2;overflow=zero"), x)
    same(back, np.where((x < -4) | (x > 3.75), np.float32(0), up))
    _, up, (back,) = both(lambda v: wt.quantize(v, "e2m1fn", clamp=False), x)
    same(back, up)
    _, up, (back,) = both(lambda v: wt.quantize(v, "e2m1fn", "sr8", "e5m2", seed=4, clamp=False), x)
    same(back, ww.array(up, "e5m2", rounding="sr8", seed=5))
    _, up, (back,) = both(lambda v: wt.quantize(v, "mxfp4", backward="e5m2"), drawn(2, 64) * 3)
    reach = 6 * np.repeat(ww.blocks(drawn(2, 64) * 3, "mxfp4").scales.to_float64(), 32, -1)
    want = np.where(abs(drawn(2, 64) * 3) > reach, 0, ww.array(up, "e5m2").to_float64())
    same(back, want)
    assert (want == 0).any()


# --- Products -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unit, backward",
    [(UNIT, BACKWARD), ("hopper.e4m3.f32", "mac(bfloat16)"), ("kulisch(e5m10)", None),
     ("mac(posit8es2)", "mac(posit16es1)"), ("mac(e4m3fn, sum=e5m4:sr8)", None)],
)  # fmt: skip
@pytest.mark.parametrize("way", ["eager", "graph"])
def test_products_and_both_gradients_are_ww(unit, backward, way):
    a, b, c = drawn(3, 4, 9), drawn(9, 5, seed=1), drawn(5, seed=2)

    def product(a, b, c):
        return wt.matmul(a, b, c=c, unit=unit, backward_unit=backward, seed=5)

    call = tf.function(product) if way == "graph" else product
    z, up, (to_a, to_b, to_c) = both(call, a, b, c)
    same(z, ours(unit, a, b, c=ww.array(c, ww.Unit(unit).c), seed=5))
    same(to_a, ours(backward or unit, up, b.T, seed=6))
    each = ours(backward or unit, up.swapaxes(1, 2), a, seed=7).to_float64().swapaxes(1, 2)
    np.testing.assert_allclose(to_b, each.sum(0), rtol=1e-6)
    np.testing.assert_allclose(to_c, up.sum((0, 1)), rtol=1e-6)


@pytest.mark.parametrize(
    "how",
    [{}, {"strides": 2, "padding": "SAME"}, {"padding": "SAME", "dilations": (1, 2)},
     {"strides": (1, 3), "padding": ((0, 2), (1, 0))}],
)  # fmt: skip
def test_exact_convolutions_are_those_of_tensorflow_forward_and_backward(how):
    x, w = whole(2, 7, 8, 4, seed=0), whole(3, 2, 4, 6, seed=1)
    padding, strides = how.get("padding", "VALID"), how.get("strides", 1)
    ends = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]
    dilations = how.get("dilations", (1, 1))

    def of_tf(x, w):
        return tf.nn.conv2d(x, with_holes(w, *dilations), strides, ends)

    def grads(call):
        given = [tf.constant(x), tf.constant(w)]
        with tf.GradientTape() as tape:
            tape.watch(given)
            z = call(*given)
        return z, *tape.gradient(z, given, output_gradients=whole(*z.shape, seed=2))

    got = grads(lambda x, w: wt.conv2d(x, w, unit="mac(binary32)", **how))
    for one, true in zip(got, grads(of_tf), strict=True):
        np.testing.assert_array_equal(one, true)
    dilated = tf.nn.conv2d(x, w, strides, ends, dilations=dilations)
    np.testing.assert_array_equal(got[0], dilated)


def with_holes(w, d, e):
    """Kernels with zeros between their numbers, which are dilated ones: of those TensorFlow has
    gradients on CPUs with oneDNN alone."""
    rows, columns, *others = w.shape
    gaps = [[0, 0], [0, d - 1], [0, 0], [0, e - 1], [0, 0], [0, 0]]
    apart = tf.pad(tf.reshape(w, (rows, 1, columns, 1, *others)), gaps)
    apart = tf.reshape(apart, (rows * d, columns * e, *others))
    return apart[: (rows - 1) * d + 1, : (columns - 1) * e + 1]


def test_convolutions_have_the_units_bits_in_groups_and_either_layout():
    x, w, bias = drawn(2, 4, 6, 5), drawn(3, 3, 2, 6, seed=1), drawn(6, seed=2)
    how = {"unit": UNIT, "backward_unit": BACKWARD, "data_format": "NCHW", "strides": 2}
    z, up, (to_x, to_w, _) = both(lambda x, w, b: wt.conv2d(x, w, b, **how), x, w, bias)
    u = ww.Unit(UNIT)
    kernels = np.ascontiguousarray(w.transpose(3, 2, 0, 1))
    true = ww.conv2d(
        ww.array(x, u.a), ww.array(kernels, u.b), unit=u, c=ww.array(bias, u.c), stride=2, groups=2
    )
    same(z, true)
    how["data_format"] = "NHWC"
    last = wt.conv2d(x.transpose(0, 2, 3, 1), w, bias, **how)
    same(np.transpose(last, (0, 3, 1, 2)), true)
    places = [(0, 0), (0, 2), (2, 0), (2, 2)][:: 2 if z.shape[3] == 1 else 1]
    for group in (0, 1):  # windows written out by hand
        seen = [x[:, 2 * group : 2 * group + 2, i : i + 3, j : j + 3] for i, j in places]
        seen = np.stack(seen, 1).reshape(2 * len(places), -1)
        rows = up[:, 3 * group : 3 * group + 3].transpose(1, 0, 2, 3).reshape(3, -1)
        want = ours(BACKWARD, rows, seen).to_float64().reshape(3, 2, 3, 3)
        same(np.transpose(to_w, (3, 2, 0, 1))[3 * group : 3 * group + 3], want)
        around = np.zeros((2, 3, 8, 7), np.float32)  # what came back, a stride apart
        around[:, :, 2:5:2, 2:5:2] = up[:, 3 * group : 3 * group + 3]
        of_group = w[..., 3 * group : 3 * group + 3]
        true = convolved(BACKWARD, around, of_group[::-1, ::-1].transpose(2, 3, 0, 1))
        same(to_x[:, 2 * group : 2 * group + 2], true)


def convolved(unit, x, kernels, **how):
    u = ww.Unit(unit)
    kernels = ww.array(np.ascontiguousarray(kernels), u.b)
    return ww.conv2d(ww.array(x, u.a), kernels, unit=u, **how)


def test_convolutions_of_images_whose_size_nobody_knew():
    x, w = drawn(2, 7, 6, 2), drawn(3, 2, 2, 4, seed=1)
    unknown = [tf.TensorSpec((None, None, None, 2), tf.float32), tf.TensorSpec(w.shape, tf.float32)]
    for how in ({"padding": "SAME", "strides": (2, 3)}, {"padding": ((1, 0), (0, 2))}, {}):

        def call(x, w, how=how):
            return wt.conv2d(x, w, unit=UNIT, backward_unit=BACKWARD, **how)

        graph = tf.function(call, input_signature=unknown)
        assert graph.get_concrete_function().output_shapes.as_list() == [None, None, None, 4]
        for got, want in zip(both(graph, x, w), both(call, x, w), strict=True):
            for one, true in zip(got, want, strict=True):
                same(one, true)


def test_gradients_of_convolutions_have_gradients_of_their_own():
    """Both are linear in what comes back: derivatives after it are products of that unit again."""
    x, w, v = drawn(2, 6, 5, 4), drawn(3, 3, 2, 6, seed=1), drawn(2, 6, 5, 4, seed=5)
    how = {"unit": UNIT, "backward_unit": BACKWARD, "strides": 2}
    x, w, v, up = map(tf.constant, (x, w, v, drawn(2, 2, 2, 6, seed=6)))
    with tf.GradientTape() as outer:
        outer.watch(up)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = wt.conv2d(x, w, **how)
        to_x = inner.gradient(z, x, output_gradients=up)
    again = outer.gradient(to_x, up, output_gradients=v)
    first = np.transpose(v, (0, 3, 1, 2))
    true = convolved(BACKWARD, first, np.transpose(w, (3, 2, 0, 1)), stride=2, groups=2)
    same(np.transpose(again, (0, 3, 1, 2)), true)


@pytest.mark.parametrize("padding, strides", [("SAME", 2), ("VALID", 1)])
def test_exact_second_derivatives_of_convolutions_are_those_of_tensorflow(padding, strides):
    x, w = tf.constant(whole(2, 5, 4, 2, seed=0)), tf.constant(whole(2, 3, 2, 3, seed=1))

    def second(conv):
        with tf.GradientTape() as outer:
            outer.watch([x, w])
            with tf.GradientTape() as inner:
                inner.watch([x, w])
                z = tf.reduce_sum(conv(x, w, strides=strides, padding=padding) ** 2)
            total = sum(tf.reduce_sum(g) for g in inner.gradient(z, [x, w]))
        return outer.gradient(total, [x, w])

    ours = second(lambda *given, **how: wt.conv2d(*given, **how, unit="mac(binary32)"))
    for got, want in zip(ours, second(tf.nn.conv2d), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_products_second_derivative_is_tensorflows():
    a, b = tf.constant(drawn(3, 4)), tf.constant(drawn(4, 2))

    def second(product):
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as inner:
                inner.watch(a)
                z = tf.reduce_sum(product(a) ** 2)
            once = tf.reduce_sum(inner.gradient(z, a) ** 2)
        return outer.gradient(once, a)

    ours = second(lambda a: wt.matmul(a, b, unit="mac(binary32)"))
    np.testing.assert_allclose(ours, second(lambda a: a @ b), rtol=1e-5)


def of_unknown_rank(call, n=2):
    return tf.function(call, input_signature=[tf.TensorSpec(None, tf.float32)] * n)


def test_tensors_of_unknown_rank_are_computed_or_named():
    a, b, c = drawn(2, 3, 4), drawn(4, 5, seed=1), drawn(5, seed=2)
    how = {"unit": UNIT, "backward_unit": BACKWARD}

    def grads(a, b, c):
        with tf.GradientTape() as tape:
            tape.watch([a, b, c])
            z = wt.matmul(a, b, c=c, **how)
        return [z, *tape.gradient(z, [a, b, c])]

    wanted = grads(*map(tf.constant, (a, b, c)))
    for got, want in zip(of_unknown_rank(grads, 3)(a, b, c), wanted, strict=True):
        same(got, want)
    same(of_unknown_rank(lambda a: wt.quantize(a, "mxfp4"), 1)(a), ww.blocks(a, "mxfp4"))
    product = of_unknown_rank(lambda a, b: wt.matmul(a, b, **how))
    with pytest.raises(Exception, match=r"a is \(4,\) and b is \(4, 5\); \(..., m, k\) and"):
        product(a[0, 0], b)
    with pytest.raises(ValueError, match="x is <unknown> and w is <unknown>; channels and kernels"):
        of_unknown_rank(lambda x, w: wt.conv2d(x, w, **how)).get_concrete_function()


def test_steps_are_integers_of_any_kind():
    x, w = drawn(2, 5, 5, 2), drawn(2, 2, 2, 3, seed=1)
    eight = np.int64
    for ours, plain in (
        ({"strides": eight(2)}, {"strides": 2}),
        ({"strides": np.array([2, 1]), "dilations": eight(1)}, {"strides": (2, 1)}),
        ({"padding": ((eight(1), 0), (0, eight(1)))}, {"padding": ((1, 0), (0, 1))}),
        ({"padding": "same"}, {"padding": "SAME"}),
    ):
        same(wt.conv2d(x, w, unit=UNIT, **ours), wt.conv2d(x, w, unit=UNIT, **plain))
    for wrong, words in (
        ({"strides": 1.5}, "strides = 1.5: an integer or a pair of 1 or more is wanted"),
        ({"dilations": (1, 0)}, "dilations = .1, 0.: an integer or a pair"),
        ({"padding": ((1, 0), (0, -1))}, "padding = .* 'VALID', 'SAME' or"),
        ({"padding": 1}, "padding = 1: 'VALID', 'SAME' or"),
        ({"padding": ({1, 0}, (0, 1))}, "padding = .{0, 1}, .*: 'VALID', 'SAME' or"),
        ({"strides": {2, 1}}, "strides = {1, 2}: an integer or a pair"),
    ):
        with pytest.raises(ValueError, match=words):
            wt.conv2d(x, w, unit=UNIT, **wrong)


# --- Layers and models ----------------------------------------------------------------------------


def images(n=64):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 8, 8, 1)).astype(np.float32)
    return x, (x[:, :4].sum((1, 2, 3)) > x[:, 4:].sum((1, 2, 3))).astype(np.int32)


def network():
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            wt.Conv2D(4, 3, padding="same", activation="relu", unit="mac(e5m10)", name="seen"),
            wt.Quantizer("e4m3fn", backward="e5m2"),
            keras.layers.Flatten(),
            wt.Dense(2, unit=UNIT, backward_unit=BACKWARD, output="bfloat16", name="head"),
        ]
    )


def fitted(net, epochs=3):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(keras.optimizers.SGD(0.1), loss, metrics=["accuracy"])
    return net.fit(*images(), epochs=epochs, batch_size=16, verbose=0, shuffle=False).history


def test_a_model_fits_saves_loads_and_clones(tmp_path):
    net = network()
    history = fitted(net)
    assert history["loss"][-1] < 0.8 * history["loss"][0]
    again = network()
    assert fitted(again)["loss"] == history["loss"]
    x = images()[0]
    want = net(x).numpy()
    net.save(tmp_path / "net.keras")
    loaded = keras.models.load_model(tmp_path / "net.keras")
    assert [type(layer) for layer in loaded.layers] == [type(layer) for layer in net.layers]
    same(loaded(x), want)
    assert fitted(loaded, 1)["loss"] == fitted(net, 1)["loss"]
    want = net(x).numpy()
    net.save_weights(tmp_path / "net.weights.h5")
    again.load_weights(tmp_path / "net.weights.h5")
    same(again(x), want)
    clone = keras.models.clone_model(net)
    clone.set_weights(net.get_weights())
    same(clone(x), want)
    net.export(str(tmp_path / "served"), verbose=False)
    served = tf.saved_model.load(str(tmp_path / "served"))
    same(served.serve(x), want)


def test_a_dense_layers_output_is_ww():
    layer = wt.Dense(5, unit=UNIT, input="e5m2", weight="e2m1fn", activation="relu")
    x = drawn(4, 9)
    z = layer(x)
    kernel, bias = (w.numpy() for w in layer.weights)
    rounded = ww.array(x, "e5m2").to_float64(), ww.array(kernel, "e2m1fn").to_float64()
    c = ww.array(bias, ww.Unit(UNIT).c)
    same(z, np.maximum(ours(UNIT, *rounded, c=c).to_float64(), 0))
    plain = wt.Dense(5, backward="e5m2")
    z, up, (back,) = both(plain, x)
    np.testing.assert_allclose(
        back, ww.array(up, "e5m2").to_float64() @ plain.kernel.numpy().T, rtol=1e-5
    )


def test_convert_model_clones_by_rules():
    inputs = keras.layers.Input((8, 8, 1))
    y = keras.layers.Conv2D(3, 3, strides=2, name="block1_conv")(inputs)
    y = keras.layers.Conv2D(3, 3, use_bias=False, name="block2_conv")(y)
    y = keras.layers.Flatten()(y)
    inner = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, name="within")])
    net = keras.Model(inputs, keras.layers.Dense(2, name="head")(inner(y)))
    fc = {"unit": UNIT, "weight": "e2m1fn", "rounding": "rtz"}
    rules = {"head": None, "block?_conv": "mac(e5m10)", keras.layers.Dense: fc}
    made = wt.tf_convert_model(net, rules)
    kinds = {layer.name: type(layer) for layer in made.layers}
    assert kinds["block1_conv"] is kinds["block2_conv"] is wt.Conv2D
    assert kinds["head"] is keras.layers.Dense
    within = made.get_layer(inner.name).get_layer("within")
    assert type(within) is wt.Dense and {**within.get_config(), **fc} == within.get_config()
    for got, want in zip(made.get_weights(), net.get_weights(), strict=True):
        np.testing.assert_array_equal(got, want)
    assert type(net.get_layer("block1_conv")) is keras.layers.Conv2D
    x = images(5)[0]
    assert 0 < np.abs(made(x) - net(x)).max() < 1
    exact = wt.convert_model(made, "mac(binary32)")
    np.testing.assert_allclose(exact(x), net(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="rules: 'fc.*' fits no layer; there are 'block1_conv', "):
        wt.convert_model(net, {"fc.*": "mac(e5m10)"})


def test_mixed_precision_and_xla():
    x = drawn(4, 9)
    policy = keras.mixed_precision.DTypePolicy("mixed_bfloat16")
    layer = wt.Dense(5, unit="mac(e4m3fn, sum=bfloat16)", dtype=policy)
    assert layer(x).dtype == tf.bfloat16 and layer.kernel.dtype == "float32"
    net = network()
    net.compile("sgd", "mse")
    assert net.jit_compile is False
    with pytest.warns(UserWarning, match="doesn't support `jit_compile=True`"):
        net.compile("sgd", "mse", jit_compile=True)
    assert net.jit_compile is False
    compiled = tf.function(lambda v: wt.quantize(v, "e5m2"), jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="PyFunc"):
        compiled(x)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda x: wt.quantize(tf.cast(x, tf.bfloat16), "e5m10"), ValueError,
         r"bfloat16 does not hold; pass tf.cast\(x, 'float32'\)"),
        (lambda x: wt.quantize(x, None), TypeError, "format = None: a format is wanted"),
        (lambda x: wt.quantize(tf.cast(x, tf.int32), "e5m2"), TypeError, "x holds int32; float16"),
        (lambda x: wt.quantize(x, "e5mx"), ValueError, "format 'e5mx', column 4"),
        (lambda x: wt.quantize(x, "e5m2", "up"), ValueError, "'up'"),
        (lambda x: wt.quantize(x, "e5m2", axis=0), ValueError, "axis = 0: numbers of e5m2 have no"),
        (lambda x: wt.quantize(x, "e5m2", "sr8", seed=-1), ValueError, r"0 to 2\^64 - 1"),
        (lambda x: wt.matmul(x, x, unit="mac(e5m10)"), ValueError, r"\(..., m, k\) and"),
        (lambda x: wt.matmul(x, tf.cast(x, tf.float16), unit="mac(e5m10)"), TypeError, "one dtype"),
        (lambda x: wt.matmul(x, x, unit="mac(e5m1"), ValueError, "unit 'mac|a is"),
        (lambda x: wt.conv2d(x, x, unit="mac(e5m10)"), ValueError, "both want 4 axes"),
        (lambda x: wt.Dense(2, unit="mac(e5m1"), ValueError, "unit 'mac"),
        (lambda x: wt.Dense(2, backward_unit="mac(e5m10)"), ValueError, "and no unit; name both"),
        (lambda x: wt.Conv2D(2, 3, unit="blackwell.mxfp8"), ValueError, "scales blocks"),
        (lambda x: wt.Quantizer("e5mx"), ValueError, "format 'e5mx'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_while_the_graph_is_made(call, kind, words):
    with pytest.raises(kind, match=words):
        tf.function(call, autograph=False).get_concrete_function(tf.ones((2, 3)))


def test_nan_where_the_format_has_none_is_told():
    with pytest.raises(Exception, match="x has NaN among its numbers, and e2m1fn has none"):
        wt.quantize([1.0, np.nan], "e2m1fn")


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
@pytest.mark.parametrize("overflow", ["zero", "wrap", "wrap_sm", "keep_sign"])
def test_infinities_where_fixed_point_does_not_saturate_are_told(overflow, endless):
    to = f"fixed8.4;overflow={overflow}"
    with pytest.raises(Exception, match="does not saturate; take overflow=saturate"):
        wt.quantize([1.0, endless], to)
    with pytest.raises(Exception, match="does not saturate; take overflow=saturate"):
        tf.function(lambda x: wt.quantize(x, to))(tf.constant([1.0, endless]))
