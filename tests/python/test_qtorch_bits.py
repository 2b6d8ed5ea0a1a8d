"""like='qtorch' and like='fork': the bits of the installed packages, faults included."""

import itertools
import os

import pytest
import widthwise as ww
from qtorch_here import NEEDED, assert_same, ours, package, patterns, torch

pytestmark = NEEDED
LONG = "WIDTHWISE_LONG" in os.environ
PACKAGES = {"qtorch": "qtorch", "fork": "qtorch_plus"}
FIXED = [(8, 4), (8, 0), (8, -2), (8, 7), (16, 8), (2, 1), (1, 0), (1, 1), (32, 16), (32, 4)]
FIXED += [(24, 12), (8, 20), (4, 30), (64, 40), (-1, -1)]
FIXED += [(8, -121), (8, -126), (8, -300), (8, -2000), (24, 149), (8, 300), (8, 2000)]
EXPONENTS, FRACTIONS = range(1, 9), range(24)
SOME_FLOATS = [(5, 2), (4, 3), (8, 23), (8, 7), (5, 10), (1, 1), (2, 1), (1, 23), (8, 0), (6, 9)]
FLOATS = list(itertools.product(EXPONENTS, FRACTIONS)) if LONG else SOME_FLOATS
LENGTHS = range(1, 24) if LONG else [1, 2, 3, 4, 8, 12, 22, 23]
POSITS = list(itertools.product(range(3, 17), range(4)))
POSITS = POSITS if LONG else [(3, 1), (6, 0), (8, 0), (8, 1), (8, 2), (8, 3), (16, 1), (16, 3)]
SCALES = [1.0, 32.0, 0.3, -7.0, 1e30] if LONG else [1.0, 0.3, -32.0]


@pytest.fixture(params=PACKAGES)
def both(request):
    """A package, and the keyword that gives its bits."""
    return package(PACKAGES[request.param]), request.param


@pytest.mark.parametrize("clamp, symmetric", [(True, False), (True, True), (False, False)])
@pytest.mark.parametrize("wl, fl", FIXED)
def test_fixed_point(both, wl, fl, clamp, symmetric):
    theirs, like = both
    x = patterns(abs(wl), *(max(-149, min(end, 127)) for end in (-fl - 3, wl - fl + 1)))
    how = (wl, fl, clamp, symmetric)
    for rounding in ("nearest", "stochastic"):
        torch.manual_seed(wl)
        want = theirs.fixed_point_quantize(x, *how, rounding)
        torch.manual_seed(wl)
        got = ours.quant.fixed_point_quantize(x, *how, rounding, like=like)
        assert_same(x, got, want, rounding)


@pytest.mark.parametrize("exp, man", FLOATS)
def test_floats(both, exp, man):
    theirs, like = both
    reach = 1 << exp - 1
    x = patterns(exp, max(-149, -reach - man - 2), min(127, reach + 2))
    want = theirs.float_quantize(x, exp, man, "nearest")
    assert_same(x, ours.quant.float_quantize(x, exp, man, "nearest", like=like), want)


