"""widthwise.torch's models: converted and back, copied, stored, trained."""

import copy
import io
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from torch_here import NEEDED, drawn, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED


def net():
    torch.manual_seed(5)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 8), nn.Linear(8, 2)
    )


def test_convert_and_back():
    model, other = net(), net()
    keys, parameters = list(model.state_dict()), list(model.parameters())
    x = drawn(3, 1, 8, 8)
    wanted = model(x)
    rules = [("4", None), (nn.Linear, {"unit": "hopper.e4m3.f32"}), (nn.Conv2d, "mac(e5m10)")]
    assert wt.convert(model, rules) is model
    assert [type(m) for m in model][::3] == [wt.Conv2d, wt.Linear] and type(model[4]) is nn.Linear
    assert list(model.state_dict()) == keys
    assert all(one is two for one, two in zip(model.parameters(), parameters, strict=True))
    assert not torch.equal(model(x), wanted)
    other.load_state_dict(model.state_dict(), strict=True)
    assert torch.equal(other(x), wanted)
    model.load_state_dict(other.state_dict(), strict=True)
    assert wt.revert(model) is model and torch.equal(model(x), wanted)
    assert [type(m) for m in model] == [type(m) for m in other]
    assert "scheme" not in vars(model[0]) and not model[0]._forward_pre_hooks


def test_a_symbolic_trace_records_what_layers_call():
    how = {"unit": "mac(e5m10)", "input": "e4m3fn", "weight": "e4m3fn", "backward": "e5m2"}
    model, x = wt.convert(net(), how), drawn(3, 1, 8, 8)
    wt.calibrate(model, [x])
    traced = torch.fx.symbolic_trace(model)
    assert torch.equal(traced(x), model(x))
    assert torch.equal(pickle.loads(pickle.dumps(traced))(-x), model(-x))
    wt.convert(model, {**how, "output": "e5m10"})
    assert torch.equal(torch.fx.symbolic_trace(model)(x), model(x))


def test_layers_of_ours_that_were_made_into_others_take_settings_and_drop_them():
    class Own(wt.Linear):
        pass

    model = wt.convert(nn.Sequential(nn.Linear(4, 3), Own(3, 3)), "mac(e5m10)")
    torch.nn.utils.parametrizations.weight_norm(model[0])
    x, kinds = drawn(2, 4), [type(layer) for layer in model]
    wt.convert(model, "mac(e4m3fn)")
    assert [how for _, _, how in wt.report(model).rows if "=" in how] == ["unit=mac(e4m3fn)"] * 2
    wt.revert(model)
    wanted = x
    for layer in model:
        wanted = nn.functional.linear(wanted, layer.weight, layer.bias)
    assert torch.equal(model(x), wanted) and [type(layer) for layer in model] == kinds
    assert wt.report(model).rows[-1][2] == "torch's: Own has no settings"


def test_the_report_says_why_a_lazy_layer_stays():
    model = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 2))
    rows = wt.report(wt.convert(model, "mac(e5m10)")).rows
    assert rows[0][2] == "torch's: its parameters have no shapes before the first forward"


def test_a_converted_model_is_copied_and_pickled():
    model = wt.convert(net(), {"*": {"unit": "mac(e5m10)", "weight": "e4m3fn", "output": "e5m10"}})
    x = drawn(3, 1, 8, 8)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    copies.append(torch.load(buffer, weights_only=False))
    for other in copies:
        assert torch.equal(other(x), model(x)) and "mac(e5m10)" in repr(other)
        assert torch.equal(wt.revert(other)(x), net()(x))


def test_formats_of_a_layer_are_those_of_quantize():
    how = {"input": "e4m3fn", "weight": "mxfp8_e4m3", "output": "e5m10", "backward": "e5m2"}
    layer, plain = wt.Linear(32, 4, **how), nn.Linear(32, 4)
    layer.load_state_dict(plain.state_dict())
    x = drawn(5, 32).requires_grad_()
    w = wt.quantize(plain.weight, "mxfp8_e4m3")
    wanted = wt.quantize(F.linear(wt.quantize(x, "e4m3fn"), w, plain.bias), "e5m10")
    y = layer(x)
    assert torch.equal(y, wanted)
    g = drawn(5, 4, seed=2)
    y.backward(g)
    assert torch.equal(x.grad, wt.quantize(g, "e5m2") @ w)


