#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_outputs.hpp"

template <class M, class H>
using Outputs = widthwise::cuda::UnitOutputs<M, H>;
WIDTHWISE_UNIT_KERNELS(unit_small, unit_medium, Outputs)
