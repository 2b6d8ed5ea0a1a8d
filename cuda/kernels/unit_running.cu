#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/unit_running.hpp"

// Running results, for two sizes of carriers.
using namespace widthwise;

extern "C" __global__ void __launch_bounds__(128)
    running_small(const __grid_constant__ cuda::UnitRunning<uint128, std::uint64_t> work) {
  cuda::run_threads(work);
}
extern "C" __global__ void __launch_bounds__(128)
    running_medium(const __grid_constant__ cuda::UnitRunning<Wide<12>, uint128> work) {
  cuda::run_threads(work);
}