def test_the_report_names_every_layer_with_parameters():
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2), "n": nn.LayerNorm(2)})
    model["m"] = nn.MultiheadAttention(2, 1)
    rows = {
        r["name"]: r["how"] for r in wt.report(wt.convert(model, {"a": "mac(e5m10)"})).records()
    }
    assert rows["a"] == "unit=mac(e5m10)" and rows["b"] == "torch's: no rule changes it"
    assert rows["n"] == "torch's: no rule is for its type" and "of its own" in rows["m.out_proj"]


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"fc*": "mac(e5m10)"}, r"rules: 'fc\*' fits no layer; there are '0', '3', '4'"),
        ({nn.Conv1d if torch else 0: "mac(e5m10)"}, "rules: Conv1d fits no layer"),
        ({"*": "mac(e5m99x)"}, "unit"),
        ({"*": "blackwell.mxfp8"}, "'0' is a convolution and unit blackwell.mxfp8 scales blocks"),
        ({"*": {"weight": "e4m3fnn"}}, "nearest name: 'e4m3fn'"),
        ({"*": {"backward_unit": "mac(e5m10)"}}, "name both"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_and_nothing_changes(rules, message):
    model = net()
    with pytest.raises(ValueError, match=message):
        wt.convert(model, rules)
    assert type(model[0]) is nn.Conv2d and type(model[3]) is nn.Linear


def test_what_is_preserved_stays_whatever_the_rules_say():
    net = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Conv1d(4, 4, 1), nn.Linear(4, 2))
    wt.convert(net, "mac(e5m10)", preserve=["3", nn.LayerNorm, nn.Conv1d])
    assert [type(layer) for layer in net] == [wt.Linear, nn.LayerNorm, nn.Conv1d, nn.Linear]
    with pytest.raises(ValueError, match="preserve has 'head', which fits no module of Sequential"):
        wt.convert(net, "mac(e5m7)", preserve=["head"])
    with pytest.raises(TypeError, match="3 is no glob on names, no type and no pair of these"):
        wt.convert(net, "mac(e5m7)", preserve=[3])
    with pytest.raises(ValueError, match="'2' fits no layer"):
        wt.convert(net, {"2": "mac(e5m7)"}, preserve=["2"])
    assert str(net[0].scheme.unit) == "mac(e5m10)"


def test_a_backend_is_kept_told_and_refused_where_something_is_missing(monkeypatch):
    from widthwise.torch import _backend

    model = wt.convert(net(), {"0": {"unit": "mac(e5m10)", "backend": "cpu"}, "*": "mac(e5m7)"})
    assert [model[i].scheme.backend for i in (0, 3, 4)] == ["cpu", "auto", "auto"]
    wt.convert(model, "mac(e5m10)", backend="cpu")
    assert wt.report(model).rows[1] == ("3", "Linear", "unit=mac(e5m10), backend=cpu")
    x = drawn(3, 1, 8, 8)
    assert torch.equal(model(x), wt.convert(net(), "mac(e5m10)")(x))
    assert pickle.loads(pickle.dumps(model))[3].scheme.backend == "cpu"
    with pytest.raises(ValueError, match="backend = 'gpu': it may be 'auto', 'cpu', 'cuda'"):
        wt.convert(model, "mac(e5m10)", backend="gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(_backend.core, "unusable_engines", lambda: [("cuda", "nvcc was not found")])
    missing = r"torch 2.* finds no GPU; Widthwise's engine: nvcc was not found\. 'auto' computes"
    for wrong in (
        lambda: wt.convert(net(), "mac(e5m10)", backend="cuda"),
        lambda: wt.convert(net(), {"3": {"unit": "mac(e5m10)", "backend": "cuda"}}),
        lambda: wt.Linear(2, 2, backend="cuda"),
    ):
        with pytest.raises(ValueError, match=f"backend = 'cuda' cannot be had here: {missing}"):
            wrong()


def test_a_layer_whose_tensors_are_brought_there_compiles_around_it(monkeypatch):
    from widthwise.torch import _backend, _layers

    model = nn.Sequential(*(wt.Linear(8, 8, unit="mac(e5m10)", backend="cpu") for _ in range(2)))
    x, calls, brought, there = drawn(3, 8), [], [], _backend.computed_there
    model[0].register_forward_hook(lambda *seen: calls.append(seen))
    wanted = model(x)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(x), wanted)
    for module in (_layers, _backend):
        monkeypatch.setattr(module, "lie_on", lambda *how: False)  # all is brought there
    monkeypatch.setattr(_backend, "computed_there", lambda *how: brought.append(1) or there(*how))
    calls.clear()
    assert torch.equal(model(x), wanted) and len(calls) == 1 and len(brought) == 2
    fast = torch.compile(model, backend="aot_eager")
    assert torch.equal(torch.func.vmap(model)(x), wanted) and torch.equal(fast(x), wanted)
    assert len(brought) == 6
    with pytest.raises(TypeError, match="x is list"):
        model[0]([1.0])


