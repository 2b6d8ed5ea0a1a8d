"""widthwise.torch's products and layers: the bits of ww.matmul and ww.conv2d, both ways."""

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, drawn, same, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED

# Forward, backward: presets, short forms, unlike operands, posits, fixed point, blocks, promotion.
UNITS = [
    ("mac(e5m10)", "mac(e5m10)"),
    ("hopper.e4m3.f32", "hopper.e5m2.f32"),
    ("mac(e4m3fn, sum=e5m10)", "mac(e5m2, b=e4m3fn, product=e5m10, sum=e5m10)"),
    ("hopper.f16.f32", "mac.f32"),
    ("ampere.bf16.f32", "fma.f32"),
    ("tree8.f32", "cdna3.f16"),
    ("mac(posit16es2)", "mac(posit16es1)"),
    ("mac(fixed16.8, sum=fixed24.8)", "mac(e8m7)"),
    ("blackwell.mxfp8", "blackwell.mxfp8"),
    ("hopper.e4m3.promote128", "kahan(e5m10)"),
    ("mac(e5m2, sum=e5m10:sr13)", "mac(e5m2, sum=e5m10)"),
]


def unit_operand(x, u, name):
    """By the public functions alone: values in NumPy to what ww.matmul takes."""
    f = u.a if name == "a" else u.b
    if u.scale_format is None:
        return ww.array(np.ascontiguousarray(x), f)
    return ww.blocks(x, f"block({f},{u.scale_block},e8m0fnu)", axis=-1 if name == "a" else -2)


def product(x, y, unit, c=None, seed=0):
    u = ww.Unit(unit)
    addend = None if c is None else ww.array(c, u.c)
    a, b = unit_operand(x, u, "a"), unit_operand(y, u, "b")
    z = ww.matmul(a, b, unit=u, c=addend, seed=seed)
    return z.astype("e8m23").bits.view(np.float32)


@pytest.mark.parametrize("forward, backward", UNITS)
def test_a_layer_is_ww_matmul_of_its_codes_forward_and_both_gradients(forward, backward):
    layer = wt.Linear(70, 5, unit=forward, backward_unit=backward)
    x, g = drawn(9, 70).requires_grad_(), drawn(9, 5, seed=2)
    torch.manual_seed(11)
    y = layer(x)
    torch.manual_seed(11)
    seed = int(torch.randint(2**62, ())) if ":sr" in forward else 0
    w, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    values = x.detach().numpy()
    same(y, product(values, w.T, forward, np.broadcast_to(bias, (9, 5)), seed))
    y.backward(g)
    same(x.grad, product(g.numpy(), w, backward))
    same(layer.weight.grad, product(g.numpy().T, values, backward))
    assert torch.equal(layer.bias.grad, g.sum(0))


@pytest.mark.parametrize(
    "a, b",
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 1, 4, 3), (5, 3, 2))],
)
def test_matmul_takes_torchs_shapes(a, b):
    x, y = drawn(*a).requires_grad_(), drawn(*b, seed=1).requires_grad_()
    z = wt.matmul(x, y, unit="fma.f32")
    u, v = x.detach().clone().requires_grad_(), y.detach().clone().requires_grad_()
    t = torch.matmul(u, v)
    torch.testing.assert_close(z, t)
    g = drawn(*t.shape, seed=2)
    z.backward(g), t.backward(g)
    torch.testing.assert_close(x.grad, u.grad)
    torch.testing.assert_close(y.grad, v.grad)


