"""widthwise.torch's convolutions of volumes: the bits of dot products that are taken by hand."""

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, drawn, same, torch, wt

if torch is not None:
    from torch import nn
    from torch.nn import functional as F

pytestmark = NEEDED

STEPS = [
    {},
    {"padding": 1},
    {"stride": 2, "padding": 1},
    {"stride": (1, 2, 3), "padding": (2, 0, 1), "dilation": (2, 1, 1)},
    {"stride": (3, 1, 1), "groups": 2, "padding": 2},
    {"padding": "same"},
    {"padding": "valid", "groups": 4},
]


def three(step):
    return (step,) * 3 if isinstance(step, int) else step


def floats(z):
    return z.astype("e8m23").bits.view(np.float32)


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_volumes_agree_with_torch_and_their_gradients_do(steps, bias):
    w = drawn(8, 4 // steps.get("groups", 1), 2, 3, 2, seed=1)
    tensors = [drawn(2, 4, 6, 5, 7), w, drawn(8, seed=3) if bias else None]
    ours = [t if t is None else t.clone().requires_grad_() for t in tensors]
    theirs = [t if t is None else t.clone().requires_grad_() for t in tensors]
    z, t = wt.conv3d(*ours, **steps, unit="fma.f32"), F.conv3d(*theirs, **steps)
    torch.testing.assert_close(z, t, rtol=1e-4, atol=1e-5)
    g = drawn(*t.shape, seed=2)
    z.backward(g), t.backward(g)
    for one, other in zip(ours, theirs, strict=True):
        if one is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)


def by_hand(u, shape, window):
    """A dot product an element: what `window` gives of each place, in its order."""
    out = np.empty(shape, np.float32)
    for at in np.ndindex(*shape):
        x, y = window(*at)
        out[at] = floats(ww.dot(ww.array(x, u.a), ww.array(y, u.b), unit=u))[()]
    return out


