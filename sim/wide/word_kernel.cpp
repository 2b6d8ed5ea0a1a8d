#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels.hpp"

// One source for any machine, and again for those with BMI2, which comes with AVX2, whose
// multiplications and shifts name their registers: chains of 1,024 digits take a quarter less time.
#define WIDTHWISE_WORDS words
#include "word_kernel-inl.hpp"
#undef WIDTHWISE_WORDS

#if HWY_ARCH_X86_64
HWY_PUSH_ATTRIBUTES("bmi2")
#define WIDTHWISE_WORDS words_bmi2
#include "word_kernel-inl.hpp"
#undef WIDTHWISE_WORDS
HWY_POP_ATTRIBUTES
#endif

namespace widthwise::wide {
namespace {

#if HWY_ARCH_X86_64
bool has_bmi2() { return hwy::SupportedTargets() & HWY_AVX2; }
#endif

}  // namespace

Kernel word_kernel(int limbs) {
#if HWY_ARCH_X86_64
  if (has_bmi2()) return words_bmi2::kernel(limbs);
#endif
  return words::kernel(limbs);
}
RowKernels word_row_kernels(int limbs) {
#if HWY_ARCH_X86_64
  if (has_bmi2()) return words_bmi2::row_kernels(limbs);
#endif
  return words::row_kernels(limbs);
}

}  // namespace widthwise::wide
