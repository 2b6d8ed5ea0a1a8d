#pragma once
#include <string>

#include "widthwise/hdl/constants.hpp"

namespace widthwise::hdl {

// A Verilog-2001 fragment of localparams, to be included in the body of each module that wants it.
// It has no include guard: with one, the second module of a file would get nothing. Integers past
// 32 bits are 64-bit signed literals, for Icarus reads `integer X = 4294967296` as 0.
std::string verilog_localparams(const ConstantTable& table);

}  // namespace widthwise::hdl
