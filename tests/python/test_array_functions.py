"""NumPy's functions of Arrays, order, files, and the memory of other libraries."""

import copy
import io
import pickle
import zipfile
from fractions import Fraction
from math import ceil, floor, trunc

import ml_dtypes
import numpy as np
import pytest
import widthwise as ww
from hypothesis import given
from hypothesis import strategies as st
from widthwise import testing

FORMATS = ["e5m10", "e4m3fn", "e4m3fnuz", "e8m0fnu", "binary8p3", "ue5m3", "e2m1fn", "e20m64"]
FORMATS += ["e15m112", "e4m3;daz", "e3m60"]
# As NumPy's own function of the places 0, 1, …: what comes out says where each element went.
MOVES = [
    lambda x: np.reshape(x, (2, 6)),
    lambda x: np.ravel(x),
    lambda x: np.transpose(x),
    lambda x: np.moveaxis(x, 0, 1),
    lambda x: np.swapaxes(x, 0, 1),
    lambda x: np.expand_dims(x, 1),
    lambda x: np.squeeze(np.expand_dims(x, 0)),
    lambda x: np.flip(x, 1),
    lambda x: np.fliplr(np.flipud(x)),
    lambda x: np.roll(x, 5, axis=1),
    lambda x: np.rot90(x),
    lambda x: np.take(x, [3, 0, 3], axis=1),
    lambda x: np.take(x, 7),
    lambda x: np.take_along_axis(x, np.array([[0], [2], [1]]), 1),
    lambda x: np.delete(x, 1, axis=0),
    lambda x: np.repeat(x, 2, axis=0),
    lambda x: np.tile(x, (2, 1)),
    lambda x: np.resize(x, (5, 5)),
    lambda x: np.diagonal(x),
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: np.broadcast_arrays(x, x[0])[1],
    lambda x: np.atleast_3d(x),
    lambda x: np.split(x, 2, axis=1)[1],
    lambda x: np.array_split(x, 2)[0],
    lambda x: np.hsplit(x, 4)[3],
    lambda x: np.vsplit(x, 3)[2],
    lambda x: np.concatenate([x, x[::-1]]),
    lambda x: np.concatenate((x, x), axis=None),
    lambda x: np.stack([x, x], axis=-1),
    lambda x: np.vstack([x, x]),
    lambda x: np.hstack([x, x]),
    lambda x: np.dstack([x, x]),
    lambda x: np.column_stack([x[0], x[1]]),
    lambda x: np.block([[x, x], [x, x]]),
    lambda x: np.append(x, x),
    lambda x: np.insert(x, 1, x[0], axis=0),
    lambda x: np.where([True, False, True, False], x, x[::-1]),
    lambda x: np.copy(x),
]


def any_codes(format, count, seed=0):
    """Codes of a format, specials among them."""
    f = ww.Format(format)
    rng = np.random.default_rng(seed)
    special = testing.special_codes(f)
    drawn = [special[i] for i in rng.integers(0, len(special), count)]
    return ww.from_bits(drawn, f)


@pytest.mark.parametrize("format", ["e5m10", "e8m0fnu", "e20m64"])
@pytest.mark.parametrize("move", MOVES)
def test_a_function_that_moves_elements_moves_codes(format, move):
    x = any_codes(format, 12).reshape(3, 4)
    places = move(np.arange(12).reshape(3, 4))
    z = move(x)
    assert isinstance(z, ww.Array) and z.format == x.format and z.shape == places.shape
    np.testing.assert_array_equal(z.bits, x.ravel().bits[places])


def test_shapes_are_told_and_views_share_memory():
    x = ww.zeros((3, 4), "e20m64")
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((3, 4), 2, 12)
    assert np.shares_memory(np.reshape(x, 12), x) and not np.shares_memory(np.copy(x), x)


