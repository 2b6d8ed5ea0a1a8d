#pragma once
#include <span>
#include <string_view>

#include "design_rtl.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// What checks a unit in bench/, and the Makefile that runs it.
std::vector<File> bench_files(const Design& design, std::string_view name, const DesignRtl& rtl);

// What a module with a clock is connected to, beside its operands and results: a transaction enters
// at every clock, and its result is taken at once, so that no valid bit has to be reset.
inline constexpr std::string_view clock_ports =
    ".clk(clk), .rst(1'b0), .in_valid(1'b1), .in_ready(), .out_valid(), .out_ready(1'b1), ";

// The bench that compares with the golden model; and why a unit has none, or nothing.
std::string dpi_bench(const Design& design, std::string_view name, const DesignRtl& rtl);
std::string why_no_dpi_bench(const DesignRtl& rtl);

}  // namespace widthwise::hdl
