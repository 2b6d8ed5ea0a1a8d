#pragma once
#include <string>

#include "widthwise/hdl/constants.hpp"

// The constants of a table under the names, and with the off-by-ones, that others give them:
// parameters alone. Where a format's codes mean something else to a library, SAME_CODES is 0: the
// widths agree, the codes do not.
namespace widthwise::hdl {

// Berkeley HardFloat: expWidth, sigWidth (with the hidden bit), roundingMode (odd is 6), control.
ConstantTable hardfloat_constants(const ConstantTable& table);

// CVFPU (FPnew): EXP_BITS, MAN_BITS (without the hidden bit), round modes (odd is 5).
ConstantTable fpnew_constants(const ConstantTable& table);

// FloPoCo: wE, wF (without the hidden bit), and words that have two exception bits in front.
ConstantTable flopoco_constants(const ConstantTable& table);

// Vitis HLS, ap_float<W, E>: all bits, exponent bits.
ConstantTable ap_float_constants(const ConstantTable& table);

// Vitis HLS and others that have ap_fixed<W, I, Q, O>: a type for each operand and result in fixed
// point, the result's with its rounding and overflow, where HLS has such.
std::string ap_fixed_header(const ConstantTable& table);
bool has_fixed_point(const ConstantTable& table);

// Vivado's Floating-Point Operator: a Tcl list for set_property -dict, fractions with hidden bits.
std::string vivado_tcl(const ConstantTable& table);

// SMT-LIB 2.6: a sort for each format, sb with the hidden bit, and its codes.
std::string smtlib(const ConstantTable& table);

}  // namespace widthwise::hdl
