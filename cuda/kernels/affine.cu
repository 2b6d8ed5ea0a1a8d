#include "cuda/kernels/affine.hpp"
#include "cuda/kernels/on_device.cuh"

// Affine codes, what they stand for, and ranges.
using namespace widthwise::cuda;

WIDTHWISE_AFFINE_KERNELS(WIDTHWISE_THREADS)
