#pragma once
#include <string>

#include "row_kernels.hpp"

// Which units rows of integers compute, and how wide those are. docs/exactness.md has the argument.
namespace widthwise::rows {

struct Answer {
  bool takes;
  std::string reason;  // the conditions that hold, or the one that fails
  Widths widths{};
  int usual_words = 0;  // of magnitudes, for sums of ordinary data
};

Answer plan(const Unit& unit, std::size_t k);

}  // namespace widthwise::rows
