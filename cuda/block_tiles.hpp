#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Blocks of a few products by the machine's own float and double operations, on a device.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_block_tiles(const ProductTask& task);

// Null where a condition fails. What the tiles cannot do, one output or all, is the definition's.
std::unique_ptr<const Way> block_tiles(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
