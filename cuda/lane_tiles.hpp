#pragma once
#include <span>

#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Matrix products in float and double lanes on a device: where sim's lanes are exact, these are.
namespace widthwise::cuda {

// Empty, or the condition that fails.
std::string why_no_lane_tiles(const ProductTask& task);

// Null where a condition fails. What the lanes cannot do, one output or all, is the definition's.
std::unique_ptr<const Way> lane_tiles(const ProductTask& task, Device& device);

// The tiles of lanes' products of one shape: a launch for all of the same sequence.
void launch_together(Device& device, std::span<const Begun> products);

}  // namespace widthwise::cuda
