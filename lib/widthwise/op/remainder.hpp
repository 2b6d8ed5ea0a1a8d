#pragma once
#include "widthwise/op/divide.hpp"

namespace widthwise {

// a * b modulo m, for a, b < m.
template <class U>
constexpr U multiply_modulo(const U& a, const U& b, const U& m) {
  const Int<U> zeros = Significand<U>::leading_zeros(m);
  return divide_halves(multiply_exact(a, U(b << zeros)), U(m << zeros)).remainder >> zeros;
}

// 2^n modulo m, by squaring: the operands of a remainder may lie 2^62 binades apart.
template <class U>
constexpr U power_of_two_modulo(std::int64_t n, const U& m) {
  U power(1);
  for (std::int64_t i = bit_length(static_cast<std::uint64_t>(n)); i-- > 0;) {
    power = multiply_modulo(power, power, m);
    if (n >> i & 1) power = power << 1;
    if (power >= m) power = power - m;
  }
  return power;
}

// x - y * n, n the integer nearest x / y, ties to even; exact. Both finite, normalised, not zero.
//
//   |x| = mx 2^e, |y| = my 2^e or larger:  mx 2^d mod 2 my  tells n's parity as well as the rest
//
template <class U>
constexpr Number<U> exact_remainder(const Number<U>& x, const Number<U>& y) {
  if (y.exp > x.exp + 1) return x;                      // |x| < |y| / 2
  const bool below = y.exp > x.exp;                     // by one binade
  const U mx = x.sig >> 4, my = (y.sig >> 4) << below;  // room for 2 my and the doubled rest
  const Int<U> exp = below ? x.exp : y.exp;

  const U modulus = my << 1;
  U rest = multiply_modulo<U>(mx >= modulus ? U(mx - modulus) : mx,
                              power_of_two_modulo<U>(x.exp - exp, modulus), modulus);
  const bool odd = rest >= my;
  if (odd) rest = rest - my;
  const U twice = rest << 1;
  const bool up = twice > my || (twice == my && odd);

  Number<U> z{};
  z.sig = up ? U(my - rest) : rest;
  z.exp = exp + 4;
  z.zero = z.sig == U{};
  z.negative = x.negative != (up && !z.zero);
  return normalise(z);
}

// The IEEE remainder of a and b (754-2019, 5.3.1): exact in the operands' format. A zero result
// has a's sign. For scalar carriers: its steps depend on the operands.
template <class U, class Trace = NoTrace>
constexpr Result<U> remainder(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                              const Layout<U>& fb, const U& b, const U& random = {},
                              Trace&& trace = {}) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  Number<U> z = x;
  Int<U> flags{};
  if (special(x) || special(y)) {
    z.infinite = false;
    flags = take_nan(z, (x.infinite && !y.nan) || (y.zero && !x.nan), x, y, to.env.nan);
  } else {
    z = exact_remainder(x, y);
  }
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

}  // namespace widthwise
