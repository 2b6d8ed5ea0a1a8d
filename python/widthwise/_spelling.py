"""Settings in messages: written `options.scale='none'`, and told as whoever reads sets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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


@contextmanager
def spelling(how: Spelling) -> Iterator[None]:
    """Errors that come from within tell settings in these words."""
    try:
        yield
    except (ValueError, TypeError) as why:
        if not SETTING.search(str(why)):
            raise
        raise type(why)(spelled(str(why), how)) from None
