"""widthwise.torch compiled, exported and checked by opcheck: what torch takes seconds to begin."""

import enum

import pytest
from torch_here import NEEDED, drawn, torch, wt

pytestmark = NEEDED

SHAPES = {
    "contiguous": lambda: torch.randn(3, 5),
    "channels_last": lambda: torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
    "empty": lambda: torch.randn(0),
    "0-dim": lambda: torch.randn(()),
    "bfloat16": lambda: torch.randn(3, 5, dtype=torch.bfloat16),
    "transposed": lambda: torch.randn(3, 5).T,
}


def opcheck(name, *args, **how):
    torch.library.opcheck(getattr(torch.ops.widthwise, name).default, args, **how)


def arguments(x, format="e4m3fn"):
    return x, format, "rne", "e5m2", "rne", True, None, None


@pytest.mark.parametrize("kind", SHAPES)
def test_opcheck(kind):
    opcheck("quantize", *arguments(SHAPES[kind]().requires_grad_()))


@pytest.mark.parametrize("format", ["mxfp8_e4m3", "affine(int8,symmetric)"])
def test_opcheck_of_formats_that_share_scales(format):
    opcheck("quantize", *arguments(torch.randn(3, 32).requires_grad_(), format))


@pytest.mark.parametrize("kind", ["contiguous", "channels_last", "bfloat16"])
def test_opcheck_of_what_gradients_pass(kind):
    x = SHAPES[kind]() * 500
    opcheck("values_inside", SHAPES[kind]().to(x.dtype).requires_grad_(), x, "e4m3fn")


UNITS = ("mac(e5m10)", "fma.f32", None, None)  # and no multipliers


def test_opcheck_of_a_product():
    a, b, c = (drawn(*s).requires_grad_() for s in ((3, 2, 4), (4, 5), (5,)))
    opcheck("product", a, b, c, *UNITS, None)


def test_opcheck_of_a_convolution():
    x, w, c = (drawn(*s).requires_grad_() for s in ((2, 4, 6, 5), (6, 2, 3, 2), (6,)))
    opcheck("convolution", x, w, c, [1, 1], [1, 1], [1, 1], 2, *UNITS, None)


def fp8():
    return (drawn(n, 64, seed=n).to(torch.float8_e4m3fn) for n in (9, 11))


def test_opcheck_of_scaled_mm():
    """Without its check of the schema, which compares operands: torch does not do so in FP8."""
    a, b = fp8()
    half = torch.tensor(0.5)
    tests = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    how = (None, None, torch.bfloat16, True, "ada", 2, "serial", True)
    opcheck("scaled_mm", a, b.t(), half, half, *how, test_utils=tests)


# --- Compiled ------------------------------------------------------------------------------------


def compiled(f, backend="aot_eager"):
    """Inductor's code, which takes seconds of a C++ compiler, is asked for where it matters."""
    return torch.compile(f, fullgraph=True, backend=backend)


def test_compiled_forward_and_backward_equal_eager():
    weights, x = torch.linspace(0.1, 1.1, 24).view(4, 6), torch.randn(4, 6, requires_grad=True)

    def model(v):
        return wt.quantize(v * 2, "e4m3fn", backward="e5m2").relu() + 1

    fast = compiled(model, "inductor")
    (fast(x) * weights).sum().backward()
    g, x.grad = x.grad.clone(), None
    (model(x) * weights).sum().backward()
    assert torch.equal(g, x.grad) and torch.equal(fast(x), model(x))


CALLS = {
    "matmul": (((3, 2, 4), (4, 5), (5,)), lambda a, b, c: wt.matmul(a, b, c=c, unit="fma.f32")),
    "conv2d": (
        ((2, 4, 6, 5), (6, 2, 3, 2), (6,)),
        lambda x, w, c: wt.conv2d(x, w, c, 2, 1, groups=2, unit="fma.f32"),
    ),
}


@pytest.mark.parametrize("kind", CALLS)
def test_products_compile_forward_and_backward(kind):
    shapes, call = CALLS[kind]
    results = []
    for f in (call, compiled(call)):
        own = [drawn(*s, seed=i).requires_grad_() for i, s in enumerate(shapes)]
        z = f(*own)
        z.pow(2).sum().backward()
        results.append([z, *(t.grad for t in own)])
    *eager, bias = results[0]
    *quick, quick_bias = results[1]
    assert all(torch.equal(one, other) for one, other in zip(eager, quick, strict=True))
    torch.testing.assert_close(bias, quick_bias)  # torch's sum, in an order of its own


def test_scaled_mm_compiles():
    a, b = fp8()
    half = torch.tensor(0.5)

    def call(x, y):
        return wt.scaled_mm(x, y, half, half, out_dtype=torch.bfloat16, split=2) + 1

    assert torch.equal(compiled(call)(a, b.t()), call(a, b.t()))


def test_export_keeps_the_op():
    module = wt.Quantizer("e4m3fn")
    program = torch.export.export(module, (torch.randn(4, 6),)).run_decompositions()
    assert "widthwise.quantize" in str(program.graph)


def test_torchs_old_tracer_keeps_the_ops_with_their_gradients():
    """A result that it took for a constant would be that of the example, whatever comes after."""
    layers = torch.nn.Conv2d(2, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 3)
    model = wt.convert(torch.nn.Sequential(*layers), {"unit": "fma.f32", "input": "e4m3fn"})
    traced = torch.jit.trace(model, drawn(2, 2, 4, 4))
    x = drawn(5, 2, 4, 4, seed=1).requires_grad_()
    results = [f(x) for f in (traced, model)]
    assert torch.equal(*results)
    assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in results))


