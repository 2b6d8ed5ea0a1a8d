"""Calls that lack what has no default: what is missing, and how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def asks_for(argument: str, example: str, elsewhere: Mapping[str, str] = {}) -> Callable[[F], F]:
    """A function whose callers forget an argument: `example` is a call that has it. `elsewhere`:
    what is looked for among its keywords and stands in that argument, and a call that says it."""

    def told(function: F) -> F:
        @wraps(function)
        def called(*args: Any, **how: Any) -> Any:
            try:
                return function(*args, **how)
            except TypeError as why:
                # Raised by the call itself, and by nothing that the function has done.
                if why.__traceback__ is None or why.__traceback__.tb_next is not None:
                    raise
                for name in elsewhere.keys() & how.keys():
                    said = f"{name} = {how[name]!r}: {argument} says it, as in {elsewhere[name]}"
                    raise TypeError(said) from None
                raise TypeError(explained(function, argument, example, args, how, why)) from None

        return called  # type: ignore[return-value]

    return told


def explained(
    function: Callable[..., Any],
    argument: str,
    example: str,
    args: tuple[Any, ...],
    how: dict[str, Any],
    why: TypeError,
) -> str:
    from inspect import signature

    try:
        given = signature(function).bind_partial(*args, **how).arguments
    except TypeError:  # too many, or one that there is not
        return f"{why}; a call is {example}"
    if argument in given:
        return f"{why}; a call is {example}"
    return f"ww.{function.__name__} asks for {argument}: as {example}"
