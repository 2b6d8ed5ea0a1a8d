"""widthwise.onnx: what PyTorch's models become, and that the bits stay.

Each export takes torch more than a second: --long takes most of them.
"""

import warnings

import numpy as np
import pytest
import widthwise as ww
from onnx_here import (
    LONG,
    NEEDED,
    SIX,
    check_bits,
    differ,
    in_onnxruntime,
    onnx,
    values,
    wanted,
    wo,
)  # fmt: skip
from torch_here import NEEDED as TORCH_NEEDED
from torch_here import drawn, torch, wt

if torch is not None:
    from torch import nn

pytestmark = [NEEDED, TORCH_NEEDED]


@pytest.fixture(autouse=True, scope="module")
def exporter():
    pytest.importorskip("onnxscript", reason="onnxscript is not installed: pip install onnxscript")


def exported(model, *shape, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wo.export_to_onnx(model.eval(), (drawn(2, *shape),), **how)


def check_same(model, x, **how):
    """Of models whose sums are exact: torch's bits everywhere."""
    made = exported(model, *x.shape[1:], dynamic_shapes=({0: "batch"},), **how)
    with torch.no_grad():
        check_bits(made, x.numpy(), model(x).numpy())
    return made


class Both(nn.Module if torch else object):
    """Calls and a module, one format after the other."""

    def __init__(self, *formats, **how):
        super().__init__()
        self.formats, self.how = formats, how
        self.last = wt.Quantizer(formats[-1])

    def forward(self, x):
        for f in self.formats[:-1]:
            x = wt.quantize(x, f, **self.how)
        return self.last(x)


@pytest.mark.parametrize("text", SIX)
def test_six_formats_have_torchs_bits(text):
    """Beside the other runtimes' in test_onnx.py."""
    f = ww.Format(text)
    x = values(1 << 21 if LONG else 1 << 14, f)
    x = x if f.has_nan else x[~np.isnan(x)]
    x = x[np.isfinite(x)] if "zero" in text else x  # which torch's values may not have
    assert not differ(wt.quantize(torch.from_numpy(x), text).numpy(), wanted(x, f)).size


def test_what_wants_torch_is_listed_beside_the_rest():
    assert "export_to_onnx" in dir(wo) and set(dir(wo)) == set(wo.__all__)


def test_calls_and_modules_become_nodes():
    x = torch.cat([drawn(40, 64) * 2.0**k for k in range(-6, 9)] + [torch.zeros(1, 64) * -1])
    made = check_same(Both("e5m10", "fixed12.5", "e4m8;bias=12", "posit16", "e4m3fn"), x)
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("Quantize") == 3 and "QuantizeTable17" in kinds
    assert kinds[-2:] == ["QuantizeLinear", "DequantizeLinear"]


@pytest.mark.long
def test_scales_that_a_run_finds_and_other_roundings():
    x = torch.cat([drawn(40, 64) * 2.0**k for k in range(-6, 9)])
    check_same(Both("mxfp8_e4m3", "bfp(8,16,e8)", "nvfp4", "affine(int8,symmetric)"), x)
    check_same(Both("e5m10", "e5m6", rounding="rup"), x)


@pytest.mark.long
def test_half_precision_keeps_its_dtype():
    class Half(nn.Module):
        def forward(self, x):
            return wt.quantize(x.half(), "e4m3").float()

    made = check_same(Half(), drawn(50, 8))
    assert made.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT


def exact_net(**how):
    """Operands so short that binary32's sums are exact in every order."""
    torch.manual_seed(3)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(64, 8),
        nn.ReLU(), nn.Linear(8, 2),
    )  # fmt: skip
    return wt.convert(net, {"*": how})


UNITS = ["mac(fixed4.2, sum=fixed24.4)", "dot(e3m2fn, out=e8m13)", "dot(e2m1fn, out=binary32)"]


@pytest.mark.parametrize("unit", UNITS if LONG else UNITS[:1])
def test_layers_under_units_whose_sums_are_exact_have_torchs_bits(unit):
    made = check_same(exact_net(unit=unit), drawn(5, 1, 8, 8))
    assert {"Conv", "Gemm"} <= {node.op_type for node in made.graph.node}


@pytest.mark.long
def test_formats_of_layers_and_weights_as_codes():
    how = {"input": "e2m1fn", "weight": "int4", "output": "e5m6"}
    made = check_same(exact_net(**how), drawn(5, 1, 8, 8))
    found = wo.load(made)
    assert {str(x.format) for name, x in found.items() if "weight" in name} == {"int4"}
    made = exported(exact_net(weight="affine(int8,symmetric,channel)"), 1, 8, 8)
    net = exact_net()
    for name, parameter in net.named_parameters():
        if name.endswith("weight"):
            kept = ww.affine(parameter.detach().numpy(), "affine(int8,symmetric,channel)")
            again = wo.load(made)[name]
            assert (again.codes == kept.codes).all() and again.axis == kept.axis == 0, name


@pytest.mark.long
def test_units_that_scale_blocks_quantise_along_the_sum():
    torch.manual_seed(0)
    net = wt.convert(nn.Sequential(nn.Linear(64, 8, bias=False)), {"*": "blackwell.mxfp8"})
    made = exported(net, 64, dynamic_shapes=({0: "batch"},))
    (weight,) = wo.load(made).values()
    want = ww.blocks(net[0].weight.detach().numpy(), "mxfp8_e4m3")
    assert (weight.elements.bits == want.elements.bits).all()
    assert (weight.scales.bits == want.scales.bits).all()
    x = drawn(5, 64)
    got = in_onnxruntime(made, x.numpy())
    with torch.no_grad():
        assert np.allclose(got, net(x).numpy(), rtol=1e-3, atol=1e-4)


