// Included once for every instruction set, by the sources of the kernels.
#if defined(WIDTHWISE_LANES_STEPS) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANES_STEPS
#undef WIDTHWISE_LANES_STEPS
#else
#define WIDTHWISE_LANES_STEPS
#endif

#include <hwy/highway.h>

#include "widthwise/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Cuts the low digits off a number that the carrier rounded by the same mode (toward zero for ties
// away). On the bits: a carry goes on into the exponent, as it should.
template <class DI>
struct Cut {
  using I = hn::Vec<DI>;
  using Lane = hn::TFromD<DI>;
  I kept, half;

  HWY_INLINE explicit Cut(int digits)
      : kept(hn::Set(DI(), static_cast<Lane>(-(Lane{1} << digits)))),
        half(hn::Set(DI(), static_cast<Lane>((Lane{1} << digits) >> 1))) {}

  template <RoundingMode mode, class D>
  HWY_INLINE hn::Vec<D> by(D d, hn::Vec<D> x) const {
    I bits = hn::BitCast(DI(), x);
    if constexpr (mode == RoundingMode::rna) bits = hn::Add(bits, half);
    const I negative = hn::BroadcastSignBit(bits);
    if constexpr (mode == RoundingMode::rdn) bits = hn::Add(bits, hn::AndNot(kept, negative));
    if constexpr (mode == RoundingMode::rup)
      bits = hn::Add(bits, hn::AndNot(hn::Or(kept, negative), hn::Set(DI(), -1)));
    return hn::BitCast(d, hn::And(bits, kept));
  }
};

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
