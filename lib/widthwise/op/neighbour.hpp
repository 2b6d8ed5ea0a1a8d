#pragma once
#include "widthwise/op/nan.hpp"
#include "widthwise/round.hpp"

// Operations on one format's codes that never round: neighbours and signs.
namespace widthwise {

// The codes beside one in two's complement, or of an integer without a sign, or of a table. Past
// the ends there is none, but a posit's wrap around, past NaR too (Posit Standard 2022, 5.2).
template <class U>
constexpr Result<U> integer_beside(const Layout<U>& f, const U& a, bool up) {
  if constexpr (looks_up<U>)
    if (f.format.is_table()) return listed_beside(f, a, up);
  const U last = up ? f.magnitude_mask : f.sign;
  if (f.format.is_fixed() && a == last) return {a, Int<U>{}};
  return {U(up ? a + U(1) : a - U(1)) & (f.magnitude_mask | f.sign), Int<U>{}};
}

// The least code that compares greater than a; a itself where there is none (IEEE 754-2019, 5.3.1,
// and docs/semantics.md, E9). A NaN gives the canonical one.
template <class U>
constexpr Result<U> next_up(const Layout<U>& f, const U& a) {
  if (!f.format.is_float()) return integer_beside(f, a, true);
  const Number<U> x = unpack(f, a);
  if (x.nan) return {f.nan_code, Int<U>{x.signaling ? invalid : 0}};
  const U magnitude = a & f.magnitude_mask;
  const U largest = f.format.has_inf() ? f.infinity : f.max_finite;
  const U least(f.format.zero ? 1 : 0);
  if (x.zero) return {least, Int<U>{}};
  if (!x.negative) return {magnitude == largest ? magnitude : U(magnitude + U(1)), Int<U>{}};
  if (magnitude == U{}) return {least, Int<U>{}};  // no zero in between
  const U down = magnitude - U(1);
  const bool lost_sign = down == U{} && f.format.nan == NanCodes::sign_alone;
  return {lost_sign ? U{} : U(f.sign | down), Int<U>{}};
}

// The greatest code that compares less than a: next_up seen in the mirror where there is a sign.
template <class U>
constexpr Result<U> next_down(const Layout<U>& f, const U& a) {
  if (!f.format.is_float()) return integer_beside(f, a, false);
  const Number<U> x = unpack(f, a);
  if (x.nan) return {f.nan_code, Int<U>{x.signaling ? invalid : 0}};
  if (!f.format.is_signed()) return {x.zero || a == U{} ? U{} : U(a - U(1)), Int<U>{}};
  if (x.zero) return {U(f.sign | U(1)), Int<U>{}};
  const U up = next_up(f, U(a ^ f.sign)).code;
  const bool lost_sign = up == U{} && f.format.nan == NanCodes::sign_alone;
  return {lost_sign ? up : U(up ^ f.sign), Int<U>{}};
}

// A number in two's complement, an integer without a sign or a table's value, given a sign. The
// least integer has no mirror, and others no negative: rounding has its rule for these.
template <class U>
constexpr Result<U> integer_with_sign(const Rounder<U>& to, const U& a, bool negative) {
  Number<U> x = operand(to.layout, a);
  x.negative = negative;
  return deliver(to, x);
}

// Sign operations touch the sign bit alone and raise nothing, NaNs included (5.5.1). A format
// without sign has no negative: NaN, else +0; a lone NaN at -0 leaves zero unsigned.
template <class U>
constexpr U with_sign(const Layout<U>& f, const U& a, bool negative) {
  const bool zero = f.format.zero && (a & f.magnitude_mask) == U{};  // whatever DAZ makes of others
  if (!f.format.is_signed()) return negative && !zero && !unpack(f, a).nan ? f.nan_code : a;
  if (f.format.nan == NanCodes::sign_alone && zero) return a;  // +0, or the NaN
  return U(a & f.magnitude_mask) | (negative ? f.sign : U{});
}

template <class U>
constexpr Result<U> given_sign(const Rounder<U>& to, const U& a, bool negative) {
  if (!to.layout.format.is_float()) return integer_with_sign(to, a, negative);
  return {with_sign(to.layout, a, negative), Int<U>{}};
}

// `to` is of a's format.
template <class U>
constexpr Result<U> negate(const Rounder<U>& to, const U& a) {
  const bool spelt = !to.layout.format.is_table();
  return given_sign(to, a, spelt ? (a & to.layout.sign) == U{} : !unpack(to.layout, a).negative);
}
template <class U>
constexpr Result<U> abs(const Rounder<U>& to, const U& a) {
  return given_sign(to, a, false);
}
template <class U>
constexpr Result<U> copysign(const Rounder<U>& to, const U& a, const Layout<U>& fb, const U& b) {
  return given_sign(to, a, unpack(fb, b).negative);
}

}  // namespace widthwise
