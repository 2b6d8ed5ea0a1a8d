"""quantize_optimizer, and OptimLP beside it: what a step rounds, closures, schedulers, states."""

import contextlib
import copy
import io
import pickle

import pytest
from optimizer_runs import FORMATS, OPTIMIZERS, backward, has, made, model, train
from torch_here import NEEDED, torch, wt

pytestmark = NEEDED


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_number_has_its_format_after_a_step(name):
    net = model()
    opt = wt.quantize_optimizer(made(name, net.parameters()), **FORMATS)
    assert type(opt).__name__ == name and isinstance(opt, getattr(torch.optim, name))
    train(net, opt, 3)
    held = opt.state_dict()["accumulators"]
    rounded = 0
    for i, p in enumerate(net.parameters()):
        assert has("e5m4", p.data) and has("e6m12", held[i]) and not has("e5m4", held[i])
        assert torch.equal(p.data, wt.quantize(held[i], "e5m4")) and has("e5m3", p.grad)
        for key, value in opt.state[p].items():
            if key != "step" and torch.is_tensor(value) and value.shape == p.shape:
                assert has("e6m7", value), key
                rounded += 1
    assert rounded or name == "Adafactor"  # which keeps rows and columns of matrices


def test_a_step_is_its_parts_in_order():
    """SGD with momentum, written out."""
    net, plain = model(), model()
    opt = wt.quantize_optimizer(made("SGD", net.parameters()), **FORMATS, grad_scale=0.5)
    held = {p: p.detach().clone() for p in plain.parameters()}
    momenta = {}
    for step in range(4):
        backward(net, step)
        opt.step()
        backward(plain, step)
        for p in plain.parameters():
            g = wt.quantize(p.grad * 0.5, "e5m3")
            m = g.clone() if p not in momenta else momenta[p].mul(0.9).add(g)
            held[p] = wt.quantize(held[p].add(m, alpha=-0.1), "e6m12")
            p.data = wt.quantize(held[p], "e5m4")
            momenta[p] = wt.quantize(m, "e6m7")
        for p, q in zip(net.parameters(), plain.parameters(), strict=True):
            assert torch.equal(p, q) and torch.equal(opt.state[p]["momentum_buffer"], momenta[q])


def test_momenta_by_key_and_functions_for_formats():
    net = model()
    opt = wt.quantize_optimizer(
        made("Adam", net.parameters()),
        weight=lambda x: x.round(decimals=2),
        momentum={"exp_avg": "e5m2"},
    )
    train(net, opt, 2)
    for p in net.parameters():
        assert torch.equal(p.data, p.data.round(decimals=2))
        assert has("e5m2", opt.state[p]["exp_avg"]) and not has("e5m2", opt.state[p]["exp_avg_sq"])


def test_a_scalars_step_count_is_no_momentum():
    p = torch.nn.Parameter(torch.tensor(1.0))
    opt = wt.quantize_optimizer(made("Adam", [p]), momentum="e2m1fn")
    for _ in range(7):
        p.grad = torch.tensor(0.3)
        opt.step()
    assert opt.state[p]["step"].item() == 7


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_run_that_is_resumed_is_the_same_run(name):
    def parts():
        net = model()
        opt = wt.quantize_optimizer(made(name, net.parameters()), **FORMATS, rounding="sr8")
        return net, opt, torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)

    net, opt, schedule = parts()
    torch.manual_seed(5)
    train(net, opt, 3, schedule)
    saved = io.BytesIO()
    torch.save([part.state_dict() for part in (net, opt, schedule)], saved)
    bits = torch.get_rng_state()
    train(net, opt, 3, schedule, first=4)
    saved.seek(0)
    again = parts()
    for part, state in zip(again, torch.load(saved, weights_only=True), strict=True):
        part.load_state_dict(state)
    torch.set_rng_state(bits)
    train(*again[:2], 3, again[2], first=4)
    for p, q in zip(net.parameters(), again[0].parameters(), strict=True):
        assert torch.equal(p, q)
        assert torch.equal(opt._steps.accumulators[p], again[1]._steps.accumulators[q])


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_copies_go_on_as_the_original(way):
    net = model()
    opt = wt.quantize_optimizer(made("Adam", net.parameters()), **FORMATS)
    train(net, opt, 2)
    copied = copy.deepcopy if way == "deepcopy" else lambda x: pickle.loads(pickle.dumps(x))
    other, own = copied((net, opt))
    train(net, opt, 2, first=7)
    train(other, own, 2, first=7)
    train(other, own, 1)  # it no longer touches the original
    train(net, opt, 1)
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q) and has("e5m4", q.data) and p.data_ptr() != q.data_ptr()


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_what_an_optimizer_keeps_for_itself_is_copied(way):
    net = model()
    opt = wt.quantize_optimizer(torch.optim.LBFGS(net.parameters(), max_iter=3), **FORMATS)
    opt.step(lambda: backward(net))
    copied = copy.deepcopy if way == "deepcopy" else lambda x: pickle.loads(pickle.dumps(x))
    other, own = copied((net, opt))
    assert own.step(lambda: backward(other)) == opt.step(lambda: backward(net))
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q)


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP", "weight alone"])
@pytest.mark.parametrize("closure", [False, True])
def test_weights_stay_where_they_lie(kind, closure):
    """Views, other processes and channels_last lean on that memory."""
    net = torch.nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last).share_memory()
    seen = net.weight.detach().permute(0, 2, 3, 1)
    if kind == "weight alone":
        opt = wt.quantize_optimizer(made("SGD", net.parameters()), weight="e5m4")
    else:
        opt = wrapped(net, kind)
    for _ in range(2):
        before = seen.clone()
        x = torch.randn(2, 3, 4, 4)
        if closure:
            opt.step(lambda x=x: net(x).sum().backward())
        else:
            net(x).sum().backward()
            opt.step()
        assert not torch.equal(before, seen) and torch.equal(seen, net.weight.permute(0, 2, 3, 1))
    assert net.weight.is_shared()
    assert net.weight.is_contiguous(memory_format=torch.channels_last)


