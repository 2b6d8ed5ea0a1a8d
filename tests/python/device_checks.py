"""Arrays on a GPU: one that is this CPU (tests/cuda/pretend_gpu.cpp), where test_device.py runs
these, or the first of a machine's, where `./dev gpu-test` does."""

import ctypes
import itertools
import os

import numpy as np
import pytest
import widthwise as ww
from widthwise import _device, testing
from widthwise import _widthwise as core
from widthwise._metrics import METRICS

if "cuda" not in ww.engines():
    pytest.skip(f"no GPU: {ww.engines().unusable['cuda']}", allow_module_level=True)

# Two GPUs, and streams of any name.
PRETENDED = "tests/cuda" in os.environ.get("LD_LIBRARY_PATH", "")
pretended = pytest.mark.skipif(not PRETENDED, reason="asks for the GPU that is this CPU")


class Interface:
    """An array of another library that has `__cuda_array_interface__`: a view of memory there, into
    which all is copied that `a` is a view of."""

    def __init__(self, a, stream=None, **more):
        whole = a
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        self.memory = core.DeviceMemory(0, max(whole.nbytes, 1))
        self.whole = whole
        self.write()
        offset = a.__array_interface__["data"][0] - whole.ctypes.data
        self.__cuda_array_interface__ = {
            "shape": a.shape,
            "strides": a.strides,
            "typestr": a.dtype.str,
            "data": (self.memory.address + offset, False),
            "version": 3,
            "stream": stream,
        } | more

    def write(self):
        data = np.frombuffer(ctypes.string_at(self.whole.ctypes.data, self.whole.nbytes), np.uint8)
        core.copy_in(_device.queue(0), self.memory.address, data)


class Capsule:
    """One that has DLPack alone."""

    def __init__(self, x):
        self.x = x
        self.asked = []

    def __dlpack__(self, **how):
        self.asked.append(how)
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def codes(shape, format, seed=0):
    """Random ones, with infinities, NaN and zeros of both signs among them."""
    f = ww.Format(format)
    random = np.random.default_rng(seed).integers(0, 1 << min(f.width, 63), shape)
    x = ww.from_bits(random.astype(f.dtype), f)
    named = [code for name, code in f.codes.items()]
    x.bits.reshape(-1)[: len(named)] = named
    return x


def same(there, here):
    assert there.shape == here.shape and there.format == here.format
    return (there.to_device("cpu").bits == here.bits).all()


def test_places_on_a_gpu_are_filled_there():
    x, wide = codes((4, 6), "e5m10"), ww.array(np.eye(2, 3), "e15m112")
    there, of = x.to_device("cuda"), x.copy()
    there[...] = ww.matmul(there, there.T[:, :4], unit="mac(e5m10)")[:, :1]
    of[...] = ww.matmul(x, x.T[:, :4], unit="mac(e5m10)")[:, :1]
    there[2] = there[0]
    of[2] = of[0]
    there[1:], of[1:] = there[:-1], of.copy()[:-1]
    assert same(there, of)
    held = ww.zeros((2, 3), "e15m112").to_device("cuda")
    held[...] = wide.to_device("cuda")
    held[:0] = held[1:1]
    assert same(held, wide)
    with pytest.raises(
        ValueError, match=r"places of shape \(4, 2\) do not lie side by side; whole"
    ):
        there[:, :2] = there[:, 2:4]
    for wrong, told in ((x, "e5m10 on cpu"), (there.astype("e4m3fn"), "e4m3fn on"), (1.5, "float")):
        with pytest.raises(
            TypeError, match=f"a DeviceArray of e5m10 on cuda is wanted, not {told}.*astype"
        ):
            there[...] = wrong


def test_views_of_memory_that_was_found_there_are_filled_from_each_other():
    """Each that another library hands over has a stand-in of its own, which tells of no overlap."""
    x = codes((5, 4), "e5m10")
    for to, of in ((np.s_[:], np.s_[::-1]), (np.s_[1:], np.s_[:-1]), (np.s_[:], np.s_[:, ::-1])):
        there, wanted = x.to_device("cuda"), x.copy()
        found = [ww.from_bits(Capsule(there[part]), x.format) for part in (to, of)]
        found[0][...] = found[1]
        wanted[to] = x[of]
        assert same(there, wanted)


