"""The user's own random bits, in place of the generator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _widthwise as core
from ._format_texts import said
from ._settings import checked_seed


def random_source(
    random: Any,
    seed: int,
    env: core.Env,
    rounding: str,
    shape: tuple[int, ...],
    gpu: int | None = None,
) -> Any:
    """What the core rounds by: a seed, or as many words as there are elements."""
    seed = checked_seed(seed)
    if random is None:
        return seed
    if not env.stochastic:
        raise ValueError(
            f"random is given and rounding = '{rounding}' takes no random bits; leave it out, or "
            "name a stochastic rounding, as rounding='sr8'"
        )
    check_alone(seed, gpu)
    return words("random", random, env.random_bits, f"rounding = '{rounding}'", shape)


def check_alone(seed: int, gpu: int | None) -> None:
    if seed:
        raise ValueError(f"random and seed = {seed} are given; the bits are of one of them")
    if gpu is not None:
        raise ValueError(
            "random is given and the operands lie on a GPU, which draws by seed; bring them here "
            "with .to_device('cpu')"
        )


def words(name: str, random: Any, bits: int, who: str, shape: tuple[int, ...]) -> np.ndarray:
    """Integers of so many bits, broadcast to a shape, as uint64."""
    given = np.asarray(random)
    if given.size == 0 and given.dtype.kind == "f":
        given = given.astype(np.uint64)  # an empty list
    if given.dtype.kind == "O" and all(type(x) is int for x in given.reshape(-1)):
        check_range(name, given, bits, who)
        given = given.astype(np.uint64)
    if given.dtype.kind not in "iu":
        raise TypeError(
            f"{name} holds {given.dtype}; {who} takes integers of {bits} bits, one a rounding"
        )
    check_range(name, given, bits, who)
    try:
        spread = np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(
            f"{name} has shape {given.shape}, and the roundings have shape {shape}; one word each "
            "is wanted"
        ) from None
    return np.ascontiguousarray(spread, np.uint64).reshape(shape)


def check_range(name: str, given: np.ndarray, bits: int, who: str) -> None:
    wrong = np.flatnonzero((given < 0) | (given > (1 << bits) - 1))
    if wrong.size:
        place = [int(i) for i in np.unravel_index(wrong[0], given.shape)]
        where = f"{name}{place}" if place else name
        raise ValueError(
            f"{where} = {given.reshape(-1)[wrong[0]]}: {who} takes {bits} random bits, "
            f"0 to {(1 << bits) - 1}"
        )


def random_words(
    unit: Any,
    k: int,
    random: Any,
    seed: int,
    shape: tuple[int, ...],
    gpu: int | None,
    running: bool = False,
) -> list[np.ndarray]:
    """Words of each port of a unit, for every output of a shape, or the sums on its way."""
    check_alone(checked_seed(seed), gpu)
    ports = unit.random_ports(k, running=running)
    told = ", ".join(f"'{name}': {n} words of {bits} bits" for name, (bits, n) in ports.items())
    if not ports:
        raise ValueError(
            f"random is given and unit {said(unit)} rounds nothing stochastically at k = {k}; "
            "leave it out"
        )
    named = random if isinstance(random, Mapping) else {next(iter(ports)): random}
    if named.keys() != ports.keys():
        raise ValueError(
            f"random has {', '.join(map(repr, named)) if named is random else 'one array'}; unit "
            f"{said(unit)} at k = {k} takes a dict with {told} an output"
        )
    return [
        words(f"random['{name}']", named[name], bits, f"unit {said(unit)}", (*shape, n))
        for name, (bits, n) in ports.items()
    ]
