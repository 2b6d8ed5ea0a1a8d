"""Other packages' own results, their faults included, in place of what these pages say."""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar, Token
from types import TracebackType

NAMES = {
    "qtorch": "QPyTorch 0.3.0 on a CPU",
    "fork": "its posit fork, qtorch-plus 0.2.0",
    "notebook": "the scaled-tensor notebook on x86",
    "microxcaling": "microxcaling's plain torch code",
}
_surrounding: ContextVar[str | None] = ContextVar("like", default=None)


class like:  # noqa: N801 - it is called as a function is
    """Inside, what is computed is another package's result, its faults included.

    Such contexts nest: the innermost one acts, in this thread or task alone, and only on functions
    that know the name; all others go by this library's own definitions. A call's keyword `like=`
    wins over the context.

    Args:
        name: 'qtorch', 'fork', 'notebook' or 'microxcaling'.
    Raises:
        ValueError: there is no such name.

    >>> import widthwise as ww
    >>> with ww.like("notebook"):
    ...     print(ww.scaled([1, 2, 3], "sint32"))
    [ 1.  2. -3.]
    """

    def __init__(self, name: str) -> None:
        self.name = checked(name, NAMES)
        self._tokens: list[Token[str | None]] = []

    def __enter__(self) -> None:
        self._tokens.append(_surrounding.set(self.name))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _surrounding.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"like({self.name!r})"


def like_whom(given: str | None, allowed: Collection[str]) -> str | None:
    """Whose results a call gives: its keyword's, else the context's; None is this library's own.

    >>> with like("fork"):
    ...     like_whom(None, ["notebook"]), like_whom("notebook", ["notebook"])
    (None, 'notebook')
    """
    if given is not None:
        return checked(given, allowed)
    surrounding = _surrounding.get()
    return surrounding if surrounding in allowed else None


def checked(name: str, allowed: Collection[str]) -> str:
    if name not in allowed:
        known = f", and {name!r} does not act here" if name in NAMES else ""
        raise ValueError(f"like = {name!r}: it may be {' or '.join(map(repr, allowed))}{known}")
    return name
