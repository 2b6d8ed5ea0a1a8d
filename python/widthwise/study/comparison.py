"""Units to compare: one format's orders of summation, and its rounding modes."""

from __future__ import annotations

from .._format import Format, as_format
from .._unit import Unit

MODES = ("rne", "rna", "rnz", "rtz", "rdn", "rup", "raz", "odd", "sr8")


def orders(format: str | Format, block: int = 32) -> dict[str, Unit]:
    """Units that round alike, product and sum to one format, and differ in the order of summation.

    sequential: one after the other. pairwise: a tree over all of k. blocked: sums of `block`
    products, one after the other, added to a sum of sums. tree: neighbours of `block` products in a
    tree, added to the running sum. kahan, neumaier: compensated. exact: one rounding at the end.

    Args:
        format: of operands, products and sums.    block: how many products blocked and tree add.
    Returns:
        Units by those names, which `accumulation` labels them with.
    Raises:
        ValueError: no format of that text, a block below 1.

    >>> {name: str(unit) for name, unit in orders("bfloat16", 8).items()}["blocked"]
    'mac(e8m7, promote=8:e8m7)'
    """
    f = as_format(format)
    texts = {
        "sequential": f"mac({f})",
        "pairwise": f"pairwise({f})",
        "blocked": f"mac({f}, promote={block}:{f})",
        "tree": f"tree({f}, fan={block})",
        "kahan": f"kahan({f})",
        "neumaier": f"neumaier({f})",
        "exact": f"kulisch({f})",
    }
    return {name: Unit(text) for name, text in texts.items()}


def roundings(format: str | Format, modes: tuple[str, ...] = MODES) -> dict[str, Unit]:
    """Units that sum in order and round product and sum to one format, each in another mode.

    Args:
        format: of operands, products and sums.    modes: texts of roundings; a table's lack odd.
    Returns:
        Units by their modes, which `accumulation` labels them with.
    Raises:
        ValueError: no format, or no rounding, of that text.

    >>> str(roundings("e5m10")["rtz"])
    'mac(e5m10, product=e5m10:rtz, sum=e5m10:rtz)'
    """
    f = as_format(format)
    if f.system == "table" and modes is MODES:  # whose codes need not alternate
        modes = tuple(mode for mode in MODES if mode != "odd")
    return {mode: Unit(f"mac({f}, product={f}:{mode}, sum={f}:{mode})") for mode in modes}