def test_matplotlib_draws_exact_values_of_arrays():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    figure, axes = pyplot.subplots()
    x = ww.array([0.1, 0.2, 0.4], "e5m10")
    (line,) = axes.plot(x, x * x)
    assert line.get_xdata().tolist() == x.to_float64().tolist()
    assert [bar.get_height() for bar in axes.bar(range(3), x)] == x.to_float64().tolist()
    axes.scatter(x, x)
    axes.hist(x)
    axes.imshow(x.reshape(3, 1))
    with pytest.raises(TypeError, match="is no float64; name a rounding"):
        axes.bar(range(2), ww.array(["1/3", 1], "e15m112"))
    pyplot.close(figure)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda x: np.sum(x), r"np.sum is not defined on Arrays: ww.sum\(x, unit=...\) sums in an"),
        (lambda x: np.cumsum(x), r"np.cumsum is not defined on Arrays: ww.cumsum\(x, unit=...\)"),
        (lambda x: np.dot(x, x), r"np.dot is not defined on Arrays: ww.dot\(x, y, unit=...\) sums"),
        (lambda x: np.mean(x), r"np.mean is not defined on Arrays: divide what ww.sum\(x, unit"),
        (lambda x: np.var(x), r"np.var is not defined on Arrays: square by \*, sum by ww.sum"),
        (lambda x: np.clip(x, "0", "1"), "np.clip of e5m10 and str: it moves Arrays of one"),
        (lambda x: np.clip(x, x, out=x), "np.clip with out is not defined on Arrays: name the"),
        (lambda x: np.argmax(x, out=x), "np.argmax with out is not defined on Arrays: name axis"),
        (lambda x: np.savetxt("x", x), r"np.savetxt is not defined on Arrays: np.save keeps every"),
        (
            lambda x: np.concatenate([x, [1.0]]),
            r"np.concatenate of e5m10 and float: it moves Arrays of one format, given by position; "
            r"make them with ww.array\(value, format\)",
        ),
        (lambda x: np.concatenate([x, x.bits]), "np.concatenate of e5m10 and uint16: it moves"),
        (
            lambda x: np.stack([x, x.astype("e4m3fn")]),
            r"np.stack of e5m10 and e4m3fn: .* or convert with .astype\(format\)",
        ),
        (lambda x: np.where([True, False], x, [0.0]), "np.where of e5m10 and float: it moves"),
        (lambda x: np.take(a=x, indices=[0]), "np.take of nothing: it moves Arrays of one format"),
        (
            lambda x: np.concatenate([x, x], out=np.empty(4)),
            r"np.concatenate with out is not defined on Arrays: assign, as z\[...\] = x",
        ),
        (lambda x: np.max(x, initial=0), "np.max with initial is not defined on Arrays: name axis"),
        (lambda x: np.divmod(x, x), r"np.divmod is not defined on Arrays: x.to_float64\(\)"),
    ],
)
def test_any_other_function_names_the_way_out(wrong, message):
    with pytest.raises(TypeError, match=message):
        wrong(ww.array([1.0, 2.0], "e5m10"))


@pytest.mark.parametrize(
    "name, way",
    [
        ("max", r"an Array has no 'max': np.max\(x\) takes Arrays"),
        ("clip", r"an Array has no 'clip': np.clip\(x\) takes Arrays"),
        ("sum", r"an Array has no 'sum': ww.sum\(x, unit=...\) sums in an order"),
        ("dtype", "an Array has no 'dtype': .format is the numbers'"),
        ("nbytes", "an Array has no 'nbytes': .bits.nbytes is what the codes take"),
        ("to_float32", r"'to_float32': .astype\('binary32'\).view\(np.float32\) rounds"),
        ("fill", r"an Array has no 'fill': x\[...\] = value rounds it once"),
        ("colour", "an Array has no 'colour'$"),
    ],
)
def test_a_method_of_numpys_names_the_way_out(name, way):
    x = ww.array([1.0, 2.0], "e5m10")
    with pytest.raises(AttributeError, match=way):
        getattr(x, name)
    assert not hasattr(x, name)


def test_one_number_is_formatted_as_a_float_is():
    x = ww.array([1.0, 2.5], "e5m10")
    assert f"{x[1]:.3f} {x} {x[0]:>5}" == "2.500 [1 2.5]   1.0"
    with pytest.raises(TypeError, match=r"an array of shape \(2,\) is not one number"):
        format(x, ".3f")


