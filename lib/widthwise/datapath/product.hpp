#pragma once
#include "widthwise/datapath/rounding_slot.hpp"

namespace widthwise {

// The product of two significands, hidden ones included. Whoever builds an approximate multiplier
// passes another callable of this shape.
template <class M>
struct ExactMultiplier {
  template <class H>
  constexpr M operator()(const H& a, const H& b) const {
    return multiplied(widen<M>(a), widen<M>(b));
  }
};
// Whether a product of digits has some: an approximate one may lose them all.
template <class Multiplier>
inline constexpr bool keeps_digits = requires {
  Multiplier::keeps_digits;
};
template <class M>
inline constexpr bool keeps_digits<ExactMultiplier<M>> = true;

// Zero times infinity is NaN, which is either.
template <class M, class X, class H>
constexpr void take_kind(const X& x, const Factor<H>& y, Term<M>& z) {
  z.zero = x.zero | y.zero;
  z.endless = x.endless | y.endless;
}

// A product as the sums see it (datapath 3.2), before it is rounded.
template <class M, class H, class Multiplier>
constexpr void exact_product(const Product& p, const Factor<H>& x, const Factor<H>& y,
                             std::int64_t lane, const Multiplier& multiplier, Term<M>& z) {
  take_kind(x, y, z);
  z.negative = x.negative ^ y.negative;
  z.mixed = {};
  z.is_c = false, z.lane = lane;
  z.e = x.e + y.e;
  z.q = select(z.zero, Int<M>{}, x.q + y.q);
  const auto none = [&] { return z.zero | z.endless; };
  if constexpr (keeps_digits<Multiplier>) {
    z.m = multiplier(x.m, y.m);
    if (!p.overflow_to_inf_at && p.exponent != ProductExponent::normalised) return;
  } else {
    z.m = any(no(none())) ? multiplier(x.m, y.m) : M{};
    z.zero = z.zero | (no(none()) & (z.m == M{}));
  }
  const Int<M> top = length_of(z.m) + z.q;
  if (p.exponent == ProductExponent::normalised) z.e = select(none(), z.e, top - Int<M>{1});
  if (p.overflow_to_inf_at)
    z.endless = z.endless | (no(z.zero) & (top > Int<M>{*p.overflow_to_inf_at}));
}

// Times a block scale: significands multiply, exponents add.
template <class M, class H>
constexpr void scale_by(const Factor<H>& scale, int digits, Term<M>& t) {
  take_kind(t, scale, t);
  t.negative = t.negative ^ scale.negative;
  t.m = multiplied_by(t.m, t.length, scale.m, digits);
  t.length = t.length == t.unknown ? t.unknown : t.length + digits;
  t.q = select(is_zero(t), Int<M>{}, t.q + scale.q);
  t.e = t.e + scale.e;
}

}  // namespace widthwise
