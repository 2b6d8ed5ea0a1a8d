#pragma once
#include "widthwise/system/pattern.hpp"

// Posits and takums: the longer the exponent, the fewer bits are left for the fraction.
namespace widthwise {

// The bits below the sign, at the top of the carrier.
template <class U>
constexpr U body_of(const Layout<U>& f, const U& magnitude) {
  return magnitude << (digits<U> - f.format.frac_bits);
}

// A significand from the fraction bits at the carrier's top, and its exponent; the leading one
// stands at the digit frac_bits, as in a float.
template <class U>
constexpr Number<U> tapered_number(const Layout<U>& f, Mask<U> negative, Int<U> e,
                                   const U& fraction) {
  const U sig = (fraction >> 1) | bit<U>(digits<U> - 1);
  return finite<U>(negative, e - f.format.frac_bits, sig >> (digits<U> - 1 - f.format.frac_bits));
}

// --- posits --------------------------------------------------------------------------------------

// | run of equal bits | the other bit | es exponent bits | fraction |   what is cut off is 0
template <class U>
constexpr Number<U> read_posit(const Layout<U>& f, Mask<U> negative, const U& magnitude) {
  const int n = digits<U>, es = f.format.exp_bits;
  const U body = body_of(f, magnitude);
  const Mask<U> up = (body >> (n - 1)) != U{};
  const Int<U> run = Significand<U>::leading_zeros(select(up, U(body ^ ones<U>(n)), body));
  const U tail = shift_left(body, run) << 1;
  const Int<U> k = select(up, run - 1, Int<U>{} - run);
  Int<U> e = k;
  for (int i = 0; i < es; ++i) e = e + e;  // k 2^es: exponents of a row have no shift to the left
  if (es > 0) e = e + Int<U>(U(tail >> (n - es)));
  return tapered_number(f, negative, e, U(tail << es));
}

template <class U>
constexpr Pattern<U> posit_pattern(const Format& f, const Number<U>& x) {
  const int n = digits<U>, es = f.exp_bits;
  const Int<U> e = x.exp + (n - 1), k = e >> Int<U>{es}, none{};
  const Mask<U> up = k >= none;
  const Int<U> run = lesser(select(up, k + 1, none - k), Int<U>{f.width()});
  U tail = x.sig << 1;
  if (es > 0) {
    const U low = U(Int<U>(e & Int<U>{(1 << es) - 1}));
    tail = (low << (n - es)) | shift_right_jam<U>(tail, Int<U>{es});
  }
  const U ending = shift_right_jam<U>(tail, Int<U>{1}) | select(up, U{}, bit<U>(n - 1));
  const U lead = ones<U>(n) ^ shift_right(ones<U>(n), run);
  const U whole = select(up, lead, U{}) | shift_right_jam<U>(ending, run);
  return {whole >> (n - f.frac_bits), whole << f.frac_bits, {}};
}

// --- takums --------------------------------------------------------------------------------------

// | direction | how long: 3 bits | exponent, so many bits | fraction |
template <class U>
constexpr Number<U> read_takum(const Layout<U>& f, Mask<U> negative, const U& magnitude) {
  const int n = digits<U>;
  const U body = body_of(f, magnitude);
  const Mask<U> up = (body >> (n - 1)) != U{};
  const Int<U> length = Int<U>(U((body >> (n - 4)) & U(7)));
  const Int<U> r = select(up, length, Int<U>{7} - length);
  const U tail = body << 4;
  const Int<U> low = Int<U>(shift_right(U(tail >> 1), Int<U>{n - 1} - r));
  const Int<U> power = Int<U>(shift_left(U(1), r));
  const Int<U> c = select(up, power - 1, Int<U>{1} - power - power) + low;
  return tapered_number(f, negative, c, shift_left(tail, r));
}

template <class U>
constexpr Pattern<U> takum_pattern(const Format& f, const Number<U>& x) {
  const int n = digits<U>;
  const Int<U> e = x.exp + (n - 1), least{-255}, most{254};
  const Mask<U> above = e > most, below = e < least;
  const Int<U> c = select(above, most, select(below, least, e));
  const Mask<U> up = c >= Int<U>{};
  const U v = U(Int<U>(select(up, c + 1, Int<U>{} - c)));  // its leading one is not spelt
  const Int<U> r = Int<U>{n - 1} - Significand<U>::leading_zeros(v);
  const U power = shift_left(U(1), r);
  const U low = v ^ power ^ select(up, U{}, U(power - U(1)));
  const U head = U(Int<U>(select(up, r + 8, Int<U>{7} - r)));
  U fraction = x.sig << 1;
  fraction = select(above, ones<U>(n), select(below, U(1), fraction));
  const U spelt = shift_left(low, Int<U>{n - 1} - r) << 1;
  const U tail = spelt | shift_right_jam<U>(fraction, r);
  const U whole = (head << (n - 4)) | shift_right_jam<U>(tail, Int<U>{4});
  return {whole >> (n - f.frac_bits), whole << f.frac_bits, {}};
}

// --- both ----------------------------------------------------------------------------------------

// No finite number but zero becomes 0 or NaR: the ends are kept in every mode.
template <class U>
constexpr Result<U> deliver_tapered(const Rounder<U>& to, const Number<U>& x, const U& random) {
  const Format& f = to.layout.format;
  const U most = to.layout.magnitude_mask;
  const Pattern<U> p = f.is_posit() ? posit_pattern(f, x) : takum_pattern(f, x);
  const U rounded = rounded_pattern(to, x.negative, p, random);
  const Mask<U> below = p.kept == U{}, above = (p.kept == most) & lossy(p);
  const U magnitude = select(below, U(1), select(rounded > most, most, rounded));
  Int<U> flags = select(below | lossy(p), Int<U>{inexact}, Int<U>{});
  flags = flags | select(below, Int<U>{underflow}, select(above, Int<U>{overflow}, Int<U>{}));

  Result<U> z{complemented(to.layout, x.negative, magnitude), flags};
  z.code = select(x.infinite | x.nan, to.layout.nan_code, select(x.zero, U{}, z.code));
  z.flags = select(x.infinite, Int<U>{invalid}, z.flags);
  z.flags = select(x.nan | (x.zero & (x.infinite == Mask<U>{})), Int<U>{}, z.flags);
  return z;
}

}  // namespace widthwise
