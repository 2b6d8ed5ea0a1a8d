"""Which format for which layer, so that a model's error stays within a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._table import Findings, Titled
from ._candidates import Candidate

if TYPE_CHECKING:
    from ._profile import Measure, Profile

COLUMNS = ("layer", "format", "bits", "numbers", "error_output")


class Suggestion(Titled, Findings):
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
        self.bits = sum(row[2] * row[3] for row in self.rows) / max(1, numbers)

    def _title(self) -> str:
        return (
            f"{self.bits:.2f} bits a weight; error at the output {self.error:.3g}, "
            f"of {self.budget:g} allowed"
        )


class Choice:
    """One format of one layer."""

    def __init__(self, row: dict[str, Any], candidate: Candidate) -> None:
        self.candidate = candidate
        self.cost = row["bits"] * row["numbers"]
        self.square = row["error_output"] ** 2
        self.row = tuple(row[key] for key in COLUMNS)


Places = dict[str, int]  # of each layer, which of its options it has


class Search:
    """Options of each layer, and what the model's error is with one for each."""

    def __init__(self, profile: Profile, budget: float, measure: Measure) -> None:
        self.options = options_of(profile)
        self.budget, self.measure = budget, measure
        self.least = math.inf

    def chosen(self, at: Places) -> dict[str, Choice]:
        return {name: self.options[name][i] for name, i in at.items()}

    def error(self, at: Places) -> float:
        found = self.measure({name: x.candidate for name, x in self.chosen(at).items()})
        self.least = min(self.least, found)
        return found

    def promises(self, at: Places) -> bool:
        """Whether squares add up to no more than the budget's."""
        return sum(x.square for x in self.chosen(at).values()) <= self.budget**2

    def up(self) -> tuple[Places, float]:
        """From the cheapest options to the first that keep to the budget."""
        at = dict.fromkeys(self.options, 0)
        while True:
            error = self.error(at) if self.promises(at) else math.inf
            if error <= self.budget:
                return at, error
            step = best_step(self.options, at)
            if step is None:
                self.error(at)
                raise ValueError(
                    f"budget = {self.budget}: the least error that these formats reach together is "
                    f"{self.least:.3g}; allow more, or profile formats of more bits"
                )
            at[step] += 1

    def down(self, at: Places, error: float) -> tuple[Places, float]:
        """Each layer, that of most weights first, as cheap as the budget still allows."""
        for name in sorted(at, key=lambda name: -self.options[name][0].row[3]):
            for i in range(at[name]):
                then = at | {name: i}
                found = self.error(then)
                if found <= self.budget:
                    at, error = then, found
                    break
        return at, error


def suggested(profile: Profile, budget: float, measure: Measure) -> Suggestion:
    if not budget > 0:
        raise ValueError(f"budget = {budget}: an error above zero is wanted, as 0.01")
    search = Search(profile, budget, measure)
    at, error = search.down(*search.up())
    chosen = search.chosen(at)
    rules = {name: choice.candidate.rules() for name, choice in chosen.items()}
    return Suggestion([choice.row for choice in chosen.values()], rules, error, budget)


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
