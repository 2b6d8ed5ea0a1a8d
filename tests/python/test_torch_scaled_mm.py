"""widthwise.torch.scaled_mm: a library's FP8 product, step by step by the public functions."""

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, torch, wt

pytestmark = NEEDED


def drawn(shape, kind, seed):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 8
    return x.to(getattr(torch, kind))


def operands(k=400, a="float8_e4m3fn", b="float8_e4m3fn"):
    return drawn((9, k), a, 1), drawn((11, k), b, 2).t()


PRESETS = [
    ("hopper", True, "hopper.e4m3.f32"),
    ("hopper", False, "hopper.e4m3.promote128"),
    ("ada", True, "ada.e4m3.f32"),
    ("blackwell", True, "blackwell.e4m3.f32"),
    ("blackwell", False, "blackwell.e4m3.f32"),
]


@pytest.mark.parametrize("profile, fast, preset", PRESETS)
def test_the_sum_is_the_presets(profile, fast, preset):
    a, b = operands()
    one = torch.tensor(1.0)
    z = wt.scaled_mm(a, b, one, one, out_dtype=torch.float32, use_fast_accum=fast, profile=profile)
    wanted = ww.matmul(ww.view(a), ww.view(b), unit=preset)
    np.testing.assert_array_equal(ww.view(z).bits, wanted.bits)


def test_promotion_changes_sums_on_both_that_have_it():
    a, b = operands()
    one = torch.tensor(1.0)
    for profile in ("hopper", "ada"):
        fast, slow = (
            wt.scaled_mm(a, b, one, one, None, None, torch.float32, mode, profile=profile)
            for mode in (True, False)
        )
        exact = a.double() @ b.double()
        assert (slow - exact).abs().mean() < (fast - exact).abs().mean() * 0.7


@pytest.mark.parametrize(
    "a, b, preset",
    [
        ("float8_e5m2", "float8_e4m3fn", "hopper.e5m2.f32"),
        ("float8_e4m3fn", "float8_e5m2", "hopper.e4m3.f32"),
    ],
)
def test_operands_may_be_unlike(a, b, preset):
    x, y = operands(64, a, b)
    one = torch.tensor(1.0)
    z = wt.scaled_mm(x, y, one, one, out_dtype=torch.float32, use_fast_accum=True)
    text = ww.Unit(preset).to_toml()
    own = ww.Unit.from_toml(
        text.replace('b.fmt = "e4m3fn"', 'b.fmt = "e5m2"')
        if "e4m3" in preset
        else text.replace('b.fmt = "e5m2"', 'b.fmt = "e4m3fn"')
    )
    assert (str(own.a), str(own.b)) == (str(ww.view(x).format), str(ww.view(y).format))
    wanted = ww.matmul(ww.view(x), ww.view(y), unit=own)
    np.testing.assert_array_equal(ww.view(z).bits, wanted.bits)


