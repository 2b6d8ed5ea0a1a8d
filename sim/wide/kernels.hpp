#pragma once
#include "kernel.hpp"

namespace widthwise::wide {

inline constexpr int most_digits = 1088;  // kept by a rounding

// One output in limbs of 64 bits, the leading one at the top. Sums of unlike exponents keep 64
// digits and more below the kept ones, so k random bits may look at some of them.
inline constexpr int most_random_bits = 60;
Kernels word_kernels(int limbs);

// Eight outputs in limbs of 52 bits, three digits below the kept ones; null where this machine
// lacks AVX-512 IFMA. To nearest and directed, not stochastic.
inline constexpr int below_kept = 3;
Kernels lane_kernels(int limbs);
// Products are added as they are; null, too, for more limbs than that.
inline constexpr int most_fused_limbs = 6;
Kernel fused_lane_kernel(int limbs, int precision, bool exact_sums);

}  // namespace widthwise::wide
