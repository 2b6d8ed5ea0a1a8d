#pragma once
#include "kernel.hpp"

namespace widthwise::wide {

inline constexpr int most_digits = 1088;  // kept by a rounding

// One output in limbs of 64 bits, the leading one at the top. Sums of unlike exponents keep 64
// digits and more below the kept ones, so k random bits may look at some of them. Null where this
// is an x86 without BMI2.
inline constexpr int most_random_bits = 60;
inline constexpr int few_limbs = 4;  // what is added stays in registers
Kernels word_kernels(int limbs);

// Eight outputs in limbs of 52 bits; null where this machine lacks AVX-512 IFMA. Below the kept
// digits stand three, and as many as a chain's roundings draw random bits.
inline constexpr int below_kept = 3;
constexpr int digits_below(const Chain& chain) { return below_kept + chain.random_bits; }
constexpr int lane_digits(const Chain& chain) { return chain.precision + digits_below(chain); }
Kernels lane_kernels(int limbs);
// Products are added as they are; null, too, for more limbs than that.
inline constexpr int most_fused_limbs = 6;
Kernel fused_lane_kernel(int limbs, const Chain& chain);
// Of numbers whose terms are cut so many places below the largest exponent: a limb is left below.
constexpr int digits_for_places(int places) { return (places + 3) / 2 - below_kept; }

}  // namespace widthwise::wide
