"""widthwise.torch's attention: both products are ww.matmul's bits, the rest torch's binary32."""

import copy
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

UNITS = [
    ("mac(e5m10)", "mac(e5m2, b=e5m10, sum=e5m10)"),
    ("hopper.e4m3.f32", "hopper.e5m2.f32"),
    ("mac(posit16es2)", "mac(e8m7)"),
    ("blackwell.mxfp8", "blackwell.mxfp8"),
]
LAYERS = [
    {},
    {"batch_first": True},
    {"bias": False},
    {"add_bias_kv": True, "add_zero_attn": True},
    {"kdim": 6, "vdim": 10, "batch_first": True},
]


def product(x, y, unit):
    u = ww.Unit(unit)

    def operand(v, f, axis):
        v = np.ascontiguousarray(v)
        if u.scale_format is None:
            return ww.array(v, f)
        return ww.blocks(v, f"block({f},{u.scale_block},e8m0fnu)", axis=axis)

    z = ww.matmul(operand(x, u.a, -1), operand(y, u.b, -2), unit=u)
    return torch.from_numpy(z.astype("e8m23").bits.view(np.float32))


@pytest.mark.parametrize("forward, backward", UNITS)
def test_both_products_and_the_four_of_their_gradients_are_the_units(forward, backward):
    q, k, v = (drawn(2, 5, 32, seed=i).requires_grad_() for i in range(3))
    y = wt.attention(q, k, v, unit=forward, backward_unit=backward)
    a, b, c = (x.detach() for x in (q, k, v))
    scores = product(a, b.mT, forward).requires_grad_()
    weights = (scores * (1 / math.sqrt(32))).softmax(-1)
    assert torch.equal(y, product(weights.detach(), c, forward))
    g = drawn(*y.shape, seed=7)
    y.backward(g)
    to_weights = product(g, c.mT, backward)
    weights.backward(to_weights)
    assert torch.equal(v.grad, product(g.mT, weights.detach(), backward).mT)
    assert torch.equal(q.grad, product(scores.grad, b, backward))
    assert torch.equal(k.grad, product(scores.grad.mT, a, backward))


@pytest.mark.parametrize("how", [
    {},
    {"is_causal": True},
    {"scale": 0.3},
    {"attn_mask": True},
    {"attn_mask": 0.5},
])  # fmt: skip
def test_attention_agrees_with_torchs(how):
    q, k, v = drawn(2, 3, 5, 8), drawn(2, 3, 7, 8, seed=1), drawn(2, 3, 7, 4, seed=2)
    if how.get("attn_mask") is True:
        how = {"attn_mask": (drawn(5, 7, seed=3) > 0) | (torch.arange(7) == 0)}
    elif "attn_mask" in how:
        how = {"attn_mask": drawn(5, 7, seed=3)}
    ours = wt.attention(q, k, v, **how, unit="fma.f32")
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(q, k, v, **how))


def left_alone(kind):
    """A mask that leaves some queries no key, as truths or as floats."""
    mask = drawn(5, 7, seed=3) > 0
    mask[1] = mask[4] = False
    if kind == "truths":
        return mask
    return torch.where(mask, drawn(5, 7, seed=4), -math.inf)


def test_heads_of_queries_share_one_of_keys_as_in_torch():
    query, key, value = drawn(2, 6, 4, 8), drawn(2, 2, 5, 8, seed=1), drawn(2, 3, 5, 8, seed=2)
    grads = []
    for function, how in (
        (wt.attention, {"unit": "mac(e8m23)"}),
        (F.scaled_dot_product_attention, {}),
    ):
        xs = [x.clone().requires_grad_() for x in (query, key, value)]
        y = function(*xs, enable_gqa=True, **how)
        y.square().sum().backward()
        grads.append([y, *(x.grad for x in xs)])
    for mine, torchs in zip(*grads, strict=True):
        torch.testing.assert_close(mine, torchs, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match=r"enable_gqa = True, and query and key are .*axis -3 has"):
        wt.attention(
            drawn(5, 4, 8), drawn(2, 4, 8), drawn(2, 4, 8), enable_gqa=True, unit="mac(e5m10)"
        )


