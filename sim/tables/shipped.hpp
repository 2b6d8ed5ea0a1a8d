#pragma once
#include <vector>

#include "widthwise/sim/tables.hpp"

namespace widthwise {

// The values of a shipped table by code; none if there is no such name.
std::vector<double> shipped_values(std::string_view name);

}  // namespace widthwise
