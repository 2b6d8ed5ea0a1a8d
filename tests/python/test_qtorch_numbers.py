"""widthwise.compat.qtorch's numbers as formats of this library, and the layers that are rounded."""

import copy
import math
import re
import sys
from fractions import Fraction

import pytest
import widthwise as ww
from qtorch_here import NEEDED, ours, patterns, torch

if torch is not None:
    import widthwise.torch as wt
    from torch import nn
    from widthwise.torch._convert import OURS

pytestmark = NEEDED

# --- Layers ---------------------------------------------------------------------------------------

KINDS = {"Linear": "linear", "Conv1d": "conv", "Conv2d": "conv", "Conv3d": "conv"}


def test_every_layer_that_converts_has_a_kind_or_is_none_of_qpytorchs():
    assert {kind.__name__ for kind in OURS} - set(KINDS) == {"MultiheadAttention"}


@pytest.mark.parametrize("name, layer_type", KINDS.items())
def test_converted_layers_are_rounded_as_torchs_own_are(name, layer_type):
    sizes = (4, 3) if name == "Linear" else (4, 3, 2)
    axes = int(name[-2]) if name[-2].isdigit() else 0
    x = torch.randn(2, 4, *(5,) * axes)
    plain = nn.Sequential(getattr(nn, name)(*sizes))
    low = wt.convert(copy.deepcopy(plain), {"*": {"unit": "fma.f32"}})
    assert type(low[0]) is not type(plain[0])
    number, how = ours.FixedPoint(8, 2), {"forward_rounding": "nearest"}
    wanted = ours.quant.fixed_point_quantize(low(x), number, rounding="nearest")
    again = ours.auto_low.sequential_lower(low, [layer_type], number, **how)
    assert torch.equal(again(x), wanted) and not torch.equal(low(x), wanted)
    ours.auto_low.lower(low, [layer_type], number, **how)
    assert torch.equal(low(x), wanted)


# --- Numbers as formats ---------------------------------------------------------------------------


def nearest(x, number):
    return ours.quant.quantizer(number, forward_rounding="nearest")(x)


@pytest.mark.parametrize("make", [
    lambda q: q.FixedPoint(8, 4), lambda q: q.FixedPoint(8, -3, symmetric=True),
    lambda q: q.FloatingPoint(5, 2), lambda q: q.FloatingPoint(4, 3), lambda q: q.Posit(8, 1),
    lambda q: q.Positbf(6, 2),
])  # fmt: skip
def test_a_numbers_format_has_the_numbers_that_it_rounds_to(make):
    number, x = make(ours), torch.cat([torch.randn(500) * 20, torch.tensor([0.0, 1e9, -1e9])])
    wanted = wt.quantize(x, number.format, "rne")
    assert torch.equal(nearest(x, number), wanted)


@pytest.mark.parametrize("dim", [-1, 0])
def test_a_blocks_format_shares_the_exponent_that_the_number_shares(dim):
    x = torch.randn(3, 20) * torch.tensor([[1.0], [1000.0], [0.001]])
    number = ours.BlockFloatingPoint(6, dim)
    assert number.format == ("bfp(6,all,e8)" if dim == -1 else "bfp(6,0,e8)")
    assert ww.BlockFormat(number.format)
    wanted = wt.quantize(x, number.format, "rnp")
    assert torch.equal(nearest(x, number), wanted)


@pytest.mark.parametrize("make, message", [
    (lambda q: q.FixedPoint(8, 4, clamp=False), "has clamp=False, and formats have a range"),
    (lambda q: q.FixedPoint(-1, -1), "leaves numbers as they are, which is no format"),
    (lambda q: q.BlockFloatingPoint(-1), "leaves numbers as they are, which is no format"),
])  # fmt: skip
def test_numbers_that_no_format_is_have_none(make, message):
    with pytest.raises(ValueError, match=message):
        _ = make(ours).format


