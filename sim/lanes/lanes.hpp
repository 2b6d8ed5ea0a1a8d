#pragma once
#include "plan.hpp"
#include "widthwise/sim/engine.hpp"

namespace widthwise::lanes {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

// The same of lanes of binary16, where the machine computes in it.
Opinion opinion_of_halves(const ProductTask& task);
std::unique_ptr<ProductEngine> make_halves(const ProductTask& task);

}  // namespace widthwise::lanes
