#pragma once
#include <bit>
#include <cstdint>

namespace widthwise {

// A number that lacks `lost`, its last digit telling so: one later rounding, to fewer digits by
// two, is then the only one. Of an infinity that lacks something the largest number.
constexpr double to_odd(double x, double lost) {
  auto bits = std::bit_cast<std::uint64_t>(x);
  if (lost == 0 || bits & 1) return x;
  return std::bit_cast<double>((lost > 0) == (x > 0) ? bits + 1 : bits - 1);
}

}  // namespace widthwise
