"""Dot products and matrix products: order, operands, scales, threads, errors."""

import re
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww

UNITS = ["mac(e5m10)", "fma(e5m10)", "hopper.f16.f32", "kulisch(e5m10)", "tree(e5m10, fan=4)"]


def drawn(shape, format, seed=0):
    return ww.array(np.random.default_rng(seed).standard_normal(shape), format)


def test_mac_is_the_loop_it_stands_for():
    a, b = drawn((5, 40), "e5m10", 1), drawn((5, 40), "e5m10", 2)
    total = ww.zeros(5, "e5m10")
    for k in range(40):
        total = total + a[:, k] * b[:, k]
    assert (ww.dot(a, b, unit="mac(e5m10)").bits == total.bits).all()


def test_fma_is_the_loop_it_stands_for():
    a, b = drawn((5, 40), "bfloat16", 1), drawn((5, 40), "bfloat16", 2)
    total = ww.zeros(5, "bfloat16")
    for k in range(40):
        total = ww.fma(a[:, k], b[:, k], total)
    assert (ww.dot(a, b, unit="fma(bfloat16)").bits == total.bits).all()


def test_kulisch_rounds_the_exact_sum_once():
    a, b = drawn(200, "e5m10", 1), drawn(200, "e5m10", 2)
    exact = sum(
        (x * y for x, y in zip(a.to_fractions(), b.to_fractions(), strict=True)), Fraction()
    )
    assert ww.dot(a, b, unit="kulisch(e5m10)").bits == ww.array(exact, "e5m10").bits


def test_binary64_dot_is_the_hosts_loop():
    a, b = drawn(50, "binary64", 1), drawn(50, "binary64", 2)
    total = 0.0
    for x, y in zip(a.to_float64(), b.to_float64(), strict=True):
        total += float(x) * float(y)
    assert ww.dot(a, b, unit="mac(binary64)").to_float64() == total


def test_neumaier_in_binary64_is_the_hosts_loop():
    a, b = drawn(200, "binary64", 1), drawn(200, "binary64", 2)
    total = carried = 0.0
    for x, y in zip(a.to_float64(), b.to_float64(), strict=True):
        p = float(x) * float(y)
        t = total + p
        carried += (total - t) + p if abs(total) >= abs(p) else (p - t) + total
        total = t
    assert ww.dot(a, b, unit="neumaier(binary64)").to_float64() == total + carried


def test_kahan_is_the_loop_it_stands_for():
    a, b = drawn((5, 400), "e5m10", 1), drawn((5, 400), "e5m10", 2)
    total = carried = ww.zeros(5, "e5m10")
    for k in range(400):
        y = a[:, k] * b[:, k] - carried
        t = total + y
        carried = (t - total) - y
        total = t
    assert (ww.dot(a, b, unit="kahan(e5m10)").bits == total.bits).all()


def test_pitfall_23_every_output_of_a_kahan_sum_has_its_own_compensation():
    tenths = ww.array(np.full((6, 64), 0.1), "e5m10")
    ones = ww.array(np.ones((64, 9)), "e5m10")
    for unit in ("kahan(e5m10)", "neumaier(e5m10)"):
        z = ww.matmul(tenths, ones, unit=unit, threads=2)
        assert (z.to_float64() == 6.3984375).all()
        assert (ww.sum(tenths, unit=unit).to_float64() == 6.3984375).all()
    assert ww.sum(tenths[0], unit="mac(e5m10)").to_float64() != 6.3984375


def test_sixteen_ones_in_e5m2_depend_on_the_order():
    ones = ww.array([1.0] * 16, "e5m2")
    assert ww.sum(ones, unit="mac(e5m2)").to_float64() == 8
    assert ww.sum(ones, unit="tree(e5m2, fan=8)").to_float64() == 16
    assert ww.sum(ones, unit="kulisch(e5m2)").to_float64() == 16


@pytest.mark.parametrize("unit", UNITS)
def test_matmul_is_a_dot_product_an_element(unit):
    u = ww.Unit(unit)
    a, b, c = drawn((7, 33), u.a, 1), drawn((33, 5), u.b, 2), drawn((7, 5), u.c, 3)
    z, flags = ww.matmul(a, b, unit=u, c=c, flags=True)
    w, raised = ww.dot(a[:, None], b.T[None], unit=u, c=c, flags=True)
    assert z.shape == (7, 5) and z.format == u.result_format
    assert (z.bits == w.bits).all() and (flags == raised).all()
    assert flags.any()


