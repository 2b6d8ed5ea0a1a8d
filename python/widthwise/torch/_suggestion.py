"""Which format for which layer, so that a model's error stays within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._table import Findings, Table
from ._candidates import Candidate

if TYPE_CHECKING:
    from ._profile import Measure, Profile

COLUMNS = ("layer", "format", "bits", "numbers", "error_output")


class Suggestion(Findings):
    """A row a layer: the format that it gets, and what that layer alone costs at the output.

    Attributes:
        rules: {layer: settings}, for `convert`.
        error: of the model's result with all of it, measured.
        bits: of a weight, on average.
    """

    def __init__(
        self, rows: Iterable[Sequence[Any]], rules: dict[str, Any], error: float, budget: float
    ) -> None:
        super().__init__(COLUMNS, rows)
        self.rules, self.error, self.budget = rules, error, budget
        numbers = sum(row[3] for row in self.rows)
        self.bits = sum(row[2] * row[3] for row in self.rows) / numbers

    def _title(self) -> str:
        return (
            f"{self.bits:.2f} bits a weight; error at the output {self.error:.3g}, "
            f"of {self.budget:g} allowed"
        )

    def __str__(self) -> str:
        return f"{self._title()}\n{Table(self.columns, self.rows)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ..display.style import Card

        return Card(self._title(), Table(self.columns, self.rows))._repr_html_()


class Choice:
    """One format of one layer."""

    def __init__(self, row: dict[str, Any], candidate: Candidate) -> None:
        self.candidate = candidate
        self.cost = row["bits"] * row["numbers"]
        self.square = row["error_output"] ** 2
        self.row = tuple(row[key] for key in COLUMNS)


def suggested(profile: Profile, budget: float, measure: Measure) -> Suggestion:
    if not budget > 0:
        raise ValueError(f"budget = {budget}: an error above zero is wanted, as 0.01")
    options = options_of(profile)
    at = dict.fromkeys(options, 0)
    least = math.inf
    while True:
        chosen = {name: options[name][i] for name, i in at.items()}
        if sum(choice.square for choice in chosen.values()) <= budget**2:
            error = measure({name: choice.candidate for name, choice in chosen.items()})
            least = min(least, error)
            if error <= budget:
                rows = [choice.row for choice in chosen.values()]
                rules = {name: choice.candidate.rules() for name, choice in chosen.items()}
                return Suggestion(rows, rules, error, budget)
        step = best_step(options, at)
        if step is None:
            raise ValueError(over_budget(budget, least, measure, chosen))
        at[step] += 1


def over_budget(budget: float, least: float, measure: Measure, chosen: dict[str, Choice]) -> str:
    last = measure({name: choice.candidate for name, choice in chosen.items()})
    return (
        f"budget = {budget}: the least error that these formats reach together is "
        f"{min(least, last):.3g}; allow more, or profile formats of more bits"
    )


def options_of(profile: Profile) -> dict[str, list[Choice]]:
    """Of each layer the formats that no other beats in bits and error, the cheapest first."""
    found: dict[str, list[Choice]] = {}
    rows = sorted(profile.records(), key=lambda row: (row["bits"], row["error_output"]))
    for row in rows:
        choice = Choice(row, profile._candidates[row["format"]])
        known = found.setdefault(row["layer"], [])
        if not known or choice.square < known[-1].square:
            known.append(choice)
    return found


def best_step(options: dict[str, list[Choice]], at: dict[str, int]) -> str | None:
    """The layer whose next format takes most error away for a bit."""
    gains = {}
    for name, i in at.items():
        if i + 1 < len(options[name]):
            now, then = options[name][i], options[name][i + 1]
            saved = now.square - then.square if math.isfinite(now.square) else math.inf
            gains[name] = saved / max(then.cost - now.cost, 1e-9)
    return max(gains, key=gains.__getitem__) if gains else None
