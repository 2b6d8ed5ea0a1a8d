"""widthwise.compat.qtorch by itself: correct values, and what scripts of QPyTorch's users do."""

import importlib
import math
from fractions import Fraction

import pytest
import widthwise as ww
from qtorch_here import NEEDED, assert_same, borders, ours, patterns, torch

pytestmark = NEEDED
FLOATS = [(5, 2), (4, 3), (2, 1), (5, 10), (8, 7), (8, 23), (1, 2), (5, 0)]


def even(x):
    """The nearest integer of a fraction, ties to even: Python's own."""
    return round(x)


def fixed(x, wl, fl, clamp=True, symmetric=False):
    n = even(Fraction(x) * Fraction(2) ** fl)
    high = 2 ** (wl - 1) - 1
    n = max(min(n, high), -high - (not symmetric)) if clamp else n
    return Fraction(n) / Fraction(2) ** fl


def floating(x, exp, man):
    """Ties to even, subnormals, no specials, the largest number at the end."""
    if x == 0:
        return Fraction(0)
    bias = 2 ** (exp - 1) - 1
    binade = max(math.frexp(x)[1] - 1, 1 - bias)
    step = Fraction(2) ** (binade - man)
    most = (2 - Fraction(1, 2**man)) * Fraction(2) ** min(2**exp - 1 - bias, 127)  # binary32's
    return max(min(even(Fraction(x) / step) * step, most), -most)


def block(xs, wl):
    amax = max(abs(x) for x in xs)
    if amax == 0:
        return [Fraction(0)] * len(xs)
    step = Fraction(2) ** (math.frexp(amax)[1] - 1 - wl + 2)
    most = 2 ** (wl - 1) - 1
    up = [math.floor(Fraction(x) / step + Fraction(1, 2)) for x in xs]
    return [max(min(n, most), -most) * step for n in up]


def finite(seed, least, most):
    x = patterns(seed, least, most, 300)
    x = torch.cat([x[:600], torch.from_numpy(borders(least, most)[::7].copy())])
    return x[x.isfinite()]


def assert_values(x, got, want):
    """Equal, or the nearest to zero that binary32 has where it does not hold them."""
    high = Fraction(torch.finfo(got.dtype).max)
    for a, y, z in zip(x.tolist(), got.tolist(), want, strict=True):
        z = max(min(z, high), -high)
        assert Fraction(y) == z, (a, y, float(z))


@pytest.mark.parametrize("how", [(8, 4), (8, 0), (8, -2), (16, 8), (2, 1), (4, 9)])
@pytest.mark.parametrize("clamp, symmetric", [(True, False), (True, True), (False, False)])
def test_fixed_point_is_the_nearest_number(how, clamp, symmetric):
    x = finite(how[0], -how[1] - 3, how[0] - how[1] + 2)
    got = ours.quant.fixed_point_quantize(x, *how, clamp, symmetric, rounding="nearest")
    assert_values(x, got, [fixed(v, *how, clamp, symmetric) for v in x.tolist()])


@pytest.mark.parametrize("exp, man", FLOATS)
def test_floats_are_the_nearest_number(exp, man):
    reach = 1 << exp - 1
    x = finite(exp, max(-149, -reach - man - 2), min(127, reach + 2))
    got = ours.quant.float_quantize(x, exp, man, "nearest")
    assert_values(x, got, [floating(v, exp, man) for v in x.tolist()])
    assert torch.equal(got.signbit(), x.signbit())  # of zeros, too