@pytest.mark.parametrize("forward, backward", [
    ("mac(e5m10)", "mac(e5m2, b=e5m10, sum=e5m7)"),
    ("hopper.e4m3.f32", "hopper.e5m2.f32"),
    ("mac(posit16es2)", "mac(fixed24.12)"),
])  # fmt: skip
@pytest.mark.parametrize("groups", [1, 2])
def test_each_output_and_gradient_is_a_dot_product_in_the_stated_order(forward, backward, groups):
    stride, padding, dilation = (2, 1, 1), (1, 0, 2), (1, 2, 1)
    u, v = ww.Unit(forward), ww.Unit(backward)
    x = drawn(2, 4, 4, 5, 3).requires_grad_()
    w = drawn(2, 4 // groups, 2, 2, 3, seed=1).requires_grad_()
    z = wt.conv3d(x, w, None, stride, padding, dilation, groups, unit=u, backward_unit=v)
    g = drawn(*z.shape, seed=2)
    z.backward(g)
    edges = [(0, 0), (0, 0), *((p, p) for p in padding)]
    images, kernels = np.pad(x.detach().numpy(), edges), w.detach().numpy()
    own, filters = kernels.shape[1], kernels.shape[0] // groups

    def seen(n, f, *at):
        """Channel, plane, row, column of what the kernel sees there."""
        first = f // filters * own
        steps = zip(at, stride, dilation, kernels.shape[2:], strict=True)
        return images[(n, slice(first, first + own), *(
            slice(i * s, i * s + d * (k - 1) + 1, d) for i, s, d, k in steps
        ))]  # fmt: skip

    same(z, by_hand(u, z.shape, lambda n, f, *at: (seen(n, f, *at).ravel(), kernels[f].ravel())))

    def of_weight(f, c, *k):
        places = [(n, *at) for n in range(2) for at in np.ndindex(*g.shape[2:])]
        values = [seen(n, f, *at)[(c, *k)] for n, *at in places]
        return np.float32([g[n, f, *at] for n, *at in places]), np.float32(values)

    same(w.grad, by_hand(v, w.shape, of_weight))
    edge = reach(w, dilation)
    apart = np.zeros((2, 2, *(n + 2 * e for n, e in zip(x.shape[2:], edge, strict=True))))
    for n, f, *at in np.ndindex(*g.shape):
        place = [i * s - p + r for i, s, p, r in zip(at, stride, padding, edge, strict=True)]
        if all(0 <= i < m for i, m in zip(place, apart.shape[2:], strict=True)):
            apart[(n, f, *place)] = g[(n, f, *at)]

    def of_input(n, c, *at):
        group, channel = divmod(c, own)
        fs = range(group * filters, group * filters + filters)
        turned = list(np.ndindex(*kernels.shape[2:]))
        values = [apart[(n, f, *(i + d * k for i, d, k in zip(at, dilation, ks, strict=True)))]
                  for f in fs for ks in turned]  # fmt: skip
        flipped = kernels[:, :, ::-1, ::-1, ::-1]
        back = [flipped[(f, channel, *ks)] for f in fs for ks in turned]
        return np.float32(values), np.float32(back)

    same(x.grad, by_hand(v, x.shape, of_input))


def reach(w, dilation):
    return [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]


def test_one_volume_alone_and_a_bias_that_begins_the_sums():
    x, w, c = drawn(3, 4, 5, 6), drawn(2, 3, 2, 2, 2, seed=1), drawn(2, seed=2)
    z = wt.conv3d(x, w, c, padding=1, unit="mac(e5m10)")
    assert torch.equal(z, wt.conv3d(x[None], w, c, padding=1, unit="mac(e5m10)")[0])
    window = x[:, 0:2, 0:2, 0:2].reshape(-1)
    wanted = wt.matmul(window, w[1].reshape(-1), c=c[1], unit="mac(e5m10)")
    assert torch.equal(z[1, 1, 1, 1], wanted)


def test_a_layer_of_volumes_converts_pads_and_reverts():
    for mode in ("zeros", "circular", "replicate"):
        plain = nn.Conv3d(2, 3, 2, padding=(1, 0, 1), padding_mode=mode)
        x = drawn(1, 2, 4, 5, 6)
        wanted, keys = plain(x), list(plain.state_dict())
        ours = wt.convert(plain, {nn.Conv3d: "fma.f32"})
        assert type(ours) is wt.Conv3d and list(ours.state_dict()) == keys
        torch.testing.assert_close(ours(x), wanted, rtol=1e-4, atol=1e-5)
        assert torch.equal(wt.revert(ours)(x), wanted) and type(ours) is nn.Conv3d


def test_opcheck_and_compiled_code_of_volumes():
    x, w, c = drawn(1, 2, 4, 4, 4), drawn(2, 1, 2, 2, 2, seed=1), drawn(2, seed=2)
    tensors = [t.requires_grad_() for t in (x, w, c)]
    steps = ([2, 1, 1], [1, 0, 1], [1, 1, 2], 2)
    units = ("mac(e5m10)", "fma.f32", None, None, None)
    torch.library.opcheck(torch.ops.widthwise.convolution.default, (*tensors, *steps, *units))

    def call(x, w, c):
        return wt.conv3d(x, w, c, 2, 1, groups=2, unit="mac(e5m10)")

    results = []
    for f in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
        own = [t.detach().clone().requires_grad_() for t in (x, w)]
        z = f(*own, c.detach())
        z.pow(2).sum().backward()
        results.append([z, *(t.grad for t in own)])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


@pytest.mark.parametrize("way", ["jacrev", "jacfwd"])
def test_jacobians_of_volumes(way):
    tensors = drawn(1, 2, 3, 3, 3), drawn(2, 1, 2, 2, 2, seed=1), drawn(2, seed=2)

    def ours(x, w, c):
        return wt.conv3d(x, w, c, 1, 1, groups=2, unit="fma.f32")

    def theirs(x, w, c):
        return F.conv3d(x, w, c, 1, 1, groups=2)

    for i in range(3):
        got = getattr(torch.func, way)(ours, argnums=i)(*tensors)
        wanted = getattr(torch.func, way)(theirs, argnums=i)(*tensors)
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("call, message", [
    (lambda: wt.conv3d(drawn(2, 3, 4), drawn(1, 1, 1, 1, 1), unit="fma.f32"), "x wants 5 axes"),
    (lambda: wt.conv3d(drawn(1, 1, 2, 2, 2), drawn(1, 1, 3, 1, 1), unit="fma.f32"), "larger than"),
    (lambda: wt.conv3d(drawn(1, 1, 2, 2, 2), drawn(1, 1, 1, 1, 1), stride=(1, 1), unit="fma.f32"),
     r"stride = \(1, 1\): an integer or three of 1 or more"),
    (lambda: wt.conv3d(drawn(1, 1, 2, 2, 2), drawn(1, 1, 1, 1, 1), padding={0, 1, 2},
                       unit="fma.f32"),
     r"padding = {0, 1, 2}: an integer or three of 0 or more"),
    (lambda: wt.conv3d(drawn(1, 1, 2, 2, 2), drawn(1, 1, 1, 1, 1), stride=torch.tensor(True),
                       unit="fma.f32"),
     r"stride = tensor\(True\): an integer or three of 1 or more"),
    (lambda: wt.conv3d(drawn(1, 1, 2, 2, 2), drawn(1, 1, 1, 1, 1), unit="blackwell.mxfp8"),
     "scales blocks"),
])  # fmt: skip
def test_volumes_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("steps", [{}, {"stride": 2, "padding": 1}, {"groups": 2}], ids=str)
def test_an_empty_batch_has_torchs_shape_and_gradients_of_zero(axes, steps):
    x = torch.zeros(0, 4, *(5,) * axes, requires_grad=True)
    w = drawn(6, 4 // steps.get("groups", 1), *(2,) * axes).requires_grad_()
    bias = drawn(6).requires_grad_()
    call = getattr(wt, f"conv{axes}d")
    z = call(x, w, bias, **steps, unit="mac(e5m10)")
    wanted = getattr(F, f"conv{axes}d")(x, w, bias, **steps)
    assert z.shape == wanted.shape
    z.sum().backward()
    assert x.grad.shape == x.shape and w.grad.eq(0).all() and bias.grad.eq(0).all()
    moved = torch.func.jvp(
        lambda w: call(x.detach(), w, **steps, unit="mac(e5m10)"), (w.detach(),), (w.detach(),)
    )
    assert [part.shape for part in moved] == [wanted.shape] * 2