def test_products_look_nothing_up_in_tables():
    x = codes((4, 8), "table(nf4)").to_device("cuda")
    for table, unit in (
        ("nf4", "dot(table(nf4), out=binary32, lanes=4)"),
        ("nf4", "mac(table(nf4), sum=e5m10)"),
    ):
        with pytest.raises(ValueError, match=rf"table\({table}\) is a table, in which a GPU's"):
            ww.matmul(x, x.T, unit=unit)


def test_codes_come_and_go():
    for format in ("e4m3fn", "e5m10", "e8m23", "binary64"):
        x = codes((3, 50), format)
        there = x.to_device("cuda")
        assert there.device == "cuda" and x.device == "cpu" and x.to_device("cpu") is x
        assert same(there, x) and there.to_device("cuda") is there
    wide = ww.array([[1.0, -2.5], ["0.1", "inf"]], "e15m112")
    assert same(wide.to_device("cuda"), wide) and same(wide.to_device("cuda").T, wide.T)
    assert np.array_equal(wide.to_device("cuda").to_float64("rne"), wide.to_float64("rne"))


def test_views_share_memory_and_a_copy_is_asked_for():
    x = codes((4, 6, 5), "e5m10")
    there = x.to_device("cuda")
    for view in (np.s_[1], np.s_[:, ::-1, 1::2], np.s_[..., None], np.s_[3:3], np.s_[2, 1, 4]):
        assert same(there[view], x[view])
        assert same(there[view].contiguous(), x[view])
    assert same(there.transpose(2, 0, 1), x.transpose(2, 0, 1))
    assert there.reshape(24, 5)._place.address == there._place.address
    with pytest.raises(ValueError, match=r"there is none; .contiguous\(\) copies it"):
        there.T.reshape(-1)
    with pytest.raises(ValueError, match="there is none"):
        there[[0, 2]]
    assert same(there.T.contiguous().reshape(-1), x.T.reshape(-1))
    assert len(there) == 4 and [part.shape for part in there] == [(6, 5)] * 4
    nine = there[(None,) * 6]
    with pytest.raises(ValueError, match="an array of 9 axes is not gathered on a GPU; of 8"):
        nine.transpose(*range(8, -1, -1)).contiguous()


def test_dense_memory_is_copied_whole():
    x = codes((4, 6), "e5m10")
    copy = _device.gathered(0, x.to_device("cuda")._for_core)
    here = np.empty(x.shape, np.uint16)
    core.copy_out(_device.queue(0), here, copy.ctypes.data)
    assert np.array_equal(here, x.bits)


@pytest.mark.parametrize(
    "unit", ["mac(e5m10)", "hopper.f16.f32", "kulisch(e5m10)", "mac(e5m10, sum=e5m10:sr9)"]
)
def test_products_are_computed_where_the_operands_lie(unit):
    u = ww.Unit(unit)
    a, b, c = codes((3, 7, 40), u.a, 1), codes((40, 9), u.b, 2), codes((7, 9), u.c, 3)
    x, y, z = (operand.to_device("cuda") for operand in (a, b, c))
    assert same(ww.matmul(x, y, unit=u, seed=5), ww.matmul(a, b, unit=u, seed=5))
    assert same(ww.matmul(x, y, c=z, unit=u), ww.matmul(a, b, c=c, unit=u))
    assert same(ww.matmul(y.T, x[1].T, unit=u), ww.matmul(b.T, a[1].T, unit=u))
    there, raised = ww.matmul(x[:, ::2], y, unit=u, flags=True)
    here, flags = ww.matmul(a[:, ::2], b, unit=u, flags=True)
    assert same(there, here) and np.array_equal(raised, flags)
    assert same(ww.dot(x, x[0], unit=u), ww.dot(a, a[0], unit=u))
    assert same(ww.matmul(x[0, 0], y, unit=u), ww.matmul(a[0, 0], b, unit=u))
    if u.b == u.a:
        assert same(ww.sum(x, unit=u, axis=1), ww.sum(a, unit=u, axis=1))


def test_products_with_block_scales_and_none_of_a_length():
    u = ww.Unit("blackwell.mxfp8")
    a, b = codes((5, 64), u.a), codes((64, 6), u.b)
    sa, sb = codes((5, 2), u.scale_format), codes((2, 6), u.scale_format, 9)
    here = ww.matmul(a, b, unit=u, scale_a=sa, scale_b=sb)
    x, y, sx, sy = (operand.to_device("cuda") for operand in (a, b, sa, sb))
    assert same(ww.matmul(x, y, unit=u, scale_a=sx, scale_b=sy), here)
    nothing = ww.zeros((2, 0), "e5m10")
    there = nothing.to_device("cuda")
    z = ww.matmul(nothing, nothing.T, unit="mac(e5m10)")
    assert same(ww.matmul(there, there.T, unit="mac(e5m10)"), z)
    assert ww.matmul(there.T, there, unit="mac(e5m10)").shape == (0, 0)


