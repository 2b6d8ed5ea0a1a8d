#pragma once
#include <span>
#include <string_view>

#include "design_rtl.hpp"
#include "folder_templates.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {

// What checks a unit's RTL in bench/.
std::vector<File> bench_files(const Design& design, std::string_view name, const DesignRtl& rtl);

// What a bench has to know of a module's clock, for both languages.
Values clock_values(const DesignRtl& rtl);

// The bench that checks an entity of VHDL against the vectors.
std::string vhdl_bench(std::string_view name, const DesignRtl& rtl);

// The bench that compares with the golden model; and why a unit has none, or nothing.
std::string dpi_bench(const Design& design, std::string_view name, const DesignRtl& rtl);
std::string why_no_dpi_bench(const DesignRtl& rtl);

}  // namespace widthwise::hdl
