#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

// Integers longer than a word, for formats that few use.
using namespace widthwise;

#define WIDTHWISE_ELEMENTS(width, U)                                              \
  extern "C" __global__ void __launch_bounds__(256)                               \
      elements_##width(const __grid_constant__ cuda::Elements<U> elements) {      \
    cuda::run_threads(elements);                                                  \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                               \
      compare_##width(const __grid_constant__ cuda::Comparisons<U> work) {        \
    cuda::run_threads(work);                                                      \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                               \
      classify_##width(const __grid_constant__ cuda::Classes<U> work) {           \
    cuda::run_threads(work);                                                      \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                               \
      to_integers_##width(const __grid_constant__ cuda::ToIntegers<U> work) {     \
    cuda::run_threads(work);                                                      \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(256)                               \
      from_integers_##width(const __grid_constant__ cuda::FromIntegers<U> work) { \
    cuda::run_threads(work);                                                      \
  }
WIDTHWISE_ELEMENTS(128, uint128)
WIDTHWISE_ELEMENTS(256, Wide<4>)
