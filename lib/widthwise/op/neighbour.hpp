#pragma once
#include "widthwise/op/nan.hpp"

// Operations on one format's codes that never round: neighbours and signs.
namespace widthwise {

// The least code that compares greater than a; a itself where there is none (IEEE 754-2019, 5.3.1,
// and docs/semantics.md, E9). A NaN gives the canonical one.
template <class U>
constexpr Result<U> next_up(const Layout<U>& f, const U& a) {
  const Number<U> x = unpack(f, a);
  if (x.nan) return {f.nan_code, Int<U>{x.signaling ? invalid : 0}};
  const U magnitude = a & f.magnitude_mask;
  const U largest = f.format.has_inf() ? f.infinity : f.max_finite;
  const U least(f.format.zero ? 1 : 0);
  if (x.zero) return {least, Int<U>{}};
  if (!x.negative) return {magnitude == largest ? magnitude : U(magnitude + U(1)), Int<U>{}};
  if (magnitude == U{}) return {least, Int<U>{}};  // no zero in between
  const U down = magnitude - U(1);
  const bool lost_sign = down == U{} && f.format.nan == NanCodes::negative_zero;
  return {lost_sign ? U{} : U(f.sign | down), Int<U>{}};
}

// The greatest code that compares less than a: next_up seen in the mirror where there is a sign.
template <class U>
constexpr Result<U> next_down(const Layout<U>& f, const U& a) {
  const Number<U> x = unpack(f, a);
  if (x.nan) return {f.nan_code, Int<U>{x.signaling ? invalid : 0}};
  if (!f.format.is_signed) return {x.zero || a == U{} ? U{} : U(a - U(1)), Int<U>{}};
  if (x.zero) return {U(f.sign | U(1)), Int<U>{}};
  const U up = next_up(f, U(a ^ f.sign)).code;
  const bool lost_sign = up == U{} && f.format.nan == NanCodes::negative_zero;
  return {lost_sign ? up : U(up ^ f.sign), Int<U>{}};
}

// Sign operations touch the sign bit alone and raise nothing, NaNs included (5.5.1). A format
// without sign has no negative: NaN, else +0; a lone NaN at -0 leaves zero unsigned.
template <class U>
constexpr U with_sign(const Layout<U>& f, const U& a, bool negative) {
  const bool zero = f.format.zero && (a & f.magnitude_mask) == U{};  // whatever DAZ makes of others
  if (!f.format.is_signed) return negative && !zero && !unpack(f, a).nan ? f.nan_code : a;
  if (f.format.nan == NanCodes::negative_zero && zero) return a;  // +0, or the NaN
  return U(a & f.magnitude_mask) | (negative ? f.sign : U{});
}

template <class U>
constexpr U negate(const Layout<U>& f, const U& a) {
  return with_sign(f, a, (a & f.sign) == U{});
}
template <class U>
constexpr U abs(const Layout<U>& f, const U& a) {
  return with_sign(f, a, false);
}
template <class U>
constexpr U copysign(const Layout<U>& f, const U& a, const Layout<U>& fb, const U& b) {
  return with_sign(f, a, unpack(fb, b).negative);
}

}  // namespace widthwise