@pytest.mark.parametrize("wl", [2, 3, 8, 16, 23, 30])
@pytest.mark.parametrize("dim", [-1, 0, 1])
def test_blocks_are_the_nearest_number_of_their_exponent(wl, dim):
    for least, most in [(-6, 3), (-100, 60)]:
        x = finite(wl, least, most)
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(wl))
        x = x[order[:1000]].reshape(20, 50)
        x = x.where(x.abs() < 2.0**70, 1.0)
        got = ours.quant.block_quantize(x, wl, dim, "nearest")
        blocks = {-1: [x.flatten()], 0: list(x), 1: list(x.T)}[dim]
        found = {-1: [got.flatten()], 0: list(got), 1: list(got.T)}[dim]
        for given, y in zip(blocks, found, strict=True):
            assert_values(given, y, block(given.tolist(), wl))


def test_blocks_of_three_axes():
    x = torch.randn(3, 4, 5)
    for dim in range(3):
        rows = x.transpose(0, dim).reshape(x.shape[dim], -1)
        alone = [ours.quant.block_quantize(row, 6, rounding="nearest") for row in rows]
        got = ours.quant.block_quantize(x, 6, dim, "nearest")
        assert torch.equal(got.transpose(0, dim).reshape(x.shape[dim], -1), torch.stack(alone))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize(
    "call",
    [
        lambda q, x: q.float_quantize(x, 5, 2, "nearest"),
        lambda q, x: q.float_quantize(x, 5, 10, "nearest"),
        lambda q, x: q.fixed_point_quantize(x, 8, 4, rounding="nearest"),
        lambda q, x: q.fixed_point_quantize(x, 16, 4, clamp=False, rounding="nearest"),
        lambda q, x: q.block_quantize(x, 8, rounding="nearest"),
        lambda q, x: q.posit_quantize(x, 8, 1, 2.0),
        lambda q, x: q.act_format_quantize(x),
        lambda q, x: q.posit_tanh(x, 16),
    ],
)
def test_other_dtypes_have_the_same_numbers(dtype, call):
    x = torch.cat([torch.randn(500) * 3, torch.tensor([0.0, -0.0, 100.0, -1e4])])
    x = x.to(getattr(torch, dtype))
    got = call(ours.quant, x)
    assert got.dtype == x.dtype
    assert_same(x, got, call(ours.quant, x.float()).to(x.dtype))


def test_a_dtype_that_lacks_the_largest_number_has_the_largest_that_it_holds():
    huge = torch.tensor([1e30, -1e30])
    q, largest = ours.quant, 2.0**127 * (2 - 2.0**-7)
    assert q.fixed_point_quantize(huge, 32, 16, rounding="nearest").tolist() == [
        32767.998046875,
        -32768.0,
    ]
    assert q.float_quantize(huge.half(), 5, 10, "nearest").tolist() == [65504.0, -65504.0]
    assert q.float_quantize(huge * 3.4e8, 8, 7, "nearest").abs().tolist() == [largest] * 2
    assert q.fixed_point_quantize(huge.bfloat16(), 16, 0, rounding="nearest").tolist() == [
        32640.0,
        -32768.0,
    ]


def test_what_has_no_code():
    x = torch.tensor([math.nan, math.inf, -math.inf, 1.0])
    q, nearest = ours.quant, {"rounding": "nearest"}
    text = lambda y: str(y.tolist())  # noqa: E731
    assert text(q.float_quantize(x, 5, 2, **nearest)) == "[nan, 114688.0, -114688.0, 1.0]"
    assert text(q.fixed_point_quantize(x, 8, 4, **nearest)) == "[nan, 7.9375, -8.0, 1.0]"
    assert text(q.fixed_point_quantize(x, 8, 4, False, **nearest)) == "[nan, inf, -inf, 1.0]"
    assert text(q.block_quantize(x, 4, **nearest)) == "[nan, inf, -inf, 1.0]"
    assert text(q.posit_quantize(x, 8, 1)) == "[nan, nan, nan, 1.0]"
    assert text(q.posit_sigmoid(x, 8)) == "[nan, 0.99609375, 0.00390625, 0.75]"
    assert text(q.posit_tanh(x, 8)) == "[nan, 0.9921875, -0.9921875, 0.75]"
    table = torch.tensor([0.0, 1.0, 2.0])
    assert text(q.configurable_table_quantize(x, table)) == "[nan, 2.0, -2.0, 1.0]"
    assert text(q.configurable_table_quantize_geomean(x, table)) == "[nan, 2.0, -2.0, 1.0]"