# --- Order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_sorting_is_the_total_order_of_numbers_with_nan_last(format):
    f = ww.Format(format)
    every = np.arange(1 << f.width) if f.width <= 10 else None
    x = any_codes(format, 3000) if every is None else ww.from_bits(every, f)
    x = x[np.random.default_rng(1).permutation(x.size)]
    z = np.sort(x)
    numbers = z[~ww.isnan(z)]
    assert ww.isnan(z[numbers.size :]).all() and numbers.size > 0
    assert ww.total_order(numbers[:-1], numbers[1:]).all()
    assert sorted(map(bytes, z.bits.reshape(z.size, -1))) == sorted(
        map(bytes, x.bits.reshape(x.size, -1))
    )
    np.testing.assert_array_equal(x[x.argsort()].bits, z.bits)


def test_sorting_is_stable_and_takes_axes():
    x = any_codes("e3m4", 60).reshape(5, 12)
    for axis in (0, 1, -1, None):
        z = np.sort(x, axis=axis)
        assert z.shape == ((60,) if axis is None else (5, 12))
        rank = np.argsort(x, axis=axis)
        same = x.ravel()[rank] if axis is None else np.take_along_axis(x, rank, axis)
        np.testing.assert_array_equal(z.bits, same.bits)
    ties = ww.array([1.0] * 9 + [-1.0] * 9, "e5m10")
    assert ties.argsort().tolist() == [*range(9, 18), *range(9)]


@pytest.mark.parametrize("format", FORMATS)
def test_the_greatest_and_the_least_are_those_of_ieee_754(format):
    x = any_codes(format, 90, seed=3).reshape(9, 10)
    numbers = np.where(ww.isnan(x), x[~ww.isnan(x)][0], x)
    for y in (x, numbers, x[:1, :1]):
        for axis in (0, 1, None):
            least, greatest = np.min(y, axis=axis), np.max(y, axis=axis)
            nan = ww.isnan(y).any(axis=axis)
            np.testing.assert_array_equal(ww.isnan(least), nan)
            np.testing.assert_array_equal(ww.isnan(greatest), nan)
            z = np.sort(y, axis=axis)
            first, last = (z[0], z[-1]) if axis != 1 else (z[:, 0], z[:, -1])
            same = ww.equal(least, first) & ww.equal(greatest, last)
            assert (same | nan).all()
    with pytest.raises(ValueError, match=r"x of shape \(0,\) has no element along axis None: it h"):
        np.max(x[0, :0])


