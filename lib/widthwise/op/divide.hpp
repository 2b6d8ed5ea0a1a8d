#pragma once
#include "widthwise/op/multiply.hpp"
#include "widthwise/wide.hpp"

namespace widthwise {

// x / y of two normalised numbers: one carrier of quotient digits, the remainder jammed.
template <class U>
constexpr Number<U> exact_quotient(const Number<U>& x, const Number<U>& y) {
  const U divisor = select(special(y), bit<U>(digits<U> - 1), y.sig);
  const U half = select(special(x), U{}, x.sig) >> 1;  // exact, and below any divisor
  const Division<U> q = divide_halves(Halves<U>{half, U{}}, divisor);
  Number<U> z{};
  z.negative = x.negative ^ y.negative;
  z.zero = x.zero | y.infinite;
  z.infinite = x.infinite | y.zero;
  z.exp = x.exp - y.exp - (digits<U> - 1);
  z.sig = q.quotient | select(q.remainder != U{}, U(1), U{});
  return normalise(z);
}

// a / b, correctly rounded (IEEE 754-2019, 5.4.1).
template <class U, class Trace = NoTrace>
constexpr Result<U> divide(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                           const Layout<U>& fb, const U& b, const U& random = {},
                           Trace&& trace = {}) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  Number<U> z = exact_quotient(x, y);
  Int<U> flags{};
  if (any(special(x) | special(y))) {
    flags = take_nan(z, (x.zero & y.zero) | (x.infinite & y.infinite), x, y, to.env.nan);
    const Mask<U> by_zero = y.zero & (special(x) == Mask<U>{});
    flags = flags | raised<U>(by_zero, divide_by_zero);
  }
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

}  // namespace widthwise
