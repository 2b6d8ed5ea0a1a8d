"""Tensors on a GPU, with a driver and a GPU that are this CPU."""

import numpy as np
import pytest
from pretended_gpu import check_there
from torch_here import NEEDED, torch, wt

pytestmark = NEEDED


@pytest.fixture
def meta_is_a_gpu(monkeypatch):
    for module in ("_gpu", "_memory", "_op"):
        monkeypatch.setattr(f"widthwise.torch.{module}.lies_there", lambda x: x.is_meta)


@pytest.mark.usefixtures("meta_is_a_gpu")
def test_operands_on_two_devices_are_refused_whichever_comes_first():
    here, there = torch.ones(2, 2), torch.ones(2, 2, device="meta")
    message = "{} lies on {} and {} on {}; one device is wanted: {}"
    for a, b in ((here, there), (there, here)):
        told = message.format("a", a.device, "b", b.device, f"b.to('{a.device}')")
        with pytest.raises(ValueError) as error:
            wt.matmul(a, b, unit="mac(e5m10)")
        assert told in str(error.value)
    with pytest.raises(ValueError, match="a lies on cpu and c on meta"):
        wt.matmul(here, here, c=there, unit="mac(e5m10)")


def test_a_gpu_that_cannot_be_used_is_named_with_the_way_out():
    from widthwise.torch._gpu import gpu_of

    with pytest.raises(ValueError, match=r"a tensor lies on meta, and device = .*\.cpu\(\)"):
        gpu_of(torch.ones(3, device="meta"))


@pytest.mark.usefixtures("meta_is_a_gpu")
def test_a_seed_may_lie_anywhere():
    seed = torch.ones((), dtype=torch.int64)
    x, at = torch.ones(3), seed.to("meta")
    with pytest.raises(RuntimeError, match="meta"):  # only as it is read: meta has no numbers
        wt.quantize(x, "e4m3fn", "sr8", seed=at)


@pytest.mark.usefixtures("meta_is_a_gpu")
def test_captured_graphs_are_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(RuntimeError, match="graph is being captured.* call it before or after"):
        wt.quantize(torch.ones(3, device="meta"), "e4m3fn")
    tags = torch.ops.widthwise.quantize.default.tags
    assert torch.Tag.cudagraph_unsafe in tags or not hasattr(torch.Tag, "cudagraph_unsafe")


@pytest.mark.usefixtures("meta_is_a_gpu")
def test_a_divisor_lies_with_what_it_divides(monkeypatch):
    """By a scalar that lies here torch multiplies on a GPU, with the reciprocal."""
    from widthwise.torch._memory import here

    seen = []
    monkeypatch.setattr(torch, "divide", lambda *given: seen.extend(x.device.type for x in given))
    here(np.divide, torch.ones(3, device="meta"), torch.tensor(0.7))
    assert seen == ["meta", "meta"]


def test_tensors_on_a_gpu_that_is_this_cpu():
    check_there(*(f"torch_device_{of}checks.py" for of in ("", "model_", "place_")))
