"""torch's tensors: their memory, their values, and those that have none to be read."""

import warnings

import numpy as np
import pytest
import widthwise as ww

try:
    import torch
except ImportError:
    torch = None
# Case by case: a module that is skipped as it is collected tells the record no reason.
pytestmark = pytest.mark.skipif(torch is None, reason="torch is large: --long installs it")

FORMATS = {
    "float16": "e5m10",
    "bfloat16": "e8m7",
    "float32": "e8m23",
    "float64": "e11m52",
    "float8_e4m3fn": "e4m3fn",
    "float8_e4m3fnuz": "e4m3fnuz",
    "float8_e5m2": "e5m2",
    "float8_e5m2fnuz": "e5m2fnuz",
    "float8_e8m0fnu": "e8m0fnu",
}
# The least version that pyproject.toml names has not all of them.
DTYPES = [name for name in FORMATS if torch is None or hasattr(torch, name)]
INTEGERS = ["bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def any_codes(format, n):
    f = ww.Format(format)
    random = np.random.default_rng(7).integers(0, 1 << f.width, n, np.uint64)
    return ww.from_bits(random.astype(f.dtype), f)


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_share_memory_both_ways(name):
    x = any_codes(FORMATS[name], 24).reshape(4, 6)
    tensor = x.view(getattr(torch, name))
    assert tensor.dtype == getattr(torch, name) and tuple(tensor.shape) == (4, 6)
    again = ww.view(tensor)
    assert np.shares_memory(again.bits, x.bits) and str(again.format) == FORMATS[name]
    np.testing.assert_array_equal(again.bits, x.bits)
    strided = ww.view(tensor.T[::2])
    assert np.shares_memory(strided.bits, x.bits)
    np.testing.assert_array_equal(strided.bits, x.bits.T[::2])
    np.testing.assert_array_equal(ww.array(tensor, "e11m52").bits, x.astype("e11m52").bits)
    assert ww.view(tensor[0, 0]).shape == () and ww.view(tensor[:0]).shape == (0, 6)


@pytest.mark.parametrize("name", DTYPES)
def test_torch_reads_the_same_numbers(name):
    x = any_codes(FORMATS[name], 300)
    theirs = x.view(getattr(torch, name)).to(torch.float64).numpy()
    np.testing.assert_array_equal(theirs, x.to_float64())


def test_a_tensor_that_learns_is_read_as_it_stands():
    weights = torch.nn.Parameter(torch.tensor([0.1, 3.0]))
    assert str(ww.array(weights, "e4m3fn")) == "[0.1 3]"
    assert np.shares_memory(ww.view(weights).bits, weights.detach().numpy())


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_values_of_array_and_codes_of_from_bits(name):
    whole = torch.tensor([1, 0, 1]).to(getattr(torch, name))
    assert str(ww.array(whole, "e5m10")) == "[1 0 1]"
    if name != "bool":
        assert ww.from_bits(whole, "e5m10").bits.tolist() == [1, 0, 1]


def test_codes_of_a_tensor_are_no_copy_where_they_have_the_width():
    codes = torch.arange(4, dtype=torch.uint8)
    assert np.shares_memory(ww.from_bits(codes, "e4m3fn").bits, codes.numpy())
    with pytest.raises(TypeError, match=r"bits holds float16; codes are integers. ww.view\(bits\)"):
        ww.from_bits(torch.ones(2).half(), "e5m10")


def test_the_codes_travel_by_dlpack():
    x = ww.array([1.0, -2.0], "e5m10")
    codes = torch.from_dlpack(x)
    assert codes.dtype == torch.uint16 and codes.tolist() == x.bits.tolist()
    assert np.shares_memory(codes.numpy(), x.bits)


def lazily_negated():
    return torch.ones(2, dtype=torch.complex64).conj().imag


@pytest.mark.parametrize("take", [ww.view, lambda x: ww.array(x, "e5m10")])
@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: torch.ones(2, device="meta"), r"x lies on meta, whose memory is not read here"),
        (lambda: torch.ones(2, 2).to_sparse(), r"x is torch.sparse_coo; take x.to_dense\(\)"),
        (lazily_negated, r"x is negated when it is read; take x.resolve_neg\(\)"),
        (lambda: torch.ones(2, dtype=torch.complex64), r"x holds complex64, which is no format"),
    ],
)
def test_a_tensor_without_numbers_in_memory_is_refused(take, make, message):
    with pytest.raises(TypeError, match=message):
        take(make())