def test_numbers_without_a_text_of_their_own_print_their_names():
    assert str(ours.Number()) == repr(ours.Number()) == "Number ()"
    assert str(type("Mine", (ours.Number,), {})()) == "Mine ()"


def by_hand(x, exp, man, subnormals, saturate):
    """To nearest even in fractions: in steps of a binade, of which the lowest has one step without
    subnormals, from zero to the code above it."""
    bias = 2 ** (exp - 1) - 1
    top = 2**exp - 1 - bias - (not saturate)
    size, lowest = abs(Fraction(x)), 1 - bias - (not subnormals)
    step = Fraction(2) ** (max(math.frexp(x)[1] - 1, lowest) - man)
    near = round(size / step) * step
    least = step + Fraction(2) ** lowest if man else Fraction(2) ** (1 - bias)
    if not subnormals and size < least:
        near = least if size > least / 2 else 0
    most = (2 - Fraction(1, 2**man)) * Fraction(2) ** top
    if near > most:
        near = most if saturate else math.inf
    return math.copysign(float(near), x)


@pytest.mark.parametrize("exp, man", [(5, 2), (4, 3), (3, 2), (2, 1), (6, 9), (5, 0), (2, 0)])
@pytest.mark.parametrize("subnormals", [True, False])
@pytest.mark.parametrize("saturate", [True, False])
def test_floats_with_and_without_subnormals_and_infinities(exp, man, subnormals, saturate):
    reach = 1 << exp - 1
    x = patterns(man, -reach - man - 2, reach + 2, 300)
    x = x[x.isfinite()]
    how = {"subnormals": subnormals, "saturate": saturate}
    got = ours.quant.float_quantize(x, exp, man, "nearest", **how)
    for a, y in zip(x.tolist(), got.tolist(), strict=True):
        wanted = by_hand(a, exp, man, subnormals, saturate)
        assert y == wanted and math.copysign(1, y) == math.copysign(1, a), (a, y, wanted)
    number = ours.FloatingPoint(exp, man, **how)
    assert torch.equal(nearest(x, number), got)
    ends = nearest(torch.tensor([math.inf, -math.inf, math.nan]), number)
    assert ends[2].isnan() and bool(ends[:2].isinf().all()) is not saturate


def test_infinity_may_not_have_the_only_code_above_zero():
    assert nearest(torch.tensor([0.5, 9.0]), ours.FloatingPoint(1, 0)).tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="exp = 1, man = 0, saturate = False: infinity takes the"):
        ours.FloatingPoint(1, 0, saturate=False)


@pytest.mark.parametrize("unusual", ["", ", subnormals=False", ", saturate=False",
                                     ", subnormals=False, saturate=False"])  # fmt: skip
def test_a_float_prints_what_is_not_as_usual_and_is_read_back(unusual):
    for text in (f"FloatingPoint(5, 2{unusual})", f"FloatingPoint(4, 0{unusual})"):
        number = eval(text, vars(ours))
        assert repr(number) == text and eval(repr(number), vars(ours)).format == number.format
    assert str(number) == f"FloatingPoint (exponent=4, mantissa=0{unusual})"


def test_infinities_of_formats_past_the_dtype_stay():
    number = ours.FloatingPoint(8, 2, saturate=False)
    x = torch.tensor([math.inf, -math.inf, 65504.0, 1.0]).half()
    assert nearest(x, number).tolist() == [math.inf, -math.inf, 57344.0, 1.0]


def test_packages_have_no_such_floats():
    for how in ({"subnormals": False}, {"saturate": False}):
        with pytest.raises(ValueError, match="subnormals and saturate stay True there"):
            ours.quant.float_quantize(torch.ones(1), 5, 2, "nearest", like="qtorch", **how)
    with pytest.raises(TypeError, match="saturate = 1: it is True or False"):
        ours.FloatingPoint(5, 2, saturate=1)


# --- Far off and 0-dim ----------------------------------------------------------------------------