def test_memory_of_other_libraries_is_shared():
    x = codes((6, 8), "e4m3fn")
    views = np.s_[:], np.s_[::-2, 1:7:3], np.s_[0:0]
    for view, stream in itertools.product(views, (None, 1, 77) if PRETENDED else (None, 1, 2)):
        taken = ww.from_bits(Interface(x.bits[view], stream), "e4m3fn")
        assert same(taken, x[view])
    given = Interface(x.bits)
    address = given.memory.address
    taken = ww.from_bits(given, "e4m3fn")
    assert taken.__cuda_array_interface__["data"] == (address, False)
    assert taken.T.__cuda_array_interface__["strides"] == (1, 8)
    assert taken[2:, 3].__cuda_array_interface__["data"][0] == address + 19
    x.bits[0, 0] = 0x38
    given.write()
    assert float(taken[0, 0].to_float64()) == 1.0


def test_dlpack_goes_both_ways():
    x = codes((6, 8), "e5m10")
    there = x.to_device("cuda")
    producer = Capsule(there[::-1, 1::2])
    taken = ww.from_bits(producer, "e5m10")
    assert producer.asked == [{"stream": 1}]
    assert same(taken, x[::-1, 1::2]) and same(taken.contiguous(), x[::-1, 1::2])
    stream = 99 if PRETENDED else 2
    with ww.device_stream(stream):
        ww.from_bits(producer, "e5m10")
    assert producer.asked[1:] == [{"stream": stream}]
    assert there.__dlpack_device__() == (2, 0)
    producer.__cuda_array_interface__ = {}  # where there are both, DLPack waits for its own streams
    assert same(ww.from_bits(producer, "e5m10"), x[::-1, 1::2])
    del there, producer
    assert same(taken, x[::-1, 1::2])  # the memory lives as long as its last user
    with pytest.raises(BufferError, match="given where they lie, on cuda"):
        taken.__dlpack__(copy=True)
    capsule = taken.__dlpack__()
    ww._widthwise.from_dlpack(capsule)
    with pytest.raises(ValueError, match="can be taken once"):
        ww._widthwise.from_dlpack(capsule)


@pretended
@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (lambda x, a: ww.matmul(x, a, unit="mac(e5m10)"), TypeError, "a lies on cuda and b on cpu"),
        (lambda x, a: ww.matmul(x, x, unit="mac(e4m3fn)"), TypeError, "takes e4m3fn there"),
        (lambda x, a: x.bits, TypeError, "lie on cuda, and this is done"),
        (
            lambda x, a: ww.classify(ww.array("1", "e15m300").to_device("cuda")),
            ValueError,
            "classes of e15m300: .* digits of working precision are needed",
        ),
        (lambda x, a: ww.less(x, a), TypeError, "x lies on cuda and y on cpu"),
        (lambda x, a: ww.trace("mac(e5m10)", x[0], a[0]), TypeError, "a lies on cuda and b on cpu"),
        (
            lambda x, a: ww.trace("mac(e5m10)", x[0], x[0], multiplier=lambda p, q: p * q),
            ValueError,
            "its multiplier is a function of this process",
        ),
        (
            lambda x, a: ww.from_integer(Interface(a.to_float64()), "e5m10"),
            TypeError,
            "n holds float64 on cuda; integers of up to 64 bits are wanted",
        ),
        (
            lambda x, a: ww.conv1d(x, x[:, None], unit="mac(e5m10)", groups=4, engine="lanes"),
            ValueError,
            "engine = 'lanes', and the operands lie on cuda",
        ),
        (
            lambda x, a: ww.conv1d(x, a[:, None], unit="mac(e5m10)", groups=4),
            TypeError,
            "x lies on cuda and w on cpu",
        ),
        (
            lambda x, a: ww.matmul(x, x, unit="mac(e5m10)", engine="lanes"),
            ValueError,
            "engine = 'lanes', and the operands lie on cuda",
        ),
        (
            lambda x, a: ww.matmul(x, x, unit="mac(e15m236)"),
            TypeError,
            "takes e15m236 there",
        ),
        (lambda x, a: a.to_device("cuda:7"), ValueError, "there are cuda, cuda:1"),
        (lambda x, a: a.to_device("tpu"), ValueError, "it may be 'cpu', 'cuda', or 'cuda:1'"),
        (lambda x, a: ww.from_bits(Interface(a.bits), "e8m23"), TypeError, "holds uint16 of shape"),
        (lambda x, a: ww.from_bits(Interface(a.bits, mask=a), "e5m10"), TypeError, "with a mask"),
        (lambda x, a: ww.DeviceArray(), TypeError, "make one with x.to_device"),
    ],
)
def test_what_cannot_be_done_is_said(wrong, kind, words):
    a = codes((4, 4), "e5m10")
    with pytest.raises(kind, match=words):
        wrong(a.to_device("cuda"), a)


