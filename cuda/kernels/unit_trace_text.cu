#include "cuda/kernels/text_multiplier.hpp"
#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_trace.hpp"

// Traces by a product that is linked with these when it is known.
using namespace widthwise;

template <class M, class H>
using Trace = cuda::UnitTrace<M, H, SuppliedMultiplier<M, cuda::TextMultiplier>>;
WIDTHWISE_UNIT_KERNEL(trace_medium_text, Trace, Wide<12>, uint128)
