#include "cuda/kernels/blocks.hpp"
#include "cuda/kernels/on_device.cuh"

// Blocks' scales and elements, and what they stand for.
using namespace widthwise::cuda;

#define WIDTHWISE_BLOCKS(name, Work)                                                          \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Work work) { \
    run_threads(work);                                                                        \
  }
WIDTHWISE_BLOCK_KERNELS(WIDTHWISE_BLOCKS)
