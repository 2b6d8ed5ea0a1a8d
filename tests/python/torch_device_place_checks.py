"""Where tensors lie, told by a mode in which some of this CPU's are a GPU's, run as
torch_device_checks.py is: those of two devices do not meet, and no numbers come here."""

import pytest
import torch
import widthwise.torch as wt
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten
from torch_device_checks import AS_THEY_DO, CODED, FEW, PRETENDED, RESULTS, every_pattern
from torch_here import drawn
from widthwise.compat import qtorch
from widthwise.torch import _backend, _gpu
from widthwise.torch._containers import unsaturated
from widthwise.torch._static import scaled

if not PRETENDED:
    pytest.skip("pretends a device, which torch here has", allow_module_level=True)

HERE, THERE = torch.device("cpu"), torch.device("cuda", 0)
HOMEWARD = ("numpy", "tolist", "cpu", "__array__")
DIVISIONS = ("div", "divide", "true_divide", "__truediv__", "__rtruediv__")


def memory_of(x):
    return x.untyped_storage().data_ptr()


def tensors_of(given):
    return [x for x in tree_flatten(given)[0] if isinstance(x, torch.Tensor)]


class Places(TorchFunctionMode):
    """A result lies with its operands, or where `device=` and `.to()` say."""

    def __init__(self, few=FEW):
        super().__init__()
        self.few = few  # bytes that may come here
        self.kept = []  # so that no memory is another tensor's later
        self.told = {
            torch.Tensor.device.__get__: lambda x: THERE if self.lies_there(x) else HERE,
            torch.Tensor.is_cuda.__get__: self.lies_there,
            torch.Tensor.is_cpu.__get__: lambda x: not self.lies_there(x),
        }

    def lies_there(self, x):
        return memory_of(x) in map(memory_of, self.kept)

    def there(self, found):
        self.kept += [
            x for x in tree_flatten(found)[0] if isinstance(x, torch.Tensor) and x.numel()
        ]
        return found

    def __torch_function__(self, function, types, args=(), how=None):
        how, name = dict(how or {}), getattr(function, "__name__", "")
        if function in self.told:
            return self.told[function](*args)
        place = how.pop("device", None)
        if function == torch.Tensor.to and isinstance(args[1], torch.device):
            place, args = args[1], (args[0], "cpu")
        tensors = tensors_of((args, how))
        lie_there = [self.lies_there(x) for x in tensors]
        come_home = name in HOMEWARD or (place is not None and torch.device(place) == HERE)
        if any(lie_there) and come_home:
            assert tensors[0].nbytes <= self.few, f"{name}: numbers came here"
            return function(*args, **how).clone() if name in ("cpu", "to") else function(*args)
        if any(lie_there) and not all(lie_there):
            left = [x for x, away in zip(tensors, lie_there, strict=True) if not away]
            assert all(x.dim() == 0 for x in left), f"{name} of tensors of two devices"
            assert name not in DIVISIONS, "by a scalar of this machine a GPU multiplies reciprocals"
        found = function(*args, **how)
        away = torch.device(place).type == "cuda" if place is not None else any(lie_there)
        return self.there(found) if away else found


def few(x):
    return x.nan_to_num(0.0).clamp(-9, 9)


def one(x):
    return few(x[:1]).abs().sum() + 0.1


def scaled_product(x, out, rows):
    a, sizes = few(x)[:4096].reshape(16, -1).to(torch.float8_e4m3fn), few(x[-32:]).abs() + 1
    scales = (sizes[:16, None], sizes[None, 16:]) if rows else (one(x), one(x))
    return wt.scaled_mm(a, a.t(), *scales, few(x[:16]), one(x), out, split=(3, "serial")).float()


def through_codes(x, format):
    q = wt.encode(few(x[:960]).reshape(24, -1), format)
    return q.codes.double() if format == "e15m112" else q.decode() + q.codes.float().sum()


