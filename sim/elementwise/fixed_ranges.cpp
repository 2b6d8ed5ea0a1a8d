#include "fixed_lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/elementwise/fixed_ranges.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/engine/for_lanes-inl.hpp"

// Integers brought into a format's range by rules that do not saturate (docs/semantics.md, F7).
HWY_BEFORE_NAMESPACE();
namespace widthwise::elements::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using widthwise::HWY_NAMESPACE::for_lanes;

// What is left of v by a power of two.
template <class D, class V>
HWY_INLINE V modulo(D d, V v, double power) {
  const auto whole = hn::Floor(hn::Mul(v, hn::Set(d, 1 / power)));
  return hn::Sub(v, hn::Mul(whole, hn::Set(d, power)));
}

template <class D, class M>
HWY_INLINE auto where(D d, M there, double x) {
  return hn::IfThenElseZero(there, hn::Set(d, x));
}

// A triangle: every other 2^W are read from the far end.
template <class D, class V>
HWY_INLINE V folded(D d, V v, double power) {
  const V both = modulo(d, v, 2 * power);
  const auto deleted = hn::Ge(both, hn::Set(d, power));
  const V low = hn::Sub(both, where(d, deleted, power));
  const auto negative = hn::Ge(low, hn::Set(d, power / 2));
  return hn::IfThenElse(hn::Xor(deleted, negative), hn::Sub(hn::Set(d, power - 1), low), low);
}

// Infinities become 0, as NaN did.
template <class Rule>
HWY_INLINE void by_rule(std::size_t n, double* v, const Rule& rule) {
  for_lanes(hn::ScalableTag<double>(), n, [&](auto d, std::size_t i) HWY_ATTR {
    const auto x = hn::LoadU(d, v + i);
    hn::StoreU(hn::IfThenElseZero(hn::IsFinite(x), rule(d, x)), d, v + i);
  });
}

void ranges(const FixedSteps& s, std::size_t n, double* v) {
  const double low = s.low, high = s.high, codes = high - low + 1;
  switch (s.overflow) {
    case Overflow::zero:
      return by_rule(n, v, [=](auto d, auto x) HWY_ATTR {
        const auto inside = hn::And(hn::Ge(x, hn::Set(d, low)), hn::Le(x, hn::Set(d, high)));
        return hn::IfThenElseZero(inside, x);
      });
    case Overflow::wrap_sm:
      return by_rule(n, v, [=](auto d, auto x) HWY_ATTR { return folded(d, x, codes); });
    case Overflow::keep_sign:
      return by_rule(n, v, [=](auto d, auto x) HWY_ATTR {
        return hn::Add(modulo(d, x, high + 1), where(d, hn::Lt(x, hn::Zero(d)), low));
      });
    case Overflow::wrap:
      return by_rule(n, v, [=](auto d, auto x) HWY_ATTR { return modulo(d, x, codes); });
    default: return;  // the first step has stopped at the ends
  }
}

}  // namespace widthwise::elements::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widthwise::elements {

HWY_EXPORT(ranges);

void into_range(const FixedSteps& steps, std::size_t n, double* v) {
  HWY_DYNAMIC_DISPATCH(ranges)(steps, n, v);
}

}  // namespace widthwise::elements
#endif
