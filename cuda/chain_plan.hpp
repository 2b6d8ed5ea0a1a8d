#pragma once
#include <string>

#include "widthwise/sim/engine.hpp"

// Which units chain tiles compute. docs/exactness.md has the argument.
namespace widthwise::cuda {

struct ChainAnswer {
  std::string refusal{};  // the condition that fails, if one does
  bool is_long = false;   // in integers of 64 digits, not of 32
};

ChainAnswer chain_plan(const ProductTask& task);

}  // namespace widthwise::cuda
