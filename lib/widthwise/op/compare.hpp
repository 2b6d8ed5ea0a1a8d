#pragma once
#include "widthwise/numbers.hpp"
#include "widthwise/op/nan.hpp"
#include "widthwise/round.hpp"

namespace widthwise {

// NaR, unlike NaN, has a place among the numbers: below all of them, and equal to itself (Posit
// Standard 2022, 5.3).
template <class U>
constexpr bool has_nar(const Layout<U>& fa, const Layout<U>& fb) {
  return fa.format.is_tapered() && fb.format.is_tapered();
}

template <class U>
constexpr Relation compare(const Layout<U>& fa, const U& a, const Layout<U>& fb, const U& b) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  if (!has_nar(fa, fb) || !(x.nan || y.nan)) return relation(x, y);
  return !y.nan ? Relation::less : x.nan ? Relation::equal : Relation::greater;
}

// Flags of a comparison: quiet ones raise invalid on a signalling NaN only (5.11, table 5.1
// to 5.3).
template <class U>
constexpr Flags comparison_flags(const Layout<U>& fa, const U& a, const Layout<U>& fb, const U& b,
                                 bool signaling) {
  if (has_nar(fa, fb)) return 0;
  const Number<U> x = unpack(fa, a), y = unpack(fb, b);
  return x.signaling || y.signaling || (signaling && (x.nan || y.nan)) ? invalid : 0;
}

// Position in the total order (5.10): codes of one format as signed integers, which those in two's
// complement are. A lone NaN at the code of -0 stands above +infinity, as a positive quiet NaN does
// (docs/semantics.md, E8).
template <class U>
constexpr bool total_order(const Layout<U>& f, const U& a, const U& b) {
  if constexpr (looks_up<U>)
    if (f.format.is_table()) return listed_order(f, a) <= listed_order(f, b);
  if (f.format.sign == Sign::complement) return U(a ^ f.sign) <= U(b ^ f.sign);
  const bool lone = f.format.nan == NanCodes::sign_alone;
  if (lone && (a == f.nan_code || b == f.nan_code)) return b == f.nan_code;
  const bool na = (a & f.sign) != U{}, nb = (b & f.sign) != U{};
  const U ma = a & f.magnitude_mask, mb = b & f.magnitude_mask;
  if (na != nb) return na;
  return na ? mb <= ma : ma <= mb;
}

template <class U>
constexpr bool total_order_magnitude(const Layout<U>& f, const U& a, const U& b) {
  if (f.format.is_table()) {
    const Number<U> x = operand(f, a), y = operand(f, b);
    return y.nan || (!x.nan && !smaller_magnitude(y, x));
  }
  if (f.format.sign == Sign::complement)
    return integer_magnitude(f, a).magnitude <= integer_magnitude(f, b).magnitude;
  if (f.format.nan == NanCodes::sign_alone) {
    const auto magnitude = [&](const U& x) {
      return x == f.nan_code ? x : U(x & f.magnitude_mask);
    };
    return magnitude(a) <= magnitude(b);
  }
  return (a & f.magnitude_mask) <= (b & f.magnitude_mask);
}

// What minimum and maximum do with a NaN beside a number.
enum class NanOperand : std::uint8_t {
  wins,               // minimum, maximum (754-2019, 9.6)
  loses,              // minimumNumber, maximumNumber (754-2019, 9.6): a signalling one too
  loses_unless_loud,  // minNum, maxNum (754-2008, 5.3.1): a signalling one is invalid and wins
};

// The lesser or the greater of a and b; -0 is below +0.
template <class U, class Trace = NoTrace>
constexpr Result<U> extremum(const Rounder<U>& to, bool greater, NanOperand rule,
                             const Layout<U>& fa, const U& a, const Layout<U>& fb, const U& b,
                             const U& random = {}, Trace&& trace = {}) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  const Relation r = relation(x, y);
  const bool x_below = r == Relation::less || (r == Relation::equal && x.negative);
  Number<U> z = x_below != greater ? x : y;
  Flags flags = x.signaling || y.signaling ? invalid : 0;
  if (r == Relation::unordered) {
    const bool both = x.nan && y.nan;
    const bool loud = rule == NanOperand::loses_unless_loud && flags != 0;
    z = x.nan ? y : x;
    if (both || loud || rule == NanOperand::wins) {
      z.zero = z.infinite = false;
      take_nan(z, false, x, y);
    }
  }
  trace(Stage::exact, z);
  return deliver(to, z, Int<U>{flags}, random, trace);
}

// Whether codes mean the same in both, whatever is done with them.
constexpr bool same_encoding(Format f, const Format& g) {
  f.daz = g.daz, f.ftz = g.ftz, f.overflow = g.overflow;
  return f == g;
}

// x86's MINSS and MAXSS: a where it is the lesser (the greater), else b, of two zeros and beside a
// NaN too. A code of the result's format stays what it is: a signalling NaN, and a subnormal that
// ftz would flush, for nothing is computed (docs/semantics.md, E3).
template <class U, class Trace = NoTrace>
constexpr Result<U> x86_extremum(const Rounder<U>& to, bool greater, const Layout<U>& fa,
                                 const U& a, const Layout<U>& fb, const U& b, const U& random = {},
                                 Trace&& trace = {}) {
  const Number<U> x = operand(fa, a), y = operand(fb, b);
  const Relation r = relation(x, y);
  const bool first = r == (greater ? Relation::greater : Relation::less);
  const Number<U>& z = first ? x : y;
  const Int<U> flags = r == Relation::unordered ? invalid : 0;
  trace(Stage::exact, z);
  // daz has made some zeros, and satfinite has infinities become numbers.
  const bool stays = same_encoding((first ? fa : fb).format, to.layout.format);
  if (!stays || z.zero || z.infinite) return deliver(to, z, flags, random, trace);
  const U& code = first ? a : b;
  trace(Stage::pack, z.negative, Int<U>{}, code);
  return {code, flags};
}

}  // namespace widthwise
