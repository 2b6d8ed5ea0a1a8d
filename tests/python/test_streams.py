"""ww.study.streamed: sums in pieces are the whole ones, in the memory of a piece."""

import os

import numpy as np
import pytest
import widthwise as ww
from peak_memory import printed_by
from widthwise import study

CONTINUED = [
    "mac(e5m10)",
    "fma(bfloat16)",
    "tree(e5m10, fan=4)",
    "dot(e5m10, lanes=4, align=3:rtz)",
    "hopper.e4m3.f32",
    "cdna3.bf8",
    "cdna2.bf16",  # reads its C otherwise than its running sum
    "mac(e5m10, sum=binary32)",  # and in another format
    "mac(e5m10, sum=binary32, final=e5m2)",
    "mac(e4m3fn, promote=32:e5m10)",
    "mac(e4m3fn, sum=e5m2, promote=32:e5m10, final=e4m3fn)",
    "kulisch(e5m10)",
    "kulisch(bfloat16, final=e5m10:rup)",
    "kulisch.f32",
    "dot(e5m10)",
    "dot(e5m10, out=bfloat16:rtz)",
    "fix24.wrap",
    "fixedacc(e5m2, frac=3, width=10)",  # wraps
    "fixedacc(e5m10, frac=2, width=60, overflow=flag, out=binary32)",
]
# What is held is more than one number, or random bits go by the place along k.
HELD = [
    "kahan(e5m10)",
    "neumaier(bfloat16)",
    "kahan(e5m10, final=e5m2)",
    "neumaier(e4m3fn, sum=e5m10, promote=32:e5m10)",
    "cdna1.f16",
    "mac(e5m10, sum=e5m10:sr8)",
    "tree(e5m10, fan=4, node=e5m10:sr5)",
    "mac(e4m3fn, sum=e5m2:sr8, promote=32:e5m10:sr4, final=e4m3fn:sr6)",
    "kahan(e5m10, sum=e5m10:sr8)",
    "kulisch(bfloat16, out=bfloat16:sr8)",
    "kulisch(bfloat16, out=bfloat16:sr8, final=e5m2:sr3)",
    '{a.fmt="e5m10", b.fmt="e5m10", c.fmt="e5m10", lanes=4, c_level="late", out.fmt="e4m5", '
    'chain.c_at="last", chain.c_round.fmt="e5m6"}',
]


@pytest.mark.parametrize("unit", [*CONTINUED, *HELD])
def test_a_stream_is_the_whole_sum(unit):
    rng = np.random.default_rng(3)
    u = ww.Unit(unit)
    a, b = (ww.array(rng.standard_normal(203), f) for f in (u.a, u.b))
    ends = [64, 96, 160, 203]
    pieces = [(a[i:j], b[i:j]) for i, j in zip([0, *ends], ends, strict=False)]
    found = study.streamed(iter([*pieces[:2], ([], []), *pieces[2:]]), u, seed=7)
    whole = study.accumulation(a, b, u, lengths=ends, seeds=[7])
    assert found.lengths == [64, 96, 96, 160, 203]
    for name in ("ulps", "relative", "error", "exact", "magnitude", "condition"):
        streamed, wanted = (getattr(x, name)[str(u)][0, 0].tolist() for x in (found, whole))
        assert streamed == [*wanted[:2], *wanted[1:]]


def test_a_piece_of_no_terms_leaves_the_register_as_it_was():
    # 2.875 has four digits below its leading one; a block that holds it alone cuts one of them
    unit = "dot(e5m10, lanes=4, align=3:rtz)"
    found = study.streamed([[1.875, 1.0, 0.0, 0.0], []], unit)
    assert [x.tolist() for x in found.error.values()] == [[[[0.0, 0.0]]]]
    assert study.streamed([[], [1.0]], unit).exact[found.units[0]].tolist() == [[[0.0, 1.0]]]


def test_a_long_piece_of_a_register_goes_in_by_parts():
    rng = np.random.default_rng(8)
    a, b = (ww.array(rng.standard_normal(5000), "bfloat16") for _ in range(2))
    whole = study.accumulation(a, b, "kulisch(bfloat16)", lengths=[3000, 5000])
    found = study.streamed([(a[:3000], b[:3000]), (a[3000:], b[3000:]), ([], [])], whole.units)
    (unit,) = found.units
    assert found.lengths == [3000, 5000, 5000]
    at_ends = whole.error[unit][0, 0].tolist()
    assert found.error[unit][0, 0].tolist() == [*at_ends, at_ends[-1]]


