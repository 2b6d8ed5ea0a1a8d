"""Tensors on a GPU: the CPU's, told to lie on a GPU that is this CPU (tests/cuda/pretend_gpu.cpp),
where test_device_torch.py runs these; or CUDA's own, where there are any. Bits are the CPU's,
nothing goes through this machine's memory, and the stream is torch's."""

import contextlib
import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import widthwise as ww
import widthwise.torch as wt
from torch import nn
from torch_here import drawn
from widthwise import _device
from widthwise import _widthwise as core
from widthwise.compat import qtorch
from widthwise.torch import _gpu
from widthwise.torch._candidates import past

PRETENDED = "tests/cuda" in os.environ.get("LD_LIBRARY_PATH", "")
STREAM = 7
FEW = 64  # bytes: the scale of a tensor comes to this machine
# That ask where a tensor lies.
MODULES = ("_gpu", "_memory", "_op", "_convolution", "_containers", "_coded", "_calibrate")

if "cuda" not in ww.engines():
    pytest.skip(f"no GPU: {ww.engines().unusable['cuda']}", allow_module_level=True)
if not (PRETENDED or torch.cuda.is_available()):
    pytest.skip("this torch has no CUDA", allow_module_level=True)


def in_bytes(copy, x):
    assert x.nbytes <= FEW, "numbers went through this machine's memory"
    return copy


def watched(method):
    """A way between torch and this machine's memory, which numbers of a GPU that is this CPU would
    find open."""
    return lambda x, *args, **how: in_bytes(method, x)(x, *args, **how)


@contextlib.contextmanager
def on_gpu():
    """What is computed within lies on a GPU; the streams that were waited for are told."""
    seen = set()
    queue = _device.queue

    def asked(gpu):
        seen.add(_device.stream())
        return queue(gpu)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_device, "queue", asked)
        into, out = core.copy_in, core.copy_out
        patch.setattr(core, "copy_in", lambda q, to, x: in_bytes(into, x)(q, to, x))
        patch.setattr(core, "copy_out", lambda q, x, at: in_bytes(out, x)(q, x, at))
        if PRETENDED:
            for module in MODULES:
                there = f"widthwise.torch.{module}.lies_there"
                patch.setattr(there, lambda x: True)
            for name in ("numpy", "tolist", "cpu"):
                patch.setattr(torch.Tensor, name, watched(getattr(torch.Tensor, name)))
            patch.setattr(torch, "from_numpy", watched(torch.from_numpy))
            patch.setattr(_gpu, "gpu_of", lambda x: 0)
            patch.setattr(_gpu, "device_of", lambda gpu: torch.device("cpu"))
            patch.setattr(_gpu, "stream_of", lambda x: STREAM)
        yield seen


def there(x):
    return x.clone() if PRETENDED else x.cuda()


def same(x, y):
    """Bits: signs of zeros and NaNs' payloads count."""
    x, y = x.detach().cpu(), y.detach().cpu()
    words = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    assert x.dtype == y.dtype and x.shape == y.shape
    assert torch.equal(x.contiguous().view(words), y.contiguous().view(words))