@pytest.mark.parametrize("kind", ["truths", "floats"])
@pytest.mark.parametrize("unit", ["fma.f32", "mac(e5m10)", "mac(e4m3fn, sum=e5m10)"])
def test_a_query_that_is_left_no_key_gets_zero_and_gives_no_gradient(kind, unit):
    q, k, v = (drawn(2, n, 8, seed=n).requires_grad_() for n in (5, 7, 7))
    mask = left_alone(kind)
    y = wt.attention(q, k, v, mask, unit=unit)
    assert y[:, [1, 4]].eq(0).all() and y[:, [0, 2, 3]].ne(0).any(-1).all()
    y.square().sum().backward()
    assert q.grad[:, [1, 4]].eq(0).all() and k.grad.isfinite().all() and v.grad.isfinite().all()
    if unit == "fma.f32":
        one, other, third = (x.detach().requires_grad_() for x in (q, k, v))
        theirs = F.scaled_dot_product_attention(one, other, third, mask)
        torch.testing.assert_close(y, theirs)
        theirs.square().sum().backward()
        for ours, wanted in ((q, one), (k, other), (v, third)):
            torch.testing.assert_close(ours.grad, wanted.grad)


def test_a_mask_of_other_floats_leaves_the_softmax_in_binary32():
    q = drawn(2, 4, 8)
    mask = drawn(4, 4, seed=3).half()
    wanted = wt.attention(q, q, q, mask.float(), unit="mac(e5m10)")
    for given in (mask, mask.double()):
        assert torch.equal(wt.attention(q, q, q, given, unit="mac(e5m10)"), wanted)


@pytest.mark.parametrize("mask, error, message", [
    (torch and torch.ones(4, 4, dtype=torch.int64), TypeError, "attn_mask holds torch.int64"),
    (torch and torch.ones(4, 4, dtype=torch.uint8), TypeError, "attn_mask holds torch.uint8"),
    ([[True]], TypeError, "attn_mask is list"),
    (torch and torch.ones(4, 3), ValueError, r"attn_mask is \(4, 3\), .* \(2, 4, 4\)"),
    (torch and torch.ones(5, 2, 4, 4), ValueError, r"attn_mask is \(5, 2, 4, 4\)"),
    (torch and torch.ones(3, 1, 4), ValueError, r"attn_mask is \(3, 1, 4\)"),
])  # fmt: skip
def test_masks_that_are_none_are_refused(mask, error, message):
    q = drawn(2, 4, 8)
    with pytest.raises(error, match=message):
        wt.attention(q, q, q, mask, unit="fma.f32")


def test_dropout_follows_torchs_generator_and_drops_weights():
    q = drawn(4, 6, 8)
    call = lambda p: wt.attention(q, q, torch.eye(6).expand(4, 6, 6), dropout_p=p, unit="fma.f32")  # noqa: E731
    torch.manual_seed(3)
    one = call(0.5)
    torch.manual_seed(3)
    assert torch.equal(one, call(0.5)) and (one == 0).float().mean() > 0.2
    assert (call(0.0) > 0).all()


def test_a_seed_gives_the_same_bits_and_both_products_draw():
    q = drawn(4, 6, 8)
    unit = "mac(e5m2, sum=e5m4:sr8)"
    one, other = (wt.attention(q, q, q, unit=unit, seed=s) for s in (5, 6))
    assert torch.equal(one, wt.attention(q, q, q, unit=unit, seed=5))
    assert not torch.equal(one, other)


def test_half_goes_through_binary32():
    q = drawn(3, 4, 8).half()
    y = wt.attention(q, q, q, unit="mac(e5m10)")
    scores = wt.matmul(q, q.mT, unit="mac(e5m10)").float() * (1 / math.sqrt(8))
    assert torch.equal(y, wt.matmul(scores.softmax(-1).half(), q, unit="mac(e5m10)"))


def test_two_masks_and_shapes_that_do_not_fit_are_refused():
    q = drawn(2, 4, 8)
    for k, v in ((drawn(2, 4, 7), q), (q, drawn(2, 5, 8)), (q, drawn(8))):
        with pytest.raises(
            ValueError, match=r"query, key and value are \(2, 4, 8\), .* are wanted"
        ):
            wt.attention(q, k, v, unit="fma.f32")
    with pytest.raises(ValueError, match="attn_mask is given and is_causal = True"):
        wt.attention(q, q, q, torch.ones(4, 4), is_causal=True, unit="fma.f32")


