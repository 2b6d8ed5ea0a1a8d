#include "random_bits.hpp"

#include <array>

#include "widthwise/sim/mpfr_unit.hpp"

namespace widthwise::mpfr {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }

// Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3 (SC 2011).
Words philox(Words x, std::uint64_t key) {
  std::uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * x[0], p1 = 0xCD9E8D57ull * x[2];
    x = {high(p1) ^ x[1] ^ k0, low(p1), high(p0) ^ x[3] ^ k1, low(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x;
}

}  // namespace

std::uint64_t random_bits(int k, const Place& at) {
  const unsigned width = k <= 16 ? 16 : k <= 32 ? 32 : 64, fields = 128 / width;
  const Words x = philox(
      {low(at.index), high(at.index), low(at.step / fields), static_cast<std::uint32_t>(at.slot)},
      at.seed);
  const unsigned first_bit = width * static_cast<unsigned>(at.step % fields);
  const std::uint64_t half =
      first_bit < 64 ? x[0] | std::uint64_t{x[1]} << 32 : x[2] | std::uint64_t{x[3]} << 32;
  const std::uint64_t field = width == 64 ? half : half >> first_bit % 64 & ((1ull << width) - 1);
  return field >> (width - static_cast<unsigned>(k));
}

}  // namespace widthwise::mpfr

namespace widthwise {

std::uint64_t mpfr_random_bits(int k, std::uint64_t seed, std::uint64_t index, std::uint32_t point,
                               std::uint64_t step) {
  return mpfr::random_bits(k, {seed, index, static_cast<mpfr::Slot>(point), step});
}

}  // namespace widthwise
