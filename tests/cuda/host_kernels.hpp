#pragma once
#include "host_device.hpp"
#include "phases.hpp"
#include "sim/engine/machine_rounding.hpp"

namespace tests {

using Kernels = std::map<std::string, HostDevice::Body>;

// A GPU's operations have modes of their own; this CPU's is set for all of them.
template <class Args, class Tile>
HostDevice::Body phases(widthwise::RoundingMode mode = widthwise::RoundingMode::rne) {
  return [mode](const void* argument, const widthwise::cuda::Grid& grid) {
    static std::mt19937_64 random(1);
    const widthwise::MachineRounding set(mode);
    const Tile kernel(*static_cast<const Args*>(argument));
    PhaseRun<Tile>(kernel, Barriers::all, random)
        .blocks(static_cast<int>(grid.blocks_x), static_cast<int>(grid.blocks_y));
  };
}

void add_chain_kernels(Kernels& all);

// The name of the CUDA engine whose device is this CPU, as the planner knows it.
inline constexpr const char* cuda_on_the_cpu = "cuda on the CPU";

// This CPU with all kernels of the CUDA engine.
HostDevice& host_device();

}  // namespace tests
