"""widthwise.torch.scaled_mm: a library's FP8 product, step by step by the public functions, and
beside mmaemu (Apache-2.0), whose authors checked it with an H100 and an RTX 4060."""

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, torch, wt

pytestmark = [
    NEEDED,
    pytest.mark.filterwarnings("ignore:mmaemu:UserWarning"),  # of what it has not measured
]


def drawn(shape, kind, seed):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 8
    return x.to(getattr(torch, kind))


def operands(k=400, a="float8_e4m3fn", b="float8_e4m3fn"):
    return drawn((9, k), a, 1), drawn((11, k), b, 2).t()


PRESETS = [
    ("hopper", True, "hopper.e4m3.f32"),
    ("hopper", False, "hopper.e4m3.promote128"),
    ("ada", True, "ada.e4m3.f32"),
    ("ada", False, "ada.e4m3.promote128"),
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
        ({"split": (2, "serial", 1)}, ValueError, r"split = \(2, 'serial', 1\): 1 or more parts"),
        ({"split": (3,)}, ValueError, r"split = \(3,\): 1 or more parts .* or \(parts, order\)"),
        ({"scale_result": 2.0}, TypeError, r"scale_result is float; .*as_tensor\(scale_result"),
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


@pytest.mark.parametrize("name, given", [
    ("scale_a", 0.5), ("scale_b", 2), ("bias", [1.0]), ("a", [[1.0]]), ("b", None),
])  # fmt: skip
def test_what_is_no_tensor_is_named(name, given):
    a, b = operands(32)
    how = {"a": a, "b": b, "scale_a": torch.tensor(1.0), "scale_b": torch.tensor(1.0)}
    with pytest.raises(TypeError, match=f"{name} is {type(given).__name__}; a tensor is wanted"):
        wt.scaled_mm(**how | {name: given})
    with pytest.raises(TypeError, match="bias holds torch.int64; floats are wanted"):
        wt.scaled_mm(**how, bias=torch.ones(11, dtype=torch.int64))


# --- Beside mmaemu: sums, parts of k, the epilogue, bit for bit ----------------------------------

ROWS, COLUMNS = 16, 32
KINDS = [("e4m3fn", "e4m3fn"), ("e5m2", "e4m3fn"), ("e4m3fn", "e5m2")]
SPECIAL = [0.0, -0.0, 448.0, -448.0, 2.0**-9, -(2.0**-9), 2.0**-6, 0.4375, 240.0]


@pytest.fixture(scope="module")
def mmaemu():
    return pytest.importorskip("mmaemu", reason="it comes with PyTorch: --long installs both")


def of_many_sizes(k, kinds, seed=0):
    """Numbers of many sizes, whose tiles differ most, and directed ones; some rows cancel."""
    draw = torch.Generator().manual_seed(seed)
    x, y = (
        torch.randn(n, k, generator=draw) * 2.0 ** torch.randint(-3, 3, (n, k), generator=draw)
        for n in (ROWS, COLUMNS)
    )
    for t in (x, y):
        t *= 2.0 ** torch.randint(-6, 7, (k // 16,), generator=draw).repeat_interleave(16)
    for t in (x, y):
        places = torch.randint(0, t.numel(), (t.numel() // 8,), generator=draw)
        t.view(-1)[places] = torch.tensor(SPECIAL)[places % len(SPECIAL)]
    x[1, k // 2 :] = -x[1, : k - k // 2]
    y[:, k // 2 :] = y[:, : k - k // 2]
    x[2] = 0
    types = [getattr(torch, f"float8_{kind}") for kind in kinds]
    return x.clamp(-448, 448).to(types[0]), y.clamp(-448, 448).to(types[1])


def same(got, wanted):
    words = {4: torch.int32, 2: torch.int16, 1: torch.uint8}[got.element_size()]
    assert got.dtype == wanted.dtype and torch.equal(got.view(words), wanted.view(words))


def sums(a, b, fast, profile, split=1):
    one = torch.tensor(1.0)
    return wt.scaled_mm(
        a, b.t(), one, one, None, None, torch.float32, fast, profile=profile, split=split
    )


@pytest.mark.parametrize("profile", ["hopper", "ada"])
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("kinds", KINDS)
def test_sums_are_mmaemus(mmaemu, kinds, fast, profile):
    for k in (16, 96, 144, 1040):
        a, b = of_many_sizes(k, kinds, k)
        wanted = mmaemu.accumulate(a, b, use_fast_accum=fast, profile=profile, splitk=1)
        same(sums(a, b, fast, profile), wanted)


@pytest.mark.parametrize(
    "profile, order", [("hopper", "contiguous"), ("ada", "serial"), ("ada", "pairwise")]
)
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("parts", [2, 3, 4, 5, 7])
def test_parts_of_k_are_mmaemus(mmaemu, parts, fast, profile, order):
    for k in (832, 1040):
        a, b = of_many_sizes(k, KINDS[parts % 3], parts)
        wanted = mmaemu.accumulate(
            a, b, use_fast_accum=fast, profile=profile, splitk=(parts, order)
        )
        got = sums(a, b, fast, profile, (parts, order))
        same(got, wanted)
    if order == {"hopper": "contiguous", "ada": "serial"}[profile]:
        same(sums(a, b, fast, profile, parts), wanted)
    if fast:  # promotion leaves little to the parts
        assert not torch.equal(got, sums(a, b, fast, profile))


def test_orders_of_parts_differ():
    """A number a tile: 2e5, 2^-18, -2e5, 2^-18, 0."""
    a, b = torch.zeros(2, 16, 320).to(torch.float8_e4m3fn)
    a[0, ::64] = torch.tensor([448, 2.0**-9, -448, 2.0**-9, 0]).to(a.dtype)
    b[0, ::64] = torch.tensor([448, 2.0**-9, 448, 2.0**-9, 0]).to(a.dtype)
    found = {o: sums(a, b, True, "ada", (5, o))[0, 0] for o in ("serial", "pairwise")}
    assert found == {"serial": 2.0**-18, "pairwise": 0.0}
    assert sums(a, b, True, "ada", (5, "contiguous"))[0, 0] == 0  # tiles of 128


@pytest.mark.parametrize("profile", ["hopper", "ada"])
@pytest.mark.parametrize("out", ["float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("scale_result", [None, 0.37])
def test_the_epilogue_is_mmaemus(mmaemu, scale_result, out, profile):
    kinds = KINDS[1] if out == "float8_e5m2" else KINDS[0]  # cuBLAS has no E5M2 of two E4M3
    a, b = of_many_sizes(160, kinds)
    result = None if scale_result is None else torch.tensor(scale_result)
    dtype = getattr(torch, out)
    for sa, sb in ((0.3, 0.7), (-1e-3, 2.5), (3e38, 1e-38), (1e-30, 1e-12)):
        scales = torch.tensor(sa), torch.tensor(sb)
        how = (None, result, dtype, True)
        wanted = mmaemu.scaled_mm(a, b.t(), *scales, *how, profile=profile, splitk=1)
        same(wt.scaled_mm(a, b.t(), *scales, *how, profile=profile), wanted)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("fast", [True, False])
def test_infinities_and_nan_are_mmaemus(mmaemu, fast, kinds):
    a, b = of_many_sizes(160, kinds)
    for t, kind in zip((a, b), kinds, strict=True):
        words = t.view(torch.uint8)
        words[3, 5] = words[7, 150] = 0x7F  # NaN
        if kind == "e5m2":
            words[4, 9], words[5, 9], words[5, 11], words[6, 2] = 0x7C, 0x7C, 0xFC, 0xFC
    for out in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        how = (None, None, out, fast)
        one = torch.tensor(1.0)
        wanted = mmaemu.scaled_mm(a, b.t(), one, one, *how, profile="hopper", splitk=1)
        same(wt.scaled_mm(a, b.t(), one, one, *how), wanted)


def test_a_gradient_is_refused_and_not_left_out():
    a, b = operands(32)
    one, bias = torch.tensor(1.0), torch.zeros(11, requires_grad=True)
    y = wt.scaled_mm(a, b, one, one, bias, out_dtype=torch.float32)
    with pytest.raises(RuntimeError, match=r"scaled_mm has no gradient, .*detach\(\)"):
        (y.sum() + bias.sum()).backward()
    assert not wt.scaled_mm(a, b, one, one, bias.detach()).requires_grad
