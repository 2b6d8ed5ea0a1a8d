"""The formats that have names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _widthwise as core
from ._format import Format
from ._format_texts import said
from ._table import Table


def way_of(reader: Callable[[str], Any], name: str) -> str:
    """Where a name leads that stands in no list: to what reads it, or what that says of it."""
    try:
        reader(name)
    except (ValueError, TypeError) as why:
        return str(why)
    return f"ww.{reader.__name__}({said(name)!r}) reads every form"


class Formats(Mapping[str, Format]):
    """The formats that have names. Any other is one `ww.Format(text)` away.

    >>> formats["binary16"], "e4m3fn" in formats
    (Format('e5m10'), True)
    """

    def __init__(self) -> None:
        named = core.named_formats() + [(str(f), f, source) for f, source in core.shipped_tables()]
        self._named = {name: (Format._of(bound), source) for name, bound, source in named}

    def __getitem__(self, name: str) -> Format:
        if name in self._named:
            return self._named[name][0]
        raise KeyError(f"no format is named {said(name)!r}; {way_of(Format, name)}")

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def _ipython_key_completions_(self) -> list[str]:
        """What Tab offers behind `ww.formats['`."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def table(self) -> Table:
        columns = ["name", "prints", "width", "precision", "emin", "emax", "inf", "NaN", "source"]
        rows = [
            (
                name,
                str(f),
                f.width,
                f.precision,
                f.emin,
                f.emax,
                yes(f.has_inf),
                yes(f.has_nan),
                source,
            )
            for name, (f, source) in self._named.items()
        ]
        return Table(columns, rows)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def yes(truth: bool) -> str:
    return "yes" if truth else "-"


formats = Formats()


def portable(f: Format) -> str:
    """A text that every process reads: a table's values in place of a name of this one."""
    if f.system != "table" or str(f) in formats:
        return str(f)
    return str(Format.table(f.values))
