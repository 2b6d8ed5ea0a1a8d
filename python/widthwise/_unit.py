"""Units: hardware that multiplies and accumulates, as a description."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Never

from . import _widthwise as core
from ._format import Format
from ._format_texts import said
from ._formats import way_of
from ._missing import asks_for
from ._settings import brief, whole
from ._table import Table

if TYPE_CHECKING:
    from .display.style import Card

LONGEST_DOT: int = core.longest_dot


class Unit:
    """A multiply-accumulate unit: a preset's name, a short form, or TOML's keys in braces.

    >>> Unit("mac(e4m3fn, product=e5m7:rtz, sum=e8m13)")
    Unit('mac(e4m3fn, product=e5m7:rtz, sum=e8m13)')
    >>> u = Unit("hopper.e4m3.f32")
    >>> str(u.a), str(u.result_format), u.lanes
    ('e4m3fn', 'e8m23', 32)

    Printed it is the unit's canonical text; `text` is the one that it was made from, which results
    bear. Units are equal where their canonical texts are.

    Raises:
        ValueError: the text is no unit, or one that contradicts itself; the message says where.
    """

    __slots__ = ("_core", "_formats", "_text")
    _core: core.Unit
    _formats: dict[str, Format]  # of its operands and result, once somebody has asked
    _text: str | None  # that it was made from, where there is one

    @asks_for("ww.Unit('mac(e5m10)')")
    def __init__(self, text: str | Unit, *more: Never) -> None:
        if more or not isinstance(text, str | Unit):
            given = ", ".join(map(brief, (text, *more)))
            raise TypeError(f"unit = {given}: a text as 'mac(e5m10)' is wanted, or a ww.Unit")
        if isinstance(text, Unit):
            self._bind(text._core, text._text)
        else:
            self._bind(core.Unit(current_name(text)), str(text))

    @classmethod
    def _of(cls, bound: core.Unit, text: str | None = None) -> Unit:
        self = object.__new__(cls)
        self._bind(bound, text)
        return self

    def _bind(self, bound: core.Unit, text: str | None) -> None:
        for name, x in (("_core", bound), ("_formats", {}), ("_text", text)):
            object.__setattr__(self, name, x)

    @classmethod
    def from_toml(cls, source: str | os.PathLike[str]) -> Unit:
        """Read the long form: the keys of one unit, or one table that holds them.

        source: the text itself, as `to_toml` gives it, or the path of a file of it.

        Raises:
            ValueError: the text is no unit; the message gives line and column.
            OSError: the file cannot be read.
            TypeError: neither a text nor a path.

        >>> Unit.from_toml(Unit("mac(e5m10)").to_toml())
        Unit('mac(e5m10)')
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "unit.toml")
        ...     _ = path.write_text(Unit("mac(e5m10)").to_toml())
        ...     Unit.from_toml(path)
        Unit('mac(e5m10)')
        """
        if not isinstance(source, str | bytes | os.PathLike):
            raise TypeError(f"source = {source!r}: TOML's text is wanted, or the path of a file")
        if isinstance(source, str) and is_toml(source):
            return cls._of(core.Unit.from_toml(source))
        with open(source, encoding="utf-8") as file:
            text = file.read()
        try:
            return cls._of(core.Unit.from_toml(text))
        except ValueError as why:
            raise ValueError(f"{source}: {why}") from None

    def to_toml(self, name: str = "") -> str:
        """The long form: a line a field, those that have their default left out.

        name: of the table that the fields stand in; '' for none.

        >>> print(Unit("mac(e5m10)").to_toml())  # doctest: +ELLIPSIS
        a.fmt = "e5m10"
        ...
        """
        return self._core.to_toml(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a unit does not change; write another one")

    def __str__(self) -> str:
        return str(self._core)

    def __repr__(self) -> str:
        return f"Unit('{self}')"

    def __eq__(self, other: object) -> bool:
        return self._core == other._core if isinstance(other, Unit) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._core)

    def __reduce__(self) -> tuple[Any, ...]:
        tables = re.findall(r"table\([^()]*\)", self.text, re.IGNORECASE)
        return _restored, (self.text, [Format(text) for text in tables])

    def _format(self, name: str) -> Format:
        if name not in self._formats:
            self._formats[name] = Format._of(getattr(self._core, name))
        return self._formats[name]

    # --- Fields ---

    @property
    def text(self) -> str:
        """The text that the unit was made from, which studies, sweeps, traces and cards call it.

        >>> u = Unit("mac(bfloat16)")
        >>> u.text, str(u), u == Unit("mac(e8m7)")
        ('mac(bfloat16)', 'mac(e8m7)', True)
        """
        return str(self) if self._text is None else self._text

    @property
    def fields(self) -> dict[str, Any]:
        """The keys of the long form, nested as TOML nests them.

        >>> Unit("mac(e5m10)").fields["product"]
        {'round': {'fmt': 'e5m10'}}
        """
        import tomllib

        return tomllib.loads(self.to_toml())

    def random_ports(self, k: int, *, running: bool = False) -> dict[str, tuple[int, int]]:
        """What a dot product of k elements draws: by the names of an exported module's ports, the
        bits of a word and how many words an output takes, one a rounding, in the port's order.

        running: of `ww.cumsum`, the roundings of all sums of 1 to k elements, each once.

        >>> Unit("mac(e5m10, sum=e5m10:sr13)").random_ports(4)
        {'random': (13, 4)}
        """
        return {
            name: (bits, len(at)) for name, (bits, at) in self._random_steps(k, running).items()
        }

    def _random_steps(self, k: int, running: bool) -> dict[str, tuple[int, list[int]]]:
        """Of each port the bits of a word, and the steps along k that draw one."""
        if whole("k", k) == 0:
            raise ValueError("k = 0: a dot product of no element; random words take 1 or more")
        found: dict[str, tuple[int, list[int]]] = {}
        for length in range(1 if running else k, k + 1):
            for x in core.random_slots(self._core, length):
                _, before = found.get(x.name, (x.bits, []))
                found[x.name] = x.bits, sorted({*before, *x.steps})
        return found

    @property
    def a(self) -> Format:
        """Of the first operands.

        >>> Unit("mac(e4m3fn, b=e5m2)").a
        Format('e4m3fn')
        """
        return self._format("a")

    @property
    def b(self) -> Format:
        """Of the second operands.

        >>> Unit("mac(e4m3fn, b=e5m2)").b
        Format('e5m2')
        """
        return self._format("b")

    @property
    def c(self) -> Format:
        """Of what the products are added to.

        >>> Unit("hopper.e4m3.f32").c
        Format('e8m23')
        """
        return self._format("c")

    @property
    def result_format(self) -> Format:
        """Of what `ww.dot` delivers.

        >>> Unit("mac(e5m10, final=e4m3fn)").result_format
        Format('e4m3fn')
        """
        return self._format("result")

    @property
    def lanes(self) -> int:
        """Products a block; 0: all of k at once.

        >>> Unit("hopper.e4m3.f32").lanes, Unit("kulisch(e5m10)").lanes
        (32, 0)
        """
        return self._core.lanes

    @property
    def scale_format(self) -> Format | None:
        """Of the scales that blocks of operands share, if they do.

        >>> Unit("blackwell.mxfp8").scale_format
        Format('e8m0fnu')
        """
        return Format._of(self._core.scale[0]) if self._core.scale else None

    @property
    def scale_block(self) -> int | None:
        """Elements along k that share a scale.

        >>> Unit("blackwell.mxfp8").scale_block, Unit("mac(e5m10)").scale_block
        (32, None)
        """
        return self._core.scale[1] if self._core.scale else None

    def widths(self, k: int = LONGEST_DOT) -> dict[str, Any]:
        """Every width the description implies, in bits; exponents as (least, largest).

        k: the longest dot product, for a unit that takes all of it at once.

        >>> widths = Unit("kulisch(e4m3fn)").widths(k=1024)
        >>> widths["product_significand"], widths["accumulator_width"]
        (8, 47)
        """
        return self._core.widths(k)

    # --- Shown ---

    def table(self) -> Table:
        """The long form and the widths.

        >>> print(Unit("mac(e5m10)").table())  # doctest: +ELLIPSIS
        field...
        """
        rows = [line.split(" = ", 1) for line in self.to_toml().splitlines() if " = " in line]
        widths = [(f"width: {key}", value) for key, value in self.widths().items()]
        return Table(["field", "value"], [*rows, *widths])

    def card(self) -> Card:
        """What a notebook shows: the stages in order, the width of every wire, all fields.

        >>> print(Unit("mac(e5m10)").card())  # doctest: +ELLIPSIS
        mac(e5m10)...
        """
        from .display.pipeline import unit_card

        return unit_card(self)

    def _repr_html_(self) -> str:
        return self.card()._repr_html_()


def is_toml(text: str) -> bool:
    """Whether it is TOML, and no path: keys are given values, and no file has that name."""
    return ("=" in text or "\n" in text) and not os.path.exists(text)


RENAMED: dict[str, str] = core.renamed_presets()


class RenamedWarning(DeprecationWarning):
    """A name of an earlier version, and the one it has now."""


def current_name(text: str) -> str:
    """A preset's name of today; a warning where it was an older one."""
    old = text.strip().lower()
    if old not in RENAMED:
        return text
    warn_of_name(old, RENAMED[old])
    return RENAMED[old]


