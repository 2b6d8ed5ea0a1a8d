#pragma once
#include <optional>
#include <string>

#include "kernel.hpp"
#include "widthwise/unit.hpp"

// Which units limbs compute. docs/exactness.md argues every condition.
namespace widthwise::wide {

inline constexpr int most_block = 64;  // products that nodes add up, all of them at hand

struct Answer {
  std::optional<Chain> chain;
  std::string reason;  // the condition that fails
};

Answer plan(const Unit& unit);

}  // namespace widthwise::wide
