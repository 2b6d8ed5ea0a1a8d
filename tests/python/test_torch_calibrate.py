"""widthwise.torch.calibrate: the scales of ww's calibrators, kept, loaded, and used to the bit."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, drawn, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED

LONG_TAIL = [drawn(40, 8, seed=i) ** 3 for i in range(3)]


def net(first, second=None, **more):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 2))
    rules = {"0": {"input": first, **more}, "2": None if second is None else {"output": second}}
    return wt.convert(model, rules)


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "entropy", "cross_entropy"])
@pytest.mark.parametrize("format", ["affine(uint8)", "affine(int8,symmetric)", "affine(int4)"])
def test_affine_scales_are_those_of_ww_affine_and_so_are_the_values(method, format):
    model = net(format)
    found = wt.calibrate(model, LONG_TAIL, method)
    whole = torch.cat(LONG_TAIL).numpy()
    wanted = ww.affine(whole, format, calibrate=method)
    assert torch.equal(model[0].input_scale, torch.tensor(float(wanted.scale)))
    assert int(model[0].input_zero_point) == int(wanted.zero_point)
    assert found["scale"][0] == np.float64(wanted.scale) and found["how"][0] == "kept"
    x = drawn(5, 8, seed=9) * 4
    given = {"scale": wanted.scale, "zero_point": wanted.zero_point}
    values = ww.affine(x.numpy(), format, **given).dequantise(np.float32)
    linear = F.linear(torch.from_numpy(values), model[0].weight, model[0].bias)
    assert torch.equal(model[0](x), linear)
    ends = [(q - int(wanted.zero_point)) * float(wanted.scale) for q in (wanted.qmin, wanted.qmax)]
    past = np.mean((whole < ends[0]) | (whole > ends[1]))
    assert [found[k][0] for k in ("lo", "hi")] == ends and found["past"][0] == pytest.approx(past)


@pytest.mark.parametrize("format", ["e4m3fn", "e2m1fn", "e5m10", "fixed8.4", "int4", "table(nf4)"])
@pytest.mark.parametrize("method", ["minmax", "percentile"])
def test_a_bare_formats_scale_is_the_larger_end_over_its_largest_number(format, method):
    model, f = net(format), ww.Format(format)
    wt.calibrate(model, LONG_TAIL, method)
    whole = torch.cat(LONG_TAIL).numpy()
    lo, hi = ww.calibrate(whole, method, exact=True)
    scale = ww.array([max(-lo, hi) / Fraction(f.max_finite)], "binary32").bits.view(np.float32)[0]
    assert model[0].input_scale.numpy() == scale
    x = drawn(6, 8, seed=9) * 6
    quotients = np.clip(x.numpy() / scale, -float(f.max_finite), float(f.max_finite))
    if f.system == "fixed":
        quotients = x.numpy() / scale
    values = ww.array(quotients, f).to_float64().astype(np.float32) * scale
    linear = F.linear(torch.from_numpy(values), model[0].weight, model[0].bias)
    assert torch.equal(model[0](x), linear)


@pytest.mark.parametrize("format", ["e4m3fn", "e2m1fn", "table(nf4)"])
def test_mse_of_a_bare_format_beats_every_other_scale_of_the_grid(format):
    model, f = net(format), ww.Format(format)
    wt.calibrate(model, LONG_TAIL, "mse")
    whole = torch.cat(LONG_TAIL).numpy().ravel()
    top = float(np.abs(whole).max())

    def error(scale):
        near = np.clip(whole / scale, -float(f.max_finite), float(f.max_finite))
        return np.mean((whole - ww.array(near, f).to_float64() * scale) ** 2)

    got = float(model[0].input_scale)
    others = [np.float32(top * i / 100 / float(f.max_finite)) for i in range(1, 101)]
    assert error(np.float32(got)) <= min(map(error, others)) * (1 + 1e-6)
    assert any(np.isclose(got, s, rtol=1e-6) for s in others)


@pytest.mark.parametrize("format", ["int4", "e2m1fn", "affine(int4,symmetric)", "table(nf4)"])
@pytest.mark.parametrize("method", ["minmax", "mse"])
def test_weights_get_a_scale_of_their_own(format, method):
    model = net("e8m20", weight=format)
    found = wt.calibrate(model, LONG_TAIL, method)
    assert found["of"].tolist() == ["input", "weight"] and found["how"][1] == "kept"
    weight, x = model[0].weight.detach().numpy(), drawn(4, 8)
    scale = model[0].weight_scale.numpy()
    if format.startswith("affine"):
        wanted = ww.affine(weight, format, calibrate=method)
        assert scale == wanted.scale
        values = wanted.dequantise(np.float32)
    else:
        f = ww.Format(format)
        if method == "minmax":
            assert scale == np.float32(np.abs(weight).max() / float(f.max_finite))
        near = np.clip(weight / scale, None, float(f.max_finite))
        values = ww.array(near, f).to_float64().astype(np.float32) * scale
    linear = F.linear(wt.quantize(x, "e8m20"), torch.from_numpy(values), model[0].bias)
    assert torch.equal(model[0](x), linear)
    assert relative(torch.from_numpy(weight), torch.from_numpy(values)) < 0.25


def relative(wanted, got):
    return float((wanted - got).norm() / wanted.norm())


def test_attentions_weights_share_a_scale():
    model = wt.MultiheadAttention(8, 2, batch_first=True, weight="int8")
    x = drawn(2, 3, 8)
    both = torch.cat([model.in_proj_weight, model.out_proj.weight]).abs().max()
    wt.calibrate(Attending(model), [x])
    assert model.weight_scale == torch.tensor(float(np.float32(both.detach().numpy() / 127)))


class Attending(nn.Module if torch is not None else object):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x):
        return self.attention(x, x, x)[0]


def test_state_dict_has_the_scales_and_a_converted_model_loads_them():
    model = net("affine(uint8)", "e4m3fn")
    plain = set(model.state_dict())
    wt.calibrate(model, LONG_TAIL)
    more = [f"{k}_{x}" for k in ("0.input", "2.output") for x in ("scale", "zero_point")]
    state = model.state_dict()
    assert set(state) - plain == set(more)
    other, x = net("affine(uint8)", "e4m3fn"), drawn(4, 8)
    assert not torch.equal(other(x), model(x))
    other.load_state_dict(state, strict=True)
    for again in (other, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(again(x), model(x)) and set(again.state_dict()) == set(state)
    unconverted = net("affine(uint8)", "e4m3fn")
    with pytest.raises(RuntimeError, match="Unexpected key"):
        wt.revert(unconverted).load_state_dict(state, strict=True)
    assert set(wt.revert(model).state_dict()) == plain


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_scales_are_binary32s_whatever_dtype_is_usual_or_a_model_becomes(dtype):
    dtype = getattr(torch, dtype)
    model, other = net("affine(uint8)", "e4m3fn"), net("affine(uint8)", "e4m3fn")
    wt.calibrate(model, LONG_TAIL)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        wt.calibrate(other, LONG_TAIL)
    finally:
        torch.set_default_dtype(usual)
    for key, wanted in model.state_dict().items():
        for found in (other, copy.deepcopy(model).to(dtype)):
            if key.endswith("scale"):
                assert found.state_dict()[key].dtype == torch.float32
                assert torch.equal(found.state_dict()[key], wanted)


def test_scales_lie_where_their_layer_does():
    """A device without numbers stands for a GPU, where scales have to lie with what they divide."""
    rules = {"*": {"input": "affine(int8)"}}
    here = wt.convert(nn.Linear(2, 3), rules)
    wt.calibrate(here, [torch.randn(4, 2)])
    assert here.input_scale.device.type == "cpu" and here.input_zero_point.dtype == torch.int32
    layer = wt.convert(nn.Linear(2, 3, device="meta"), rules)
    layer.keep_scale("input", 0.5, 1, layer.weight.device)
    assert layer.input_scale.is_meta and layer.input_zero_point.is_meta
    layer.forget_scales()
    with pytest.warns(UserWarning, match="meta"):  # of torch: there is nothing to copy to
        layer.load_state_dict(here.state_dict())
    assert layer.input_scale.is_meta


def test_weights_that_unscaled_would_be_zero_are_not_while_data_are_observed():
    model = net("int8", weight="int8")
    wt.convert(model, {"2": {"input": "int8"}})
    wt.calibrate(model, LONG_TAIL)
    hidden = wt.revert(copy.deepcopy(model))[:2](torch.cat(LONG_TAIL))
    assert model[2].input_scale == torch.tensor(float(np.float32(hidden.max().item() / 127)))


def test_new_settings_drop_kept_scales_and_the_report_tells_of_them():
    model = net("e4m3fn", "int8")
    wt.calibrate(model, LONG_TAIL)
    rows = [row["how"] for row in wt.report(model).records()]
    assert rows == ["input=e4m3fn; kept scales: input", "output=int8; kept scales: output"]
    wt.convert(model, {"0": {"input": "e4m3fn"}, "2": {"output": "int4"}})
    assert model[0].scale_of("input") is not None and model[2].scale_of("output") is None


def test_a_second_calibration_takes_the_place_of_the_first():
    model = net("e4m3fn")
    wt.calibrate(model, [torch.full((1, 8), 448.0)])
    assert float(model[0].input_scale) == 1
    wt.calibrate(model, [torch.full((1, 8), 44.8)])
    assert float(model[0].input_scale) == pytest.approx(0.1)


def test_quantizers_and_attention_are_calibrated_too():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.attend = wt.MultiheadAttention(8, 2, batch_first=True, input="affine(uint8)")
            self.round = wt.Quantizer("e4m3fn", backward="e5m2")

        def forward(self, x, scale=1.0):
            return self.round(self.attend(x, x * 2, x)[0] * scale)

    model, x = Net(), drawn(2, 3, 8)
    rows = wt.calibrate(model, [{"x": x, "scale": 2.0}]).records()
    assert [(r["name"], r["of"]) for r in rows] == [("attend", "input"), ("round", "value")]
    both = torch.cat([x, 2 * x])
    wanted = ww.affine(both.numpy(), "affine(uint8)")
    assert model.attend.input_scale.numpy() == wanted.scale
    again = Net()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(x), model(x))


def test_observed_data_are_the_unrounded_ones_in_evaluation_and_modes_come_back():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2)).train()
    model[0].eval()
    x = drawn(10, 8)
    with torch.no_grad():
        top = model[0](x).abs().max()
    wt.convert(model, {"0": {"input": "e2m1fn", "output": "e2m1fn"}, "2": {"input": "e2m1fn"}})
    wt.calibrate(model, [(x, "labels")])
    assert model[0].output_scale == top / 6 and model[2].input_scale == top / 6
    assert model.training and model[2].training and not model[0].training


@pytest.mark.parametrize("format, how", [
    ("mxfp8_e4m3", "found in each tensor"),
    ("affine(int8,symmetric,channel)", "found in each tensor"),
    ("affine(int4,symmetric,4)", "found in each tensor"),
    ("posit8es2", "none: its range does without"),
    ("bfloat16", "none: its range does without"),
])  # fmt: skip
def test_formats_that_keep_no_scale_are_listed(format, how):
    model = net(format, "e4m3fn")
    rows = wt.calibrate(model, LONG_TAIL).records()
    assert [r["how"] for r in rows] == [how, "kept"]
    assert "input_scale" not in model[0]._buffers


@pytest.mark.parametrize("format", ["affine(uint8)", "e4m3fn", "fixed8.4;overflow=wrap"])
def test_gradients_pass_where_the_scale_reaches(format):
    model = net(format, backward="e5m2")
    wt.calibrate(model, [torch.full((1, 8), 2.0), torch.full((1, 8), -1.0)])
    x = torch.tensor([[-9.0, -1.0, -0.3, 0.0, 0.7, 1.99, 2.0, 9.0]]).requires_grad_()
    g = drawn(1, 6)
    model[0](x).backward(g)
    passed = torch.full((8,), True)
    if "wrap" not in format:
        passed[[0, 7]] = False
    wanted = (wt.quantize(g, "e5m2") @ model[0].weight)[0] * passed
    if format == "e4m3fn":
        wanted[1] = x.grad[0, 1]  # -1 lies within +-2
    assert torch.equal(x.grad[0], wanted)


@pytest.mark.parametrize("format", ["affine(uint8)", "e4m3fn"])
def test_kept_scales_compile_transform_and_pass_opcheck(format):
    model = net(format)
    wt.calibrate(model, LONG_TAIL)
    x = drawn(4, 8)
    results = []
    for f in (model[0], torch.compile(model[0], fullgraph=True, backend="aot_eager")):
        own = x.clone().requires_grad_()
        y = f(own)
        y.pow(2).sum().backward()
        results.append((y, own.grad))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    scale, zero = model[0].scale_of("input")
    op = torch.ops.widthwise.scaled.default
    how = (scale, zero, format, "rne", True, None)
    for sample in (x, x.double(), x.half(), torch.tensor(0.5)):
        torch.library.opcheck(op, (sample.clone().requires_grad_(), *how))
    call = lambda v: model[0].rounded(v, "input", format, {"rounding": "rne"})  # noqa: E731
    assert torch.equal(torch.vmap(call)(x), op(x, *how))
    assert torch.func.jacfwd(call)(x[0] / 9).diagonal().tolist() == [1.0] * 8


def test_stochastic_rounding_under_a_kept_scale_follows_torchs_generator():
    model = net("e4m3fn", rounding="sr8")
    wt.calibrate(model, LONG_TAIL)
    x, seen = drawn(4, 8), []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        seen.append(model[0](x))
    assert torch.equal(seen[0], seen[1]) and not torch.equal(seen[0], seen[2])


@pytest.mark.parametrize("call, message", [
    (lambda: wt.calibrate(nn.Linear(2, 2), []), "has no layer with an `input`, `weight` or"),
    (lambda: wt.calibrate(net("e4m3fn"), []), "input of '0', e4m3fn: no batch of loader reached"),
    (lambda: wt.calibrate(net("e4m3fn"), LONG_TAIL, "max"), "method = 'max': it may be 'minmax'"),
    (lambda: wt.calibrate(net("e4m3fn"), LONG_TAIL, "entropy"), "counts levels of integers"),
    (lambda: wt.calibrate(net("affine(uint16)"), LONG_TAIL, "entropy"), "takes 2 to 12"),
    (lambda: wt.calibrate(net("e4m3fn"), LONG_TAIL, percentile=99), "leave it out"),
    (lambda: wt.calibrate(net("e4m3fn"), [torch.full((1, 8), np.nan)]),
     r"input of '0', e4m3fn: x\[0, 0\] is nan"),
])  # fmt: skip
def test_what_cannot_be_calibrated_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_nothing_changes_where_it_fails():
    model = net("e4m3fn", "e4m3fn")
    with pytest.raises(ValueError, match="nan"):
        wt.calibrate(model, [LONG_TAIL[0], torch.full((1, 8), np.nan)])
    assert not model[0].watchers and not model[2].watchers
    assert not any("scale" in key for key in model.state_dict())


# --- Threads that flush subnormals ----------------------------------------------------------------


def tiny_numbers():
    """Below the normal numbers of binary64, and of binary32."""
    x = np.random.default_rng(3).normal(size=(4, 64))
    return x * 1e-310, np.float32(x) * np.float32(1e-40)


def found_by(method, tiny):
    """Ranges, and scaled data."""
    c = ww.Calibrator(method, bits=4)
    for x in tiny:
        c.observe(x)
    whole = [ww.calibrate(x, method, bits=4, exact=True) for x in tiny]
    s = ww.scaled(tiny[1], "sint8")
    return whole, c.range(exact=True), s.data.tolist(), int(s.scale.view(np.int32))


@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "entropy", "cross_entropy"])
def test_ranges_are_found_where_torch_flushes_subnormals(method):
    tiny = tiny_numbers()
    usual = found_by(method, tiny)
    if not torch.set_flush_denormal(True):
        pytest.skip("this CPU does not flush subnormals")
    try:
        assert found_by(method, tiny) == usual
    finally:
        torch.set_flush_denormal(False)
    assert usual[3] > 0
