// Included once for every instruction set, by the sources of the careful kernels.
#if defined(WIDTHWISE_LANES_CAREFUL) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDTHWISE_LANES_CAREFUL
#undef WIDTHWISE_LANES_CAREFUL
#else
#define WIDTHWISE_LANES_CAREFUL
#endif

#include <hwy/highway.h>

#include <limits>

#include "widthwise/rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace widthwise::lanes::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// What a rounding of a format ends on.
template <class C>
struct End {
  using V = hn::Vec<hn::ScalableTag<C>>;
  V most, infinity;

  HWY_INLINE End(double largest, double infinite)
      : most(hn::Set(hn::ScalableTag<C>(), static_cast<C>(largest))),
        infinity(hn::Set(hn::ScalableTag<C>(), static_cast<C>(infinite))) {}

  // r with the sign of x, and what it becomes past the largest number.
  template <RoundingMode mode>
  HWY_INLINE V by(V r, V x) const {
    using enum RoundingMode;
    const hn::ScalableTag<C> d;
    const V magnitude = hn::Abs(r);
    V past = infinity;
    if constexpr (mode != rne && mode != rna) {  // finite numbers may stop at the largest one
      auto away = hn::Eq(magnitude, hn::Set(d, std::numeric_limits<C>::infinity()));
      if constexpr (mode == rdn) away = hn::Or(away, hn::Lt(r, hn::Zero(d)));
      if constexpr (mode == rup) away = hn::Or(away, hn::Gt(r, hn::Zero(d)));
      past = hn::IfThenElse(away, infinity, most);
    }
    return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, most), past, magnitude), x);
  }
};

// To nearest even, by c = 3/2 S max(2^e, 2^emin) as in the fast kernels, but never an infinite c:
// x then comes through as it is.
template <class C>
class CarefulRounding {
  using D = hn::ScalableTag<C>;
  using V = hn::Vec<D>;

 public:
  HWY_INLINE CarefulRounding(double scale, double least, double most, double infinite)
      : up_(hn::Set(D(), static_cast<C>(1.5 * scale))),
        least_(hn::Set(D(), static_cast<C>(least))),
        exponent_(hn::Set(D(), std::numeric_limits<C>::infinity())),  // all ones there, no others
        largest_(hn::Set(D(), std::numeric_limits<C>::max() / 4)),
        end_(most, infinite) {}

  HWY_INLINE V operator()(V x) const {
    const V c = helper(x);
    return end_.template by<RoundingMode::rne>(hn::Sub(hn::Add(x, c), c), x);
  }
  HWY_INLINE V operator()(V a, V b) const {
    const V product = hn::Mul(a, b), c = helper(product);
    return end_.template by<RoundingMode::rne>(hn::Sub(hn::MulAdd(a, b, c), c), product);
  }
  // Of a product that the lanes hold whole, and the format too, unless it passes its end.
  HWY_INLINE V whole(V a, V b) const {
    const V product = hn::Mul(a, b);
    return end_.template by<RoundingMode::rne>(product, product);
  }

 private:
  HWY_INLINE V helper(V x) const {
    return hn::Min(hn::Max(hn::Mul(hn::And(x, exponent_), up_), least_), largest_);
  }

  V up_, least_, exponent_, largest_;
  End<C> end_;
};

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
