"""widthwise.torch's products by approximate multipliers: ww.matmul's bits, exact gradients."""

import pickle

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, drawn, same, torch, wt

if torch is not None:
    from torch import nn

pytestmark = NEEDED

UNIT, BACK = "mac(e5m10)", "mac(e5m2, b=e5m10, sum=e5m10)"
SHIFTED = "mp = uint128(ma >> 3) * mb << 3;"


def halved(ma, mb):
    return ma * (mb >> 1 << 1)


def multipliers():
    return ["mitchell", "drum4", "truncated_array12", ww.product(SHIFTED, "shifted"), halved]


def product(x, y, unit, multiplier=None, c=None):
    u = ww.Unit(unit)
    addend = None if c is None else ww.array(c, u.c)
    a, b = ww.array(np.ascontiguousarray(x), u.a), ww.array(np.ascontiguousarray(y), u.b)
    z = ww.matmul(a, b, unit=u, c=addend, multiplier=multiplier)
    return z.astype("e8m23").bits.view(np.float32)


@pytest.mark.parametrize("at", range(5))
def test_a_product_is_ww_matmuls_and_its_gradients_multiply_exactly(at):
    m = multipliers()[at]
    x, w = drawn(4, 9).requires_grad_(), drawn(3, 9, seed=1).requires_grad_()
    y = wt.linear(x, w, unit=UNIT, backward_unit=BACK, multiplier=m)
    same(y, product(x.detach(), w.detach().T, UNIT, m))
    assert not torch.equal(y, wt.linear(x, w, unit=UNIT))
    g = drawn(4, 3, seed=2)
    y.backward(g)
    same(x.grad, product(g, w.detach(), BACK))
    same(w.grad, product(g.T, x.detach(), BACK))


@pytest.mark.parametrize("at", range(5))
def test_gradients_multiply_as_backward_multiplier_says(at):
    m = multipliers()[at]
    x, w = drawn(4, 9).requires_grad_(), drawn(9, 3, seed=1).requires_grad_()
    y = wt.matmul(x, w, unit=UNIT, backward_unit=BACK, backward_multiplier=m)
    same(y, product(x.detach(), w.detach(), UNIT))
    g = drawn(4, 3, seed=2)
    y.backward(g)
    same(x.grad, product(g, w.detach().T, BACK, m))
    same(w.grad.T, product(g.T, x.detach(), BACK, m))


def test_batches_and_convolutions_take_multipliers():
    how = {"unit": UNIT, "multiplier": "mitchell"}
    x, y = drawn(2, 3, 4), drawn(2, 4, 5, seed=1)
    z = wt.bmm(x, y, **how)
    for i in range(2):
        same(z[i], product(x[i], y[i], UNIT, "mitchell"))
    u = ww.Unit(UNIT)
    image, kernels = drawn(1, 2, 5, 5), drawn(3, 2, 3, 3, seed=2)
    a, b = ww.array(image.numpy(), u.a), ww.array(kernels.numpy(), u.b)
    wanted = ww.conv2d(a, b, unit=u, padding=1, multiplier="mitchell")
    same(wt.conv2d(image, kernels, padding=1, **how), wanted.astype("e8m23").bits.view(np.float32))
    signal = wt.conv1d(image.reshape(2, 25), kernels[:, :, 0], **how)
    plain = ww.conv1d(a.reshape(2, 25), b[:, :, 0, :], unit=u, multiplier="mitchell")
    same(signal, plain.astype("e8m23").bits.view(np.float32))
    volume = wt.conv3d(image[:, :, None], kernels[:, :, None], padding=(0, 1, 1), **how)
    assert torch.equal(volume[:, :, 0], wt.conv2d(image, kernels, padding=1, **how))


def test_a_convolutions_gradients_multiply_exactly_or_as_told():
    def gradients(**how):
        x, w = drawn(1, 2, 5, 5).requires_grad_(), drawn(3, 2, 3, 3, seed=2).requires_grad_()
        z = wt.conv2d(x, w, padding=1, unit=UNIT, **how)
        z.backward(drawn(*z.shape, seed=4))
        return x.grad, w.grad

    exact = gradients()
    for one, other in zip(exact, gradients(multiplier="drum4"), strict=True):
        assert torch.equal(one, other)
    for one, other in zip(exact, gradients(backward_multiplier="drum4"), strict=True):
        assert not torch.equal(one, other)


def test_a_layer_with_a_multiplier_is_told_copied_and_pickled():
    model = nn.Sequential(nn.Linear(6, 4), nn.Conv1d(1, 2, 3))
    shifted = ww.product(SHIFTED, "shifted")
    wt.convert(model, {"0": {"unit": UNIT, "multiplier": shifted}, "1": None})
    x = drawn(3, 6)
    assert wt.report(model).records()[0]["how"] == "unit=mac(e5m10), multiplier=shifted"
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again[0](x), model[0](x))
    same(model[0](x), product(x, model[0].weight.detach().T, UNIT, shifted, model[0].bias.detach()))


def test_compiled_code_takes_names():
    def call(x, w):
        return wt.linear(x, w, unit=UNIT, multiplier="mitchell")

    x, w = drawn(4, 9), drawn(3, 9, seed=1)
    assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(x, w), call(x, w))


def test_what_is_no_multiplier_is_refused():
    x = drawn(2, 2)
    with pytest.raises(ValueError, match="mitchel"):
        wt.matmul(x, x, unit=UNIT, multiplier="mitchel")
    with pytest.raises(TypeError, match="multiplier = 3: a name is wanted"):
        wt.matmul(x, x, unit=UNIT, multiplier=3)
    with pytest.raises(ValueError, match="multiplier = 'mitchell' and no unit; name both"):
        wt.Linear(2, 2, multiplier="mitchell")
    with pytest.raises(ValueError, match="mitchel"):
        wt.convert(nn.Linear(2, 2), {"*": {"unit": UNIT, "multiplier": "mitchel"}})
