"""widthwise.torch's quantised state dicts: the checkpoint command's codes and rules, and back."""

import io
import pickle

import numpy as np
import pytest
import widthwise as ww
from checkpoint_files import run
from torch_here import NEEDED, drawn, torch, wt

if torch is not None:
    from torch import nn

pytestmark = NEEDED

FORMATS = [
    ("nvfp4", None), ("mxfp8_e4m3", None), ("bfp(8,32,e8)", None), ("affine(uint8)", None),
    ("affine(int4,symmetric,channel)", None), ("affine(int8,symmetric,16)", None),
    ("e4m3fn", None), ("e4m3fn", "tensor"), ("e4m3fn", "channel"), ("e2m1fn", "channel"),
    ("int8", "tensor"), ("int4", "channel"), ("posit8es2", None), ("e5m10", None),
]  # fmt: skip


def net():
    torch.manual_seed(5)
    return nn.Sequential(
        nn.Conv2d(1, 4, 4), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(64, 16), nn.Linear(16, 2)
    )


@pytest.mark.parametrize("format, scale", FORMATS)
def test_codes_and_values_are_the_commands(format, scale, tmp_path, capsys):
    save = pytest.importorskip("safetensors.torch", reason="safetensors is not installed").save_file
    state = {name: x.contiguous() for name, x in net().state_dict().items()}
    save(state, tmp_path / "in.safetensors")
    files = [str(tmp_path / f"{name}.safetensors") for name in ("in", "out")]
    scales = [] if scale is None else ["--scale", scale]
    run(capsys, "quantize", *files, "--format", format, *scales)
    wanted = ww.load(files[1])
    made = wt.quantize_state_dict(state, format, scale)
    assert list(made) == list(state)
    for name, x in made.items():
        if not isinstance(x, wt.QTensor):
            assert torch.equal(x, state[name])
            continue
        ours, theirs = x.to_ww(), wanted[name]
        assert np.array_equal(ours.to_float64(), theirs.to_float64())
        back = wt.dequantize_state_dict(made)[name]
        assert torch.equal(back, torch.from_numpy(np.float32(theirs.to_float64())))
    untouched = {r["name"]: r["untouched"] for r in made.report().records() if r["untouched"]}
    assert untouched == {
        "0.bias": "bias", "1.weight": "vector", "1.bias": "bias", "3.bias": "bias",
        "4.bias": "bias", "1.running_mean": "norm", "1.running_var": "norm",
        "1.num_batches_tracked": "no float",
    }  # fmt: skip


@pytest.mark.parametrize("format, scale", [
    ("int8", None), ("int8", "tensor"), ("e2m1fn", "channel"), ("e4m3fn", None), ("mxfp4", None),
    ("nvfp4", None), ("affine(uint8)", None), ("bfp(8,16,e8)", None), ("posit8", None),
])  # fmt: skip
def test_nan_becomes_zero_where_the_command_makes_it_zero(format, scale, tmp_path, capsys):
    save = pytest.importorskip("safetensors.torch", reason="safetensors is not installed").save_file
    state = {"fc.weight": drawn(4, 32), "head.weight": drawn(2, 16)}
    state["fc.weight"][1, 3] = state["head.weight"][0, 0] = torch.nan
    save(state, tmp_path / "in.safetensors")
    files = [str(tmp_path / f"{name}.safetensors") for name in ("in", "out")]
    scales = [] if scale is None else ["--scale", scale]
    run(capsys, "quantize", *files, "--format", format, *scales, "--nan", "zero")
    made = wt.quantize_state_dict(state, format, scale, nan="zero")
    for name, wanted in ww.load(files[1]).items():
        np.testing.assert_array_equal(made[name].to_ww().to_float64(), wanted.to_float64())


def test_a_model_goes_on_with_what_comes_back():
    model, other = net().eval(), net().eval()
    made = wt.quantize_state_dict(model.state_dict(), "e5m10")
    assert other.load_state_dict(wt.dequantize_state_dict(made), strict=True)
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.copy_(wt.quantize(p, "e5m10"))
    x = drawn(3, 1, 7, 7)
    assert torch.equal(other(x), model(x))


def test_what_nan_has_no_scale_of_is_named_with_the_argument_that_helps():
    state = {"fc.weight": torch.full((2, 32), torch.nan)}
    for how in ({"format": "int8", "scale": "tensor"}, {"format": "e4m3fn", "scale": "channel"}):
        with pytest.raises(ValueError, match=r"fc.weight: element \[0, 0\] .*; nan='zero' puts"):
            wt.quantize_state_dict(state, **how)


