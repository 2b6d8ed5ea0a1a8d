#pragma once
#include "widthwise/sim/engine.hpp"

// Any unit, in rows of integers: the definition for a row of outputs at a time.
namespace widthwise::rows {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::rows
