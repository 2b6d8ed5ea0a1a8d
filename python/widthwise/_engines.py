"""What computes here, and why."""

from __future__ import annotations

from . import _widthwise as core
from ._missing import asks_for
from ._product import Multiplier, bound_multiplier
from ._settings import whole
from ._unit import Unit, as_unit

MOST_OUTPUTS = (1 << 63) - 1  # as many as the core counts


class Engines(list):  # type: ignore[type-arg]
    """Names of engines; `unusable` says of others why they cannot be used here."""

    unusable: dict[str, str]

    def __repr__(self) -> str:
        lines = [list.__repr__(self)]
        lines += [f"not {name}: {why}" for name, why in self.unusable.items()]
        return "\n".join(lines)


def engines() -> Engines:
    """The engines usable here. All give the same bits.

    `chain` and `rows`, which `integers` has become, are taken for it until the next release.

    Returns:
        A list of names; its `.unusable` says of others why they cannot be used here.

    >>> import widthwise as ww
    >>> "reference" in ww.engines()
    True
    """
    names = Engines(name for name in core.engine_names() if name != "auto")
    names.unusable = dict(core.unusable_engines())
    return names


def check(engine: str) -> None:
    """That there is one of the name; one that cannot be used here the core refuses, saying why."""
    known = {*core.engine_names(), *core.old_engine_names(), *engines().unusable}
    if engine not in known:
        raise ValueError(
            f"engine = {engine!r}: there is no such engine here; ww.engines() lists them: "
            f"{', '.join(core.engine_names())}"
        )


class Explanation(str):
    """Which engine takes a product, and why; prints as text."""

    engine: str
    takers: list[str]  # the fastest first

    def __repr__(self) -> str:
        return str(self)


@asks_for("ww.explain('mac(e5m10)', 64, 64, 64)")
def explain(
    unit: str | Unit,
    m: int,
    n: int,
    k: int,
    *,
    flags: bool = False,
    multiplier: Multiplier = None,
) -> Explanation:
    """Which engine computes a product of (m, k) and (k, n), why, and why not another.

    Args:
        unit: as `ww.Unit` takes it.
        m, n, k: the product's sizes.
        flags, multiplier: as in `ww.dot`.
    Returns:
        A text to print; its `.engine` is the name of the one that `engine="auto"` takes.
    Raises:
        ValueError: a size below 0, or a sum that passes the limits of all engines.

    >>> import widthwise as ww
    >>> print(ww.explain("hopper.f16.f32", 64, 64, 512, flags=True).engine)
    blocks
    """
    u = as_unit(unit)
    m, n, k = whole("m", m), whole("n", n), whole("k", k)
    prepared = core.PreparedUnit(u._core, k, bound_multiplier(multiplier))
    lines = [f"{u}, ({m}, {k}) x ({k}, {n}), {m * n * k:,} products"]
    said_of_each = prepared.opinions(flags, min(m * n, MOST_OUTPUTS))
    for name, takes, reason, rate in said_of_each:
        said = f"takes it, about {rate / 1e6:,.0f} million products/s" if takes else "does not"
        detail = f"{reason}; {prepared.carriers}" if name == "reference" else reason
        lines.append(f"  {name:<10} {said}: {detail}")
    text = Explanation("\n".join(lines))
    text.engine = said_of_each[0][0]
    text.takers = [name for name, takes, _, _ in said_of_each if takes]
    return text
