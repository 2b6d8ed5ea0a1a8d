"""Tables, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

CELL = "padding:1px 6px;font-family:monospace;font-size:0.9em;white-space:nowrap"


class Table:
    """Columns with names, rows of anything that prints. Numbers stand to the right."""

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self.columns = list(columns)
        self.rows = [tuple(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """A dictionary a row, for JSON and data frames.

        >>> Table(["unit", "error"], [("a", 1.5)]).records()
        [{'unit': 'a', 'error': 1.5}]
        """
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def __str__(self) -> str:
        body = [[cell(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *body, strict=True)]
        right = self._of_numbers()

        def line(cells: Sequence[str]) -> str:
            padded = (
                text.rjust(width) if to_right else text.ljust(width)
                for text, width, to_right in zip(cells, widths, right, strict=True)
            )
            return "  ".join(padded).rstrip()

        head = [line(self.columns), line(["-" * w for w in widths])] if any(self.columns) else []
        return "\n".join([*head, *map(line, body)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .display.style import tag

        styles = [f"text-align:{'right' if n else 'left'};{CELL}" for n in self._of_numbers()]

        def line(kind: str, cells: Iterable[Any]) -> str:
            of_columns = zip(cells, styles, strict=True)
            return tag("tr", *(tag(kind, value, style=style) for value, style in of_columns))

        rows = (line("td", map(html_cell, row)) for row in self.rows)
        return tag("table", tag("thead", line("th", self.columns)), tag("tbody", *rows))

    def _of_numbers(self) -> list[bool]:
        """Which columns hold nothing else."""
        return [
            bool(self.rows) and all(isinstance(row[i], int | float) for row in self.rows)
            for i in range(len(self.columns))
        ]


class Titled:
    """What is shown as a title and a table below it."""

    def _title(self) -> str:
        """What is measured, and against what."""
        raise NotImplementedError

    def _printed(self: Any) -> Table:
        return Table(self.columns, self.rows)

    def __str__(self) -> str:
        return f"{self._title()}\n{self._printed()}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from .display.style import Card

        return Card(self._title(), self._printed())._repr_html_()


class Findings(Table):
    """A table of tidy rows, one a case."""

    def __getitem__(self, name: str) -> np.ndarray:
        """A column."""
        if name not in self.columns:
            raise KeyError(f"{name!r}: the columns are {', '.join(self.columns)}")
        i = self.columns.index(name)
        return np.array([row[i] for row in self.rows])

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns

    def to_dataframe(self, library: str = "pandas") -> Any:
        """A data frame of a library, 'pandas' or 'polars', which has to be installed.

        >>> Findings(["unit", "error"], [("a", 1.5)]).to_dataframe().shape
        (1, 2)
        """
        return data_frame({name: list(self[name]) for name in self.columns}, library)


def data_frame(columns: Mapping[str, Any], library: str) -> Any:
    if library not in ("pandas", "polars"):
        raise ValueError(f"library = {library!r}: it may be 'pandas' or 'polars'")
    return import_module(library).DataFrame(columns)


def cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def html_cell(value: Any) -> Any:
    """What can show itself does so."""
    return value if hasattr(value, "_repr_html_") else cell(value)
