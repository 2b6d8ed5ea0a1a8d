#include <hwy/base.h>
#include <hwy/detect_targets.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels.hpp"

// On x86 for machines with BMI2 (which came with AVX2), whose multiplications and shifts name their
// registers: without, chains of 1,024 digits take a third more time, and others as much to compile.
#if HWY_ARCH_X86_64
#include <immintrin.h>
HWY_PUSH_ATTRIBUTES("bmi,bmi2,lzcnt")
#endif
#include "word_kernel-inl.hpp"
#if HWY_ARCH_X86_64
HWY_POP_ATTRIBUTES
#endif

namespace widthwise::wide {

Kernels word_kernels(int limbs) {
#if HWY_ARCH_X86_64
  if (!__builtin_cpu_supports("bmi2")) return {};
#endif
  return words::kernels(limbs);
}

}  // namespace widthwise::wide
