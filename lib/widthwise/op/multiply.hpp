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
template <class U>
constexpr Number<U> exact_product(const Number<U>& x, const Number<U>& y) {
  const Halves<U> p = multiply_exact(x.sig, y.sig);
  Number<U> z = product_class(x, y);
  z.exp = x.exp + y.exp + digits<U>;
  z.sig = p.high | select(p.low != U{}, U(1), U{});
  return normalise(z);
}

// a * b, correctly rounded (IEEE 754-2019, 5.4.1).
template <class U, class Trace = NoTrace>
constexpr Result<U> multiply(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                             const Layout<U>& fb, const U& b, const U& random = {},
                             Trace&& trace = {}) {
  return on_operands(fa, a, fb, b, [&](const Number<U>& x, const Number<U>& y) {
    Number<U> z = exact_product(x, y);
    trace(Stage::exact, z.negative, z.exp, z.sig);
    Int<U> flags{};
    if (any(infinite_or_nan(x) | infinite_or_nan(y)))
      flags = take_nan(z, z.zero & z.infinite, x, y);
    return deliver(to, z, flags, random, trace);
  });
}

}  // namespace widthwise
