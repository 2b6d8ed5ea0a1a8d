"""quantize_optimizer and OptimLP by parameters' names: rules, layers left alone, copies, states."""

import copy
import pickle

import pytest
from optimizer_runs import FORMATS, backward, has, made, model, train
from torch_here import NEEDED, torch, wt

pytestmark = NEEDED
RULES = {"weight": {"0.bias": None, "0": "e5m4", "*": "e4m3"}, "grad": {"2": "e5m3"}}
RULES |= {"momentum": {"momentum_buffer": {"*.weight": "e6m7"}}, "accumulator": {"0": "e6m12"}}


def by_names(net, kind="quantize_optimizer", rules=RULES, **more):
    if kind == "quantize_optimizer":
        return wt.quantize_optimizer(made("SGD", net.parameters()), **rules, names=net, **more)
    from widthwise.compat.qtorch.optim import OptimLP

    def quants(told):
        return {glob: how and wt._optimizer.ToFormat(how, "rne") for glob, how in told.items()}

    momentum = rules["momentum"]["momentum_buffer"]
    told = {"weight": rules["weight"], "grad": rules["grad"], "acc": rules["accumulator"]}
    how = {f"{key}_quant": quants(x) for key, x in {**told, "momentum": momentum}.items()}
    return OptimLP(made("SGD", net.parameters()), **how, names=net.named_parameters(), **more)


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP"])
def test_each_name_has_its_formats_and_a_step_is_that_of_each_alone(kind):
    net, plain = model(), model()
    opt = by_names(net, kind)
    of = {"0.weight": ("e5m4", None, "e6m7", "e6m12"), "0.bias": (None, None, None, "e6m12")}
    of |= {"2.weight": ("e4m3", "e5m3", "e6m7", None), "2.bias": ("e4m3", "e5m3", None, None)}
    alone = {
        name: wt.quantize_optimizer(made("SGD", [p]), **dict(zip(FORMATS, of[name], strict=True)))
        for name, p in plain.named_parameters()
    }
    for step in range(4):
        backward(net, step)
        opt.step()
        backward(plain, step)
        for each in alone.values():
            each.step()
        for (name, p), q in zip(net.named_parameters(), plain.parameters(), strict=True):
            assert torch.equal(p, q) and torch.equal(p.grad, q.grad), name
            mine = opt.state[p]["momentum_buffer"]
            assert torch.equal(mine, alone[name].state[q]["momentum_buffer"]), name
    assert sorted(opt.state_dict()["accumulators"]) == [0, 1]


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP"])
def test_what_layers_are_left_alone_goes_on_as_before(kind):
    net, plain = model(), model()
    opt = by_names(net, kind, except_layers=["0"])
    other = made("SGD", plain.parameters())
    train(net, opt, 1)
    train(plain, other, 1)
    assert torch.equal(net[0].weight, plain[0].weight) and torch.equal(net[0].bias, plain[0].bias)
    assert has("e4m3", net[2].weight.data) and opt.state_dict()["accumulators"] == {}


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP"])
@pytest.mark.parametrize("way", ["deepcopy", "pickle", "states"])
def test_copies_and_resumed_runs_keep_their_names(kind, way):
    net = model()
    opt = by_names(net, kind)
    train(net, opt, 2)
    if way == "deepcopy":
        other, own = copy.deepcopy((net, opt))
    elif way == "pickle":
        other, own = pickle.loads(pickle.dumps((net, opt)))
    else:
        other = model(seed=3)
        own = by_names(other, kind)
        for part, of in ((other, net), (own, opt)):
            part.load_state_dict(copy.deepcopy(of.state_dict()))
    train(net, opt, 2, first=7)
    train(other, own, 2, first=7)
    assert all(map(torch.equal, net.parameters(), other.parameters()))


def test_a_state_with_more_accumulators_gives_none_to_what_is_left_alone():
    net = model()
    full = wt.quantize_optimizer(made("SGD", net.parameters()), **FORMATS)
    train(net, full, 2)
    opt = wt.quantize_optimizer(
        made("SGD", net.parameters()), **FORMATS, names=net, except_layers=["2"]
    )
    opt.load_state_dict(copy.deepcopy(full.state_dict()))
    before = net[2].weight.detach().clone()
    train(net, opt, 1)
    assert sorted(opt.state_dict()["accumulators"]) == [0, 1]
    assert not torch.equal(net[2].weight, before) and not has("e5m4", net[2].weight.data)


def test_torchs_own_names_are_known_and_those_of_later_groups():
    net = model()
    opt = made("SGD", [{"params": list(net[0].named_parameters("0"))}])
    opt = wt.quantize_optimizer(opt, weight={"*.weight": "e4m3"})
    opt.add_param_group({"params": list(net[2].named_parameters("2"))})
    train(net, opt, 1)
    assert has("e4m3", net[2].weight.data) and not has("e4m3", net[2].bias.data)


def test_gradients_are_scaled_whatever_their_names():
    net = model()
    opt = wt.quantize_optimizer(
        made("SGD", net.parameters()), grad={"2": "e5m3"}, grad_scale=0.5, names=net
    )
    backward(net)
    before = [p.grad.clone() for p in net.parameters()]
    opt.step()
    for p, g in zip(net[0].parameters(), before, strict=False):
        assert torch.equal(p.grad, g * 0.5)
    assert torch.equal(net[2].bias.grad, wt.quantize(before[-1] * 0.5, "e5m3"))


@pytest.mark.parametrize(
    "how, error, text",
    [
        (
            {"weight": {"head": "e5m4"}},
            ValueError,
            "weight has 'head', which fits no parameter; .*'0.w",
        ),
        ({"weight": {"0": "e5q2"}}, ValueError, "weight = 'e5q2': format"),
        (
            {"weight": "e5m2", "except_layers": ["9"]},
            ValueError,
            "except_layers has '9', which fits",
        ),
        (
            {"grad": {"*": "e5m2"}, "names": None},
            ValueError,
            r"no name, .*model.named_parameters\(\)",
        ),
        ({"grad": {"*": "e5m2"}, "names": 3}, TypeError, "names is int; a model or its"),
    ],
)
def test_wrong_names_are_told_and_change_nothing(how, error, text):
    net = model()
    opt = made("SGD", net.parameters())
    with pytest.raises(error, match=text):
        wt.quantize_optimizer(opt, **{"names": net, **how})
    assert type(opt) is torch.optim.SGD


def test_rules_on_parameters_are_no_names_of_states():
    opt = made("SGD", model().parameters())
    with pytest.raises(ValueError, match=r"momentum = \{'\*': …\}.*write .*'momentum_buffer'"):
        wt.quantize_optimizer(opt, momentum={"*": "e5m2"})
