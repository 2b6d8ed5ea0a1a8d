#include "cuda/kernels/on_device.cuh"
#include "cuda/kernels/text_multiplier.hpp"
#include "cuda/kernels/unit_outputs.hpp"

// The definition by a product that is linked with these when it is known.
using namespace widthwise;

template <class M, class H>
using Outputs = cuda::UnitOutputs<M, H, SuppliedMultiplier<M, cuda::TextMultiplier>>;

extern "C" __global__ void __launch_bounds__(128)
    unit_small_text(const __grid_constant__ Outputs<uint128, std::uint64_t> outputs) {
  cuda::run_threads(outputs);
}
extern "C" __global__ void __launch_bounds__(128)
    unit_medium_text(const __grid_constant__ Outputs<Wide<12>, uint128> outputs) {
  cuda::run_threads(outputs);
}
