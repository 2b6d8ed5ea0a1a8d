#pragma once
#include "widthwise/sim/dot.hpp"

namespace widthwise {

// multiply(a, b), which may have as many digits as its factors together; the sums have no room for
// more.
uint128 checked_product(const Multiplier& multiply, std::uint64_t a, int digits_a, std::uint64_t b,
                        int digits_b);

}  // namespace widthwise