@pytest.mark.parametrize("format", FORMATS)
def test_the_place_of_an_extreme_is_the_first_of_them(format):
    x = any_codes(format, 5, seed=9)[np.random.default_rng(2).integers(0, 5, 60)].reshape(
        6, 10
    )  # with many equals
    for y in (x, any_codes(format, 60, seed=4).reshape(6, 10), x[:1, :1]):
        nan = ww.isnan(y)
        for axis in (0, 1, -1, None):
            for place, end in ((np.argmin, 0), (np.argmax, -1)):
                found = place(y, axis=axis)
                rows = [y.ravel()] if axis is None else list(y if axis else y.transpose())
                wanted = []
                for row in rows:
                    last = np.sort(row[~ww.isnan(row)])[end] if (~ww.isnan(row)).any() else row[0]
                    same = [np.array_equal(code.bits, last.bits) for code in row]
                    wanted.append(int(np.argmax(ww.isnan(row) if ww.isnan(row).any() else same)))
                assert np.ravel(found).tolist() == wanted
        assert nan.any() == ww.isnan(y.ravel()[np.argmin(y)])
    with pytest.raises(ValueError, match=r"x of shape \(0,\) has no element .* no argmax"):
        np.argmax(x[0, :0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_places_ends_and_truths_are_numpys(dtype):
    rng = np.random.default_rng(5)
    values = rng.choice(np.array([-np.inf, -2.5, -0.5, 0.0, 0.5, 1.5, 2.5, np.nan], dtype), (5, 8))
    x = ww.view(values)
    low, high = ww.view(values[0]), ww.view(dtype([[1.5]]))
    for axis in (0, 1, None):
        assert (np.argmin(x, axis=axis) == np.argmin(values, axis=axis)).all()
        assert (np.argmax(x, axis) == np.argmax(values, axis)).all()
        for function in (np.any, np.all, np.count_nonzero):
            assert np.array_equal(function(x, axis=axis), function(values, axis=axis))
    for mine, theirs in (
        (np.clip(x, low, high), np.clip(values, values[0], dtype(1.5))),
        (np.clip(x, None, high), np.clip(values, None, dtype(1.5))),
        (np.clip(x, min=low), np.clip(values, min=values[0])),
        (np.clip(x), np.clip(values)),
        (np.round(x), np.round(values)),
        (np.around(x), np.around(values)),
        (np.fix(x), np.fix(values)),
        (np.square(x), np.square(values)),
    ):
        np.testing.assert_array_equal(mine.view(dtype), theirs)
    for function in (np.nonzero, np.flatnonzero, np.argwhere):
        np.testing.assert_array_equal(function(x), function(values))


def test_array_equal_compares_values():
    x = ww.array([0.0, np.nan, 1.0], "e5m10")
    y = ww.array([-0.0, np.nan, 1.0], "e4m3fn")
    assert not np.array_equal(x, y) and np.array_equal(x, y, equal_nan=True)
    assert np.array_equal(x[::2], y[::2]) and not np.array_equal(x, y[:2])


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e3m4", "e20m64"])
def test_rounding_ufuncs_are_those_of_numpy(format):
    x = any_codes(format, 500)
    x = np.concatenate([x, ww.array([-2.5, -0.5, 0.5, 1.5, 2.5, -0.0], format)])
    small = ww.isfinite(x) & ww.less(np.abs(x), ww.array(8, format))
    x = np.where(small, x, ww.array(1.5, format))
    fractions = x.to_fractions()
    for ufunc, whole in ((np.rint, round), (np.floor, floor), (np.ceil, ceil), (np.trunc, trunc)):
        z = ufunc(x)
        assert z.to_fractions().tolist() == [whole(value) for value in fractions]
        zeros = ww.equal(z, ww.zeros((), format))
        assert (np.signbit(z) == np.signbit(x))[zeros].all()  # -0.25 becomes -0
    signs = np.signbit(x.to_float64("rne"))
    np.testing.assert_array_equal(np.signbit(x)[~ww.isnan(x)], signs[~ww.isnan(x)])
    assert not np.signbit(ww.array([1.0], "ue5m3")).any()


# --- Files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_files_keep_every_bit_and_the_format_without_pickle(format, shape, tmp_path):
    count = int(np.prod(shape))
    x = any_codes(format, count).reshape(shape)
    np.save(tmp_path / "x.npy", x)
    z = ww.load(tmp_path / "x.npy")
    assert z.format == x.format and z.shape == x.shape
    np.testing.assert_array_equal(z.bits, x.bits)
    theirs = np.load(tmp_path / "x.npy", allow_pickle=False)
    np.testing.assert_array_equal(theirs[str(x.format)], x.bits)
    np.savez(tmp_path / "x.npz", x, y=x[..., :1] if shape else x, plain=np.arange(3.0))
    found = ww.load(tmp_path / "x.npz")
    assert set(found) == {"y", "plain", "arr_0"}
    np.testing.assert_array_equal(found["arr_0"].bits, x.bits)
    assert found["plain"].tolist() == [0.0, 1.0, 2.0]
    np.savez_compressed(tmp_path / "c.npz", x=x)
    np.testing.assert_array_equal(ww.load(tmp_path / "c.npz")["x"].bits, x.bits)


def test_a_file_that_is_no_arrays_is_refused(tmp_path):
    np.save(tmp_path / "two.npy", np.zeros(2, [("a", "u1"), ("b", "u1")]))
    assert ww.load(tmp_path / "two.npy").dtype.names == ("a", "b")  # NumPy's, as it was
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ValueError, match="cut.npz.*: it is empty, cut short"):
        ww.load(tmp_path / "cut.npz")
    np.save(tmp_path / "one.npy", np.full(2, 0xFF, [("e2m1fn", "u1")]))
    with pytest.raises(ValueError, match="element 0 is 0xff; codes of e2m1fn take 4 bits"):
        ww.load(tmp_path / "one.npy")
    np.save(tmp_path / "object.npy", np.array([{}], object), allow_pickle=True)
    (tmp_path / "notes.txt").write_text("none")
    for name in ("object.npy", "notes.txt"):
        with pytest.raises(ValueError, match=f"{name}.*: neither .npy nor .npz"):
            ww.load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "no.npz", "w") as archive:
        archive.writestr("readme", "none")
    with pytest.raises(ValueError, match="readme of this file is no array; np.savez"):
        ww.load(tmp_path / "no.npz")


