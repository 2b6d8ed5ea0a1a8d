#pragma once
#include "widthwise/sim/engine.hpp"

// lib's datapath on vectors of integers: chains of single products as steps, units of any shape as
// rows of outputs.
namespace widthwise::integers {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::integers
