"""Rounding: functions, `quantizer`, and the module `Quantizer`."""

from .quant_function import (
    act_format_quantize,
    bfloat16_posit8_quantize,
    block_quantize,
    configurable_table_quantize,
    configurable_table_quantize_geomean,
    configurable_table_quantize_rounding_hint,
    convert_to_posit,
    fixed_point_quantize,
    float_quantize,
    new_format_quantize,
    posit_quantize,
    posit_sigmoid,
    posit_tanh,
    posit_tanh_enhanced,
    quantizer,
)
from .quant_module import Quantizer

__all__ = [
    "Quantizer",
    "act_format_quantize",
    "bfloat16_posit8_quantize",
    "block_quantize",
    "configurable_table_quantize",
    "configurable_table_quantize_geomean",
    "configurable_table_quantize_rounding_hint",
    "convert_to_posit",
    "fixed_point_quantize",
    "float_quantize",
    "new_format_quantize",
    "posit_quantize",
    "posit_sigmoid",
    "posit_tanh",
    "posit_tanh_enhanced",
    "quantizer",
]