@pretended
def test_an_array_is_shown_without_being_fetched():
    x = ww.zeros((2, 3), "e5m10").to_device("cuda:1")
    assert repr(x) == "DeviceArray((2, 3), e5m10, cuda:1)"


def test_a_sweep_measures_on_the_gpu_what_it_measures_here():
    random = np.random.default_rng(3)
    a, b = random.normal(size=(6, 40)), random.normal(size=(40, 7))
    units = ["mac(e5m10)", "mac(e4m3)", "kahan(e5m10)", "hopper.e4m3.f32", "mac(e15m112)"]
    done = []
    there = ww.sweep(
        units, a, b, metrics=list(METRICS), engine="cuda", progress=lambda *x: done.append(x)
    )
    here = ww.sweep(units, a, b, metrics=list(METRICS), engine="reference")
    for metric in METRICS:
        assert there[metric] == pytest.approx(here[metric], rel=1e-13, nan_ok=True), metric
    for against, most in (("given", 1e5), ("operands", 3e4), ("given", np.inf)):
        a[0, 0] = most  # more than some of them hold
        there, here = (
            ww.sweep(units, a, b, engine=engine, against=against)
            for engine in ("cuda", "reference")
        )
        for metric in here.columns[2:]:
            assert there[metric] == pytest.approx(here[metric], rel=1e-12, nan_ok=True), metric
    assert done == [(4, 5), (5, 5)]  # four together, and one whose results pass 64 bits
    dots = ww.sweep(units[:2], a[0], b[:, 0], engine="cuda:1" if PRETENDED else "cuda")
    assert dots["max_abs"] == pytest.approx(ww.sweep(units[:2], a[0], b[:, 0])["max_abs"])
    with pytest.raises(ValueError, match="a's last axis and b's first must match"):
        ww.sweep(units, a, b.T, exact=np.zeros((6, 40)), engine="cuda")
    with pytest.raises(ValueError, match=r"element \[0, 0\] is NaN and e2m1fn has no NaN"):
        ww.sweep("mac(e2m1fn)", a * np.nan, b, engine="cuda")


@pytest.mark.parametrize("format", ["e5m10", "e4m3fnuz", "e8m0fnu", "e15m112", "e15m200"])
def test_classes_and_signs_are_found_where_the_numbers_lie(format):
    x = ww.from_bits(testing.special_codes(ww.Format(format)), format)[::-1]
    there = x.to_device("cuda")[::-1][::-1]
    assert np.array_equal(ww.classify(there), ww.classify(x))
    for question in (np.isnan, np.isinf, np.isfinite, np.signbit):
        assert np.array_equal(question(there), question(x)), question
    assert ww.isnan(there[0]).shape == () and ww.isnan(there[:0]).shape == (0,)


def test_elementwise_functions_compute_where_their_operands_lie():
    x, y, z = codes((3, 1, 8), "e5m10", 1), codes((5, 8), "e5m10", 2), codes((8,), "e4m3fn", 3)
    there = [operand.to_device("cuda") for operand in (x, y, z)]
    assert same(ww.add(*there[:2]), ww.add(x, y)) and same(there[0] * there[1], x * y)
    assert same(-there[1][::-1], -y[::-1]) and same(abs(there[0]), abs(x))
    for how in ({"rounding": "rup"}, {"rounding": "sr8", "seed": 7}, {"tininess": "before"}):
        result, raised = ww.fma(*there, format="e4m3fn", flags=True, **how)
        wanted, flags = ww.fma(x, y, z, format="e4m3fn", flags=True, **how)
        assert same(result, wanted) and np.array_equal(raised, flags)
    assert same(there[1].astype("e8m7", "rtz"), y.astype("e8m7", "rtz"))
    wide = ww.array([1.5, "0.1"], "e15m112")
    assert same(wide.to_device("cuda") + wide.to_device("cuda"), wide + wide)
    with pytest.raises(TypeError, match="x lies on cuda and y on cpu"):
        ww.add(there[0], y)


