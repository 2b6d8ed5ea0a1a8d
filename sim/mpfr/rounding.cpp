#include <stdexcept>

#include "deliver.hpp"

// Integers that lose digits.
namespace widthwise::mpfr {
namespace {

// -1, 0 or 1: twice (part + rest) against unit.
int against_half(const mpz_class& part, const mpz_class& unit, bool sticky) {
  const int c = cmp(2 * part, unit);
  return c != 0 ? (c < 0 ? -1 : 1) : sticky ? 1 : 0;
}

bool random_carry(Rounding how, const Split& x, std::uint64_t random) {
  const auto k = static_cast<mp_bitcnt_t>(how.random_bits);
  mpz_class r;
  mpz_import(r.get_mpz_t(), 1, -1, sizeof random, 0, 0, &random);
  if (how.variant == StochasticVariant::half) {
    const mpz_class delta = (x.part << (k + 1)) / x.unit;
    return ((delta + 2 * r + 1) >> (k + 1)) != 0;
  }
  mpz_class delta = (x.part << k) / x.unit;
  if (how.variant == StochasticVariant::even) {
    const mpz_class rest = (x.part << k) % x.unit;
    const int half = against_half(rest, x.unit, x.sticky);
    if (half > 0 || (half == 0 && mpz_odd_p(delta.get_mpz_t()))) delta += 1;
  }
  return ((delta + r) >> k) != 0;
}

}  // namespace

bool moves_away(Rounding how, bool negative, bool odd, const Split& x, std::uint64_t random) {
  if (!x.inexact()) return false;
  const int half = against_half(x.part, x.unit, x.sticky);
  switch (how.mode) {
    case RoundingMode::rne: return half > 0 || (half == 0 && odd);
    case RoundingMode::rna: return half >= 0;
    case RoundingMode::rnz: return half > 0;
    case RoundingMode::rnp: return half > 0 || (half == 0 && !negative);
    case RoundingMode::rnm: return half > 0 || (half == 0 && negative);
    case RoundingMode::rno: return half > 0 || (half == 0 && !odd);
    case RoundingMode::rtz: return false;
    case RoundingMode::rdn: return negative;
    case RoundingMode::rup: return !negative;
    case RoundingMode::raz: return true;
    case RoundingMode::odd: return !odd;
    case RoundingMode::sr: return random_carry(how, x, random);
  }
  throw std::logic_error("no such RoundingMode");
}

Split split(const Cut& x, Exponent lsb) {
  const Exponent n = lsb - x.exp;
  if (n <= 0) {
    if (x.sticky) throw std::logic_error("split(x, lsb): the computation was cut too early");
    return {x.sig << static_cast<mp_bitcnt_t>(-n), 0, 1};
  }
  // Far below the last digit it only counts that there is something, less than any threshold.
  const auto size = static_cast<Exponent>(mpz_sizeinbase(x.sig.get_mpz_t(), 2));
  const auto drop = static_cast<mp_bitcnt_t>(n > size + 200 ? size + 200 : n);
  Split s{x.sig >> drop, 0, mpz_class(1) << drop, x.sticky};
  s.part = x.sig - (s.kept << drop);
  return s;
}

mpz_class shorten(const Cut& x, Exponent lsb, Rounding how, std::uint64_t random) {
  const Split s = split(x, lsb);
  const bool odd = mpz_odd_p(s.kept.get_mpz_t()) != 0;
  return moves_away(how, x.negative, odd, s, random) ? mpz_class(s.kept + 1) : s.kept;
}

Cut exactly(const Scaled& v) {
  Cut x;
  x.negative = is_negative(v);
  if (is_zero(v)) return x;
  x.exp = v.scale + mpfr_get_z_2exp(x.sig.get_mpz_t(), v.x);
  if (x.sig < 0) x.sig = -x.sig;
  return x;
}

Cut cut(const Computation& c, mpfr_prec_t digits) {
  Scaled z{Real(digits), c.scale};
  const bool inexact = c.into(z.x, MPFR_RNDZ) != 0;
  Cut x = exactly(z);
  x.sticky = inexact;
  return x;
}

}  // namespace widthwise::mpfr
