"""Calls that lack what has no default: what is missing, and how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def asks_for(example: str, elsewhere: Mapping[str, str] = {}) -> Callable[[F], F]:
    """A function whose callers forget an argument: `example` is a call that has all. `elsewhere`:
    what is looked for among its keywords and stands in another, and a call that says it."""

    def told(function: F) -> F:
        @wraps(function)
        def called(*args: Any, **how: Any) -> Any:
            try:
                return function(*args, **how)
            except TypeError as why:
                # Raised by the call itself, and by nothing that the function has done.
                if why.__traceback__ is None or why.__traceback__.tb_next is not None:
                    raise
                for name in (name for name in how if name in elsewhere):
                    said = f"{name} = {how[name]!r}: format says it, as in {elsewhere[name]}"
                    raise TypeError(said) from None
                raise TypeError(explained(function, example, args, how, why)) from None

        return called  # type: ignore[return-value]

    return told


def explained(
    function: Callable[..., Any],
    example: str,
    args: tuple[Any, ...],
    how: dict[str, Any],
    why: TypeError,
) -> str:
    from inspect import signature

    form = signature(function)
    try:
        given = form.bind_partial(*args, **how).arguments
    except TypeError:  # too many, or one that there is not
        return f"{why}; a call is {example}"
    missing = [
        name
        for name, parameter in form.parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name not in given
    ]
    if not missing:
        return f"{why}; a call is {example}"
    return f"{example.split('(')[0]} asks for {' and '.join(missing)}: as {example}"
