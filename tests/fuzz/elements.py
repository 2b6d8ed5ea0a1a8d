"""Operations element by element, of any formats: array against piece, with flags and without.

How an array is computed hangs on its size, on flags, on formats and mode. Every case computes one
array both ways, a piece of it by itself, and asks elementwise_ref.py about some elements.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import widthwise as ww
from arrays import SIZES, Answer, Work, differences, numbers, policy, run_by
from drawn import MANNERS, Draw, drawn_format, encoding
from elementwise_ref import EXACT, How
from systems_ref import (
    class_of,
    compared,
    neighbour,
    result,
    round_to_integral,
    scaled,
    to_integer,
    total_order,
    with_sign,
)

SIGNS = {"negate": 1, "abs": 1, "copysign": 2}
INTEGERS = {"int32": (32, True), "uint32": (32, False), "int64": (64, True), "uint64": (64, False)}
COMPARISONS = ["equal", "less", "less_equal", "greater", "greater_equal"]
COMPARISONS += [f"{name}_signaling" for name in COMPARISONS] + ["not_equal", "unordered"]


def case(seed: str) -> Iterator[str]:
    draw = Draw(seed)
    draw.usual, draw.exp_bits = draw.one_in(2), draw.pick([4, 5, 8, 8, 11])
    work = draw.pick([rounding] * 6 + [exact, integral, integers, power, comparison])(draw)
    return (yield from differences(draw, work))


# --- What is drawn --------------------------------------------------------------------------------


def operands(draw: Draw, formats: list[ww.Format], to: ww.Format) -> list[ww.Array]:
    size = draw.pick(SIZES)
    manner, end = draw.pick([*MANNERS, "edge", "edge"]), encoding(to)
    target = draw.pick([end.emax, end.emin, end.emin - end.frac_bits])
    whole = draw.between(min(0, target), max(0, target))
    targets = [whole, target - whole, target]
    if len(formats) == 1:
        targets = [target]
    arrays = [draw.array(f, (size,), manner, e) for f, e in zip(formats, targets, strict=False)]
    if len(arrays) > 1 and draw.one_in(6):  # numbers that cancel, or nearly
        few = draw.numpy.random(size) < 0.5
        if arrays[0].format == arrays[-1].format:
            arrays[-1].bits[few] = arrays[0].bits[few]
    return arrays


def how(draw: Draw, to: ww.Format) -> tuple[How, dict]:
    """What the oracle is told, and what the package."""
    nan = draw.pick(["canonical", "canonical", "negative", "propagate", "x86"])
    rm = draw.mode_of(to)
    told = How(rm, draw.pick(["after", "before", "delivered"]), nan, draw.random.getrandbits(64))
    return told, {"rounding": rm, "tininess": told.tininess, "nan": nan, "seed": told.seed}


# --- The operations -------------------------------------------------------------------------------


def rounding(draw: Draw) -> Work:
    op = draw.pick([name for name in EXACT for _ in range(3 if name in OFTEN else 1)])
    count = 3 if op == "fma" else 1 if op in ("sqrt", "convert", "logb") else 2
    to = drawn_format(draw)
    alike = draw.one_in(2)
    formats = [to if alike else drawn_format(draw) for _ in range(count)]
    told, settings = how(draw, to)
    x = operands(draw, formats, to)
    said = f"{op} of {', '.join(map(str, formats))} to {to}, {settings}"
    call = run_by(getattr(ww, op), format=to, **settings)
    return Work(said, x, call, lambda i: result(op, policy(to), told, numbers(x, i), i))


OFTEN = ("add", "multiply", "fma", "convert", "divide", "sqrt")


def exact(draw: Draw) -> Work:
    """Signs and neighbours. Policies of the format do not come in."""
    op = draw.pick([*SIGNS, "next_up", "next_down"])
    f = drawn_format(draw)
    if f.system == "float":
        f = ww.Format(str(f).split(";daz")[0].split(";ftz")[0].split(";over")[0])
    x = operands(draw, [f] * SIGNS.get(op, 1), f)

    def ask(i: int) -> Answer:
        a, *b = numbers(x, i)
        if op.startswith("next"):
            return neighbour(a, op == "next_up")
        return with_sign(a, {"negate": 1 - a.s, "abs": 0}.get(op, b[0].s if b else 0))

    return Work(f"{op} of {f}", x, run_by(getattr(ww, op)), ask)


def integral(draw: Draw) -> Work:
    f, to, tells = drawn_format(draw), drawn_format(draw), draw.one_in(2)
    told, settings = how(draw, to)
    x = operands(draw, [f], ww.Format("e5m4"))
    said = f"round_to_integral of {f} to {to}, exact={tells}, {settings}"
    call = run_by(ww.round_to_integral, exact=tells, format=to, **settings)
    return Work(
        said, x, call, lambda i: round_to_integral(policy(to), told, tells, *numbers(x, i), i)
    )


def integers(draw: Draw) -> Work:
    f, dtype = drawn_format(draw), draw.pick(list(INTEGERS))
    told, settings = how(draw, f)
    x = operands(draw, [f], ww.Format(draw.pick(["e5m4", "e6m33", "e7m63"])))
    call = run_by(ww.to_integer, dtype=dtype, rounding=told.rm, seed=told.seed)
    said = f"to_integer of {f} to {dtype}, {settings}"
    return Work(said, x, call, lambda i: to_integer(*INTEGERS[dtype], told, *numbers(x, i), i))


def power(draw: Draw) -> Work:
    f, to = drawn_format(draw), drawn_format(draw)
    told, settings = how(draw, to)
    x = operands(draw, [f], f)
    most = draw.pick([2, 20, 300, 5000])
    x.append(draw.numpy.integers(-most, most + 1, len(x[0])))
    call = run_by(ww.scaleb, format=to, **settings)
    said = f"scaleb of {f} to {to}, {settings}"
    return Work(
        said, x, call, lambda i: scaled(policy(to), told, *numbers(x[:1], i), int(x[1][i]), i)
    )


def comparison(draw: Draw) -> Work:
    name = draw.pick([*COMPARISONS, "total_order", "total_order_magnitude", "classify"])
    f = drawn_format(draw)
    one = name.startswith("total") or name == "classify" or draw.one_in(3)
    x = operands(draw, [f, f if one else drawn_format(draw)], f)
    said = f"{name} of {x[0].format} and {x[1].format}"

    def ask(i: int) -> Answer:
        a, b = numbers(x, i)
        if name == "classify":
            return CLASSES.index(class_of(a)), 0
        if name.startswith("total"):
            return int(total_order(a, b, name.endswith("magnitude"))), 0
        return compared(name, a, b)

    if name == "classify":
        return Work(said, x, classes, ask)
    return Work(said, x, run_by(getattr(ww, name)), ask)


CLASSES = [f"negative_{kind}" for kind in ("infinity", "normal", "subnormal", "zero")]
CLASSES += [f"positive_{kind}" for kind in ("zero", "subnormal", "normal", "infinity")]
CLASSES = ["signaling_nan", "quiet_nan", *CLASSES]


def classes(arrays: list[ww.Array], flags: bool) -> tuple[np.ndarray, np.ndarray]:
    said = ww.classify(arrays[0])
    return np.array([CLASSES.index(name) for name in said]), np.zeros(len(said), np.uint8)
