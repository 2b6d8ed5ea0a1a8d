#pragma once
#include <optional>
#include <string>

#include "kernel.hpp"
#include "widthwise/unit.hpp"

// Which units limbs compute. docs/exactness.md argues every condition.
namespace widthwise::wide {

struct Answer {
  std::optional<Chain> chain;
  std::string reason;  // the condition that fails
};

// For sums of k products.
Answer plan(const Unit& unit, std::size_t k);

}  // namespace widthwise::wide
