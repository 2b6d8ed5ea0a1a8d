#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Matrix products on a device.
namespace widthwise::cuda {

// What the engine of that name says to a task for the device.
Opinion opinion(const ProductTask& task, std::string_view engine, const Device& device);

// The fastest way whose conditions hold.
std::unique_ptr<const Way> best_way(const ProductTask& task, Device& device);

// For products whose operands and results lie here, or on the device.
std::unique_ptr<ProductEngine> make(const ProductTask& task, Device& device,
                                    Memory lies = Memory::host);

}  // namespace widthwise::cuda
