#include <stdexcept>

#include "arithmetic.hpp"
#include "exact_sum.hpp"
#include "target.hpp"

namespace widthwise {

using namespace mpfr;

namespace {

// Everything that is added up, and what their specials come to.
struct Ledger {
  std::vector<Scaled> numbers;
  bool nan = false, created_nan = false, signals = false;
  bool infinity[2] = {false, false};
  bool sign[2] = {false, false};  // which signs any addend had, zeros included

  void add(const Scaled& v) {
    nan |= is_nan(v);
    if (is_nan(v)) return;
    sign[is_negative(v)] = true;
    if (is_infinite(v))
      infinity[is_negative(v)] = true;
    else
      numbers.push_back(v);
  }

  void add_product(const Decoded& a, const Decoded& b) {
    signals |= a.signalling || b.signalling;
    const mpfr_prec_t digits = mpfr_get_prec(a.value.x) + mpfr_get_prec(b.value.x);
    const Computation c = product(a.value, b.value);
    Scaled p{Real(digits), c.scale};
    c.into(p.x, MPFR_RNDZ);
    created_nan |= is_nan(p) && !is_nan(a.value) && !is_nan(b.value);
    add(normalised(p));
  }
};

Delivered rounded(const Target& to, const Ledger& all) {
  if (all.nan || (all.infinity[0] && all.infinity[1])) return deliver_nan(to);
  if (all.infinity[0] || all.infinity[1]) return deliver_infinity(to, all.infinity[1]);
  const ExactSum sum(all.numbers);
  if (!sum.is_zero()) return deliver(to, sum.computation());
  const bool mixed = all.sign[0] && all.sign[1];
  return deliver_zero(to, mixed ? to.round.rm.mode == RoundingMode::rdn : all.sign[1]);
}

}  // namespace

OracleResult mpfr_dot_exact(const Format& to, const Env& env, std::span<const OracleOperand> a,
                            std::span<const OracleOperand> b, const OracleOperand& c,
                            std::uint64_t random) {
  if (a.size() != b.size())
    throw std::invalid_argument("mpfr_dot_exact: a has " + std::to_string(a.size()) +
                                " codes and b has " + std::to_string(b.size()));
  const WidestRange range;
  Ledger all;
  for (std::size_t i = 0; i < a.size(); ++i)
    all.add_product(decode(a[i].format, a[i].code), decode(b[i].format, b[i].code));
  const Decoded last = decode(c.format, c.code);
  all.signals |= last.signalling;
  all.add(last.value);

  const bool opposed = !all.nan && all.infinity[0] && all.infinity[1];
  const bool bad = all.created_nan || all.signals || opposed;
  return packed(to, rounded(target(to, env, random), all), bad ? invalid : 0);
}

}  // namespace widthwise
