#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

// Integers longer than a word, for formats that few use.
using namespace widthwise;
using namespace widthwise::cuda;

#define WIDTHWISE_ELEMENTS(name, Work)                                                        \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Work work) { \
    run_threads(work);                                                                        \
  }
WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_ELEMENTS, 128, uint128)
WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_ELEMENTS, 256, Wide<4>)