@pytest.mark.parametrize("dim", [-1, 0, 1, 2])
@pytest.mark.parametrize("wl", LENGTHS)
def test_blocks(both, wl, dim):
    theirs, like = both
    words = patterns(wl)[:20_000]
    numbers = patterns(wl, -6, 3)[20_000:]
    if dim == -1 and not LONG:
        words, numbers = words[:2_000], numbers[-2_000:]
    for x in cut(words, dim) + cut(numbers[: len(numbers) // 200 * 200], dim):
        want = theirs.block_quantize(x, wl, dim, "nearest")
        assert_same(x, ours.quant.block_quantize(x, wl, dim, "nearest", like=like), want)


def cut(x, dim):
    """Into tensors of one block or of many: what is no number spoils a block."""
    if dim == -1:
        return list(x.reshape(-1, 50))
    shape = {0: (-1, 4, 5), 1: (5, -1, 8), 2: (4, 5, -1)}[dim]
    return [x[: len(x) // 200 * 200].reshape(shape)]


@pytest.mark.parametrize("values", [[0.0, -0.0], [2.0**-149, 2.0**-140], [2.0**126, 1.0, -3.0]])
@pytest.mark.parametrize("wl", [2, 8, 22])
def test_blocks_at_the_ends(both, wl, values):
    theirs, like = both
    x = torch.tensor(values)
    want = theirs.block_quantize(x, wl, rounding="nearest")
    assert_same(x, ours.quant.block_quantize(x, wl, rounding="nearest", like=like), want)
    one = torch.tensor([[3.0], [-5.0]])
    for dim in (0, 1):
        want = theirs.block_quantize(one, wl, dim, "nearest")
        assert_same(one, ours.quant.block_quantize(one, wl, dim, "nearest", like=like), want)


@pytest.mark.parametrize("nsize, es", POSITS)
def test_posits(nsize, es):
    theirs = package("qtorch_plus")
    reach = (1 << es) * (nsize - 2) + 2
    x = patterns(nsize, max(-126, -reach), min(127, reach))
    for scale, rounding in itertools.product(SCALES, ["nearest", "stochastic"]):
        want = theirs.posit_quantize(x, nsize, es, scale, rounding)
        got = ours.quant.posit_quantize(x, nsize, es, scale, rounding, like="fork")
        assert_same(x, got, want, (scale, rounding))


@pytest.mark.parametrize("nsize", [8, 16])
@pytest.mark.parametrize("name", ["posit_sigmoid", "posit_tanh", "posit_tanh_enhanced"])
def test_sigmoid_and_tanh(name, nsize):
    theirs = package("qtorch_plus", "quant.quant_function")
    x = patterns(nsize, -17, 17)
    want = getattr(theirs, name)(x, nsize, 2, 3.0)  # es and scale are not looked at
    assert_same(x, getattr(ours.quant, name)(x, nsize, 2, 3.0, like="fork"), want)


def tables():
    drawn = torch.rand(40, generator=torch.Generator().manual_seed(3)) * 8
    return {
        "three": torch.tensor([0.0, 1.0, 2.0]),
        "not in order": torch.tensor([4.0, 0.5, 0.25, 2.0, 0.5]),
        "signs": torch.tensor([-1.0, -0.25, 0.5, 1.0]),
        "wide": 2.0 ** torch.arange(-60, 60, 7).float(),
        "drawn": drawn,
        "ascending": drawn.sort()[0],
    }


TABLES = ["three", "not in order", "signs", "wide", "drawn", "ascending"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", TABLES)
def test_tables(name, scale):
    theirs = package("qtorch_plus", "quant.quant_function")
    table = tables()[name]
    x = patterns(len(table), -12, 20)
    want = theirs.configurable_table_quantize(x, table, scale)
    got = ours.quant.configurable_table_quantize(x, table, scale, like="fork")
    assert_same(x, got, want)
    hints = table.roll(1) / 2
    want = theirs.configurable_table_quantize_rounding_hint(x, table, hints, scale)
    hinted = ours.quant.configurable_table_quantize_rounding_hint
    assert_same(x, hinted(x, table, hints, scale, like="fork"), want)


@pytest.mark.parametrize("name", ["three", "wide", "ascending"])
def test_geometric_means(name):
    theirs = package("qtorch_plus", "quant.quant_function")
    table = tables()[name]
    x = torch.cat([patterns(5, -12, 20), means_of(table)])
    want = theirs.configurable_table_quantize_geomean(x, table, 3.0)
    got = ours.quant.configurable_table_quantize_geomean(x, table, 3.0, like="fork")
    assert_same(x, got, want)


def means_of(table):
    """The thresholds themselves, scaled back, and what lies beside them."""
    near = (table[1:].double() * table[:-1].double()).sqrt().float() / 3
    return torch.cat([near, torch.nextafter(near, torch.tensor(0.0)), near * (1 + 2.0**-23)])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["act_format_quantize", "new_format_quantize"])
def test_the_forks_own_tables(name, scale):
    theirs = package("qtorch_plus", "quant.quant_function")
    x = patterns(1, -20, 20)
    want = getattr(theirs, name)(x, scale)
    assert_same(x, getattr(ours.quant, name)(x, scale, like="fork"), want)


# --- Random bits that the packages draw for themselves --------------------------------------------


@pytest.mark.parametrize("kind", ["float", "block"])
def test_stochastic_results_are_the_two_neighbours_as_often(both, kind):
    """They draw from a generator of their own, whose seed nobody has."""
    theirs, like = both
    x = torch.linspace(0.9, 1.9, 50).repeat(4000, 1) * torch.tensor([1.0, -0.01] * 25)
    x[:, -1] = 1.9
    if kind == "float":
        take = lambda q, **how: q.float_quantize(x, 5, 2, "stochastic", **how)  # noqa: E731
    else:
        take = lambda q, **how: q.block_quantize(x, 4, 0, "stochastic", **how)  # noqa: E731
    want, got = take(theirs), take(ours.quant, like=like)
    for column, other in zip(got.T, want.T, strict=True):
        assert set(column.tolist()) == set(other.tolist())
    step = (want.amax(0) - want.amin(0)).clamp(min=1e-9)
    assert ((got.mean(0) - want.mean(0)).abs() / step).max() < 0.06  # 5 deviations of a half


# --- Gradients ------------------------------------------------------------------------------------


def numbers(q):
    return {
        "fixed": q.FixedPoint(8, 4),
        "symmetric": q.FixedPoint(8, 6, True, True),
        "float": q.FloatingPoint(5, 2),
        "block": q.BlockFloatingPoint(8, 0),
        "none": None,
    }


def gradient(quantizer, x, g):
    y = quantizer(x)
    y.backward(g)
    return y.detach(), x.grad


@pytest.mark.parametrize("hooks", [False, True])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("back", ["none", "fixed", "float", "block"])
@pytest.mark.parametrize("forth", ["none", "fixed", "symmetric", "float", "block"])
def test_quantizer_forward_and_backward(both, forth, back, mask, hooks):
    theirs, like = both
    kinds = package(PACKAGES[like], "number")
    if mask and forth in ("float", "block"):
        with pytest.raises(ValueError, match="clamping_grad_zero is for fixed point"):
            ours.quant.quantizer(numbers(ours)[forth], clamping_grad_zero=True)
        with pytest.raises(ValueError, match="only support fixed point"):
            theirs.quantizer(numbers(kinds)[forth], clamping_grad_zero=True)
        return
    x, g = patterns(7, -5, 5)[20_000:40_000].reshape(400, 50), patterns(8, -8, 8)[20_000:40_000]
    how = {"clamping_grad_zero": mask, "backward_hooks": [lambda g: g * 0.75] if hooks else []}
    got, want = (
        gradient(
            q.quantizer(numbers(m)[forth], numbers(m)[back], "nearest", "nearest", **how, **name),
            x.clone().requires_grad_(),
            g.reshape(400, 50),
        )
        for q, m, name in [(ours.quant, ours, {"like": like}), (theirs, kinds, {})]
    )
    assert_same(x, got[0], want[0], "values")
    assert_same(g, got[1].reshape(-1), want[1].reshape(-1), "gradients")


OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-3},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.01},
    "amsgrad": {"lr": 0.01, "amsgrad": True},
}


@pytest.mark.parametrize("accumulated", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_an_optimizer(both, name, accumulated):
    theirs, like = both
    kinds = package(PACKAGES[like], "number")
    OptimLP = package(PACKAGES[like], "optim").OptimLP
    inner = torch.optim.Adam if name in ("Adam", "amsgrad") else torch.optim.SGD
    start, weights = patterns(11, -5, 2)[20_000:20_400], []
    for q, m, own in ((theirs, kinds, OptimLP), (ours.quant, ours, ours.optim.OptimLP)):
        p = torch.nn.Parameter(start.clone())
        formats = {"weight": (5, 2), "grad": (5, 3), "momentum": (6, 4), "acc": (6, 9)}
        how = {
            f"{of}_quant": q.quantizer(m.FloatingPoint(*bits), forward_rounding="nearest")
            for of, bits in formats.items()
            if of != "acc" or accumulated
        }
        with ww.like(like):
            low = own(inner([p], **OPTIMIZERS[name]), grad_scaling=0.5, **how)
            for i in range(4):
                p.grad = patterns(20 + i, -6, 3)[20_000:20_400].clone()
                low.step()
        weights.append(p.detach())
    assert_same(start, *reversed(weights), "weights")


def test_the_choice_is_stored_with_the_values():
    x = torch.tensor([1.0], requires_grad=True)
    q = ours.quant.quantizer(None, ours.FloatingPoint(5, 2), backward_rounding="nearest")
    with ww.like("qtorch"):
        y = q(x)
    y.backward(torch.tensor([1.125]))
    assert x.grad.item() == 1.25  # a tie, which goes away from zero there
    x.grad = None
    y = q(x)
    with ww.like("qtorch"):
        y.backward(torch.tensor([1.125]))
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("name", ["PositTanhModule", "PositTanhModuleEnhanced", "RefTanhModule"])
def test_tanh_modules(name):
    theirs = getattr(package("qtorch_plus", "posit_activation"), name)()
    own = getattr(ours, name)
    x, g = patterns(3, -5, 5), patterns(4, -5, 5)
    want = gradient(theirs, x.clone().requires_grad_(), g)
    with ww.like("fork"):
        got = gradient(own(), x.clone().requires_grad_(), g)
    for a, b in zip(got, want, strict=True):
        assert_same(x, a, b)