def test_the_numbers_of_sparse_gradients_are_rounded():
    table = torch.nn.Embedding(6, 4, sparse=True)
    opt = wt.quantize_optimizer(torch.optim.SGD(table.parameters(), lr=0.1), "e5m6", grad="e4m3fn")
    table(torch.tensor([1, 3, 3])).mul(0.3).sum().backward()
    opt.step()
    g = table.weight.grad
    assert g.layout is torch.sparse_coo and has("e5m6", table.weight.data)
    assert g.coalesce().values().unique().tolist() == [0.3125, 0.625]


def test_a_state_dict_of_a_plain_optimizer_loads_and_its_accumulators_are_the_weights():
    net = model()
    plain = made("SGD", net.parameters())
    train(net, plain, 2)
    opt = wt.quantize_optimizer(made("SGD", net.parameters()), **FORMATS)
    opt.load_state_dict(plain.state_dict())
    for p in net.parameters():
        assert torch.equal(opt._steps.accumulators[p], p)
    made("SGD", net.parameters()).load_state_dict(opt.state_dict())  # and back


def wrapped(net, kind):
    if kind == "OptimLP":
        return low_precision(net)
    return wt.quantize_optimizer(made("SGD", net.parameters()), **FORMATS)


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP"])
@pytest.mark.parametrize("trained", [0, 2])
def test_weights_that_are_loaded_alone_are_what_the_next_step_goes_on_from(kind, trained):
    wanted, other = model(seed=3), model()
    state = copy.deepcopy(wanted.state_dict())
    low = wrapped(other, kind)
    train(other, low, trained)
    before = copy.deepcopy([p.data for p in other.parameters()])
    other.load_state_dict(state)
    low.param_groups[0]["momentum"] = 0.0
    train(other, low, 1)
    fresh = wrapped(wanted, kind)
    fresh.param_groups[0]["momentum"] = 0.0
    train(wanted, fresh, 1)
    for p, q, old in zip(other.parameters(), wanted.parameters(), before, strict=True):
        assert torch.equal(p, q) and not torch.equal(p, old)


@pytest.mark.parametrize("kind", ["quantize_optimizer", "OptimLP"])
@pytest.mark.parametrize("order", ["model first", "optimizer first"])
@pytest.mark.parametrize("plain", [False, True])
def test_a_run_is_resumed_whichever_state_is_loaded_first(kind, order, plain):
    net = model()
    low = made("SGD", net.parameters()) if plain else wrapped(net, kind)
    train(net, low, 3)
    states = copy.deepcopy([net.state_dict(), low.state_dict()])
    again = model(seed=8)
    parts = [again, wrapped(again, kind)]
    for i in (0, 1) if order == "model first" else (1, 0):
        parts[i].load_state_dict(states[i])
    if plain:
        own = wrapped(net, kind)
        own.load_state_dict(copy.deepcopy(states[1]))  # torch shares what it loads
        low = own
    train(net, low, 2, first=4)
    train(*parts, 2, first=4)
    assert all(map(torch.equal, net.parameters(), again.parameters()))


