#pragma once
#include <span>
#include <string>

#include "rtl_files.hpp"
#include "widthwise/hdl/design.hpp"

namespace widthwise::hdl {

// What a reader of the folder has to know. Without ports there is no RTL, for the reason given.
std::string readme(const Design& design, const ConstantTable& table, std::span<const Port> ports,
                   const std::string& reason);

}  // namespace widthwise::hdl
