#pragma once
#include "widthwise/op/nan.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

// The square root of a normalised number, digit by digit: digits - 2 of them, so that the
// remainder, at most twice the root, still fits after the next two digits have come down to it.
template <class U>
constexpr Number<U> exact_root(const Number<U>& x) {
  const Int<U> odd = (x.exp ^ Int<U>{digits<U>}) & Int<U>{1};
  U radicand = x.sig >> odd;  // exact: the low digits of an operand are zeros
  U root{}, remainder{};
  for (int i = 0; i < digits<U> - 2; ++i) {
    remainder = (remainder << 2) | (radicand >> (digits<U> - 2));
    radicand = radicand << 2;
    const U trial = (root << 2) | U(1);
    const Mask<U> fits = remainder >= trial;
    remainder = remainder - select(fits, trial, U{});
    root = (root << 1) | select(fits, U(1), U{});
  }
  Number<U> z{};
  z.negative = x.negative & x.zero;
  z.zero = x.zero;
  z.infinite = x.infinite;
  z.exp = ((x.exp + odd - digits<U>) >> 1);
  z.sig = (root << 2) | select(remainder != U{}, U(1), U{});
  return normalise(z);
}

// The square root of a, correctly rounded (IEEE 754-2019, 5.4.1); that of -0 is -0.
template <class U, class Trace = NoTrace>
constexpr Result<U> sqrt(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                         const U& random = {}, Trace&& trace = {}) {
  const Number<U> x = operand(fa, a);
  Number<U> z = exact_root(x);
  Int<U> flags{};
  if (any(x.negative | infinite_or_nan(x))) {
    const Mask<U> below_zero = x.negative & ((x.zero | x.nan) == Mask<U>{});
    z.infinite = z.infinite & (below_zero == Mask<U>{});
    flags = take_nan(z, below_zero, x, to.env.nan);
  }
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

}  // namespace widthwise
