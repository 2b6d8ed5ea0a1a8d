#pragma once
#include "widthwise/sim/dot.hpp"

namespace widthwise {

// Refuses a unit whose significands a supplied multiplier does not take.
void check_multiplier(const Unit& u);

// multiply(a, b), which may have as many digits as its factors together; the sums have no room for
// more.
struct CheckedProduct {
  const Multiplier& multiply;
  int digits_a, digits_b;

  uint128 operator()(std::uint64_t a, std::uint64_t b) const;
};

// Factors and digits of one that has more.
struct WideProduct {
  std::uint64_t a, b;
  std::int64_t bits;
};
[[noreturn]] void refuse(const WideProduct& product, int digits_a, int digits_b);

}  // namespace widthwise
