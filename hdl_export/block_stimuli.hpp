#pragma once
#include "stimuli.hpp"

namespace widthwise::hdl {

// Blocks that random numbers almost never make: largest magnitudes beside every one at which the
// scale changes, in all binades; quotients half way between two elements and beside the largest;
// where scales divide, largest magnitudes half way between two scales, under each numbers half way
// between two elements; zeros of both signs, subnormal numbers, and NaN and infinity in the company
// of numbers.
std::vector<Stimulus> directed_blocks(const BlockQuantisation& q, std::uint64_t seed);

// Numbers that lie some binades apart at most, in every second block; else sim's operands.
std::vector<Stimulus> random_blocks(const BlockQuantisation& q, std::uint64_t seed,
                                    std::size_t count);

}  // namespace widthwise::hdl