@pytest.mark.parametrize(
    "unit", ["mac(e5m10)", "fma(e4m3fn)", "mac(e8m15)", "mac(binary32)", "hopper.e4m3.f32"]
)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_engine_or_threads(unit, threads):
    f = ww.Unit(unit).a
    a, b = drawn((300, 40), f, 1), drawn((40, 130), f, 2)
    one = ww.matmul(a, b, unit=unit, engine="reference")
    fast = ww.explain(unit, 300, 130, 40).engine
    assert fast in ww.engines()  # which one hangs on the CPU
    for engine in ("auto", fast):
        other = ww.matmul(a, b, unit=unit, threads=threads, engine=engine)
        assert (one.bits == other.bits).all()
    assert ww.explain(unit, 300, 130, 40, flags=True).engine not in ("lanes", "tensor")


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_random_bits_do_not_depend_on_engine_or_threads(engine, threads):
    unit = "mac(e5m10, sum=e5m10:sr8)"  # random bits hang on the output's index
    a, b = drawn((300, 40), "e5m10", 1), drawn((40, 30), "e5m10", 2)
    one = ww.matmul(a, b, unit=unit, threads=1, seed=3)
    other = ww.matmul(a, b, unit=unit, threads=threads, engine=engine, seed=3)
    assert (one.bits == other.bits).all()
    assert (one.bits != ww.matmul(a, b, unit=unit, seed=4).bits).any()
    rows = ww.dot(a[:, None], b.T[None], unit=unit, seed=3)
    assert (rows.bits == one.bits).all()


def test_a_product_too_wide_for_one_slice_is_cut_into_columns():
    a, b = drawn((2, 3000), "e4m3fn", 1), drawn((3000, 150), "e4m3fn", 2)
    z = ww.matmul(a, b, unit="hopper.e4m3.f32", threads=2)
    part = ww.matmul(a[1:], b[:, 140:], unit="hopper.e4m3.f32")
    assert (z.bits[1:, 140:] == part.bits).all()


def test_shapes_are_numpys():
    a, b = drawn((2, 1, 3, 4), "e5m10"), drawn((5, 4, 6), "e5m10")
    assert ww.matmul(a, b, unit="mac(e5m10)").shape == (2, 5, 3, 6)
    assert ww.matmul(a[0, 0, 0], b[0], unit="mac(e5m10)").shape == (6,)
    assert ww.matmul(a[0, 0], b[0, :, 0], unit="mac(e5m10)").shape == (3,)
    assert ww.matmul(a[0, 0, 0], b[0, :, 0], unit="mac(e5m10)").shape == ()
    one = ww.matmul(a[1, 0], b[3], unit="mac(e5m10)")
    assert (ww.matmul(a, b, unit="mac(e5m10)")[1, 3].bits == one.bits).all()
    assert ((a[0, 0] @ b[0]).bits == ww.matmul(a[0, 0], b[0], unit="mac(e5m10)").bits).all()


@pytest.mark.parametrize("format", ["e5m10", "e15m63"])  # codes of one word, and of more
def test_an_empty_sum_is_c(format):
    a = ww.zeros((3, 0), format)
    assert ww.dot(a, a, unit=f"mac({format})").to_float64().tolist() == [0, 0, 0]
    c = ww.array([1.0, 2.0, 3.0], format)
    assert (ww.dot(a, a, unit=f"mac({format})", c=c).bits == c.bits).all()
    assert ww.matmul(
        ww.zeros((0, 4), format), ww.zeros((4, 2), format), unit=f"mac({format})"
    ).shape == (0, 2)


def test_c_broadcasts_over_the_outputs():
    a, b = drawn((4, 8), "e5m10", 1), drawn((8, 3), "e5m10", 2)
    bias = ww.array([1.0, 2.0, 3.0], "e5m10")
    z = ww.matmul(a, b, unit="mac(e5m10)", c=bias)
    assert (z[2].bits == ww.dot(a[2], b.T, unit="mac(e5m10)", c=bias).bits).all()