# --- The layer -----------------------------------------------------------------------------------


def layer_and_inputs(how, alone=False):
    torch.manual_seed(2)
    layer = nn.MultiheadAttention(8, 2, **how).eval()
    widths = (8, how.get("kdim", 8), how.get("vdim", 8))
    lengths = (5, 7, 7)
    given = [drawn(3, n, w, seed=i) for i, (n, w) in enumerate(zip(lengths, widths, strict=True))]
    if alone:
        return layer, [x[0] for x in given]
    return layer, given if how.get("batch_first") else [x.transpose(0, 1) for x in given]


@pytest.mark.parametrize("how", LAYERS, ids=str)
@pytest.mark.parametrize("alone", [False, True])
def test_the_layer_agrees_with_torchs_and_keeps_its_keys(how, alone):
    layer, given = layer_and_inputs(how, alone)
    ours = wt.convert(copy.deepcopy(layer), {nn.MultiheadAttention: "fma.f32"})
    assert type(ours) is wt.MultiheadAttention
    assert list(ours.state_dict()) == list(layer.state_dict())
    masks = [{}, {"average_attn_weights": False}, {"need_weights": False}]
    masks.append({"attn_mask": drawn(5, 7, seed=3) > 1})
    masks.append({"attn_mask": drawn(2 if alone else 6, 5, 7, seed=3)})
    keys = torch.arange(7) > torch.tensor([[4], [6], [5]])
    masks.append({"key_padding_mask": keys[0] if alone else keys})
    for mask in masks:
        got, wanted = ours(*given, **mask), layer(*given, **mask)
        torch.testing.assert_close(got[0], wanted[0], rtol=1e-4, atol=1e-5)
        assert (got[1] is None) == (wanted[1] is None)
        if got[1] is not None:
            torch.testing.assert_close(got[1], wanted[1], rtol=1e-4, atol=1e-5)
    assert type(wt.revert(ours)) is nn.MultiheadAttention
    assert torch.equal(ours(*given)[0], layer(*given)[0])


def test_the_layers_six_products_are_the_units():
    unit = "hopper.e4m3.f32"
    layer, (x, *_) = layer_and_inputs({"batch_first": True})
    wt.convert(layer, unit)
    parts = zip(layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True)
    q, k, v = (wt.linear(x, w, b, unit=unit).unflatten(2, (2, 4)).mT.mT for w, b in parts)
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    mixed = wt.attention(q, k, v, unit=unit).transpose(1, 2).flatten(2)
    wanted = wt.linear(mixed, layer.out_proj.weight, layer.out_proj.bias, unit=unit)
    assert torch.equal(layer(x, x, x)[0], wanted)


def test_the_layers_formats():
    how = {"input": "e4m3fn", "weight": "affine(int8,symmetric)", "output": "e5m2"}
    layer, (x, *_) = layer_and_inputs({"batch_first": True})
    plain = copy.deepcopy(layer)
    wt.convert(layer, {"*": how})
    with torch.no_grad():
        plain.in_proj_weight.copy_(wt.quantize(plain.in_proj_weight, how["weight"]))
        plain.out_proj.weight.copy_(wt.quantize(plain.out_proj.weight, how["weight"]))
        seen = wt.quantize(x, "e4m3fn")
        wanted = wt.quantize(plain(seen, seen, seen)[0], "e5m2")
        torch.testing.assert_close(layer(x, x, x)[0], wanted, rtol=0.26, atol=0)


def test_the_report_says_what_binary32_has():
    model = nn.TransformerEncoderLayer(8, 2, 16)
    rows = {r["name"]: r["how"] for r in wt.report(wt.convert(model, "mac(e5m10)")).records()}
    assert rows["self_attn"] == "unit=mac(e5m10); scale, mask and softmax in binary32"
    assert rows["self_attn.out_proj"] == "by 'self_attn'"
    assert rows["norm1"] == "torch's: no rule is for its type"


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_an_encoder_computes_by_it_with_and_without_padding(mode, nested, monkeypatch):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = getattr(nn.TransformerEncoder(layer, 2, enable_nested_tensor=nested), mode)()
    other, x = wt.convert(copy.deepcopy(model), "fma.f32"), drawn(3, 5, 8)
    calls, mixed = [], wt.MultiheadAttention.mixed
    monkeypatch.setattr(wt.MultiheadAttention, "mixed", lambda *a: calls.append(1) or mixed(*a))
    padding = torch.arange(5) > torch.tensor([[4], [2], [3]])
    with torch.no_grad():
        for mask in (None, padding):
            got = other(x, src_key_padding_mask=mask)
            wanted = model(x, src_key_padding_mask=mask)
            if mask is not None:  # torch gives zeros there, or what they are, as it computes
                got, wanted = got[~mask], wanted[~mask[:, : wanted.shape[1]]]
            torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
    assert len(calls) == 4 and not other.use_nested_tensor
    assert wt.revert(other).use_nested_tensor is nested and vars(other).keys() == vars(model).keys()


