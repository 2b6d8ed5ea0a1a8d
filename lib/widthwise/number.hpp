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

// A number cut at a place: the digits from 2^place on as an integer, and those below at the top of
// the carrier, the lowest one jammed. Where no digit lies below, whole is sig as it is.
template <class U>
struct Integral {
  U whole, rest;
};
template <class U>
constexpr Integral<U> cut_at(const Number<U>& x, Int<U> place) {
  const Int<U> none{}, most{digits<U> - 1};
  const Int<U> drop = place - x.exp, in = select(drop > none, lesser(drop, most), none);
  const U lost = shift_left(U(x.sig << 1), most - in);
  const Mask<U> below = drop > most;
  if (!any(below)) return {shift_right(x.sig, in), lost};
  const Int<U> deep = select(below, drop - most - 1, none);
  return {select(below, U{}, shift_right(x.sig, in)),
          select(below, shift_right_jam<U>(x.sig, deep), lost)};
}

}  // namespace widthwise
