"""Our results against MPFR's, or against a file of vectors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from . import _codes
from . import _widthwise as core
from ._array import Array
from ._dot import Operands, Work
from ._format import Format, as_format, optional_format
from ._format_texts import said
from ._missing import asks_for
from ._operands import broadcast, check_count, operands, result_format
from ._random import random_source
from ._settings import How, checked_seed, whole
from ._unit import Unit, as_unit, titled

CHUNK = 1 << 20  # bytes of vectors read at a time


@dataclass
class Verdict:
    """How many results were looked at, how many differ, and the first of those.

    True if there were some and all agree.

    >>> bool(Verdict("add", "a file", vectors=0, errors=0))
    False
    """

    what: str
    against: str
    vectors: int
    errors: int
    failures: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.vectors > 0 and self.errors == 0

    def __str__(self) -> str:
        line = f"{self.what}: {self.vectors} vectors, {self.errors} errors against {self.against}"
        return "\n".join([line, *self.failures])


class MissingMpfr(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "this build has no MPFR: install libmpfr-dev (Debian) and build again, or verify "
            "against a vector file, vectors='file'"
        )


@asks_for("ww.verify('add', format='e5m10')")
def verify(
    what: str | Unit,
    *args: Any,
    format: str | Format | None = None,
    to: str | Format | None = None,
    rounding: str = "rne",
    tininess: str = "after",
    nan: str = "canonical",
    n: int = 10_000,
    k: int = 64,
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    seed: int = 0,
    random: Any = None,
    vectors: str | os.PathLike[str] | None = None,
    words: str = "ieee",
) -> Verdict:
    """Compute again with MPFR, or take a file's word, and count the results that differ.

    Args:
        what: an operation, as 'fma' (add subtract multiply divide remainder sqrt fma convert
            round_to_integral round_to_integral_exact), or a unit.
        args: its operands; without them n random and directed ones are drawn, of `format`, for a
            unit n dot products of length k.
        to: the results' format, if not the operands'.
        rounding, tininess, nan: of an operation, as in `ww.add`. With another `nan` than canonical
            the NaN of a file's lines have to agree in every bit.
        seed: of what is drawn, and of stochastic rounding. Operands are random and directed: ends,
            specials, powers of two and their neighbours; of a conversion to fixed point, a posit or
            a takum one in four lies on a border between two codes or beside it.
        random: an operation's random bits in place of a seed, as in `ww.add`.
        k, c, scale_a, scale_b: of a unit's dot products, as in `ww.dot`.
        vectors: a TestFloat file for the operation in place of MPFR (`widthwise verify`).
        words: flopoco, of such a file: its lines have FloPoCo's words and no flags.
    Returns:
        A Verdict: true if no result differs, and printed a line and the first that do.
    Raises:
        RuntimeError: this build has no MPFR.    ValueError: MPFR does not know the operation.
        TypeError: not so many operands.

    >>> import widthwise as ww
    >>> print(ww.verify("add", format="e5m10", n=1000))  # doctest: +ELLIPSIS
    add of e5m10, e5m10 to e5m10, rne: 1000 vectors, 0 errors against MPFR ...
    """
    n, k = whole("n", n), whole("k", k)
    if words not in ("ieee", "flopoco"):
        raise ValueError(f"words = {words!r}: it may be ieee or flopoco")
    if words == "flopoco":
        if args or random is not None or (tininess, nan) != ("after", "canonical"):
            raise ValueError(
                "words = 'flopoco' takes a file's lines, and leaves no choice of tininess, nan and "
                "random; leave those and operands out"
            )
        return verify_words(str(what), format, to, rounding, vectors)
    if vectors is not None:
        task = (str(what), str(as_format(format or "")), str(to or ""), rounding, tininess, nan)
        with open(vectors, "rb") as lines:
            return check_vectors(task, lines, str(vectors), nan_bits=nan != "canonical")
    if core.mpfr_version is None:
        raise MissingMpfr
    if isinstance(what, Unit) or "(" in what or what in core_units():
        if random is not None:
            raise ValueError("random is given, and a unit is verified by seed; leave it out")
        return verify_unit(as_unit(what), args, n, k, c, scale_a, scale_b, seed)
    env = core.Env(rounding, tininess, nan)
    return verify_operation(what, args, format, to, env, rounding, n, seed, random)


def verify_words(
    op: str,
    format: str | Format | None,
    to: str | Format | None,
    rounding: str,
    vectors: str | os.PathLike[str] | None,
) -> Verdict:
    from ._flopoco import FlopocoVectors

    if vectors is None:
        raise ValueError("words = 'flopoco' is of a file's lines; name it, as vectors='lines.txt'")
    found = FlopocoVectors(op, str(as_format(format or "")), str(to or ""), rounding)
    with open(vectors, "rb") as lines:
        return found.check(lines, str(vectors), flags=False, latency=0, seed=0)


def core_units() -> Any:
    from ._unit import units

    return units


def random_codes(count: int, shape: tuple[int, ...], format: Format, seed: int) -> list[Array]:
    arrays = [Array._of(_codes.empty(shape, format), format) for _ in range(count)]
    core.random_operands(format._core, seed, [x.bits for x in arrays])
    return arrays


def drawn_operands(op: str, n: int, f: Format, to: Format | None, seed: int) -> list[Array]:
    arrays = random_codes(core.arity(op), (n,), f, seed)
    if op == "convert" and to is not None:
        core.operands_to_borders(f._core, to._core, seed, arrays[0].bits)
    return arrays


def verify_operation(
    op: str,
    args: tuple[Any, ...],
    format: str | Format | None,
    to: str | Format | None,
    env: core.Env,
    rounding: str,
    n: int,
    seed: int,
    random: Any,
) -> Verdict:
    from_format = optional_format(format)
    if args:
        check_count(op, core.arity(op), args)
        arrays = operands(dict(zip("xyz", args, strict=False)), from_format)
    elif from_format is None:
        raise TypeError("format: without operands it is needed, to draw them, as format='e5m10'")
    else:
        arrays = drawn_operands(op, n, from_format, optional_format(to), checked_seed(seed))
    named = dict(zip("xyz", arrays, strict=False))
    out = result_format(named, optional_format(to))
    codes, shape = broadcast(named)
    result = _codes.empty(shape, out)
    flags = np.empty(shape, np.uint8)
    pairs = [(x.format._core, bits) for x, bits in zip(arrays, codes, strict=True)]
    bits = random_source(random, 0 if random is not None else seed, env, rounding, shape)
    core.elementwise(op, out._core, env, pairs, result, flags, bits)
    try:
        count, found = core.mpfr_check_elementwise(op, out._core, env, pairs, result, flags, bits)
    except ValueError as why:
        raise ValueError(f"what = {op!r}: {why}: {OF_LINES}") from None
    failures = []
    for i, code, raised in found:
        given = [f"{code_at(bits, x.format, i):#x}" for x, bits in zip(arrays, codes, strict=True)]
        ours = f"{code_at(result, out, i):#x} {_codes.flag_names(flags.reshape(-1)[i])}"
        theirs = f"{code:#x} {_codes.flag_names(raised)}"
        failures.append(f"{op}({', '.join(given)}): MPFR has {theirs}, this is {ours}")
    title = f"{op} of {', '.join(str(x.format) for x in arrays)} to {out}, {rounding}"
    return Verdict(title, f"MPFR {core.mpfr_version}", flags.size, count, failures)


OF_LINES = "ww.verify(…, vectors='lines.txt'), or widthwise verify --op"


def code_at(bits: np.ndarray, format: Format, i: int) -> int:
    return _codes.integers(bits.reshape(-1, format.limbs)[i], format)[0]


def verify_unit(
    u: Unit, args: tuple[Any, ...], n: int, k: int, c: Any, scale_a: Any, scale_b: Any, seed: int
) -> Verdict:
    if args:
        check_count(f"unit {said(u)}", 2, args)
        a, b = args
    else:
        (a,), (b,) = (random_codes(1, (n, k), f, seed + i) for i, f in enumerate((u.a, u.b)))
        (c,) = random_codes(1, (n,), u.c, seed + 2)
        if u.scale_format:
            blocks = -(-k // (u.scale_block or 1))
            scale_a, scale_b = (
                random_codes(1, (n, blocks), u.scale_format, seed + i)[0] for i in (3, 4)
            )
    x = Operands.of_dots(u, a, b, c, scale_a, scale_b)
    z = Work(u, x.k, x.count, How(seed=seed)).run(x.bound(), (x.count,))
    return judge_unit(u, x, z.bits, seed, [])


def judge_unit(u: Unit, x: Operands, result: np.ndarray, seed: int, indices: list[int]) -> Verdict:
    """Outputs of a unit, computed again with MPFR."""
    if core.mpfr_version is None:
        raise MissingMpfr
    count, found = core.mpfr_check_dots(u._core, x.bound(), result, seed, indices)
    failures = [
        f"output {i}: MPFR has {code:#x}, this is {code_at(result, u.result_format, i):#x}"
        for i, code, _ in found
    ]
    return Verdict(f"{titled(u)}, k = {x.k}", f"MPFR {core.mpfr_version}", x.count, count, failures)


def check_vectors(
    task: tuple[str, str, str, str, str, str],
    lines: BinaryIO,
    name: str,
    nan_bits: bool = False,
    int_bits: bool = False,
    inexact: str = "either",
    flags: bool = True,
    latency: int = 0,
) -> Verdict:
    """TestFloat's lines: operands, result, flags. task: op, format, to, rounding, tininess, nan."""
    op, format, to, rounding, *others = task
    bound = core.VectorTask(op, format, to, core.Env(rounding, *others))
    checker = core.VectorChecker(bound, nan_bits, int_bits, inexact, flags, latency)
    while chunk := lines.read(CHUNK):
        checker.feed(chunk)
    checker.finish()
    title = f"{op} of {format}{f' to {to}' if to else ''}, {rounding}"
    title += "" if flags else ", flags not compared"
    return Verdict(title, name, checker.vectors, checker.errors, checker.failures)