def warn_of_name(old: str, new: str) -> None:
    """At the line of whoever called the package."""
    import warnings

    from ._numbers import outside

    warnings.warn(f"{old} is called {new} now", RenamedWarning, stacklevel=outside())


def as_unit(unit: str | Unit) -> Unit:
    return unit if isinstance(unit, Unit) else Unit(unit)


Several = str | Unit | Iterable[str | Unit] | Mapping[str, str | Unit]


def as_units(units: Several) -> list[Unit]:
    """One, several, or those that a dictionary names."""
    if isinstance(units, str | Unit) or not isinstance(units, Iterable):
        units = [units]
    if isinstance(units, Mapping):
        units = units.values()
    found = [as_unit(u) for u in units]
    if not found:
        raise ValueError("units is empty; name one at least, as 'mac(e5m10)'")
    return found


def named_units(units: Several) -> dict[str, Unit]:
    """The same, by a dictionary's own names or by the texts that were asked for."""
    found = as_units(units)
    names = units if isinstance(units, Mapping) else (u.text for u in found)
    return dict(zip(names, found, strict=True))


def titled(unit: Unit) -> str:
    """The text that was asked for, and the canonical one where it is another.

    >>> titled(Unit("mac(bfloat16)")), titled(Unit("mac(e8m7)"))
    ('mac(bfloat16) = mac(e8m7)', 'mac(e8m7)')
    """
    return unit.text if unit.text == str(unit) else f"{unit.text} = {unit}"