@pytest.mark.parametrize("like", ["qtorch", "fork"])
def test_like_takes_what_the_packages_take(like):
    with pytest.raises(TypeError, match="for torch.float32 alone, as the package; x holds torch.f"):
        ours.quant.float_quantize(torch.ones(2).double(), 5, 2, like=like)
    with pytest.raises(ValueError, match="reproduces exp from 1 to 8; past that"):
        ours.quant.float_quantize(torch.ones(2), 9, 2, like=like)
    with pytest.raises(ValueError, match="rounding = 'floor': like"):
        ours.quant.float_quantize(torch.ones(2), 5, 2, "floor", like=like)


def test_qtorch_has_no_posits():
    with pytest.raises(ValueError, match="like = 'qtorch': it may be 'fork'"):
        ours.quant.posit_quantize(torch.ones(2), 8, 1, like="qtorch")
    with ww.like("qtorch"):
        assert ours.quant.posit_quantize(torch.tensor([math.inf]), 8, 1).isnan().all()


# --- Random bits ----------------------------------------------------------------------------------

DRAWS = [
    lambda x: ours.quant.float_quantize(x, 5, 2),
    lambda x: ours.quant.fixed_point_quantize(x, 8, 4),
    lambda x: ours.quant.fixed_point_quantize(x, 8, 4, clamp=False),
    lambda x: ours.quant.block_quantize(x, 6),
    lambda x: ours.quant.posit_quantize(x, 8, 1, rounding="stochastic"),
    lambda x: ours.quant.act_format_quantize(x, rounding="stochastic"),
    lambda x: ours.quant.float_quantize(x, 5, 2, like="qtorch"),
    lambda x: ours.quant.block_quantize(x, 6, like="fork"),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_stochastic_rounding_follows_torchs_seed(draw):
    x = torch.randn(1000)
    torch.manual_seed(5)
    first, other = draw(x), draw(x)
    torch.manual_seed(5)
    assert torch.equal(draw(x), first) and not torch.equal(first, other)


@pytest.mark.parametrize("draw", DRAWS)
def test_stochastic_rounding_is_right_on_average(draw):
    torch.manual_seed(1)
    x = torch.linspace(0.3, 1.6, 14).repeat(20_000, 1)
    y = draw(x)
    step = y.amax(0) - y.amin(0)
    assert ((y.mean(0) - x[0]).abs() <= 4 * step * 0.5 / math.sqrt(len(x)) + 1e-6).all()
    assert (step > 0).sum() >= 8


def test_backward_draws_bits_of_its_own_and_again_in_a_checkpoint():
    number = ours.FloatingPoint(5, 2)
    q = ours.quant.quantizer(number, number)
    x = torch.randn(500, requires_grad=True)
    torch.manual_seed(2)
    q(x).backward(x.detach())
    first, x.grad = x.grad, None
    torch.manual_seed(2)
    y = torch.utils.checkpoint.checkpoint(q, x, use_reentrant=False)
    y.backward(x.detach())
    assert torch.equal(first, x.grad) and not torch.equal(first, y)


def test_floor_is_a_third_rounding():
    x = torch.tensor([1.24, -1.1])
    assert ours.quant.fixed_point_quantize(x, 8, 2, rounding="floor").tolist() == [1.0, -1.25]
    assert ours.quant.float_quantize(x, 5, 2, "floor").tolist() == [1.0, -1.25]
    with pytest.raises(ValueError, match="rounding = 'up': it may be 'nearest', 'stochastic', 'fl"):
        ours.quant.float_quantize(x, 5, 2, "up")


# --- Gradients ------------------------------------------------------------------------------------


def test_hooks_and_the_mask_act_whatever_is_rounded():
    x = torch.tensor([0.3, 9.0, -9.0, math.nan], requires_grad=True)
    halve = [lambda g: g / 2]
    how = {"forward_rounding": "nearest", "backward_hooks": halve}
    for number, mask, want in [
        (ours.FixedPoint(8, 4), True, [0.5, 0.0, 0.0, 0.5]),
        (ours.FixedPoint(8, 4), False, [0.5] * 4),
        (None, False, [0.5] * 4),
    ]:
        q = ours.quant.quantizer(number, clamping_grad_zero=mask, **how)
        q(x).backward(torch.ones(4))
        assert x.grad.tolist() == want
        x.grad = None


def test_the_order_of_the_backward_pass_is_hooks_rounding_mask():
    seen = []
    hooks = [lambda g: g * 1.5, lambda g: seen.append(g.clone())]
    number = ours.FixedPoint(8, 2)
    q = ours.quant.quantizer(number, number, "nearest", "nearest", True, hooks)
    x = torch.tensor([1.0, 40.0], requires_grad=True)
    y = q(x)
    y.backward(torch.tensor([0.25, 0.25]))
    assert seen[0].tolist() == [0.375, 0.375]
    assert x.grad.tolist() == [0.5, 0.0]  # 0.375 is a tie of quarters, and goes to even


def test_vmap_jacobians_and_double_backward():
    number = ours.FloatingPoint(5, 2)
    q = ours.quant.quantizer(number, number, "nearest", "nearest")
    x = torch.randn(4, 6)
    assert torch.equal(torch.vmap(q)(x), q(x))
    each = torch.vmap(torch.func.grad(lambda v: q(v).square().sum()))(x)
    assert torch.equal(each, q(2 * q(x)))
    assert torch.equal(torch.func.jacrev(q)(x[0]), torch.eye(6))
    assert torch.equal(torch.func.jacfwd(q)(x[0]), torch.eye(6))
    x.requires_grad_()
    (g,) = torch.autograd.grad(q(x).pow(3).sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.isfinite().all() and (x.grad != 0).any()


def test_blocks_under_vmap_are_each_examples():
    q = ours.quant.quantizer(ours.BlockFloatingPoint(4), forward_rounding="nearest")
    x = torch.randn(3, 8) * torch.tensor([[1.0], [100.0], [0.01]])
    assert torch.equal(torch.vmap(q)(x), torch.stack([q(row) for row in x]))


@pytest.mark.parametrize("how", [
    {},
    {"clamping_grad_zero": True, "backward_hooks": [abs]},
    {"clamping_grad_zero": True, "like": "qtorch"},
])  # fmt: skip
def test_compiled_code_has_the_same_bits_forward_and_backward(how):
    number = ours.FixedPoint(8, 4)
    q = ours.quant.quantizer(number, number, "nearest", "nearest", **how)
    x = torch.randn(64) * 5
    (eager, grad), (compiled, other) = (
        run(f, x.clone().requires_grad_())
        for f in (q, torch.compile(q, fullgraph=True, backend="aot_eager"))
    )
    assert_same(x, compiled, eager)
    assert_same(x, other, grad)


def run(f, x):
    y = f(x)
    (y * 1.3).sum().backward()
    return y.detach(), x.grad


def test_compiled_code_does_not_miss_the_context_in_silence():
    q = ours.quant.quantizer(ours.FloatingPoint(5, 2), forward_rounding="nearest")
    compiled = torch.compile(q, fullgraph=True, backend="aot_eager")
    x = torch.tensor([1.125])
    assert compiled(x).item() == 1.0
    with ww.like("qtorch"), pytest.raises(RuntimeError, match="does not see ww.like"):
        compiled(x)
    own = ours.quant.quantizer(ours.FloatingPoint(5, 2), None, "nearest", like="qtorch")
    assert torch.compile(own, fullgraph=True, backend="aot_eager")(x).item() == 1.25


OPCHECKS = ["FixedPoint(8, 4, True, False)", "BlockFloatingPoint(8, 0)", "Posit(8, 1, 1.0)"]


@pytest.mark.parametrize("number", OPCHECKS)
@pytest.mark.parametrize("x", ["plain", "channels_last", "bfloat16"])
def test_opcheck(number, x):
    shapes = {
        "plain": lambda: torch.randn(3, 4),
        "channels_last": lambda: torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
        "bfloat16": lambda: torch.randn(3, 4).bfloat16(),
    }
    given = shapes[x]().requires_grad_()
    op = torch.ops.widthwise.qtorch_round.default
    how = (number, "nearest", "FloatingPoint(5, 2)", "nearest", None, None)
    torch.library.opcheck(op, (given, *how))
    squash = torch.ops.widthwise.qtorch_squash.default
    torch.library.opcheck(squash, (given, "tanh", 16, None))


# --- Numbers, names, arguments --------------------------------------------------------------------


def test_star_imports_bring_what_the_packages_bring_and_hide_nothing_of_torch():
    code = """
import torch.optim as optim
import torch.nn as nn
from widthwise.compat.qtorch import *
from widthwise.compat.qtorch.quant import *
from widthwise.compat.qtorch.optim import *
from widthwise.compat.qtorch.auto_low import *
from widthwise.compat.qtorch.quant.quant_function import *
assert optim.SGD and nn.Linear and FixedPoint and OptimLP and lower and posit_tanh and Quantizer
"""
    exec(code, {})


@pytest.mark.parametrize(
    "part",
    [
        "number",
        "quant",
        "quant.quant_function",
        "quant.quant_module",
        "optim",
        "auto_low",
        "posit_activation",
    ],
)
def test_every_module_is_there_under_its_name(part):
    module = importlib.import_module(f"widthwise.compat.qtorch.{part}")
    assert all(hasattr(module, name) for name in module.__all__)


def test_numbers_print_and_have_their_attributes():
    fixed, posit = ours.FixedPoint(8, 4, False, True), ours.Posit(8, 1, 2.0)
    assert (fixed.wl, fixed.fl, fixed.clamp, fixed.symmetric) == (8, 4, False, True)
    assert (posit.nsize, posit.es, posit.scale) == (8, 1, 2.0)
    assert str(fixed) == repr(fixed) == "FixedPoint (wl=8, fl=4)"
    assert str(ours.Posit(8, 1)) == "Posit (exponent=1, wordlength=8, scale=1.0)"
    assert str(ours.BlockFloatingPoint(8)) == "BlockFloatingPoint (wl=8, dim=-1)"
    assert [ours.FloatingPoint(4, 3).exp, ours.FloatingPoint(4, 3).man] == [4, 3]
    assert ww.Format(ours.FloatingPoint(4, 3).format).max_finite == 480


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: ours.FixedPoint(-1, 4), ValueError, "fixed point wl = -1 and fl = 4; full precis"),
        (lambda: ours.FixedPoint(0, 4), ValueError, "wl = 0: a word has at least one bit"),
        (lambda: ours.BlockFloatingPoint(0), ValueError, "wl = 0: a word has at least one bit"),
        (lambda: ours.BlockFloatingPoint(8, -2), ValueError, "dim = -2: it is at least -1"),
        (lambda: ours.FixedPoint(math.inf, 4), TypeError, "wl = inf: it is a number of bits"),
        (lambda: ours.Posit(8, None), TypeError, "es = None: it is a number of bits"),
        (lambda: ours.FixedPoint(8, 4, 1), TypeError, "clamp = 1: it is True or False"),
        (lambda: ours.FloatingPoint(0, 2), ValueError, "exp = 0: it is at least 1"),
        (lambda: ours.FloatingPoint(5.5, 2), TypeError, "exp = 5.5: it is a number of bits"),
        (lambda: ours.Posit(8, 1, 0.0), ValueError, "scale = 0.0: numbers are multiplied and div"),
        (lambda: ours.Positbf(16, 1), ValueError, "it has at most 8 bits; take Posit"),
        (
            lambda: ours.quant.quantizer("e5m2"),
            TypeError,
            "forward_number = 'e5m2' is no number of",
        ),
        (lambda: ours.quant.float_quantize([1.0], 5, 2), TypeError, "x is list, and a tensor is"),
        (lambda: ours.quant.float_quantize(torch.ones(1), 5), TypeError, "man is missing"),
        (
            lambda: ours.quant.float_quantize(torch.ones(1), ours.FixedPoint(8, 4)),
            TypeError,
            r"FixedPoint \(wl=8, fl=4\) is no FloatingPoint",
        ),
        (
            lambda: ours.quant.bfloat16_posit8_quantize(torch.ones(1), ours.Posit(16, 1)),
            ValueError,
            r"Positbf\(nsize=16\): it has at most 8 bits",
        ),
        (lambda: ours.quant.posit_tanh([1.0], 16), TypeError, "x is list, and a tensor is taken"),
        (
            lambda: ours.quant.act_format_quantize([1.0]),
            TypeError,
            "x is list, and a tensor is taken",
        ),
        (
            lambda: ours.quant.convert_to_posit([1.0], 8, 1),
            TypeError,
            "x is list, and a tensor is taken",
        ),
        (
            lambda: ours.quant.block_quantize(torch.tensor(1.0), 8, 0),
            IndexError,
            r"x has shape \(\), and no axis 0",
        ),
        (
            lambda: ours.quant.posit_sigmoid(torch.ones(1), 12),
            ValueError,
            "nsize = 12: the function",
        ),
        (lambda: ours.quant.posit_tanh(torch.ones(1), 8, 1), ValueError, r"\(1, 1.0, 'nearest'\)"),
        (lambda: ours.quant.convert_to_posit(torch.ones(1), 32, 2), ValueError, "at most 16"),
        (
            lambda: ours.quant.quantizer(ours.FixedPoint(8, 4, False), clamping_grad_zero=True),
            ValueError,
            "has clamp=False: nothing is clamped",
        ),
        (
            lambda: ours.quant.configurable_table_quantize(torch.ones(1), torch.ones(0)),
            ValueError,
            "table_lookup has 0 entries",
        ),
        (
            lambda: ours.quant.configurable_table_quantize(torch.ones(1), ["a"]),
            TypeError,
            "table_lookup is list; a tensor of numbers is taken",
        ),
        (
            lambda: ours.quant.configurable_table_quantize_rounding_hint(
                torch.ones(1), [1.0, 2.0], [0.5, math.nan]
            ),
            ValueError,
            "rounding_hint has nan among its entries",
        ),
        (
            lambda: ours.quant.configurable_table_quantize_geomean(torch.ones(1), [-1.0, 2.0]),
            ValueError,
            "table_lookup has neighbours of two signs",
        ),
        (
            lambda: ours.quant.configurable_table_quantize_rounding_hint(
                torch.ones(1), torch.ones(2), torch.ones(3)
            ),
            ValueError,
            "rounding_hint has 3 entries and table_lookup 2",
        ),
    ],
)
def test_wrong_arguments_are_named(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_full_precision_and_the_old_form():
    x, q = torch.randn(5), ours.quant
    for y in (q.fixed_point_quantize(x, -1, -1), q.block_quantize(x, -1)):
        assert torch.equal(x, y) and y.data_ptr() != x.data_ptr()
    number = ours.FixedPoint(8, 4)
    old = q.fixed_point_quantize(x, number, rounding="nearest")
    assert torch.equal(old, q.fixed_point_quantize(x, 8, 4, rounding="nearest"))
