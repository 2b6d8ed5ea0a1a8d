#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_trace.hpp"

// Traces by shipped multipliers.
using namespace widthwise;

template <class M, class H>
using Trace = cuda::UnitTrace<M, H, SuppliedMultiplier<M, NamedMultiplier>>;
WIDTHWISE_UNIT_KERNEL(trace_medium_named, Trace, Wide<12>, uint128)
