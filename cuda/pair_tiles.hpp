#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Chains of binary16 and bfloat16 by a GPU's own arithmetic, two numbers a register.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_pair_tiles(const ProductTask& task);

// Null where a condition fails.
std::unique_ptr<const Way> pair_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
