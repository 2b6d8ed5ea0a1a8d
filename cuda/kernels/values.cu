#include "cuda/kernels/values.hpp"

// Codes to lanes' values and back.
using namespace widthwise::cuda;

template <class Work>
__device__ void run(const Work& work) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  work.run(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, threads);
}

#define WIDTHWISE_VALUES(T)                                        \
  extern "C" __global__ void __launch_bounds__(256)                \
      decode_##T(const __grid_constant__ DecodeValues<T> values) { \
    run(values);                                                   \
  }                                                                \
  extern "C" __global__ void __launch_bounds__(256)                \
      encode_##T(const __grid_constant__ EncodeValues<T> values) { \
    run(values);                                                   \
  }
WIDTHWISE_VALUES(float)
WIDTHWISE_VALUES(double)
