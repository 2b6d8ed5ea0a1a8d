#include "own_flags.hpp"

#include <bit>
#include <cmath>

#include "widthwise/arithmetic.hpp"

namespace widthwise::blocks {
namespace {

using Doubles = Arithmetic<std::uint64_t>;

// Of a function of Doubles and two codes.
template <class Operation>
std::int64_t flags_of(const Operation& operation, RoundingMode mode, double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return 0;
  const Doubles doubles(binary64, {.rounding = mode});
  return operation(doubles, std::bit_cast<std::uint64_t>(x), std::bit_cast<std::uint64_t>(y)).flags;
}

}  // namespace

std::int64_t flags_of_sum(RoundingMode mode, double x, double y) {
  return flags_of([](const Doubles& d, auto a, auto b) { return d.add(a, b); }, mode, x, y);
}
std::int64_t flags_of_product(RoundingMode mode, double x, double y) {
  return flags_of([](const Doubles& d, auto a, auto b) { return d.multiply(a, b); }, mode, x, y);
}

}  // namespace widthwise::blocks