@pytest.mark.parametrize("format", ["e4m3fn", "e5m10", "binary64", "table(nf4)"])
def test_comparisons_and_scaleb_are_computed_where_their_operands_lie(format):
    x, y = codes((3, 1, 8), format, 1), codes((5, 8), format, 2)
    y[0].bits[:] = x[0, 0].bits
    a, b = x.to_device("cuda"), y.to_device("cuda")
    names = ("equal", "less", "greater_equal", "unordered", "not_equal", "less_signaling")
    for name in (*names, "total_order", "total_order_magnitude"):
        compare = getattr(ww, name)
        truths, raised = compare(a, b[:, ::-1], flags=True)
        wanted, flags = compare(x, y[:, ::-1], flags=True)
        assert truths.dtype == np.bool_ and np.array_equal(truths, wanted), name
        assert np.array_equal(raised, flags), name
    assert np.array_equal(a < b, x < y) and np.array_equal(a[0] == b, x[0] == y)
    n = np.arange(-20, 20).reshape(5, 8)
    for how in ({}, {"rounding": "rtz", "format": "e5m2"}, {"rounding": "sr8", "seed": 7}):
        result, raised = ww.scaleb(a, n, flags=True, **how)
        wanted, flags = ww.scaleb(x, n, flags=True, **how)
        assert same(result, wanted) and np.array_equal(raised, flags)
    assert same(ww.scaleb(b[0, 0], 3), ww.scaleb(y[0, 0], 3))
    assert same(ww.scaleb(a[:0], n), ww.scaleb(x[:0], n))


@pytest.mark.parametrize(
    "unit", ["mac(e5m10)", "hopper.f16.f32", "kulisch(e5m10)", "mac(e5m10, sum=e5m10:sr9)"]
)
def test_convolutions_sums_and_traces_are_computed_where_their_operands_lie(unit):
    u = ww.Unit(unit)
    x, w, c = codes((2, 4, 7, 9), u.a, 1), codes((6, 2, 3, 2), u.b, 2), codes((24,), u.c, 3)[:6]
    a, b, d = (operand.to_device("cuda") for operand in (x, w, c))
    for how in ({}, {"padding": (1, 2), "stride": 2}, {"dilation": (1, 3), "seed": 5}):
        there, raised = ww.conv2d(a, b, c=d, unit=u, groups=2, flags=True, **how)
        here, flags = ww.conv2d(x, w, c=c, unit=u, groups=2, flags=True, **how)
        assert same(there, here) and np.array_equal(raised, flags)
        without = ww.conv2d(a, b, unit=u, groups=2, **how)
        assert same(without, ww.conv2d(x, w, unit=u, groups=2, **how))
    assert same(ww.conv2d(a[1], b, unit=u, groups=2), ww.conv2d(x[1], w, unit=u, groups=2))
    full = ww.conv2d(x, w, unit=u, groups=2)
    if u.c == u.result_format:
        onto = ww.conv2d(a, b, c=full.to_device("cuda"), unit=u, groups=2)
        assert same(onto, ww.conv2d(x, w, c=full, unit=u, groups=2))
    turned = ww.conv1d(a[0, :, ::-1, 0], b[..., 0].contiguous(), unit=u, groups=2, padding=1)
    assert same(turned, ww.conv1d(x[0, :, ::-1, 0], w[..., 0], unit=u, groups=2, padding=1))
    if u.a == u.b:
        sums, raised = ww.cumsum(a, unit=u, axis=1, flags=True)
        wanted, flags = ww.cumsum(x, unit=u, axis=1, flags=True)
        assert same(sums, wanted) and np.array_equal(raised, flags)
        assert same(ww.cumsum(a[0, 0], unit=u, seed=2), ww.cumsum(x[0, 0], unit=u, seed=2))
    rows = (a[0, 0, 0], a[1, 1, 1]), (x[0, 0, 0], x[1, 1, 1])
    for multiplier in (None, "mitchell"):
        how = {"seed": 3, "index": 7, "multiplier": multiplier}
        there, here = (ww.trace(u, *pair, **how) for pair in rows)
        assert there.wires == here.wires and there.result.bits == here.result.bits


