#include "systems.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tables.hpp"

namespace widthwise::mpfr {
namespace {

// Sums and quotients whose digits reach further above the last one wrap to nothing that is known.
constexpr Exponent widest_integer = 1 << 22;

mpz_class low_bits(const mpz_class& n, int bits) {
  mpz_class z;
  mpz_fdiv_r_2exp(z.get_mpz_t(), n.get_mpz_t(), static_cast<mp_bitcnt_t>(bits));
  return z;
}

int bits_below_sign(const Format& f) { return code_bits(f) - (f.is_signed() ? 1 : 0); }

mpz_class with_sign(const Format& f, const mpz_class& magnitude, bool negative) {
  return low_bits(negative ? mpz_class(-magnitude) : magnitude, code_bits(f));
}

// --- what a magnitude stands for

Exponent last_digit(const Format& fixed) { return Exponent{1} - fixed.bias - fixed.frac_bits; }

std::string binary(const mpz_class& n, int bits) {
  const std::string digits = n.get_str(2);
  return std::string(static_cast<std::size_t>(bits) - digits.size(), '0') + digits;
}

// Bits from `first` on, as many as are asked for: what was cut off is 0.
mpz_class field(const std::string& bits, std::size_t first, std::size_t count) {
  const std::string there = first < bits.size() ? bits.substr(first, count) : "";
  return mpz_class("0" + there + std::string(count - there.size(), '0'), 2);
}

Significand with_fraction(const std::string& bits, std::size_t first, Exponent e) {
  const std::string fraction = first < bits.size() ? bits.substr(first) : "";
  return {mpz_class("1" + fraction, 2), e - static_cast<Exponent>(fraction.size())};
}

//   | run of equal bits | their end | es bits | fraction |
Significand posit_significand(const Format& f, const mpz_class& magnitude) {
  const std::string bits = binary(magnitude, bits_below_sign(f));
  const std::size_t run = std::min(bits.find_first_not_of(bits[0]), bits.size());
  const auto length = static_cast<Exponent>(run);
  const Exponent k = bits[0] == '1' ? length - 1 : -length;
  const auto es = static_cast<std::size_t>(f.exp_bits);
  const Exponent e = k * (Exponent{1} << es) + field(bits, run + 1, es).get_si();
  return with_fraction(bits, run + 1 + es, e);
}

//   | D | R, 3 bits | C, r bits | m |       r = R where D, else 7 - R
Significand takum_significand(const Format& f, const mpz_class& magnitude) {
  const std::string bits = binary(magnitude, bits_below_sign(f));
  const bool up = bits[0] == '1';
  const long length = field(bits, 1, 3).get_si(), r = up ? length : 7 - length;
  const long low = field(bits, 4, static_cast<std::size_t>(r)).get_si();
  const Exponent c = low + (up ? (1L << r) - 1 : 1 - (2L << r));
  return with_fraction(bits, static_cast<std::size_t>(4 + r), c);
}

// Of a magnitude that is not zero.
Significand system_significand(const Format& f, const mpz_class& magnitude) {
  switch (f.exponent) {
    case widthwise::Exponent::none: return {magnitude, last_digit(f)};
    case widthwise::Exponent::regime: return posit_significand(f, magnitude);
    case widthwise::Exponent::takum: return takum_significand(f, magnitude);
    case widthwise::Exponent::field:
    case widthwise::Exponent::listed: break;
  }
  throw std::logic_error("system_significand(f): f is a float or a table");
}

Exponent top_digit(const Significand& s) {
  return s.exp + static_cast<Exponent>(mpz_sizeinbase(s.sig.get_mpz_t(), 2)) - 1;
}

// --- fixed point's integers

bool delivers_low_digits(Overflow rule) {
  return rule == Overflow::wrap || rule == Overflow::wrap_sm || rule == Overflow::keep_sign;
}
bool clamps(Overflow rule) { return rule != Overflow::zero && !delivers_low_digits(rule); }

// The largest magnitude on one side of zero.
mpz_class fixed_end(const Target& to, bool negative) {
  const Format& f = to.round.fmt;
  const mpz_class end = power(bits_below_sign(f));
  if (!negative) return end - 1;
  if (!f.is_signed()) return 0;
  return policy(to) == Overflow::symmetric ? mpz_class(end - 1) : end;
}

// n with its sign, out of range.
mpz_class wrapped(const Format& f, const mpz_class& n, Overflow rule) {
  const int bits = code_bits(f);
  const auto sign_place = static_cast<mp_bitcnt_t>(bits - 1);
  const mpz_class low = low_bits(n, bits);
  if (rule == Overflow::keep_sign && f.is_signed())
    return low_bits(n, bits - 1) + (n < 0 ? power(bits - 1) : mpz_class(0));
  if (rule != Overflow::wrap_sm) return low;
  const mpz_class wider = low_bits(n, bits + 1);
  const bool deleted = mpz_tstbit(wider.get_mpz_t(), sign_place + 1) != 0;
  const bool sign = mpz_tstbit(low.get_mpz_t(), sign_place) != 0;
  return deleted == sign ? low : mpz_class(power(bits) - 1 - low);
}

// All of whose digits lie so far above the last one that those of the format are zeros.
bool is_far(const Target& to, const Cut& x) {
  const Exponent lsb = last_digit(to.round.fmt);
  if (!delivers_low_digits(policy(to))) return leading(x) > lsb + code_bits(to.round.fmt) + 1;
  if (x.sticky && x.exp > lsb)
    throw std::length_error("MPFR's oracle: a result too far above the last digit of its format");
  return x.exp > lsb + code_bits(to.round.fmt) + 1;
}

Delivered fixed_overflowed(const Target& to, const mpz_class& n, bool negative) {
  const Format& f = to.round.fmt;
  const Overflow rule = policy(to);
  const Flags flags = overflow | inexact;
  if (rule == Overflow::zero) return {0, flags};
  if (clamps(rule)) return {with_sign(f, fixed_end(to, negative), negative), flags};
  return {wrapped(f, negative ? mpz_class(-n) : n, rule), flags};
}

Delivered deliver_fixed(const Target& to, const Cut& x) {
  const Format& f = to.round.fmt;
  if (is_far(to, x)) return fixed_overflowed(to, power(code_bits(f) + 2), x.negative);
  const Split s = split(x, last_digit(f));
  const bool away =
      moves_away(to.round.rm, x.negative, mpz_odd_p(s.kept.get_mpz_t()) != 0, s, to.random);
  const mpz_class n = s.kept + (away ? 1 : 0);
  if (n > fixed_end(to, x.negative)) return fixed_overflowed(to, n, x.negative);
  return {with_sign(f, n, x.negative), s.inexact() ? inexact : Flags{}};
}

// --- patterns

// The bits before the fraction.
struct Head {
  mpz_class bits;
  Exponent count;
};

Head posit_head(const Format& f, Exponent e) {
  const Exponent step = Exponent{1} << f.exp_bits;
  const Exponent low = ((e % step) + step) % step, k = (e - low) / step;
  const Head regime = k >= 0 ? Head{power(k + 2) - 2, k + 2} : Head{1, 1 - k};
  return {regime.bits * power(f.exp_bits) + static_cast<long>(low), regime.count + f.exp_bits};
}

Head takum_head(Exponent e) {
  const bool up = e >= 0;
  const long c = static_cast<long>(e), v = up ? c + 1 : -c;
  const long r = static_cast<long>(mpz_sizeinbase(mpz_class(v).get_mpz_t(), 2)) - 1;
  const long low = up ? v - (1L << r) : (2L << r) - 1 - v;
  return {mpz_class(up ? 8 + r : 7 - r) * power(r) + low, 4 + r};
}

// The exact pattern of a magnitude between the ends, its point behind the bits that are kept. It
// lies between those of the ends, and so does what it is rounded to.
Cut pattern(const Format& f, const Cut& x) {
  const Head head = f.is_posit() ? posit_head(f, leading(x)) : takum_head(leading(x));
  const Exponent fraction = leading(x) - x.exp;
  Cut p = x;
  p.sig = (head.bits - 1) * power(fraction) + x.sig;  // the leading one is not spelt
  p.exp = bits_below_sign(f) - head.count - fraction;
  return p;
}

Delivered deliver_tapered(const Target& to, const Cut& x) {
  const Format& f = to.round.fmt;
  const mpz_class top = power(bits_below_sign(f)) - 1;
  const Significand least = system_significand(f, 1), most = system_significand(f, top);
  const int above = compare(x, most.sig, most.exp), below = compare(x, least.sig, least.exp);
  if (above >= 0) return {with_sign(f, top, x.negative), above > 0 ? overflow | inexact : Flags{}};
  if (below <= 0) return {with_sign(f, 1, x.negative), below < 0 ? underflow | inexact : Flags{}};
  const Cut p = pattern(f, x);
  const mpz_class magnitude = shorten(p, 0, to.round.rm, to.random);
  return {with_sign(f, magnitude, x.negative), split(p, 0).inexact() ? inexact : Flags{}};
}

}  // namespace

Decoded decode_system(const Format& f, const mpz_class& code) {
  if (f.is_table()) return decode_listed(f, code);
  Decoded x;
  x.code = code;
  const int bits = bits_below_sign(f);
  const bool negative = code >= power(bits);
  const mpz_class magnitude = negative ? mpz_class(power(bits + 1) - code) : code;
  if (!f.is_fixed() && negative && magnitude == power(bits)) {
    mpfr_set_nan(x.value.x);
    return x;
  }
  mpfr_set_zero(x.value.x, 1);
  x.field_exponent = last_digit(f) + f.frac_bits;
  if (magnitude == 0) return x;
  const Significand s = system_significand(f, magnitude);
  if (!f.is_fixed()) x.field_exponent = top_digit(s);
  x.value = {Real(bits + 1), s.exp};
  mpfr_set_z(x.value.x, s.sig.get_mpz_t(), MPFR_RNDZ);
  mpfr_setsign(x.value.x, x.value.x, negative, MPFR_RNDZ);
  x.value = normalised(std::move(x.value));
  return x;
}

Delivered system_nan(const Format& f) {
  if (f.is_table()) return listed_nan(f);
  if (f.is_fixed()) return {0, invalid};
  return {power(bits_below_sign(f)), 0};
}

Delivered system_infinity(const Target& to, bool negative) {
  const Format& f = to.round.fmt;
  if (f.is_table()) return listed_infinity(f, negative);
  if (!f.is_fixed()) return {power(bits_below_sign(f)), invalid};
  if (!clamps(policy(to))) return {0, invalid};
  return {with_sign(f, fixed_end(to, negative), negative), overflow | inexact};
}

Delivered system_zero(const Target& to, Flags flags) {
  if (!to.round.fmt.is_table()) return {0, flags};
  Delivered z = deliver_listed(to, {});
  z.flags |= flags;
  return z;
}

Delivered deliver_system(const Target& to, const Cut& x) {
  if (to.round.fmt.is_table()) return deliver_listed(to, x);
  return to.round.fmt.is_fixed() ? deliver_fixed(to, x) : deliver_tapered(to, x);
}

mpfr_prec_t digits_above(const Format& f, const Computation& c) {
  Real probe(2);
  c.into(probe, MPFR_RNDZ);
  const Exponent above = mpfr_get_exp(probe) + c.scale - last_digit(f);
  return static_cast<mpfr_prec_t>(std::clamp<Exponent>(above, 0, widest_integer));
}

}  // namespace widthwise::mpfr