HELD = ["e4m3fn", "mxfp8_e4m3", "nvfp4", "affine(int8,symmetric)", "posit8es1", "fixed8.4"]
FUNCTIONS = {
    **{f"like a package: {k}": lambda x, f=f: f(x, qtorch.quant) for k, f in AS_THEY_DO.items()},
    **{f"codes in {f}": lambda x, f=f: through_codes(x, f) for f in CODED if "symmetric," not in f},
    **{f"values in {f}": lambda x, f=f: wt.quantize(few(x).reshape(64, -1), f) for f in HELD},
    **{f"reach of {f}": lambda x, f=f: unsaturated(few(x), f, None) for f in HELD[1:4]},
    **{
        f"scaled to {out}, rows {rows}": lambda x, out=out, rows=rows: scaled_product(x, out, rows)
        for out in RESULTS
        for rows in (False, True)
    },
    "kept scale": lambda x: scaled(few(x), "affine(int8)", one(x), few(x)[0].int()),
    "kept scale of a float": lambda x: scaled(few(x), "e4m3fn", one(x), few(x)[0]),
    "product": lambda x: wt.matmul(
        few(x).reshape(64, -1), few(x).reshape(-1, 64), c=few(x[:64]), unit="mac(e5m10)"
    ),
    "product of blocks": lambda x: wt.matmul(
        few(x).reshape(64, -1), few(x).reshape(-1, 64), unit="blackwell.nvfp4"
    ),
    "convolution": lambda x: wt.conv2d(
        few(x[:256]).reshape(1, 4, 8, 8), few(x[:72]).reshape(2, 4, 3, 3), unit="mac(e5m10)"
    ),
    "attention": lambda x: wt.attention(
        *(few(x[:256]).reshape(2, 16, 8),) * 3, is_causal=True, unit="mac(e5m10)"
    ),
    "past what half holds": lambda x: qtorch.quant.float_quantize(
        few(x).half(), 8, 2, rounding="nearest"
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_devices_do_not_meet_and_numbers_stay(name, monkeypatch):
    monkeypatch.setattr(_gpu, "gpu_of", lambda x: 0)
    monkeypatch.setattr(_gpu, "stream_of", lambda x: 7)
    x = every_pattern()
    wanted = FUNCTIONS[name](x)
    with torch.no_grad(), Places() as places:
        got = FUNCTIONS[name](places.there(x.clone()))
        assert got.is_cuda
    assert torch.equal(got.double().nan_to_num(7.0), wanted.double().nan_to_num(7.0))


LAYERS = {
    "linear": (lambda: nn.Linear(8, 4), (6, 8)),
    "convolution": (lambda: nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "attention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), (2, 3, 8)),
}


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_on_the_device_that_it_is_told(name, backend, monkeypatch):
    """Its tensors lie on the other one, and so do its results and gradients."""
    monkeypatch.setattr(_gpu, "gpu_of", lambda x: 0)
    monkeypatch.setattr(_gpu, "stream_of", lambda x: 7)
    monkeypatch.setattr(_backend, "what_cuda_lacks", list)
    torch.manual_seed(0)
    made, size = LAYERS[name]
    how = {"unit": "mac(e5m10)", "input": "affine(int8)", "weight": "e4m3fn"}
    layer, x = wt.convert(nn.Sequential(made()), {"*": how})[0], drawn(*size)
    alone = name != "attention"
    wt.calibrate(layer, [x if alone else dict.fromkeys(("query", "key", "value"), x)])

    def computed(x):
        y = layer(x) if alone else layer(x, x, x)[0]
        y.backward(torch.ones_like(y))
        return y, [p.grad.clone() for p in layer.parameters()]

    wanted, gradients = computed(x)
    layer.zero_grad()
    wt.convert(nn.Sequential(layer), {"*": how}, backend=backend)
    turns, in_turn = [], _gpu.in_turn
    monkeypatch.setattr(_gpu, "in_turn", lambda x: turns.append(x) or in_turn(x))
    with Places(few=1 << 20) as places:
        if backend == "cpu":
            x = places.there(x.clone())
            places.there([*layer.parameters(), *layer.buffers()])
        y, found = computed(x)
        wt.calibrate(layer, [x if alone else dict.fromkeys(("query", "key", "value"), x)])
        assert all(scale.is_cuda == x.is_cuda for scale in layer.buffers())
        assert y.is_cuda == (backend == "cpu") and bool(turns) == (backend == "cuda")
    assert torch.equal(y, wanted)
    assert all(map(torch.equal, found, gradients))


def test_the_mode_sees_what_torch_would_refuse():
    with Places() as places:
        x = places.there(drawn(40))
        for wrong in (lambda: x + torch.ones(40), x.numpy, x.tolist, lambda: x.to(HERE)):
            with pytest.raises(AssertionError, match="of two devices|numbers came here"):
                wrong()
        with pytest.raises(AssertionError, match="reciprocals"):
            x / torch.tensor(3.0)
        assert (x + 1).is_cuda and torch.ones(3, device=THERE).is_cuda and torch.ones(3).is_cpu