def test_threads_share_a_layer_whose_tensors_are_brought_elsewhere(monkeypatch):
    from widthwise.torch import _backend, _layers

    layer, x = wt.Linear(64, 64, unit="mac(e5m10)", backend="cpu"), drawn(64, 64)
    wanted, own = layer(x), dict(layer.named_parameters())
    for module in (_layers, _backend):
        monkeypatch.setattr(module, "lie_on", lambda *how: False)
    within, most, there = [], [], _backend.computed_there

    def seen(*how):  # others would stand in for the layer's tensors meanwhile
        within.append(1)
        most.append(len(within))
        time.sleep(0.001)
        try:
            return there(*how)
        finally:
            within.pop()

    monkeypatch.setattr(_backend, "computed_there", seen)
    with ThreadPoolExecutor(8) as pool:
        assert all(torch.equal(y, wanted) for y in pool.map(layer, [x] * 64))
    assert len(most) == 64 and max(most) == 1
    assert all(own[name] is p for name, p in layer.named_parameters())


def test_a_settings_name_that_there_is_not():
    with pytest.raises(TypeError, match="weights: there are unit, backward_unit, input, weight"):
        wt.Linear(2, 2, weights="e4m3fn")


def test_inference_takes_no_fast_path_around_a_converted_layer(monkeypatch):
    """torch's encoder layers read weights past the forward of their layers."""
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x, calls, product = drawn(2, 5, 8), [], wt.Linear.product
    monkeypatch.setattr(wt.Linear, "product", lambda *how: calls.append(how[0]) or product(*how))
    with torch.no_grad():
        fast = encoder(x)
        wt.convert(encoder, {"linear?": "mac(e3m2)"})
        assert not torch.equal(encoder(x), fast)
    assert calls == [encoder.linear1, encoder.linear2]


def test_training_goes_on_bit_equal_after_it_was_stored():
    def steps(model, optimizer, n):
        for i in range(n):
            optimizer.zero_grad()
            F.cross_entropy(model(drawn(6, 1, 8, 8, seed=i)), torch.arange(6) % 2).backward()
            optimizer.step()

    def fresh():
        model = wt.convert(net(), {"*": {"unit": "mac(e5m2, sum=e5m10:sr13)"}})
        return model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    whole = fresh()
    torch.manual_seed(1)
    steps(*whole, 2)
    stored = copy.deepcopy([part.state_dict() for part in whole])
    generator = torch.get_rng_state()
    steps(*whole, 3)
    again = fresh()
    for part, state in zip(again, stored, strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(generator)
    steps(*again, 3)
    for one, other in zip(whole[0].parameters(), again[0].parameters(), strict=True):
        assert torch.equal(one, other)


def test_digits_are_learned_as_well_as_in_binary32():
    """150 steps of 50: each unit's accuracy on 297 unseen digits against binary32's."""
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    data = datasets.load_digits()
    x, y = torch.tensor(data.data / 16, dtype=torch.float32), torch.tensor(data.target)

    def accuracy(rules):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        model = model if rules is None else wt.convert(model, rules)
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        for i in range(0, 7500, 50):
            at = slice(i % 1500, i % 1500 + 50)
            optimizer.zero_grad()
            F.cross_entropy(model(x[at]), y[at]).backward()
            optimizer.step()
        return (model(x[1500:]).argmax(1) == y[1500:]).float().mean().item()

    plain = accuracy(None)
    assert plain > 0.8
    for forward, backward in (
        ("mac(e5m10)", None),
        ("hopper.e4m3.f32", "hopper.e5m2.f32"),
        ("mac(e4m3fn, sum=e5m10)", "mac(e5m2, sum=e5m10)"),
        ("mac(e5m2, sum=e5m10:sr13)", None),
    ):
        got = accuracy({"*": {"unit": forward, "backward_unit": backward}})
        assert abs(got - plain) < 0.04, (forward, got, plain)
