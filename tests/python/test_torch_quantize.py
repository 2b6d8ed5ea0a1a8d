"""widthwise.torch.quantize: the core's bits, and every way that torch takes derivatives."""

import copy
import functools
import pickle
import threading

import numpy as np
import pytest
import widthwise as ww
from torch_here import NEEDED, torch, wt
from widthwise import _host

if torch is not None:
    from widthwise.torch._static import scaled

pytestmark = NEEDED

OF = {"float16": "e5m10", "bfloat16": "e8m7", "float32": "e8m23", "float64": "e11m52"}


def codes_of(x):
    """A tensor's numbers as codes of its own dtype's format."""
    return ww.view(x.detach().contiguous())


def same(x, y):
    """Bits: signs of zeros and NaNs' payloads count."""
    assert x.dtype == y.dtype and x.shape == y.shape
    words = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return torch.equal(x.contiguous().view(words), y.contiguous().view(words))


def directed(dtype):
    """Zeros of both signs, ties, subnormals, the largest, infinities and NaN among random ones."""
    own = torch.finfo(dtype)
    special = [0.0, -0.0, own.tiny, -own.smallest_normal / 2, own.max, -own.max, 1.0625, 17.0]
    special += [448.0, 464.0, 480.0, 6.0, 7.0, torch.inf, -torch.inf, torch.nan]
    torch.manual_seed(1)
    return torch.cat([torch.tensor(special, dtype=dtype), (torch.randn(500) * 30).to(dtype)])


@pytest.mark.parametrize("dtype", OF)
@pytest.mark.parametrize("rounding", ["rne", "rtz", "rup", "odd", "sr8"])
@pytest.mark.parametrize("format", ["e4m3fn", "e5m2", "e3m2fn;nan=none", "posit8es1", "fixed8.4"])
def test_values_are_the_cores_in_every_dtype(format, rounding, dtype):
    f = ww.Format(format)
    x = directed(getattr(torch, dtype))
    x = x if f.has_nan else x[~x.isnan()]
    wanted = codes_of(x).astype(f, rounding=rounding, seed=7).astype(OF[dtype])
    got = wt.quantize(x, format, rounding, seed=7)
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(codes_of(got).bits, wanted.bits)


def test_a_result_is_never_x_nor_its_memory():
    x = torch.tensor([1.0, 2.0])
    y = wt.quantize(x, "binary32")
    assert torch.equal(x, y) and y.data_ptr() != x.data_ptr()
    y += 1
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "dtype, format",
    [
        ("bfloat16", "e5m10"),
        ("float16", "e8m7"),
        ("float32", "e8m24"),
        ("float32", "posit32es2"),
        ("float32", "takum16"),
        ("float16", "fixed16.2"),
        ("float64", "binary128"),
        ("float16", "e5m2;bias=10"),  # its digits, but past its largest number
    ],
)
def test_a_dtype_that_does_not_hold_the_format_is_refused(dtype, format):
    with pytest.raises(ValueError, match=f"has numbers that torch.{dtype} does not hold; .*encode"):
        wt.quantize(torch.ones(3, dtype=getattr(torch, dtype)), format)


def test_a_refusal_names_the_dtype_that_holds_it():
    with pytest.raises(ValueError, match=r"pass x.to\(torch.float32\) or encode"):
        wt.quantize(torch.ones(1).bfloat16(), "e5m10")


def test_other_dtypes_are_refused():
    with pytest.raises(TypeError, match="x holds torch.int64; torch.float16, .* are taken"):
        wt.quantize(torch.arange(3), "e4m3fn")


@pytest.mark.parametrize("format", ["fixed8.4", "e2m1fn"])
def test_nan_is_refused_where_the_format_has_none(format):
    with pytest.raises(ValueError, match="x has NaN .*nan_to_num"):
        wt.quantize(torch.tensor([1.0, torch.nan]), format)


