#include "cuda/kernels/unit_outputs.hpp"

// The definition, for two sizes of carriers.
using namespace widthwise;

template <class M, class H>
__device__ void run(const cuda::UnitOutputs<M, H>& outputs) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  outputs.run(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, threads);
}

extern "C" __global__ void __launch_bounds__(128)
    unit_small(const __grid_constant__ cuda::UnitOutputs<uint128, std::uint64_t> outputs) {
  run(outputs);
}
extern "C" __global__ void __launch_bounds__(128)
    unit_medium(const __grid_constant__ cuda::UnitOutputs<Wide<12>, uint128> outputs) {
  run(outputs);
}
