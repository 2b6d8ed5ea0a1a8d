"""Steps that raise in their middle: weights stay rounded ones, and accumulators go on."""

import pytest
from optimizer_runs import FORMATS, backward, has, made, model, train
from torch_here import NEEDED, torch, wt

pytestmark = NEEDED


class Broken(RuntimeError):
    pass


class Halting(torch.optim.SGD):
    """SGD that raises behind its first parameter where it is told to."""

    halts = False

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else closure()
        for p in self.param_groups[0]["params"]:
            p.add_(p.grad, alpha=-0.1)
            if self.halts:
                raise Broken
        return loss


def quantised(optimizer, **formats):
    return wt.quantize_optimizer(optimizer, **FORMATS | formats)


def low_precision(optimizer, **formats):
    from widthwise.compat.qtorch.optim import OptimLP

    told = FORMATS | formats
    to = {key: format and wt._optimizer.ToFormat(format, "rne") for key, format in told.items()}
    return OptimLP(
        optimizer,
        weight_quant=to["weight"],
        grad_quant=to["grad"],
        momentum_quant=to["momentum"],
        acc_quant=to["accumulator"],
    )


def scheduled(optimizer, **formats):
    """By a scheduler that was there before."""
    torch.optim.lr_scheduler.StepLR(optimizer, 100)
    return quantised(optimizer, **formats)


WAYS = [quantised, low_precision, scheduled]


def accumulators(opt):
    return list(opt.state_dict()["accumulators"].values())


def numbers(net):
    return [p.detach().clone() for p in net.parameters()]


def equal(some, others):
    return all(map(torch.equal, some, others))


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_the_rounded_accumulators_of_a_step_that_raised(way):
    net = model()
    opt = way(inner := Halting(net.parameters(), lr=0.1))
    train(net, opt, 2)
    held, weights, places = (
        accumulators(opt),
        numbers(net),
        [p.data_ptr() for p in net.parameters()],
    )
    backward(net)
    inner.halts = True
    with pytest.raises(Broken):
        opt.step()
    first, *rest = numbers(net)
    assert places == [p.data_ptr() for p in net.parameters()] and equal(rest, weights[1:])
    assert not torch.equal(first, weights[0]) and all(has("e5m4", p) for p in net.parameters())
    moved = accumulators(opt)
    assert torch.equal(first, wt.quantize(moved[0], "e5m4")) and not torch.equal(moved[0], held[0])
    assert all(has("e6m12", x) for x in moved)
    inner.halts = False
    opt.step()  # goes on from there
    assert not equal(accumulators(opt)[1:], moved[1:])


@pytest.mark.parametrize("way", WAYS)
def test_weights_without_accumulators_are_rounded_where_a_step_raised(way):
    net = model()
    opt = way(inner := Halting(net.parameters(), lr=0.1), accumulator=None)
    train(net, opt, 2)
    weights, places = numbers(net), [p.data_ptr() for p in net.parameters()]
    backward(net)
    moved = wt.quantize(weights[0] - 0.1 * wt.quantize(next(net.parameters()).grad, "e5m3"), "e5m4")
    inner.halts = True
    with pytest.raises(Broken):
        opt.step()
    first, *rest = numbers(net)
    assert places == [p.data_ptr() for p in net.parameters()] and equal(rest, weights[1:])
    assert torch.equal(first, moved) and not torch.equal(first, weights[0])


@pytest.mark.parametrize("way", WAYS)
def test_a_weight_without_an_accumulator_stays_as_left_where_it_cannot_be_rounded(way):
    net = model()
    opt = way(made("SGD", net.parameters()), weight="fixed16.8", grad="e5m10", accumulator=None)
    train(net, opt, 1)
    backward(net)
    list(net.parameters())[1].grad[0] = torch.nan
    with pytest.raises(ValueError, match="NaN"):
        opt.step()
    first, nan, *rest = numbers(net)
    assert nan[0].isnan() and all(has("fixed16.8", x) for x in (first, *rest))


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_rounded_where_a_closure_raises_before_a_step(way, first):
    net = model()
    opt = way(made("SGD", net.parameters()), accumulator=None)
    train(net, opt, 0 if first else 2)
    before = numbers(net)

    def closure():
        backward(net)
        raise Broken

    with pytest.raises(Broken):
        opt.step(closure)
    assert equal(numbers(net), before)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_all_is_as_before_a_step_whose_closure_raises(way, first):
    net = model()
    opt = way(made("SGD", net.parameters()))
    train(net, opt, 0 if first else 2)
    before = numbers(net), accumulators(opt)

    def closure():
        backward(net)
        raise Broken

    with pytest.raises(Broken):
        opt.step(closure)
    assert equal(numbers(net), before[0]) and equal(accumulators(opt), before[1])


@pytest.mark.parametrize("way", WAYS)
def test_a_closure_that_raises_later_leaves_rounded_weights(way):
    net, calls = model(), []
    opt = way(torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4))

    def closure():
        calls.append(1)
        if len(calls) == 3:
            raise Broken
        return backward(net, 1)

    before = numbers(net)
    with pytest.raises(Broken):
        opt.step(closure)
    for p, x, held in zip(net.parameters(), before, accumulators(opt), strict=True):
        assert torch.equal(p, wt.quantize(held, "e5m4")) and not torch.equal(p, x)
        assert not has("e5m4", held)


@pytest.mark.parametrize("way", WAYS)
def test_where_a_step_leaves_no_number_of_the_format_weights_are_those_of_before(way):
    net = model()
    opt = way(made("SGD", net.parameters()), weight="fixed16.8", grad="e5m10", accumulator="e8m23")
    train(net, opt, 1)
    weights = numbers(net)
    backward(net)
    list(net.parameters())[1].grad[0] = torch.nan
    with pytest.raises(ValueError, match="NaN"):
        opt.step()
    now = numbers(net)
    assert torch.equal(now[1], weights[1]) and all(has("fixed16.8", x) for x in now)
    assert torch.equal(accumulators(opt)[1], weights[1])
