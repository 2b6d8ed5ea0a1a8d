// Rounding to odd in lanes whose operations round to nearest: what a result has lost is a number of
// theirs, too, and tells between which neighbours the exact one lies (docs/exactness.md, 29).
// Compiled once for every instruction set, within the kernels of engines.
#if defined(WIDTHWISE_ENGINE_ODD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_ENGINE_ODD_INL
#undef WIDTHWISE_ENGINE_ODD_INL
#else
#define WIDTHWISE_ENGINE_ODD_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace widthwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// x + y to nearest, and what that leaves out (Knuth, The Art of Computer Programming 2, 4.2.2).
template <class V>
struct TwoSum {
  V sum, lost;
};
template <class V>
HWY_INLINE TwoSum<V> two_sum(V x, V y) {
  const V sum = hn::Add(x, y), of_y = hn::Sub(sum, x);
  return {sum, hn::Add(hn::Sub(x, hn::Sub(sum, of_y)), hn::Sub(y, of_y))};
}

// Where inexact: of `nearest` and its neighbour on the side of what is lost the one whose last
// digit is odd, which is the one nearer to zero with its last digit set. Elsewhere `nearest`.
template <class V, class M>
HWY_INLINE V to_odd(V nearest, V lost, M inexact) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto bits = hn::BitCast(di, nearest);
  const auto where = hn::VecFromMask(di, hn::RebindMask(di, inexact));  // -1
  const auto beyond = hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(di, lost)));
  const auto toward_zero = hn::Add(bits, hn::And(where, beyond));
  return hn::BitCast(d, hn::Or(toward_zero, hn::And(where, hn::Set(di, 1))));
}

}  // namespace widthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