@pytest.mark.parametrize("unit", ["mac(e5m10)", "mac(e4m3fn, sum=e5m10:sr9)", "hopper.e4m3.f32"])
@pytest.mark.parametrize(
    "shapes",
    [((40,), (40,)), ((9, 40), (40,)), ((40,), (9, 40)), ((9, 40), (9, 40)), ((3, 1, 40), (5, 40)),
     ((2, 3, 1, 40), (2, 1, 5, 40)), ((4, 1, 3, 40), (5, 1, 40)), ((0, 40), (40,))],
)  # fmt: skip
def test_dots_are_the_same_one_by_one_on_every_engine_and_any_threads(unit, shapes):
    u = ww.Unit(unit)
    a, b = drawn(shapes[0], u.a, 1), drawn(shapes[1], u.b, 2)
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    c = drawn(shape, u.c, 3)
    want = ww.dot(a, b, unit=u, c=c, engine="reference", threads=1, seed=4)
    assert want.shape == shape
    for threads in (1, 3):
        assert (ww.dot(a, b, unit=u, c=c, threads=threads, seed=4).bits == want.bits).all()
    if ":sr" not in unit:
        rows, columns = (np.broadcast_to(x.bits, (*shape, 40)) for x in (a, b))
        for place in np.ndindex(shape):
            x, y = (ww.from_bits(z[place].copy(), f) for z, f in ((rows, u.a), (columns, u.b)))
            assert ww.dot(x, y, unit=u, c=c[place]).bits == want.bits[place]


@pytest.mark.parametrize("unit", [*UNITS, "kahan(e8m7)", "mac(e5m10, sum=e5m10:sr5)"])
@pytest.mark.parametrize("layout", ["plain", "reversed", "by columns", "spread"])
def test_many_dots_of_their_own_operands_are_the_references(unit, layout):
    formats = ww.Unit(unit)
    a, b = drawn((3, 40, 33), formats.a, 1), drawn((3, 40, 33), formats.b, 2)
    c = drawn((3, 40), formats.c, 3)
    if layout == "reversed":
        a, c = a[:, ::-1, ::-1], c[::-1]
    elif layout == "by columns":
        b = b.transpose(1, 2, 0).copy().transpose(2, 0, 1)
    elif layout == "spread":
        a, b = a[:, ::2, ::3], b[:, ::2, ::3]
        c = c[:, ::2]
    expected = ww.dot(a, b, c=c, unit=unit, engine="reference")
    for threads in (1, 2):
        assert (ww.dot(a, b, c=c, unit=unit, threads=threads).bits == expected.bits).all()


@pytest.mark.parametrize(
    "unit",
    [
        "mac(e5m10)",
        "kahan(e5m10)",
        "neumaier(e5m10, sum=e5m10:sr11)",
        "mac(e4m3fn, sum=e5m10:sr9, promote=3:e8m23, final=e5m2)",
        "tree(e5m10, fan=4)",
        "hopper.e4m3.f32",  # 32 lanes
        "lowered.e4m3.f32",  # lanes are dealt to two streams: no one pass
        "kulisch(e5m10)",
        "mac(e15m112)",
    ],
)
def test_a_cumulative_sum_is_the_sum_to_each_element(unit):
    u = ww.Unit(unit)
    x, c = drawn((2, 37, 3), u.a, 1), drawn((2, 3), u.c, 2)
    z, raised = ww.cumsum(x, unit=u, axis=1, c=c, flags=True, seed=3)
    assert z.shape == raised.shape == x.shape and z.format == u.result_format
    for i in range(37):
        want, flags = ww.sum(x[:, : i + 1], unit=u, axis=1, c=c, flags=True, seed=3)
        assert (z[:, i].bits == want.bits).all() and (raised[:, i] == flags).all()
    assert (ww.cumsum(x, unit=u, axis=1, c=c, seed=3, threads=2).bits == z.bits).all()


def test_a_cumulative_sum_of_nothing_and_of_no_axis():
    assert ww.cumsum(ww.zeros((3, 0), "e5m10"), unit="mac(e5m10)").shape == (3, 0)
    with pytest.raises(ValueError, match="a sum needs an axis"):
        ww.cumsum(ww.zeros((), "e5m10"), unit="mac(e5m10)")
    with pytest.raises(ValueError, match=r"axis = 2: x has shape \(3, 4\), and it may be -2 to 1"):
        ww.cumsum(ww.zeros((3, 4), "e5m10"), unit="mac(e5m10)", axis=2)


def test_a_result_past_all_memory_is_refused_by_its_size():
    bits = np.broadcast_to(np.uint16(0), (1 << 33, 1, 4))
    x = ww.Array._of(bits, ww.Format("e5m10"))
    text = "the result would be .8589934592, 8589934592., 73786976294838206464 numbers; 2.60 are"
    with pytest.raises(ValueError, match=text):
        ww.dot(x, x[:, 0], unit="mac(e5m10)")
    with pytest.raises(ValueError, match=text):
        ww.matmul(x[:, 0], x[:, 0].T, unit="mac(e5m10)")


