// Products, doubles and quotients as floats that later roundings take for them, for every
// instruction set.
#if defined(WIDTHWISE_CUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_CUT_INL
#undef WIDTHWISE_CUT_INL
#else
#define WIDTHWISE_CUT_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "sim/engine/odd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::containers::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using BitsTag = hn::RebindToUnsigned<D>;

// Rounding to odd where a lane tells what it lacks.
using widthwise::HWY_NAMESPACE::to_odd;

#define WIDTHWISE_SEQUENCE HWY_INLINE
#include "sim/containers/steps.inl"
#undef WIDTHWISE_SEQUENCE

// A double cut to a float whose last digit says whether something was cut off; 0, infinity and NaN
// stay, and what lies beyond a float's normal numbers becomes the nearest of them.
template <class D, class V>
HWY_INLINE auto cut(D d, V a) {
  const BitsTag<D> du;
  const hn::Rebind<float, D> half;
  constexpr std::uint64_t beyond = (std::uint64_t{1} << 29) - 1;
  const auto least = hn::Set(d, static_cast<double>(std::numeric_limits<float>::min())),
             most = hn::Set(d, static_cast<double>(std::numeric_limits<float>::max())),
             infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto m = hn::Abs(a);
  const auto numbers = hn::And(hn::Gt(m, hn::Zero(d)), hn::Lt(m, infinity));
  const auto held = hn::CopySign(hn::Min(hn::Max(m, least), most), a);
  const auto bits = hn::BitCast(du, held);
  const auto lost = hn::And(bits, hn::Set(du, beyond));
  const auto last = hn::IfThenElseZero(hn::Ne(lost, hn::Zero(du)), hn::Set(du, beyond + 1));
  const auto odd = hn::BitCast(d, hn::Or(hn::Xor(bits, lost), last));
  return hn::DemoteTo(half, hn::IfThenElse(numbers, odd, a));
}

// The quotient to nearest has 53 digits, and those of 24 and 28 differ from one of 24 by less than
// it shows only where they are it: x - v by is 0 or at least a unit of the 52 digits that v by has.
template <class D, class V>
HWY_INLINE auto quotient_to_odd(D d, const float* x, V by) {
  const hn::Rebind<float, D> half;
  return cut(d, hn::Div(hn::PromoteTo(d, hn::LoadU(half, x)), by));
}

}  // namespace widthwise::containers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
