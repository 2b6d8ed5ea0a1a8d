#pragma once
#include "device.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/engine.hpp"

namespace widthwise::cuda {

// Every stage of output (row, column) of a product that lies on a device, as ReferenceUnit::trace
// tells them. Throws std::invalid_argument where no integers hold a unit.
std::vector<TraceRow> trace(Device& device, const ProductTask& task, const MatrixProduct& p,
                            std::size_t row, std::size_t column);

}  // namespace widthwise::cuda