@pytest.mark.parametrize("endless", [np.inf, -np.inf])
@pytest.mark.parametrize("overflow", ["zero", "wrap", "wrap_sm", "keep_sign"])
def test_infinities_are_refused_where_fixed_point_does_not_saturate(overflow, endless):
    x, to = torch.tensor([1.0, endless]), f"fixed8.4;overflow={overflow}"
    one = torch.tensor(1.0)
    for call in (wt.quantize, wt.encode, lambda x, to: scaled(x, to, one, torch.tensor(0))):
        with pytest.raises(ValueError, match="does not saturate; take overflow.*nan_to_num"):
            call(x, to)


@pytest.mark.parametrize(
    "format", ["mxfp8_e4m3", "nvfp4", "bfp(8,16,e8)", "block(e4m3fn,0,e8m0fnu)"]
)
@pytest.mark.parametrize("axis", [0, -1])
def test_blocks_are_those_of_ww_blocks(format, axis):
    x = torch.randn(48, 40) * 5
    wanted = ww.blocks(x.numpy(), format, axis=axis).to_float32()
    assert same(wt.quantize(x, format, axis=axis), torch.from_numpy(wanted))
    half = wt.quantize(x.bfloat16(), "mxfp8_e4m3", axis=axis)
    wanted = ww.blocks(x.bfloat16().float().numpy(), "mxfp8_e4m3", axis=axis).to_float32()
    assert half.dtype == torch.bfloat16 and same(half.float(), torch.from_numpy(wanted))


@pytest.mark.parametrize(
    "format", ["affine(uint8)", "affine(int4,symmetric,channel)", "affine(int8,symmetric,16)"]
)
def test_affine_integers_are_those_of_ww_affine(format):
    x = torch.randn(8, 32) * 5
    wanted = ww.affine(x.numpy(), format).dequantise()
    assert same(wt.quantize(x, format), torch.from_numpy(wanted))
    with pytest.raises(ValueError, match="numbers here that torch.bfloat16 does not hold"):
        wt.quantize(x.bfloat16(), format)


SEEDS = [0, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, np.int64(3), np.uint64(1 << 63), np.array(7)]


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_seeds_are_all_of_64_bits_and_the_next_ones_go_round(seed):
    x = torch.randn(64).requires_grad_()
    y = wt.quantize(x, "e5m2", "sr8", backward="e5m3", seed=seed, clamp=False)
    whole, up = int(seed), torch.randn(64)
    np.testing.assert_array_equal(
        y.detach().numpy(),
        ww.array(x.detach().numpy(), "e5m2", rounding="sr8", seed=whole).to_float64(),
    )
    y.backward(up)
    want = ww.array(up.numpy(), "e5m3", rounding="sr8", seed=(whole + 1) % (1 << 64))
    np.testing.assert_array_equal(x.grad.numpy(), want.to_float64())


@pytest.mark.parametrize(
    "seed, kind, message",
    [
        (0.5, TypeError, "seed = 0.5: an integer is wanted, 0 to 2"),
        ("7", TypeError, "seed = '7': an integer is wanted"),
        (-1, ValueError, "seed = -1: it may be 0 to"),
        (1 << 64, ValueError, "it may be 0 to"),
        ([0.5], TypeError, r"seed is torch.float32, \(1,\); one integer is wanted"),
        ([1, 2], TypeError, r"seed is torch.int64, \(2,\); one integer is wanted"),
        ([True], TypeError, r"seed is torch.bool, \(1,\); one integer is wanted"),
        (True, TypeError, "seed = True: an integer is wanted"),
        (np.True_, TypeError, "seed = np.True_: an integer is wanted"),
    ],
)
def test_what_is_no_seed_is_told(seed, kind, message):
    given = torch.tensor(seed) if isinstance(seed, list) else seed
    for call in (wt.quantize, wt.encode):
        with pytest.raises(kind, match=message):
            call(torch.ones(3), "e5m2", "sr8", seed=given)


