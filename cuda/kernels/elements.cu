#include "cuda/kernels/elements.hpp"
#include "cuda/kernels/on_device.cuh"

using namespace widthwise;

extern "C" __global__ void __launch_bounds__(256, 4)
    elements_64(const __grid_constant__ cuda::Elements<std::uint64_t> elements) {
  cuda::run_threads(elements);
}
extern "C" __global__ void __launch_bounds__(256)
    compare_64(const __grid_constant__ cuda::Comparisons<std::uint64_t> comparisons) {
  cuda::run_threads(comparisons);
}
extern "C" __global__ void __launch_bounds__(256)
    classify_64(const __grid_constant__ cuda::Classes<std::uint64_t> classes) {
  cuda::run_threads(classes);
}
extern "C" __global__ void __launch_bounds__(256)
    to_integers_64(const __grid_constant__ cuda::ToIntegers<std::uint64_t> codes) {
  cuda::run_threads(codes);
}
extern "C" __global__ void __launch_bounds__(256)
    from_integers_64(const __grid_constant__ cuda::FromIntegers<std::uint64_t> integers) {
  cuda::run_threads(integers);
}
