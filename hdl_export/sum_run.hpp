#pragma once
#include <cstdint>
#include <vector>

#include "stimuli.hpp"
#include "widthwise/sim/sum_requantisation.hpp"

namespace widthwise::hdl {

// A sum, and codes of the ports that there are.
struct SumOperands {
  std::int32_t sum;
  std::uint64_t multiplier = 0, zero_point = 0;
};

// What the simulator makes of one sum: the code's integer, and whether it was clamped.
struct Requantised {
  std::int32_t code;
  bool clamped;
  std::uint8_t flags() const { return clamped ? 5 : 0; }  // OF and NX
};
Requantised requantised(const SumRequantisation& s, const SumOperands& x);

// Sums whose products lie half way between two integers or beside that, at both ends of the codes,
// powers of two and the ends of 32 bits; then as many of any size. Of ports some of these by each
// of the multipliers at the ends of its fields and beside, and by others, with zero points at their
// ends and others; then others for each.
std::vector<Stimulus> directed_sums(const SumRequantisation& s, std::uint64_t seed);
std::vector<Stimulus> random_sums(const SumRequantisation& s, std::uint64_t seed,
                                  std::size_t count);

}  // namespace widthwise::hdl
