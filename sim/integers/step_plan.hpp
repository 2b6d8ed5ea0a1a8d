#pragma once
#include <string>

#include "widthwise/unit.hpp"

// Which units rows of integers compute, and how wide those are. docs/exactness.md has the argument.
namespace widthwise::steps {

struct Answer {
  int digits;          // of the integers, 32 or 64; 0: refused
  std::string reason;  // the conditions that hold, or the one that fails
  int exponents = 0;   // digits of integers that hold those: 32 or 64
};

Answer plan(const Unit& unit);

}  // namespace widthwise::steps
