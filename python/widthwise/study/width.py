"""The smallest width that meets a tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._dot import shape_of
from .._format_texts import said
from .._missing import asks_for
from .._settings import number, several
from .._table import Findings
from .accumulation import accumulation


@asks_for("ww.study.smallest_width('mac(e8m{width})', range(2, 24), a, b, tolerance=1e-3)")
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
    against: str = "given",
) -> tuple[int | None, Findings]:
    """The least of some widths that meets a tolerance, as all wider ones do.

    Errors do not fall at every bit, so the search goes from the widest down to the first that
    fails, and never takes a narrow one that is right by luck.

    Args:
        text: a unit's text with {width} in it, as 'mac(e5m10, sum=e8m{width})'.
        widths: to choose from.
        a, b, c, scale_a, scale_b, seeds, rounding, against: as in `accumulation`. What rounding the
            operands costs counts, too; `against="operands"` leaves it out.
        tolerance: what the error after all of k may be: 0 or more, and finite. A result that is no
            number meets none.
        measure: 'relative', 'absolute' or 'ulps'.
        statistic: 'max' or 'mean', over the dot products and seeds.
    Returns:
        The width, None if the widest fails; and a row for each that was tried: width, unit,
        canonical, error, and of its parts of_operands (where it counts) and of_accumulation.
    Raises:
        ValueError: text has no {width}, or there are no widths.

    >>> smallest_width("mac(e8m{width})", range(2, 24), [1.0] * 300, tolerance=0)[0]
    8
    """
    if "{width}" not in text:
        raise ValueError(f"text = {said(text)!r}: write {{width}} where it stands, as e8m{{width}}")
    tolerance = number("tolerance", tolerance, 0)
    if statistic not in ("max", "mean"):
        raise ValueError(f"statistic = {statistic!r}: it may be 'mean' or 'max'")
    if not shape_of(a):
        raise ValueError("a has shape (); a sum needs an axis")
    k = shape_of(a)[-1]
    rest = {"c": c, "scale_a": scale_a, "scale_b": scale_b, "seeds": seeds, "rounding": rounding}
    parts = ["operands", "accumulation"] if against == "given" else ["accumulation"]
    least, rows = None, []
    for width in sorted(set(several("widths", widths)), reverse=True):
        unit = text.replace("{width}", str(width))
        found = accumulation(a, b, unit, lengths=[k], against=against, **rest)
        errors = [
            float(getattr(found, statistic)(measure, part)[unit][-1]) for part in (None, *parts)
        ]
        rows.append((width, unit, found.canonical[unit], *errors))
        if not errors[0] <= tolerance:
            break
        least = width
    if not rows:
        raise ValueError("widths is empty; name one at least, as range(1, 24)")
    columns = ["width", "unit", "canonical", "error", *(f"of_{part}" for part in parts)]
    return least, Findings(columns, rows)
