"""widthwise.torch.scaled_mm beside mmaemu (Apache-2.0), whose authors checked it with an H100 and
an RTX 4060: sums, parts of k and the epilogue, bit for bit."""

import pytest
from torch_here import NEEDED, torch, wt

pytestmark = [
    NEEDED,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of the profiles' maturity
]

ROWS, COLUMNS = 16, 32
KINDS = [("e4m3fn", "e4m3fn"), ("e5m2", "e4m3fn"), ("e4m3fn", "e5m2")]
SPECIAL = [0.0, -0.0, 448.0, -448.0, 2.0**-9, -(2.0**-9), 2.0**-6, 0.4375, 240.0]


@pytest.fixture(scope="module")
def mmaemu():
    return pytest.importorskip("mmaemu", reason="it comes with PyTorch: --long installs both")


def operands(k, kinds, seed=0):
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
        a, b = operands(k, kinds, k)
        wanted = mmaemu.accumulate(a, b, use_fast_accum=fast, profile=profile, splitk=1)
        same(sums(a, b, fast, profile), wanted)


@pytest.mark.parametrize(
    "profile, order", [("hopper", "contiguous"), ("ada", "serial"), ("ada", "pairwise")]
)
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("parts", [2, 3, 4, 5, 7])
def test_parts_of_k_are_mmaemus(mmaemu, parts, fast, profile, order):
    for k in (832, 1040):
        a, b = operands(k, KINDS[parts % 3], parts)
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
    a, b = operands(160, kinds)
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
    a, b = operands(160, kinds)
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
