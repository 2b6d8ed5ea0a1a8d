#pragma once
#include <string>

#include "widthwise/unit.hpp"

namespace widthwise {

// The long form in braces on one line.
std::string to_inline_toml(const Unit& u);

}  // namespace widthwise
