#pragma once
#include <string_view>

#include "widthwise/unit.hpp"

namespace widthwise {

// The unit of the long form in braces on one line.
Unit unit_from_inline_toml(std::string_view text);

}  // namespace widthwise
