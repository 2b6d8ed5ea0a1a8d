#include "integral.hpp"

#include <algorithm>

namespace widthwise::mpfr {
namespace {

// MPFR's own rounding to an integer; false where it has none for the mode.
bool rint(mpfr_ptr z, mpfr_srcptr x, RoundingMode mode) {
  switch (mode) {
    case RoundingMode::rne: mpfr_roundeven(z, x); return true;
    case RoundingMode::rna: mpfr_round(z, x); return true;
    case RoundingMode::rtz: mpfr_trunc(z, x); return true;
    case RoundingMode::rdn: mpfr_floor(z, x); return true;
    case RoundingMode::rup: mpfr_ceil(z, x); return true;
    case RoundingMode::raz: mpfr_rint(z, x, MPFR_RNDA); return true;
    default: return false;
  }
}

}  // namespace

Integral to_integral(const Scaled& v, Rounding how, std::uint64_t random) {
  if (!is_number(v) || exactly(v).exp >= 0) return {v, false};
  Real x = v.x;
  const Exponent far_below_any_threshold = -200;
  mpfr_set_exp(x, static_cast<mpfr_exp_t>(std::max(v.scale, far_below_any_threshold)));
  Real z(mpfr_get_prec(x) + 1);
  if (!rint(z, x, how.mode)) {
    const mpz_class n = shorten(exactly({x, 0}), 0, how, random);
    mpfr_set_z(z, n.get_mpz_t(), MPFR_RNDZ);
    mpfr_copysign(z, z, x, MPFR_RNDZ);
  }
  const bool inexact = !mpfr_equal_p(static_cast<mpfr_srcptr>(z), static_cast<mpfr_srcptr>(x));
  return {normalised({z, 0}), inexact};
}

}  // namespace widthwise::mpfr