def test_a_dot_takes_an_engine_and_threads():
    x = drawn((3, 8), "e5m10")
    with pytest.raises(ValueError, match="engine = 'gpu': there is no such engine here"):
        ww.dot(x, x, unit="mac(e5m10)", engine="gpu")
    with pytest.raises(ValueError, match="threads = 0: it may be 1 or more"):
        ww.sum(x, unit="mac(e5m10)", threads=0)
    with pytest.raises(ValueError, match="'lanes' does not take unit kulisch.e5m10.: "):
        ww.dot(x, x, unit="kulisch(e5m10)", engine="lanes")


def test_sum_runs_along_any_axis():
    x = drawn((3, 4, 5), "e5m10")
    z = ww.sum(x, unit="mac(e5m10)", axis=1)
    assert z.shape == (3, 5)
    by_hand = ((x[:, 0] + x[:, 1]) + x[:, 2]) + x[:, 3]
    assert (z.bits == by_hand.bits).all()
    assert ww.sum(ww.array([1.0] * 300, "bfloat16"), unit="mac(bfloat16)").to_float64() == 256
    with pytest.raises(ValueError, match=r"x has shape \(\); a sum needs an axis"):
        ww.sum(x[0, 0, 0], unit="mac(e5m10)")
    way = r"its b is .* which has no 1 to multiply with; .* as in 'mac\(fixed8.8, b=e4m3fn\)'"
    for sums in (ww.sum, ww.cumsum):
        with pytest.raises(ValueError, match=way):
            sums(x, unit="mac(e5m10, b=e2m1fn;bias=9)")
    halves = ww.array([0.25, -0.5], "fixed8.8")
    assert ww.cumsum(halves, unit="mac(fixed8.8, b=e4m3fn)").to_float64().tolist() == [0.25, -0.25]


def test_wide_formats_multiply_and_add():
    a, b = drawn((2, 9), "e20m64", 1), drawn((2, 9), "e20m64", 2)
    exact = (a.to_fractions() * b.to_fractions()).sum(axis=1)
    fused = ww.dot(a, b, unit="dot(e20m64)")
    assert (fused.bits == ww.array(exact, "e20m64").bits).all()


# --- Scales and TF32 -----------------------------------------------------------------------------


def test_scaled_blocks_multiply_their_products():
    u = scaled_unit()
    block = u.scale_block
    a, b = drawn((2, 3 * block), u.a, 1), drawn((2, 3 * block), u.b, 2)
    sa = ww.array([[1.0, 2.0, 4.0]] * 2, u.scale_format)
    sb = ww.array([[0.5, 1.0, 0.25]] * 2, u.scale_format)
    z = ww.dot(a, b, unit=u, scale_a=sa, scale_b=sb)
    blocks = (a.to_fractions() * b.to_fractions()).reshape(2, 3, block).sum(axis=2)
    exact = (blocks * sa.to_fractions() * sb.to_fractions()).sum(axis=1)
    np.testing.assert_allclose(z.to_float64(), exact.astype(float), rtol=1e-4)
    whole = ww.matmul(a, b.T, unit=u, scale_a=sa, scale_b=sb.T)
    assert (np.diag(whole.bits) == z.bits).all()


def scaled_unit():
    name = next(name for name, u in ww.units.items() if u.scale_format)
    return ww.units[name]


def test_scales_go_with_units_that_scale():
    u = scaled_unit()
    a, one = ww.zeros(u.scale_block, u.a), ww.array([1.0], u.scale_format)
    with pytest.raises(ValueError, match=r"scales each \d+ elements of a and b; give both"):
        ww.dot(a, ww.zeros(u.scale_block, u.b), unit=u, scale_a=one)
    with pytest.raises(ValueError, match=r"scale_b is given; unit mac\(e5m10\) scales nothing"):
        x = ww.zeros(4, "e5m10")
        ww.dot(x, x, unit="mac(e5m10)", scale_b=one)
    with pytest.raises(ValueError, match=r"scale_a is \(2,\); it does not broadcast to \(1,\)"):
        two = ww.array([1.0, 1.0], u.scale_format)
        ww.dot(a, ww.zeros(u.scale_block, u.b), unit=u, scale_a=two, scale_b=one)


