#pragma once
#include <cstddef>

// How a GPU runs the structures that kernels are: for the sources that nvcc compiles, alone.
namespace widthwise::cuda {

// Phase by phase, a barrier after every load and every compute.
template <class Kernel, class Args>
__device__ __forceinline__ void run_phases(const Args& args) {
  __shared__ typename Kernel::Shared shared;
  typename Kernel::Registers registers;
  const int x = blockIdx.x, y = blockIdx.y, thread = threadIdx.x;
  const Kernel kernel(args);
  kernel.begin(x, y, thread, registers);
#pragma unroll 1
  for (int step = 0; step < kernel.steps(); ++step) {
    kernel.load(step, x, y, thread, shared);
    __syncthreads();
    kernel.compute(step, thread, shared, registers);
    __syncthreads();
  }
  kernel.end(x, y, thread, registers);
}

// Each thread by itself.
template <class Work>
__device__ __forceinline__ void run_threads(const Work& work) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  work.run(std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, threads);
}

}  // namespace widthwise::cuda

// A kernel whose threads each work by themselves.
#define WIDTHWISE_THREADS(name, Work)                                                         \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Work work) { \
    widthwise::cuda::run_threads(work);                                                       \
  }