@pytest.mark.parametrize("write", [
    lambda p: p.clamp_(-0.1, 0.1), lambda p: p.data.clamp_(-0.1, 0.1),
    lambda p: setattr(p, "data", p.data.clamp(-0.1, 0.1)),
])  # fmt: skip
def test_what_is_written_to_weights_stays_and_the_other_accumulators_do(write):
    p = torch.nn.Parameter(torch.tensor([1.0, 0.05]))
    opt = wt.quantize_optimizer(
        torch.optim.SGD([p], lr=0.001), weight="e4m3fn", accumulator="e8m23"
    )
    for _ in range(5):
        p.grad = torch.tensor([-1.0, 1.0])
        opt.step()
        with torch.no_grad():
            write(p)
    held = opt.state_dict()["accumulators"][0]
    assert p[0].item() == pytest.approx(0.1) and held[0] == p[0]
    assert held[1].item() == pytest.approx(0.045, abs=1e-6)  # five steps below what it began at


def test_optimlp_as_qtorch_forgets_weights_that_were_loaded():
    net, zeros = model(), {name: x * 0 for name, x in model().state_dict().items()}
    low = low_precision(net, like="qtorch")
    train(net, low, 1)
    net.load_state_dict(zeros)
    train(net, low, 1)
    assert all((p.data.abs() > 0.001).any() for p in list(net.parameters())[::2])


