#include "cuda/kernels/text_multiplier.hpp"
#include "cuda/kernels/unit_kernels.cuh"
#include "cuda/kernels/unit_outputs.hpp"

// The definition by a product that is linked with these when it is known.
using namespace widthwise;

template <class M, class H>
using Outputs = cuda::UnitOutputs<M, H, SuppliedMultiplier<M, cuda::TextMultiplier>>;
WIDTHWISE_UNIT_KERNELS(unit_small_text, unit_medium_text, Outputs)
