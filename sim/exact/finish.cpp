#include "finish.hpp"

#include <bit>

#include "sim/elementwise/quick_chunk.hpp"

namespace widthwise::exact {
namespace {

// x + y as a number of 64 digits: those of the machine's sum to nearest, and what that lost (Knuth,
// TAOCP 2, 4.2.2, theorem B) jammed below them. `usual` where it is finite, not zero, below the
// limit, and the loss leaves the leading digit where it is.
struct QuickSum {
  Number<std::uint64_t> number;
  bool usual;
};
constexpr QuickSum quick_sum(double x, double y, double limit) {
  const double sum = x + y, of_y = sum - x;
  const double lost = (x - (sum - of_y)) + (y - of_y);
  const auto bits = std::bit_cast<std::uint64_t>(sum), magnitude = bits & ~std::uint64_t{0} >> 1;
  const auto lost_bits = std::bit_cast<std::uint64_t>(lost);
  const bool negative = bits >> 63 != 0, less = (lost_bits ^ bits) >> 63 != 0;
  const std::uint64_t any = (lost_bits << 1) != 0 ? 1 : 0;
  const std::uint64_t fraction = magnitude << 12;
  const std::uint64_t sig = (fraction >> 1 | std::uint64_t{1} << 63) + (less ? 0 - any : any);
  const auto exponent = static_cast<std::int64_t>(magnitude >> 52) - 1023 - 63;
  const bool inside = (magnitude != 0) & (magnitude < std::bit_cast<std::uint64_t>(limit));
  const bool moves = (fraction == 0) & less & (any != 0);  // down from a power of two
  return {finite<std::uint64_t>(negative, exponent, sig), bool(inside & !moves)};
}

}  // namespace

void QuickFinish::codes(const double* first, const double* second, double limit, std::size_t n,
                        std::uint64_t* codes, std::uint8_t* flags, std::uint8_t* sure) const {
  const Rounder<std::uint64_t> to = *rounder_;
  const auto each = [to, first, second, limit](std::size_t i) {
    const QuickSum z = quick_sum(first[i], second[i], limit);
    return deliver_quick<SideBySide>(to, z.number, z.usual, std::uint64_t{0});
  };
  quick_chunk<std::uint64_t>(n, each, codes, flags, sure);
}

}  // namespace widthwise::exact