def both(function, *tensors):
    """What a function gives of tensors here and there, and their gradients."""

    def run(xs):
        xs = [x.detach().clone().requires_grad_() for x in xs]
        y = function(*xs)
        y.backward(torch.linspace(-1, 1, y.numel(), device=y.device).reshape(y.shape).to(y.dtype))
        return [y, *(x.grad for x in xs)]

    here = run(tensors)
    with on_gpu() as streams:
        got = run([there(x) for x in tensors])
    for x, y in zip(got, here, strict=True):
        same(x, y)
    assert streams == {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


def directed(dtype):
    own = torch.finfo(dtype)
    special = [0.0, -0.0, own.tiny, -own.smallest_normal / 2, own.max, -own.max, 1.0625, 17.0]
    special += [448.0, 464.0, 480.0, 6.0, 7.0, torch.inf, -torch.inf, torch.nan]
    return torch.cat([torch.tensor(special, dtype=dtype), (drawn(500) * 30).to(dtype)])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("rounding", ["rne", "rtz", "sr8"])
@pytest.mark.parametrize(
    "format",
    ["e4m3fn", "e5m2", "e3m2fn;nan=none", "posit8es1", "fixed8.4", "table(-2,-0.5,0,1,6)"],
)
def test_values_and_gradients_are_the_cpus(format, rounding, dtype):
    x = directed(getattr(torch, dtype))
    x = x if ww.Format(format).has_nan else x[~x.isnan()]
    back = "e5m2" if dtype != "bfloat16" else None
    both(lambda x: wt.quantize(x, format, rounding, back, seed=9, backward_rounding="rtz"), x)
    both(lambda x: wt.quantize(x, format, rounding, clamp=False, seed=9), x)


def test_shapes_and_strides():
    for x in (drawn(0), drawn(), drawn(3, 4).t(), drawn(2, 3, 4, 5)[:, ::2, :, 1:]):
        both(lambda x: wt.quantize(x, "e4m3fn"), x)


SHORT = ["mxfp8_e4m3", "mxfp4", "bfp(8,32,e8)"]
LONG = ["nvfp4", "block(e4m3fn,1x128,binary32)", "block(table(nf4),32,binary32)"]  # with digits
HELD = [*itertools.product(SHORT, ["float16", "bfloat16", "float32", "float64"])]
HELD += itertools.product(LONG, ["float32", "float64"])


@pytest.mark.parametrize("format, dtype", HELD)
def test_numbers_that_share_scales_are_the_cpus(format, dtype):
    x = (drawn(6, 96) * 7).to(getattr(torch, dtype))
    if dtype in ("float32", "float64"):
        x[0, :9] = torch.tensor([0.0, -0.0, 1e-40, 3e-38, 448.0, -464.0, 1e5, 6.0, -7.0])
    both(lambda x: wt.quantize(x, format, "rtz"), x)
    if "1x128" not in format:
        both(lambda x: wt.quantize(x, format, axis=0), x)
    else:
        both(lambda x: wt.quantize(x.t(), format), x)


AFFINE = ["affine(uint8)", "affine(int8,symmetric)", "affine(int31,symmetric)", "affine(uint30)"]
AFFINE += ["affine(uint32)", "affine(int32,symmetric)"]


@pytest.mark.parametrize("format", AFFINE)
def test_affine_integers_are_the_cpus(format):
    """In 30 bits and more scales of binary32 do not quite reach the largest numbers."""
    for seed in range(6):
        both(lambda x: wt.quantize(x, format), drawn(4, 40, seed=seed) * 3)
    both(lambda x: wt.quantize(x, format, clamp=False), drawn(4, 40) * 3)


@pytest.mark.parametrize("unit", ["blackwell.mxfp8", "blackwell.nvfp4"])
def test_products_of_blocks_and_their_gradients_are_the_cpus(unit):
    both(lambda a, b: wt.matmul(a, b, unit=unit), drawn(32, 64), drawn(64, 32, seed=1))


@pytest.mark.parametrize(
    "unit, backward",
    [
        ("mac(e5m10)", None),
        ("hopper.e4m3.f32", "mac(e5m2, sum=e5m10)"),
        ("kulisch(e5m10)", "mac(e8m7)"),
        ("mac(e5m10, sum=e5m10:sr9)", None),
        ("mac(fixed16.8)", "mac(posit16es2)"),
    ],
)
def test_products_and_their_gradients_are_the_cpus(unit, backward):
    how = {"unit": unit, "backward_unit": backward, "seed": 5}
    both(lambda a, b: wt.matmul(a, b, **how), drawn(2, 7, 33), drawn(33, 5, seed=1))
    both(lambda a, b, c: wt.matmul(a, b, c=c, **how), drawn(7, 9), drawn(9, 5), drawn(7, 5, seed=3))
    both(lambda a, b: wt.bmm(a, b, **how), drawn(3, 2, 9), drawn(3, 9, 4, seed=2))
    both(lambda x, w, b: wt.linear(x, w, b, **how), drawn(6, 8), drawn(3, 8, seed=4), drawn(3))


@pytest.mark.parametrize("unit", ["mac(e5m10)", "hopper.f16.f32"])
def test_convolutions_and_their_gradients_are_the_cpus(unit):
    how = {"unit": unit, "stride": 2, "padding": 1}
    both(lambda x, w, b: wt.conv2d(x, w, b, **how), drawn(2, 3, 8, 7), drawn(4, 3, 3, 3), drawn(4))
    both(lambda x, w: wt.conv2d(x, w, groups=2, **how), drawn(1, 4, 6, 6), drawn(6, 2, 3, 2))
    both(lambda x, w: wt.conv1d(x, w, **how), drawn(2, 3, 16), drawn(4, 3, 5))
    both(lambda x, w: wt.conv3d(x, w, **how), drawn(1, 2, 5, 5, 5), drawn(3, 2, 3, 3, 3))


def test_attention_scores_are_the_cpus():
    """Softmax is torch's own, whose sums may differ on a real GPU; keys alike make it exact."""
    key = torch.ones(2, 5, 8)
    query, value = drawn(2, 4, 8), drawn(2, 5, 8, seed=1)
    how = {"unit": "mac(e5m10)", "backward_unit": "mac(e8m7)"}
    both(lambda q, k, v: wt.attention(q, k, v, **how), query, key, value)


def test_models_train_as_on_the_cpu():
    def trained(device):
        torch.manual_seed(2)
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 10))
        rules = {"unit": "mac(e5m10)", "input": "e5m10", "output": "e5m10", "backward": "e5m2"}
        net = wt.convert(net, rules).to(device)
        step = wt.quantize_optimizer(torch.optim.SGD(net.parameters(), 0.1), weight="e5m10")
        x, wanted = drawn(8, 1, 8, 8).to(device), torch.arange(8, device=device)
        for _ in range(3):
            step.zero_grad()
            # Its sums are torch's own, and of another order on a GPU.
            (net(x) * nn.functional.one_hot(wanted, 10)).backward(torch.full((8, 10), 0.25))
            step.step()
        return list(net.parameters())

    here = trained("cpu")
    with on_gpu():
        got = trained("cpu" if PRETENDED else "cuda")
    for x, y in zip(got, here, strict=True):
        same(x, y)