@pytest.mark.parametrize("format", ["e5m10", "e4m3fnuz", "e15m24", "table(nf4)"])
def test_integers_become_numbers_and_numbers_integers_where_they_lie(format):
    x = codes((4, 9), format)
    there = x.to_device("cuda")
    for dtype in ("int32", "uint32", "int64", "uint64"):
        for how in ({}, {"rounding": "rup"}, {"rounding": "sr7", "seed": 3}):
            got, raised = ww.to_integer(there[::-1, 1:], dtype, flags=True, **how)
            wanted, flags = ww.to_integer(x[::-1, 1:], dtype, flags=True, **how)
            assert got.dtype == wanted.dtype == dtype
            assert np.array_equal(got, wanted) and np.array_equal(raised, flags)
    assert ww.to_integer(there[0, 0]) == ww.to_integer(x[0, 0])
    for dtype in ("int8", "uint8", "int16", "uint32", "int64", "uint64"):
        ends = np.iinfo(dtype)
        n = np.random.default_rng(1).integers(ends.min, ends.max, (5, 6), dtype, endpoint=True)
        n[0, :3] = ends.min, ends.max, 3
        for view in (n, n[::-2, 1:], n[1, 1], n[:0]):
            result, raised = ww.from_integer(Interface(np.asarray(view)), format, flags=True)
            wanted, flags = ww.from_integer(view, format, flags=True)
            assert same(result, wanted) and np.array_equal(raised, flags)
        assert same(
            ww.array(Interface(n), format, rounding="rtz"), ww.array(n, format, rounding="rtz")
        )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values_on_a_gpu_are_rounded_there(dtype):
    values = np.random.default_rng(4).normal(size=(7, 9)).astype(dtype)
    values[0, :4] = [np.inf, -np.inf, np.nan, -0.0]
    for format, how in (("e4m3fn", {}), ("e5m10", {"rounding": "rdn"}), ("e8m7", {"seed": 3})):
        there = ww.array(Interface(values[::2]), format, **how)
        assert same(there, ww.array(values[::2], format, **how))
    assert same(
        ww.array(ww.array(values, "e5m2").to_device("cuda"), "e4m3"),
        ww.array(values, "e5m2").astype("e4m3"),
    )
    with pytest.raises(
        ValueError, match=r"element \[0, 2\] is NaN or below zero, and e2m1fn has no"
    ):
        ww.array(Interface(values), "e2m1fn")
    assert same(
        ww.array(Interface(values), "e2m1fn", nan="zero"), ww.array(values, "e2m1fn", nan="zero")
    )
    with pytest.raises(TypeError, match="holds complex64 on cuda; float16, float32, float64"):
        ww.array(Interface(np.zeros(3, np.complex64)), "e5m10")
    with pytest.raises(TypeError, match="holds void16 on cuda; float16, float32, float64"):
        ww.array(Interface(np.zeros(3, "V2")), "e5m10")


def test_every_nan_and_x86s_extremes_are_those_of_this_machine():
    x, y = codes((3000,), "binary32", 1), codes((3000,), "binary32", 2)
    y.bits[:9], y.bits[9:18] = x.bits[8::-1], x.bits[:9]  # specials beside each other
    there = [z.to_device("cuda") for z in (x, y)]
    for nan in ("canonical", "negative", "propagate", "x86"):
        for op in (ww.add, ww.divide, ww.min_x86, ww.max_x86):
            got, flags = op(*there, nan=nan, flags=True)
            want, raised = op(x, y, nan=nan, flags=True)
            assert same(got, want) and (flags == raised).all()
        narrow = ww.convert(there[0], "e4m3fn", nan=nan)
        assert same(narrow, ww.convert(x, "e4m3fn", nan=nan))


def test_sums_and_convolutions_on_a_gpu_take_no_random_words():
    x, u = ww.ones((1, 3), "e5m10").to_device("cuda"), "mac(e5m10, sum=e5m10:sr8)"
    way_out = r"a GPU, which draws by seed; bring them here with .to_device\('cpu'\)"
    for call in (
        lambda: ww.cumsum(x, unit=u, random=1),
        lambda: ww.conv1d(x, ww.ones((1, 1, 2), "e5m10").to_device("cuda"), unit=u, random=1),
        lambda: ww.conv2d(x[None], x[None, None], unit=u, random=1),
    ):
        with pytest.raises(ValueError, match=way_out):
            call()
