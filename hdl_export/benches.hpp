#pragma once
#include <span>

#include "rtl_files.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// What checks a unit in bench/, and the Makefile that runs it.
std::vector<File> bench_files(const Design& design, std::string_view name,
                              std::span<const Port> ports);

// The bench that compares with the golden model; and why a unit has none, or nothing.
std::string dpi_bench(const Design& design, std::string_view name, std::span<const Port> ports);
std::string why_no_dpi_bench(std::span<const Port> ports);

}  // namespace widthwise::hdl
