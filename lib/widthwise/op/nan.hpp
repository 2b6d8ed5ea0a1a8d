#pragma once
#include "widthwise/rounder.hpp"

namespace widthwise {

// Makes z NaN where an operation created one or an operand is one; the first NaN operand's sign
// and payload go along for whoever propagates them, and the sign of one that is made. Returns the
// flags: invalid where a NaN was created or an operand signals (IEEE 754-2019, 6.2 and 7.2).
template <class U>
constexpr Int<U> take_nan(Number<U>& z, Mask<U> created, const Number<U>& x,
                          NanResult how = NanResult::canonical) {
  Mask<U> negative = x.nan & x.negative;
  if (makes_negative(how)) negative = negative | (x.nan == Mask<U>{});
  z.nan = created | x.nan;
  z.negative = select<Mask<U>>(z.nan, negative, z.negative);
  z.sig = select(z.nan, select(x.nan, x.sig, U{}), z.sig);
  return select(created | x.signaling, Int<U>{invalid}, Int<U>{});
}

template <class U>
constexpr Int<U> take_nan(Number<U>& z, Mask<U> created, const Number<U>& x, const Number<U>& y,
                          NanResult how = NanResult::canonical) {
  Number<U> first = x;
  first.nan = x.nan | y.nan;
  first.signaling = x.signaling | y.signaling;
  first.negative = select(x.nan, x.negative, y.negative);
  first.sig = select(x.nan, x.sig, y.sig);
  return take_nan(z, created, first, how);
}

}  // namespace widthwise