@pytest.mark.parametrize("format, scale", [
    ("int8", None), ("e2m1fn", None), ("fixed8.4;overflow=wrap", None), ("nvfp4", None),
    ("bfp(8,16,e8)", None), ("block(e4m3fn,32,binary32)", None), ("affine(uint8)", None),
    ("affine(int4,symmetric,channel)", None), ("e4m3fn", "tensor"),
])  # fmt: skip
def test_what_has_no_nan_is_named_with_where_it_stands_and_what_helps(format, scale):
    state = {"fc.weight": drawn(2, 32)}
    state["fc.weight"][1, 3] = torch.nan
    with pytest.raises(ValueError, match=r"^fc.weight: element \[1, 3\] is .* nan='zero' puts \+0"):
        wt.quantize_state_dict(state, format, scale)
    back = wt.dequantize_state_dict(wt.quantize_state_dict(state, format, scale, nan="zero"))
    assert back["fc.weight"][1, 3] == 0


@pytest.mark.parametrize("nan", [None, "zero"])
def test_bare_formats_keep_their_nan_and_blocks_of_mx_become_it(nan):
    state = {"fc.weight": torch.ones(2, 64)}
    state["fc.weight"][1, 3] = torch.nan
    for format, lost in (("e4m3fn", 1), ("posit8es2", 1), ("mxfp8_e4m3", 0 if nan else 32)):
        made = wt.quantize_state_dict(state, format, nan=nan)
        assert int(wt.dequantize_state_dict(made)["fc.weight"].isnan().sum()) == lost


def test_what_is_no_tensor_stays():
    state = {"fc.weight": torch.ones(2, 32), "_extra_state": {"scale": 2}}
    made = wt.quantize_state_dict(state, "mxfp4")
    row = made.report().records()[1]
    assert (row["holds"], row["untouched"], row["bytes"]) == ("dict", "no tensor", 0)
    assert made["_extra_state"] is state["_extra_state"] and made.nbytes == 34
    assert wt.dequantize_state_dict(made)["_extra_state"] == {"scale": 2}


def test_rules_decide_in_order_and_take_what_is_skipped_by_default():
    rules = {
        "3.weight": None,
        "0.w*": {"format": "int8", "scale": "channel", "axis": 1},
        "*.bias": "e5m2",
        "1.*": None,
    }
    rows = wt.quantize_state_dict(net().state_dict(), "mxfp4", rules=rules).report().records()
    got = {r["name"]: r["untouched"] or (r["format"], r["scale"]) for r in rows}
    assert got["3.weight"] == got["1.running_mean"] == "rule"
    assert got["0.weight"] == ("int8", "channel")
    assert got["3.bias"] == ("e5m2", "none")
    assert got["4.weight"] == ("block(e2m1fn,32,e8m0fnu)", "block")
    assert got["1.num_batches_tracked"] == "no float"


def test_formats_and_rules_come_in_each_of_their_kinds():
    state, wanted = net().state_dict(), {"3.weight": "mxfp4", "4.weight": None, "*": "e5m2"}
    same = [
        wanted,
        list(wanted.items()),
        [list(pair) for pair in wanted.items()],
        {"3.weight": ww.BlockFormat("mxfp4"), "4.weight": None, "*": ww.Format("e5m2")},
        {
            "3.weight": {"format": ww.BlockFormat("mxfp4")},
            "4.weight": None,
            "*": {"format": "e5m2"},
        },
    ]
    first, *others = (
        str(wt.quantize_state_dict(state, format, rules=rules).report())
        for rules in same
        for format in ("int8", ww.Format("int8"))
    )
    assert all(other == first for other in others) and "block(e2m1fn,32,e8m0fnu)" in first
    for format in ("e4m3fn", "mxfp8_e4m3", "nvfp4"):
        kind = ww.Format(format)  # a BlockFormat of blocks' texts
        one, other = (wt.quantize_state_dict(state, f).report() for f in (format, kind))
        assert str(one) == str(other)


@pytest.mark.parametrize("how, message", [
    ({"format": 8}, "format = 8: a text as 'e4m3fn', a ww.Format or a ww.BlockFormat"),
    ({"rules": 5}, "rules = 5: a dict, pairs in a list, or a file's path"),
    ({"rules": [("3.*",)]}, r"rules: one is \('3.\*',\); \(glob on names, format\) is wanted"),
    ({"rules": {5: "int8"}}, r"rules: one is \(5, 'int8'\)"),
    ({"rules": {"3.*": ["int8"]}}, r"rules\['3.\*'\] = \['int8'\]: a text as"),
    ({"rules": {"3.*": {"format": 5}}}, r"rules\['3.\*'\] = 5: a text as"),
])  # fmt: skip
def test_what_is_no_format_and_no_rule_is_named(how, message):
    with pytest.raises(TypeError, match=message):
        wt.quantize_state_dict(net().state_dict(), **{"format": "int8"} | how)


