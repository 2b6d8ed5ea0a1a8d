#include <memory>
#include <stdexcept>

#include "target.hpp"

namespace widthwise {

using namespace mpfr;

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("mpfr_from_text(text): '" + text +
                              "' is not a number, a fraction p/q, inf or nan");
}

Computation fraction(const std::string& text) {
  const auto q = std::make_shared<mpq_class>();
  if (q->set_str(text, 10) != 0 || q->get_den() == 0) refuse(text);
  q->canonicalize();
  return {[q](mpfr_ptr z, mpfr_rnd_t rnd) { return mpfr_set_q(z, q->get_mpq_t(), rnd); }};
}

Computation literal(const std::string& text) {
  Real probe(2);
  char* end = nullptr;
  mpfr_strtofr(probe, text.c_str(), &end, 0, MPFR_RNDZ);
  if (text.empty() || *end != '\0') refuse(text);
  const auto into = [text](mpfr_ptr z, mpfr_rnd_t rnd) {
    return mpfr_strtofr(z, text.c_str(), nullptr, 0, rnd);
  };
  return {into};
}

}  // namespace

OracleResult mpfr_from_text(const Format& to, const Env& env, const std::string& text,
                            std::uint64_t random) {
  const WidestRange range;
  const Computation c = text.find('/') == std::string::npos ? literal(text) : fraction(text);
  return packed(to, delivered(target(to, env, random), c), 0);
}

std::string mpfr_decimal(const Format& format, std::span<const std::uint64_t> code, int digits) {
  if (digits < 1) throw std::invalid_argument("mpfr_decimal(digits): at least one");
  const WidestRange range;
  Scaled v = decode(format, code).value;
  if (is_number(v)) {
    const mpfr::Exponent e = mpfr_get_exp(v.x) + v.scale;
    if (e < mpfr_get_emin() || e > mpfr_get_emax())
      throw std::invalid_argument("mpfr_decimal(code): an exponent that MPFR does not hold");
    mpfr_set_exp(v.x, static_cast<mpfr_exp_t>(e));
  }
  if (is_zero(v)) return is_negative(v) ? "-0" : "0";
  char* text = nullptr;
  if (mpfr_asprintf(&text, "%.*Re", digits - 1, static_cast<mpfr_srcptr>(v.x)) < 0)
    throw std::runtime_error("mpfr_decimal(code): MPFR could not print it");
  const std::unique_ptr<char, void (*)(char*)> owner(text, mpfr_free_str);
  return text;
}

}  // namespace widthwise
