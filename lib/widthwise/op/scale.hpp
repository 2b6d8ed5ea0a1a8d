#pragma once
#include "widthwise/op/convert.hpp"

namespace widthwise {

// a * 2^n, correctly rounded (IEEE 754-2019, 5.3.3); n may be any integer.
template <class U, class Trace = NoTrace>
constexpr Result<U> scaleb(const Rounder<U>& to, const Layout<U>& fa, const U& a, std::int64_t n,
                           const U& random = {}, Trace&& trace = {}) {
  Number<U> x = operand(fa, a);
  // The sum stops past every format's range, subnormals' digits included: from one end of a wide
  // format to the other n itself is longer.
  const std::int64_t most = max_exponent_magnitude + (1 << 14);
  x.exp = n > 0 && x.exp > most - n ? most : n < 0 && x.exp < -most - n ? -most : x.exp + n;
  trace(Stage::exact, x);
  return deliver(to, x, raised<U>(x.signaling, invalid), random, trace);
}

// The exponent of a as a number of to's format (5.3.3): that of 0 is -infinity, and invalid
// operands aside nothing but a format too narrow for the exponent rounds.
template <class U, class Trace = NoTrace>
constexpr Result<U> logb(const Rounder<U>& to, const Layout<U>& fa, const U& a,
                         const U& random = {}, Trace&& trace = {}) {
  const Number<U> x = operand(fa, a);
  const std::int64_t e = x.exp + (digits<U> - 1);
  Number<U> z{};
  z.negative = !special(x) && e < 0;
  z.zero = !special(x) && e == 0;
  z.infinite = x.infinite || x.zero;
  z.sig = special(x) ? U{} : U(static_cast<std::uint64_t>(e < 0 ? -e : e));
  z = normalise(z);
  if (x.zero) z.negative = true;
  Int<U> flags = take_nan(z, false, x) | (x.zero ? divide_by_zero : 0);
  trace(Stage::exact, z);
  return deliver(to, z, flags, random, trace);
}

// IEEE 754-2019, 5.7.2, in its order.
enum class NumberClass : std::uint8_t {
  signaling_nan,
  quiet_nan,
  negative_infinity,
  negative_normal,
  negative_subnormal,
  negative_zero,
  positive_zero,
  positive_subnormal,
  positive_normal,
  positive_infinity,
};

template <class U>
constexpr NumberClass classify(const Layout<U>& f, const U& a) {
  using enum NumberClass;
  const Number<U> x = unpack(f, a);
  if (x.nan) return x.signaling ? signaling_nan : quiet_nan;
  if (x.infinite) return x.negative ? negative_infinity : positive_infinity;
  if (x.zero) return x.negative ? negative_zero : positive_zero;
  const bool subnormal = f.format.is_float() && x.sig < f.hidden;
  if (subnormal) return x.negative ? negative_subnormal : positive_subnormal;
  return x.negative ? negative_normal : positive_normal;
}

}  // namespace widthwise
