#pragma once
#include <optional>

#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// The definition on a device's threads.
namespace widthwise::cuda {

// Which integers hold a unit's numbers on their way. Throws std::invalid_argument, saying what the
// device's do not hold.
enum class Carriers { small, medium };
Carriers carriers_for(const ProductTask& task);

// By whatever multiplies: the exact product, a shipped multiplier or a text.
std::unique_ptr<const Way> definition(const ProductTask& task, Device& device);

}  // namespace widthwise::cuda
