#pragma once
#include <limits>
#include <vector>

#include "widthwise/sim/tables.hpp"

namespace tests {

// A shipped one; one with NaN, two zeros and values of many lengths; one whose ends are far apart.
inline std::vector<widthwise::Format> tables() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double few[] = {-2, -0.0, 0, 0.25, nan, 3, -0.75, 0.1}, far[] = {-0x1p60, 1, 0x1p-50};
  return {widthwise::find_table("nf4"), widthwise::table_of("", few), widthwise::table_of("", far)};
}

}  // namespace tests