def test_a_nan_scale_makes_its_dot_product_nan():
    u = scaled_unit()
    a, b = ww.zeros(u.scale_block, u.a), ww.zeros(u.scale_block, u.b)
    nan, one = ww.array([np.nan], u.scale_format), ww.array([1.0], u.scale_format)
    assert ww.isnan(ww.dot(a, b, unit=u, scale_a=nan, scale_b=one))


def test_tf32_units_take_binary32_and_tf32_alike():
    u = ww.Unit("hopper.tf32.f32")
    assert str(u.a) == "e8m23"
    a, b = drawn((3, 16), "tf32", 1), drawn((3, 16), "tf32", 2)
    z = ww.dot(a, b, unit=u)
    assert (z.bits == ww.dot(a.astype("binary32"), b.astype("binary32"), unit=u).bits).all()
    with pytest.raises(TypeError, match=r"a is e5m10; unit hopper.tf32.f32 takes e8m23 there"):
        ww.dot(ww.zeros(4, "e5m10"), b, unit=u)
    with pytest.raises(
        TypeError, match=r"a is e8m10; unit fma.f32|a is e8m10; unit .* takes e8m23"
    ):
        ww.dot(a, a, unit="fma(binary32)")


# --- Multipliers ---------------------------------------------------------------------------------


def test_a_multiplier_of_ones_own_is_asked_for_every_product_or_once_for_every_pair():
    a, b = drawn((2, 6), "e4m3fn", 1), drawn((2, 6), "e4m3fn", 2)
    asked = []

    def product(x, y):
        asked.append((x, y))
        return x * y

    exact = ww.dot(a, b, unit="hopper.e4m3.f32")
    assert (ww.dot(a, b, unit="hopper.e4m3.f32", multiplier=product).bits == exact.bits).all()
    assert len(asked) == 12 and all(0 < x < 16 and 0 < y < 16 for x, y in asked)
    asked.clear()
    x = drawn((40, 40), "e4m3fn", 3)  # many products: they are remembered
    ww.matmul(x, x, unit="mac(e4m3fn)", multiplier=product)
    assert 0 < len(asked) <= 240 and len(set(asked)) == len(asked)
    assert (ww.dot(a, b, unit="hopper.e4m3.f32", multiplier="exact").bits == exact.bits).all()


def test_truncating_operands_by_name_and_by_function_agree():
    a, b = drawn((9, 30), "e5m10", 1), drawn((30, 4), "e5m10", 2)
    named = ww.matmul(a, b, unit="mac(e5m10)", multiplier="truncated_operands4")
    own = ww.matmul(a, b, unit="mac(e5m10)", multiplier=lambda x, y: (x >> 4 << 4) * (y >> 4 << 4))
    assert (named.bits == own.bits).all()
    assert (named.bits != ww.matmul(a, b, unit="mac(e5m10)").bits).any()


@pytest.mark.parametrize("name", ["mitchell", "drum6", "truncated_array8"])
def test_approximate_multipliers_are_near(name):
    a, b = ww.abs(drawn(50, "e5m10", 1)), ww.abs(drawn(50, "e5m10", 2))
    exact = ww.dot(a, b, unit="hopper.f16.f32").to_float64()
    near = ww.dot(a, b, unit="hopper.f16.f32", multiplier=name).to_float64()
    assert near != exact and abs(near - exact) < 0.12 * exact


