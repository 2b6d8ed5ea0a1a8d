#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels.hpp"

#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

// One source for any machine, and again for those with BMI2, which comes with AVX2, whose
// multiplications and shifts name their registers: chains of 1,024 digits take a quarter less time.
#define WIDTHWISE_WORDS words
#include "word_kernel-inl.hpp"
#undef WIDTHWISE_WORDS

#if HWY_ARCH_X86_64
HWY_PUSH_ATTRIBUTES("bmi,bmi2,lzcnt")
#define WIDTHWISE_WORDS words_bmi2
#include "word_kernel-inl.hpp"
#undef WIDTHWISE_WORDS
HWY_POP_ATTRIBUTES
#endif

namespace widthwise::wide {

Kernels word_kernels(int limbs) {
#if HWY_ARCH_X86_64
  if (hwy::SupportedTargets() & HWY_AVX2) return words_bmi2::kernels(limbs);
#endif
  return words::kernels(limbs);
}

}  // namespace widthwise::wide
