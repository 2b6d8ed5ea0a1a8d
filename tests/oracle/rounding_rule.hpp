#pragma once
#include <compare>
#include <cstdint>

#include "values.hpp"
#include "widthwise/rounding.hpp"

// Which of two neighbours a number strictly between them takes.
namespace oracle {

using widthwise::Rounding;

// half: the number against the middle of the gap. Not for stochastic modes.
bool goes_up(Rounding how, bool negative, bool lo_odd, std::strong_ordering half);
// Stochastic modes: delta of the gap against the threshold that the random bits set.
bool goes_up_at_random(Rounding how, const Exact& x, const Gap& gap, std::uint64_t random);
// Either.
bool goes_up(Rounding how, bool negative, const Exact& x, const Gap& gap, std::uint64_t random);

inline Dyadic middle(const Gap& gap) { return {gap.lo + gap.hi, gap.exp - 1}; }

}  // namespace oracle
