#pragma once
#include <cstdint>

#include "host_device.hpp"
#include "phases.hpp"

namespace tests {

// Those of elements.hpp, in a source of their own.
std::map<std::string, HostDevice::Body> element_kernels();

// This CPU with all kernels of the CUDA engine.
HostDevice& host_device();

// How its tiles are to run, and what they did.
struct TileRuns {
  Barriers barriers = Barriers::all;
  std::uint64_t outputs = 0, redone = 0;
};
TileRuns& tile_runs();

}  // namespace tests
