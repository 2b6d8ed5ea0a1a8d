#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/unit_outputs.hpp"

// The definition, for two sizes of carriers.
using namespace widthwise;

extern "C" __global__ void __launch_bounds__(128)
    unit_small(const __grid_constant__ cuda::UnitOutputs<uint128, std::uint64_t> outputs) {
  cuda::run_threads(outputs);
}
extern "C" __global__ void __launch_bounds__(128)
    unit_medium(const __grid_constant__ cuda::UnitOutputs<Wide<12>, uint128> outputs) {
  cuda::run_threads(outputs);
}
