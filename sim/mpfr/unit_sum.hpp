#pragma once
#include <optional>

#include "unit_term.hpp"

namespace widthwise::mpfr {

// What one of a unit's three sums needs besides its description.
struct SumPlace {
  Slot slot;  // of its rounded nodes
  std::uint64_t seed, index;
  std::optional<LateFrac> late;  // c_sum's two ports
};

// Any of the three sums: fused, or a chain or tree of sums of two.
Term sum_of(const Sum& how, std::vector<Term> terms, const SumPlace& at);

}  // namespace widthwise::mpfr
