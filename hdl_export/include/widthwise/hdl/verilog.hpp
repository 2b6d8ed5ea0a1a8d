#pragma once
#include <string>

#include "widthwise/hdl/constants.hpp"

// The table as Verilog-2001. Integers past 32 bits are 64-bit signed literals, for Icarus reads
// `integer X = 4294967296` as 0.
namespace widthwise::hdl {

// A fragment of localparams, to be included in the body of each module that wants it. It has no
// include guard: with one, the second module of a file would get nothing.
std::string verilog_localparams(const ConstantTable& table);

// The same as parameters, to be included between the brackets of #( ... ): a localparam of the body
// comes too late to size ANSI ports.
std::string verilog_parameters(const ConstantTable& table);

// Macros, with a guard and the unit's name in capitals in front. Every literal is sized, those
// below zero are in brackets.
std::string verilog_defines(const ConstantTable& table);

}  // namespace widthwise::hdl
