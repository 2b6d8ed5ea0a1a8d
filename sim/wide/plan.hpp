#pragma once
#include <optional>
#include <string>

#include "kernel.hpp"
#include "widthwise/unit.hpp"

// Which units are chains of multiply-adds in limbs. docs/exactness.md argues every condition.
namespace widthwise::wide {

struct Answer {
  std::optional<Chain> chain;
  std::string reason;  // the condition that fails
};

Answer plan(const Unit& unit);

}  // namespace widthwise::wide
