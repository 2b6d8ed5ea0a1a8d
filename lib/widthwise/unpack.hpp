#pragma once
#include "widthwise/apart.hpp"
#include "widthwise/system/fixed.hpp"
#include "widthwise/system/listed.hpp"
#include "widthwise/system/tapered.hpp"

namespace widthwise {

// A code in two's complement, or an integer without a sign, of another system than floats. Past 0
// and NaR each system reads the magnitude in its way.
template <class U>
constexpr Number<U> unpack_integer(const Layout<U>& f, const U& code) {
  const auto [negative, magnitude] = integer_magnitude(f, code);
  const Mask<U> zero = magnitude == U{};
  if (f.format.is_fixed()) return read_fixed(f, negative, magnitude);

  const Mask<U> nan = magnitude == f.sign;
  Number<U> x =
      f.format.is_posit() ? read_posit(f, negative, magnitude) : read_takum(f, negative, magnitude);
  const Mask<U> none = zero | nan;
  x.exp = select(none, Int<U>{f.format.least_digit()}, x.exp);
  x.sig = select(none, U{}, x.sig);
  x.zero = zero, x.nan = nan;
  return x;
}

// The fields as they stand: sig is the significand with its hidden bit, subnormals keep their
// leading zeros, and exp + frac_bits is the field exponent that aligners see: that of the leading
// digit in a posit or a takum, that of the highest digit there is in fixed point.
template <class U>
constexpr Number<U> unpack(const Layout<U>& f, const U& code) {
  if constexpr (looks_up<U>)
    if (f.format.is_table()) return read_listed(f, code);
  if (!f.format.is_float()) return unpack_integer(f, code);
  const U magnitude = code & f.magnitude_mask;
  const U fraction = magnitude & f.fraction_mask;
  const Int<U> field = static_cast<Int<U>>(magnitude >> f.format.frac_bits);

  Mask<U> bottom{};  // without a hidden bit
  if (!f.all_normal) bottom = field == Int<U>{};
  Mask<U> zero{};
  if (f.format.zero) zero = magnitude == U{};
  Mask<U> negative = (code & f.sign) != U{};
  Mask<U> nan = magnitude >= f.first_nan;
  if (f.format.nan == NanCodes::sign_alone) {
    nan = negative & (magnitude == U{});
    zero = zero & (negative == Mask<U>{});
  }
  if (f.format.daz) zero = zero | (bottom & (nan == Mask<U>{}));

  const Mask<U> signaling = nan & (f.quiet_bit != U{}) & ((code & f.quiet_bit) == U{});
  const U sig = fraction | select(bottom, U{}, f.hidden);
  const Int<U> exp = select(bottom, Int<U>{f.emin}, field - f.format.bias) - f.format.frac_bits;
  return {negative, zero, magnitude == f.infinity, nan, signaling, exp, select(zero, U{}, sig)};
}

// Whether a code is a normal number. Nearly all operands are, and then nothing has to be looked
// for.
template <class U>
constexpr Mask<U> plain(const Layout<U>& f, const U& code) {
  return U((code & f.magnitude_mask) - f.hidden) < f.plain_span;
}

// `operand` of a plain code: the exponent field slides out above the hidden one.
template <class U>
constexpr Number<U> plain_operand(const Layout<U>& f, const U& code) {
  const Int<U> field =
      static_cast<Int<U>>(shift_right(U(code & f.magnitude_mask), f.format.frac_bits));
  const U sig = shift_left(code, f.up) | bit<U>(digits<U> - 1);
  return {(code & f.sign) != U{}, {}, {}, {}, {}, field - f.plain_offset, sig};
}

// Stands below that of every other number, and two of them have a sum.
template <class U>
inline constexpr std::int64_t exponent_of_zero = -max_exponent_magnitude;
template <class U>
requires requires { Significand<U>::exponent_of_zero; }
inline constexpr std::int64_t exponent_of_zero<U> = Significand<U>::exponent_of_zero;

// An operand of an operation: normalised, a zero below every other number. A NaN's payload stands
// at the top of sig, so that it can move between formats of different width with its leading digits
// kept (IEEE 754-2019, 6.2.3).
template <class U>
WIDTHWISE_APART constexpr Number<U> operand(const Layout<U>& f, const U& code) {
  Number<U> x = normalise(unpack(f, code));
  if (any(x.zero)) x.exp = select(x.zero, Int<U>{exponent_of_zero<U>}, x.exp);
  if (any(x.nan))
    x.sig = select(x.nan, U((code & f.fraction_mask) << (digits<U> - f.format.frac_bits - 1)) << 1,
                   x.sig);
  return x;
}

}  // namespace widthwise
