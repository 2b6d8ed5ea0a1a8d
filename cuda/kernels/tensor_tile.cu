#include "tensor_tile.hpp"

// One kernel for either way to round, and for sums of either width; formats are arguments.
namespace {

using namespace widthwise;
using namespace widthwise::cuda;

template <class Kernel>
__device__ __forceinline__ void run(const TensorArgs& args) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Registers registers;
  const int x = blockIdx.x, y = blockIdx.y, thread = threadIdx.x;
  const Kernel kernel(args);
  kernel.begin(x, y, thread, registers);
  WIDTHWISE_NOT_UNROLLED
  for (int step = 0; step < kernel.steps(); ++step) {
    kernel.load(step, x, y, thread, shared);
    __syncthreads();
    kernel.compute(step, thread, shared, registers);
    __syncthreads();
  }
  kernel.end(x, y, thread, registers);
}

}  // namespace

#define WIDTHWISE_TENSOR_TILE(finish, width, blocks)                       \
  extern "C" __global__ void __launch_bounds__(128, blocks)                \
      tensor_##finish##_##width(const __grid_constant__ TensorArgs args) { \
    run<TensorTile<tensor::Finish::finish, std::int##width##_t>>(args);    \
  }
WIDTHWISE_TENSOR_TILE(truncate, 32, 3)
WIDTHWISE_TENSOR_TILE(truncate, 64, 2)
WIDTHWISE_TENSOR_TILE(nearest, 32, 3)
WIDTHWISE_TENSOR_TILE(nearest, 64, 2)

extern "C" __global__ void __launch_bounds__(256)
    pack_operands(const __grid_constant__ PackOperands args) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  args.run(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, threads);
}
