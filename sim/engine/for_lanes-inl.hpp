// Loops over arrays for kernels of every instruction set.
#if defined(WIDTHWISE_FOR_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_FOR_LANES_INL
#undef WIDTHWISE_FOR_LANES_INL
#else
#define WIDTHWISE_FOR_LANES_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

// f(d, i) for whole vectors, and one lane at a time for the rest.
template <class D, class F>
HWY_INLINE void for_lanes(D d, std::size_t n, const F& f) {
  const std::size_t lanes = hwy::HWY_NAMESPACE::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) f(d, i);
  const hwy::HWY_NAMESPACE::CappedTag<hwy::HWY_NAMESPACE::TFromD<D>, 1> single;
  for (; i < n; ++i) f(single, i);
}

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
