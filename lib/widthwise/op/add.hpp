#pragma once
#include "widthwise/op/nan.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

// x + y of two finite numbers, normalised; digits that fall off are jammed. The five digits that
// every carrier has to spare make that safe: where digits are lost the exponents differ by more
// than four, so at most one leading digit cancels and three stay below the last kept one
// (docs/semantics.md, E1).
template <class U>
constexpr Number<U> exact_sum(const RoundingRule& rule, Number<U> x, Number<U> y) {
  const Mask<U> differ = x.negative ^ y.negative, swap = x.exp < y.exp;
  Int<U> low_exp = y.exp, exp = x.exp;
  swap_if(swap, exp, low_exp);
  swap_if(swap, x.sig, y.sig);
  const U high = x.sig >> 1;  // room for the carry
  const U low = shift_right_jam<U>(y.sig >> 1, exp - low_exp);

  // With equal exponents the second may be the larger: the difference comes out negative.
  const U sum = high + negate_if(differ, low);
  const Mask<U> turned = differ & ((sum >> (digits<U> - 1)) != U{});
  Number<U> z{};
  z.sig = negate_if(turned, sum);
  z.exp = exp + 1;
  z.zero = z.sig == U{};
  z.negative = x.negative ^ (differ & swap) ^ turned;
  if (any(z.zero)) {  // +0, or -0 when rounding downwards; equal signs keep theirs (6.3)
    const Mask<U> down = differ & (rule.rounding.mode == RoundingMode::rdn);
    z.negative = select<Mask<U>>(z.zero, (x.negative & y.negative) | down, z.negative);
  }
  return normalise(z);
}

// Infinities and NaNs of a sum, over a finite result that does not stand there.
template <class U>
constexpr Int<U> sum_specials(Number<U>& z, const Number<U>& x, const Number<U>& y) {
  const Mask<U> clash = x.infinite & y.infinite & (x.negative ^ y.negative);
  z.infinite = x.infinite | y.infinite;
  z.negative = select(z.infinite, select(x.infinite, x.negative, y.negative), z.negative);
  return take_nan(z, clash, x, y);
}

template <class U>
constexpr Mask<U> infinite_or_nan(const Number<U>& x) {
  return x.infinite | x.nan;
}

template <class U, class Trace>
constexpr Result<U> deliver_sum(const Rounder<U>& to, const Number<U>& x, const Number<U>& y,
                                const U& random, Trace&& trace) {
  Number<U> z = exact_sum(to.rule, x, y);
  trace(Stage::exact, z.negative, z.exp, z.sig);
  Int<U> flags{};
  if (any(infinite_or_nan(x) | infinite_or_nan(y))) flags = sum_specials(z, x, y);
  return deliver(to, z, flags, random, trace);
}

// a + b, correctly rounded (IEEE 754-2019, 5.4.1).
template <class U, class Trace = NoTrace>
constexpr Result<U> add(const Rounder<U>& to, const Layout<U>& fa, const U& a, const Layout<U>& fb,
                        const U& b, const U& random = {}, Trace&& trace = {}) {
  return on_operands(fa, a, fb, b, [&](const Number<U>& x, const Number<U>& y) {
    return deliver_sum(to, x, y, random, trace);
  });
}

// a - b, correctly rounded (5.4.1): the sum with b's sign turned, a NaN's excepted.
template <class U, class Trace = NoTrace>
constexpr Result<U> subtract(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                             const Layout<U>& fb, const U& b, const U& random = {},
                             Trace&& trace = {}) {
  return on_operands(fa, a, fb, b, [&](const Number<U>& x, Number<U> y) {
    y.negative = y.negative ^ (y.nan == Mask<U>{});
    return deliver_sum(to, x, y, random, trace);
  });
}

}  // namespace widthwise
