#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Tensor units whose groups of small numbers are added exactly and then scaled, on a device.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_group_tiles(const ProductTask& task);

// Null where a condition fails.
std::unique_ptr<const Way> group_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
