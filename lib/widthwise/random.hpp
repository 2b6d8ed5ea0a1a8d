#pragma once
#include <array>
#include <cstdint>

// The random bits of stochastic rounding: a function of where a rounding happens, never of when.
namespace widthwise {

// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * c[0], r = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(r >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(r),
         static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
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
constexpr std::uint64_t random_bits(int k, Where where, Slot slot, std::uint64_t step) {
  const int w = k <= 16 ? 16 : k <= 32 ? 32 : 64;
  const std::uint64_t per_call = static_cast<std::uint64_t>(128 / w);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const std::array<std::uint32_t, 4> x =
      philox({low(where.index), low(where.index >> 32), low(step / per_call),
              static_cast<std::uint32_t>(slot)},
             {low(where.seed), low(where.seed >> 32)});
  const int at = static_cast<int>(step % per_call) * w;
  std::uint64_t field = x[at / 32] >> at % 32;
  if (w == 64) field |= std::uint64_t{x[at / 32 + 1]} << 32;
  if (w == 16) field &= 0xffff;
  return field >> (w - k);
}

}  // namespace widthwise
