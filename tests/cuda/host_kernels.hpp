#pragma once
#include <cstdint>

#include "host_device.hpp"
#include "phases.hpp"
#include "sim/engine/machine_rounding.hpp"

namespace tests {

using Kernels = std::map<std::string, HostDevice::Body>;

// How tiles are to run, and what they did.
struct TileRuns {
  Barriers barriers = Barriers::all;
  std::uint64_t outputs = 0, redone = 0;
};
TileRuns& tile_runs();

// A GPU's operations have modes of their own; this CPU's is set for all of them.
template <class Args, class Tile>
HostDevice::Body phases(widthwise::RoundingMode mode = widthwise::RoundingMode::rne) {
  return [mode](const void* argument, const widthwise::cuda::Grid& grid) {
    static std::mt19937_64 random(1);
    const widthwise::MachineRounding set(mode);
    const Args& args = *static_cast<const Args*>(argument);
    const Tile kernel(args);
    PhaseRun<Tile>(kernel, tile_runs().barriers, random)
        .blocks(static_cast<int>(grid.blocks_x), static_cast<int>(grid.blocks_y));
    if constexpr (requires { args.redo; }) {
      const auto count = static_cast<std::size_t>(args.m) * static_cast<std::size_t>(args.n);
      tile_runs().outputs += count;
      tile_runs().redone += static_cast<std::uint64_t>(std::count(args.redo, args.redo + count, 1));
    }
  };
}

// In sources of their own.
Kernels element_kernels();
void add_chain_kernels(Kernels& all);
void add_unit_kernels(Kernels& all);

// The name of the CUDA engine whose device is this CPU, as the planner knows it.
inline constexpr const char* cuda_on_the_cpu = "cuda on the CPU";

// This CPU with all kernels of the CUDA engine.
HostDevice& host_device();

}  // namespace tests
