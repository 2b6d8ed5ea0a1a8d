// Included once for each instruction set, after <hwy/foreach_target.h>.
#if defined(WIDTHWISE_LANE_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANE_VECTORS
#undef WIDTHWISE_LANE_VECTORS
#else
#define WIDTHWISE_LANE_VECTORS
#endif

#include <hwy/highway.h>

#include "lane_constants.hpp"
#include "lane_kernels.hpp"

// Whether the machine converts binary16 itself, subnormals included.
#undef WIDTHWISE_HAS_HALF
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || HWY_ARCH_ARM_A64
#define WIDTHWISE_HAS_HALF 1
#else
#define WIDTHWISE_HAS_HALF 0
#endif

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Numbers = hn::CappedTag<T, padding>;
template <class T>
using Integers = hn::CappedTag<Bits<T>, padding>;
template <class T>
using V = hn::Vec<Numbers<T>>;
template <class T>
using I = hn::Vec<Integers<T>>;

template <class T>
HWY_INLINE I<T> all(Bits<T> x) {
  return hn::Set(Integers<T>(), x);
}
template <class T>
HWY_INLINE I<T> bits(V<T> x) {
  return hn::BitCast(Integers<T>(), x);
}
template <class T>
HWY_INLINE V<T> number(I<T> x) {
  return hn::BitCast(Numbers<T>(), x);
}
// A claim about numbers as a mask of integer lanes.
template <class T, class M>
HWY_INLINE I<T> mask(M claim) {
  return bits<T>(hn::VecFromMask(Numbers<T>(), claim));
}
template <class T>
HWY_INLINE I<T> by_sign(I<T> negative, const Bits<T> (&pair)[2]) {
  return hn::Xor(all<T>(pair[0]), hn::And(negative, all<T>(pair[0] ^ pair[1])));
}

#if WIDTHWISE_HAS_HALF
using HalfNumbers = hn::Rebind<hwy::float16_t, Numbers<float>>;
#endif

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
