#pragma once
#include "region.hpp"
#include "widthwise/sim/engine.hpp"

// Matrix products on a device.
namespace widthwise::cuda {

// What the engine of that name says to a task for the device.
Opinion opinion(const ProductTask& task, std::string_view engine, const Device& device);

// The fastest way whose conditions hold.
std::unique_ptr<const Way> best_way(const ProductTask& task, Device& device);
// The same where B may be windows. (Pairs of 16 bits would be of neighbouring columns.)
std::unique_ptr<const Way> best_way_by_index(const ProductTask& task, Device& device);

// Computes rows of a whole product, region by region of what the device's memory holds.
void run_in_regions(Device& device, const Unit& unit, const Way& way, const WholeProduct& p,
                    std::size_t first, std::size_t last);

// For products whose operands and results lie here, or on the device.
std::unique_ptr<ProductEngine> make(const ProductTask& task, Device& device,
                                    Memory lies = Memory::host);

}  // namespace widthwise::cuda
