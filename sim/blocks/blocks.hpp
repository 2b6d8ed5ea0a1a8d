#pragma once
#include "widthwise/sim/engine.hpp"

namespace widthwise::blocks {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::blocks