LIKE_QTORCH = {
    "float": lambda x: qtorch.quant.float_quantize(x, 5, 2, rounding="stochastic"),
    "fixed": lambda x: qtorch.quant.fixed_point_quantize(x, 8, 4, rounding="nearest"),
    "fixed without ends": lambda x: qtorch.quant.fixed_point_quantize(x, 8, 4, clamp=False),
    "block": lambda x: qtorch.quant.block_quantize(x, 8, dim=0, rounding="nearest"),
    "posit": lambda x: qtorch.quant.posit_quantize(x, 8, 1, scale=0.7, rounding="nearest"),
}


@pytest.mark.parametrize("name", LIKE_QTORCH)
def test_qpytorchs_functions_are_the_cpus(name):
    torch.manual_seed(3)
    state = torch.get_rng_state()

    def drawn_alike(x):
        torch.set_rng_state(state)
        return LIKE_QTORCH[name](x) + x  # through them no gradient passes

    both(drawn_alike, drawn(30, 4) * 5)


CODED = ["e4m3fn", "e2m1fn", "e2m3fn", "posit16es2", "fixed7.3", "e15m112", "mxfp4", "nvfp4"]
CODED += [
    "bfp(5,16,e8)",
    "table(nf4)",
    "affine(uint8)",
    "affine(int4,symmetric,channel)",
    "affine(int3,symmetric,20)",
]


def parts(q):
    return [x for x in (q.packed, q.scale, q.zero_point) if x is not None]


