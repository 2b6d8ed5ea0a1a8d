#include "on_device.cuh"
#include "tensor_tile.hpp"

// One kernel for either way to round, and for sums of either width; formats are arguments.
using namespace widthwise;
using namespace widthwise::cuda;

#define WIDTHWISE_TENSOR_TILE(finish, width, blocks)                           \
  extern "C" __global__ void __launch_bounds__(128, blocks)                    \
      tensor_##finish##_##width(const __grid_constant__ TensorArgs args) {     \
    run_phases<TensorTile<tensor::Finish::finish, std::int##width##_t>>(args); \
  }
WIDTHWISE_TENSOR_TILE(truncate, 32, 3)
WIDTHWISE_TENSOR_TILE(truncate, 64, 2)
WIDTHWISE_TENSOR_TILE(nearest, 32, 3)
WIDTHWISE_TENSOR_TILE(nearest, 64, 2)

extern "C" __global__ void __launch_bounds__(256)
    pack_operands(const __grid_constant__ PackOperands args) {
  run_threads(args);
}