def test_it_trains_copies_and_pickles():
    layer, (x, *_) = layer_and_inputs({"batch_first": True})
    wt.convert(layer, {"*": {"unit": "mac(e5m10)", "backward_unit": "mac(e5m2, sum=e5m10)"}})
    again = pickle.loads(pickle.dumps(layer))
    outputs = [m(x, x, x)[0] for m in (layer, copy.deepcopy(layer), again)]
    assert torch.equal(outputs[0], outputs[1]) and torch.equal(outputs[0], outputs[2])
    outputs[0].sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())


@pytest.mark.parametrize("alone", [False, True])
def test_the_layer_gives_its_bias_where_padding_leaves_no_key(alone):
    layer, given = layer_and_inputs({"batch_first": True}, alone)
    ours = wt.convert(copy.deepcopy(layer), "fma.f32")
    nn.init.normal_(ours.out_proj.bias)
    padding = torch.ones(7, dtype=torch.bool).expand(given[0].shape[0], 7).clone()
    if alone:
        padding = padding[0]
    else:
        padding[1:] = False
    y, weights = ours(*given, key_padding_mask=padding)
    one = (y, weights) if alone else (y[0], weights[0])
    assert torch.equal(one[0], ours.out_proj.bias.expand(5, 8)) and one[1].eq(0).all()
    y.sum().backward()
    assert all(p.grad.isfinite().all() for p in ours.parameters())


@pytest.mark.parametrize("name, shape, wanted", [
    ("key_padding_mask", (7, 3), r"is \(7, 3\); \(3, 7\) is wanted"),
    ("key_padding_mask", (21,), r"is \(21,\); \(3, 7\)"),
    ("key_padding_mask", (1, 7), r"is \(1, 7\); \(3, 7\)"),
    ("attn_mask", (7, 5), r"is \(7, 5\); \(5, 7\) or \(6, 5, 7\) is wanted"),
    ("attn_mask", (3, 5, 7), r"is \(3, 5, 7\); \(5, 7\) or \(6, 5, 7\)"),
])  # fmt: skip
def test_the_layers_masks_have_torchs_shapes_and_kinds(name, shape, wanted):
    layer, given = layer_and_inputs({"batch_first": True})
    wt.convert(layer, "fma.f32")
    with pytest.raises(ValueError, match=f"{name} {wanted}"):
        layer(*given, **{name: torch.zeros(shape, dtype=torch.bool)})
    with pytest.raises(TypeError, match=f"{name} holds torch.int32"):
        layer(*given, **{name: torch.zeros(shape, dtype=torch.int32)})


def test_nested_tensors_and_lone_causality_are_refused():
    layer, (x, *_) = layer_and_inputs({"batch_first": True})
    wt.convert(layer, "fma.f32")
    nested = torch.nested.nested_tensor([x[0], x[1]])
    with pytest.raises(ValueError, match="nested tensor.*enable_nested_tensor=False"):
        layer(nested, nested, nested)
    with pytest.raises(ValueError, match="is_causal = True, and there is no attn_mask"):
        layer(x, x, x, is_causal=True)


def test_attention_compiles_and_is_differentiated_both_ways():
    q = drawn(2, 4, 8)

    def call(x):
        return wt.attention(x, x, x, is_causal=True, unit="fma.f32")

    results = []
    for f in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
        x = q.clone().requires_grad_()
        y = f(x)
        y.pow(2).sum().backward()
        results.append((y, x.grad))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
    theirs = lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True)  # noqa: E731
    one, other = (torch.func.jacfwd(f)(q) for f in (call, theirs))
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
