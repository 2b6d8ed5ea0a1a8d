#pragma once
#include "widthwise/sim/engine.hpp"

// Units over fixed point, posits and takums by the engine of a unit over floats: operands are
// written as floats on the way in, and a result that is rounded once as such a number on the way
// out.
namespace widthwise::recoded {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::recoded