# --- Gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", OF)
@pytest.mark.parametrize(
    "format, low, high",
    [("e4m3fn", -448, 448), ("fixed8.4", -8, 7.9375), ("e2m1fn", -6, 6), ("ufixed8.4", 0, 15.9375),
     ("fixed8.4;overflow=zero", -8, 7.9375), ("e4m3fn;overflow=nan", -448, 448)],
)  # fmt: skip
def test_gradients_are_zero_where_the_format_has_no_number_so_large(format, low, high, dtype):
    x = directed(getattr(torch, dtype))
    x = x if ww.Format(format).has_nan else x[~x.isnan()]
    x = (x[x.isfinite()] if "zero" in format else x).requires_grad_()  # which has no infinities
    g = torch.linspace(-3, 3, x.numel()).to(x.dtype)
    wt.quantize(x, format).backward(g)
    inside = ~((x < low) | (x > high))
    assert torch.equal(x.grad, torch.where(inside, g, 0)) and 0 < int(inside.sum()) < x.numel()
    x.grad = None
    wt.quantize(x, format, clamp=False).backward(g)
    assert torch.equal(x.grad, g)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("format", ["e4m3fn", "mxfp8_e4m3", "nvfp4", "affine(int8,symmetric)"])
def test_empty_tensors_have_empty_gradients(format, shape):
    x = torch.zeros(shape, requires_grad=True)
    wt.quantize(x, format, backward=format).sum().backward()
    assert x.grad.shape == shape
    if format.startswith(("e", "affine")):
        x = torch.zeros(shape, requires_grad=True)
        scaled(x, format, torch.tensor(0.5), torch.tensor(0)).sum().backward()
        assert x.grad.shape == shape


def test_what_wraps_does_not_saturate():
    x = torch.tensor([1.0, 100.0], requires_grad=True)
    wt.quantize(x, "fixed8.4;overflow=wrap").sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_blocks_saturate_past_what_the_scale_reaches():
    x = torch.tensor([7.9, -7.9, 6.0, 1.0] + [0.0] * 28, requires_grad=True)  # scale 1: to 6
    assert wt.quantize(x, "mxfp4")[:3].tolist() == [6.0, -6.0, 6.0]
    wt.quantize(x, "mxfp4").sum().backward()
    assert x.grad[:4].tolist() == [0.0, 0.0, 1.0, 1.0]


def test_affine_codes_that_are_clamped_give_no_gradient():
    x = torch.tensor([-1.0, 0.4, 1.0], requires_grad=True)
    wt.quantize(x, "affine(int8,symmetric)").sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_gradients_are_rounded_to_their_own_format():
    x = torch.randn(200, requires_grad=True)
    g = torch.randn(200)
    wt.quantize(x, "e4m3fn", backward="e5m2", backward_rounding="rtz").backward(g)
    assert same(x.grad, wt.quantize(g, "e5m2", "rtz"))


X = functools.cache(lambda: torch.linspace(-3, 3, 24).view(4, 6))


def plain(r):
    return wt.quantize(r, "e4m3fn")


def test_vmap():
    assert torch.equal(torch.vmap(plain)(X()), plain(X()))
    assert torch.equal(torch.vmap(plain, in_dims=1, out_dims=1)(X()), plain(X()))


def test_vmap_of_formats_that_share_scales_stays_within_an_example():
    x = X() * torch.tensor([1.0, 10, 100, 1000])[:, None]
    for format in ("affine(int8,symmetric)", "nvfp4", "mxfp4"):
        wanted = torch.stack([wt.quantize(row, format) for row in x])
        assert torch.equal(torch.vmap(lambda r, f=format: wt.quantize(r, f))(x), wanted)


def test_vmap_of_grad():
    got = torch.vmap(torch.func.grad(lambda r: plain(r * 300).sum()))(X())
    assert torch.equal(got, torch.where((X() * 300).abs() > 448, 0.0, 300.0))


def test_grad_of_vmap():
    got = torch.func.grad(lambda z: torch.vmap(plain)(z).sum())(X())
    assert torch.equal(got, torch.ones(4, 6))


def test_jacrev_and_jacfwd():
    x = torch.tensor([1.0, 500.0, -2.0])
    wanted = torch.diag(torch.tensor([1.0, 0.0, 1.0]))
    assert torch.equal(torch.func.jacrev(plain)(x), wanted)
    assert torch.equal(torch.func.jacfwd(plain)(x), wanted)
    unclamped = functools.partial(wt.quantize, format="e4m3fn", clamp=False)
    assert torch.equal(torch.func.jacfwd(unclamped)(x), torch.eye(3))


