#pragma once
#include "device.hpp"
#include "widthwise/sim/dot.hpp"

namespace widthwise::cuda {

// Empty, or why not.
std::string why_no_trace(const Unit& unit, std::size_t k);

// Every stage of output (row, column) of a product that lies on a device, as ReferenceUnit::trace
// tells them. Throws std::invalid_argument where why_no_trace says why, or no integers hold a unit.
std::vector<TraceRow> trace(Device& device, const Unit& unit, const MatrixProduct& p,
                            std::size_t row, std::size_t column);

}  // namespace widthwise::cuda
