#pragma once
#include <optional>
#include <string>

#include "design_rtl.hpp"
#include "widthwise/hdl/design.hpp"

namespace widthwise::hdl {

// What a reader of the folder has to know; why there is no RTL, if there is none.
std::string readme(const Design& design, const ConstantTable& table,
                   const std::optional<DesignRtl>& rtl, const std::string& reason);

}  // namespace widthwise::hdl
