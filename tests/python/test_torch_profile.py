"""widthwise.torch.profile_model and loss_scale: shares, ranges and errors taken by hand."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, drawn, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED

FORMATS = ["e2m1fn", "e4m3fn", "int8", "mxfp4", "affine(int4,symmetric,channel)"]


def net():
    torch.manual_seed(5)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 8), nn.ReLU(), nn.Linear(8, 2)
    )


def relative(wanted, got):
    return float(((got - wanted).double().square().sum() / wanted.double().square().sum()).sqrt())


def batches():
    return [(drawn(6, 1, 8, 8), 1), (3 * drawn(2, 1, 8, 8, seed=4), 0)]


def test_each_row_is_what_one_changed_layer_does():
    model = net()
    state = copy.deepcopy(model.state_dict())
    found = wt.profile_model(model, batches(), FORMATS)
    assert [type(m) for m in model] == [type(m) for m in net()]
    assert all(torch.equal(x, state[name]) for name, x in model.state_dict().items())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model) and model.training
    assert (
        len(found) == 15 and found["error_output"].tolist() == sorted(found["error_output"])[::-1]
    )
    inputs, wanted, given = {}, [], [x for x, _ in batches()]
    with torch.no_grad():
        for x in given:
            for name, layer in model.named_children():
                inputs.setdefault(name, []).append(x)
                x = layer(x)
            wanted.append(x)
        for row in found.records():
            other, name, format = net(), row["layer"], row["format"]
            of_input = format.replace(",channel", "")
            wt.convert(other, {name: {"input": of_input, "weight": format}})
            got = torch.cat([other(x) for x in given])
            assert row["error_output"] == pytest.approx(relative(torch.cat(wanted), got))
            layer, plain = other.get_submodule(name), model.get_submodule(name)
            pairs = [(plain(x).flatten(), layer(x).flatten()) for x in inputs[name]]
            here = relative(*map(torch.cat, zip(*pairs, strict=True)))
            assert row["error_here"] == pytest.approx(here)
            sizes = torch.cat([x.abs().flatten() for x in inputs[name]])
            weights = plain.weight.abs()
            for key, x in (("input", sizes), ("weight", weights)):
                assert row[f"{key}_least"] == x[x > 0].min() and row[f"{key}_largest"] == x.max()
            assert row["numbers"] == plain.weight.numel() and row["type"] == type(plain).__name__


@pytest.mark.parametrize(
    "format", ["e2m1fn", "e4m3fn", "int4", "fixed8.4", "posit8es1", "uint4", "int4;overflow=wrap"]
)
def test_shares_and_wasted_bits_of_single_numbers(format):
    f, layer = ww.Format(format), nn.Linear(64, 32)
    x = drawn(100, 64) ** 5
    row = wt.profile_model(nn.Sequential(layer), [x], format).records()[0]
    numbers = np.concatenate([x.numpy().ravel(), layer.weight.detach().numpy().ravel()])
    codes = ww.array(numbers, f).to_float64()
    ends = ww.Format(format.split(";")[0])
    least = float(ww.array([-1e30], ends, rounding="rtz").to_float64()[0])
    least = 0.0 if least != least else least
    past = (numbers > float(f.max_finite)) | (numbers < least)
    assert row["overflow"] == pytest.approx(past.mean())
    assert row["underflow"] == pytest.approx(((numbers != 0) & (codes == 0)).mean())
    for key, t in (("input", x), ("weight", layer.weight)):
        wanted = math.log2(float(f.max_finite) / float(t.abs().max()))
        assert row[f"{key}_wasted"] == pytest.approx(wanted)


def test_blocks_find_their_range_and_their_bits_have_scales():
    rows = wt.profile_model(nn.Sequential(nn.Linear(48, 8)), [drawn(5, 48)], FORMATS).records()
    rows = {row["format"]: row for row in rows}
    assert rows["mxfp4"]["input_wasted"] is None and rows["mxfp4"]["overflow"] > 0
    assert rows["mxfp4"]["bits"] == 4 + 8 * 2 / 48  # two scales a row of 48
    assert rows["affine(int4,symmetric,channel)"]["bits"] == 4 + 40 / 48  # a scale, a zero point
    assert rows["e4m3fn"]["bits"] == 8


def test_units_and_settings_are_profiled_and_converted_layers_too():
    model = wt.convert(net(), {"5": {"unit": "mac(e5m10)", "input": "e4m3fn"}})
    wt.calibrate(model, [x for x, _ in batches()])
    keys, x = list(model.state_dict()), batches()[0][0]
    before = model(x)
    units = ["hopper.e4m3.f32", {"unit": "mac(e5m2, sum=e5m10)", "output": "e5m2"}]
    found = wt.profile_model(model, [x], units)
    assert torch.equal(model(x), before) and list(model.state_dict()) == keys
    assert model[5].scheme.unit == "mac(e5m10)" and found.formats[1].startswith("unit=mac(e5m2")
    other = copy.deepcopy(model)
    other[5].forget_scales()
    wt.convert(other, {"5": units[1]})
    row = next(r for r in found.records() if r["layer"] == "5" and "output" in r["format"])
    assert row["error_output"] == pytest.approx(relative(before, other(x)))
    assert row["error_here"] == pytest.approx(row["error_output"])


def test_attention_and_outputs_in_parts():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.attend, self.out = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)

        def forward(self, x):
            y, weights = self.attend(x, x, x)
            return {"y": self.out(y), "parts": (weights,)}

    found = wt.profile_model(Net(), [drawn(3, 5, 8)], ["e4m3fn", "int8"])
    assert set(found["type"]) == {"MultiheadAttention", "Linear"}
    row = next(r for r in found.records() if r["layer"] == "attend")
    assert row["numbers"] == 4 * 64 and 0 < row["error_here"] < 1.5


def test_what_is_infinite_comes_first_and_is_told():
    model = nn.Sequential(nn.Linear(2, 2))
    found = wt.profile_model(model, [torch.tensor([[1e6, 1.0]])], ["e4m3fn", "e8m7"])
    assert found.rows[0][2] == "e4m3fn" and found["error_output"][0] == math.inf
    assert json.loads(found.to_json())["rows"][0]["error_output"] == "inf"
    assert found.records()[0]["overflow"] == pytest.approx(1 / 6)


def test_a_suggestion_keeps_to_its_budget_and_says_what_it_measured():
    model, data = net(), batches()
    found = wt.profile_model(model, data, ["mxfp4", "e4m3fn", "affine(int8)", "e5m10", "e8m20"])
    bits = []
    for budget in (0.3, 0.05, 0.01, 0.001):
        suggestion = found.suggest(budget)
        assert suggestion.error <= budget
        other = wt.convert(net(), suggestion.rules)
        with torch.no_grad():
            got, wanted = (torch.cat([m.eval()(x) for x, _ in data]) for m in (other, model))
        assert suggestion.error == pytest.approx(relative(wanted, got))
        bits.append(suggestion.bits)
        assert f"of {budget:g} allowed" in str(suggestion) and len(suggestion) == 3
    assert bits == sorted(bits) and bits[0] < 7 < bits[-1]
    assert type(model[3]) is nn.Linear
    with pytest.raises(ValueError, match="the least error that these formats reach together is"):
        found.suggest(1e-9)
    with pytest.raises(ValueError, match="budget = 0: an error above zero"):
        found.suggest(0)


def test_it_is_shown_stored_and_made_a_data_frame():
    found = wt.profile_model(net(), batches(), ["e4m3fn", "int8"])
    assert str(found).startswith("Sequential: 3 layers, each alone in 2 formats\nlayer")
    assert "<table>" in found._repr_html_() or "<table" in found._repr_html_()
    assert json.loads(found.to_json())["model"] == "Sequential"
    assert len(found.worst(2)) == 2 and found.worst(2).suggest is not None
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    with pytest.raises(RuntimeError, match="stored without its model"):
        again.suggest(0.1)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert isinstance(found.to_dataframe(), pandas.DataFrame)


def test_its_picture_has_every_layer_format_and_range():
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    found = wt.profile_model(net(), batches(), ["e4m3fn", "int8"])
    left, right = found.plot(title="three layers")
    assert [t.get_text() for t in left.get_yticklabels()] == [
        f"{name}  {kind}" for name in found.layers
        for kind in ["Conv2d" if name == "0" else "Linear"]
    ]  # fmt: skip
    assert [t.get_text() for t in left.get_legend().get_texts()] == ["e4m3fn", "int8"]
    assert all(len(line.get_xdata()) == 3 for line in left.get_lines())
    one, other = (sorted(line.get_ydata()) for line in left.get_lines())  # which hide no mark
    assert (np.subtract(other, one) > 0.2).all() and np.allclose(np.add(one, other) / 2, range(3))
    assert len(right.patches) == 6 and left.figure.get_suptitle() == "three layers"
    low, high = right.patches[0].get_x(), right.patches[0].get_x() + right.patches[0].get_width()
    row = next(r for r in found.records() if r["layer"] == found.layers[0])
    wanted = [math.log2(row[f"input_{end}"]) for end in ("least", "largest")]
    assert [low, high] == pytest.approx(wanted)
    plt.close("all")


def test_progress_is_told():
    seen = []
    wt.profile_model(net(), batches(), "int8", progress=lambda *at: seen.append(at))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("call, message", [
    (lambda: wt.profile_model(net(), [], "int8"), "loader has no batch"),
    (lambda: wt.profile_model(nn.ReLU(), [drawn(2)], "int8"), "ReLU has no Linear, Conv1d"),
    (lambda: wt.profile_model(net(), batches(), []), "formats is empty"),
    (lambda: wt.profile_model(net(), batches(), ["int8", "int8"]), "formats has 'int8' twice"),
    (lambda: wt.profile_model(net(), batches(), "e4m3fnn"), "nearest name: 'e4m3fn'"),
])  # fmt: skip
def test_what_cannot_be_profiled_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Loss scaling --------------------------------------------------------------------------------


def test_the_scale_is_the_largest_that_keeps_half_the_range():
    model, small = net(), 2.0**-22
    pairs = [(x, torch.full((len(x),), y)) for x, y in batches()]

    def loss(y, target):
        return F.cross_entropy(y, target) * small

    model[3].weight.grad = torch.ones_like(model[3].weight)
    hint = wt.loss_scale(model, pairs, loss, "e5m2")
    assert model[3].weight.grad.eq(1).all() and model[0].weight.grad is None
    largest = hint["largest"].max()
    assert largest * hint.scale <= 57344 / 2 < 2 * largest * hint.scale
    assert math.log2(hint.scale).is_integer() and str(hint).startswith("gradients in e5m2: loss * ")
    gradients = {}
    for name in ("0", "3", "5"):
        layer = model.get_submodule(name)
        layer.register_forward_hook(lambda m, a, y, name=name: y.register_hook(
            lambda g: gradients.setdefault(name, []).append(g)) and None)  # fmt: skip
    for x, target in pairs:
        loss(model(x), target).backward()
    for row in hint.records():
        g = torch.cat([g.flatten() for g in gradients[row["layer"]]])
        assert row["largest"] == g.abs().max() and row["least"] == g[g != 0].abs().min()
        for key, by in (("underflow", 1.0), ("underflow_scaled", hint.scale)):
            became = wt.quantize(g.double() * by, "e5m2")
            assert row[key] == pytest.approx(float(((g != 0) & (became == 0)).double().mean()))
    assert (hint["underflow"] > 0.1).all() and (hint["underflow_scaled"] < 0.05).all()
    assert not hint["overflow_scaled"].any()


def hint_for(gradient, format, dtype=None):
    """The hint for one gradient of a layer's only result."""
    layer = nn.Linear(1, 1, dtype=dtype)
    pair = torch.ones(1, 1, dtype=dtype), torch.tensor(gradient, dtype=dtype)
    return wt.loss_scale(layer, [pair], lambda y, g: (y * g).sum(), format)


