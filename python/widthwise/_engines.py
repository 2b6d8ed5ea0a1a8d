"""What computes here, and why."""

from __future__ import annotations

from . import _widthwise as core
from ._unit import Unit, as_unit

ENGINES = ("reference",)


def engines() -> list[str]:
    """The engines usable here. All give the same bits."""
    return list(ENGINES)


def check(engine: str) -> None:
    if engine not in ("auto", *ENGINES):
        raise ValueError(
            f"engine = {engine!r}: there is no such engine here; ww.engines() lists them: "
            f"auto, {', '.join(ENGINES)}"
        )


class Explanation(str):
    """Which engine takes a product, and why; prints as text."""

    engine = "reference"

    def __repr__(self) -> str:
        return str(self)


def explain(unit: str | Unit, m: int, n: int, k: int) -> Explanation:
    """Which engine computes a product of (m, k) and (k, n), why, and on what integers.

    >>> import widthwise as ww
    >>> print(ww.explain("hopper.f16.f32", 64, 64, 512).engine)
    reference
    """
    u = as_unit(unit)
    carriers = core.PreparedUnit(u._core, k, None).carriers
    return Explanation(
        f"{u}, ({m}, {k}) x ({k}, {n}), {m * n * k:,} products: reference, the definition itself; "
        f"{carriers}. No other engine is built yet."
    )
