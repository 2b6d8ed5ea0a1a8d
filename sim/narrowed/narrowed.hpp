#pragma once
#include "widthwise/sim/engine.hpp"

// Units with more exponents than a double has: where no number needs them, by the engine of the
// same unit with fewer.
namespace widthwise::narrowed {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::narrowed
