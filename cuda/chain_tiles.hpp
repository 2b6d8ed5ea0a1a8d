#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Chains of single products in integers on a device's threads.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_chain_tiles(const ProductTask& task);

// Null where a condition fails.
std::unique_ptr<const Way> chain_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
