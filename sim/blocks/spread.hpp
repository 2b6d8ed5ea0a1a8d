#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "plan.hpp"

namespace widthwise::blocks {

// Stand for the exponent of a zero, and of an infinity or a NaN: with any other they sum to less
// than all that vote.
inline constexpr std::int16_t no_exponent = -8192, special_exponent = -8191;

// What numbers there are.
struct Spread {
  static constexpr std::int16_t no_span = 16000;

  std::int16_t least = INT16_MAX, most = INT16_MIN;  // exponents
  bool special = false;                              // infinities or NaN

  void meet(const std::int16_t* exponents, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::int16_t e = exponents[i];
      if (e > special_exponent) least = std::min(least, e);
      most = std::max(most, e);
      special |= e == special_exponent;
    }
  }
  void meet(const Spread& x) {
    least = std::min(least, x.least), most = std::max(most, x.most), special |= x.special;
  }
  // How far a product with one of them moves, down and up.
  int lowers() const { return std::min<int>(least, 0); }
  int lifts() const { return std::max<int>(most, 0); }
  // More than the largest magnitude.
  double limit() const { return most > special_exponent ? std::ldexp(2.0, most) : 0; }
  // Between the exponents of numbers other than 0; out of all bounds where some are none.
  std::int16_t span() const {
    if (special) return no_span;
    return most > special_exponent ? static_cast<std::int16_t>(most - least) : std::int16_t{0};
  }
  // Floats hold them and their products, whose exponents lie within reach either way, and what
  // lifts products to the digits of a window.
  bool fits_floats_with(const Spread& y, int reach = float_reach) const {
    const auto narrow = [](int low, int high, int limit) { return low >= -limit && high <= limit; };
    return !special && !y.special && narrow(least, most, float_reach) &&
           narrow(y.least, y.most, float_reach) && narrow(least + y.least, most + y.most, reach);
  }
};

}  // namespace widthwise::blocks