def test_forward_mode_of_dual_numbers():
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X(), torch.full((4, 6), 2.0))
        assert torch.equal(forward_ad.unpack_dual(plain(dual)).tangent, torch.full((4, 6), 2.0))


def test_double_backward():
    x = X().clone().requires_grad_()
    y = wt.quantize(x, "e4m3fn", backward="e8m7")
    (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert torch.equal(second, wt.quantize(6 * plain(X()), "e8m7"))


# --- Random bits ---------------------------------------------------------------------------------


def test_a_checkpoint_draws_the_same_bits_again():
    from torch.utils.checkpoint import checkpoint

    seen = []

    def probe(v):
        y = wt.quantize(v * 1.37, "e4m3fn", "sr8")
        seen.append(y.detach().clone())
        return y * y

    checkpoint(probe, X().clone().requires_grad_(), use_reentrant=False).sum().backward()
    assert len(seen) == 2 and torch.equal(*seen)
    assert not torch.equal(probe(X()), probe(X()))


def seeded(f):
    torch.manual_seed(3)
    return f(X())


def test_manual_seed_reproduces():
    dice = wt.Quantizer("e4m3fn", rounding="sr8")
    assert torch.equal(seeded(dice), seeded(dice)) and not torch.equal(dice(X()), dice(X()))


def test_gradients_draw_other_bits_than_values():
    x = torch.full((64,), 1.3).requires_grad_()
    y = wt.quantize(x, "e4m3fn", "sr8", backward="e4m3fn", seed=5)
    y.backward(x.detach())
    assert not torch.equal(x.grad, y) and set(x.grad.tolist()) == {1.25, 1.375}


# --- Around it -----------------------------------------------------------------------------------


def test_autocast_gives_the_op_float32():
    with torch.autocast("cpu", torch.bfloat16):
        y = torch.nn.Linear(6, 3)(X())
        assert (y.dtype, wt.quantize(y, "e5m10").dtype) == (torch.bfloat16, torch.float32)
    assert wt.quantize(X().double(), "e5m10").dtype == torch.float64


def test_a_quantizer_is_copied_and_pickled():
    module = wt.Quantizer("e4m3fn", backward=ww.Format("e5m2"), rounding="rtz")
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(other(X()), module(X())) and other.backward == "e5m2"
    assert module.state_dict() == {} and wt.Quantizer()(X()) is X()
    with pytest.raises(ValueError, match="nearest name: 'e4m3fn'"):
        wt.Quantizer("e4m3fnn")


@pytest.mark.parametrize("how, text", [
    ({"backward": "e5q2"}, "format 'e5q2', column"), ({"backward": "mxfp5"}, "mxfp5"),
    ({"backward": "e5m2", "backward_rounding": "up"}, "no rounding 'up'"),
])  # fmt: skip
def test_what_is_wrong_with_gradients_fails_before_there_are_any(how, text):
    with pytest.raises(ValueError, match=text):
        wt.quantize(X(), "e4m3fn", **how)


def test_a_quantizer_of_gradients_alone_leaves_values():
    x = torch.tensor([0.3, 1e30], requires_grad=True)
    y = wt.Quantizer(backward="e5m2")(x)
    y.backward(torch.tensor([0.3, 0.3]))
    assert torch.equal(y, x) and x.grad.tolist() == [0.3125, 0.3125]


def test_threads_give_the_same():
    wanted, got = plain(X()), []
    workers = [threading.Thread(target=lambda: got.append(plain(X()))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(got) == 8 and all(torch.equal(x, wanted) for x in got)


@pytest.mark.parametrize("way, workers", [("fork", 2), ("spawn", 1)])  # each one imports torch
def test_workers_give_the_same(way, workers):
    data = list(X())
    loader = torch.utils.data.DataLoader(
        data,
        batch_size=None,
        num_workers=workers,
        collate_fn=wt.Quantizer("e4m3fn"),
        multiprocessing_context=way,
    )
    assert torch.equal(torch.stack(list(loader)), plain(X()))


def test_a_table_of_the_users_own_is_a_format():
    levels = ww.Format.table([-1.0, 0, 1.5], name="three")
    assert wt.quantize(torch.tensor([0.9, -5.0, 0.1]), levels).tolist() == [1.5, -1.0, 0.0]


def test_tensors_that_are_no_plain_ones_go_through_the_dispatcher():
    """A view with its sign put off, numbers that lie apart, a mode that sees each operation."""
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    put_off = torch._neg_view(1.37 * X())  # as the imaginary part of a conjugate is
    assert put_off.is_neg() and torch.equal(plain(put_off), plain(-1.37 * X()))
    with Watch():
        watched = plain(X())
    assert torch.equal(watched, plain(X())) and "widthwise.quantize.default" in seen


def test_autocast_gives_gradients_in_the_dtype_that_came():
    x = X().bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        y = wt.quantize(x, "e5m10", backward="e5m2")
    y.backward(torch.full_like(y, 0.3))
    assert y.dtype == torch.float32 and x.grad.dtype == torch.bfloat16
    assert torch.equal(x.grad, torch.full_like(x, 0.3125))


def test_inference_mode_and_meta_tensors():
    with torch.inference_mode():
        assert torch.equal(plain(X()), plain(X().clone()))
    assert plain(torch.empty(3, 4, device="meta")).shape == (3, 4)


# --- Codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "format",
    ["e4m3fn", "e2m1fn", "posit16es2", "fixed7.3", "mxfp4", "nvfp4", "bfp(5,16,e8)"]
    + ["affine(uint8)", "affine(int4,symmetric,channel)", "affine(int3,symmetric,8)"],
)
def test_codes_and_back_are_what_quantize_gives(format, tmp_path):
    x = torch.randn(6, 40) * 2
    q = wt.encode(x, format)
    wanted = wt.quantize(x, format)
    assert same(q.decode(), wanted) and q.shape == (6, 40)
    torch.save({"q": q}, tmp_path / "q.pt")
    kept = torch.load(tmp_path / "q.pt", weights_only=True)["q"]
    for other in (kept, copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert same(wt.decode(other), wanted) and torch.equal(other.codes, q.codes)


def test_codes_are_packed():
    q = wt.encode(torch.tensor([6.0, 3.0, -0.5]), "e2m1fn")
    assert q.packed.tolist() == [87, 9] and q.codes.tolist() == [7, 5, 9]
    signed = wt.encode(torch.tensor([-2.0, 0.9, 2.0]), "affine(int4,symmetric)")
    assert signed.codes.tolist() == [-7, 3, 7] and signed.packed.numel() == 2


@pytest.mark.parametrize("format", ["binary128", "e8m24", "takum32"])
def test_formats_wider_than_the_dtype_go_by_codes(format):
    x = torch.randn(7)
    q = wt.encode(x, format)
    np.testing.assert_array_equal(q.to_ww().bits, ww.array(x.numpy(), format).bits)
    with pytest.raises(ValueError, match=r"has numbers that torch.float32 .*q.to_ww\(\)"):
        q.decode()


def test_a_single_number_and_none_have_codes():
    assert wt.encode(torch.tensor(0.3), "e4m3fn").decode().shape == ()
    assert wt.encode(torch.zeros(0, 3), "e4m3fn").decode().shape == (0, 3)


def test_what_rounds_is_kept_by_the_host_alone():
    assert not [name for name, f in vars(wt._memory).items() if hasattr(f, "cache_info")]
    assert {id(of.own) for of in wt._memory.DTYPES.values()} == {*map(id, _host.FLOATS.values())}


def test_the_gradient_of_one_affine_number_passes():
    x = torch.tensor(0.5, requires_grad=True)
    wt.quantize(x, "affine(uint8)").backward()
    assert x.grad == 1


def test_an_axis_of_numbers_without_scales_is_refused():
    x = torch.ones(2, 32)
    for called in (wt.quantize, wt.encode):
        with pytest.raises(ValueError, match=r"axis = 0: numbers of e4m3fn have no scales.*leave"):
            called(x, "e4m3fn", axis=0)
        called(x, "affine(int8,symmetric,channel)", axis=0)
    wt.quantize(x, "e4m3fn", backward="mxfp8_e5m2", axis=1)
