#include <algorithm>
#include <array>
#include <stdexcept>

#include "deliver.hpp"

// Results rounded by MPFR itself, where it knows the format and the mode.
namespace widthwise::mpfr {
namespace {

bool mpfr_knows(const Format& f) {
  return f.is_signed() && f.nan == NanCodes::ieee && f.inf == InfCodes::ieee && f.subnormals &&
         f.zero && f.frac_bits >= 1 && f.exp_bits >= 2 && f.overflow == Overflow::ieee;
}

constexpr std::array known_modes{
    std::pair{RoundingMode::rne, MPFR_RNDN}, std::pair{RoundingMode::rtz, MPFR_RNDZ},
    std::pair{RoundingMode::rdn, MPFR_RNDD}, std::pair{RoundingMode::rup, MPFR_RNDU},
    std::pair{RoundingMode::raz, MPFR_RNDA}};

bool mpfr_knows(RoundingMode mode) {
  return std::any_of(known_modes.begin(), known_modes.end(),
                     [&](const auto& known) { return known.first == mode; });
}

mpfr_rnd_t mode_of(RoundingMode mode) {
  for (const auto& known : known_modes)
    if (known.first == mode) return known.second;
  throw std::logic_error("MPFR has no such rounding mode");
}

// MPFR's exponents of the format's numbers, 0.1xxx * 2^e, moved so that 0 is halfway.
struct Range {
  Exponent middle;
  mpfr_exp_t least, most;
  explicit Range(const Format& f) {
    const Exponent least_subnormal = Exponent{2} - f.bias - f.frac_bits;
    const Exponent top_binade = (Exponent{1} << f.exp_bits) - 1 - f.bias;
    middle = (least_subnormal + top_binade) / 2;
    least = static_cast<mpfr_exp_t>(least_subnormal - middle);
    most = static_cast<mpfr_exp_t>(top_binade - middle);
  }
};

// Rounds z, already at the format's precision, to its range. t is MPFR's ternary value.
struct InRange {
  int ternary;
  bool overflowed;
};
InRange into_range(Real& z, int t, mpfr_rnd_t rnd, const Range& range) {
  mpfr_clear_flags();
  mpfr_set_emin(range.least);
  mpfr_set_emax(range.most);
  t = mpfr_check_range(z, t, rnd);
  t = mpfr_subnormalize(z, t, rnd);
  const bool overflowed = mpfr_overflow_p();
  WidestRange::widen();
  return {t, overflowed};
}

bool is_below(const Computation& c, int precision, mpfr_rnd_t rnd, Exponent least_normal) {
  Real z(precision);
  c.into(z, rnd);
  return mpfr_get_exp(z) - 1 + c.scale < least_normal;
}

}  // namespace

bool mpfr_can_deliver(const Target& to) {
  const Round& r = to.round;
  return mpfr_knows(r.fmt) && mpfr_knows(r.rm.mode) && !r.keep_frac && !r.post_norm_frac &&
         r.subnormals == Flush::keep && r.overflow == Overflow::ieee && !r.fmt.ftz &&
         r.tininess != Tininess::as_delivered;
}

Delivered deliver_natively(const Target& to, const Computation& c) {
  const Format& f = to.round.fmt;
  const mpfr_rnd_t rnd = mode_of(to.round.rm.mode);
  const Range range(f);
  const Exponent least_normal = Exponent{1} - f.bias;
  const bool before = to.round.tininess == Tininess::before_rounding;
  const bool tiny = is_below(c, f.frac_bits + 1, before ? MPFR_RNDZ : rnd, least_normal);

  Real z(f.frac_bits + 1);
  const int t = c.into(z, rnd);
  const bool negative = mpfr_signbit(static_cast<mpfr_srcptr>(z)) != 0;
  const Exponent e = mpfr_get_exp(z) + c.scale - range.middle;
  // One step past either end says as much as any number of them.
  const Exponent clamped =
      std::clamp<Exponent>(e, Exponent{range.least} - 4, Exponent{range.most} + 4);
  mpfr_set_exp(z, static_cast<mpfr_exp_t>(clamped));
  const InRange r = into_range(z, t, rnd, range);

  if (mpfr_inf_p(static_cast<mpfr_srcptr>(z))) {
    Delivered d = deliver_infinity(to, negative);
    d.flags = overflow | inexact;
    return d;
  }
  const Flags rounding = r.ternary == 0 ? 0 : tiny ? inexact | underflow : inexact;
  const Flags flags = r.overflowed ? overflow | inexact : rounding;
  if (mpfr_zero_p(static_cast<mpfr_srcptr>(z))) return deliver_zero(to, negative, flags);
  Cut x = exactly({z, range.middle});
  const bool subnormal = mpfr_get_exp(z) - 1 + range.middle < least_normal;
  if (subnormal) {  // the digits below the least subnormal are zeros by now
    const Exponent least = least_normal - f.frac_bits;
    x.sig >>= static_cast<mp_bitcnt_t>(least - x.exp);
    x.exp = least;
  }
  const mpz_class code = magnitude_code(f, x.sig, x.exp);
  return {negative ? mpz_class(code + Landmarks(f).sign) : code, flags};
}

}  // namespace widthwise::mpfr
