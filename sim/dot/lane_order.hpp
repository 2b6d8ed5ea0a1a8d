#pragma once
#include <cstddef>
#include <vector>

#include "widthwise/unit.hpp"

namespace widthwise {

// Which element of k each lane holds, in the unit's order.
std::vector<std::size_t> lane_order(const Unit& u, std::size_t k);

// Throws where the lanes of one group would have more than one scale.
void check_scale_groups(const Unit& u, std::size_t k);

}  // namespace widthwise
