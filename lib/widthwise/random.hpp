#pragma once
#include <array>

#include "widthwise/significand.hpp"

// The random bits of stochastic rounding: a function of where a rounding happens, never of when.
namespace widthwise {

// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
// Its ten keys, which are a seed's.
struct PhiloxKeys {
  std::uint32_t of_round[10][2];

  explicit constexpr PhiloxKeys(std::uint64_t seed) : of_round{} {
    auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
    for (auto& key : of_round) {
      key[0] = low, key[1] = high;
      low += 0x9E3779B9, high += 0xBB67AE85;
    }
  }
};

using PhiloxWords = std::array<std::uint32_t, 4>;

constexpr PhiloxWords philox(PhiloxWords c, const PhiloxKeys& keys) {
  for (const auto& key : keys.of_round) {
    const auto p = multiply_exact(c[0], std::uint32_t{0xD2511F53}),
               r = multiply_exact(c[2], std::uint32_t{0xCD9E8D57});
    c = {r.high ^ c[1] ^ key[0], r.low, p.high ^ c[3] ^ key[1], p.low};
  }
  return c;
}

// The slots of a unit that round, as the generator counts them.
enum class Slot : std::uint8_t {
  product,
  group_node,
  out,
  c_node,
  c_round,
  promote,
  final,
  block_node,
  addend,  // these five in compensated sums (datapath/compensation.hpp)
  difference,
  error,
  compensation,
  compensated
};

// Which output is being computed, under which seed.
struct Where {
  std::uint64_t seed = 0;
  std::uint64_t index = 0;  // flat, row-major
};

// The k random bits of one rounding. One call of the generator serves 128 / w consecutive steps,
// w the least of 16, 32 and 64 that holds k bits.
struct RandomField {
  int bits, width;

  explicit constexpr RandomField(int k) : bits(k), width(k <= 16 ? 16 : k <= 32 ? 32 : 64) {}
  constexpr std::uint64_t steps_a_call() const { return static_cast<std::uint64_t>(128 / width); }

  // Out of the words of its call; in a carrier F of at least k digits.
  template <class F, class W>
  constexpr F of(const std::array<W, 4>& words, std::uint64_t step) const {
    const int at = static_cast<int>(step % steps_a_call()) * width;
    const auto& word = words[static_cast<std::size_t>(at / 32)];
    if (width == 64)
      return F(words[static_cast<std::size_t>(at / 32 + 1)]) << (bits - 32) |
             F(word) >> (64 - bits);
    return F(width == 16 ? W((word >> at % 32) & W(0xffff)) : word) >> (width - bits);
  }
};

// One call, for the steps that share it.
constexpr PhiloxWords random_words(const RandomField& field, const PhiloxKeys& keys,
                                   std::uint32_t index_low, std::uint32_t index_high, Slot slot,
                                   std::uint64_t step) {
  const auto call = static_cast<std::uint32_t>(step / field.steps_a_call());
  return philox({index_low, index_high, call, static_cast<std::uint32_t>(slot)}, keys);
}

constexpr std::uint64_t random_bits(int k, Where where, Slot slot, std::uint64_t step) {
  const RandomField field(k);
  return field.of<std::uint64_t>(
      random_words(field, PhiloxKeys(where.seed), static_cast<std::uint32_t>(where.index),
                   static_cast<std::uint32_t>(where.index >> 32), slot, step),
      step);
}

}  // namespace widthwise
