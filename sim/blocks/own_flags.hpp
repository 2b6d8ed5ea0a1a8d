#pragma once
#include <cstdint>

#include "widthwise/rounding.hpp"

namespace widthwise::blocks {

// The flags that x + y and x * y raise when they are rounded to binary64, by the definition: for
// the few lanes where the machine's numbers do not tell. Infinities and NaN raise none: they pass
// through a slot as they are.
std::int64_t flags_of_sum(RoundingMode mode, double x, double y);
std::int64_t flags_of_product(RoundingMode mode, double x, double y);

}  // namespace widthwise::blocks
