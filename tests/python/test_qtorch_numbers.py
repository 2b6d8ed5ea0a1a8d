"""widthwise.compat.qtorch's numbers as formats of this library, and the layers that are rounded."""

import copy

import pytest
from qtorch_here import NEEDED, ours, torch

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
