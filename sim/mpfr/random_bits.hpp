#pragma once
#include <cstdint>

namespace widthwise::mpfr {

// The slots that round, as the datapath page (3.8) counts them.
enum class Slot : std::uint32_t {
  product = 0,
  group_node = 1,
  out = 2,
  c_node = 3,
  c_round = 4,
  promote = 5,
  final = 6,
  block_node = 7,
  addend = 8,  // these five in compensated sums
  difference = 9,
  error = 10,
  compensation = 11,
  compensated = 12,
};

// Where a rounding happens, which is all that its random bits depend on.
struct Place {
  std::uint64_t seed = 0, index = 0;
  Slot slot = Slot::out;
  std::uint64_t step = 0;
};

// k random bits, 1 to 64: Philox-4x32-10.
std::uint64_t random_bits(int k, const Place& at);

}  // namespace widthwise::mpfr
