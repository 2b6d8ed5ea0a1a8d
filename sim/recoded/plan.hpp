#pragma once
#include <optional>
#include <string>

#include "widthwise/unit.hpp"

// Which units mean the same in floats. docs/exactness.md, 63, has the argument.
namespace widthwise::recoded {

// The float with the fewest exponents that has every number of f as a normal one; none where
// it would take more than 64 bits.
std::optional<Format> float_of(const Format& f);

struct Plan {
  Unit inner;                   // the unit over floats
  std::optional<Round> result;  // how its results are rounded then, where that is no float's doing
  std::string unfit;            // why there is none; empty if there is one
};
Plan plan(const Unit& u, std::size_t k);

}  // namespace widthwise::recoded
