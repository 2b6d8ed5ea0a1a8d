"""The user's own random bits for stochastic rounding: operations, conversions, units, vectors."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
import widthwise as ww
from commands import widthwise
from random_words import SLOTS, UNITS, generated
from widthwise import _widthwise as core
from widthwise import testing

FORMATS = ["e5m10", "e4m3fn", "e5m2", "binary8p3", "e8m0fnu", "ue5m3", "e15m112", "e4m3;ftz"]


def rounded_by(value, bits, r, f, variant=""):
    """semantics R6 of a finite number below the largest, by Fractions: away from zero or not."""
    least = f.emin - f.fraction_bits
    size = abs(value)
    exponent = max(exponent_of(size), f.emin) if value else f.emin
    step = Fraction(2) ** max(exponent - f.fraction_bits, least)
    below = floor(size / step)
    delta = size / step - below
    k = Fraction(2) ** bits
    away = {
        "": floor(delta * k) + r >= k,
        ":half": floor(delta * 2 * k) + 2 * r + 1 >= 2 * k,
        ":even": round(delta * k) + r >= k,
    }[variant]
    return (below + (away and delta > 0)) * step * (-1 if value < 0 else 1)


def exponent_of(size):
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= size else exponent - 1


@pytest.mark.parametrize("variant", ["", ":half", ":even"])
@pytest.mark.parametrize("bits", [1, 3, 8])
def test_every_word_rounds_as_the_definition_has_it(bits, variant):
    f = ww.Format("e4m3fn")
    values = [Fraction(n, 4096) for n in (-70000, -4097, -3, 0, 1, 7, 9, 33, 130, 4099, 69000)]
    r = np.arange(1 << bits)
    got = ww.array(
        [[v] * len(r) for v in values], f, rounding=f"sr{bits}{variant}", random=r
    ).to_fractions()
    for row, v in zip(got, values, strict=True):
        assert row.tolist() == [rounded_by(v, bits, int(i), f, variant) for i in r]


@pytest.mark.parametrize(
    "x", [0.3, -0.3, 1 / 3, "1/3", Fraction(1, 3), 7, 2**70 + 1, np.float32(3)]
)
def test_every_kind_of_value_takes_the_same_words(x):
    words = np.arange(16)
    one = ww.array([Fraction(ww.array(x, "binary128").to_fractions()[()])] * 16, "e3m2")
    exact = Fraction(x) if not isinstance(x, np.generic) else Fraction(float(x))
    got = ww.array([x] * 16, "e8m2", rounding="sr4", random=words)
    wanted = [rounded_by(exact, 4, int(r), ww.Format("e8m2")) for r in words]
    assert one.shape == got.shape and got.to_fractions().tolist() == wanted


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("op", ["add", "multiply", "divide", "sqrt", "fma", "convert", "remainder"])
def test_the_generators_own_words_give_what_the_seed_gives(format, op):
    f = ww.Format(format)
    special = ww.from_bits(testing.special_codes(f), f)
    n = len(special)
    x, y = special[:, None], special[None, :]
    args = [np.broadcast_to(x._items, (n, n)), np.broadcast_to(y._items, (n, n))]
    args = [x._from_items(a) for a in args][: min(2, core.arity(op))]
    args += [args[0][::-1]] * (core.arity(op) - len(args))
    seed, bits = 12345, 13
    words = generated(seed, bits, n * n)
    how = {"rounding": f"sr{bits}", "flags": True}
    to = {"format": "e5m3"} if op == "convert" else {}
    call = getattr(ww, op)
    a, raised = call(*args, seed=seed, **how, **to)
    b, again = call(*args, random=words.reshape(n, n), **how, **to)
    np.testing.assert_array_equal(a.bits, b.bits)
    np.testing.assert_array_equal(raised, again)
    if core.mpfr_version is not None and op != "remainder":
        assert ww.verify(
            op, *args, rounding=f"sr{bits}", random=words.reshape(n, n), to=to.get("format", format)
        )


def test_scaleb_and_integers_take_words():
    x = ww.array([5.0, 7.0, -7.0], "e5m10")
    words = [0, 3, 1]
    z = ww.scaleb(x, -24, rounding="sr2", random=words)
    step = Fraction(2) ** -24
    assert z.to_fractions().tolist() == [5 * step, 7 * step, -7 * step]
    halves = ww.array([2.25, 2.25, -2.75], "e5m10")
    assert ww.to_integer(halves, rounding="sr2", random=[2, 3, 1]).tolist() == [2, 3, -3]
    z = ww.from_integer([2049, 2049, 4099], "e5m10", rounding="sr1", random=[0, 1, 0])
    assert z.to_fractions().tolist() == [2048, 2050, 4096]
    assert ww.fmod(x, ww.array(4.0, "e5m10"), format="e2m1fn", rounding="sr1", random=1).size == 3
    assert ww.round_to_integral(halves, rounding="sr2", random=3).to_float64().tolist() == [
        3,
        3,
        -3,
    ]


def test_a_word_for_all_is_broadcast_and_64_bits_fit():
    x = ww.array([1.0, 2.0], "e5m10")
    y = ww.array([2.0**-12] * 2, "e5m10")
    top = (1 << 64) - 1
    for words in (top, [top], np.uint64(top), np.array([top, top], object)):
        z = ww.add(x, y, rounding="sr64", random=words)
        assert (z.to_float64() > x.to_float64()).all()
    assert (ww.add(x, y, rounding="sr64", random=0).bits == x.bits).all()
    assert ww.add(ww.zeros(0, "e5m10"), ww.zeros(0, "e5m10"), rounding="sr8", random=[]).size == 0


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize(
    "format",
    ["mxfp4", "mxfp8_e4m3", "nvfp4", "mxint8", "bfp(8,16,e8)", "block(e4m3fn,16,binary32)"],
)
def test_elements_of_blocks_take_words_by_their_place(format, axis):
    x = np.random.default_rng(5).normal(size=(6, 40))
    seed, bits = 99, 7
    words = generated(seed, bits, x.size).reshape(x.shape)
    how = {"axis": axis, "rounding": f"sr{bits}"}
    z = ww.blocks(x, format, **how, random=words)
    assert (z.elements.bits == ww.blocks(x, format, **how, seed=seed).elements.bits).all()
    ends = [ww.blocks(x, format, **how, random=w).to_float64() for w in (0, (1 << bits) - 1)]
    assert (np.abs(ends[0]) <= np.abs(z.to_float64())).all()
    assert (np.abs(z.to_float64()) <= np.abs(ends[1])).all() and (ends[0] != ends[1]).any()


def test_words_go_with_no_rounding_of_another_packages():
    with pytest.raises(ValueError, match="random is given and rounding = 'rne' takes no random"):
        ww.blocks([1.0, 2.0], "mxfp4", like="microxcaling", random=3)
    with pytest.raises(ValueError, match="random is given and rounding = 'rne' takes no random"):
        ww.scaled([1.0, 2.0], "sfloat16", random=3)


@pytest.mark.parametrize("like", [None, "notebook"])
@pytest.mark.parametrize("dtype", ["sint8", "sint16", "sint32"])
def test_scaled_integers_take_words_by_their_place(dtype, like):
    x = np.random.default_rng(6).normal(size=(5, 7))
    words = generated(8, 9, x.size).reshape(x.shape)
    how = {"rounding": "sr9", "like": like}
    z = ww.scaled(x, dtype, **how, random=words)
    assert (z.data == ww.scaled(x, dtype, **how, seed=8).data).all()
    part = z[1:]  # without the largest one, so that all get another scale
    again = part.requantise(random=words[:4])
    assert (again.data == part.requantise(seed=8).data).all()
    assert dtype == "sint32" or (again.data != part.requantise(seed=9).data).any()


@pytest.mark.parametrize(
    "how, error, message",
    [
        ({"random": [0, 256]}, ValueError, r"random\[1\] = 256: rounding = 'sr8' takes 8 random"),
        ({"random": -1}, ValueError, "random = -1: rounding = 'sr8' takes 8 random bits, 0 to 255"),
        ({"random": 1 << 70}, ValueError, "random = 1180591620717411303424: .* 0 to 255"),
        ({"random": [0.5, 1]}, TypeError, "random holds float64; rounding = 'sr8' takes integers"),
        ({"random": [1, 2, 3]}, ValueError, r"random has shape \(3,\), and the roundings have sh"),
        (
            {"random": 1, "seed": 7},
            ValueError,
            "random and seed = 7 are given; the bits are of one",
        ),
        (
            {"random": 1, "rounding": "rne"},
            ValueError,
            "random is given and rounding = 'rne' takes",
        ),
    ],
)
def test_wrong_words_are_refused(how, error, message):
    x = ww.array([1.0, 2.0], "e5m10")
    how = {"rounding": "sr8"} | how
    calls = [lambda: ww.add(x, x, **how), lambda: x.astype("e4m3fn", **how)]
    calls += [lambda: ww.array([0.1, "1/3"], "e5m10", **how)]
    calls += [lambda: ww.array([0.1, 0.2], "e5m10", **how)]
    calls += [lambda: ww.from_integer([1, 2], "e5m10", **how), lambda: ww.scaleb(x, 1, **how)]
    calls += [lambda: ww.blocks([0.1, 0.2], "mxfp4", **how), lambda: ww.affine([0.1, 0.2], **how)]
    calls += [lambda: ww.scaled([0.1, 0.2], "sint8", **how)]
    for call in calls:
        with pytest.raises(error, match=message):
            call()


# --- Units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("k", [1, 4, 7])
def test_the_generators_words_in_the_ports_order_give_the_seeds_results(unit, k):
    u = ww.Unit(unit)
    if not u.random_ports(k):
        assert unit.startswith(("tree", "pairwise")) and k == 1
        return
    seed, m, n = 99, 8, 6
    rng = np.random.default_rng(k)
    a = ww.array(rng.standard_normal((m, k)), u.a)
    b = ww.array(rng.standard_normal((k, n)), u.b)
    with np.errstate(over="ignore"):
        a[0, 0] = float("inf")
    words = {
        name: np.stack([generated(seed, bits, m * n, SLOTS[name], s) for s in steps], -1)
        for name, (bits, steps) in steps_of(u, k).items()
    }
    assert {
        name: (b, w.shape[-1])
        for (name, w), (b, _) in zip(words.items(), u.random_ports(k).values(), strict=True)
    } == u.random_ports(k)
    shaped = {name: w.reshape(m, n, -1) for name, w in words.items()}
    given = shaped if len(shaped) > 1 else next(iter(shaped.values()))
    z, flags = ww.matmul(a, b, unit=u, seed=seed, flags=True)
    y, again = ww.matmul(a, b, unit=u, random=given, flags=True)
    np.testing.assert_array_equal(y.bits, z.bits)
    np.testing.assert_array_equal(again, flags)
    other = ww.matmul(a, b, unit=u, seed=seed + 1)
    assert k < 7 or (other.bits != z.bits).any()


def steps_of(u, k):
    """Where each word of a port is drawn, by the shape of these units alone."""
    ports = u.random_ports(k)
    lanes = int(u.fields.get("lanes", 1)) or k
    blocks = list(range(0, -(-k // lanes) * lanes, lanes))
    products = list(range(blocks[-1] + lanes))
    found = {}
    for name, (bits, n) in ports.items():
        if name.split("_")[-1] in ("product", "difference", "error", "compensation", "addend"):
            steps = products
        elif name == "random":
            steps = blocks
        elif name in ("random_group_sum", "random_block_sum"):
            steps = [first + i for first in blocks for i in range(1, lanes)]
            steps = steps + [] if n == len(steps) else sorted({*steps, *blocks})
        elif name == "random_promote":
            steps = [min(at + 4, len(products)) - lanes for at in range(0, len(products), 4)]
        elif name == "random_compensated":
            steps = blocks[-1:]
        else:
            steps = [0]
        assert len(steps) == n, (name, n, steps)
        found[name] = bits, steps
    return found


def test_a_dot_product_by_words_of_ones_own():
    """Each step by Fractions."""
    rng = np.random.default_rng(5)
    a, b = (ww.array(rng.integers(1, 200, (6, 9)), "e4m7") for _ in range(2))
    words = rng.integers(0, 32, (6, 9))
    got = ww.dot(a, b, unit="fma(e4m7, sum=e8m4:sr5)", random=words)
    f = ww.Format("e8m4")
    for row in range(6):
        total = Fraction(0)
        for x, y, r in zip(a[row], b[row], words[row], strict=True):
            exact = total + x.to_fractions()[()] * y.to_fractions()[()]
            total = rounded_by(exact, 5, int(r), f)
        assert got[row].to_fractions()[()] == total
        trace = ww.trace("fma(e4m7, sum=e8m4:sr5)", a[row], b[row], random=words[row])
        assert trace.result.bits == got[row].bits
    summed = ww.sum(a, unit="fma(e4m7, sum=e8m4:sr5)", random=words)
    one = ww.dot(a, ww.array(np.ones((6, 9)), "e4m7"), unit="fma(e4m7, sum=e8m4:sr5)", random=words)
    assert (summed.bits == one.bits).all()


@pytest.mark.parametrize(
    "unit, random, message",
    [
        ("mac(e5m10)", 0, r"random is given and unit .* rounds nothing stochastically at k = 2"),
        (UNITS[0], [[0, 1, 2]], r"random\['random'\] has shape \(1, 3\), and the roundings have"),
        (UNITS[0], 256, r"random\['random'\] = 256: unit .* takes 8 random bits, 0 to 255"),
        (
            UNITS[1],
            0,
            "random has one array; unit .* takes a dict with 'random_product': 2 words of 5",
        ),
        (UNITS[1], {"sum": 0}, "random has 'sum'; unit .* 'random': 2 words of 13 bits an output"),
    ],
)
def test_wrong_words_of_a_unit_are_refused(unit, random, message):
    u = ww.Unit(unit)
    x = ww.array([1.0, 2.0], u.a)
    with pytest.raises(ValueError, match=message):
        ww.dot(x, x, unit=u, random=random)
    with pytest.raises(ValueError, match="engine = 'blocks'; the reference alone takes"):
        ww.dot(x, x, unit=u, random=random, engine="blocks")
    with pytest.raises(ValueError, match="k = 0: a dot product of no element"):
        u.random_ports(0)


# --- The command ---------------------------------------------------------------------------------


def command(*arguments, stdin=""):
    done = widthwise(*arguments, stdin=stdin)
    return done.returncode, done.stdout, done.stderr


def test_op_takes_random_bits():
    task = ["op", "add", "e5m10", "1", "0x0c00", "--rounding", "sr8"]  # 2^-12, a quarter of a step
    assert "0x3c00" in command(*task, "--random", "0xbf")[1]
    status, out, _ = command(*task, "--random", "0b11000000")
    assert status == 0 and "0x3c01" in out
    assert command(*task, "--random", "256")[::2] == (
        2,
        "widthwise: --random = 256: --rounding = sr8 takes 8 random bits, 0 to 255\n",
    )
    assert "--random = x: an integer is wanted, as 255" in command(*task, "--random", "x")[2]
    exact = command("op", "less", "e5m10", "1", "2", "--random", "1")
    assert exact[::2] == (2, "widthwise: --random = 1: less rounds nothing; leave it out\n")
    scaled = ["op", "scaleb", "e5m10", "0x0001", "-1", "--rounding", "sr1", "--random"]
    assert "0x0000" in command(*scaled, "0")[1] and "0x0001" in command(*scaled, "1")[1]


@pytest.mark.parametrize("op, more", [("add", []), ("mulAdd", []), ("convert", ["--to", "i32"])])
def test_vectors_of_stochastic_rounding_carry_their_bits(op, more):
    task = ["--op", op, "--format", "e4m3fn", "--rounding", "sr6", *more]
    status, lines, _ = command("vectors", *task, "-n", "500")
    operands = {"add": 2, "mulAdd": 3, "convert": 1}[op]
    rows = [line.split() for line in lines.splitlines()]
    assert status == 0 and {len(row) for row in rows} == {operands + 3}
    words = [int(row[operands], 16) for row in rows]
    assert min(words) == 0 and max(words) == 63 and len(set(words)) > 50
    assert command("verify", *task, stdin=lines)[1] == "500 vectors, 0 errors\n"
    x = [ww.from_bits([int(row[i], 16) for row in rows], "e4m3fn") for i in range(operands)]
    if op == "convert":
        z, flags = ww.to_integer(x[0], "int32", rounding="sr6", random=words, flags=True)
        codes = z.view(np.uint32).tolist()
    else:
        call = ww.add if op == "add" else ww.fma
        z, flags = call(*x, rounding="sr6", random=words, flags=True)
        codes = z.bits.tolist()
    assert codes == [int(row[-2], 16) for row in rows]
    assert flags.tolist() == [int(row[-1], 16) for row in rows]


def test_verify_refuses_lines_whose_bits_are_wrong():
    task = ["--op", "add", "--format", "e4m3fn", "--rounding", "sr6"]
    status, _, err = command(
        "verify", *task, stdin="38 10 00 38 01\n38 10 3F 39 01\n38 10 3F 38 01"
    )
    assert status == 1 and "line 3: 38 10 3F: the vector has 38 01, this is 39 01" in err
    assert (
        "line 1: random = '40' is too long; it has 6 bits"
        in command("verify", *task, stdin="38 10 40 38 01")[2]
    )
    assert (
        "5 are wanted: operands a and b, random bits, result, flags"
        in command("verify", *task, stdin="38 10 38 01")[2]
    )
    compared = ["--op", "le", "--format", "e4m3fn", "--rounding", "sr6"]
    assert command("verify", *compared, stdin="38 10 0 00")[1] == "1 vectors, 0 errors\n"
