#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Matrix products of tensor units in integers on a device's threads.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_tensor_tiles(const ProductTask& task);

// Null where a condition fails. What the tiles cannot do, one output or all, is the definition's.
std::unique_ptr<const Way> tensor_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
