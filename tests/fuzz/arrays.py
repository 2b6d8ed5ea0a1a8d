"""One operation on arrays of elements: how it is run, and what an oracle says of one element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import widthwise as ww
from drawn import Draw, codes
from elementwise_ref import Operand
from systems_ref import AnyFormat, operand, policy_of

# On both sides of what is done by a table, of a chunk, of a vector's rest.
SIZES = [1, 7, 16, 33, 64, 200, 200, 600, 1000, 1023, 1025, 2100, 2100, 5000, 20_000, 140_000]
ASKED = 60  # elements of each array
Answer = tuple[int, int]


@dataclass
class Work:
    """An operation on arrays, each of which has an element for each result."""

    said: str
    arrays: list
    run: Callable[..., tuple[np.ndarray, np.ndarray]]  # arrays, flags -> results, flags raised
    ask: Callable[[int], Answer]  # what an oracle says of one element


def differences(draw: Draw, work: Work) -> Iterator[str]:
    """What is wrong of one array, without flags, of a piece alone; it returns what was compared."""
    size = len(work.arrays[0])
    got, raised = work.run(work.arrays, True)
    quick, _ = work.run(work.arrays, False)
    yield from first_difference("without flags", quick, got, work)
    n = draw.between(1, min(size, 100))
    piece, flags = work.run([x[:n] for x in work.arrays], True)
    yield from first_difference(f"the first {n} alone", piece, got[:n], work)
    yield from first_difference(f"flags of the first {n} alone", flags, raised[:n], work)
    asked = range(size) if size <= ASKED else draw.random.sample(range(size), ASKED)
    for i in asked:
        want, of_want = work.ask(i)
        if (int(got[i]), int(raised[i])) != (want, of_want):
            answer = f"{int(got[i]):#x}, flags {raised[i]}; want {want:#x}, flags {of_want}"
            yield f"{work.said}: element {i} of {size}, {operands_at(work, i)}: {answer}"
            break
    return size + 2 * n + len(asked)


def first_difference(what: str, ours: np.ndarray, theirs: np.ndarray, work: Work) -> Iterator[str]:
    wrong = np.flatnonzero(ours != theirs)
    if len(wrong):
        i = int(wrong[0])
        answer = f"{ours[i]} and not {theirs[i]}"
        yield f"{work.said}: {what}, element {i} of {len(theirs)}, {operands_at(work, i)}: {answer}"


def operands_at(work: Work, i: int) -> list[str]:
    """As codes in hexadecimal, or as they were given."""
    return [hex(int(codes(x)[i])) if isinstance(x, ww.Array) else str(x[i]) for x in work.arrays]


def policy(f: ww.Format) -> AnyFormat:
    return policy_of(str(f))


def numbers(x: list[ww.Array], i: int) -> list[Operand]:
    return [operand(policy(a.format), int(codes(a)[i])) for a in x]


def run_by(call: Callable, **settings) -> Callable:
    """An operation of the package's: codes and flags."""

    def run(arrays: list, flags: bool) -> tuple[np.ndarray, np.ndarray]:
        z = call(*arrays, flags=flags, **settings)
        values, raised = z if flags else (z, None)
        return codes(values) if isinstance(values, ww.Array) else values, raised

    return run
