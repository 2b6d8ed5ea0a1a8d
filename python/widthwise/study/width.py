"""The smallest width that meets a tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._dot import shape_of
from .._table import Findings
from .accumulation import accumulation


def smallest_width(
    text: str,
    widths: Iterable[int],
    a: Any,
    b: Any = None,
    *,
    tolerance: float,
    measure: str = "relative",
    statistic: str = "max",
    c: Any = None,
    scale_a: Any = None,
    scale_b: Any = None,
    seeds: Iterable[int] = (0,),
    rounding: str = "rne",
) -> tuple[int | None, Findings]:
    """The least of some widths that meets a tolerance, as all wider ones do.

    Errors do not fall at every bit, so the search goes from the widest down to the first that
    fails, and never takes a narrow one that is right by luck.

    Args:
        text: a unit's text with {width} in it, as 'mac(e5m10, sum=e8m{width})'.
        widths: to choose from.
        a, b, c, scale_a, scale_b, seeds, rounding: as in `accumulation`.
        tolerance: what the error after all of k may be.
        measure: 'relative', 'absolute' or 'ulps'.
        statistic: 'max' or 'mean', over the dot products and seeds.
    Returns:
        The width, None if the widest fails; and a row for each that was tried: width, unit, error.
    Raises:
        ValueError: text has no {width}, or there are no widths.

    >>> smallest_width("mac(e8m{width})", range(2, 24), [1.0] * 300, tolerance=0)[0]
    8
    """
    if "{width}" not in text:
        raise ValueError(f"text = {text!r}: write {{width}} where it stands, as e8m{{width}}")
    if statistic not in ("max", "mean"):
        raise ValueError(f"statistic = {statistic!r}: it may be 'mean' or 'max'")
    if not shape_of(a):
        raise ValueError("a has shape (); a sum needs an axis")
    k = shape_of(a)[-1]
    rest = {"c": c, "scale_a": scale_a, "scale_b": scale_b, "seeds": seeds, "rounding": rounding}
    least, rows = None, []
    for width in sorted(set(widths), reverse=True):
        unit = text.replace("{width}", str(width))
        found = accumulation(a, b, unit, lengths=[k], **rest)
        error = float(next(iter(getattr(found, statistic)(measure).values()))[-1])
        rows.append((width, found.units[0], error))
        if not error <= tolerance:
            break
        least = width
    if not rows:
        raise ValueError("widths is empty; name one at least, as range(1, 24)")
    return least, Findings(["width", "unit", "error"], rows)
