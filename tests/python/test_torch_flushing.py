"""Threads that flush subnormals change no bit: of codes, states, comparisons and the look-alike."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, torch, wt
from widthwise import _host

if torch is not None:
    import widthwise.compat.qtorch as look_alike
    from widthwise.torch._static import scaled

pytestmark = NEEDED

TINY = np.array([1e-40, -1e-40, 1e-45, 2e-39, 1.2e-38, -3e-41, 0.0, 7e-42], np.float32)
TINIER = TINY.astype(np.float64) * 1e-275  # below binary64's normal numbers


def words(x):
    """A tensor's or an array's bits, and those of all tensors of a QTensor."""
    if isinstance(x, wt.QTensor):
        parts = (x.packed, x.scale, x.zero_point)
        return [words(part) for part in parts if part is not None], x.tensor_scale
    x = np.asarray(x)
    return x.view(f"i{x.itemsize}").tolist()


def alike(call):
    """What a call gives, which it gives in a thread that flushes, too."""

    def flushed():
        there = torch.set_flush_denormal(True)
        torch.ones(100_000).add(1)  # by threads of torch's own, which flush then, too
        return there, call()

    usual = call()
    with ThreadPoolExecutor(1) as another:
        there, found = another.submit(flushed).result()
    if not there:
        pytest.skip("this machine does not flush subnormals")
    assert found == usual
    return usual


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


# --- The core's own calls -------------------------------------------------------------------------


@pytest.fixture
def flushing():
    if not torch.set_flush_denormal(True):
        pytest.skip("this machine does not flush subnormals")
    yield
    torch.set_flush_denormal(False)


def test_numbers_that_torch_flushes_are_rounded_up(flushing):
    assert ww.array(1e-40, "fixed8.4", rounding="rup").bits == 1
    assert ww.array(TINY[:5], "fixed8.4", rounding="raz").bits.tolist() == [1, 255, 1, 1, 1]
    assert ww.array(TINY[:5], "fixed8.130").bits.tolist() == [0, 0, 0, 3, 16]
    assert ww.array(TINY[:5], "posit8es2").bits.tolist() == [1, 255, 1, 1, 1]
    z = wt.quantize(torch.from_numpy(TINY[:5]), "fixed8.4", "rup")
    assert z.view(torch.int32).tolist() == [0x3D800000, 0, 0x3D800000, 0x3D800000, 0x3D800000]


def test_blocks_of_numbers_that_torch_flushes(flushing):
    x = ww.blocks(TINY[:5], "block(e4m3fn,5,e8m0fnu)")
    assert x.scales.bits.tolist() == [0]
    assert x.elements.bits.tolist() == [9, 137, 0, 43, 64]


@pytest.mark.parametrize("format", ["nvfp4", "affine(int8,symmetric)", "affine(uint8)"])
def test_scales_of_numbers_that_torch_flushes(format, flushing):
    def there_and_back(x):
        if "affine" in format:
            z = ww.affine(x, format)
            return z.to_fractions().tolist(), z.dequantise().view(np.int32).tolist()
        z = ww.blocks(x, format)
        return z.to_float64().tolist(), z.to_float32().view(np.int32).tolist()

    flushed = there_and_back(TINY[:5])
    torch.set_flush_denormal(False)
    assert any(flushed[0]) and flushed == there_and_back(TINY[:5])


def test_tensor_scales_of_a_product_are_kept_where_torch_flushes():
    rng = np.random.default_rng(4)
    x = ww.blocks(np.float32(rng.normal(size=(3, 32)) * 1e-16), "nvfp4")
    assert any(alike(lambda: ww.matmul(x, x.T, unit="blackwell.nvfp4").bits.tolist())[0])


# --- Codes and states -----------------------------------------------------------------------------


FORMATS = ["nvfp4", "mxfp8_e4m3", "bfp(8,all,e8)", "affine(int8,symmetric)", "affine(uint8)",
           "fixed8.130", "posit8es2"]  # fmt: skip


@pytest.mark.parametrize("format, given", [
    *[pytest.param(f, TINY, id=f"{f}-binary32") for f in [*FORMATS, "binary32"]],
    *[pytest.param(f, TINIER, id=f"{f}-binary64") for f in FORMATS],
])  # fmt: skip
def test_codes_and_what_they_stand_for(format, given):
    def there_and_back():
        q = wt.encode(torch.from_numpy(given), format)
        return words(q), [words(wt.decode(q, of)) for of in (torch.float32, torch.float64)]

    alike(there_and_back)


@pytest.mark.parametrize("format", ["e4m3fn", "int8", "e5m10"])
@pytest.mark.parametrize("scale", ["none", "tensor", "channel"])
def test_states_under_scales_and_what_is_told_of_them(format, scale):
    weight = torch.from_numpy(TINY.reshape(2, 4).copy())

    def there_and_back():
        state = wt.quantize_state_dict({"fc.weight": weight}, format, scale)
        back = wt.dequantize_state_dict(state)["fc.weight"]
        return words(state["fc.weight"]), words(back), state.report()["snr_db"].tolist()

    _, back, told = alike(there_and_back)
    assert scale == "none" or (any(sum(back, [])) and told[0] > 20)


@pytest.mark.parametrize("copies", [1, 10_000])
@pytest.mark.parametrize("format", ["e4m3fn", "int8", "affine(int8,symmetric)"])
def test_values_under_scales_that_are_kept(format, copies, two_threads):
    x, scale = torch.from_numpy(np.tile(TINY, copies)), torch.tensor(1e-40)
    zero = torch.tensor(0, dtype=torch.int32)
    alike(lambda: words(scaled(x, format, scale, zero)))


def told(call, *args):
    """What is refused."""
    with pytest.raises(ValueError, match="numbers here that") as why:
        call(*args)
    return str(why.value)


def test_what_a_dtype_does_not_hold_is_refused():
    x = torch.from_numpy(TINY).bfloat16()
    alike(lambda: told(wt.quantize, x, "affine(uint8)"))
    bfloat16 = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed").bfloat16
    alike(lambda: told(_host.quantized, TINY.astype(bfloat16), "affine(uint8)", "rne", None, 0))


# --- Comparisons ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [TINY, TINIER], ids=["binary32", "binary64"])
def test_numbers_with_scales_are_compared_as_they_are(given):
    halves = given / 2

    def compared():
        pairs = [(make(given), other) for make in MAKERS for other in (given, halves, 0.0)]
        pairs += [(x, MAKERS[0](halves)) for x, _ in pairs[::3]]
        return [((x == y).tolist(), (x != y).tolist()) for x, y in pairs]

    alike(compared)


MAKERS = [
    lambda x: ww.blocks(x, "block(e8m23,8,e8m0fnu)"),
    lambda x: ww.affine(x, "affine(int16,symmetric)"),
    lambda x: ww.scaled(x.astype(np.float32), "sint16"),
]


# --- The look-alike -------------------------------------------------------------------------------


def numbers():
    n = look_alike
    return [
        n.FixedPoint(8, 130), n.FixedPoint(8, 155, clamp=False), n.FixedPoint(8, 1100, clamp=False),
        n.FloatingPoint(8, 2), n.FloatingPoint(11, 30), n.BlockFloatingPoint(5),
        n.BlockFloatingPoint(5, 0), n.Posit(8, 2), n.Posit(16, 2, 2.0**100), n.Posit(8, 1, 1e-30),
        n.Posit(8, 2, 1e38), n.Positbf(8, 2, 2.0**90),
    ]  # fmt: skip


@pytest.mark.parametrize("which", range(12))
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_look_alikes_numbers(which, dtype):
    x = torch.from_numpy(TINIER if dtype == "float64" else TINY).to(getattr(torch, dtype))
    if dtype == "float16":
        x = torch.arange(-4, 4, dtype=torch.int16).view(torch.float16)
    q = look_alike.quant.quantizer(numbers()[which], None, "nearest")
    alike(lambda: words(q(x).view(getattr(torch, f"int{8 * x.element_size()}"))))


@pytest.mark.parametrize("which", range(12))
def test_many_numbers_are_rounded_by_threads_that_flush(which, two_threads):
    x = torch.from_numpy(np.tile(TINY, 10_000))
    q = look_alike.quant.quantizer(numbers()[which], None, "nearest")
    alike(lambda: words(q(x)))


@pytest.mark.parametrize("copies", [1, 10_000])
def test_the_forks_functions(copies, two_threads):
    x, table = torch.from_numpy(np.tile(TINY, copies)), [1e-41, 5e-41, 1e-39, 1e-38]
    quant = look_alike.quant

    def computed():
        return [
            words(quant.convert_to_posit(x, 8, 2, 2.0**100).view(torch.int16)),
            words(quant.posit_sigmoid(x, 16)),
            words(quant.posit_tanh_enhanced(x, 16)),
            words(quant.configurable_table_quantize(x, table)),
            words(quant.configurable_table_quantize(x, [1.0, 2.0], 2.0**120)),
            words(quant.configurable_table_quantize_rounding_hint(x, table, table)),
            words(quant.configurable_table_quantize_geomean(x, table)),
        ]

    found = alike(computed)
    assert all(any(each) for each in found)
