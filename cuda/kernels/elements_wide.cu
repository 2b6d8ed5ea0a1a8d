#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

// Integers longer than a word, for formats that few use.
using namespace widthwise;

extern "C" __global__ void __launch_bounds__(256)
    elements_128(const __grid_constant__ cuda::Elements<uint128> elements) {
  cuda::run_threads(elements);
}
extern "C" __global__ void __launch_bounds__(256)
    elements_256(const __grid_constant__ cuda::Elements<Wide<4>> elements) {
  cuda::run_threads(elements);
}