@pytest.mark.parametrize("fl", [-2000, -1100, -300, -126, -121, 149, 300, 1100, 2000])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_fixed_point_far_off_is_the_nearest_number_that_the_dtype_holds(fl, dtype):
    kind = getattr(torch, dtype)
    x = torch.tensor([0.3, -1.5, 0.0, -0.0, 1e300, -1e300, 2.0**120, 2.0**-148, math.inf])
    x = torch.cat([x.to(kind), torch.tensor([torch.finfo(kind).max], dtype=kind)])
    number = ours.FixedPoint(8, fl)
    clamped = nearest(x, number)
    masked = ours.quant.quantizer(number, forward_rounding="nearest", clamping_grad_zero=True)(x)
    assert torch.equal(masked, clamped)
    free = nearest(x, ours.FixedPoint(8, fl, clamp=False))
    f, most = ww.Format(f"fixed4096.{fl}"), Fraction(torch.finfo(kind).max)
    most -= most % Fraction(2) ** -fl  # the largest of its numbers that the dtype holds
    for a, b in zip(x.tolist(), free.tolist(), strict=True):
        if math.isinf(a):
            assert a == b
            continue
        exact = ww.array(a, f).to_fractions().item()
        assert b == min(max(exact, -most), most) or abs(exact) < torch.finfo(kind).tiny
    assert not free[3].signbit()  # fixed point has one zero


def functions():
    q = ours.quant
    return [
        lambda x: q.float_quantize(x, 5, 2, "nearest"),
        lambda x: q.fixed_point_quantize(x, 8, 4, rounding="nearest"),
        lambda x: q.fixed_point_quantize(x, 8, 4, False, rounding="nearest"),
        lambda x: q.fixed_point_quantize(x, 8, 4, rounding="nearest", like="qtorch"),
        lambda x: q.block_quantize(x, 8, rounding="nearest"),
        lambda x: q.block_quantize(x, 8, rounding="nearest", like="fork"),
        lambda x: q.posit_quantize(x, 8, 1, 3.0),
        lambda x: q.bfloat16_posit8_quantize(x, 8, 1),
        lambda x: q.convert_to_posit(x, 8, 1).int(),
        lambda x: q.convert_to_posit(x, ours.Posit(8, 1), like="fork").int(),
        lambda x: q.posit_sigmoid(x, 8),
        lambda x: q.posit_tanh_enhanced(x, 16, like="fork"),
        lambda x: q.act_format_quantize(x),
        lambda x: q.act_format_quantize(x, rounding="floor"),
        lambda x: q.configurable_table_quantize_geomean(x, [0.25, 1.0]),
    ]


@pytest.mark.parametrize("place", range(15))
def test_one_number_is_rounded_as_one_of_many(place):
    call = functions()[place]
    for value in (0.3, -2.0):
        one, many = call(torch.tensor(value)), call(torch.tensor([value]))
        assert one.shape == () and torch.equal(one, many[0])


def test_lists_are_tables_as_tensors_are():
    x, table, hints = torch.randn(200), [0.25, 1.0, 2.0], [0.2, 0.5, 1.5]
    as_tensors = torch.tensor(table), torch.tensor(hints)
    for like in (None, "fork"):
        hinted = ours.quant.configurable_table_quantize_rounding_hint
        wanted = hinted(x, *as_tensors, like=like)
        assert torch.equal(hinted(x, table, hints, like=like), wanted)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300, math.inf, math.nan])
def test_a_scale_that_nothing_comes_back_from_is_refused(scale):
    x, table = torch.tensor([0.3, 2.0]), [0.25, 1.0]
    calls = [
        lambda: ours.quant.act_format_quantize(x, scale),
        lambda: ours.quant.configurable_table_quantize_geomean(x, table, scale),
        lambda: ours.quant.configurable_table_quantize_rounding_hint(x, table, table, scale),
        lambda: ours.quant.posit_quantize(x, 8, 1, scale),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=re.escape(f"scale = {scale}")):
            call()
    if 0 < scale < math.inf:
        wide = ours.quant.posit_quantize(x.double(), 8, 1, scale)
        assert wide.isfinite().all()


