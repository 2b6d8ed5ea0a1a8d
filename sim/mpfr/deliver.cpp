#include <algorithm>

#include "systems.hpp"
#include "tables.hpp"
#include "target.hpp"
#include "zero_sign.hpp"

namespace widthwise::mpfr {

Overflow policy(const Target& to) {
  return to.round.overflow != Overflow::ieee ? to.round.overflow : to.round.fmt.overflow;
}

Exponent leading(const Cut& x) {
  return x.exp + static_cast<Exponent>(mpz_sizeinbase(x.sig.get_mpz_t(), 2)) - 1;
}

int compare(const Cut& x, const mpz_class& sig, Exponent exp) {
  const Cut y{.sig = sig, .exp = exp};
  if (leading(x) != leading(y)) return leading(x) < leading(y) ? -1 : 1;
  const Exponent d = x.exp - exp;
  const int c = d >= 0 ? cmp(x.sig << static_cast<mp_bitcnt_t>(d), sig)
                       : cmp(x.sig, sig << static_cast<mp_bitcnt_t>(-d));
  return c == 0 && x.sticky ? 1 : c;
}

namespace {

int kept_fraction(const Target& to) { return to.round.keep_frac.value_or(to.round.fmt.frac_bits); }

Delivered signed_code(const Landmarks& f, const mpz_class& magnitude, bool negative, Flags flags) {
  return {negative ? magnitude + f.sign : magnitude, flags};
}

Delivered below_zero(const Target& to) {
  Delivered z = deliver_nan(to);
  z.flags = invalid;
  return z;
}

// Past the largest number: infinity, NaN or that number, whichever the policy names and there is
// (docs/semantics.md, R7).
Delivered past(const Target& to, bool negative, Overflow how, Flags flags) {
  const Landmarks f(to.round.fmt);
  if (negative && !to.round.fmt.is_signed()) return below_zero(to);
  if (how == Overflow::nan && f.has_nan) return {f.nan, flags};
  const bool number = how == Overflow::max || how == Overflow::satfinite;
  if (!number && f.has_infinity) return signed_code(f, f.infinity, negative, flags);
  if (!number && f.has_nan) return {f.nan, flags};
  return signed_code(f, f.largest, negative, flags);
}

Delivered overflowed(const Target& to, bool negative) {
  Overflow how = policy(to);
  const RoundingMode mode = to.round.rm.mode;
  const bool stops = mode == RoundingMode::rtz || mode == RoundingMode::odd ||
                     (mode == RoundingMode::rup && negative) ||
                     (mode == RoundingMode::rdn && !negative);
  if (how == Overflow::ieee && stops) how = Overflow::max;
  return past(to, negative, how, overflow | inexact);
}

// P3109 of one digit: the number's code tells which neighbour is even, not its digit (R4).
bool code_is_even(const Format& f) { return f.is_p3109() && f.frac_bits == 0; }

bool last_digit_odd(const Format& f, const mpz_class& kept, Exponent lsb) {
  if (!code_is_even(f) || kept == 0) return mpz_odd_p(kept.get_mpz_t()) != 0;
  const mpz_class code = magnitude_code(f, kept, lsb);
  return mpz_odd_p(code.get_mpz_t()) != 0;
}

// A significand of the kept digits as a magnitude.
mpz_class code_of(const Target& to, const Significand& x) {
  const auto spare = static_cast<mp_bitcnt_t>(to.round.fmt.frac_bits - kept_fraction(to));
  return magnitude_code(to.round.fmt, x.sig << spare, x.exp - static_cast<Exponent>(spare));
}

// The least number that is not subnormal, at the digits that are kept.
Significand least_normal(const Target& to, const Landmarks& f) {
  const int kept = kept_fraction(to);
  const bool skips_zero_code = f.steps_at_zero && to.round.fmt.zero;
  return {(mpz_class(1) << static_cast<mp_bitcnt_t>(kept)) + (skips_zero_code ? 1 : 0),
          f.least_binade - kept};
}

// z is what x is rounded to.
bool is_tiny(const Target& to, const Landmarks& f, const Cut& x, const Significand& z) {
  const Significand least = least_normal(to, f);
  if (compare(x, least.sig, least.exp) >= 0) return false;
  if (to.round.tininess == Tininess::before_rounding) return true;
  if (to.round.tininess == Tininess::as_delivered)
    return z.sig == 0 || compare({.sig = z.sig, .exp = z.exp}, least.sig, least.exp) < 0;
  const Exponent lsb = leading(x) - kept_fraction(to);
  const mpz_class rounded = shorten(x, lsb, to.round.rm, to.random);
  return compare({.sig = rounded, .exp = lsb}, least.sig, least.exp) < 0;
}

// x as a fraction of a step from 0 to the least number (R5).
Split fraction_of(const Cut& x, const Significand& least) {
  const Exponent unit = std::min(least.exp, x.exp), far = 1 << 16;  // more digits than formats have
  if (least.exp - x.exp > far) return {0, 0, 1, true};
  return {0, x.sig << static_cast<mp_bitcnt_t>(x.exp - unit),
          least.sig << static_cast<mp_bitcnt_t>(least.exp - unit), x.sticky};
}

bool flushes(const Target& to) { return to.round.subnormals != Flush::keep || to.round.fmt.ftz; }

Delivered flushed(const Target& to, bool negative) {
  const bool sign = negative && to.round.subnormals != Flush::flush_pos_zero;
  return deliver_zero(to, sign, underflow | inexact);
}

// The first of two cuts, right after normalisation.
Cut after_normalisation(const Target& to, const Landmarks& f, Cut x) {
  const Exponent lsb = std::max(leading(x), f.least_binade) - *to.round.post_norm_frac;
  if (lsb <= x.exp) return x;
  x.sig = shorten(x, lsb, to.round.post_norm_rm, 0);
  x.exp = lsb;
  x.sticky = false;
  return x;
}

// The numbers around x at the kept digits, and which of them it takes. Nothing is in range yet.
struct Neighbours {
  Significand lower, upper;
  bool between, up;
};

Neighbours neighbours(const Target& to, const Landmarks& f, const Cut& x) {
  const Significand least = least_normal(to, f);
  if (f.steps_at_zero && compare(x, least.sig, least.exp) < 0) {  // from 0 there is but one step
    const bool up = !to.round.fmt.zero ||
                    moves_away(to.round.rm, x.negative, false, fraction_of(x, least), to.random);
    return {{0, least.exp}, least, true, up};
  }
  const Exponent lsb = std::max(leading(x), f.least_binade) - kept_fraction(to);
  const Split s = split(x, lsb);
  const bool odd = last_digit_odd(to.round.fmt, s.kept, lsb);
  return {{s.kept, lsb},
          {s.kept + 1, lsb},
          s.inexact(),
          moves_away(to.round.rm, x.negative, odd, s, to.random)};
}

// A rounded magnitude as a code: what overflows, is flushed or has no sign here.
Delivered in_range(const Target& to, const Landmarks& f, bool negative, const Significand& z,
                   bool tiny, Flags flags) {
  if (z.sig == 0) return deliver_zero(to, negative, flags);
  const Significand largest = significand(to.round.fmt, f.largest);
  Cut rounded;
  rounded.sig = z.sig;
  rounded.exp = z.exp;
  if (compare(rounded, largest.sig, largest.exp) > 0) return overflowed(to, negative);
  if (flushes(to) && tiny && !f.steps_at_zero) return flushed(to, negative);
  if (negative && !to.round.fmt.is_signed()) return below_zero(to);
  return signed_code(f, code_of(to, z), negative, flags);
}

}  // namespace

Delivered deliver_nan(const Target& to) {
  if (!to.round.fmt.is_float()) return system_nan(to.round.fmt);
  const Landmarks f(to.round.fmt);
  return {f.nan, f.has_nan ? 0 : invalid};
}

Delivered deliver_infinity(const Target& to, bool negative) {
  if (!to.round.fmt.is_float()) return system_infinity(to, negative);
  const bool there = Landmarks(to.round.fmt).has_infinity && policy(to) != Overflow::satfinite;
  return there ? past(to, negative, Overflow::inf, 0)
               : past(to, negative, policy(to), overflow | inexact);
}

Delivered deliver_zero(const Target& to, bool negative, Flags flags) {
  if (!to.round.fmt.is_float()) return system_zero(to, flags);
  const Landmarks f(to.round.fmt);
  const bool has_zero = to.round.fmt.zero;
  if (has_zero) negative = zero_is_negative(to.round, negative);
  negative &= f.keeps_negative_zero;
  if (has_zero) return signed_code(f, 0, negative, flags);
  if (f.has_nan) return {f.nan, invalid};
  return signed_code(f, 0, negative, flags | invalid);
}

Cut cut_for(const Target& to, const Computation& c) {
  const Format& f = to.round.fmt;
  const int kept = std::max(f.frac_bits, to.round.post_norm_frac.value_or(0));
  const mpfr_prec_t above = f.is_fixed() ? digits_above(f, c) : f.is_table() ? listed_digits() : 0;
  return cut(c, kept + to.round.rm.random_bits + 8 + above);
}

Delivered deliver_cut(const Target& to, Cut x) {
  if (x.sig != 0 && !to.round.fmt.is_float()) return deliver_system(to, x);
  const Landmarks f(to.round.fmt);
  if (to.round.post_norm_frac) x = after_normalisation(to, f, x);
  if (x.sig == 0) return deliver_zero(to, x.negative);

  const Neighbours n = neighbours(to, f, x);
  const Significand& z = n.between && n.up ? n.upper : n.lower;
  const bool tiny = is_tiny(to, f, x, z);
  const Flags flags = !n.between ? 0 : tiny ? inexact | underflow : inexact;
  return in_range(to, f, x.negative, z, tiny, flags);
}

Delivered deliver(const Target& to, const Computation& c) {
  if (mpfr_can_deliver(to)) return deliver_natively(to, c);
  return deliver_cut(to, cut_for(to, c));
}

// Specials and zeros are MPFR's.
Delivered delivered(const Target& to, const Computation& c) {
  const bool downward = to.round.rm.mode == RoundingMode::rdn;
  Scaled z{Real(2)};
  c.into(z.x, downward ? MPFR_RNDD : MPFR_RNDN);
  if (is_nan(z)) return deliver_nan(to);
  if (is_infinite(z)) return deliver_infinity(to, is_negative(z));
  if (is_zero(z)) return deliver_zero(to, is_negative(z));
  return deliver(to, c);
}

}  // namespace widthwise::mpfr
