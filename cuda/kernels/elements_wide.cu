#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

// Integers longer than a word, for formats that few use.
using namespace widthwise;
using namespace widthwise::cuda;

WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, 128, uint128)
WIDTHWISE_ELEMENT_KERNELS(WIDTHWISE_THREADS, 256, Wide<4>)
