#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/unit_trace.hpp"

// Traces, for two sizes of carriers.
using namespace widthwise;

extern "C" __global__ void __launch_bounds__(128)
    trace_small(const __grid_constant__ cuda::UnitTrace<uint128, std::uint64_t> work) {
  cuda::run_threads(work);
}
extern "C" __global__ void __launch_bounds__(128)
    trace_medium(const __grid_constant__ cuda::UnitTrace<Wide<12>, uint128> work) {
  cuda::run_threads(work);
}
