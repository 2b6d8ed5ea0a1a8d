"""What multiplies in place of exact products, as the texts that ops take."""

from __future__ import annotations

from typing import Any

from .._product import Product, bound_multiplier

GIVEN: dict[str, Any] = {}  # functions and products by their texts, as long as the program runs


def multiplier_text(multiplier: Any) -> str | None:
    """A name as it is; for anything else a text that finds it again."""
    if multiplier is None or isinstance(multiplier, str):
        return multiplier
    bound_multiplier(multiplier)  # or an error that says what is wanted
    # No other object has this number, for the table keeps this one.
    key = f"{called(multiplier)}@{id(multiplier):x}"
    GIVEN[key] = multiplier
    return key


def called(multiplier: Any) -> str:
    own = multiplier.name if isinstance(multiplier, Product) else None
    return str(own or getattr(multiplier, "__name__", type(multiplier).__name__))


def told_multiplier(text: str | None) -> Any:
    return text if text is None else GIVEN.get(text, text)
