#pragma once
#include "device.hpp"
#include "widthwise/sim/running.hpp"

namespace widthwise::cuda {

// RunningProducts of sim, of a product that lies on a device. Throws std::invalid_argument where a
// device's integers do not hold a unit's numbers.
void run_running(Device& device, const Unit& unit, const MatrixProduct& p);

}  // namespace widthwise::cuda
