#pragma once
#include "widthwise/op/add.hpp"

namespace widthwise {

// Signs and specials of x * y; the caller fills in the finite product.
template <class U>
constexpr Number<U> product_class(const Number<U>& x, const Number<U>& y) {
  Number<U> z{};
  z.negative = x.negative ^ y.negative;
  z.zero = x.zero | y.zero;
  z.infinite = x.infinite | y.infinite;
  return z;
}

// x * y of two normalised numbers, its lower half jammed: the upper keeps all that p + 5 digits
// need, for one product digit in two falls below 2^-digits of the leading one.
template <class How = OneByOne, class U>
constexpr Number<U> exact_product(const Number<U>& x, const Number<U>& y) {
  const Halves<U> p = How::multiply(x.sig, y.sig);
  Number<U> z = product_class(x, y);
  z.exp = x.exp + y.exp + digits<U>;
  z.sig = p.high | select(p.low != U{}, U(1), U{});
  const Mask<U> below_two = (z.sig >> (digits<U> - 1)) == U{};  // never below one
  z.exp = z.exp - select(below_two, Int<U>{1}, Int<U>{});
  z.sig = z.sig + select(below_two, z.sig, U{});
  return z;
}

template <class U, class Trace>
[[gnu::noinline]] constexpr Result<U> full_product(const Rounder<U>& to, const Layout<U>& fa,
                                                   const U& a, const Layout<U>& fb, const U& b,
                                                   const U& random, Trace& trace) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  Number<U> z = exact_product(x, y);
  // Two zeros' exponents have a sum, but no distance from what lies above.
  if (any(x.zero | y.zero)) z.exp = select(x.zero | y.zero, Int<U>{exponent_of_zero<U>}, z.exp);
  Int<U> flags{};
  if (any(infinite_or_nan(x) | infinite_or_nan(y)))
    flags = take_nan(z, z.zero & z.infinite, x, y, to.env.nan);
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

// The same for two normal numbers whose product is one too.
template <class How, class U>
constexpr Quick<U> quick_product(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                                 const Layout<U>& fb, const U& b, const U& random = {}) {
  const Mask<U> usual = plain(fa, a) & plain(fb, b);
  const Number<U> exact = exact_product<How>(plain_operand(fa, a), plain_operand(fb, b));
  return deliver_quick<How>(to, exact, usual, random);
}

// a * b, correctly rounded (IEEE 754-2019, 5.4.1).
template <class U, class Trace = NoTrace>
constexpr Result<U> multiply(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                             const Layout<U>& fb, const U& b, const U& random = {},
                             Trace&& trace = {}) {
  if (!traced<Trace> && !any((plain(fa, a) & plain(fb, b)) == Mask<U>{})) [[likely]] {
    const Quick<U> z = quick_product<OneByOne>(to, fa, a, fb, b, random);
    if (!any(z.sure == Mask<U>{})) [[likely]]
      return {z.code, z.flags};
  }
  return full_product(to, fa, a, fb, b, random, trace);
}

}  // namespace widthwise
