#include "cuda/kernels/blocks.hpp"
#include "cuda/kernels/on_device.cuh"

// Blocks' scales and elements, and what they stand for.
using namespace widthwise::cuda;

WIDTHWISE_BLOCK_KERNELS(WIDTHWISE_THREADS)