@pytest.mark.parametrize("format", CODED)
def test_codes_and_what_they_stand_for_are_the_cpus(format):
    x = (drawn(6, 40) * 7).to(torch.bfloat16)
    here = wt.encode(x, format)
    with on_gpu() as streams:
        q = wt.encode(there(x), format)
        codes = q.codes
        y = q.decode() if format != "e15m112" else None
    assert all(
        map(
            torch.equal,
            [*(part.cpu() for part in parts(q)), codes.cpu()],
            [*parts(here), here.codes],
        )
    )
    assert q.tensor_scale == here.tensor_scale and (q.device.type == "cuda") != PRETENDED
    if y is not None:
        same(y, here.decode())
    assert streams == {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


def test_codes_are_drawn_moved_and_read_under_scales_as_on_the_cpu():
    x, kept = drawn(3, 33), wt.quantize_state_dict({"w": drawn(4, 9)}, "e4m3fn", "channel")["w"]
    here = [wt.encode(x, "e2m1fn", "sr8", seed=3).decode(torch.float16), kept.decode(torch.float64)]
    with on_gpu():
        moved = wt.encode(there(x), "e2m1fn", "sr8", seed=3), kept.to(there(x).device)
        got = [moved[0].decode(torch.float16), moved[1].decode(torch.float64)]
        empty = wt.encode(there(drawn(0, 3)), "e4m3fn").decode()
        one = wt.encode(there(drawn()), "e4m3fn").decode()
    for y, z in zip(got, here, strict=True):
        same(y, z)
    assert empty.shape == (0, 3) and one.shape == ()
    assert torch.equal(moved[0].to("cpu").codes, wt.encode(x, "e2m1fn", "sr8", seed=3).codes)


def every_pattern():
    """Each sign and exponent of binary32 with some digits behind."""
    ends = torch.arange(1 << 11, dtype=torch.int64) << 21
    words = torch.cat([ends, ends + 1, ends - 1, ends + 0x12345])
    return (words - ((words >> 31 & 1) << 32)).to(torch.int32).view(torch.float32)


T = [0.0, 0.25, -0.5, 0.3, 1.5, 4.0]
AS_THEY_DO = {
    "floats": lambda x, q: q.float_quantize(x, 5, 2, "nearest", like="qtorch"),
    "all digits": lambda x, q: q.float_quantize(x, 8, 23, "nearest", like="qtorch"),
    "fork's floats": lambda x, q: q.float_quantize(x, 4, 3, "nearest", like="fork"),
    "fixed": lambda x, q: q.fixed_point_quantize(x, 8, 4, True, True, "nearest", like="qtorch"),
    "far fixed": lambda x, q: q.fixed_point_quantize(x, 8, 700, rounding="nearest", like="qtorch"),
    "blocks": lambda x, q: q.block_quantize(x.reshape(8, -1), 8, 0, "nearest", like="qtorch"),
    "posits": lambda x, q: q.posit_quantize(x, 8, 1, 0.7, "nearest", like="fork"),
    "bfloat16": lambda x, q: q.bfloat16_posit8_quantize(x.bfloat16(), 7, 1, 0.7, like="fork"),
    "codes": lambda x, q: q.convert_to_posit(x, 9, 1).view(torch.int16).float(),
    "sigmoid": lambda x, q: q.posit_sigmoid(x, 8, like="fork"),
    "right sigmoid": lambda x, q: q.posit_sigmoid(x, 16),
    "tanh": lambda x, q: q.posit_tanh_enhanced(x, 8),
    "table": lambda x, q: q.configurable_table_quantize(x, T, 0.7),
    "fork's table": lambda x, q: q.configurable_table_quantize(x, T, 0.7, like="fork"),
    "floor": lambda x, q: q.configurable_table_quantize(x, T, rounding="floor"),
    "hints": lambda x, q: q.configurable_table_quantize_rounding_hint(x, T, T, 3.0),
    "means": lambda x, q: q.configurable_table_quantize_geomean(x, T, 3.0, like="fork"),
}


@pytest.mark.parametrize("name", AS_THEY_DO)
def test_what_packages_compute_is_computed_there(name):
    """Nothing of it goes through this machine's memory; what torch computes waits for no stream of
    ours, and a real GPU's NaN have digits of their own."""
    x, function = every_pattern(), AS_THEY_DO[name]
    here = function(x, qtorch.quant)
    with on_gpu() as streams:
        got = function(there(x), qtorch.quant)
    nan = here.isnan()
    assert torch.equal(got.cpu().isnan(), nan)
    same(got.cpu().masked_fill(nan, 0.0), here.masked_fill(nan, 0.0))
    assert streams <= {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


def test_random_bits_as_packages_draw_them_are_torchs_there():
    for like in ("qtorch", "fork"):
        with on_gpu():
            x = there(drawn(4000))
            y = qtorch.quant.float_quantize(x, 5, 2, like=like)
            z = qtorch.quant.fixed_point_quantize(x, 8, 4, like=like)
        for got, step in ((y, 0.25), (z, 0.0625)):
            assert ((got - x).abs() <= x.abs().clamp(min=1) * step).all() and not got.equal(x)


RESULTS = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]


@pytest.mark.parametrize("out", RESULTS)
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("split", [1, 3, (2, "pairwise"), (4, "serial")])
def test_scaled_products_are_the_cpus(split, rows, out):
    a, b = drawn(9, 400) * 8, drawn(11, 400, seed=1) * 90
    a[0, 7], b[3, 5] = torch.nan, torch.inf
    scales = (
        (drawn(9, 1) ** 2, drawn(1, 11) ** 2) if rows else (torch.tensor(0.3), torch.tensor(7.0))
    )
    last = drawn(11).bfloat16(), torch.tensor(0.37)

    def computed(device):
        x, y = (t.to(device) for t in (a.to(torch.float8_e4m3fn), b.to(torch.float8_e5m2)))
        others = (t.to(device) for t in (*scales, *last))
        return wt.scaled_mm(x, y.t(), *others, out, split=split)

    here = computed("cpu")
    with on_gpu() as streams:
        got = computed(there(a).device)
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[here.element_size()]
    assert torch.equal(got.cpu().view(words), here.view(words))
    assert streams == {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


def test_nan_that_a_format_has_not_is_refused():
    x = there(torch.tensor([1.0, torch.nan]))
    with on_gpu(), pytest.raises(ValueError, match="x has NaN among its numbers, and fixed8.4"):
        wt.quantize(x, "fixed8.4")


@pytest.mark.skipif(PRETENDED, reason="asks for two devices of torch's")
def test_tensors_of_two_devices_are_refused():
    for a, b in (("cuda", "cpu"), ("cpu", "cuda")):
        with pytest.raises(ValueError, match=f"a lies on {a}.* and b on {b}.*; one device is"):
            wt.matmul(drawn(2, 2).to(a), drawn(2, 2).to(b), unit="mac(e5m10)")


@pytest.mark.skipif(PRETENDED, reason="asks for torch's own autocast and compiler of CUDA")
def test_autocast_and_compiled_code():
    a, b = drawn(4, 8).cuda(), drawn(8, 3).cuda()
    wanted = wt.matmul(a, b, unit="mac(e5m10)")
    with torch.autocast("cuda"):
        same(wt.matmul(a, b, unit="mac(e5m10)"), wanted)
    same(torch.compile(lambda a, b: wt.matmul(a, b, unit="mac(e5m10)"))(a, b), wanted)


def test_what_lies_past_a_formats_range_waits_its_turn_too():
    x = drawn(4, 64) * 9
    with on_gpu() as streams:
        got = past(there(x), "mxfp4")
    assert torch.equal(got.cpu(), past(x, "mxfp4"))
    assert streams == {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


@pytest.mark.skipif(PRETENDED, reason="asks for streams of torch's")
def test_a_stream_of_the_users_own():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), on_gpu() as streams:
        wt.quantize(drawn(5).cuda(), "e4m3fn")
    assert streams == {stream.cuda_stream}


FORMATS = ["e8m10", "mxfp8_e4m3", "nvfp4", "block(e4m3fn,1x128,binary32)", "affine(int8,symmetric)"]


def test_threads_that_flush_subnormals_change_no_bit():
    x, large = drawn(8, 64) * 2.0**-127, drawn(64, 5)

    def computed():
        with on_gpu():
            y = there(x)
            found = [wt.quantize(y, format) for format in FORMATS]
            return [*found, wt.matmul(y, there(large), unit="mac(e8m23)")]

    def flushed():
        return torch.set_flush_denormal(True), computed()

    usual = computed()
    with ThreadPoolExecutor(1) as another:
        flushes, got = another.submit(flushed).result()
    if not flushes:
        pytest.skip("this machine flushes none")
    for one, other in zip(got, usual, strict=True):
        same(one, other)


@pytest.mark.parametrize("format", ["e4m3fn", "affine(int4,symmetric)", "affine(uint8)"])
def test_static_scales(format):
    from widthwise.torch._static import scaled

    scale, zero = torch.tensor(0.37), torch.tensor(3 * format.endswith("(uint8)"))
    both(lambda x: scaled(x, format, scale.to(x.device), zero), drawn(40) * 9)
