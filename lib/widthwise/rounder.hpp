#pragma once
#include "widthwise/decide.hpp"
#include "widthwise/number.hpp"
#include "widthwise/unit.hpp"

namespace widthwise {

template <class U>
struct Result {
  U code;
  Int<U> flags;
};

// How numbers become codes of one format: all that is the same for every value, worked out once.
// Needs digits >= precision + 5, and precision + k + 4 for k random bits.
template <class U>
struct Rounder {
  Layout<U> layout;
  Env env;
  RoundingRule rule;
  int precision;   // significand digits kept
  int drop;        // digits below them in the carrier
  int spare;       // fraction bits of the code below them (E8M13 in an FP32 register: 10)
  bool even_code;  // ties look at the code's last bit, not at the significand's (R4)
  bool keeps_zero_sign;
  Flush flush;
  Overflow overflow;
  U nan_code;
  U dropped, kept;  // masks of the digits below the kept ones, and of those
  U last_digit;     // the lowest kept one
  U increment[4];   // added to them, carries where the rule says away: row 2 * negative + odd
  U random_mask, random_tie;  // stochastic rounding adds random << random_shift besides, less
  int random_shift;           // random & random_tie
  std::int64_t field_offset;  // exponent field of a normal number - weight of bit 0
  std::int64_t first_inside, last_inside;  // weights of bit 0 that surely give a normal number
  U least_number;  // of a format without subnormals: its least significand at emin, kept digits

  explicit constexpr Rounder(const Round& r, NanResult nan = NanResult::canonical)
      : layout(r.fmt),
        env{r.rm, r.tininess, nan},
        rule(r.rm),
        precision(r.keep_frac.value_or(r.fmt.frac_bits) + 1),
        drop(digits<U> - precision),
        spare(r.fmt.precision() - precision),
        even_code(r.fmt.is_p3109() && r.fmt.precision() == 1),
        keeps_zero_sign(r.fmt.sign == Sign::magnitude && r.fmt.nan != NanCodes::sign_alone &&
                        !(r.fmt.zero && r.zero_sign == ZeroSign::always_plus)),
        flush(r.subnormals == Flush::keep && r.fmt.ftz ? Flush::flush_signed_zero : r.subnormals),
        overflow(r.overflow == Overflow::ieee ? r.fmt.overflow : r.overflow),
        nan_code(r.nan_bits && r.fmt.has_nan() ? U(*r.nan_bits) : made_nan()),
        dropped(ones<U>(drop)),
        kept(ones<U>(digits<U>) ^ dropped),
        last_digit(bit<U>(drop)),
        increment{increment_for(0), increment_for(1), increment_for(2), increment_for(3)},
        random_mask(ones<U>(r.rm.random_bits)),
        random_tie(r.rm.stochastic() && r.rm.variant == StochasticVariant::even ? 1 : 0),
        random_shift(r.rm.stochastic() ? drop - r.rm.random_bits : 0),
        field_offset(r.fmt.bias + (digits<U> - 1)),
        first_inside(1 - field_offset),
        last_inside(first_inside - 2 +
                    static_cast<std::int64_t>(layout.max_finite >> r.fmt.frac_bits)),
        least_number(bit<U>(precision - 1) + U(r.fmt.zero ? 1 : 0)) {
    if (!r.fmt.is_signed() || even_code)
      last_inside = first_inside - 1;  // more has to be looked at
  }

  explicit constexpr Rounder(const Format& f, const Env& e = {})
      : Rounder(Round{.fmt = f, .rm = e.rounding, .tininess = e.tininess}, e.nan) {}

 private:
  // Where the format's NaN has a sign, a machine may have it set (docs/semantics.md, N1).
  constexpr U made_nan() const {
    const bool has_sign = layout.format.has_signed_nans();
    return layout.nan_code | (has_sign && makes_negative(env.nan) ? layout.sign : U{});
  }

  // Stochastic modes move up from where delta, cut to k digits, and r of k random ones reach 1
  // together. As r is whole, plain needs no cut; the others add half a unit to r, and even less
  // where r is odd.
  constexpr U increment_for(unsigned row) const {
    if (rule.rounding.stochastic())
      return rule.rounding.variant == StochasticVariant::plain
                 ? U{}
                 : bit<U>(drop - rule.rounding.random_bits - 1);
    return increment_of<U>(rule.table, row, dropped);
  }
};

// An infinity, or its stand-in where the format has none: NaN, else the largest number.
template <class U>
constexpr U infinity_code(const Rounder<U>& to, Overflow how, Mask<U> negative) {
  const Layout<U>& f = to.layout;
  const U sign = select(negative, f.sign, U{});
  const bool nan_first = how == Overflow::nan && f.format.has_nan();
  if (how == Overflow::max || how == Overflow::satfinite) return f.max_finite | sign;
  if (f.format.has_inf() && !nan_first) return f.infinity | sign;
  return f.format.has_nan() ? to.nan_code : f.max_finite | sign;
}

// What a number too large for the format becomes (IEEE 754-2019, 7.4; docs/semantics.md, R7).
template <class U>
constexpr U overflowed(const Rounder<U>& to, Mask<U> negative) {
  const U past = infinity_code<U>(to, to.overflow, negative);
  if (to.overflow != Overflow::ieee) return past;
  const U largest = to.layout.max_finite | select(negative, to.layout.sign, U{});
  switch (to.rule.rounding.mode) {
    case RoundingMode::rtz:
    case RoundingMode::odd: return largest;
    case RoundingMode::rup: return select(negative, largest, past);
    case RoundingMode::rdn: return select(negative, past, largest);
    default: return past;
  }
}

// The sign that a code gets: a number's own, but zeros may lose theirs.
template <class U, class Truth>
constexpr Truth delivered_sign(const Rounder<U>& to, const Truth& zero, const Truth& negative) {
  return to.keeps_zero_sign ? negative : Truth(negative & (zero == Truth{}));
}

// The exact zero, infinity and NaN of an operation, in formats that may lack them (R7, N2), or
// whose policy has infinities saturate.
template <class U>
constexpr Result<U> delivered_zero(const Rounder<U>& to, Mask<U> negative) {
  const Format& f = to.layout.format;
  const Mask<U> zero(f.zero);
  const U code = select(delivered_sign(to, zero, negative), to.layout.sign, U{});
  if (f.zero) return {code, Int<U>{}};
  return {f.has_nan() ? to.nan_code : code, Int<U>{invalid}};  // else the smallest
}

template <class U>
constexpr Result<U> delivered_infinity(const Rounder<U>& to, Mask<U> negative) {
  const Format& f = to.layout.format;
  const bool stays = f.has_inf() && to.overflow != Overflow::satfinite;
  const Overflow how = stays ? Overflow::inf : to.overflow;
  Result<U> z{infinity_code<U>(to, how, negative), Int<U>{stays ? 0 : overflow | inexact}};
  if (!f.is_signed()) {
    z.code = select(negative, to.nan_code, z.code);
    z.flags = select(negative, Int<U>{invalid}, z.flags);
  }
  return z;
}

template <class U>
constexpr U delivered_nan(const Rounder<U>& to, const Number<U>& x) {
  const Layout<U>& f = to.layout;
  if (!propagates(to.env.nan) || !f.format.has_nan()) return to.nan_code;
  U z = f.nan_code;
  if (f.format.has_signed_nans()) z = z | select(x.negative, f.sign, U{});
  if (f.format.has_nan_payloads()) z = z | x.sig >> (digits<U> - f.format.frac_bits);
  return z;
}

}  // namespace widthwise