@pytest.mark.parametrize(
    "unit", ["blackwell.mxfp8", "blackwell.nvfp4", "kulisch(e4m3fn, scale=e8m0fnu:32:term)"]
)
def test_units_that_scale_blocks_are_studied_and_streamed(unit):
    rng = np.random.default_rng(4)
    u = ww.Unit(unit)
    block = u.scale_block
    a, b = (ww.array(rng.standard_normal((2, 200)), f) for f in (u.a, u.b))
    sa, sb = (np.exp2(rng.integers(-3, 3, (2, -(-200 // block)))) for _ in range(2))
    found = study.accumulation(a, b, u, scale_a=sa, scale_b=sb, lengths=[64, 128, 200])
    scaled = [
        x.to_fractions() * np.repeat(ww.array(s, u.scale_format).to_fractions(), block, -1)[:, :200]
        for x, s in ((a, sa), (b, sb))
    ]
    for i, n in enumerate([64, 128, 200]):
        z = ww.dot(
            *(x[:, :n] for x in (a, b)),
            unit=u,
            scale_a=ww.array(sa[:, : -(-n // block)], u.scale_format),
            scale_b=ww.array(sb[:, : -(-n // block)], u.scale_format),
        ).to_fractions()
        exact = (scaled[0][:, :n] * scaled[1][:, :n]).sum(axis=1)
        assert found.exact[str(u)][0, :, i] == pytest.approx(exact.astype(float), rel=4e-16)
        assert found.error[str(u)][0, :, i] == pytest.approx((z - exact).astype(float), rel=4e-16)
    assert (found.absolute[str(u)] <= found.bounds[str(u)] * found.magnitude[str(u)]).all()
    ends = [0, 64, 128, 200]
    pieces = [
        (
            a[0, i:j],
            b[0, i:j],
            sa[0, i // block : -(-j // block)],
            sb[0, i // block : -(-j // block)],
        )
        for i, j in zip(ends, ends[1:], strict=False)
    ]
    streamed = study.streamed(pieces, u)
    assert streamed.error[str(u)].tolist() == found.error[str(u)][:, :1].tolist()
    assert study.accumulation(a, b, u, scale_a=sa, scale_b=sb).lengths[-2:] == [192, 200]


STREAM = """
import sys
import numpy as np
import widthwise as ww

def pieces(count):
    for i in range(count):
        if i == 2:
            memory.append(peak())
        yield np.full(100_000, 0.1)

memory = []
found = ww.study.streamed(pieces(int(sys.argv[1])), sys.argv[2:], against="operands")
print(peak() - memory[0], found.lengths[-1], *(e[0, 0, -1] for e in found.error.values()))
"""


def test_a_long_stream_needs_the_memory_of_a_piece():
    long = "WIDTHWISE_LONG" in os.environ
    others = ["kahan(bfloat16)", "mac(bfloat16, sum=bfloat16:sr8)", "kulisch(bfloat16)"]
    pieces, units = (100, ["mac(bfloat16)", *others]) if long else (20, ["mac(bfloat16)"])
    grown, length, *errors = printed_by(STREAM, str(pieces), *units)
    assert grown < 2e6  # the codes alone of what follows the second piece take 3.6e6, or 20e6
    tenth = ww.array(0.1, "bfloat16").to_fractions().item()
    exact = length * tenth
    assert length == pieces * 100_000
    assert errors[0] == float(32 - exact)  # the wall
    if long:
        rounded = ww.array([float(exact)], "bfloat16").to_fractions()[0]
        assert errors[3] == float(rounded - exact)
        # At 4096 a term is less than a 256th of a step: 8 random bits never let it up.
        assert errors[2] == float(4096 - exact)


@pytest.mark.parametrize(
    "unit, why",
    [
        ("lowered.e4m3.f32", "permutes its lanes: no register takes its terms in order"),
        ("pairwise(e5m10)", "takes all of k at once, in several sums"),
        ("dot(e5m10, align=12:rtz)", "takes all of k at once, and aligns them to the largest"),
        ("fix24.sat", "in a register that saturates, with C after them"),
        (
            '{a.fmt="e5m10", b.fmt="e5m10", c.fmt="e5m10", lanes=0, c_level="group", '
            'group_sum.width=20, out.fmt="e5m10"}',
            "in a register that ends with the last digit of any",
        ),
        ("kulisch(e11m52)", "a register of 4229 digits; 4096 are the most"),
    ],
)
def test_a_unit_that_does_not_go_on_is_not_streamed(unit, why):
    with pytest.raises(ValueError, match=f"{why}.*; pass all terms at once to accumulation"):
        study.streamed([[1.0]], unit)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: study.streamed([([1.0],) * 3], "mac(e5m10)"), "a tuple of 3; a pair .a, b. is"),
        (
            lambda: study.streamed([1.5, 2.0], "mac(e5m10)"),
            r"one is 1.5, a single number; of one array x pass \[x\], or np.array_split\(x, n\)",
        ),
        (lambda: study.streamed([], "mac(e5m10)"), "pieces is empty; there is nothing to sum"),
        (
            lambda: study.streamed([[1.0], [1.0]], "tree(e5m10, fan=4)"),
            "one ended after 1 terms, within a block of unit .*; all but the last are of",
        ),
        (
            lambda: study.streamed([[1.0]], "kahan(e5m10)", engine="lanes"),
            "engine = 'lanes': a stream of unit .* goes on in the reference alone; leave it",
        ),
        (lambda: study.streamed([[[1.0]]], "mac(e5m10)"), r"sums of shape \(1,\); they are of"),
    ],
)
def test_what_makes_no_stream_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
