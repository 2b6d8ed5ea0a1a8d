#pragma once
#include "widthwise/sim/elementwise.hpp"

namespace widthwise::elements {

// The k random bits, at most 64, of the roundings of n elements from `first` on, as random_bits of
// widthwise/random.hpp has them: slot `out`, step 0.
void draw_bits(int k, std::uint64_t seed, std::uint64_t first, std::size_t n, std::uint64_t* bits);

// Those that round n elements from the source's `first` on: none, the caller's own, or drawn into
// `room`.
const std::uint64_t* random_bits(const Rounding& rounding, const RandomSource& source,
                                 std::size_t first, std::size_t n, std::uint64_t* room);

}  // namespace widthwise::elements
