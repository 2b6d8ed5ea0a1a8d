#include "unit_term.hpp"

namespace widthwise::mpfr {
namespace {

bool is_infinity(Special s) { return s == Special::plus_infinity || s == Special::minus_infinity; }

bool negative(const Term& x) {
  return x.special == Special::none ? x.sign == ZeroIs::minus
                                    : x.special == Special::minus_infinity;
}

ZeroIs sign_of_product(ZeroIs x, ZeroIs y) {
  if (x == ZeroIs::mixed || y == ZeroIs::mixed) return ZeroIs::mixed;
  return x == y ? ZeroIs::plus : ZeroIs::minus;
}

Scaled product(const Scaled& x, const Scaled& y) {
  Scaled z{Real(mpfr_get_prec(x.x) + mpfr_get_prec(y.x)), x.scale + y.scale};
  mpfr_mul(z.x, x.x, y.x, MPFR_RNDZ);
  return normalised(std::move(z));
}

Target target(const Round& r, const Place& at) {
  const std::uint64_t random = r.rm.stochastic() ? random_bits(r.rm.random_bits, at) : 0;
  return {.round = r, .random = random};
}

Decoded number(const Round& r, const Delivered& d) {
  Format as_it_is = r.fmt;
  as_it_is.daz = false;
  return decode(as_it_is, limbs(d.code, code_bits(r.fmt)));
}

}  // namespace

Term term_of(const Decoded& x, const Format& f, std::uint64_t lane, bool is_c) {
  Term t;
  t.lane = lane;
  t.is_c = is_c;
  t.sign = is_negative(x.value) ? ZeroIs::minus : ZeroIs::plus;
  if (is_nan(x.value)) t.special = Special::nan;
  if (is_infinite(x.value)) t.special = infinity_of(is_negative(x.value));
  t.exponent = x.field_exponent;
  t.lsb = x.field_exponent - f.frac_bits;
  t.votes = is_number(x.value);
  if (t.votes) t.addends = {x.value};
  return t;
}

Term times(const Term& x, const Term& y) {
  Term z = x;
  z.exponent = x.exponent + y.exponent;
  z.lsb = x.lsb + y.lsb;
  z.votes = x.votes && y.votes;
  z.sign = sign_of_product(x.sign, y.sign);
  z.addends.clear();
  if (x.special == Special::nan || y.special == Special::nan) return special_term(Special::nan);
  if (is_infinity(x.special) || is_infinity(y.special)) {
    const bool x_is_zero = x.special == Special::none && ExactSum(x.addends).is_zero();
    const bool y_is_zero = y.special == Special::none && ExactSum(y.addends).is_zero();
    if (x_is_zero || y_is_zero) return special_term(Special::nan);
    return special_term(infinity_of(negative(x) != negative(y)));
  }
  for (const Scaled& p : x.addends)
    for (const Scaled& q : y.addends) z.addends.push_back(product(p, q));
  return z;
}

Term negated(Term x) {
  for (Scaled& v : x.addends) mpfr_neg(v.x, v.x, MPFR_RNDZ);
  if (x.sign != ZeroIs::mixed) x.sign = x.sign == ZeroIs::minus ? ZeroIs::plus : ZeroIs::minus;
  if (is_infinity(x.special)) x.special = infinity_of(x.special == Special::plus_infinity);
  return x;
}

bool is_less_or_unordered(const Term& x, const Term& y) {
  if (x.special == Special::nan || y.special == Special::nan) return true;
  if (is_infinity(x.special) || is_infinity(y.special)) return !is_infinity(x.special);
  const auto magnitude = [](const Term& t) {
    return ExactSum(t.addends).is_negative() ? negated(t) : t;
  };
  std::vector<Scaled> difference = magnitude(x).addends;
  const Term subtrahend = negated(magnitude(y));
  difference.insert(difference.end(), subtrahend.addends.begin(), subtrahend.addends.end());
  const ExactSum sign(difference);
  return sign.is_negative();
}

Decoded settle(const Round& r, Special s) {
  const Target to{.round = r};
  if (s == Special::nan) return number(r, deliver_nan(to));
  return number(r, deliver_infinity(to, s == Special::minus_infinity));
}

Decoded settle_zero(const Round& r, bool negative) {
  return number(r, deliver_zero({.round = r}, negative));
}

Decoded round_to(const Round& r, const Term& x, const Place& at) {
  const ExactSum sum(x.addends);
  const Target to = target(r, at);
  if (sum.is_zero()) return settle_zero(r, zero_sum_is_negative(r, x.sign));
  return number(r, deliver_cut(to, cut_for(to, sum.computation())));
}

Special special_sum(const std::vector<Term>& terms) {
  Special sum = Special::none;
  for (const Term& t : terms) {
    if (t.special == Special::nan) return Special::nan;
    if (t.special == Special::none || t.special == sum) continue;
    sum = sum == Special::none ? t.special : Special::nan;
    if (sum == Special::nan) return sum;
  }
  return sum;
}

}  // namespace widthwise::mpfr
