#pragma once
#include <string>

#include "widthwise/hdl/constants.hpp"

namespace widthwise::hdl {

// 8'h7f: every literal is sized, for unsized ones break concatenations.
std::string verilog_literal(const Pattern& p);

}  // namespace widthwise::hdl