def test_rules_of_a_file_are_the_commands(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nmatch = "4.*"\nformat = "e4m3fn"\nscale = "tensor"\n')
    made = wt.quantize_state_dict(net().state_dict(), "mxfp4", rules=path)
    formats = {name: x.format for name, x in made.items() if isinstance(x, wt.QTensor)}
    block = "block(e2m1fn,32,e8m0fnu)"
    wanted = {"0.weight": block, "3.weight": block, "4.weight": "e4m3fn", "4.bias": "e4m3fn"}
    assert formats == wanted and made["4.weight"].scale.shape == ()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_each_tensor_gets_its_own_dtype_back_rounded_once(dtype):
    x = (drawn(8, 64) * 3).to(getattr(torch, dtype))
    for format, scale in FORMATS:
        state = wt.quantize_state_dict({"w": x}, format, scale)
        back = wt.dequantize_state_dict(state)["w"]
        assert back.dtype == x.dtype
        exact = wt.decode(state["w"], torch.float64).numpy()
        name = {"float16": "binary16", "float64": "binary64"}.get(dtype, dtype)
        wanted = ww.array(exact, name).to_float64()
        assert np.array_equal(back.double().numpy(), wanted), format
    assert wt.dequantize_state_dict(state, torch.float32)["w"].dtype == torch.float32


def test_it_is_saved_loaded_with_weights_only_and_pickled():
    made = wt.quantize_state_dict(net().state_dict(), "nvfp4", rules={"4.weight": "int4"})
    buffer = io.BytesIO()
    torch.save(made, buffer)
    buffer.seek(0)
    for again in (torch.load(buffer, weights_only=True), pickle.loads(pickle.dumps(made))):
        assert isinstance(again, wt.QuantizedState)
        assert str(again.report()) == str(made.report())
        one, other = wt.dequantize_state_dict(again), wt.dequantize_state_dict(made)
        assert all(torch.equal(one[name], other[name]) for name in made)
    assert made.nbytes < sum(x.nbytes for x in net().state_dict().values()) / 2


def test_what_is_quantised_already_integers_and_fp8_stay():
    state = {
        "a.weight": wt.encode(torch.ones(2, 2), "e4m3fn"),
        "b.weight": torch.arange(4).reshape(2, 2),
        "c.weight": torch.ones(2, 2).to(torch.float8_e4m3fn),
        "d.weight": torch.ones(0, 2),
    }
    made = wt.quantize_state_dict(state, "nvfp4")
    rows = made.report().records()
    assert [r["untouched"] for r in rows] == ["quantised already", "no float", "narrow", "empty"]
    assert all(made[name] is x for name, x in state.items())
    plain = wt.dequantize_state_dict(dict(made))
    assert plain["a.weight"].dtype == torch.float32 and plain["b.weight"] is state["b.weight"]


@pytest.mark.parametrize("how, message", [
    ({"format": "e4m3fnn"}, "nearest name: 'e4m3fn'"),
    ({"format": "nvfp4", "scale": "tensor"}, "format: scale = tensor: nvfp4 says itself what its "
                                             "scales are of; leave scale out"),
    ({"format": "e4m3fn", "scale": "block"}, "format: scale = block: e4m3fn has no blocks"),
    ({"format": "int1", "scale": "tensor"}, "its largest number is zero, or past binary32's; "
                                            "scale='none' rounds to it"),
    ({"format": "nvfp4", "rules": {"3.*": {"format": "e15m2", "scale": "channel"}}},
     r"rules\['3.\*'\]: e15m2 under a scale: .* binary32's; scale='none' rounds"),
    ({"format": "int8", "scale": "tnsor"}, "scale = 'tnsor': it may be none, tensor, channel"),
    ({"format": "int8", "nan": 0}, "nan = 0: it may be None or 'zero'"),
    ({"format": "nvfp4", "rules": {"head.*": None}}, "rules.* = head.*: no tensor has"),
    ({"format": "nvfp4", "rules": {"3.*": {"width": 4}}}, r"width is no key of a rule"),
    ({"format": "nvfp4", "rules": {"3.*": "e4m3fnn"}}, r"rules\['3.\*'\]: .*nearest name"),
])  # fmt: skip
def test_what_cannot_be_is_refused(how, message):
    with pytest.raises(ValueError, match=message):
        wt.quantize_state_dict(net().state_dict(), **how)


def test_a_tensor_that_its_format_does_not_take_is_named():
    with pytest.raises(ValueError, match=r"fc\.weight: .*NaN|fc\.weight: .*nan"):
        wt.quantize_state_dict({"fc.weight": torch.full((2, 2), np.nan)}, "int8")


def test_a_value_just_past_the_middle_of_two_halves_is_not_rounded_twice():
    """It is 1.5 times the scale; nearest even by way of binary32 is the half below."""
    below, above = 1 + 4 * 2.0**-10, 1 + 5 * 2.0**-10
    middle = (below + above) / 2
    found = np.float32(middle / 1.5)
    scale = float(found if 1.5 * float(found) > middle else np.nextafter(found, np.float32(2)))
    assert middle < 1.5 * scale < middle + 2.0**-24 and np.float32(1.5 * scale) == middle
    packed = wt.encode(torch.tensor([1.5]), "e4m3fn").packed
    state = {"w": wt.QTensor(packed, "e4m3fn", (1,), torch.tensor(scale))}
    assert wt.dequantize_state_dict(state, torch.float16)["w"].item() == above
    assert wt.decode(state["w"], torch.float16).item() == above
