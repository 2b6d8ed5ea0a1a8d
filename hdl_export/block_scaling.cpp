#include "block_scaling.hpp"

#include <bit>
#include <cmath>

#include "widthwise/sim/blocks.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::hdl {
namespace {

// floor(log2) of a format's largest number.
std::int64_t largest_exponent(const Format& f) {
  const Value v = value_of(f, find_code(f, NamedCode::max_finite)->data());
  std::int64_t digits = 0;
  for (std::size_t i = 0; i < v.significand.size(); ++i)
    if (v.significand[i])
      digits = 64 * static_cast<std::int64_t>(i) + std::bit_width(v.significand[i]);
  return v.exponent + digits - 1;
}

// Exponents of the scales of blocks of one number.
class Exponents {
 public:
  explicit Exponents(BlockFormat f) : top_(f.scale.bias), run_(made(f)) {}

  std::int64_t of(double x) const {
    std::uint64_t element = 0;
    std::uint8_t scale = 0;
    BlockTally tally;
    run_.run(0, &x, &element, &scale, tally);
    return scale - top_;
  }

 private:
  static BlockQuantiser made(BlockFormat f) {
    f.shape = BlockShape::along_axis;
    f.rows = f.columns = 1;
    f.flush = false;
    return BlockQuantiser::of<double>(f, {1, 1, 1, 1, 1}, {.rounding = RoundingMode::rne});
  }

  std::int64_t top_;
  BlockQuantiser run_;
};

}  // namespace

BlockScaling scaling_of(const BlockQuantisation& q) {
  const int digits = q.from.precision();
  const std::int64_t emax = largest_exponent(q.to.element);
  const Exponents exponents(q.to);
  // The least significand whose block has this exponent, or the one past all.
  const auto least = [&](std::int64_t exponent) {
    std::uint64_t low = std::uint64_t{1} << (digits - 1), high = low << 1;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const double x = std::ldexp(static_cast<double>(middle), static_cast<int>(emax) - digits + 1);
      if (exponents.of(x) >= exponent)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  return {digits, emax, q.to.scale.bias, least(1), least(0)};
}

}  // namespace widthwise::hdl
