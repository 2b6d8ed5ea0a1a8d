#include "group_tile.hpp"
#include "on_device.cuh"

using namespace widthwise;
using namespace widthwise::cuda;

extern "C" __global__ void __launch_bounds__(128, 2)
    group_tile(const __grid_constant__ GroupArgs args) {
  run_phases<GroupTile>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    pack_groups(const __grid_constant__ PackGroups args) {
  run_threads(args);
}
