#pragma once
#include "widthwise/sim/engine.hpp"

// Exact sums of products of integers of up to 8 bits, modulo 2^32, by the machine's dot
// instructions for bytes (docs/exactness.md, 75).
namespace widthwise::bytes {

// Why this engine takes the task or does not, and how fast.
Opinion opinion(const ProductTask& task);

// Needs an opinion that takes.
std::unique_ptr<ProductEngine> make(const ProductTask& task);

}  // namespace widthwise::bytes
