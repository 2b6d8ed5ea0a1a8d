#include "encoding.hpp"

#include <stdexcept>
#include <string>

#include "systems.hpp"

namespace widthwise::mpfr {
namespace {

std::int64_t small(const mpz_class& n) { return n.get_si(); }

bool no_subnormals(const Format& f) { return !f.subnormals || !f.zero; }

// The highest magnitudes, from the top: NaNs, then the infinity, then numbers.
struct Top {
  mpz_class first_nan, infinity, largest;
};

Top top(const Format& f) {
  const mpz_class end = power(f.exp_bits + f.frac_bits), last_binade = end - power(f.frac_bits);
  Top t{end, end, 0};
  if (f.nan == NanCodes::all_ones) t.first_nan = end - 1;
  if (f.nan == NanCodes::ieee)
    t.first_nan = f.inf == InfCodes::none ? last_binade : last_binade + 1;
  if (f.inf != InfCodes::none) t.infinity = t.first_nan - 1;
  t.largest = (f.inf == InfCodes::none ? t.first_nan : t.infinity) - 1;
  return t;
}

// IEEE 754's special exponent without a fraction has one code, and infinity takes it.
bool has_only_infinity(const Format& f) {
  return f.nan == NanCodes::ieee && f.inf != InfCodes::none && f.frac_bits == 0;
}

mpz_class canonical_nan(const Format& f, const Top& t) {
  if (f.nan == NanCodes::sign_alone) return power(f.exp_bits + f.frac_bits);
  if (f.nan == NanCodes::all_ones) return t.first_nan;
  const mpz_class exponent_ones = power(f.exp_bits + f.frac_bits) - power(f.frac_bits);
  return f.frac_bits == 0 ? exponent_ones : exponent_ones + power(f.frac_bits - 1);
}

Scaled special(int sign, bool infinite) {
  Scaled v;
  if (infinite)
    mpfr_set_inf(v.x, sign);
  else
    mpfr_set_zero(v.x, sign);
  return v;
}

}  // namespace

mpz_class integer(Limbs limbs) {
  mpz_class n;
  mpz_import(n.get_mpz_t(), limbs.size(), -1, sizeof(std::uint64_t), 0, 0, limbs.data());
  return n;
}

std::vector<std::uint64_t> limbs(const mpz_class& n, int bits) {
  std::vector<std::uint64_t> code(static_cast<std::size_t>((bits + 63) / 64));
  if (mpz_sizeinbase(n.get_mpz_t(), 2) > 64 * code.size())
    throw std::logic_error("limbs(n, bits): n has more bits");
  mpz_export(code.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, n.get_mpz_t());
  return code;
}

Landmarks::Landmarks(const Format& f)
    : sign(f.is_signed() ? power(f.exp_bits + f.frac_bits) : mpz_class(0)),
      has_infinity(f.inf != InfCodes::none),
      has_nan(f.nan != NanCodes::none && !has_only_infinity(f)),
      steps_at_zero(no_subnormals(f)),
      least_binade((steps_at_zero ? 0 : 1) - Exponent{f.bias}),
      keeps_negative_zero(f.is_signed() && f.nan != NanCodes::sign_alone) {
  const Top t = top(f);
  largest = t.largest;
  infinity = t.infinity;
  nan = has_nan ? canonical_nan(f, t) : mpz_class(0);
}

mpz_class magnitude_code(const Format& f, mpz_class sig, Exponent exp) {
  const mpz_class hidden = power(f.frac_bits);
  const bool carried = sig >= 2 * hidden;
  if (carried) {
    sig >>= 1;
    exp += 1;
  }
  if (sig < hidden) return sig;  // a subnormal: exponent field 0
  const auto field = static_cast<std::int64_t>(exp + f.frac_bits + f.bias);
  return (mpz_class(field) << static_cast<mp_bitcnt_t>(f.frac_bits)) + (sig - hidden);
}

Significand significand(const Format& f, const mpz_class& magnitude) {
  const mpz_class hidden = power(f.frac_bits);
  const mpz_class fraction = magnitude % hidden, field = magnitude / hidden;
  if (field == 0 && !no_subnormals(f)) return {fraction, Exponent{1} - f.bias - f.frac_bits};
  return {hidden + fraction, Exponent{small(field)} - f.bias - f.frac_bits};
}

Decoded decode(const Format& f, Limbs code) {
  const mpz_class n = integer(code);
  if (n >= power(code_bits(f)))
    throw std::invalid_argument("an operand's code is wider than its format, " +
                                std::to_string(code_bits(f)) + " bits");
  if (!f.is_float()) return decode_system(f, n);
  const int bits = f.exp_bits + f.frac_bits;
  const mpz_class magnitude = n % power(bits);
  const bool negative = n != magnitude;
  const int sign = negative ? -1 : 1;
  const Top t = top(f);
  Decoded x;
  x.code = n;
  if (f.nan == NanCodes::sign_alone ? negative && magnitude == 0 : magnitude >= t.first_nan) {
    mpfr_set_nan(x.value.x);
    x.signalling = f.nan == NanCodes::ieee && f.frac_bits > 0 &&
                   !mpz_tstbit(n.get_mpz_t(), static_cast<mp_bitcnt_t>(f.frac_bits - 1));
    return x;
  }
  if (f.inf != InfCodes::none && magnitude == t.infinity) {
    x.value = special(sign, true);
    return x;
  }
  const Significand s = significand(f, magnitude);
  x.subnormal = s.sig < power(f.frac_bits);
  x.field_exponent = s.exp + f.frac_bits;
  if ((magnitude == 0 && f.zero) || (x.subnormal && f.daz)) {
    x.value = special(sign, false);
    return x;
  }
  x.value.x = Real(f.frac_bits + 1);
  mpfr_set_z(x.value.x, s.sig.get_mpz_t(), MPFR_RNDZ);
  if (negative) mpfr_neg(x.value.x, x.value.x, MPFR_RNDZ);
  x.value.scale = s.exp;
  x.value = normalised(std::move(x.value));
  return x;
}

}  // namespace widthwise::mpfr