def test_bmm_is_a_product_a_row():
    x, y = drawn(3, 4, 5), drawn(3, 5, 2, seed=1)
    z = wt.bmm(x, y, unit="mac(e5m10)")
    for i in range(3):
        same(z[i], product(x[i].numpy(), y[i].numpy(), "mac(e5m10)"))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: wt.matmul(drawn(2, 3), drawn(2, 3), unit="fma.f32"), r"a is \(2, 3\) and b is"),
        (lambda: wt.bmm(drawn(2, 3), drawn(3, 2), unit="fma.f32"), r"bmm takes \(batch, m, k\)"),
        (lambda: wt.linear(drawn(2, 3), drawn(2, 4), unit="fma.f32"), "outputs, inputs"),
        (
            lambda: wt.matmul(drawn(2, 2).half(), drawn(2, 2).half(), unit="fma.f32"),
            "does not hold",
        ),
        (lambda: wt.conv2d(drawn(1, 2, 4, 4), drawn(2, 3, 1, 1), unit="fma.f32"), "has 2 channels"),
        (lambda: wt.conv2d(drawn(1, 2, 2, 2), drawn(2, 2, 3, 3), unit="fma.f32"), "larger than"),
        (lambda: wt.conv2d(drawn(1, 2, 4, 4), drawn(2, 2, 3, 3), unit="blackwell.mxfp8"), "scales"),
        (
            lambda: wt.conv2d(drawn(1, 2, 4, 4), drawn(2, 2, 3, 3), stride=0, unit="fma.f32"),
            "stride",
        ),
        (
            lambda: wt.conv2d(
                drawn(1, 2, 4, 4), drawn(2, 2, 3, 3), None, 2, "same", unit="fma.f32"
            ),
            "'same' wants a stride of 1",
        ),
        (lambda: wt.conv1d(drawn(4, 4), drawn(2, 3), unit="fma.f32"), "w 3"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_no_tensor_is_named():
    x, a, unit = np.ones((2, 2), np.float32), torch.ones(2, 2), {"unit": "mac(e5m10)"}
    for call, name in (
        (lambda: wt.quantize(x, "e4m3fn"), "x"),
        (lambda: wt.encode(x, "mxfp4"), "x"),
        (lambda: wt.matmul(a, x, **unit), "b"),
        (lambda: wt.matmul(a, a, c=x, **unit), "c"),
        (lambda: wt.bmm(x, a, **unit), "a"),
        (lambda: wt.linear(a, x, **unit), "weight"),
        (lambda: wt.linear(a, a, x, **unit), "bias"),
        (lambda: wt.conv1d(a, x, **unit), "w"),
        (lambda: wt.attention(a, a, x, **unit), "value"),
    ):
        with pytest.raises(TypeError, match=rf"{name} is ndarray; .* torch.as_tensor\({name}\)"):
            call()
    with pytest.raises(TypeError, match="b is NoneType; a tensor is wanted"):
        wt.matmul(a, None, **unit)
    with pytest.raises(TypeError, match=r"q is Tensor; a QTensor is wanted, as encode\("):
        wt.decode(a)
    with pytest.raises(TypeError, match="model is Tensor; a torch.nn.Module is wanted"):
        wt.convert(a, "mac(e5m10)")
    for call in (lambda x: wt.quantize_state_dict(x, "e4m3fn"), wt.dequantize_state_dict):
        with pytest.raises(TypeError, match=r"state is Linear; .* as model.state_dict\(\)"):
            call(torch.nn.Linear(2, 2))


def test_what_has_no_number_at_every_place_is_named():
    a, rows, unit = torch.ones(3, 3), [torch.ones(2), torch.ones(3)], {"unit": "mac(e5m10)"}
    jagged = torch.nested.nested_tensor(rows, layout=torch.jagged)
    for bad, way in (
        (torch.eye(3).to_sparse(), "to_dense"),
        (torch.eye(3).to_sparse_csr(), "to_dense"),
        (torch.nested.nested_tensor(rows), "to_padded_tensor"),
        (jagged, "to_padded_tensor"),
    ):
        for call, name in (
            (lambda x: wt.quantize(x, "e4m3fn"), "x"),
            (lambda x: wt.encode(x, "mxfp4"), "x"),
            (lambda x: wt.linear(a, x, **unit), "weight"),
        ):
            with pytest.raises(TypeError, match=f"{name} is .* is wanted: {name}.{way}"):
                call(bad)


def test_operands_of_two_dtypes_are_refused():
    with pytest.raises(TypeError, match="a is torch.float32, b is torch.float64"):
        wt.matmul(drawn(2, 2), drawn(2, 2).double(), unit="fma.f32")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes_come_in_and_out(dtype):
    of = getattr(torch, dtype)
    unit = "mac(e4m3fn, sum=e4m3fn)"
    x, w = drawn(4, 8).to(of), drawn(8, 3, seed=1).to(of)
    z = wt.matmul(x, w, unit=unit)
    assert z.dtype == of
    same(z.float(), product(x.double().numpy(), w.double().numpy(), unit))


@pytest.mark.parametrize("unit", ["mac(e5m10)", "blackwell.mxfp8"])
@pytest.mark.parametrize("rows, k", [(0, 5), (2, 0)])
def test_products_of_nothing(unit, rows, k):
    x, w, c = (torch.ones(*s, requires_grad=True) for s in ((rows, k), (3, k), (3,)))
    z = wt.linear(x, w, c, unit=unit)
    assert torch.equal(z, torch.ones(rows, 3))
    z.sum().backward()
    assert not x.grad.any() and torch.equal(w.grad, torch.zeros(3, k))
    assert torch.equal(c.grad, torch.full((3,), float(rows)))


# --- Convolutions --------------------------------------------------------------------------------

STEPS = [
    {},
    {"padding": 1},
    {"stride": 2, "padding": 1},
    {"stride": (2, 3), "padding": (0, 2), "dilation": (2, 1)},
    {"groups": 2, "padding": 2},
    {"groups": 4, "stride": 3},
    {"padding": 3},  # more than the kernel reaches
    {"padding": "same"},
    {"padding": "valid", "stride": 2},
]


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_convolutions_agree_with_torch_and_their_gradients_do(steps, bias):
    w = drawn(8, 4 // steps.get("groups", 1), 3, 2, seed=1)
    tensors = [drawn(2, 4, 9, 11), w, drawn(8, seed=3) if bias else None]
    ours = [t if t is None else t.clone().requires_grad_() for t in tensors]
    theirs = [t if t is None else t.clone().requires_grad_() for t in tensors]
    z = wt.conv2d(*ours, **steps, unit="fma.f32")
    t = F.conv2d(*theirs, **steps)
    torch.testing.assert_close(z, t)
    g = drawn(*t.shape, seed=2)
    z.backward(g), t.backward(g)
    for one, other in zip(ours, theirs, strict=True):
        if one is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "steps", [{"padding": 1}, {"stride": 2, "padding": 1, "groups": 2}, {"dilation": 2}]
)
def test_a_convolution_is_ww_conv2d_of_its_codes(steps):
    unit, backward = "hopper.e4m3.f32", "mac(e5m2, b=e4m3fn, product=e5m10, sum=e5m10)"
    u, v = ww.Unit(unit), ww.Unit(backward)
    x = drawn(2, 4, 6, 7).requires_grad_()
    w = drawn(4, 4 // steps.get("groups", 1), 3, 3, seed=1).requires_grad_()
    c = drawn(4, seed=4)
    z = wt.conv2d(x, w, c, **steps, unit=unit, backward_unit=backward)
    a, b = ww.array(x.detach().numpy(), u.a), ww.array(w.detach().numpy(), u.b)
    same(z, floats(ww.conv2d(a, b, unit=u, c=ww.array(c.numpy(), u.c), **steps)))
    g = drawn(*z.shape, seed=2)
    z.backward(g)
    same(w.grad, by_hand(g.numpy(), x.detach().numpy(), w.shape, v, **steps))
    same(x.grad, turned(g.numpy(), w.detach().numpy(), x.shape, v, **steps))


def floats(x):
    return x.astype("e8m23").bits.view(np.float32)


@pytest.mark.parametrize("unit", ["mac(e5m10)", "mac(e5m2, sum=e5m10:sr13)", "mac(posit8es1)"])
@pytest.mark.parametrize("steps", [{}, {"stride": (2, 3), "padding": (0, 2), "groups": 2}])
def test_gradients_of_weights_by_codes_are_those_that_torch_differentiates(steps, unit):
    x, w = drawn(3, 4, 9, 8), drawn(4, 4 // steps.get("groups", 1), 3, 2, seed=1).requires_grad_()
    y = wt.conv2d(x, w, unit=unit, seed=torch.tensor(3), **steps)
    g = drawn(*y.shape, seed=2)
    quick, again = (
        torch.autograd.grad(y, w, g, retain_graph=True, create_graph=graph)[0]
        for graph in (False, True)
    )
    assert torch.equal(quick, again)


def by_hand(g, x, shape, v, stride=1, padding=0, dilation=1, groups=1):
    """A dot product a weight: images, then rows, then columns, in order."""
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    height, width = g.shape[2:]
    out = np.empty(shape, np.float32)
    for f, c, i, j in np.ndindex(*shape):
        channel = f // (shape[0] // groups) * shape[1] + c
        rows = slice(i * dilation, i * dilation + (height - 1) * stride + 1, stride)
        columns = slice(j * dilation, j * dilation + (width - 1) * stride + 1, stride)
        seen = padded[:, channel, rows, columns].reshape(-1)
        z = ww.dot(ww.array(g[:, f].reshape(-1), v.a), ww.array(seen, v.b), unit=v)
        out[f, c, i, j] = floats(z)[()]
    return out


def turned(g, w, shape, v, stride=1, padding=0, dilation=1, groups=1):
    """The full convolution with kernels turned round, zeros between and around the numbers."""
    n, f, height, width = g.shape
    reach = dilation * (w.shape[2] - 1)
    wide = np.zeros((n, f, shape[2] + reach, shape[3] + reach), np.float32)
    at = reach - padding
    wide[
        :,
        :,
        at : at + (height - 1) * stride + 1 : stride,
        at : at + (width - 1) * stride + 1 : stride,
    ] = g
    kernels = w[:, :, ::-1, ::-1].reshape(groups, f // groups, *w.shape[1:])
    kernels = kernels.transpose(0, 2, 1, 3, 4).reshape(shape[1], f // groups, *w.shape[2:])
    a, b = ww.array(wide, v.a), ww.array(np.ascontiguousarray(kernels), v.b)
    return floats(ww.conv2d(a, b, unit=v, dilation=dilation, groups=groups))


@pytest.mark.parametrize(
    "steps", [{}, {"padding": 2, "stride": 2}, {"padding": "same", "dilation": 2}]
)
def test_signals_are_convolved_alike(steps):
    x, w = drawn(2, 3, 12).requires_grad_(), drawn(4, 3, 3, seed=1)
    z = wt.conv1d(x, w, **steps, unit="fma.f32")
    torch.testing.assert_close(z, F.conv1d(x, w, **steps))
    alone = wt.conv1d(x[0], w, **steps, unit="fma.f32")
    assert torch.equal(alone, z[0])


def test_steps_of_all_axes_may_stand_in_a_list():
    """As torch takes them, of whose layers they come."""
    x, w = drawn(1, 2, 6, 7), drawn(3, 2, 2, 2, seed=1)
    wanted = wt.conv2d(x, w, None, 2, 1, 1, unit="fma.f32")
    assert torch.equal(wt.conv2d(x, w, None, (2,), [1], (1,), unit="fma.f32"), wanted)
    layer = nn.Conv2d(2, 3, 2, stride=(2,), padding=(1,))
    theirs = layer(x)
    torch.testing.assert_close(wt.convert(layer, "fma.f32")(x), theirs)


@pytest.mark.parametrize("mode", ["zeros", "reflect", "circular", "replicate"])
def test_layers_pad_as_torch_does(mode):
    plain = nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=mode)
    x = drawn(1, 2, 5, 6)
    wanted = plain(x)
    torch.testing.assert_close(wt.convert(plain, "fma.f32")(x), wanted)


# --- Derivatives of all kinds --------------------------------------------------------------------


def call_of(kind):
    if kind == "matmul":
        tensors = drawn(3, 4), drawn(4, 5, seed=1), drawn(3, 5, seed=2)
        return tensors, lambda a, b, c: wt.matmul(a, b, c=c, unit="fma.f32")
    tensors = drawn(2, 2, 5, 5), drawn(4, 1, 3, 3, seed=1), drawn(4, seed=2)
    return tensors, lambda x, w, c: wt.conv2d(x, w, c, 2, 1, groups=2, unit="fma.f32")


def theirs_of(kind):
    if kind == "matmul":
        return lambda a, b, c: a @ b + c
    return lambda x, w, c: F.conv2d(x, w, c, 2, 1, groups=2)


KINDS = ["matmul", "conv2d"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["jacrev", "jacfwd"])
def test_jacobians_of_products(kind, way):
    tensors, call = call_of(kind)
    for i in range(3):
        got = getattr(torch.func, way)(call, argnums=i)(*tensors)
        wanted = getattr(torch.func, way)(theirs_of(kind), argnums=i)(*tensors)
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_each_example(kind):
    tensors, call = call_of(kind)
    batch = torch.stack([tensors[0], 2 * tensors[0], -tensors[0]])
    one = torch.func.grad(lambda x, w: call(x, w, tensors[2]).pow(2).sum(), argnums=1)
    got = torch.vmap(one, in_dims=(0, None))(batch, tensors[1])
    wanted = torch.stack([one(x, tensors[1]) for x in batch])
    assert torch.equal(got, wanted)


@pytest.mark.parametrize("kind", [*KINDS, "quantize"])
def test_many_gradients_at_once(kind):
    """By is_grads_batched, as jacobian(vectorize=True) and gradcheck ask for them."""
    x = drawn(2, 4, 6, 5).requires_grad_()
    w = (drawn(6, 2, 3, 2) if kind == "conv2d" else drawn(5, 3)).requires_grad_()
    y = {
        "matmul": lambda: wt.matmul(x, w, unit="mac(e5m10)"),
        "conv2d": lambda: wt.conv2d(x, w, None, 2, 1, groups=2, unit="mac(e5m10)"),
        "quantize": lambda: wt.quantize(x, "e2m1fn", backward="e5m2"),
    }[kind]()
    many = drawn(3, *y.shape, seed=2)
    of = [t for t in (x, w) if t is x or kind != "quantize"]
    got = torch.autograd.grad(y, of, many, retain_graph=True, is_grads_batched=True)
    for i, g in enumerate(many):
        alone = torch.autograd.grad(y, of, g, retain_graph=True)
        assert all(torch.equal(all_[i], one) for all_, one in zip(got, alone, strict=True))


@pytest.mark.parametrize("axes", [(0, None), (None, 2), (1, 0), (2, 1)])
def test_vmap_of_matmul_is_one_product(axes):
    x = drawn(3, 3, 3) if axes[0] is not None else drawn(3, 3)
    y = drawn(3, 3, 3, seed=1) if axes[1] is not None else drawn(3, 3)

    def call(a, b):
        return wt.matmul(a, b, unit="mac(e5m10)")

    rows = [x if axes[0] is None else x.select(axes[0], i) for i in range(3)]
    columns = [y if axes[1] is None else y.select(axes[1], i) for i in range(3)]
    wanted = torch.stack([call(a, b) for a, b in zip(rows, columns, strict=True)])
    assert torch.equal(torch.vmap(call, in_dims=axes)(x, y), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_double_backward_of_products(kind):
    tensors, call = call_of(kind)
    second = []
    for f in (call, theirs_of(kind)):
        own = [t.clone().requires_grad_() for t in tensors]
        first = torch.autograd.grad(f(*own).pow(3).sum(), own[0], create_graph=True)[0]
        second.append(torch.autograd.grad(first.pow(2).sum(), own))
    for one, other in zip(*second, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


def test_checkpoint_of_a_stochastic_layer_draws_the_same_again():
    from torch.utils.checkpoint import checkpoint

    layer = wt.Linear(32, 8, unit="mac(e5m2, sum=e5m10:sr13)")
    seen = []

    def probe(v):
        y = layer(v)
        seen.append(y.detach().clone())
        return y * y

    checkpoint(probe, drawn(4, 32).requires_grad_(), use_reentrant=False).sum().backward()
    assert len(seen) == 2 and torch.equal(*seen)
    assert not torch.equal(layer(drawn(4, 32)), layer(drawn(4, 32)))


def test_autocast_gives_products_float32():
    with torch.autocast("cpu", torch.bfloat16):
        y = wt.Linear(6, 3, unit="mac(e5m10)")(drawn(4, 6).bfloat16())
    assert y.dtype == torch.float32


@pytest.mark.parametrize("sizes", [(0, 2), (2, 0), (0, 0)])
@pytest.mark.parametrize("format", ["e4m3fn", "affine(int8)", "mxfp4", "affine(int8,symmetric)"])
def test_layers_without_numbers_go_forward_and_back(sizes, format):
    layer = nn.Sequential(nn.Linear(*sizes))
    x = torch.zeros(3, sizes[0], requires_grad=True)
    wanted = layer(x)
    how = {"unit": "mac(e5m10)", "input": format, "weight": format, "backward_unit": "mac(e5m2)"}
    got = wt.convert(layer, {"*": how})(x)
    assert got.shape == wanted.shape
    got.sum().backward()
    assert x.grad.shape == x.shape and layer[0].weight.grad.shape == layer[0].weight.shape
    kept = wt.quantize_state_dict(layer.state_dict(), "e4m3fn", rules={"0.weight": format})
    assert kept["0.weight"].numel() == 0
    rows = wt.profile_model(layer, [x.detach()], [format, {"input": "int8"}]).records()
    assert [(r["numbers"], r["bits"], r["error_here"]) for r in rows] == [(0, 0, 0)] * 2
