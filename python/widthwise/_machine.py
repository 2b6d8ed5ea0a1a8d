"""The machine's arithmetic, which threads set otherwise: torch.set_flush_denormal, XLA's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from . import _widthwise as core

F = TypeVar("F", bound=Callable[..., Any])


def by_usual_arithmetic(function: F) -> F:
    """A function in which NumPy rounds to nearest and keeps subnormals."""

    @wraps(function)
    def called(*args: Any, **how: Any) -> Any:
        with core.UsualArithmetic():
            return function(*args, **how)

    return called  # type: ignore[return-value]