# --- The fork's own -------------------------------------------------------------------------------


def test_the_forks_bfloat16_functions_are_the_oracles():
    """They are in the fork's repository alone: no package has them."""
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
    import qtorch_ref as page

    words = torch.arange(0, 2**16, 29, dtype=torch.int32).to(torch.int16)
    x = words.view(torch.bfloat16)
    for n, es, scale in [
        (8, 0, 1.0),
        (8, 1, 1.0),
        (8, 3, 1.0),
        (7, 1, 1.0),
        (5, 2, 32.0),
        (8, 2, 0.3),
    ]:
        got = ours.quant.bfloat16_posit8_quantize(x, n, es, scale, like="fork").tolist()
        want = [page.fork_positbf(v, n, es, scale) for v in x.float().tolist()]
        wrong = [(v, a, b) for v, a, b in zip(x.tolist(), got, want, strict=True) if a != b]
        assert not wrong, (n, es, scale, len(wrong), wrong[0])
    assert page.fork_codes(0.3, 8, 2, 2.0) == 0x3200
    for like, code in (("fork", 0x3200), (None, 0x3A00)):
        (got,) = ours.quant.convert_to_posit(torch.tensor([0.3]), 8, 2, 2.0, like=like).tolist()
        assert got == code, hex(got)


@pytest.mark.parametrize("also", [{"es": 2}, {"scale": 2.0}])
def test_a_posit_has_its_own_es_and_scale(also):
    q, x = ours.quant, torch.tensor([0.3])
    assert torch.equal(q.posit_quantize(x, ours.Posit(8, 1)), q.posit_quantize(x, 8, 1))
    with pytest.raises(TypeError, match="has its own es and scale"):
        q.posit_quantize(x, ours.Posit(8, 1), **also)


@pytest.mark.parametrize("name, number, beside, words", [
    ("fixed_point_quantize", lambda q: q.FixedPoint(8, 4), {"fl": 2},
     r"wl = FixedPoint \(wl=8, fl=4\) has its own fl and clamp and symmetric \(fl = 4, "
     r"clamp = True, symmetric = False\), and beside it there is fl = 2; leave that "
     "out, or give wl in bits"),
    ("fixed_point_quantize", lambda q: q.FixedPoint(8, 4), {"clamp": False}, "is clamp = False;"),
    ("fixed_point_quantize", lambda q: q.FixedPoint(8, 4, False), {"clamp": True}, "clamp = True;"),
    ("fixed_point_quantize", lambda q: q.FixedPoint(8, 4), {"symmetric": True, "fl": 4},
     "there is fl = 4, symmetric = True;"),
    ("block_quantize", lambda q: q.BlockFloatingPoint(8), {"dim": 0}, "there is dim = 0;"),
    ("block_quantize", lambda q: q.BlockFloatingPoint(8, 0), {"dim": -1}, "dim = 0.* dim = -1;"),
    ("float_quantize", lambda q: q.FloatingPoint(5, 2), {"man": 10}, "man = 2.* man = 10;"),
    ("float_quantize", lambda q: q.FloatingPoint(5, 2), {"saturate": False}, "saturate = False;"),
    ("float_quantize", lambda q: q.FloatingPoint(5, 2), {"subnormals": False}, "s = False;"),
    ("posit_quantize", lambda q: q.Posit(8, 1, 2.0), {"scale": 1.0}, "scale = 2.0.* scale = 1.0;"),
    ("bfloat16_posit8_quantize", lambda q: q.Posit(8, 1), {"es": 1}, "there is es = 1;"),
    ("convert_to_posit", lambda q: q.Posit(8, 1), {"scale": 2.0}, "there is scale = 2.0;"),
])  # fmt: skip
def test_what_is_set_beside_a_number_is_refused(name, number, beside, words):
    function, x = getattr(ours.quant, name), torch.tensor([0.3])
    assert function(x, number(ours)).shape == x.shape
    with pytest.raises(TypeError, match=words):
        function(x, number(ours), **beside)
