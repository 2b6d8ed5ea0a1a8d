"""Rounding: functions, `quantizer`, and the module `Quantizer`."""

from . import quant_function, quant_module
from .quant_function import *  # noqa: F403
from .quant_module import *  # noqa: F403

__all__ = [*quant_function.__all__, *quant_module.__all__]