def test_a_scheduler_that_was_made_before_goes_on():
    net = model()
    opt = made("SGD", net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
    assert wt.quantize_optimizer(opt, **FORMATS) is opt
    train(net, opt, 2, schedule)
    assert opt.param_groups[0]["lr"] == 0.025
    assert all(has("e5m4", p.data) for p in net.parameters())


def test_groups_that_come_later_have_accumulators():
    net = model()
    opt = wt.quantize_optimizer(made("SGD", net[0].parameters()), **FORMATS)
    opt.add_param_group({"params": net[2].parameters()})
    train(net, opt, 2)
    assert all(has("e5m4", p.data) for p in net.parameters())
    assert len(opt.state_dict()["accumulators"]) == 4


def test_a_closure_is_called_at_the_weights_and_its_gradients_are_rounded():
    net, other = model(), model()
    seen, closed = [], []
    opt = wt.quantize_optimizer(made("SGD", net.parameters()), **FORMATS)
    beside = wt.quantize_optimizer(made("SGD", other.parameters()), **FORMATS)

    def closure():
        seen.append([p.data.clone() for p in net.parameters()])
        closed.append(backward(net, len(seen)))
        return closed[-1]

    for step in range(3):
        before = [p.data.clone() for p in net.parameters()]
        assert opt.step(closure) is closed[-1]
        assert all(map(torch.equal, seen[-1], before))
        backward(other, step + 1)
        beside.step()
    assert all(map(torch.equal, net.parameters(), other.parameters()))


def test_lbfgs_calls_its_closure_as_often_as_it_wants():
    net, calls = model(), []
    opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
    opt = wt.quantize_optimizer(opt, weight="e5m4", accumulator="e8m23", grad="e5m6")

    def closure():
        calls.append(all(has("e5m4", p.data) for p in net.parameters()))
        return backward(net, 1)

    first = opt.step(closure)
    for _ in range(3):
        last = opt.step(closure)
    assert last < first and len(calls) > 8
    assert all(calls[1:])  # but for the first, before which nothing is rounded
    assert all(has("e5m4", p.data) for p in net.parameters())


def test_what_has_no_gradient_stays_and_a_scale_acts_without_a_format():
    frozen, p = (torch.nn.Parameter(torch.tensor([0.3])) for _ in range(2))
    opt = wt.quantize_optimizer(made("SGD", [frozen, p]), momentum="e5m2", grad_scale=0.5)
    p.grad = torch.tensor([1.0])
    opt.step()
    assert frozen.item() == torch.tensor(0.3).item() and p.grad.item() == 0.5


@pytest.mark.parametrize(
    "how, error, text",
    [
        ({"weight": "e5q2"}, ValueError, "weight = 'e5q2': format 'e5q2', column"),
        ({"momentum": {"exp_avg": "float9"}}, ValueError, "momentum = 'float9'"),
        ({"weight": "e5m2", "rounding": "up"}, ValueError, "rounding"),
        ({"grad_scale": 0.0}, ValueError, "grad_scale = 0.0: it is positive"),
    ],
)
def test_wrong_settings_are_named_and_change_nothing(how, error, text):
    opt = made("SGD", model().parameters())
    with pytest.raises(error, match=text):
        wt.quantize_optimizer(opt, **how)
    assert type(opt) is torch.optim.SGD


def test_what_is_no_optimizer_or_one_already():
    with pytest.raises(TypeError, match="optimizer is Sequential, and one of torch is taken"):
        wt.quantize_optimizer(model())
    opt = wt.quantize_optimizer(made("SGD", model().parameters()), weight="e5m2")
    with pytest.raises(TypeError, match="has formats already; give them all in one call"):
        wt.quantize_optimizer(opt, grad="e5m2")


# --- OptimLP, by the same steps -------------------------------------------------------------------


def low_precision(net, name="SGD", **more):
    from widthwise.compat.qtorch.optim import OptimLP

    to = {key: wt._optimizer.ToFormat(format, "rne") for key, format in FORMATS.items()}
    return OptimLP(
        made(name, net.parameters()),
        weight_quant=to["weight"],
        grad_quant=to["grad"],
        momentum_quant=to["momentum"],
        acc_quant=to["accumulator"],
        **more,
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimlp_has_the_steps_of_quantize_optimizer(name):
    net, other = model(), model()
    low = low_precision(net, name, grad_scaling=0.5)
    opt = wt.quantize_optimizer(made(name, other.parameters()), **FORMATS, grad_scale=0.5)
    train(net, low, 3)
    train(other, opt, 3)
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q) and torch.equal(low.weight_acc[p], opt._steps.accumulators[q])
    mine, theirs = low.state_dict(), opt.state_dict()
    assert mine["state"].keys() == theirs["state"].keys() and len(mine["state"]) == 4


def test_optimlp_resumes_copies_and_keeps_its_scheduler():
    net = model()
    low = low_precision(net, "Adam")
    schedule = torch.optim.lr_scheduler.LambdaLR(low, lambda epoch: 1 / (1 + epoch))
    train(net, low, 2, schedule)
    states = copy.deepcopy([net.state_dict(), low.state_dict()])
    twin, own = copy.deepcopy((net, low))
    again = model()
    again.load_state_dict(states[0])
    resumed = low_precision(again, "Adam")
    resumed.load_state_dict(states[1])
    for part, opt in ((net, low), (twin, own), (again, resumed)):
        assert opt.param_groups is opt.optim.param_groups and opt.state is opt.optim.state
        train(part, opt, 2, first=5)
    for p, q, r in zip(net.parameters(), twin.parameters(), again.parameters(), strict=True):
        assert torch.equal(p, q) and torch.equal(p, r)


def test_optimlp_changes_with_its_attributes_and_leaves_the_inner_optimizer_as_it_is():
    net = model()
    low = low_precision(net)
    low.weight_quant = wt._optimizer.ToFormat("e2m1fn", "rne")
    train(net, low, 1)
    assert all(has("e2m1fn", p.data) for p in net.parameters())
    assert type(low.optim) is torch.optim.SGD and "LP Optimizer: SGD" in str(low)
    low.optim.load_state_dict(low.optim.state_dict())  # gives the inner one other groups
    train(net, low, 1)
    assert low.param_groups is low.optim.param_groups


def test_optimlp_as_qtorch_forgets_closures():
    import widthwise as ww

    net = model()
    low, calls = low_precision(net), []
    backward(net)
    with ww.like("qtorch"):
        assert low.step(lambda: calls.append(1)) is None
    assert not calls
    assert low_precision(net, like="fork").step(lambda: calls.append(1)) is None and not calls
    with pytest.raises(ValueError, match="like = 'torch': it may be 'qtorch' or 'fork'"):
        low_precision(net, like="torch")
    with pytest.raises(TypeError, match="optim is Sequential, and an optimizer of torch is taken"):
        type(low)(net)
    with pytest.raises(ValueError, match="grad_scaling = 0: it is positive"):
        type(low)(low.optim, grad_scaling=0)


def stepped(call, **more):
    """A weight after two steps, each taken by `call`."""
    from widthwise.compat.qtorch.optim import OptimLP

    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    low = OptimLP(torch.optim.SGD([p], lr=0.25, momentum=0.5), grad_scaling=0.5, **more)
    for _ in range(2):
        p.grad = torch.tensor([1.0, -1.0])
        call(low.step)
    return p.detach().tolist()


@pytest.mark.parametrize("more", [{}, {"weight_quant": "e5m10"}, {"acc_quant": "e8m7"}])
@pytest.mark.parametrize("like", [None, "qtorch"])
def test_compiled_steps_of_optimlp_are_those_of_eager_code(more, like):
    import widthwise as ww

    def compiled(step):
        torch.compile(step, backend="aot_eager")()

    how = {key: wt._optimizer.ToFormat(format, "rne") for key, format in more.items()}
    around = ww.like(like) if like else contextlib.nullcontext()
    scale = 1.0 if like else 0.5  # qtorch has no scale without a rounding of gradients
    with around:
        wanted = stepped(lambda step: step(), **how)
        assert wanted == [1 - 0.25 * 2.5 * scale, 2 + 0.25 * 2.5 * scale]
        assert stepped(compiled, **how) == wanted