@pytest.mark.parametrize("out", ["float32", "bfloat16", "float16", "float8_e4m3fn"])
@pytest.mark.parametrize("rows", [None, "a", "b"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_the_epilogue_rounds_after_each_step(out, rows, with_bias):
    a, b = operands()
    sa = torch.rand(9, 1) / 3 if rows else torch.tensor(0.3)
    sb = torch.rand(1, 11) / 3 if rows else torch.tensor(0.7)
    bias = torch.randn(11).bfloat16() if with_bias else None
    z = wt.scaled_mm(a, b, sa, sb, bias, None, getattr(torch, out), first_scale=rows)
    sums = ww.matmul(ww.view(a), ww.view(b), unit="hopper.e4m3.promote128").to_float64()
    x = sums.astype(np.float32)  # NumPy's binary32, one operation at a time
    first, last = (sa, sb) if rows == "a" else (sb, sa)
    x = (x * first.numpy()) * last.numpy() if rows else x * (sa * sb).numpy()
    x = x + bias.float().numpy() if with_bias else x
    assert x.dtype == np.float32
    wanted = torch.from_numpy(x)
    wanted = wanted.clamp(-448, 448) if "float8" in out else wanted
    assert z.shape == (9, 11) and z.dtype == getattr(torch, out)
    assert torch.equal(z.float(), wanted.to(z.dtype).float())


def test_without_out_dtype_it_is_as_and_saturates():
    a, b = operands()
    z = wt.scaled_mm(a, b, torch.tensor(1.0), torch.tensor(1.0))
    assert z.dtype == a.dtype and z.float().abs().max() == 448


def test_the_arguments_are_torchs_in_torchs_order():
    import inspect

    theirs = [x.name for x in torch.ops.aten._scaled_mm.default._schema.arguments]
    ours = inspect.signature(wt.scaled_mm).parameters
    positional = [name for name, x in ours.items() if x.kind is x.POSITIONAL_OR_KEYWORD]
    assert positional == ["a", "b", *theirs[2:]] and theirs[:2] == ["self", "mat2"]


@pytest.mark.parametrize("out", ["float32", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("rows", [False, True])
def test_it_is_close_to_torchs_own_on_the_cpu(rows, out):
    a, b = operands(160)
    a, b = a[:8], b[:, :8]
    sa = torch.rand(8, 1) / 30 if rows else torch.tensor(0.03)
    sb = torch.rand(1, 8) if rows else torch.tensor(0.7)
    dtype = torch.bfloat16 if rows else getattr(torch, out)
    theirs = torch._scaled_mm(a, b, sa, sb, None, None, dtype)
    ours = wt.scaled_mm(a, b, sa, sb, None, None, dtype)
    assert theirs.dtype == ours.dtype
    torch.testing.assert_close(ours.float(), theirs.float(), rtol=0.13, atol=0.3)


@pytest.mark.parametrize(
    "profile, m, n, first",
    [
        ("ada", 5000, 5000, "a"),
        ("hopper", 16, 4096, "a"),  # 64 by many
        ("hopper", 4096, 40, "b"),
        ("hopper", 192, 4096, "b"),
        ("blackwell", 8192, 150, "a"),
        ("hopper", 384, 512, "b"),  # an odd multiple of 128, of rows alone
        ("hopper", 512, 384, "a"),
        ("hopper", 128, 384, "a"),  # of both, and small
        ("hopper", 384, 128, "b"),
        ("hopper", 1152, 1408, "b"),  # of both, and large
        ("hopper", 1408, 1152, "a"),
        ("hopper", 8192, 4096, "a"),
        ("hopper", 4096, 8192, "b"),
        ("hopper", 1024, 2048, "b"),
    ],
)
def test_scales_of_rows_come_in_the_order_of_pytorchs_kernel(profile, m, n, first):
    """Read off RowwiseScaledMM.cu, case by case."""
    from widthwise.torch._scaled_mm import rows_first

    assert rows_first(profile, m, n) == (first == "a")


@pytest.mark.parametrize("profile, m, n, a_first", [("hopper", 9, 320, True), ("ada", 9, 11, True)])
def test_the_order_of_scales_shows(profile, m, n, a_first):
    a, b = torch.ones(m, 16).to(torch.float8_e4m3fn), torch.ones(n, 16).to(torch.float8_e4m3fn).t()
    sa, sb = torch.full((m, 1), 1e-38), torch.full((1, n), 1e38)  # 16e38 overflows
    for given, wanted in ((None, a_first), ("a", True), ("b", False)):
        z = wt.scaled_mm(a, b, sa, sb, out_dtype=torch.float32, profile=profile, first_scale=given)
        assert bool(z.isfinite().all()) == wanted
    with pytest.raises(ValueError, match="first_scale = 'c': it may be None, 'a' or 'b'"):
        wt.scaled_mm(a, b, sa, sb, first_scale="c")


def test_scaled_mm_compiles_and_passes_opcheck():
    a, b = operands(64)
    one = torch.tensor(0.5)
    how = (None, None, torch.bfloat16, True)

    def call(x, y):
        return wt.scaled_mm(x, y, one, one, *how) + 1

    assert torch.equal(torch.compile(call, fullgraph=True)(a, b), call(a, b))
    op = torch.ops.widthwise.scaled_mm.default
    # Its check of the schema compares operands, which torch does not do in FP8.
    tests = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(op, (a, b, one, one, *how, "ada", 2, "serial", True), test_utils=tests)


E5M2 = ("float8_e5m2", "float8_e5m2")


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"profile": "volta"}, ValueError, "profile = 'volta': it may be 'hopper', 'ada'"),
        ({"b": (4, 4)}, ValueError, r"a is \(9, 32\) and b is \(4, 4\)"),
        ({"kinds": E5M2}, ValueError, "both float8_e5m2"),
        ({"kinds": ("float32", "float8_e5m2")}, TypeError, "a holds torch.float32"),
        ({"scale_a": (9,)}, ValueError, r"scale_a is \(9,\) .* or \(9, 1\) and \(1, 11\)"),
        ({"bias": (9,)}, ValueError, r"bias is \(9,\); \(11,\) is wanted"),
        ({"out_dtype": "float64"}, TypeError, "out_dtype = torch.float64"),
        ({"split": 0}, ValueError, "split = 0: 1 or more parts"),
        (
            {"split": (2, "odd")},
            ValueError,
            r"\(2, order\) takes 'contiguous', 'serial', 'pairwise'",
        ),
        ({"split": 2, "profile": "blackwell"}, ValueError, "measured blackwell's order; name one"),
    ],
)
def test_what_the_libraries_have_not_is_refused(change, error, message):
    a, b = operands(32, *change.get("kinds", ("float8_e4m3fn",) * 2))
    b = drawn(change["b"], "float8_e4m3fn", 3) if "b" in change else b
    scale = torch.ones(change.get("scale_a", ()))
    bias = torch.ones(change["bias"]) if "bias" in change else None
    out = getattr(torch, change.get("out_dtype", "bfloat16"))
    with pytest.raises(error, match=message):
        wt.scaled_mm(
            a,
            b,
            scale,
            torch.tensor(1.0),
            bias,
            change.get("scale_result"),
            out,
            profile=change.get("profile", "ada"),
            split=change.get("split", 1),
        )
