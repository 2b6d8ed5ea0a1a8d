#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_outputs.hpp"

// The definition by shipped multipliers.
using namespace widthwise;

template <class M, class H>
using Outputs = cuda::UnitOutputs<M, H, SuppliedMultiplier<M, NamedMultiplier>>;
WIDTHWISE_UNIT_KERNELS(unit_small_named, unit_medium_named, Outputs)
