"""What a unit holds of a sum between its terms: its registers, and units that show them."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from .._unit import Unit

WIDEST = 4096  # digits that a format may have


class Continued(NamedTuple):
    """A unit's sum in pieces, each of which starts at what the one before came to."""

    goes_on: Unit  # from its own result, which is all that the unit's register holds
    ends: Unit | None  # of no products: what the unit delivers of that register; None: itself
    step: int  # products, of which every piece but the last has a multiple


def continued(unit: Unit) -> Continued:
    """Of a unit whose sum is `register_alone`."""
    fields = unit.fields
    chain = fields.pop("chain", {})
    rounded = [chain.pop("final")] if "final" in chain else []
    if unit.lanes:
        register = chain["promote"]["round"] if "promote" in chain else fields["out"]
        step = chain["promote"]["interval"] if "promote" in chain else unit.lanes
    else:
        register, step = {"fmt": register_format(unit)}, 1
        rounded = [fields["out"], *rounded]
        fields["out"] = register
    # C's own format and conditioning are those of the first piece alone (docs/semantics.md, D7).
    goes_on = unit_of(fields | {"c": {"fmt": register["fmt"]}, "chain": chain})
    ends = rounding_of(register["fmt"], *rounded) if rounded else None
    return Continued(goes_on, ends, math.lcm(step, unit.scale_block or 1))


def why_not_in_pieces(unit: Unit) -> str | None:
    """Why its terms cannot come in pieces; None where they can."""
    if not unit.lanes and unit.fields.get("group_sum", {}).get("overflow") == "saturate":
        return "takes all of k at once in a register that saturates, with C after them"
    if not unit.lanes and not register_alone(unit):
        return "takes all of k at once, with C after them"
    return why_no_register(unit)


def register_alone(unit: Unit) -> bool:
    """Whether what is passed on as C is all that the unit holds between two pieces."""
    return not {"compensation", "c_at", "c_round"} & unit.fields.get("chain", {}).keys()


def why_no_register(unit: Unit) -> str | None:
    """Why there is none that the unit adds its terms to one after the other, or by blocks."""
    fields = unit.fields
    if "lane_permutation" in fields.get("chain", {}):
        return "permutes its lanes: no register takes its terms in order"
    if unit.lanes:
        return None
    group = fields.get("group_sum", {})
    if "node_round" in group or "groups" in fields or fields["c_level"] != "group":
        return "takes all of k at once, in several sums"
    reference = group.get("align", {}).get("reference", "exact")
    if reference == "max_exponent":
        return "takes all of k at once, and aligns them to the largest"
    if reference == "exact" and "width" in group:
        return "takes all of k at once, in a register that ends with the last digit of any"
    if (digits := unit.widths()["group_sum.width"]) > WIDEST:
        return f"has a register of {digits} digits; {WIDEST} are the most that a format holds"
    return None


def register_format(unit: Unit) -> str:
    """Of all numbers in the register of a unit that adds exactly, or at a fixed place."""
    widths = unit.widths()
    digits, lsb = widths["group_sum.width"], -widths["group_sum.fraction"]
    exponents = max(abs(lsb), abs(lsb + digits)).bit_length() + 2
    return f"e{exponents}m{digits - 1}"


def rounding_of(register: str, out: dict[str, Any], *final: dict[str, Any]) -> Unit:
    """A unit whose result of no products is C, rounded so."""
    fields = {name: {"fmt": register} for name in ("a", "b", "c")}
    chain = {"final": final[0]} if final else {}
    return unit_of({**fields, "lanes": 1, "c_level": "late", "out": out, "chain": chain})


def unit_of(fields: dict[str, Any]) -> Unit:
    """The unit of a long form's keys."""
    return Unit(inline(fields))


def inline(value: Any) -> str:
    """As TOML has it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(x)}" for key, x in value.items()) + "}"
    return json.dumps(value)
