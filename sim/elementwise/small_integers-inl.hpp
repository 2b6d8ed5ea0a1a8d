// Integers below 2^52 read by way of doubles: once for every instruction set.
#if defined(WIDTHWISE_SMALL_INTEGERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_SMALL_INTEGERS_INL
#undef WIDTHWISE_SMALL_INTEGERS_INL
#else
#define WIDTHWISE_SMALL_INTEGERS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

// As a double: behind 2^52 an integer is the last digits.
template <class D, class I>
HWY_INLINE auto number_of(D di, I integer) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToFloat<D> d;
  const auto zero = hn::Set(d, 0x1p52);
  return hn::Sub(hn::BitCast(d, hn::Or(integer, hn::BitCast(di, zero))), zero);
}

// The place of the leading digit; of 0 that of a digit far below.
template <class D, class I>
HWY_INLINE I leading_place(D di, I integer) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::Sub(hn::ShiftRight<52>(hn::BitCast(di, number_of(di, integer))), hn::Set(di, 1023));
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