@pytest.mark.parametrize("format, significand, top", [
    ("e5m2", 7, 13), ("e4m3fn", 7, 6), ("e4m3;nan=none", 15, 5), ("int8", 127, 0),
])  # fmt: skip
@pytest.mark.parametrize("power", range(-90, 91, 3))
def test_a_gradient_of_the_largest_numbers_own_digits_lands_on_half_of_it(
    format, significand, top, power
):
    for more, short in ((0.0, 0), (-0.01, 0), (0.01, 1)):
        scale = hint_for((significand + more) * 2.0**power, format).scale
        assert scale == 2.0 ** (top - 1 - power - short)


def test_a_hint_takes_a_format_as_its_text():
    assert hint_for(3.0, ww.Format("e5m2")).scale == hint_for(3.0, "e5m2").scale
    with pytest.raises(ValueError, match="nvfp4' finds its scales by itself"):
        hint_for(3.0, ww.BlockFormat("nvfp4"))
    with pytest.raises(TypeError, match="format = 5: a text as 'e4m3fn'"):
        hint_for(3.0, 5)


def test_a_hint_is_a_number_whatever_the_gradient():
    assert hint_for(7.0 * 2**14, "e5m2").scale == 0.25
    assert hint_for(2.0**-1000, "e5m2", torch.float64).scale == 2.0**1014
    assert hint_for(2.0**-1020, "e5m2", torch.float64).scale == 2.0**1023
    assert hint_for(2.0**1000, "e5m2", torch.float64).scale == 2.0**-986
    with pytest.raises(ValueError, match="'int1' has no number above zero"):
        hint_for(1.0, "int1")


