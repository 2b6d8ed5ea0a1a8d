#include "row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/integers/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// The kernels that this instruction set runs: its own where they are compiled (sim/meson.build),
// else those with no flags but everybody's.
#undef WIDTHWISE_ROWS_HERE
#if defined(WIDTHWISE_ROWS_PATHS) && HWY_TARGET == HWY_AVX3
#define WIDTHWISE_ROWS_HERE avx512
#elif defined(WIDTHWISE_ROWS_PATHS) && HWY_TARGET == HWY_AVX2
#define WIDTHWISE_ROWS_HERE avx2
#else
#define WIDTHWISE_ROWS_HERE baseline
#endif

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

const char* name() { return hwy::TargetName(HWY_TARGET); }
std::size_t items() { return HWY_MAX_BYTES / sizeof(std::uint64_t); }

Kernel choose(const Widths& w) {
  using namespace WIDTHWISE_ROWS_HERE;
  if (w.code_words == 1)
    return w.magnitude_words == 1   ? kernel_1_1()
           : w.magnitude_words == 2 ? kernel_1_2()
                                    : kernel_1_4();
  return w.magnitude_words == 2 ? kernel_2_2() : kernel_2_4();
}

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::rows {

HWY_EXPORT(name);
HWY_EXPORT(items);
HWY_EXPORT(choose);

const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }
std::size_t lanes_here() { return HWY_DYNAMIC_DISPATCH(items)(); }
Kernel kernel(const Widths& w) { return HWY_DYNAMIC_DISPATCH(choose)(w); }

}  // namespace widthwise::rows
#endif
