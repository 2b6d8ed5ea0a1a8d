#include "cuda/kernels/affine.hpp"
#include "cuda/kernels/on_device.cuh"

// Affine codes, what they stand for, and ranges.
using namespace widthwise::cuda;

#define WIDTHWISE_AFFINE(name, Work)                                                          \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Work work) { \
    run_threads(work);                                                                        \
  }
WIDTHWISE_AFFINE_KERNELS(WIDTHWISE_AFFINE)
