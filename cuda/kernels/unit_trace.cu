#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_trace.hpp"

// Traces.
WIDTHWISE_UNIT_KERNELS(trace_small, trace_medium, widthwise::cuda::UnitTrace)
