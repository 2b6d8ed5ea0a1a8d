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

// NaN, infinity or zero of x * y; finite leaves the magnitude to the caller.
constexpr Kind product_kind(Kind x, Kind y) {
  if (x == Kind::nan || y == Kind::nan) return Kind::nan;
  if (x == Kind::infinite || y == Kind::infinite)
    return x == Kind::zero || y == Kind::zero ? Kind::nan : Kind::infinite;
  return x == Kind::zero || y == Kind::zero ? Kind::zero : Kind::finite;
}

// A product as the sums see it (datapath 3.2), before it is rounded.
template <class M, class H, class Multiplier>
constexpr Term<M> exact_product(const Product& p, const Factor<H>& x, const Factor<H>& y,
                                std::int64_t lane, const Multiplier& multiplier) {
  Term<M> z{
      .kind = product_kind(x.kind, y.kind), .negative = x.negative != y.negative, .lane = lane};
  z.e = x.e + y.e;
  if (z.kind != Kind::finite) return z;
  z.m = multiplier(x.m, y.m);
  z.q = x.q + y.q;
  const std::int64_t top = bit_length(z.m) + z.q;
  if (p.overflow_to_inf_at && top > *p.overflow_to_inf_at) z.kind = Kind::infinite;
  if (p.exponent == ProductExponent::normalised) z.e = top - 1;
  if (z.m == M{}) z.kind = Kind::zero;  // an approximate multiplier may lose all
  return z;
}

// Times a block scale: significands multiply, exponents add.
template <class M, class H>
constexpr void scale_by(const Factor<H>& scale, Term<M>& t) {
  t.kind = product_kind(t.kind, scale.kind);
  t.negative = t.negative != scale.negative;
  t.m = multiplied(t.m, widen<M>(scale.m));
  t.q = t.kind == Kind::zero ? 0 : t.q + scale.q;
  t.e += scale.e;
}

}  // namespace widthwise
