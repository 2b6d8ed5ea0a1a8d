#include "kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/rows/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::rows::HWY_NAMESPACE {

const char* name() { return hwy::TargetName(HWY_TARGET); }
std::size_t items() { return HWY_MAX_BYTES / sizeof(std::uint64_t); }

}  // namespace widthwise::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::rows {

HWY_EXPORT(name);
HWY_EXPORT(items);

const char* target_name() { return HWY_DYNAMIC_DISPATCH(name)(); }
std::size_t lanes_here() { return HWY_DYNAMIC_DISPATCH(items)(); }

Kernel kernel(const Widths& w) {
  if (w.code_words == 1)
    return w.magnitude_words == 1   ? kernel_1_1()
           : w.magnitude_words == 2 ? kernel_1_2()
                                    : kernel_1_4();
  return w.magnitude_words == 2 ? kernel_2_2() : kernel_2_4();
}

}  // namespace widthwise::rows
#endif
