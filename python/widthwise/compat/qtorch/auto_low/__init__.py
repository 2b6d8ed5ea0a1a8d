"""Models whose layers' outputs are rounded."""

from .auto_low import lower, sequential_lower

__all__ = ["lower", "sequential_lower"]