class Units(Mapping[str, Unit]):
    """The presets, and how each is known. Any other unit is one `ww.Unit(text)` away.

    >>> str(units["hopper.e4m3.f32"].a), units.evidence("hopper.e4m3.f32")
    ('e4m3fn', 'checked on silicon')
    """

    def __init__(self) -> None:
        self._presets = {
            name: (bound, evidence, source) for name, bound, evidence, source in core.presets()
        }

    def __getitem__(self, name: str) -> Unit:
        return Unit._of(self._preset(name)[0], name)

    def _preset(self, name: str) -> tuple[core.Unit, str, str]:
        given = name in self._presets or not isinstance(name, str)
        known = name if given else current_name(name)
        if known in self._presets:
            return self._presets[known]
        raise KeyError(f"no preset is named {said(name)!r}; {way_of(Unit, name)}")

    def _ipython_key_completions_(self) -> list[str]:
        """What Tab offers behind `ww.units['`."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._presets)

    def __len__(self) -> int:
        return len(self._presets)

    def evidence(self, name: str) -> str:
        """How we know that the preset is the unit it is named after."""
        return self._preset(name)[1]

    def source(self, name: str) -> str:
        """Where the preset's facts are from."""
        return self._preset(name)[2]

    def table(self) -> Table:
        columns = ["name", "a", "b", "result", "lanes", "evidence", "source"]
        rows = [
            (name, str(u.a), str(u.b), str(u.result), u.lanes or "all", evidence, source)
            for name, (u, evidence, source) in self._presets.items()
        ]
        return Table(columns, rows)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


units = Units()


def _restored(text: str, tables: list[Format]) -> Unit:
    """A unit whose text may name tables, which are made by now."""
    return Unit(text)
