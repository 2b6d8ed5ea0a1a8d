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

// To nearest even, by c = 3/2 S max(2^e, 2^emin) as in the fast kernels. c is made on the bits, by
// integers: they leave the adders free, and of infinities and NaN they run over into the sign, so
// that the least c serves those.
template <class C>
class CarefulRounding {
  using D = hn::ScalableTag<C>;
  using DI = hn::RebindToSigned<D>;
  using V = hn::Vec<D>;
  using I = hn::Vec<DI>;

 public:
  HWY_INLINE CarefulRounding(double scale, double least, double most, double infinite)
      : up_(hn::Sub(bits(1.5 * scale), bits(1))),
        least_(bits(least)),
        exponent_(bits(std::numeric_limits<double>::infinity())),  // all ones there, no others
        most_(hn::Set(D(), static_cast<C>(most))),
        infinity_(hn::Set(D(), static_cast<C>(infinite))),
        past_(least_past(most_)) {}

  HWY_INLINE V operator()(V x) const {
    const V c = helper(x);
    return ended(hn::Sub(hn::Add(x, c), c), x);
  }
  HWY_INLINE V operator()(V a, V b) const {
    const V product = hn::Mul(a, b), c = helper(product);
    return ended(hn::Sub(hn::MulAdd(a, b, c), c), product);
  }
  // Of a product that the lanes hold whole, and the format too, unless it passes its end.
  HWY_INLINE V whole(V a, V b) const {
    const V product = hn::Mul(a, b);
    return signed_as(product, hn::IfThenElse(hn::Gt(hn::Abs(product), most_), infinity_, product));
  }

 private:
  static HWY_INLINE I bits(double x) { return hn::BitCast(DI(), hn::Set(D(), static_cast<C>(x))); }
  HWY_INLINE V helper(V x) const {
    const I scaled = hn::Add(hn::And(hn::BitCast(DI(), x), exponent_), up_);
    return hn::BitCast(D(), hn::Max(scaled, least_));
  }
  static HWY_INLINE V next(V x) {
    return hn::BitCast(D(), hn::Add(hn::BitCast(DI(), x), hn::Set(DI(), 1)));
  }
  // The least magnitude that rounds past `most`: the middle to the next number, if the tie goes
  // there.
  HWY_INLINE V least_past(V most) const {
    const V c = helper(most), digit = hn::Sub(next(c), c);
    const V middle = hn::MulAdd(digit, hn::Set(D(), C{0.5}), most);
    return hn::IfThenElse(hn::Gt(hn::Sub(hn::Add(middle, c), c), most), middle, next(middle));
  }
  // r, which x was rounded to, with the sign of x, or what it becomes past the largest number.
  HWY_INLINE V ended(V r, V x) const {
    return signed_as(x, hn::IfThenElse(hn::Ge(hn::Abs(x), past_), infinity_, r));
  }

  static HWY_INLINE V signed_as(V x, V r) { return hn::OrAnd(r, hn::SignBit(D()), x); }

  I up_, least_, exponent_;
  V most_, infinity_, past_;
};

}  // namespace widthwise::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
