#pragma once
#include <algorithm>
#include <cstdint>

#include "widthwise/unit.hpp"

namespace widthwise {

// Digits a carrier of codes needs so that an operation between these formats is exact up to its one
// rounding: room for the code and a carry, and below the kept digits five of guard, or what the
// random bits of a stochastic rounding look at.
constexpr int digits_needed(const Format& f, const Rounding& r = {}) {
  const int guard = r.stochastic() ? std::max(5, r.random_bits + 4) : 5;
  return std::max({f.magnitude_bits() + 1, f.width(), f.digits() + 1, f.rounding_digits() + guard});
}

// The carriers that are built, by their digits; the last holds every format within the limits.
#ifdef WIDTHWISE_FEW_CARRIERS
inline constexpr int carrier_digits[] = {64, 256, 4160};
#else
inline constexpr int carrier_digits[] = {32, 64, 128, 256, 576, 1088, 2112, 4160};
#endif

constexpr int least_carrier(int digits_wanted) {
  for (int digits : carrier_digits)
    if (digits >= digits_wanted) return digits;
  return 0;
}

}  // namespace widthwise