def test_a_hint_below_all_floats_is_refused_and_the_least_float_is_one():
    assert hint_for(2.0**1000, "fixed8.79", torch.float64).scale == 2.0**-1074
    with pytest.raises(
        ValueError,
        match=r"fixed8.80': gradients reach 1.07151e\+301, and half of "
        r"its .* 1.0505\d*e-22 / 2; the loss scale 2\^-1075 lies below all floats",
    ):
        hint_for(2.0**1000, "fixed8.80", torch.float64)


def test_a_hint_keeps_to_half_of_a_largest_number_though_that_is_no_float():
    most = ww.Format("fixed8.1074").max_finite / 2  # 63.5 * 2^-1074
    assert hint_for(1.0, "fixed8.1074", torch.float64).scale == 2.0**-1069 <= most < 2.0**-1068


@pytest.mark.parametrize("how, message", [
    ({"format": "mxfp8_e5m2"}, "finds its scales by itself"),
    ({"loader": [drawn(1, 1, 8, 8)]}, "pairs"),
    ({"loss": lambda y, t: y.sum() * 0}, "all gradients are zero"),
    ({"loss": lambda y, t: (y - y.detach()).sum() * math.inf}, "not finite"),
])  # fmt: skip
def test_no_hint_without_gradients(how, message):
    how = {"loader": batches(), "loss": lambda y, t: y.sum()} | how
    with pytest.raises(ValueError, match=message):
        wt.loss_scale(net(), **how)
