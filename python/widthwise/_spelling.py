"""Settings in messages: written `options.scale='none'`, and told as whoever reads sets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Spelling = Callable[[str, str | None], str]  # of a setting's name, and its value if there is one
SETTING = re.compile(r"(?<![\w/\\.-])options\.(\w+)(?:='(\w+)')?")


def as_argument(name: str, value: str | None) -> str:
    return name if value is None else f"{name}={value!r}"


def as_option(name: str, value: str | None) -> str:
    option = "--" + name.replace("_", "-")
    return option if value is None else f"{option} {value}"


def as_key(name: str, value: str | None) -> str:
    """In a TOML file."""
    return name if value is None else f"{name} = {value!r}"


def spelled(text: str, spelling: Spelling) -> str:
    return SETTING.sub(lambda found: spelling(found[1], found[2]), text)


def told_as_options(text: str, names: Sequence[str]) -> str:
    """A message about arguments by name, `random is given and rounding = 'rne'`, to whoever gave
    them as options; what stands in quotes is left as it is."""
    name = rf"(?<![\w.(/\\=-])({'|'.join(names)})"
    value = r"('[^']*'|[^\s;,]+)"
    follows = rf"(?= (?:is|are) given\b| and (?:{'|'.join(names)}) = )"
    file = r"\b(?:IN|OUT) = [^:]*"
    pattern = rf"'[^']*'|{file}|{name}( = |=){value}|{name}{follows}"

    def told(found: re.Match[str]) -> str:
        if found[4]:
            return as_option(found[4], None)
        if not found[1]:
            return found[0]
        between = " " if found[2] == "=" else found[2]
        return as_option(found[1], None) + between + found[3].strip("'")

    return re.sub(pattern, told, text) if names else text


@contextmanager
def called(name: str, within: str = "x") -> Iterator[None]:
    """Errors about x, or what functions within call it, are about `name`."""
    try:
        yield
    except (ValueError, TypeError) as why:
        raise type(why)(re.sub(rf"^{within}\b", name, str(why))) from None


@contextmanager
def spelling(how: Spelling) -> Iterator[None]:
    """Errors that come from within tell settings in these words."""
    try:
        yield
    except (ValueError, TypeError) as why:
        if not SETTING.search(str(why)):
            raise
        raise type(why)(spelled(str(why), how)) from None
