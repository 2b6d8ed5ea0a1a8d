"""Scaled tensors against the executable form of their specification, and against torch's casts."""

from __future__ import annotations

import copy
import math
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import widthwise as ww
from widthwise.containers import scaled_steps as steps

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import scaled_ref as page  # noqa: E402
from number_systems_ref import INF, NAN, NINF, Q  # noqa: E402

DTYPES = list(page.SCALED)
INTEGERS = ["sint8", "sint16", "sint32"]
FLOATS = ["sfloat16", "sfloat8_e4m3fn", "sfloat8_e5m2"]
MODES = ["rne", "rna", "rnz", "rnp", "rnm", "rno", "rtz", "rdn", "rup", "raz", "odd"]
LARGEST = (2 - 2.0**-23) * 2.0**127


def exactly(x: float) -> Any:
    """As the page has data: exact, or the name of what is no number."""
    if math.isnan(x):
        return NAN
    return Q(x) if math.isfinite(x) else INF if x > 0 else NINF


def values_of(data: Any) -> list[Any]:
    numbers = data.to_float64() if isinstance(data, ww.Array) else data
    return [exactly(float(v)) for v in np.asarray(numbers).reshape(-1)]


def in_rows(flat: list[Any], length: int) -> list[list[Any]]:
    return [flat[i : i + length] for i in range(0, len(flat), length)]


def same(got: float, want: float) -> bool:
    return float(got) == float(want) or (math.isnan(got) and math.isnan(want))


def agrees(x: ww.Scaled, want: tuple[list[Any], float]) -> bool:
    data, scale = want
    values = page.scaled_values(x.dtype, data, scale)
    shown = x.to_float32().reshape(-1)
    return (
        values_of(x.data) == data
        and float(x.scale) == scale
        and all(same(got, v) for got, v in zip(shown, values, strict=True))
    )


# --- The lines of the page, with ww behind the names ----------------------------------------------


class Ours:
    """The page's functions, computed by ww."""

    Q, math, f32 = Q, math, staticmethod(page.f32)

    @staticmethod
    def scaled(dtype, xs, rounding=None, like=None):
        x = ww.scaled(xs, dtype, rounding=rounding, like=like)
        return values_of(x.data), float(x.scale)

    @staticmethod
    def tensor(dtype, data, scale=1.0, like=None):
        whole = dtype in INTEGERS
        given = np.array([int(v) if whole else float(v) for v in np.ravel(data)])
        return ww.Scaled.of(given.reshape(np.shape(data)), scale, dtype, like=like)

    @classmethod
    def scaled_values(cls, dtype, data, scale):
        if any(isinstance(v, str) for v in data):
            data = [float(v) for v in data]
        return [float(v) for v in cls.tensor(dtype, data, scale).to_float32()]

    @classmethod
    def wasted_bits(cls, dtype, data, like=None):
        return cls.tensor(dtype, data, like=like).wasted_bits()

    @classmethod
    def requantised(cls, dtype, data, scale):
        x = cls.tensor(dtype, data, scale).requantise()
        return values_of(x.data), float(x.scale)

    @classmethod
    def scaled_add(cls, dtype, a, sa, b, sb):
        x = cls.tensor(dtype, a, sa) + cls.tensor(dtype, b, sb)
        return values_of(x.data), float(x.scale)

    @classmethod
    def scaled_matmul(cls, dtype, a, sa, b, sb):
        x = cls.tensor(dtype, a, sa) @ cls.tensor(dtype, b, sb)
        return in_rows(values_of(x.data), x.shape[1]), float(x.scale)


