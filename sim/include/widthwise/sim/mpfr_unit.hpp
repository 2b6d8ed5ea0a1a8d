#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "widthwise/unit.hpp"

// A unit's dot product recomputed with MPFR numbers: the datapath page once more, in terms that the
// definition does not use. Exact sums stay unevaluated lists of addends until something rounds
// them.
namespace widthwise {

// One dot product. Codes of an operand follow one another, each in whole little-endian limbs of 64
// bits: three of a 65-bit format take six. Scales stand once for every scale.block elements.
struct UnitOperands {
  std::span<const std::uint64_t> a, b, c;
  std::span<const std::uint64_t> scale_a{}, scale_b{};
};

// The code of c + sum a[i] * b[i] in the format of result_round(unit). Random bits are those of
// (seed, index, point, step); index is the output's row-major position.
std::vector<std::uint64_t> mpfr_dot(const Unit& unit, const UnitOperands& operands,
                                    std::uint64_t seed = 0, std::uint64_t index = 0);

// The k random bits of one rounding (the datapath page, 3.8); point is the slot that rounds, 2 for
// elementwise work and conversions, whose step is 0.
std::uint64_t mpfr_random_bits(int k, std::uint64_t seed, std::uint64_t index,
                               std::uint32_t point = 2, std::uint64_t step = 0);

}  // namespace widthwise