@pytest.mark.parametrize(
    "multiplier, error, message",
    [
        ("mitchel", ValueError, r"multiplier 'mitchel' is not known; there are exact, mitchell"),
        (3, TypeError, r"multiplier = 3: a name is wanted, as 'mitchell', or a function"),
        (lambda x, y: 0.5, TypeError, r"multiplier: it returned 0.5; an integer is wanted"),
        (lambda x, y: -1, ValueError, r"multiplier: it returned -1; products are 0 to 2\^128 - 1"),
        (lambda x, y: 1 // 0, ZeroDivisionError, "by zero"),
    ],
)
def test_a_multiplier_that_is_none_is_refused(multiplier, error, message):
    x = ww.array([1.0], "e5m10")
    with pytest.raises(error, match=message):
        ww.dot(x, x, unit="mac(e5m10)", multiplier=multiplier)


# --- Errors --------------------------------------------------------------------------------------

X = ww.zeros((3, 4), "e5m10")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: ww.dot(X, ww.zeros(5, "e5m10"), unit="mac(e5m10)"), ValueError,
         r"a is \(3, 4\) and b is \(5,\); their last axes must match"),
        (lambda: ww.dot(X, X.T, unit="mac(e5m10)"), ValueError,
         r"last axes must match; matrices go to ww.matmul or ww.study.dots_of_matmul"),
        (lambda: ww.sum(X, unit="mac(e5m10)", axis=None), TypeError,
         r"axis = None: one integer is wanted; x.ravel\(\) has all in one axis"),
        (lambda: ww.convert(X.to_float64(), "e5m2"), TypeError,
         r"x is float64; an Array is wanted: ww.array rounds values"),
        (lambda: ww.dot(X, ww.zeros((2, 4), "e5m10"), unit="mac(e5m10)"), ValueError,
         r"a is \(3, 4\) and b is \(2, 4\); leading axes do not broadcast"),
        (lambda: ww.matmul(X, X, unit="mac(e5m10)"), ValueError,
         r"a is \(3, 4\) and b is \(3, 4\); a's last axis and b's last but one"),
        (lambda: ww.dot(X, X, unit="hopper.e4m3.f32"), TypeError,
         r"a is e5m10; unit hopper.e4m3.f32 takes e4m3fn there. Convert with a.astype\('e4m3fn'\)"),
        (lambda: ww.dot(X, X.to_float64(), unit="mac(e5m10)"), TypeError,
         r"b is float64; unit mac\(e5m10\) takes an Array of e5m10 there.*ww.array\(b, 'e5m10'\)"),
        (lambda: ww.dot(X, np.zeros((3, 4), "u1"), unit="mac(e5m10)"), TypeError,
         r"b holds uint8; codes of e5m10 are uint16"),
        (lambda: ww.dot(X, X, unit="mac(e5m10)", c=ww.zeros(2, "e5m10")), ValueError,
         r"c is \(2,\); it does not broadcast to \(3,\)"),
        (lambda: ww.dot(X, X, unit="mac(e5m10)", seed=-1), ValueError,
         r"seed = -1: it may be 0 to 2\^64 - 1"),
        (lambda: ww.matmul(X, X.T, unit="mac(e5m10)", engine="gpu"), ValueError,
         r"engine = 'gpu': there is no such engine here; ww.engines\(\) lists them: auto, ref"),
        (lambda: ww.matmul(X, X.T, unit="mac(e5m10)", threads=0), ValueError,
         r"threads = 0: it may be 1 or more"),
        (lambda: ww.dot(X, X, unit="nac(e5m10)"), ValueError, r"unit 'nac\(e5m10\)'"),
        (lambda: ww.dot(X, X, unit=5), TypeError, r"unit = 5: a text as 'mac\(e5m10\)' is wanted"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_policies_make_a_format_another_one():
    with pytest.raises(TypeError, match=r"a is e5m10;daz; unit mac\(e5m10\) takes e5m10 there"):
        ww.dot(ww.zeros(2, "e5m10;daz"), ww.zeros(2, "e5m10"), unit="mac(e5m10)")


def test_an_explanation_names_engine_and_carriers():
    text = ww.explain("hopper.f16.f32", 64, 32, 512)
    assert text.engine == "tensor" and "bits" in text and "1,048,576 products" in text
    assert re.search(r"^ *lanes +does not: \w", text, re.MULTILINE)
    assert ww.explain("hopper.f16.f32", 64, 32, 512, flags=True).engine == "blocks"
    of_cpu = [name for name in ww.engines() if not name.startswith("cuda")]
    known = "reference integers lanes halves tensor blocks wide wide52 exact words bytes"
    assert " ".join(of_cpu) == known + " promoted narrowed recoded"


@pytest.mark.parametrize("old", ["chain", "rows"])
def test_an_old_name_of_integers_is_taken(old):
    x = ww.array(np.linspace(-3, 3, 64).reshape(8, 8), "e5m10")
    asked = {"unit": "mac(e5m10, sum=e5m10:rna)", "flags": True}
    want = ww.matmul(x, x, engine="reference", **asked)
    for engine in (old, "integers"):
        got = ww.matmul(x, x, engine=engine, **asked)
        assert np.array_equal(got[0].bits, want[0].bits)
        assert np.array_equal(got[1], want[1])
    assert old not in ww.engines()


def test_an_engine_that_cannot_keep_the_bits_refuses():
    x = ww.zeros((2, 2), "e5m10")
    with pytest.raises(ValueError, match="'lanes' does not take unit .*: flags are wanted"):
        ww.matmul(x, x, unit="mac(e5m10)", engine="lanes", flags=True)
