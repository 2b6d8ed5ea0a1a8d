#pragma once
#include "widthwise/layout.hpp"

namespace widthwise {

// A code taken apart, or an exact result: (-1)^negative * sig * 2^exp, unless infinite or NaN.
template <class U>
struct Number {
  Mask<U> negative, zero, infinite, nan, signaling;
  Int<U> exp;  // weight of bit 0 of sig
  U sig;       // zero has sig 0
};

template <class U>
constexpr Mask<U> special(const Number<U>& x) {
  return x.zero | x.infinite | x.nan;
}

template <class U>
constexpr Number<U> finite(Mask<U> negative, Int<U> exp, const U& sig) {
  return {negative, sig == U{}, {}, {}, {}, exp, sig};
}

// The same number with its leading one at the top digit. Zero stays zero.
template <class U>
constexpr Number<U> normalise(Number<U> x) {
  const Int<U> zeros = Significand<U>::leading_zeros(x.sig);
  x.sig = x.sig << zeros;
  x.exp = x.exp - zeros;
  return x;
}

}  // namespace widthwise