LINES = r"""
[str(round(v, 7)) for v in scaled_values("sfloat16", *scaled("sfloat16", [1, 2, 3]))] == ['1.0002443', '2.0004885', '3.0']
["%.7e" % v for v in scaled_values("sfloat16", [Q(v, 65536) for v in (21840, 43680, 65504)], 3.0)] == ['1.5262516e-05', '3.0525032e-05', '4.5776367e-05']
["%.7f" % v for v in scaled_values("sfloat16", *scaled_add("sfloat16", *scaled("sfloat16", [1, 2, 3]), *scaled("sfloat16", [4, 5, 6])))] == ['5.0034199', '6.9995112', 'inf']
[["%.7f" % v for v in scaled_values(d, *scaled(d, [1, 2, 3]))] for d in ("sfloat8_e4m3fn", "sfloat8_e5m2")] == [['0.9642857', '1.9285715', '3.0000002'], ['1.0714287', '2.1428573', '3.0000002']]
[scaled_values("sint32", *scaled("sint32", [1, 2, 3], like=w)) for w in (None, "notebook")] == [[1, 2, 3], [1, 2, -3]]
[wasted_bits("sint32", scaled("sint32", [1, 2, 3], like=w)[0], like=w) for w in (None, "notebook")] == [0, f32(0.5849625)] and wasted_bits("sfloat16", scaled("sfloat16", [1, 2, 3])[0]) == -math.inf
wasted_bits("sfloat16", [Q(65504, 65536)]) == 4.0 and wasted_bits("sint8", [0]) == 8.0 and requantised("sint8", [50, 2, -4], 100.0) == ([127, 5, -10], f32(39.37008))
scaled_values("sint8", *scaled_add("sint8", *scaled("sint8", [100]), *scaled("sint8", [200]))) == [300.0]
scaled_matmul("sint16", [[32767] * 20] * 2, 100.0, [[32767] * 3] * 20, 200.0) == ([[32000] * 3] * 2, 400000.0) and scaled_matmul("sfloat16", [[65504] * 20], 100.0, [[65504]] * 20, 200.0) == ([[65472]], 400000.0)
scaled_values("sint16", [32000], 400000.0) == [390636.90625]
scaled("sint8", [3, -2])[0] == [127, -84] and scaled("sint8", [3, -2], "rne")[0] == [127, -85]
scaled("sfloat16", [1, 2, 3])[0] == [21840, 43680, 65504]
"""  # noqa: E501


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_a_line_of_the_page_holds(line):
    names = {name: getattr(Ours, name) for name in dir(Ours) if not name.startswith("_")}
    assert eval(line, names) is True


# --- Against the page's steps ---------------------------------------------------------------------

DIRECTED = {
    "one": [0.1],
    "zero": [0.0],
    "zeros": [0.0, -0.0, 0.0],
    "negative alone": [-3.0],
    "powers of two": [2.0**e for e in range(-30, 8)],
    "full range": [65504.0, -65504.0, 65503.0, 1.0],
    "halves": [k / 254 for k in range(-127, 128)],
    "subnormal": [2.0**-149, 2.0**-140, -(2.0**-130)],
    "largest": [LARGEST, -LARGEST, LARGEST / 2, 1.0, 2.0**-149],
    "doubles": [1 / 3, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-52, 1e-320],
}


