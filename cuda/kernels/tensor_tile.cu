#include "on_device.cuh"
#include "packed_lines.hpp"
#include "tensor_tile.hpp"

// One kernel for either way to round, and for sums of either width; formats are arguments.
using namespace widthwise;
using namespace widthwise::cuda;

#define WIDTHWISE_TENSOR_TILE(name, blocks, ...)               \
  extern "C" __global__ void __launch_bounds__(128, blocks)    \
      tensor_##name(const __grid_constant__ TensorArgs args) { \
    run_phases<TensorTile<__VA_ARGS__>>(args);                 \
  }
using Truncated = JoinedEarly<tensor::Finish::truncate>;
using Nearest = JoinedEarly<tensor::Finish::nearest>;
WIDTHWISE_TENSOR_TILE(truncate_32, 3, Truncated, std::int32_t)
WIDTHWISE_TENSOR_TILE(truncate_64, 2, Truncated, std::int64_t)
WIDTHWISE_TENSOR_TILE(nearest_32, 3, Nearest, std::int32_t)
WIDTHWISE_TENSOR_TILE(nearest_64, 2, Nearest, std::int64_t)
WIDTHWISE_TENSOR_TILE(late_32, 2, JoinedLate, std::int32_t)

extern "C" __global__ void __launch_bounds__(256)
    pack_operands(const __grid_constant__ PackOperands args) {
  run_threads(args);
}
