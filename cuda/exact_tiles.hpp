#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// One exact sum of all products, or one in a register of a fixed last digit, on a device.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_exact_tiles(const ProductTask& task);

// Null where a condition fails. Products that lie too far apart, and outputs that the tiles mark,
// are the definition's.
std::unique_ptr<const Way> exact_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