def test_a_traced_graph_keeps_the_op():
    from torch.fx.experimental.proxy_tensor import make_fx

    traced = make_fx(lambda x: wt.quantize(x, "e4m3fn") + 1)(torch.randn(4))
    assert "widthwise.quantize" in traced.code


def kept_scale(v):
    from widthwise.torch._static import scaled

    return scaled(v, "affine(int8)", torch.tensor(0.5), torch.tensor(3))


DIFFERENTIATED = {
    "quantize": lambda v: wt.quantize(v, "e4m3fn"),
    "blocks": lambda v: wt.quantize(v, "mxfp4"),
    "kept scale": kept_scale,
    "linear": lambda v: wt.linear(v, v, unit="mac(e5m10)"),
    "conv1d": lambda v: wt.conv1d(v, v[:, :, None], unit="mac(e5m10)"),
    "attention": lambda v: wt.attention(v, v, v, unit="mac(e5m10)"),
}


def dual(f, v):
    import torch.autograd.forward_ad as forward_ad

    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(v, torch.ones_like(v)))).tangent


FORWARD = {
    "jvp": lambda f, v: torch.func.jvp(f, (v,), (torch.ones_like(v),))[1],
    "jacfwd": lambda f, v: torch.func.jacfwd(f)(v),
    "dual numbers": dual,
}


@pytest.mark.parametrize("way", FORWARD)
@pytest.mark.parametrize("kind", DIFFERENTIATED)
def test_forward_mode_under_compile_is_refused(kind, way):
    """It would be zero in silence; without compiling it is had."""
    f, v = DIFFERENTIATED[kind], drawn(4, 4)
    assert FORWARD[way](f, v).any()
    torch._dynamo.reset()
    with pytest.raises(Exception, match="forward mode .* has no rule under torch.compile"):
        compiled(lambda v: FORWARD[way](f, v))(v)


def test_compiled_random_bits_equal_eagers():
    import torch._inductor.config as inductor

    dice, x = wt.Quantizer("e4m3fn", rounding="sr8"), torch.randn(4, 6)

    def seeded(f):
        torch.manual_seed(3)
        return f(x)

    with inductor.patch(fallback_random=True):
        assert torch.equal(seeded(compiled(dice, "inductor")), seeded(dice))


def test_twelve_seeds_compile_once():
    import torch._dynamo.testing as testing

    torch._dynamo.reset()
    counter = testing.CompileCounterWithBackend("aot_eager")
    x, seeds = torch.linspace(-3, 3, 24), [torch.tensor(s) for s in range(12)]

    def draw(v, s):
        return wt.quantize(v, "e4m3fn", "sr8", seed=s) + 0

    fast = compiled(draw, counter)
    assert all(torch.equal(fast(x, s), draw(x, s)) for s in seeds)
    assert counter.frame_count == 1
    assert len({tuple(draw(x, s).tolist()) for s in seeds}) > 6


WRONG = {
    "an idle axis": ({"axis": 0}, "axis = 0: numbers of e4m3fn have no scales"),
    "a backward format": ({"backward": "e99z"}, "format 'e99z', column 2"),
    "a rounding back": ({"backward_rounding": "up"}, "rounding 'up', column 1: no rounding 'up'"),
    "no format": ({"format": None}, "format = None: a format is wanted, as 'e4m3fn'"),
    "no text": ({"rounding": 5}, "rounding = 5: a text is wanted, as 'rne'"),
    "no text back": ({"backward_rounding": ["rne"]}, "backward_rounding = ['rne']: a text is"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_eager_code_refuses_compiled_code_does_in_the_same_words(case):
    wrong, text = WRONG[case]
    how = {"format": "e4m3fn"} | wrong
    said = []
    for compile in (lambda f: f, lambda f: torch.compile(f, backend="aot_eager")):
        torch._dynamo.reset()
        with pytest.raises((ValueError, TypeError)) as found:
            compile(lambda x: wt.quantize(x, **how))(torch.ones(2))
        said.append(str(found.value))
    assert said[0].startswith(text) and said[1] == said[0] and "\n" not in said[0]
    with pytest.raises(torch._dynamo.exc.Unsupported) as found:  # torch's own, around the words
        compiled(lambda x: wt.quantize(x, **how))(torch.ones(2))
    assert text in str(found.value)


def test_a_rounding_may_be_a_member_of_an_enumeration_of_texts():
    class Mode(enum.StrEnum):
        nearest = "rne"
        up = "rup"

    torch._dynamo.reset()
    x = torch.tensor([0.3, 1.7])
    for mode in Mode:
        found = torch.compile(lambda v, m=mode: wt.quantize(v, "e4m3fn", m), backend="aot_eager")(x)
        assert torch.equal(found, wt.quantize(x, "e4m3fn", mode.value))


def test_an_axis_that_varies_is_compiled_with_blocks():
    torch._dynamo.reset()
    x, fast = torch.randn(4, 32), compiled(lambda x, axis: wt.quantize(x, "mxfp4", axis=axis))
    for axis in (None, 0, 1, -1, -2):
        assert torch.equal(fast(x, axis), wt.quantize(x, "mxfp4", axis=axis))
