#include "cuda/kernels/errors.hpp"
#include "cuda/kernels/on_device.cuh"

using namespace widthwise::cuda;

extern "C" __global__ void __launch_bounds__(256)
    measure_errors(const __grid_constant__ MeasureErrors errors) {
  run_threads(errors);
}
extern "C" __global__ void __launch_bounds__(256)
    join_errors(const __grid_constant__ JoinErrors errors) {
  run_threads(errors);
}