def test_a_file_of_the_other_byte_order_is_read():
    file = io.BytesIO()
    np.save(file, np.array([0x3C00, 0x7C00], ">u2").view([("e5m10", ">u2")]))
    file.seek(0)
    assert str(ww.load(file)) == "[1 inf]"


@pytest.mark.parametrize("format", FORMATS)
def test_copies_and_pickles_are_the_same_codes(format):
    x = any_codes(format, 40)
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert again.format == x.format
        np.testing.assert_array_equal(again.bits, x.bits)
    assert not np.shares_memory(copy.deepcopy(x).bits, x.bits)


# --- The memory of other libraries ---------------------------------------------------------------

NARROW = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3fnuz"]
NARROW += ["float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e8m0fnu", "float6_e2m3fn"]
NARROW += ["float6_e3m2fn", "float4_e2m1fn", "bfloat16"]
NATIVE = [np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", [getattr(ml_dtypes, name) for name in NARROW] + NATIVE)
def test_views_share_memory_both_ways(dtype):
    f = ww.Format(np.dtype(dtype).name)
    x = any_codes(str(f), 60).reshape(6, 10)
    theirs = x.view(dtype)
    assert theirs.dtype == dtype and np.shares_memory(theirs.view(f.dtype), x.bits)
    np.testing.assert_array_equal(theirs.view(f.dtype), x.bits)
    again = ww.view(theirs[::2, 1::3])  # with strides of its own
    assert again.format == f and np.shares_memory(again.bits, x.bits)
    np.testing.assert_array_equal(again.bits, x.bits[::2, 1::3])
    assert ww.view(np.array(1.0, dtype)).shape == ()


def test_a_view_that_would_change_bits_is_refused():
    x = ww.array([1.0], "e5m10")
    with pytest.raises(TypeError, match=r"dtype is float32 and the array is e5m10: a view changes"):
        x.view(np.float32)
    with pytest.raises(TypeError, match=r"Round first, as .astype\('e4m3fn'\).view\(...\)"):
        x.view(ml_dtypes.float8_e4m3fn)
    with pytest.raises(TypeError, match=r"dtype is complex64 .* Take .bits"):
        x.view(np.complex64)
    with pytest.raises(TypeError, match=r"x is list; a NumPy array of floats or a tensor"):
        ww.view([1.0])
    with pytest.raises(TypeError, match=r"x holds int64, whose memory is no codes of a format"):
        ww.view(np.arange(3))
    with pytest.raises(TypeError, match=r"x holds >f4, whose memory is no codes of a format"):
        ww.view(np.ones(3, ">f4"))


@pytest.mark.parametrize("format", ["e5m10", "e4m3fn", "e20m64", "e15m112", "e28m20"])
def test_mpfr_numbers_are_exact_both_ways(format):
    x = any_codes(format, 200)
    numbers = x.to_mpfr()
    again = ww.array(numbers, format)
    nan = ww.isnan(x)
    np.testing.assert_array_equal(ww.isnan(again), nan)
    np.testing.assert_array_equal(again.bits[~nan], x.bits[~nan])
    if "20" not in format:  # whose exponents no fraction writes out
        fractions = x[ww.isfinite(x)].to_fractions()
        assert [Fraction(*z.as_integer_ratio()) for z in numbers[ww.isfinite(x)]] == list(fractions)


def test_mpfr_numbers_past_gmpy2s_exponents_are_refused():
    f = ww.Format("e62m8")
    x = ww.from_bits([f.codes["one"], f.codes["min_subnormal"]], f)
    assert x[:1].to_mpfr()[0] == 1
    with pytest.raises(OverflowError, match=r"element 1 .* integer times 2\^-?\d+, past gmpy2's"):
        x.to_mpfr()


# --- Strategies ----------------------------------------------------------------------------------


@given(st.data())
def test_strategies_draw_codes_of_the_format(data):
    f = data.draw(testing.formats())
    x = data.draw(testing.arrays(f, (2, 3)))
    assert x.format == f and x.shape == (2, 3)
    n = data.draw(testing.numbers(f, where=ww.isfinite))
    assert n.shape == () and ww.isfinite(n)
    assert data.draw(testing.arrays(f, st.just((0, 2)))).shape == (0, 2)


@pytest.mark.parametrize("format", FORMATS)
def test_special_codes_are_every_class_there_is(format):
    f = ww.Format(format)
    classes = set(ww.classify(ww.from_bits(testing.special_codes(f), f)))
    if f.width <= 8:
        assert classes == set(ww.classify(ww.from_bits(np.arange(1 << f.width), f)))
    assert set(f.codes.values()) <= set(testing.special_codes(f))


def test_a_function_of_a_module_is_called_by_its_whole_name():
    x = ww.array([1.0, 2.0], "posit16")
    for function, name in ((np.linalg.norm, "np.linalg.norm"), (np.fft.fft, "np.fft.fft")):
        with pytest.raises(TypeError, match=f"^{name} is not defined on Arrays: "):
            function(x)
    with pytest.raises(TypeError, match="^np.sum is not defined"):
        np.sum(x)


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float16, "float16"), (np.dtype("f4"), "float32"), (float, "float64")]
)
def test_a_dtype_in_place_of_a_format_is_told_its_text(dtype, name):
    x = ww.array([1.0], "e4m3fn")
    for call in (lambda: x.astype(dtype), lambda: ww.array([1.0], dtype), lambda: ww.Format(dtype)):
        with pytest.raises(TypeError, match=f"a text is wanted, here '{name}', or a ww.Format"):
            call()
    assert x.astype(name).format.width == np.dtype(dtype).itemsize * 8


