#include "cuda/kernels/fuse.hpp"
#include "cuda/kernels/on_device.cuh"

using namespace widthwise::cuda;

#define WIDTHWISE_QUANTISE(name, From, Item, LongCodes, Rounded, ends)                             \
  extern "C" __global__ void __launch_bounds__(256)                                                \
      name(const __grid_constant__ Quantise<From, Item, LongCodes, Rounded, Ends::ends> numbers) { \
    run_threads(numbers);                                                                          \
  }
WIDTHWISE_QUANTISE_KERNELS(WIDTHWISE_QUANTISE)

#define WIDTHWISE_DEQUANTISE(name, Item, T)                     \
  extern "C" __global__ void __launch_bounds__(256)             \
      name(const __grid_constant__ Dequantise<Item, T> codes) { \
    run_threads(codes);                                         \
  }
WIDTHWISE_DEQUANTISE_KERNELS(WIDTHWISE_DEQUANTISE)

#define WIDTHWISE_FUSE(name, Item, Rounded)                     \
  extern "C" __global__ void __launch_bounds__(256)             \
      name(const __grid_constant__ Fuse<Item, Rounded> codes) { \
    run_threads(codes);                                         \
  }
WIDTHWISE_FUSE_KERNELS(WIDTHWISE_FUSE)
