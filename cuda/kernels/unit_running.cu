#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_running.hpp"

// Running results.
WIDTHWISE_UNIT_KERNELS(running_small, running_medium, widthwise::cuda::UnitRunning)
