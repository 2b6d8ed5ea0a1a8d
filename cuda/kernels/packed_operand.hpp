#pragma once
#include <cstdint>

#include "widthwise/datapath/term.hpp"

namespace widthwise::cuda {

// An operand as it waits in memory:  | exponent: 15, signed | negative: 1 | significand: 16 |
// A zero's exponent sums to less, and that of an infinity or NaN to more, than all numbers' do,
// whatever they meet.
struct PackedOperand {
  static constexpr int significand_bits = 16;
  static constexpr int of_zero = -4096, of_special = 12288;
  static constexpr int most_exponent = 1024;  // no sum of two numbers' exponents is more

  static constexpr std::uint32_t packed(int exponent, bool negative, std::uint32_t significand) {
    return static_cast<std::uint32_t>(exponent) << 17 | std::uint32_t{negative} << 16 | significand;
  }
  static constexpr std::uint32_t zero = static_cast<std::uint32_t>(of_zero) << 17;
  static constexpr int exponent(std::uint32_t x) { return static_cast<std::int32_t>(x) >> 17; }
  static constexpr int sign(std::uint32_t x) { return x & 0x10000 ? -1 : 1; }
  static constexpr std::uint32_t significand(std::uint32_t x) { return x & 0xffff; }
};

}  // namespace widthwise::cuda
