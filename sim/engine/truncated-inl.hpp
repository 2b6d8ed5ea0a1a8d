// Floats as integers, for kernels of every instruction set.
#if defined(WIDTHWISE_TRUNCATED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_TRUNCATED_INL
#undef WIDTHWISE_TRUNCATED_INL
#else
#define WIDTHWISE_TRUNCATED_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

// Toward zero. ConvertTo mends numbers past int32, which callers have not, or find out.
template <class V>
HWY_INLINE auto truncated(V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<hn::DFromV<V>> d;
#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64
  return hn::Vec<decltype(d)>{_mm512_cvttps_epi32(x.raw)};
#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32
  return hn::Vec<decltype(d)>{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(d, x);
#endif
}

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
