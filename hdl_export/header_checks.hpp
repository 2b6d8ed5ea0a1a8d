#pragma once
#include <vector>

#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// What holds each constant of each header to its value, in the header's own language: bench/
// NAME_headers.v, .sv, .vhd and .c, and .py for what has no compiler.
std::vector<File> header_checks(const ConstantTable& table);

}  // namespace widthwise::hdl
