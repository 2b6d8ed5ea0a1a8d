#pragma once
#include <span>

#include "rtl_files.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// What checks a unit in bench/, and the Makefile that runs it.
std::vector<File> bench_files(const Design& design, std::string_view name,
                              std::span<const Port> ports);

}  // namespace widthwise::hdl