def test_digits_exported_run_and_compared():
    """A net of digits: the runtime's sums under the same roundings, and as many digits right."""
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    data = datasets.load_digits()
    x, y = torch.tensor(data.data / 16, dtype=torch.float32), torch.tensor(data.target)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    for i in range(0, 9000, 50):
        at = slice(i % 1500, i % 1500 + 50)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[at]), y[at]).backward()
        optimizer.step()
    net = wt.convert(net, {"*": "mac(e4m3fn, sum=e5m10)"})
    with pytest.warns(UserWarning, match=r"not by mac\(e4m3fn, sum=e5m10\).*ww.matmul"):
        made = wo.export_to_onnx(net, (x[:2],), dynamic_shapes=({0: "batch"},))
    got = in_onnxruntime(made, x.numpy())
    with torch.no_grad():
        want = net(x).numpy()
    assert np.isin(got, ww.array(got, "e5m10").to_float64()).all()  # results are the unit's format
    right, as_torch = ((z.argmax(1) == data.target).mean() for z in (got, want))
    assert abs(right - as_torch) < 0.02
    h = x
    for layer in (net[0], net[2]):  # the same roundings around sums that are almost exact
        operands = (wt.quantize(v.detach(), "e4m3fn") for v in (h, layer.weight, layer.bias))
        sums = nn.functional.linear(*(v.double() for v in operands))
        h = torch.relu(wt.quantize(sums.float(), "e5m10"))
    assert (np.maximum(got, 0) == h.numpy()).mean() > 0.98
    found = wo.load(made)
    for name, parameter in net.named_parameters():
        assert (found[name].bits == ww.array(parameter.detach().numpy(), "e4m3fn").bits).all()


@pytest.mark.long
def test_a_file_is_written(tmp_path):
    made = exported(Both("e5m6", "e4m3"), 4, file=tmp_path / "net.onnx", inline=True)
    assert onnx.load(tmp_path / "net.onnx") == made and not made.functions


REFUSED = [
    (("e5m6", "e4m3"), {"rounding": "sr8"}, "rounding = 'sr8': a graph has no random bits"),
    (("posit24", "e4m3"), {}, "has 24 bits: of posits"),
    (("block(e4m3fn,2x2,binary32)", "e4m3"), {}, " of .* graphs find scales by the rules"),
    (("affine(uint8)", "e4m3"), {}, "graphs find scales of symmetric codes"),
]


@pytest.mark.parametrize("formats, how, message", REFUSED if LONG else REFUSED[:2])
def test_what_no_graph_holds_is_refused(formats, how, message):
    with pytest.raises(ValueError, match=message):
        exported(Both(*formats, **how), 4)


def test_double_and_library_products_are_refused():
    class Double(nn.Module):
        def forward(self, x):
            return wt.quantize(x.double(), "e5m6")

    class Library(nn.Module):
        def forward(self, x):
            one, a = torch.tensor(1.0), x.to(torch.float8_e4m3fn)
            return wt.scaled_mm(a, a.t(), one, one, out_dtype=torch.float32)

    class Narrow(nn.Module):
        def __init__(self, format):
            super().__init__()
            self.format = format

        def forward(self, x):
            return wt.quantize(x.half(), self.format)

    for format, message in (("e6m9", "torch.float16 does not hold"), ("mxfp4", "may have no room")):
        with pytest.raises(ValueError, match=message):
            exported(Narrow(format), 4)
    with pytest.raises(ValueError, match="rounds a tensor of torch.float64, and graphs"):
        exported(Double(), 4)
    with pytest.raises(ValueError, match="calls widthwise.torch's scaled_mm, which no ONNX graph"):
        exported(Library(), 16)


@pytest.mark.long
def test_training_mode_is_left_as_it_was():
    net = nn.Sequential(nn.Dropout(0.5), wt.Quantizer("e5m6")).train()
    net[1].eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = wo.export_to_onnx(net, (drawn(2, 4),))
    assert [node.op_type for node in made.graph.node] == ["Quantize"]
    assert net.training and net[0].training and not net[1].training


@pytest.mark.long
def test_scales_that_calibration_kept():
    """Under a kept scale: the exact quotient of affine codes, binary32's steps of bare formats."""
    x = drawn(64, 8) * 3
    for format in ("affine(uint8)", "affine(int5,symmetric)", "e4m3fn", "fixed8.4"):
        model = nn.Sequential(wt.Quantizer(format))
        wt.calibrate(model, [x])
        made = check_same(model, x * 1.25)
        rows = wo.quantisers(made).records()
        assert [row["scale"] is not None for row in rows] == [True], format


@pytest.mark.long
def test_an_encoder_of_attention_and_norms():
    """Layers that PyTorch traces into many of its own, some of them under formats."""
    torch.manual_seed(0)
    encoder = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    wt.convert(encoder, {"linear?": {"input": "e4m3fn", "weight": "int8"}})
    x = drawn(3, 5, 16)
    made = exported(encoder, 5, 16, dynamic_shapes=({0: "batch"},))
    with torch.no_grad():
        want = encoder(x).numpy()
    assert np.abs(in_onnxruntime(made, x.numpy()) - want).max() < 0.05
    assert [str(x.format) for name, x in wo.load(made).items() if "linear" in name].count(
        "int8"
    ) == 2
