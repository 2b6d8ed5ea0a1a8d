"""torch's transforms and whole models on a GPU, run as torch_device_checks.py is."""

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch_device_checks
import widthwise.torch as wt
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch_device_checks import PRETENDED, STREAM, both, on_gpu, same, there
from torch_here import drawn

COUNTED = ["bits", "overflow", "underflow"]
UNIT = {"unit": "mac(e5m10)"}
TRANSFORMED = {
    "vmap": lambda a: torch.vmap(lambda v: wt.quantize(v, "e4m3fn"))(a),
    "vmap of a product": lambda a: torch.vmap(lambda v: wt.matmul(v, v.mT, **UNIT))(
        a.reshape(4, 4, 4)
    ),
    "vmap of grad": lambda a: torch.vmap(
        torch.func.grad(lambda v: wt.quantize(v, "e4m3fn", backward="e5m2").square().sum())
    )(a),
    "jacrev": lambda a: torch.func.jacrev(lambda v: wt.linear(v, a, **UNIT))(a[0]),
    "jacfwd": lambda a: torch.func.jacfwd(lambda v: wt.linear(v, a, **UNIT))(a[0]),
    "checkpoint": lambda a: checkpoint(
        lambda v: wt.quantize(v, "e4m3fn", "sr8", seed=3), a, use_reentrant=False
    ),
    "double backward": lambda a: torch.autograd.grad(
        wt.matmul(a, a.mT, **UNIT).square().sum(), a, create_graph=True
    )[0],
    "compiled": lambda a: torch.compile(
        lambda v: wt.matmul(wt.quantize(v, "e4m3fn"), v.mT, **UNIT),
        fullgraph=True,
        backend="aot_eager",
    )(a),
    "multiplier": lambda a: wt.matmul(a, a.mT, **UNIT, multiplier="mitchell"),
    "backward multiplier": lambda a: wt.matmul(
        a, a.mT, **UNIT, multiplier="drum6", backward_multiplier="mitchell"
    ),
    "half": lambda a: wt.linear(a.half(), a.half(), **UNIT),
    "bfloat16": lambda a: wt.matmul(a.bfloat16(), a.bfloat16(), unit="mac(e8m7)"),
    "double": lambda a: wt.matmul(a.double(), a.double(), unit="mac(binary64)"),
    "drawn": lambda a: wt.matmul(a, a, unit="mac(e5m10, sum=e5m10:sr8)", seed=torch.tensor(3)),
    "shared heads": lambda a: wt.attention(
        *(torch.ones_like(a).reshape(4, 4, 4)[:n] for n in (4, 2)),
        a.reshape(4, 4, 4)[:2],
        enable_gqa=True,
        **UNIT,
    ),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, as it loads its transforms
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms_have_the_cpus_bits(name):
    if not PRETENDED and name == "double backward":
        pytest.skip("squares are summed by torch's GPU")
    both(TRANSFORMED[name], drawn(8, 8))


def test_threads_have_the_cpus_bits_and_torchs_stream_each():
    def computed(x):
        return wt.quantize(wt.matmul(x, x, **UNIT), "mxfp8_e4m3")

    given = [drawn(32, 32, seed=i) for i in range(12)]
    wanted = [computed(x) for x in given]
    with on_gpu() as streams, ThreadPoolExecutor(4) as pool:
        got = list(pool.map(computed, map(there, given)))
    for x, y in zip(got, wanted, strict=True):
        same(x, y)
    assert streams == {STREAM if PRETENDED else torch.cuda.current_stream().cuda_stream}


@pytest.mark.parametrize("format", ["e2m1fn", "nvfp4", "affine(int4,symmetric,8)", "table(nf4)"])
def test_codes_there_are_copied_pickled_and_loaded(format):
    x = drawn(4, 32)
    with on_gpu():
        q = wt.encode(there(x), format)
        wanted = q.decode()
        buffer = io.BytesIO()
        if PRETENDED:  # what goes to a file comes here first
            others = [copy.deepcopy(q)]
        else:
            torch.save(q, buffer)
            buffer.seek(0)
            others = [copy.deepcopy(q), torch.load(buffer), pickle.loads(pickle.dumps(q))]
        got = [wanted, *(other.decode() for other in others)]
        assert all(other.device == q.device for other in others)
    for y in got:
        same(y, wt.encode(x, format).decode())


def test_a_model_is_profiled_there():
    """Errors are summed by torch, on a real GPU in another order."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4))
    pairs = [(drawn(16, 32), torch.arange(16) % 4)]

    def told(place):
        model, data = copy.deepcopy(net).to(place), [tuple(x.to(place) for x in pairs[0])]
        profile = wt.profile_model(model, data, ["e4m3fn", "mxfp4", "affine(int8,symmetric)"])
        hint = wt.loss_scale(model, data, nn.functional.cross_entropy, "e5m2")
        return {(row["layer"], row["format"]): row for row in profile.records()}, hint.scale

    rows, scale = told("cpu")
    with on_gpu():
        got, hint = told(there(drawn(1)).device)
    assert got.keys() == rows.keys() and hint == scale
    for key, row in rows.items():
        assert got[key]["error_output"] == pytest.approx(row["error_output"], rel=1e-3)
        assert [got[key][name] for name in COUNTED] == [row[name] for name in COUNTED]


def test_attention_layers_and_kept_scales_are_the_cpus():
    torch.manual_seed(0)
    layer = wt.convert(nn.MultiheadAttention(8, 2, batch_first=True), {"*": UNIT})
    kept = nn.Sequential(nn.Linear(8, 8), nn.Flatten())
    kept = wt.convert(kept, {"0": {"input": "affine(int8)", "weight": "e4m3fn"}})
    wt.calibrate(kept, [drawn(30, 8)])
    x = drawn(2, 5, 8)
    here = [layer(x, x, torch.ones_like(x))[0], kept(x)]
    with on_gpu():
        layer, kept, y = (part.to(there(x).device) for part in (layer, kept, x))
        got = [layer(y, y, torch.ones_like(y))[0], kept(y)]
        low = nn.Sequential(wt.Quantizer("affine(int8)")).to(y.device)
        wt.calibrate(low, [y[0, :2]])  # of so few that they may come to this machine
        assert low[0].value_scale.device == y.device and low(y).shape == y.shape
    for z, wanted in zip(got, here, strict=True):
        if PRETENDED:
            same(z, wanted)
        else:  # softmax, and the product of torch's own layer
            torch.testing.assert_close(z.cpu(), wanted)


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse"])
def test_of_numbers_past_those_that_calibrate_keeps_only_counts_come_here(method, monkeypatch):
    monkeypatch.setattr(torch_device_checks, "FEW", 1 << 23)
    batches = [drawn(1 << 20), drawn(1 << 22, seed=1) * 3]  # of 4 MB, and of 16

    def told(brought):
        low = nn.Sequential(wt.Quantizer("affine(int8)"))
        return wt.calibrate(low, map(brought, batches), method).rows, low[0].value_scale.item()

    wanted = told(lambda x: x)
    with on_gpu():
        assert told(there) == wanted
        with pytest.raises(ValueError, match=r"value of '0', affine.*: x\[1\] is nan, which no"):
            low = nn.Sequential(wt.Quantizer("affine(int8)"))
            wt.calibrate(low, [there(torch.tensor([1.0, torch.nan]))], method)
