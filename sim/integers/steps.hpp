#pragma once
#include "widthwise/sim/engine.hpp"

// Units of one product a block, in rows of integers.
namespace widthwise::steps {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::steps