@pytest.mark.parametrize("format", ["e5m10", "fixed8.4", "posit8es2", "takum16", "table(-1,0,1,2)"])
def test_arrays_like_another(format):
    x = ww.array([[1.0, 2.0], [-1.0, 0.0]], format)
    assert (np.zeros_like(x).bits == ww.zeros((2, 2), format).bits).all()
    assert (np.ones_like(x).bits == ww.ones((2, 2), format).bits).all()
    assert (np.full_like(x, 2).bits == ww.full((2, 2), 2, format).bits).all()
    assert np.empty_like(x).format == x.format and np.empty_like(x).shape == x.shape
    assert np.zeros_like(x, shape=3).shape == (3,)
    with pytest.raises(TypeError, match="dtype = 'f4': what is like an Array has its format"):
        np.full_like(x, 1, dtype="f4")


def test_closeness_is_of_values():
    x, y = ww.array([1.0, 2.0, np.nan], "e5m10"), ww.array([1.001, 2.5, np.nan], "bfloat16")
    assert np.isclose(x, y, rtol=1e-2).tolist() == [True, False, False]
    assert np.isclose(x, [1.0, 2.0, np.nan], equal_nan=True).tolist() == [True, True, True]
    assert np.allclose(x[:2], [1.0, 2.0]) and not np.allclose(x[:2], y[:2])
    assert np.isclose(1.0, x[0]) and np.allclose(np.float64(2), x[1])


def test_equality_of_an_array_and_other_values():
    x = ww.array([1.0, 2.0], "posit16")
    for same in ([1, 2], (1.0, 2.0), np.array([1, 2]), ww.array([1.0, 2.0], "e4m3fn")):
        assert np.array_equal(x, same) and np.array_equal(same, x)
    for other in ([1, 3], [1], 1, np.array([1, np.nan]), None):
        assert not np.array_equal(x, other)


@pytest.mark.parametrize(("name", "way"), [("std", "ww.sqrt"), ("prod", "order of your own")])
def test_a_method_that_there_is_not_leads_on(name, way):
    with pytest.raises(AttributeError, match=f"an Array has no '{name}': ") as why:
        getattr(ww.array([1.0], "fixed8.4"), name)
    assert way in str(why.value)