def drawn(rng: random.Random, count: int, far: int) -> list[float]:
    return [page.f32(rng.uniform(-1, 1) * 2.0 ** rng.randint(-far, far)) for _ in range(count)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", DIRECTED)
@pytest.mark.parametrize("like", [None, "notebook"])
def test_directed_numbers_are_quantised_as_the_page_says(dtype, what, like):
    x = DIRECTED[what]
    got, want = ww.scaled(x, dtype, like=like), page.scaled(dtype, x, like=like)
    assert agrees(got, want)
    assert same(got.wasted_bits(), page.wasted_bits(dtype, want[0], like))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("like", [None, "notebook"])
def test_random_tensors_take_the_steps_of_the_page(dtype, like):
    rng = random.Random(dtype)
    for far in (0, 3, 12, 60):
        x, y = drawn(rng, 40, far), drawn(rng, 40, far)
        a, b = ww.scaled(x, dtype, like=like), ww.scaled(np.float32(y), dtype, like=like)
        p, q = page.scaled(dtype, x, like=like), page.scaled(dtype, y, like=like)
        assert agrees(a, p) and agrees(b, q)
        added = page.scaled_add(dtype, *p, *q, like=like)
        assert agrees(a + b, added)
        assert same((a + b).wasted_bits(), page.wasted_bits(dtype, added[0], like))
        few = max(range(39), key=lambda i: (p[0][i] != 0, -abs(p[0][i])))
        part = [p[0][few], p[0][few + 1], Q(0)]
        if like is None and any(part):
            got, want = Ours.tensor(dtype, part, p[1]), page.requantised(dtype, part, p[1])
            assert agrees(got.requantise(), want)
        assert agrees(a.relu(), ([max(v, Q(0)) for v in p[0]], p[1]))
        m, n = in_rows(p[0], 8), in_rows(q[0], 5)
        got = a.reshape(5, 8) @ b.reshape(8, 5)
        want, scale = page.scaled_matmul(dtype, m, p[1], n, q[1], like=like)
        assert agrees(got, (sum(want, []), scale))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("mode", MODES)
def test_integers_round_by_any_mode(dtype, mode):
    rng = random.Random(mode)
    x, y = drawn(rng, 30, 2) + DIRECTED["halves"][:30], drawn(rng, 60, 2)
    a, b = ww.scaled(x, dtype, rounding=mode), ww.scaled(y, dtype)
    p, q = page.scaled(dtype, x, mode), page.scaled(dtype, y)
    assert agrees(a, p)
    assert agrees(a + b, page.scaled_add(dtype, *p, *q, mode))  # as the left operand was made
    assert agrees(b.add(a, rounding=mode), page.scaled_add(dtype, *q, *p, mode))
    part = Ours.tensor(dtype, p[0][:20], p[1])
    assert agrees(part.requantise(rounding=mode), page.requantised(dtype, p[0][:20], p[1], mode))
    got = a.reshape(6, 10).matmul(b.reshape(10, 6), rounding=mode)
    m, n = in_rows(p[0], 10), in_rows(q[0], 6)
    want, scale = page.scaled_matmul(dtype, m, p[1], n, q[1], mode)
    assert agrees(got, (sum(want, []), scale))


@pytest.mark.parametrize("like", [None, "notebook"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_data_at_the_ends_of_their_range(dtype, like):
    """The least integer, whose magnitude none of them holds; sums that wrap."""
    top = int(page.SCALED[dtype])
    for data in ([-top - 1], [top, -top - 1], [-top - 1, 3], [1, 0], [0, -1], [-top - 1, 0]):
        x = Ours.tensor(dtype, data, 2.5, like)
        exact = [Q(v) for v in data]
        assert same(x.wasted_bits(), page.wasted_bits(dtype, exact, like))
        if page.amax_of(dtype, exact, like) != 0:
            assert agrees(x.requantise(), page.requantised(dtype, exact, 2.5, None, like))
        assert agrees(x + x, page.scaled_add(dtype, exact, 2.5, exact, 2.5, None, like))
    for k in (1, 2, 3, 300):
        a, b = [[-top - 1] * k, [top] * k], [[-top - 1, top]] * k
        exact = [[[Q(v) for v in row] for row in m] for m in (a, b)]
        want, scale = page.scaled_matmul(dtype, exact[0], 1.0, exact[1], 3.0, None, like)
        got = Ours.tensor(dtype, a, 1.0, like) @ Ours.tensor(dtype, b, 3.0, like)
        assert agrees(got, (sum(want, []), scale))


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_number_of_a_float_dtype_is_added_and_shrunk(dtype):
    f = ww.Scaled.of([1.0], 1.0, dtype).format
    step = 1 if f.width == 8 else 37
    codes = ww.from_bits(np.arange(0, 1 << f.width, step).astype(f.dtype), f)
    finite = codes[np.isfinite(codes.to_float64())]
    a, data = ww.Scaled.of(finite, 3.0, dtype), values_of(finite)
    b = a[::-1]
    assert agrees(a + b, page.scaled_add(dtype, data, 3.0, data[::-1], 3.0))
    for by in (2, 5):
        want = page.requantised(dtype, data[by:9], 3.0)
        assert agrees(a[by:9].requantise(), want)


def test_infinities_and_nan_go_through_sums():
    a = ww.scaled([1, 2, 3], "sfloat16") + ww.scaled([4, 5, 6], "sfloat16")
    data = values_of(a.data)
    assert data[2] == INF and math.isnan(a.wasted_bits())
    got, one = a + a, ww.Scaled.of([-65504.0] * 3, 9.0, "sfloat16")
    assert agrees(got, page.scaled_add("sfloat16", data, 9.0, data, 9.0))
    down = (one + one).add(one).add(one)
    assert values_of((a + down).data)[2] in (NAN, INF)
    wrong = ww.Scaled.of(ww.array(["nan", -1], "e5m10"), 1.0, "sfloat16")
    assert np.array_equal(wrong.relu().to_float32(), [math.nan, 0], equal_nan=True)


@pytest.mark.parametrize("like", [None, "notebook"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_round_and_overflow_as_the_page_says(dtype, like):
    """What operations of finite numbers never reach, too."""
    borders = (448.0, 57344.0, 65504.0, 2.0**31)
    ends = [a + b for a in borders for b in (-16, -1, 0, 15, 16, 17, 4096)]
    far = [127.5, 128, 32767.5, 2.0**31 - 128, 2.0**31 + 256, 2.0**40, 1e38, 2.0**-9, 2.0**-10]
    near = [61440.0, *drawn(random.Random(3), 50, 20)]
    x = [page.f32(s * v) for v in (*ends, *far, *near) for s in (1, -1)]
    got = steps.cast(steps.known(dtype), np.float32(x), steps.How(None, like))
    assert values_of(got) == [page.cast(dtype, v, None, like) for v in x]


# --- Second opinion -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_casts_are_those_of_torch(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    kind = getattr(torch, dtype[1:])
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32)
    about = rng.uniform(-1, 1, 200_000) * 2.0 ** rng.integers(-30, 20, 200_000)
    x = np.float32([448, 464, 480, 61440, 65519, 65520])
    x = np.concatenate([bits.view(np.float32), np.float32(about), x, -x])
    ours = steps.cast(steps.known(dtype), x, steps.How()).to_float64()
    theirs = torch.from_numpy(x).to(kind).to(torch.float64).numpy()
    assert np.array_equal(ours, theirs, equal_nan=True)


# --- The tensor as a thing ------------------------------------------------------------------------


def test_facts():
    x = ww.scaled(np.arange(6.0).reshape(2, 3), "sint16")
    assert (x.shape, x.ndim, x.size, len(x), x.nbytes) == ((2, 3), 2, 6, 2, 16)
    assert x.data.dtype == np.int16 and x.scale.dtype == np.float32 and x.dtype == "sint16"
    assert str(x.format) == "int16" and np.asarray(x).dtype == np.float32
    assert np.array_equal(np.asarray(x, np.float64), x.to_float64())
    assert x[1, 2].shape == () and x[:, 1:].shape == (2, 2) and x.T.shape == (3, 2)
    assert x[1, 2].wasted_bits() == 0 and x[0, 0].wasted_bits() == 16
    y = ww.scaled(np.arange(6.0), "SFloat16 ")
    assert y.nbytes == 16 and y[3:].data.format == y.format == ww.Format("e5m10")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_is_copied_and_kept_with_all_it_was_made_by(dtype):
    rounding = "rna" if dtype in INTEGERS else None
    x = ww.scaled([0.1, -0.2, 0.3], dtype, rounding=rounding, like="notebook")
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert repr(y) == repr(x) and y.dtype == x.dtype
        assert repr(y + y) == repr(x + x) and values_of((y @ y).data) == values_of((x @ x).data)


def test_batches_multiply_as_their_matrices():
    rng = np.random.default_rng(2)
    for dtype in DTYPES:
        a = ww.scaled(rng.normal(size=(3, 4, 5)), dtype)
        b = ww.scaled(rng.normal(size=(3, 5, 2)), dtype)
        whole = a @ b
        for i in range(3):
            assert np.array_equal((a[i] @ b[i]).to_float32(), whole[i].to_float32())
        assert (a[0] @ b[0, :, 0]).shape == (4,) and (a[0, 0] @ b[0]).shape == (2,)


def test_sums_broadcast():
    a, b = ww.scaled(np.ones((3, 4)), "sint8"), ww.scaled(np.arange(4.0), "sint8")
    assert (a + b).shape == (3, 4)
    assert np.array_equal((a + b).to_float32()[1], (a[1] + b).to_float32())


def test_what_the_notebook_does_is_kept_by_what_comes_of_it():
    with ww.like("notebook"):
        x = ww.scaled([1, 2, 3], "sint32")
        assert x.to_float32().tolist() == [1, 2, -3]
    assert x.wasted_bits() == ww.scaled([1, 2, 3], "sint32", like="notebook").wasted_bits() > 0.58
    ours = ww.scaled([1, 2, 3], "sint32")
    with ww.like("notebook"):
        assert ours.requantise().to_float32().tolist() == [1, 2, -3]
        with ww.like("qtorch"):  # which knows no scaled tensors
            assert ours.requantise().to_float32().tolist() == [1, 2, 3]
    zeros = ww.scaled([0, 0], "sfloat16")
    assert zeros.requantise().to_float32().tolist() == [0, 0]
    assert np.isnan(zeros.requantise(like="notebook").to_float32()).all()


def test_stochastic_rounding_goes_by_its_seed():
    x = np.linspace(0, 1, 1000)
    once = ww.scaled(x, "sint8", rounding="sr8", seed=3)
    assert np.array_equal(once.data, ww.scaled(x, "sint8", rounding="sr8", seed=3).data)
    assert not np.array_equal(once.data, ww.scaled(x, "sint8", rounding="sr8", seed=4).data)
    up = once.data - ww.scaled(x, "sint8").data
    assert set(up.tolist()) == {0, 1} and 0.4 < up.mean() < 0.6


def test_a_card_shows_the_range_and_what_is_wasted():
    x = ww.scaled([90, 2, 1], "sint8")
    assert "sint8, shape (3,), scale 90" in str(x.card()) and "max / 2^6" in str(x.card())
    assert "powers of two are empty" not in x._repr_html_()
    small = x[1:]._repr_html_()
    assert "5 of 7 powers of two are empty" in small and "<svg" in small
    for dtype in DTYPES:
        for y in (ww.scaled([[0.0]], dtype), ww.scaled(3.0, dtype), ww.scaled([1], dtype)[:0]):
            assert y._repr_html_().startswith("<div") and str(y.card()).startswith(dtype)


def of_scale(scale: float) -> ww.Scaled:
    return ww.scaled([scale], "sint8")


S8 = of_scale(1.0)
F16 = ww.scaled([1, 2, 3], "sfloat16")


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (lambda: ww.scaled([1], "float16"), "dtype = 'float16': it may be sfloat16, sfloat8_e4m3"),
        (lambda: ww.scaled([1], 8), "dtype = 8: it may be"),
        (lambda: ww.scaled([], "sint8"), r"x is empty, of shape \(0,\)"),
        (lambda: ww.scaled([[1, 2], [3, "inf"]], "sint8"), r"x: element \[1, 1\] is inf in bina"),
        (lambda: ww.scaled([0, math.nan], "sint8"), "x: element 1 is nan"),
        (lambda: ww.scaled([1e39], "sint8"), "x: element 0 is inf in binary32"),
        (lambda: ww.scaled([1], "sint8", rounding="up"), "up"),
        (lambda: ww.scaled([1], "sfloat16", rounding="rtz"), "rounding = 'rtz': sfloat16 rounds"),
        (lambda: ww.scaled([1], "sint8", like="qtorch"), "like = 'qtorch': it may be 'notebook'"),
        (lambda: ww.Scaled.of([1], 0.0, "sint8"), "scale = 0.0 is 0.0 in binary32; a scale is"),
        (lambda: ww.Scaled.of([1], math.inf, "sint8"), "scale = inf is inf in binary32"),
        (lambda: ww.Scaled.of([1], math.nan, "sint8"), "scale = nan is nan"),
        (lambda: ww.Scaled.of([1], 1e39, "sint8"), r"scale = 1e\+39 is inf in binary32"),
        (lambda: ww.Scaled.of([3, 128], 1.0, "sint8"), "data: element 1 is 128; sint8 has -128 to"),
        (lambda: ww.Scaled.of([0.5], 1.0, "sint8"), "data hold float64: integers are wanted"),
        (lambda: ww.Scaled.of([0.1], 1.0, "sfloat16"), "data: element 0 is no e5m10; ww.scaled"),
        (lambda: S8[:0].wasted_bits(), r"there is no number, shape \(0,\)"),
        (lambda: S8 + ww.scaled([1], "sint16"), "add: sint8 and sint16 differ"),
        (lambda: F16[:2] + F16, r"shapes \(2,\) and \(3,\) do not broadcast"),
        (lambda: of_scale(3e38) + of_scale(3e38), "the sum of the scales is inf"),
        (lambda: of_scale(1e30) @ of_scale(1e30), "the product of the scales and the terms is inf"),
        (lambda: of_scale(1e-30) @ of_scale(1e-30), "the terms is 0.0 in binary32"),
        (lambda: ww.scaled([[1, 2]], "sint8") @ S8[:1], r"a is \(1, 2\) and b is \(1,\); a.s last"),
        (lambda: ww.scaled(1, "sint8") @ ww.scaled([1], "sint8"), r"a is \(\) and b is \(1,\)"),
        (lambda: S8[:0] @ S8[:0], "sums have no terms"),
        (lambda: (F16 + F16 + F16).requantise(), "data hold inf: what overflowed does not come"),
    ],
)
def test_bad_input_gets_one_line(task, said):
    with pytest.raises(ValueError, match=said) as why:
        task()
    assert "\n" not in str(why.value)


@pytest.mark.parametrize("other", [1, np.ones(3), ww.array([1.0], "e5m10"), "1"])
def test_only_scaled_tensors_are_added_and_multiplied(other):
    x = ww.scaled([1, 2, 3], "sint8")
    for task in (
        lambda: x + other,
        lambda: other + x,
        lambda: x @ other,
        lambda: other @ x,
        lambda: x.add(other),
    ):
        with pytest.raises(TypeError):
            task()
    with pytest.raises(TypeError, match=r"add takes two Scaled, and this is int; ww.scaled\(x, "):
        x.add(1)
