#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_trace.hpp"

// Traces.
template <class M, class H>
using Trace = widthwise::cuda::UnitTrace<M, H>;
WIDTHWISE_UNIT_KERNELS(trace_small, trace_medium, Trace)
WIDTHWISE_UNIT_KERNEL(trace_large, Trace, widthwise::Wide<12>, widthwise::Wide<12>)
