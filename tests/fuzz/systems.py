"""Fixed point, posits and takums, alone, among each other and beside floats, against the page.

Every element is asked of number_systems_ref.py's page: operations, conversions from and to what
Python and NumPy have, and units whose operands, products, sums and results are of any systems.
"""

from __future__ import annotations

from collections.abc import Iterator

import widthwise as ww
from arrays import Work, operands_at
from conversions import from_floats, from_integers, from_texts, to_floats
from dpu_ref import DETERMINISTIC
from drawn import MANNERS, codes, encoding
from elements import comparison, exact, integral, power, rounding
from systems_ref import Slot, System, Unit, dot, policy_of
from unit_texts import DrawUnits

ASKED = 50  # elements of an operation's arrays
OUTPUTS = 24  # of a unit
MOST_REFUSED = 200  # units that are drawn for one
WORKS = [*[rounding] * 6, exact, integral, power, comparison]
WORKS += [*[from_floats] * 3, to_floats, from_integers, from_texts]


def case(seed: str) -> Iterator[str]:
    draw = DrawUnits(seed)
    draw.systems = 0.7
    if draw.one_in(3):
        return (yield from outputs(draw))
    return (yield from elements(draw.pick(WORKS)(draw)))


def elements(work: Work) -> Iterator[str]:
    arrays = [x[:ASKED] for x in work.arrays]
    got, raised = work.run(arrays, True)
    for i in range(len(arrays[0])):
        want, of_want = work.ask(i)
        if (int(got[i]), int(raised[i])) != (want, of_want):
            answer = f"{int(got[i]):#x}, flags {raised[i]}; want {want:#x}, flags {of_want}"
            yield f"{work.said}: {operands_at(work, i)}: {answer}"
            break
    return len(arrays[0])


# --- Units ----------------------------------------------------------------------------------------


def outputs(draw: DrawUnits) -> Iterator[str]:
    text, unit = drawn_unit(draw)
    u = ww.Unit(text)
    k = draw.pick([1, 2, draw.between(3, 12)])
    target = encoding(u.result_format)
    ends = [draw.pick([0, target.emax // 2, target.emin // 2, target.emax]) for _ in "ab"]
    manner = draw.pick(MANNERS)
    a, b = (
        draw.array(f, (OUTPUTS, k), manner, end) for f, end in zip((u.a, u.b), ends, strict=True)
    )
    c = draw.array(u.c, (OUTPUTS,), draw.pick([manner, "named", "few"]), sum(ends))
    if k > 1 and draw.one_in(4):  # what cancels
        a[:, 1::2].bits[...] = ww.negate(a[:, 0 : k - k % 2 : 2]).bits
        b[:, 1::2].bits[...] = b[:, 0 : k - k % 2 : 2].bits
    seed = draw.random.getrandbits(64)
    how = {"engine": draw.pick(["auto", "reference"]), "seed": seed, "flags": True}
    got, raised = ww.dot(a, b, c=c, unit=u, **how)
    x, y, z = (codes(v).tolist() for v in (a, b, c))
    for i, (ours, flags) in enumerate(zip(codes(got).tolist(), raised.tolist(), strict=True)):
        want = dot(unit, x[i], y[i], z[i], seed, i)
        if (ours, flags) != want:
            given = f"a {list(map(hex, x[i]))}, b {list(map(hex, y[i]))}, c {z[i]:#x}, {how}"
            yield f"{text}, output {i}: {given}: {ours:#x}, flags {flags}; want {want}"
            break
    return OUTPUTS


def drawn_unit(draw: DrawUnits) -> tuple[str, Unit]:
    """A unit's text, and what it means."""
    refused: ValueError | None = None
    for _ in range(MOST_REFUSED):
        kind = draw.pick(["mac", "mac", "fma", "kulisch"])
        a, b, c, product, to, last = (slot_format(draw) for _ in range(6))
        if draw.one_in(3):
            b = c = product = to = a
        modes = [mode_of_slot(draw, f) for f in (product, to, last)]
        said = [a, f"b={b}", f"c={c}"]
        said += [f"product={product}:{modes[0]}"] * (kind == "mac")
        said.append(f"{'out' if kind == 'kulisch' else 'sum'}={to}:{modes[1]}")
        has_final = draw.one_in(4)
        said += [f"final={last}:{modes[2]}"] * has_final
        text = f"{kind}({', '.join(said)})"
        try:
            ww.Unit(text)
        except ValueError as why:
            refused = why
            continue
        rounds = zip((product, to, last), modes, strict=True)
        of_product, of_sum, of_last = (Slot(policy_of(f), mode) for f, mode in rounds)
        return text, Unit(
            kind,
            *(policy_of(f) for f in (a, b, c)),
            sum=of_sum,
            product=of_product if kind == "mac" else None,
            final=of_last if has_final else None,
        )
    raise AssertionError(f"{MOST_REFUSED} units in a row are refused, of the last: {refused}")


def slot_format(draw: DrawUnits) -> str:
    return draw.system_text() if not draw.one_in(4) else draw.float_text()


def mode_of_slot(draw: DrawUnits, text: str) -> str:
    """The page's random bits are those of its own systems; a float's slot takes none here."""
    if isinstance(policy_of(text), System):
        return draw.system_mode()
    return draw.pick(DETERMINISTIC)
