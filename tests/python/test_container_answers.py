"""Answers about numbers with a scale that could mislead: bytes, ==, counts, what is ignored."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import widthwise as ww
from widthwise.containers.coded import Coded

X = np.float32([[6, -3, 0.25, 0.75, 100], [1, 2, -7.9, 0, 0.1]])


def all_kinds() -> list[Any]:
    return [
        ww.blocks(X, "mxfp4"),
        ww.blocks(X, "nvfp4"),
        ww.affine(X, 4),
        ww.affine(X, "affine(int6,symmetric,channel)"),
        Coded(ww.array(X, "e2m1fn"), np.float32(0.5)),
        ww.scaled(X, "sint8"),
    ]


def parts_of(x: Any) -> list[Any]:
    return [np.asarray(part) for part in x._named_parts()[1].values()]


# --- Files ---------------------------------------------------------------------------------------

OTHERS = [
    ww.affine(X, "affine(int6,symmetric,1x2)"),
    ww.affine(X, 4, axis=0, block=1, arithmetic="onnx"),
    ww.affine(X, 8, scale_format="binary64"),
    ww.affine(np.float32(3), 4),
    ww.scaled(X, "sfloat16"),
    ww.scaled(X, "sfloat8_e4m3fn"),
    ww.scaled(X, "sint32", rounding="sr8:half", like="notebook", seed=5),
    Coded(ww.array(X, "e15m112"), np.float32([[1], [2]])),
    Coded(ww.array(X, "table(nf4)"), np.float32(2)),
]


@pytest.mark.parametrize("x", [*all_kinds(), *OTHERS], ids=repr)
def test_numpys_files_keep_codes_scales_and_settings(x: Any, tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x=x, plain=np.ones(3))
    for found in (ww.load(tmp_path / "x.npy"), ww.load(tmp_path / "x.npz")["x"]):
        assert type(found) is type(x) and np.asarray(found == x).all()
        assert found._named_parts()[0] == x._named_parts()[0]
        for part, own in zip(parts_of(found), parts_of(x), strict=True):
            assert part.dtype == own.dtype and (part == own).all()


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("scaled(sint8) seed=0", {"data": np.int8([1])}, "has no scale"),
        ("scaled(sint9) seed=0", {"data": np.int8([1]), "scale": np.float32(1)}, "dtype = 'sint9'"),
        ("scaled(sint8) seed=0", {"data": np.int8([1]), "scale": np.float32(0)}, "scale = 0.0"),
        ("affine(int4) arithmetic=exact", {"codes": np.int8([9])}, "has no scale"),
        (
            "affine(int4) arithmetic=bogus",
            {"codes": np.int8([1]), "scale": np.float32(1), "zero_point": np.int8(0)},
            "arithmetic = 'bogus': it may be",
        ),
        ("coded(e4m3fn)", {"codes": np.uint16([9]), "scale": np.float32(1)}, "codes holds uint16"),
        ("a b", {"codes": np.uint8([9])}, "which is no numbers with scales of ours"),
    ],
)
def test_records_that_are_none_of_ours_are_refused(
    name: str, fields: dict[str, np.ndarray], message: str, tmp_path: Any
) -> None:
    inner = np.dtype([(part, x.dtype, x.shape) for part, x in fields.items()])
    record = np.zeros((), [(name, inner)])
    for part, x in fields.items():
        record[name][part] = x
    np.save(tmp_path / "x.npy", record)
    with pytest.raises(ValueError, match=message):
        ww.load(tmp_path / "x.npy")


# --- Bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "bytes"),
    [
        (ww.blocks(X, "mxfp4"), 2 * 3 + 2),  # rows of five codes of 4 bits begin a byte each
        (ww.blocks(X, "nvfp4"), 2 * 3 + 2 + 4),
        (ww.affine(X, 4), 2 * 3 + 4 + 1),
        (ww.affine(X, "affine(int6,symmetric,channel)"), 2 * 4 + 2 * 4 + 2),
        (ww.affine(X, 12), 2 * 8 + 4 + 2),
        (ww.affine(np.float32(3), 4), 1 + 4 + 1),
        (Coded(ww.array(X, "e2m1fn"), np.float32(0.5)), 2 * 3 + 4),
        (Coded(ww.array(X, "e4m3fn"), np.float32([[1], [2]])), 10 + 8),
        (ww.scaled(X, "sint8"), 10 + 4),
    ],
)
def test_nbytes_counts_bits_in_every_container(x: Any, bytes: int) -> None:
    assert x.nbytes == bytes


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 31, 32])
@pytest.mark.parametrize("scheme", ["asymmetric", "symmetric", "symmetric_full"])
@pytest.mark.parametrize("shape", [(13,), (3, 5), (2, 3, 8)])
def test_packed_codes_come_back(bits: int, scheme: str, shape: tuple[int, ...]) -> None:
    if bits == 1 and scheme == "symmetric":
        return
    x = ww.affine(np.random.default_rng(bits).standard_normal(shape), bits, scheme=scheme)
    data = x.packed()
    *lead, n = shape
    assert data.dtype == np.uint8 and data.shape == (*lead, -(-n * bits // 8))
    assert x.nbytes == data.nbytes + x.scale.nbytes + x.zero_point.nbytes
    rows = x.codes.reshape(-1, n)
    for row, packed in zip(rows, data.reshape(-1, data.shape[-1]), strict=True):
        word = sum((int(q) % (1 << bits)) << (bits * i) for i, q in enumerate(row))
        assert packed.tobytes() == word.to_bytes(len(packed), "little")
    kind = "int" if x.scheme.signed else "uint"
    again = ww.Affine(ww.unpack(data, f"{kind}{bits}", n), x.scale, x.zero_point, scheme=scheme)
    assert again.bits == bits and again.codes.dtype == x.codes.dtype
    assert (again.codes == x.codes).all() and (again == x).all()


def test_what_is_no_code_is_not_packed() -> None:
    with pytest.raises(ValueError, match="packed along an axis"):
        ww.affine(np.float32(3), 4).packed()
    with pytest.raises(TypeError, match="codes is an Array of e4m3fn; one of int4, uint8"):
        ww.Affine(ww.array([1.0], "e4m3fn"), 1.0)


# --- == ------------------------------------------------------------------------------------------


def test_equal_compares_numbers() -> None:
    for x in all_kinds():
        numbers = x.to_float64()
        for other in all_kinds():
            assert ((x == other) == (numbers == other.to_float64())).all()
            assert ((x != other) == (numbers != other.to_float64())).all()
        same = x == pickle.loads(pickle.dumps(x))
        assert same.dtype == bool and same.shape == X.shape and same.all()
        assert ((x == numbers) & (x == ww.array(numbers, "binary64"))).all()
        assert ((x == 6) == (numbers == 6)).all() and ((x != 6) == (numbers != 6)).all()
        assert (x == numbers[:1])[0].all()  # as NumPy broadcasts


def test_numpy_is_told_what_an_affine_is() -> None:
    x = ww.affine(X, 4)
    assert ((x.to_float64() == x) & (x == x.to_float64())).all()
    assert np.array_equal(ww.blocks(X, "mxfp4"), ww.blocks(X, "mxfp4"))
    for ask in (lambda: np.array_equal(x, x), lambda: np.asarray(x)):
        with pytest.raises(TypeError, match=r"x.to_float64\(\) has its numbers, x.codes its uint8"):
            ask()
    for kind in (x, ww.blocks(X, "mxfp4")):
        with pytest.raises(TypeError, match=r"an Array is packed: x.packed\(\)"):
            ww.pack(kind)
    with pytest.raises(ValueError, match="tensor_scale = 1: .* has none"):
        ww.blocks(X, "mxfp4", like="microxcaling", tensor_scale=1)


def test_numbers_that_no_double_has_are_compared_exactly() -> None:
    x = ww.Affine(np.int32([(1 << 30) + 1, 3]), np.float32(1 + 2.0**-23), bits=32)
    assert (x == x).all() and not (x == x.dequantise(np.float64))[0]
    assert (x == ww.Affine(np.int32([(1 << 30) + 1, 4]), x.scale)).tolist() == [True, False]


@pytest.mark.parametrize("power", [53, 60, 62])
def test_integers_that_no_double_has_equal_nothing_that_one_has(power: int) -> None:
    n, at_hand = 1 << power, np.full(2, 2.0**power)
    kinds = [ww.affine(at_hand, scale=2.0 ** (power - 6), zero_point=0, bits=8)]
    kinds += [ww.blocks(at_hand, "mxfp8_e4m3"), ww.scaled(at_hand, "sfloat16")]
    for x in kinds:
        assert (x.to_float64() == n).all()
        for dtype in (np.int64, np.uint64):
            wanted = [[True, False], [False, True]]
            for row, truths in zip(([n, n + 1], [n - 1, n]), wanted, strict=True):
                assert (x == np.array(row, dtype)).tolist() == truths
        assert (x == n).all() and not (x == n + 1).any() and not (x == n - 1).any()
        assert not (x == 1 << 70).any() and (x != n + Fraction(1, 3)).all()
        assert (x == Decimal(n)).all() and (x == np.int64(n)).all()


def test_scales_and_formats_do_not_make_numbers_differ() -> None:
    a, b = ww.blocks([6.0, 3.0], "mxfp4"), ww.blocks([6.0, 3.0], "mxfp8_e5m2;scale=ceil")
    assert (a == b).all() and not (a == ww.blocks([6.0, 4.0], "mxfp4")).all()
    nan = ww.blocks([np.nan, 1.0], "mxfp4")
    assert not (nan == nan).any() and (nan != nan).all()  # its block is NaN


@pytest.mark.parametrize("other", [None, "text", [1, 2], object(), 1j])
def test_what_has_no_numbers_is_refused(other: Any) -> None:
    for x in all_kinds():
        with pytest.raises(TypeError, match=f"equal of {type(x).__name__} and"):
            x == other  # noqa: B015
    with pytest.raises(TypeError, match="unhashable"):
        hash(ww.blocks(X, "mxfp4"))
    with pytest.raises(ValueError, match=r"equal of shapes \(2, 5\) and \(3,\)"):
        ww.blocks(X, "mxfp4") == np.ones(3)  # noqa: B015


# --- Counts --------------------------------------------------------------------------------------


def test_parts_do_not_say_that_nothing_was_clamped() -> None:
    x = ww.affine([1, 300, np.nan], scale=1.0, arithmetic="onnx")
    assert (x.clamped, x.nan, x.arithmetic) == (1, 1, "onnx") and "1 of 3 clamped" in str(x.card())
    turned = x.transpose()
    assert (turned.clamped, turned.nan, turned.arithmetic) == (1, 1, "onnx")
    for part in (x[:1], x[1:], ww.Affine(x.codes, x.scale)):
        assert part.clamped is part.nan is None and "clamped" not in str(part.card())
    assert x[:1].arithmetic == "onnx"
    assert ww.blocks([7.9] * 64, "mxfp4")[:32].clamped is None
    assert "none clamped" in str(ww.affine([1.0, 2.0]).card())
    y = ww.affine_linear(
        ww.affine([[1.0, 2.0]]), ww.affine([[1.0, 2.0]], symmetric=True), scale=1.0
    )
    assert (y.clamped, y.nan) == (0, 0)


# --- Arguments that contradict one another -------------------------------------------------------


@pytest.mark.parametrize(
    "how", [{"scale": 1.0}, {"range": (0, 1)}, {"scale": 1.0, "zero_point": 3}]
)
def test_a_method_beside_what_it_would_find(how: dict[str, Any]) -> None:
    given = "scale" if "scale" in how else "range"
    seen = ww.Calibrator("mse")
    seen.observe([1.0])
    for method in ("entropy", "mse", "no method", seen):
        with pytest.raises(ValueError, match=f"{given} and calibrate are given; leave one out"):
            ww.affine([1.0, 2.0], calibrate=method, **how)
    ww.affine([1.0, 2.0], calibrate="minmax", **how)


@pytest.mark.parametrize(
    ("how", "own"),
    [
        ({"symmetric": True}, 0),
        ({"scheme": "symmetric_full"}, 0),
        ({"scheme": "symmetric_full", "signed": False}, 128),
        ({"bits": 4, "scheme": "symmetric_full", "signed": False}, 8),
        ({"bits": "affine(int8,symmetric)"}, 0),
    ],
)
def test_zero_points_of_symmetric_codes(how: dict[str, Any], own: int) -> None:
    with pytest.raises(ValueError, match=f"zero_point = 1: that of .* is {own}; scheme='asymm"):
        ww.affine([1.0, 2.0], scale=1.0, zero_point=1, **how)
    with pytest.raises(ValueError, match=f"zero_point = 1: that of .* is {own}"):
        ww.Affine(np.uint8([1]) if own else np.int8([1]), 1.0, 1, **how)
    for given in ({}, {"zero_point": own}):
        assert int(ww.affine([1.0, 2.0], scale=1.0, **given, **how).zero_point) == own
    channels = {"axis": 0} | how
    if not isinstance(how.get("bits"), str):
        with pytest.raises(ValueError, match=r"zero_point\[1\] = 7"):
            ww.affine([1.0, 2.0], scale=[1.0, 1.0], zero_point=[own, 7], **channels)


def test_the_largest_multiplier_of_two_roundings() -> None:
    below = 2.0**30 - 1
    for variant in ("gemmlowp", "ruy", "single"):
        span = {"qmin": -(2**31), "qmax": 2**31 - 1, "variant": variant}
        assert ww.requantize(1, 2.0**29, **span) == 2**29
        assert ww.requantize(1, below, **span) == 2**30 - 1
        for m in (2.0**30, 2.0**31, 2.0**40, 2.0**200):
            with pytest.raises(ValueError, match=f"{variant} takes multipliers below 2\\^30"):
                ww.requantize(1, m, **span)


# --- Affine operands of integer products ---------------------------------------------------------


def test_affine_operands_bring_their_zero_points() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((4, 6)), rng.standard_normal((6, 3))
    a = ww.affine(x)
    a_rows = ww.affine(x, axis=0)
    b = ww.affine(w, signed=True)
    b_columns = ww.affine(w, 6, axis=1)
    blocks = ww.affine(w, 8, True, axis=0, block=2)  # zero points that are all 0

    def difference(q: ww.Affine) -> np.ndarray:
        zero = q.grouping.spread(q.zero_point, q.shape)
        return q.codes.astype(np.int64) - zero.astype(np.int64)

    for left in (a, a_rows):
        for right in (b, b_columns, blocks):
            sums = ww.integer_matmul(left, right)
            assert (sums == difference(left) @ difference(right)).all()
    with pytest.raises(
        ValueError, match=r"b is affine\(uint8,asymmetric,channel\), whose zero poi"
    ):
        ww.integer_matmul(a, ww.affine(w, axis=0))
    with pytest.raises(ValueError, match="zero_a is given, and a is an Affine"):
        ww.integer_matmul(a, b, zero_a=3)
    assert (ww.integer_matmul(a.codes, b.codes) == a.codes.astype(int) @ b.codes.astype(int)).all()


def test_affine_operands_of_qlinear_matmul() -> None:
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((4, 6)), rng.standard_normal((6, 3))
    a, y = ww.affine(x), {"y_scale": 0.05, "y_zero_point": 100}
    for b in (ww.affine(w), ww.affine(w, axis=1), ww.affine(w, symmetric=True)):
        got = ww.qlinear_matmul(a, b=b, **y)
        parts = (a.codes, a.scale, a.zero_point, b.codes, b.scale, b.zero_point)
        assert (got == ww.qlinear_matmul(*parts, 0.05, 100)).all()
    for wrong, message in (
        ({"b": ww.affine(w, axis=1), "b_scale": 1.0}, "b_scale is given, and b is an Affine"),
        ({"b": ww.affine(w, block=2)}, "one scale, or of"),
        ({"b": w.astype(np.int8)}, "b_scale is missing"),
        ({}, "b is missing"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            ww.qlinear_matmul(a, **wrong, **y)
    with pytest.raises(TypeError, match="y_scale is missing"):
        ww.qlinear_matmul(a, b=ww.affine(w))
    with pytest.raises(ValueError, match="QLinearMatMul takes one scale"):
        ww.qlinear_matmul(ww.affine(x, axis=1), b=ww.affine(w), **y)


# --- What leads on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign, wrong", [(r"\*", lambda x: x * 2), ("/", lambda x: x / x), ("-", lambda x: -x)]
)
def test_operators_that_the_notebooks_tensors_have_not(sign: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{sign} of Scaled: .*; \+ and @ are of two Scaled"):
        wrong(ww.scaled(X, "sint8"))


@pytest.mark.parametrize("x", all_kinds()[:5])
def test_operators_say_what_computes_with_codes_and_scales(x: Any) -> None:
    way = {"Blocks": "ww.matmul", "Affine": "ww.affine_linear", "Coded": ""}[type(x).__name__]
    for sign, wrong in (
        (r"\+", lambda: x + 1),
        (r"\+", lambda: 1 + x),
        ("-", lambda: -x),
        ("/", lambda: 1 / x),
        ("@", lambda: x @ x),
        ("<", lambda: x < x),
        ("abs", lambda: abs(x)),
    ):
        said = f"^{sign} of {type(x).__name__}: .*x.to_float64.. has the numbers.*{way}"
        with pytest.raises(TypeError, match=said):
            wrong()


def test_a_unit_says_what_makes_its_operands_of_what_was_given() -> None:
    x = np.ones((2, 32), np.float32)
    way = r"ww.blocks\(a, 'block\(e4m3fn,32,e8m0fnu\)'\) along the axis that is summed"
    with pytest.raises(TypeError, match=f"a is float32; .*{way}"):
        ww.matmul(x, x.T, unit="blackwell.mxfp8")
    with pytest.raises(TypeError, match=r"a is Affine; .*ww.array\(a.to_float64\(\), 'e5m10'\)"):
        ww.matmul(ww.affine(x), ww.affine(x), unit="mac(e5m10)")


def test_numpys_operators_beside_an_array_compute_with_the_numbers() -> None:
    x, ones = ww.blocks(np.float32([[1, 2], [3, 4]]), "mxfp4"), np.ones((2, 2))
    for got, wanted in (
        (x * (2 * ones), 2 * x.to_float64()),
        (ones @ x, ones @ x.to_float64()),
        (x @ ones, x.to_float64() @ ones),
        (x < 2 * ones, x.to_float64() < 2),
        (x * np.float32(2), 2 * x.to_float64()),
    ):
        assert np.array_equal(got, wanted)
    for y in (x, ww.scaled([[1.0, 2.0]], "sint8")):
        assert np.sum(y, axis=(0, 1)) == np.sum(y.to_float64())
        assert np.array_equal(np.concatenate([y, y]), np.concatenate([y.to_float64()] * 2))


def test_what_files_keep_hangs_on_nothing_around_them(tmp_path: Any) -> None:
    file = tmp_path / "x.npy"
    for rounding in ("sr8: half", " rtz"):
        x = ww.scaled([1.0, -0.3], "sint8", rounding=rounding)
        np.save(file, x)
        with ww.like("notebook"):
            y = ww.load(file)
        assert "like=" not in y.as_record().dtype.names[0] and (y == x).all()
    wide = ww.Format.table(np.arange(3000))
    with pytest.raises(ValueError, match="letters to name its format, for which these files have"):
        np.save(file, Coded(ww.array([1.0], wide), np.float32(1)))
    np.save(file, np.zeros(2, [("a", "i4")]))
    assert ww.load(file).dtype.names == ("a",)


def test_masks_are_no_keys_and_told_by_their_shape() -> None:
    for x in (ww.blocks(X, "mxfp4"), ww.affine(X, "affine(int6,symmetric,channel)")):
        with pytest.raises(TypeError, match=r"of shape \(2, 5\): .*integers.* slices"):
            x[X > 0]


def test_a_scale_that_is_none_is_mended_where_it_was_given() -> None:
    for wrong, way in (
        (lambda: ww.Affine(np.uint8([1]), 0), r"ww.affine\(x\) finds one for x"),
        (lambda: ww.affine(X, scale=0), "leave scale out"),
        (lambda: ww.affine_linear(ww.affine(X), ww.affine(X), scale=0), "outputs y finds one"),
    ):
        with pytest.raises(ValueError, match=f"scale = 0.0: a scale is finite.*{way}"):
            wrong()


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "float4_e2m1fn", "float6_e2m3fn"])
def test_narrow_dtypes_are_numbers_and_integers_codes(dtype: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    wide = np.int8([[1, 0, 1], [0, 1, 1]]) if dtype[0] == "u" else np.int8([[1, -2, 0], [0, 1, -1]])
    x = wide.astype(getattr(ml_dtypes, dtype))
    assert ww.affine(x).codes.tolist() == ww.affine(wide).codes.tolist()
    assert ww.calibrate(x) == ww.calibrate(wide)
    if dtype[0] == "f":
        with pytest.raises(TypeError, match=r"codes is an Array of e2m\dfn; one of int4, uint8"):
            ww.Affine(x, 0.5)
        return
    q = ww.Affine(x, 0.5, x[0, 0])
    assert q.bits == int(dtype[-1]) and q.zero_point == 1
    assert (q.to_float64() == (wide - 1) * 0.5).all()
    assert (ww.integer_matmul(x, x.T, x[0, 0]) == (wide.astype(int) - 1) @ wide.T).all()


# --- Parts without elements -----------------------------------------------------------------------

ROWS = np.arange(32.0).reshape(4, 8)
WITHOUT_CODES = np.zeros((4, 0), np.uint8)


def empty_parts() -> list[Any]:
    ways: list[dict[str, Any]] = [{}, {"axis": 0}, {"axis": 1}, {"block": 4}]
    formats = ["mxfp4", "nvfp4", "block(e4m3fn,0,binary32)"]
    return [
        *(ww.affine(ROWS, **way)[:0] for way in ways),
        *(ww.blocks(ROWS, f)[:0] for f in formats),
        *(ww.blocks(ROWS, f, axis=0)[:, :0] for f in formats),
        *(ww.scaled(ROWS, dtype)[:0] for dtype in ("sint8", "sfloat16")),
        ww.blocks(ROWS[:1], "block(int3,all,e8m0fnu)")[:0],
        ww.Blocks.of(WITHOUT_CODES, WITHOUT_CODES, "block(e4m3fn,0,e8m0fnu)"),
        ww.Blocks.of(WITHOUT_CODES, WITHOUT_CODES[:1], "block(e4m3fn,all,e8m0fnu)"),
        ww.Blocks.of(WITHOUT_CODES, WITHOUT_CODES[:2], "block(e4m3fn,2x2,e8m0fnu)"),
        ww.Affine(WITHOUT_CODES, [1.0, 2, 3, 4], axis=0),
        ww.Affine(WITHOUT_CODES, WITHOUT_CODES + 1.0, block=8),
        ww.Affine(WITHOUT_CODES, WITHOUT_CODES[:2] + 1.0, block="2x3"),
        Coded(ww.array(WITHOUT_CODES, "e2m1fn"), np.float32(0.5)),
    ]


@pytest.mark.parametrize("x", empty_parts(), ids=repr)
def test_parts_without_elements_are_empty(x: Any, tmp_path: Any) -> None:
    assert 0 in x.shape and x.to_float64().shape == x.shape
    np.save(tmp_path / "x.npy", x)
    for again in (ww.load(tmp_path / "x.npy"), pickle.loads(pickle.dumps(x))):
        assert again.shape == x.shape and again._named_parts()[0] == x._named_parts()[0]
    if not isinstance(x, Coded):
        assert x.T.to_float64().shape == x.shape[::-1]
        assert "no elements" in str(x.card()) or str(x.shape) in str(x.card())
    if isinstance(x, ww.Scaled):
        assert x.requantise().shape == (x + x).shape == x.shape
        assert x.requantise(like="notebook").shape == x.shape
    elif isinstance(x, ww.Affine | ww.Blocks):
        assert x.packed().size == 0 and x[:, :].shape == x.shape


def test_rows_without_elements_are_gone_through() -> None:
    assert [row.shape for row in ww.Blocks.of(WITHOUT_CODES, WITHOUT_CODES, "mxfp4")] == [(0,)] * 4


def test_products_of_no_rows_have_none() -> None:
    a, rows = ww.affine(ROWS), ww.affine(ROWS, axis=0)
    assert ww.integer_matmul(rows[:0], a.T).shape == (0, 4)
    assert ww.integer_matmul(a, rows.T[:, :0]).shape == (4, 0)
    w = ww.affine(np.ones((4, 3, 3, 3)), symmetric=True, axis=0)
    x = ww.affine(np.ones((2, 3, 5, 5)))
    assert ww.affine_conv2d(x, w[:0], scale=0.1).shape == (2, 0, 3, 3)
    assert ww.affine_linear(a[:0], ww.affine(ROWS, symmetric=True), scale=0.1).shape == (0, 4)