def test_what_cannot_be_a_tensor_says_what_can():
    x = ww.array([1.0, 2.0], "e8m23")
    with pytest.raises(ValueError, match=r"x runs backward .* take x.copy\(\).view\(dtype\)"):
        x[::-1].view(torch.float32)
    with pytest.raises(TypeError, match=r"dtype is bfloat16 and the array is e8m23: .*'e8m7'"):
        x.view(torch.bfloat16)
    with pytest.raises(TypeError, match=r"a is Tensor of torch.float16; .* ww.array\(a, 'e5m10'\)"):
        ww.dot(torch.ones(2).half(), x, unit="mac(e5m10)")
    with pytest.raises(TypeError, match=r"x holds int64, .* ww.from_bits codes"):
        ww.view(torch.arange(2))


def test_nan_of_a_tensor_is_found_where_the_format_has_none():
    with pytest.raises(ValueError, match="x: element 1 is NaN and e2m1fn has no NaN"):
        ww.array(torch.tensor([1.0, float("nan")]), "e2m1fn")


@pytest.mark.skipif(
    torch is not None and not hasattr(torch, "float4_e2m1fn_x2"), reason="this torch has no float4"
)
def test_two_numbers_a_byte_are_refused():
    packed = torch.zeros(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with pytest.raises(TypeError, match=r"two numbers a byte: ww.unpack\(x, 'e2m1fn'\) takes them"):
        ww.array(packed, "e5m10")
    assert ww.unpack(packed, "e2m1fn").shape == (4,)


def test_bytes_are_no_others_numbers():
    for dtype in (torch.float32, torch.int8, torch.float8_e4m3fn):
        with pytest.raises(TypeError, match=r"data holds torch.*; uint8 \(..., bytes\) wanted"):
            ww.unpack(torch.zeros(4, dtype=dtype), "e2m1fn")


@pytest.mark.parametrize("kind", ["parameter", "bfloat16"])
def test_scales_may_be_learned_or_narrow(kind):
    def given(x):
        if kind == "bfloat16":
            return torch.tensor(x, dtype=torch.bfloat16)
        return torch.nn.Parameter(torch.tensor(x))

    x = torch.arange(-8.0, 8).reshape(2, 8).requires_grad_()
    q = ww.affine(x.detach())
    w = ww.affine(x, symmetric=True, axis=0)
    for call in (
        lambda f: ww.affine(x, scale=f(0.5)).codes,
        lambda f: ww.affine(x, scale=f([0.5, 0.25]), axis=0).codes,
        lambda f: ww.affine(x, range=(f(-2.0), f(1.5))).codes,
        lambda f: ww.Affine(q.codes, f(0.5), q.zero_point).to_float64(),
        lambda f: ww.blocks(x, "nvfp4", tensor_scale=f(0.5)).to_float64(),
        lambda f: ww.requantize(np.int32([[300, 40]]), f([0.25, 0.5]), axis=1),
        lambda f: ww.affine_linear(q, w, bias=f([0.5, 1.5]), scale=f(0.5)).codes,
        lambda f: ww.qlinear_matmul(q, b=w.T, y_scale=f(0.5)),
        lambda f: ww.Scaled.of([3, 4], f(0.5), "sint8").to_float64(),
    ):
        assert np.array_equal(call(given), call(lambda y: y))


def test_torchs_quantised_tensors_are_affine_integers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls them deprecated
        x = torch.quantize_per_tensor(torch.arange(-4.0, 4), 0.25, 3, torch.qint8)
    with pytest.raises(
        TypeError, match=r"qint8.*ww.Affine\(x.int_repr\(\), x.q_scale\(\), x.q_zero"
    ):
        ww.affine(x)
    ours = ww.Affine(x.int_repr(), x.q_scale(), x.q_zero_point())
    assert np.array_equal(ours.to_float64(), x.dequantize().numpy())
